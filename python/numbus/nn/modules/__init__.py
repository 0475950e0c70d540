"""The modules of `numbus.nn`, one file a subject."""

from . import (
    activations,
    adaptive_softmax,
    containers,
    convolutions,
    dropouts,
    embeddings,
    lazy,
    losses,
    module,
    normalisation,
    padding,
    parallel,
    pooling,
    products,
    recurrent,
    resizing,
    transformers,
)

_SUBJECTS = (
    activations, adaptive_softmax, containers, convolutions, dropouts, embeddings, lazy, losses,
    module, normalisation, padding, parallel, pooling, products, recurrent, resizing,
    transformers,
)  # fmt: skip
__all__ = sorted(
    name
    for subject in _SUBJECTS
    for name, kind in vars(subject).items()
    if isinstance(kind, type)
    and kind.__module__ == subject.__name__
    and not name.startswith("_")
    and issubclass(kind, module.Module)
)
globals().update({n: vars(s)[n] for s in _SUBJECTS for n in __all__ if n in vars(s)})
