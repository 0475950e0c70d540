"""numbus.linalg: factorisations, solutions and eigenvalues as library calls (on a CPU's memory
LAPACK, as NumPy has it, on a GPU cuSOLVER), all else composed of them, of products and of rows.
"""

import functools
import math
import operator
import types

import numpy
from numpy.linalg import LinAlgError

from . import _core
from .core import derivatives
from .core import routines as _routines
from .core.dtypes import BFLOAT16, finfo, kind_of
from .core.errors import ForeignDtype, many_axes, message, one_axis, one_whole
from .core.fallback import foreign, resolve
from .core.host import runs_on_host
from .core.interrupts import interruptible
from .core.operands import library, operand, to_ndarray
from .core.quick import few, quick
from .core.ufuncs import UFUNCS
from .functions.elementwise import astype as _astype
from .functions.manipulation import matrix_transpose  # noqa: F401
from .functions.manipulation import moveaxis as _moveaxis
from .functions.matrices import diagonal as _diagonal
from .functions.matrices import eye as _eye
from .functions.numeric import cross as _cross
from .functions.products import dot as _dot
from .functions.products import matmul, tensordot, vecdot  # noqa: F401  (public here)
from .functions.products import outer as _outer
from .functions.reductions import max as _max
from .functions.reductions import min as _min
from .functions.reductions import reduce as _reduce
from .functions.reductions import sum as _sum

__all__ = sorted(name for name in numpy.linalg.__all__)
__path__ = []  # modules in it are mirrors of NumPy's (core/fallback.py)

_UNSET = numpy._NoValue

# What a library does, and its operands as far as they have names.
_LIBRARY = {
    "cholesky": (),
    "cond": ("x",),
    "det": ("a",),
    "eig": ("a",),
    "eigh": ("a",),
    "eigvals": ("a",),
    "eigvalsh": ("a",),
    "inv": ("a",),
    "lstsq": ("a", "b"),
    "qr": ("a",),
    "slogdet": ("a",),
    "solve": ("a", "b"),
    "svd": ("a",),
    "svdvals": (),
}


def __getattr__(name):
    if name.startswith("__") or not hasattr(numpy.linalg, name):
        raise AttributeError(f"module 'numbus.linalg' has no attribute {name!r}")
    value = resolve(getattr(numpy.linalg, name), f"numpy.linalg.{name}")
    globals()[name] = value
    return value


def _on_gpu(a):
    return a._device.startswith("cuda")


# Multiplications for each element of a square matrix's row, roughly, where these are many.
_COSTLY = {"cond": 20, "eig": 25, "eigh": 10, "eigvals": 10, "lstsq": 20, "svd": 20, "svdvals": 4}
# Those that are nodes of the plan on a CPU, too (_lapack.py).
_NODES = _LIBRARY.keys() - {"cond", "lstsq"}
_LONG = 200_000_000  # multiplications that take some milliseconds


def _is_long(name):
    weight = _COSTLY.get(name, 1)

    def is_long(args, _kwargs):
        shape = getattr(args[0], "shape", ()) if args else ()
        return len(shape) > 1 and weight * math.prod(shape) * min(shape[-2:]) >= _LONG

    return is_long


def _make(name, names):
    original = getattr(numpy.linalg, name)
    apart = interruptible(original, _is_long(name))
    count = max(len(names), 1)

    @functools.wraps(original)
    def wrapper(*args, **kwargs):
        args = (*args, *[kwargs.pop(key) for key in names[len(args) :] if key in kwargs])
        try:
            arrays = [to_ndarray(x) for x in args[:count]]
        except ForeignDtype:
            return library(original, args, kwargs)
        if _core.placing():
            from .core import placing  # not at start-up

            arrays = placing.matrices(name, arrays)
        for a in arrays:
            if a.dtype == BFLOAT16:  # NumPy would compute in float64, and refuses float16
                raise TypeError(message(name, "unsupported type", a.dtype, "float32 or wider"))
        args = (*arrays, *args[count:])
        if derivatives.watched(arrays):
            return derivatives.apply("linalg." + name, wrapper, args, kwargs)
        found = by_library(arrays, args, kwargs)
        if derivatives.looked_at[0]:
            derivatives.require_numbers(name, arrays, found)
        return found

    def by_library(arrays, args, kwargs):
        if not any([_on_gpu(a) for a in arrays]):
            made = None
            if name in _NODES and all([runs_on_host(a) for a in arrays]):
                from . import _lapack  # not at start-up

                made = getattr(_lapack, name)(*args, **kwargs)
            return library(apart, args, kwargs) if made is None else made
        from . import _cusolver  # not at start-up

        # What the library is handed lies on the GPU, wherever copies of it had been quicker.
        before = _core.work_on(next(a._device for a in arrays if _on_gpu(a)))
        try:
            if name == "cond":
                return _cusolver.cond(norm, *args, **kwargs)
            return getattr(_cusolver, name)(*args, **kwargs)
        finally:
            _core.work_on(before)

    few(original)(wrapper)
    made = _core.composed(quick(name)(wrapper) if name in ("inv", "solve") else wrapper)
    _core.let_tell(made)  # nodes, and casts to the results' type, warn as NumPy's do
    return made


