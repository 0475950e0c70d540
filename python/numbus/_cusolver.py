"""numbus.linalg on a GPU, over cuSOLVER.

What has a row in the table of routines is recorded (`_core.linalg`); polar decompositions and
eigenvalues of general matrices are called at once, on stacks (count, columns, rows): cuSOLVER
stores by columns, and to it a C-contiguous matrix is its transpose.
"""

import math
import warnings

import numpy

from . import _core
from .core import dtypes
from .core.dtypes import kind_of
from .core.errors import message
from .core.fallback import call
from .core.ufuncs import UFUNCS
from .functions.elementwise import astype
from .functions.manipulation import broadcast_to, swapaxes
from .functions.matrices import diagonal, eye, tril, triu
from .functions.repeating import roll
from .functions.selection import take_along_axis
from .functions.sorting import argsort

LinAlgError = numpy.linalg.LinAlgError

# The named tuples of NumPy's results.
_SAMPLE = numpy.eye(1)
EigResult = type(numpy.linalg.eig(_SAMPLE))
EighResult = type(numpy.linalg.eigh(_SAMPLE))
QRResult = type(numpy.linalg.qr(_SAMPLE))
SlogdetResult = type(numpy.linalg.slogdet(_SAMPLE))
SVDResult = type(numpy.linalg.svd(_SAMPLE))
# Matrices of fewer rows and columns are left to the QR iteration: the polar decomposition, which is
# some three times as fast for 1,000, takes a while to start.
_POLAR = 128


# --- operands -----------------------------------------------------------------------------------


def number(op, *operands):
    """The operands in the type that is computed in: float32, float64, complex64 or complex128."""
    for x in operands:
        if dtypes.is_half(x.dtype):
            raise TypeError(message(op, "unsupported type", x.dtype, "float32 or a wider type"))
    dtype = dtypes.result_type(
        *[x.dtype if kind_of(x.dtype) in "fc" else numpy.dtype(float) for x in operands]
    )
    converted = [astype(x, dtype, copy=False) for x in operands]
    return converted if len(converted) > 1 else converted[0]


def matrices(op, a, square=False):
    """Raises LinAlgError for arrays that are no stack of (square) matrices."""
    if a.ndim < 2:
        raise LinAlgError(message(op, "no matrices", f"{a.ndim}-d", "2-d or more"))
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(message(op, "the matrices are not square", a.shape, "equal extents"))


def _flat(a):
    """A fresh (count, rows, columns) copy in C order, for the library to write to."""
    count = math.prod(a.shape[:-2])
    return a.copy("C").reshape((count, *a.shape[-2:]))


def _turned(a):
    """Likewise of the transposes: to the library the matrices themselves."""
    return _flat(swapaxes(a, -1, -2))


def _real(dtype):
    return numpy.dtype(dtype.char.lower())


def _infos(count):
    return _core.full((count,), 0, "int32")


def _check(op, info, what):
    """Waits for the GPU."""
    if numpy.asarray(info).any():
        raise LinAlgError(message(op, what, f"info {numpy.asarray(info).tolist()}", "0"))


def _ready():
    from .core.libraries import offer

    offer("cusolver")
    _core.require_library("cusolver")


# --- LU -----------------------------------------------------------------------------------------


def solve(a, b, check=True):
    """x with a @ x = b; a 1-D `b` is one vector for each matrix.

    check: a singular matrix raises LinAlgError, else it gives infinities or NaNs.
    """
    matrices("solve", a, square=True)
    vector = b.ndim == 1
    if vector:
        b = b[:, None]
    elif b.ndim == 0:
        raise ValueError(message("solve", "no right side", "0-d", "1-d or more"))
    a, b = number("solve", a, b)
    n, sides = b.shape[-2:]
    if n != a.shape[-1]:
        raise ValueError(
            message("solve", "extents differ", f"{a.shape} and {b.shape}", "equal ones")
        )
    stack = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if n and math.prod(a.shape[:-2]) == 1:  # one matrix, all right sides at once
        x = swapaxes(broadcast_to(b, (*stack, n, sides)), -1, -2).reshape((-1, n))
        x = _solutions(a.reshape((n, n)), swapaxes(x, 0, 1), check)
        x = swapaxes(swapaxes(x, 0, 1).reshape((*stack, sides, n)), -1, -2)
    else:
        a, b = [broadcast_to(y, (*stack, *y.shape[-2:])) for y in (a, b)]
        x = _solutions(a, b, check)
    return x[..., 0] if vector else x


