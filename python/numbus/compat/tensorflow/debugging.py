"""tf.debugging: assertions of values and shapes."""

from ...core.dtypes import finfo as _finfo
from .._missing import missing as _missing
from . import _ops
from ._tensor import InvalidArgumentError

__name__ = "tensorflow.debugging"


def assert_near(x, y, rtol=None, atol=None, message=None):
    """Raises InvalidArgumentError where elements differ by more than `atol + rtol * |y|`."""
    a, b = _ops.together("assert_near", x, y)
    eps = 10 * _finfo(a.dtype).eps
    near = abs(a - b) <= (eps if atol is None else atol) + (eps if rtol is None else rtol) * abs(b)
    if not bool(near.all()):
        raise InvalidArgumentError(
            message or f"[assert_near] elements differ; got {a}; expected {b}"
        )


def assert_equal(x, y, message=None):
    """Raises InvalidArgumentError where elements differ."""
    a, b = _ops.together("assert_equal", x, y)
    if not bool((a == b).all()):
        raise InvalidArgumentError(message or f"[assert_equal] they differ; got {a}; expected {b}")


def __getattr__(name):
    return _missing("tf.debugging", name)