for _name, _operands in _LIBRARY.items():
    globals()[_name] = _make(_name, _operands)
del _name, _operands
_svd, _solve, _inv = (globals()[name] for name in ("svd", "solve", "inv"))


def _squares(x):
    """|x|² element-wise, without a square root."""
    if x.dtype.kind == "c":
        re, im = x.real, x.imag
        return re * re + im * im
    return x * x


def _floating(x):
    return x if kind_of(x.dtype) in "fc" else _astype(x, float)


def _largest(x, axes, keepdims=False):
    """The largest size, 0 of none."""
    return _max(x, axes, None, keepdims, **({} if x.size else {"initial": 0}))


@quick("norm")
def norm(x, ord=None, axis=None, keepdims=False):
    """Norm of a vector or matrix, or of those along one or two axes.

    ord None: root of the sum of squares over everything. Vectors: any number, ±inf. Matrices:
    'fro', ±1, ±inf; ±2 and 'nuc' of the singular values.
    """
    x = _floating(to_ndarray(x))
    if axis is None and (
        ord is None or (ord == "fro" and x.ndim == 2) or (ord == 2 and x.ndim == 1)
    ):
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), None, None, None, keepdims))
    axes = _axes_of("norm", axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(message("norm", "axes of a norm", axis, "one axis or two"))
    return _matrix_norm(x, ord, axes, keepdims)


def _axes_of(op, axis, ndim):
    if isinstance(axis, list):
        raise TypeError(message(op, "axes in a list", axis, "an int, a tuple of ints or None"))
    if axis is None or isinstance(axis, tuple):
        return many_axes(op, axis, ndim)
    return (one_axis(op, one_whole(op, "axis", axis), ndim),)


def _vector_norm(x, ord, axes, keepdims):
    if isinstance(ord, str):
        raise ValueError(message("norm", "order for vectors", repr(ord), "a number"))
    if isinstance(ord, (complex, numpy.complexfloating)):
        raise TypeError(message("norm", "complex order", ord, "a real number"))
    if ord is None or ord == 2:
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), axes, None, None, keepdims))
    size = UFUNCS["absolute"](x)
    if ord == numpy.inf:
        return _largest(size, axes, keepdims)
    if ord == -numpy.inf:
        return _min(size, axes, None, keepdims)
    if ord == 0:
        return _reduce("sum", _astype(to_ndarray(x != 0), size.dtype), axes, None, None, keepdims)
    if ord == 1:
        return _reduce("sum", size, axes, None, None, keepdims)
    total = _reduce("sum", UFUNCS["power"](size, ord), axes, None, None, keepdims)
    return UFUNCS["power"](total, 1.0 / ord)


def _matrix_norm(x, ord, axes, keepdims):
    row, column = axes
    if ord in (None, "fro", "f"):
        return UFUNCS["sqrt"](_reduce("sum", _squares(x), axes, None, None, keepdims))
    if ord in (2, -2, "nuc"):
        s = _svd(_moveaxis(x, axes, (-2, -1)), compute_uv=False)
        result = _sum(s, -1) if ord == "nuc" else (_largest if ord > 0 else _min)(s, -1)
        if not keepdims:
            return result
        return result.reshape(tuple([1 if d in axes else n for d, n in enumerate(x.shape)]))
    if ord not in (1, -1, numpy.inf, -numpy.inf):
        raise ValueError(
            message("norm", "order for matrices", repr(ord), "'fro', 'nuc', ±1, ±2, ±inf")
        )
    along, over = (row, column) if abs(ord) == 1 else (column, row)
    sums = _reduce("sum", UFUNCS["absolute"](x), (along,), None, None, True)
    result = _largest(sums, over, True) if ord > 0 else _min(sums, over, None, True)
    if keepdims:
        return result
    shape = tuple([n for i, n in enumerate(result.shape) if i not in axes])
    result = result.reshape(shape)
    return result if shape else result[()]


