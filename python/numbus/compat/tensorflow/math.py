"""tf.math."""

from .._missing import missing as _missing
from . import _ops
from ._further import segment_sum, top_k, unsorted_segment_sum  # noqa: F401
from ._ops import add_n, argmax, argmin, cumsum, l2_loss  # noqa: F401

__name__ = "tensorflow.math"
_TABLES = {**_ops.BINARY, **_ops.UNARY, **_ops.REDUCTIONS}


def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """x / sqrt(max(sum(x²), epsilon))."""
    _ops.named(name)
    x = _ops.constant(x)
    total = _TABLES["reduce_sum"](x * x, axis, True)
    return x * _TABLES["rsqrt"](_TABLES["maximum"](total, epsilon))


def __getattr__(name):
    return _TABLES[name] if name in _TABLES else _missing("tf.math", name)