def _solutions(a, b, check):
    if a.size == 0 or 0 in b.shape[:-1]:
        return b.copy()
    _ready()
    if b.shape[-1]:
        return _core.linalg("solve", not check, a, b)[0]
    _core.linalg("solve", not check, a, _core.full((*b.shape[:-1], 1), 0, b.dtype))
    return b.copy()


def inv(a, check=True):
    """check: as of solve()."""
    matrices("inv", a, square=True)
    a = number("inv", a)
    one = broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape)
    # Solutions lie by columns: those of the transposes are the inverses by rows.
    return swapaxes(_solutions(swapaxes(a, -1, -2), one, check), -1, -2)


def _diagonal_and_sign(a):
    """U's diagonal, and whether the number of row exchanges is odd; nothing is waited for."""
    n = a.shape[-1]
    if a.size == 0:
        return _core.full(a.shape[:-1], 1, a.dtype), _core.full(a.shape[:-2], False, bool)
    _ready()
    lu, pivots = _core.linalg("lu", False, a)
    moved = UFUNCS["not_equal"](pivots, _core.arange(1, 1, n, "int32"))
    return diagonal(lu, 0, -2, -1), UFUNCS["bitwise_and"](moved.sum(-1), 1) == 1


def _number(x):
    return x if x.ndim else x[()]


def det(a):
    matrices("det", a, square=True)
    a = number("det", a)
    factors, odd = _diagonal_and_sign(a)
    product = factors.prod(-1)
    # A zero on the diagonal ends a factorisation: what follows may be anything.
    singular = (factors == 0).any(-1)
    product = _core.where(singular, 0, _core.where(odd, -product, product))
    return _number(product)


def slogdet(a):
    matrices("slogdet", a, square=True)
    a = number("slogdet", a)
    factors, odd = _diagonal_and_sign(a)
    size = UFUNCS["absolute"](factors)
    singular = (factors == 0).any(-1)
    sign = (factors / size).prod(-1)
    sign = _core.where(singular, 0, _core.where(odd, -sign, sign))
    logarithm = _core.where(singular, -numpy.inf, UFUNCS["log"](size).sum(-1))
    return SlogdetResult(_number(sign), _number(logarithm))


# --- Cholesky and QR ----------------------------------------------------------------------------


def cholesky(a, /, *, upper=False):
    matrices("cholesky", a, square=True)
    a = number("cholesky", a)
    if a.size:
        _ready()
        (a,) = _core.linalg("cholesky", bool(upper), a)
    return (triu if upper else tril)(a)


# Of NumPy before 1.8, which warns of them.
_OLD_MODES = {"f": "reduced", "full": "reduced", "e": "economic", "economic": "economic"}


def qr(a, mode="reduced"):
    if mode in _OLD_MODES:
        warnings.warn(
            message("qr", "old mode", repr(mode), "'reduced' or 'raw'"),
            DeprecationWarning,
            stacklevel=3,
        )
        mode = _OLD_MODES[mode]
    elif mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(
            message("qr", "unknown mode", repr(mode), "'reduced', 'complete', 'r' or 'raw'")
        )
    matrices("qr", a)
    a = number("qr", a)
    m, n = a.shape[-2:]
    k, stack = min(m, n), a.shape[:-2]
    complete = mode == "complete" and m > n
    if a.size:
        _ready()
        raw, tau = _core.linalg("qr", False, a)
    else:
        raw, tau = a.copy(), _core.empty((*stack, k), a.dtype)
    if mode == "raw":
        return swapaxes(raw, -1, -2), tau
    if mode == "economic":
        return raw
    rows = m if mode == "complete" else k
    r = triu(raw[..., :rows, :])
    if mode == "r":
        return r
    if a.size:
        (q,) = _core.linalg("qr_q", complete, raw, tau)
    else:
        q = broadcast_to(eye(m, rows, dtype=a.dtype), (*stack, m, rows)).copy()
    return QRResult(q, r)


# --- eigenvalues and singular values ------------------------------------------------------------