def outer(x1, x2, /):
    """The products of each element of one vector with each of another. Raises ValueError for arrays
    of more dimensions or fewer.
    """
    x1, x2 = to_ndarray(x1), to_ndarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(message("outer", "no vectors", f"{x1.ndim}-d and {x2.ndim}-d", "1-d"))
    return _outer(x1, x2)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norm of vectors along `axis` (int, tuple, None for all elements)."""
    x = _floating(to_ndarray(x))
    return _vector_norm(x, ord, _axes_of("vector_norm", axis, x.ndim), keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norm of the matrices in the last two axes."""
    return norm(x, ord, (-2, -1), keepdims)


def diagonal(x, /, *, offset=0):
    """Diagonals of the matrices in the last two axes."""
    return _diagonal(x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """Sums along the diagonals of the matrices in the last two axes."""
    return _sum(_diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


def cross(x1, x2, /, *, axis=-1):
    """Cross product of vectors of 3 components along `axis`."""
    x1, x2 = to_ndarray(x1), to_ndarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(message("cross", "components", (x1.shape, x2.shape), "3 along the axis"))
    return _cross(x1, x2, axis=axis)


def _matrices(op, a, square=False):
    if a.ndim < 2:
        raise LinAlgError(message(op, "no matrices", f"{a.ndim}-d", "2-d or more"))
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(message(op, "the matrices are not square", a.shape, "equal extents"))


def _epsilon(a):
    """The relative error below which a singular value of the matrices in `a` says nothing."""
    dtype = a.dtype if kind_of(a.dtype) in "fc" else float
    return max(a.shape[-2:]) * float(finfo(dtype).eps)


def _each(x):
    """A number, or numbers for a stack, beside the singular values of each matrix."""
    x = operand(x)
    return x[..., None] if getattr(x, "ndim", 0) else x


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    """Number of singular values above `tol`, or `rtol` times the largest one, for each matrix; of
    a vector whether it is not zero.

    Raises ValueError where both are given.
    """
    if tol is not None and rtol is not None:
        raise ValueError(message("matrix_rank", "tol and rtol", "both", "one of them"))
    A = to_ndarray(A)
    if A.ndim < 2:
        return int((A != 0).any())
    s = _svd(A, compute_uv=False, hermitian=hermitian)
    if tol is None:
        rtol = _epsilon(A) if rtol is None else _each(rtol)
        tol = _max(s, axis=-1, keepdims=True, initial=0) * rtol
    else:
        tol = _each(tol)
    return _sum(s > tol, axis=-1)


def pinv(a, rcond=None, hermitian=False, *, rtol=_UNSET):
    """Moore and Penrose's inverse of each matrix, without the singular values below `rcond` (or
    `rtol`, where None means a limit by extents and type; else 1e-15) times the largest one.

    Raises ValueError where both are given.
    """
    a = to_ndarray(a)
    _matrices("pinv", a)
    if rcond is None:
        rcond = 1e-15 if rtol is _UNSET else _epsilon(a) if rtol is None else rtol
    elif rtol is not _UNSET:
        raise ValueError(message("pinv", "rcond and rtol", "both", "one of them"))
    if 0 in a.shape[-2:]:
        return _core.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if derivatives.watched([a]):
        # Not by singular vectors, whose derivatives do not exist where two values are equal.
        whole = functools.partial(pinv, rcond=rcond, hermitian=hermitian)
        return derivatives.apply("linalg.pinv", whole, (a,), {})
    u, s, vt = _svd(a.conj(), full_matrices=False, hermitian=hermitian)
    large = s > _each(rcond) * _max(s, axis=-1, keepdims=True)
    if large.shape != s.shape:
        raise ValueError(
            message(
                "pinv",
                "shape of the limits",
                large.shape[:-1],
                f"that of the stack, {s.shape[:-1]}",
            )
        )
    s = _core.where(large, 1 / s, 0)
    return matmul(vt.swapaxes(-1, -2), s[..., None] * u.swapaxes(-1, -2))


def matrix_power(a, n):
    """Each square matrix multiplied by itself to the power of the integer `n`; below zero its
    inverse.

    Raises LinAlgError for other matrices and TypeError for other exponents.
    """
    a = to_ndarray(a)
    _matrices("matrix_power", a, square=True)
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(
            message("matrix_power", "exponent is no integer", type(n).__name__, "an int")
        ) from None
    if n == 0:
        one = _core.empty(a.shape, a.dtype)
        one[...] = _eye(a.shape[-1], dtype=a.dtype)
        return one
    if n < 0:
        a, n = _inv(a), -n
    result = None
    while True:  # the bits of n from the lowest on, and the squares they stand for
        n, bit = divmod(n, 2)
        if bit:
            result = a if result is None else matmul(result, a)
        if n == 0:
            return result
        a = matmul(a, a)


def multi_dot(arrays, *, out=None):
    """The product of two or more matrices (the first and the last may be vectors), in the order
    that takes the fewest multiplications.
    """
    arrays = [to_ndarray(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError(message("multi_dot", "too few arrays", len(arrays), "two or more"))
    if len(arrays) == 2:
        return _dot(*arrays, out=out)
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    if row:
        arrays[0] = arrays[0][None]
    if column:
        arrays[-1] = arrays[-1][:, None]
    for a in arrays:
        if a.ndim != 2:
            raise LinAlgError(message("multi_dot", "no matrix", f"{a.ndim}-d", "2-d"))
    if len(arrays) == 3:
        a, b, c = arrays
        (m, k), n, last = a.shape, b.shape[1], c.shape[1]
        pairs_first = m * n * (k + last) < k * last * (n + m)
        result = matmul(matmul(a, b), c) if pairs_first else matmul(a, matmul(b, c))
    else:
        result = _multiply(arrays, _cheapest([a.shape[0] for a in arrays] + [arrays[-1].shape[1]]))
    if row or column:
        result = result[0, 0] if row and column else result.ravel()
    return result if out is None else _routines.exactly("multi_dot", result, out)


def _cheapest(extents):
    """Where to split the product of the matrices i to j, by (i, j)."""
    n = len(extents) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + extents[i] * extents[k + 1] * extents[j + 1], k)
                for k in range(i, j)
            )
    return split


def _multiply(arrays, split, first=0, last=None):
    last = len(arrays) - 1 if last is None else last
    if first == last:
        return arrays[first]
    k = split[first, last]
    return matmul(_multiply(arrays, split, first, k), _multiply(arrays, split, k + 1, last))


def tensorinv(a, ind=2):
    """The inverse of `a` as a map from its last axes to its first `ind` ones.

    Raises ValueError for `ind` below 1 and LinAlgError where there is no inverse.
    """
    a = to_ndarray(a)
    if ind <= 0:
        raise ValueError(message("tensorinv", "not a number of axes", ind, "1 or more"))
    points = math.prod(a.shape[ind:])
    shape = a.shape[ind:] + a.shape[:ind]
    return _inv(a.reshape((points, -1))).reshape(shape)


def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) == b; `axes` of `a` are moved to its end first.

    Raises LinAlgError where `a` is not square in that sense.
    """
    a, b = to_ndarray(a), to_ndarray(b)
    if axes is not None:
        order = list(range(a.ndim))
        for axis in axes:
            order.remove(axis)
            order.append(axis)
        a = a.transpose(tuple(order))
    shape = a.shape[b.ndim - a.ndim :]
    points = math.prod(shape)
    if a.size != points**2:
        raise LinAlgError(
            message("tensorsolve", "not square", a.shape, "as many unknowns as equations")
        )
    return _solve(a.reshape((points, points)), b.ravel()).reshape(shape)


for _name in __all__:
    _function = globals().get(_name)
    if isinstance(_function, types.FunctionType):
        globals()[_name] = foreign(_function, getattr(numpy.linalg, _name))
del _name, _function
_core.let_tell(norm, suspects=True)
