"""tf.linalg."""

import numbus as _nb

from .._missing import missing as _missing
from . import _ops
from ._further import global_norm  # noqa: F401
from ._ops import einsum, eye, matmul, norm, tensordot  # noqa: F401
from .math import l2_normalize  # noqa: F401

__name__ = "tensorflow.linalg"


def _of(name, known):
    function = getattr(_nb.linalg, known, None) or getattr(_nb, known)

    def body(*args):
        found = function(*_ops._several(name, list(args)))
        return tuple([_ops.tensor(x) for x in found]) if isinstance(found, tuple) else (
            _ops.tensor(found)
        )  # fmt: skip

    body.__name__, body.__doc__ = name, function.__doc__
    return body


inv, det, cholesky, solve, qr = [_of(n, n) for n in ("inv", "det", "cholesky", "solve", "qr")]
trace = _of("trace", "trace")


def eigh(tensor):
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    return tuple([_ops.tensor(x) for x in _nb.linalg.eigh(_ops.value(tensor))])


def diag(diagonal):
    """The matrix of a diagonal."""
    return _ops.tensor(_nb.diag(_ops.value(diagonal)))


def diag_part(input):
    """The diagonal of a matrix."""
    return _ops.tensor(_nb.diagonal(_ops.value(input)))


def matvec(a, b):
    """The product of a matrix and a vector."""
    return _ops.tensor(_nb.matvec(_ops.value(a), _ops.value(b)))


def __getattr__(name):
    return _missing("tf.linalg", name)