def _upper(op, a, triangle):
    """Whether that is the upper one."""
    triangle = triangle.upper() if isinstance(triangle, str) else triangle
    if triangle not in ("L", "U"):
        raise ValueError(message(op, "unknown triangle", repr(triangle), "'L' or 'U'"))
    matrices(op, a, square=True)
    if a.size:
        _ready()
    return triangle == "U"


def eigvalsh(a, UPLO="L"):
    upper = _upper("eigvalsh", a, UPLO)
    a = number("eigvalsh", a)
    if a.size == 0:
        return _core.empty(a.shape[:-1], _real(a.dtype))
    return _core.linalg("eigvalsh", upper, a)[0]


def eigh(a, UPLO="L"):
    upper = _upper("eigh", a, UPLO)
    a = number("eigh", a)
    if a.size == 0:
        return EighResult(_core.empty(a.shape[:-1], _real(a.dtype)), a.copy())
    return EighResult(*_core.linalg("eigh", upper, a))


# NumPy's eig gives real numbers, where all eigenvalues are, up to version 2.4.
_ALWAYS_COMPLEX = tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 5)


def _general(op, a, vectors):
    """Eigenvalues of any square matrices, and vectors as columns or None."""
    matrices(op, a, square=True)
    a = number(op, a)
    if not UFUNCS["isfinite"](a).all():
        raise LinAlgError(message(op, "infinities or NaNs", "some", "finite numbers"))
    x = _turned(a)
    count, n = x.shape[:2]
    real = kind_of(a.dtype) == "f"
    w = _core.empty((count, 2 * n if real else n), a.dtype)
    v = _core.empty(x.shape, a.dtype) if vectors else None
    if x.size:
        info = _infos(count)
        _core.cusolver_geev(x, w, v, info)
        _check(op, info, "Eigenvalues did not converge")
    if real:
        w, imaginary = w[:, :n], w[:, n:]
        if _ALWAYS_COMPLEX or (imaginary != 0).any():
            w = w + 1j * imaginary
            # Of a pair's vectors the first row has the real part, the second the imaginary one.
            first, second = (imaginary > 0)[..., None], (imaginary < 0)[..., None]
            if vectors:
                other = _core.where(first, roll(v, -1, 1), _core.where(second, -v, 0))
                v = _core.where(second, roll(v, 1, 1), v) + 1j * other
    return w.reshape(a.shape[:-1]), swapaxes(v.reshape(a.shape), -1, -2) if vectors else None


def _has_general():
    _ready()
    return _core.cusolver_has_geev()


def eig(a):
    if not _has_general():
        return call("numpy.linalg.eig", numpy.linalg.eig, (a,), {})
    return EigResult(*_general("eig", a, True))


def eigvals(a):
    if not _has_general():
        return call("numpy.linalg.eigvals", numpy.linalg.eigvals, (a,), {})
    return _general("eigvals", a, False)[0]


