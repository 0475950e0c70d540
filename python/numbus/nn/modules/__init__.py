"""The modules of `numbus.nn`, one file a subject; programs know them by PyTorch's names, too."""

import sys

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
    utils,
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

# Names of PyTorch's files, and of bases that programs ask about or derive from.
_THEIRS = {
    "activation": activations, "adaptive": adaptive_softmax, "batchnorm": normalisation,
    "container": containers, "conv": convolutions, "distance": losses, "dropout": dropouts,
    "flatten": products, "fold": convolutions, "instancenorm": normalisation, "linear": products,
    "loss": losses, "normalization": normalisation, "pixelshuffle": resizing, "rnn": recurrent,
    "sparse": embeddings, "transformer": transformers, "upsampling": resizing, "utils": utils,
}  # fmt: skip
for _name, _module in _THEIRS.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _module
activations.MultiheadAttention = transformers.MultiheadAttention
