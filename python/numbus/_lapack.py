"""numbus.linalg on a CPU as nodes of the plan, by the loops of NumPy's ufuncs.

NumPy computes in double precision whatever the types are, and rounds. Each function gives None
where the call is NumPy's: shapes that it refuses, arrays without elements, other types.
"""

import numpy

from . import _core
from ._cusolver import (
    _ALWAYS_COMPLEX,
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from .core import dtypes
from .core.dtypes import kind_of
from .core.operands import as_generic
from .core.ufuncs import UFUNCS
from .functions.elementwise import astype
from .functions.manipulation import broadcast_to
from .functions.matrices import triu


def _has_loops():
    """Whether the core has the loops of linear algebra of the NumPy that is loaded."""
    try:
        from numpy.linalg import _umath_linalg as loops
    except ImportError:
        return False
    return _core.take_linalg_loops(loops, numpy.ufunc)


_LOOPS = _has_loops()


def _types(*operands):
    """(type of results, of real ones), or None: NumPy does these or refuses them."""
    if not _LOOPS or any([x.dtype.char in "eEgG" or x.size == 0 for x in operands]):
        return None
    if not all([x.dtype.kind in "biufc" for x in operands]):
        return None
    given = [x.dtype if kind_of(x.dtype) in "fc" else numpy.dtype(float) for x in operands]
    made = dtypes.result_type(*given)
    return made, numpy.dtype(made.char.lower())


def _wide(x, made):
    return astype(x, "D" if made.kind == "c" else "d", copy=False)


def _is_square(a):
    return a.ndim >= 2 and a.shape[-1] == a.shape[-2]


def _as(x, dtype):
    x = astype(x, dtype, copy=False)
    return x if x.ndim else as_generic(x)  # without reading it


def _of_squares(name, a, other=False):
    """(the routine's results, the types) of square matrices, or (None, None)."""
    types = _types(a) if _is_square(a) else None
    if types is None:
        return None, None
    return _core.linalg(name, other, _wide(a, types[0])), types


def inv(a):
    made, types = _of_squares("inv", a)
    return made and _as(made[0], types[0])


def det(a):
    made, types = _of_squares("det", a)
    return made and _as(made[0], types[0])


def slogdet(a):
    made, types = _of_squares("slogdet", a)
    return made and SlogdetResult(_as(made[1], types[0]), _as(made[0], types[1]))


def cholesky(a, /, *, upper=False):
    made, types = _of_squares("cholesky", a, bool(upper))
    return made and _as(made[0], types[0])


def _triangle(name):
    """Whether it is the upper one, or None: NumPy refuses it."""
    return {"L": False, "U": True}.get(name.upper() if isinstance(name, str) else None)


def eigvalsh(a, UPLO="L"):
    upper = _triangle(UPLO)
    made, types = (None, None) if upper is None else _of_squares("eigvalsh", a, upper)
    return made and _as(made[0], types[1])


def eigh(a, UPLO="L"):
    upper = _triangle(UPLO)
    made, types = (None, None) if upper is None else _of_squares("eigh", a, upper)
    return made and EighResult(_as(made[0], types[1]), _as(made[1], types[0]))


def _general(name, a):
    if not _is_square(a) or a.size == 0 or not UFUNCS["isfinite"](a).all():
        return None
    made, types = _of_squares(name, a)
    if made is None:
        return None
    # Up to NumPy 2.4, real where all of them are.
    dtype, real = types
    if dtype.kind == "f" and not _ALWAYS_COMPLEX and not made[0].imag.any():
        return [_as(x.real, real) for x in made]
    pair = numpy.dtype(real.char.upper())
    return [_as(x, pair) for x in made]


def eigvals(a):
    made = _general("eigvals", a)
    return made and made[0]


def eig(a):
    made = _general("eig", a)
    return made and EigResult(*made)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    types = _types(a) if a.ndim >= 2 and not hermitian else None
    if types is None:
        return None
    dtype, real = types
    if not compute_uv:
        return _as(_core.linalg("svdvals", False, _wide(a, dtype))[0], real)
    u, s, vt = _core.linalg("svd", bool(full_matrices), _wide(a, dtype))
    return SVDResult(_as(u, dtype), _as(s, real), _as(vt, dtype))


def svdvals(x, /):
    return svd(x, compute_uv=False)


def qr(a, mode="reduced"):
    if a.ndim < 2 or mode not in ("reduced", "complete", "r", "raw"):
        return None
    types = _types(a)
    if types is None:
        return None
    dtype = types[0]
    m, n = a.shape[-2:]
    raw, tau = _core.linalg("qr", False, _wide(a, dtype))
    if mode == "raw":
        return _as(raw.swapaxes(-1, -2), dtype), _as(tau, dtype)
    if mode == "r":
        return _as(triu(raw[..., : min(m, n), :]), dtype)
    complete = mode == "complete" and m > n
    (q,) = _core.linalg("qr_q", complete, raw, tau)
    r = triu(raw[..., : m if complete else min(m, n), :])
    return QRResult(_as(q, dtype), _as(r, dtype))


def solve(a, b):
    types = _types(a, b) if _is_square(a) and b.ndim else None
    vector = b.ndim == 1
    if types is None or b.shape[-1 if vector else -2] != a.shape[-1]:
        return None
    if vector:
        b = b[:, None]
    try:
        stack = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        return None
    a, b = [broadcast_to(_wide(x, types[0]), (*stack, *x.shape[-2:])) for x in (a, b)]
    (x,) = _core.linalg("solve", False, a, b)
    return _as(x[..., 0] if vector else x, types[0])
