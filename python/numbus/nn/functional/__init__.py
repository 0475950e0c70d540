"""`numbus.nn.functional`: the functions that nets are made of, under PyTorch's names.

They take tensors, and arrays as well: `nb.grad` differentiates them. One file a subject.
"""

from . import (
    activations,
    attention,
    convolution,
    dropouts,
    embeddings,
    fractional,
    losses,
    margins,
    multi_head,
    normalisation,
    padding,
    pooling,
    products,
    resizing,
    sampling,
    sequences,
    unpooling,
)

_SUBJECTS = (
    activations, attention, convolution, dropouts, embeddings, fractional, losses, margins,
    multi_head, normalisation, padding, pooling, products, resizing, sampling, sequences,
    unpooling,
)  # fmt: skip
__all__ = sorted([name for subject in _SUBJECTS for name in subject.__all__])
globals().update({name: getattr(s, name) for s in _SUBJECTS for name in s.__all__})
