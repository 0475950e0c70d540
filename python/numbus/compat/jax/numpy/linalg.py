"""jax.numpy.linalg: Numbus's functions with JAX's dtypes."""

import numbus as _nb

from ....core.dtypes import kind_of
from ..._missing import missing as _missing
from .. import _dtypes
from .._array import Array, as_array, cast, made
from .._functions import expect_arrays, general

__name__ = "jax.numpy.linalg"
_NAMES = frozenset(
    "cond cross det diagonal eig eigvals inv lstsq matmul matrix_norm "
    "matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd "
    "svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm".split()
)
_OF_TWO = frozenset("cross lstsq matmul outer solve tensordot tensorsolve vecdot".split())


def _floating(x):
    """Integers in the default floating-point type, for which these functions are."""
    if isinstance(x, (list, tuple)) and x and isinstance(x[0], Array):
        return type(x)([_floating(item) for item in x])
    if not hasattr(x, "dtype"):
        return x
    x = made(x)
    return x if kind_of(x.dtype) in "fc" else Array(cast(x._a, _dtypes.canonical("f8")))


def cholesky(a, *, upper=False, symmetrize_input=True):
    """The triangular factor of a positive definite matrix: of the mean of it and its transpose."""
    expect_arrays("cholesky", a)
    x = _floating(made(a))
    turned = _nb.conj(_nb.swapaxes(x._a, -1, -2))
    kept = x._a if not upper else turned
    whole = (x._a + turned) / 2 if symmetrize_input else kept
    found = _nb.linalg.cholesky(whole)
    return Array(as_array(_nb.conj(_nb.swapaxes(found, -1, -2)) if upper else found))


def matrix_power(a, n):
    """A power of a square matrix; integers stay integers for n of 0 and more."""
    from .. import numpy as jnp

    expect_arrays("matrix_power", a)
    x = made(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise TypeError(f"Last 2 dimensions of the array must be square, got {x.shape}")
    if n < 0 or kind_of(x.dtype) in "fc":
        return Array(as_array(_nb.linalg.matrix_power(_floating(x)._a, n)))
    found = jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for bit in bin(n)[2:]:
        found = jnp.matmul(found, found)
        found = jnp.matmul(found, x) if bit == "1" else found
    return found


def _symmetric(a, symmetrize_input):
    x = _floating(made(a))
    if symmetrize_input:
        turned = _nb.swapaxes(x._a, -1, -2)
        x = Array(as_array((x._a + (_nb.conj(turned) if x.dtype.kind == "c" else turned)) / 2))
    return x._a


def eigh(a, UPLO=None, symmetrize_input=True):
    """The eigenvalues and eigenvectors of a Hermitian matrix: of the mean of it and its conjugate
    transpose, or of one triangle.
    """
    expect_arrays("eigh", a)
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO}")
    found = _nb.linalg.eigh(_symmetric(a, symmetrize_input), UPLO=UPLO or "L")
    return type(found)(*[Array(as_array(v)) for v in found])


def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of a Hermitian matrix, as `eigh` reads it."""
    expect_arrays("eigvalsh", a)
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO}")
    found = _nb.linalg.eigvalsh(_symmetric(a, symmetrize_input), UPLO=UPLO or "L")
    return Array(as_array(found))


def __getattr__(name):
    if name not in _NAMES:
        return _missing("jax.numpy.linalg", name)
    function = general(name, getattr(_nb.linalg, name))

    def body(*args, **keywords):
        first = args[: 2 if name in _OF_TWO else 1]
        expect_arrays(name, *(first[0] if name == "multi_dot" and first else first))
        return function(*[_floating(x) for x in args], **keywords)

    body.__name__, body.__doc__ = name, function.__doc__
    globals()[name] = body
    return body