def _hermitian_svd(a, compute_uv):
    """By the eigenvalues: their magnitudes, descending, the signs with the left vectors."""
    w, v = eigh(a)
    size = UFUNCS["absolute"](w)
    order = argsort(size, -1)[..., ::-1]
    s = take_along_axis(size, order, -1)
    if not compute_uv:
        return s
    sign = take_along_axis(UFUNCS["sign"](w), order, -1)
    u = take_along_axis(v, order[..., None, :], -1)
    return SVDResult(u, s, swapaxes(u * sign[..., None, :], -1, -2).conj())


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    matrices("svd", a, square=hermitian)
    a = number("svd", a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    if UFUNCS["isnan"](a).any():
        raise LinAlgError(message("svd", "SVD did not converge", "NaNs", "numbers"))
    k = min(a.shape[-2:])
    if a.size == 0:
        s = _core.empty((*a.shape[:-2], k), _real(a.dtype))
        return SVDResult(*_empty_vectors(a, full_matrices, s)) if compute_uv else s
    _ready()
    if not compute_uv:
        return _core.linalg("svdvals", False, a)[0]
    if k >= _POLAR and (not full_matrices or a.shape[-1] == a.shape[-2]):
        made = _polar_svd(a)
        if made is not None:
            return SVDResult(*made)
    return SVDResult(*_core.linalg("svd", bool(full_matrices), a))


def _empty_vectors(a, full, s):
    """Vectors of matrices without elements, of which the library has none."""
    stack, (m, n), k = a.shape[:-2], a.shape[-2:], s.shape[-1]
    u, vt = (m, m if full else k), (n if full else k, n)
    return [
        x if x is s else broadcast_to(eye(*x, dtype=a.dtype), (*stack, *x)).copy()
        for x in (u, s, vt)
    ]


def _polar_svd(a):
    """(u, s, vt), or None where small singular values had to be moved; waits for the GPU."""
    m, n = a.shape[-2:]
    k, stack = min(m, n), a.shape[:-2]
    tall = m >= n  # the library asks for that; else the transpose is
    x = (_turned if tall else _flat)(a)
    count = len(x)
    s = _core.empty((count, k), _real(a.dtype))
    u, v = _core.empty((count, k, max(m, n)), a.dtype), _core.empty((count, k, k), a.dtype)
    info = _infos(count)
    if not _core.cusolver_gesvdp(x, s, u, v, info):
        return None
    _check("svd", info, "SVD did not converge")
    # Tall: u is stored by columns, and v in place of its conjugate transpose. Else aᵀ = u s vt, so
    # The library finds a = vtᵀ s uᵀ by columns; read by rows, its matrices are the transposes.
    vt = swapaxes(v.conj() if a.dtype.kind == "c" else v, -1, -2)
    left, right = (swapaxes(u, -1, -2), swapaxes(vt, -1, -2)) if tall else (vt, u)
    return [y.reshape((*stack, *y.shape[1:])) for y in (left, s, right)]


def svdvals(x, /):
    return svd(x, compute_uv=False)


def cond(norm, x, p=None):
    """norm: that of numbus.linalg, which imports this module."""
    matrices("cond", x)
    if 0 in x.shape[-2:]:
        raise LinAlgError(message("cond", "no matrix", x.shape, "extents above 0"))
    if p is None or p in (2, -2):
        s = svdvals(x)
        ratio = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        x = number("cond", x)
        ratio = norm(x, p, (-2, -1)) * norm(inv(x, check=False), p, (-2, -1))
    # What has no inverse has no condition, unless it was no number before.
    lost = UFUNCS["isnan"](ratio) & ~UFUNCS["isnan"](x).any((-2, -1))
    result = _core.where(lost, numpy.inf, ratio)
    return result if result.ndim else result[()]


# --- least squares ------------------------------------------------------------------------------


def lstsq(a, b, rcond=None):
    """By singular values, as LAPACK's gelsd, and as NumPy does in double precision whatever the
    types are: the limit below which singular values do not count is that of double precision, too.
    Waits for the GPU to tell the rank.
    """
    if a.ndim != 2 or b.ndim not in (1, 2):
        raise LinAlgError(message("lstsq", "no matrix", f"{a.ndim}-d and {b.ndim}-d", "2-d"))
    m, n = a.shape
    if b.shape[0] != m:
        raise LinAlgError(
            message("lstsq", "extents differ", f"{a.shape} and {b.shape}", "equal first ones")
        )
    vector = b.ndim == 1
    a, b = number("lstsq", a, b[:, None] if vector else b)
    dtype = a.dtype
    a, b = [astype(y, "D" if dtype.kind == "c" else "d", copy=False) for y in (a, b)]
    if not UFUNCS["isfinite"](a).all():
        raise LinAlgError(message("lstsq", "infinities or NaNs", "some", "finite numbers"))
    if rcond is None:
        rcond = max(m, n) * dtypes.finfo(a.dtype).eps
    elif numpy.ndim(rcond):
        raise TypeError(message("lstsq", "several rcond", rcond, "a number"))
    elif rcond < 0:
        rcond = dtypes.finfo(a.dtype).eps
    u, s, vt = svd(a, full_matrices=False)
    rank = 0
    if s.size:
        large = s > rcond * s[0]
        rank = int(large.sum())
        x = swapaxes(u, 0, 1).conj() @ b
        x = swapaxes(vt, 0, 1).conj() @ _core.where(large[:, None], x / s[:, None], 0)
    else:
        x = _core.full((n, b.shape[1]), 0, a.dtype)
    if rank == n and m > n:
        error = UFUNCS["absolute"](b - a @ x)
        residuals = (error * error).sum(0)
    else:
        residuals = _core.empty((0,), _real(a.dtype))
    x = astype(x, dtype, copy=False)
    residuals, s = [astype(y, _real(dtype), copy=False) for y in (residuals, s)]
    return x[:, 0] if vector else x, residuals, numpy.int32(rank), s
