"""Products of vectors and matrices: matmul, dot, inner, outer, tensordot, kron and their kin."""

import operator

import numpy

from .. import _core
from .._core import ndarray
from ..core import dtypes, routines
from ..core.errors import CASTINGS, as_order, many_axes, message, no_flags, one_of
from ..core.fallback import make
from ..core.host import same_memory
from ..core.operands import as_dtype, in_order, require_cast, store, to_ndarray
from ..core.quick import quick
from ..core.ufuncs import cast_all, types_of
from . import names as np
from .axes import distinct, every, interleaved, leading, multiplied, product
from .names import compiled as _compiled
from .registry import Any, Array, DTypeArg, OutBroadcast, OutCast, OutExact, function, ufunc

__all__ = []

_NoValue = numpy._NoValue


def _mismatch(op, a, b):
    found = f"shapes {a.shape} and {b.shape}"
    return ValueError(message(op, "inner extents differ", found, "equal inner extents"))


def _dimensions(op, shapes, least):
    if any([len(shape) < count for shape, count in zip(shapes, least)]):
        found = " and ".join([f"{len(shape)}-d" for shape in shapes])
        wanted = " and ".join([f"{count}-d" for count in least])
        raise ValueError(message(op, "too few dimensions", found, f"{wanted} or more"))


def _moved(op, x, axes, count):
    """`x` with the axes of its vector or matrix, which an entry of `axes` names, at its end."""
    entry = (axes,) if hasattr(axes, "__index__") and count == 1 else axes
    if not isinstance(entry, tuple) and not hasattr(axes, "__index__"):
        raise TypeError(message(op, "axes of an operand", repr(axes), f"a tuple of {count} ints"))
    if not isinstance(entry, tuple) or len(entry) != count:
        raise ValueError(message(op, "axes of an operand", repr(axes), f"{count} axes"))
    entry = many_axes(op, entry, x.ndim)
    return x.transpose(tuple([i for i in range(x.ndim) if i not in entry]) + entry)


def _move_axes(op, result, axes, count):
    """The last `count` axes of a result at the positions that an entry of `axes` names."""
    entry = (axes,) if hasattr(axes, "__index__") and count == 1 else axes
    if not isinstance(entry, tuple) and not hasattr(axes, "__index__"):
        raise TypeError(message(op, "axes of the result", repr(axes), f"a tuple of {count} ints"))
    if not isinstance(entry, tuple) or len(entry) != count:
        raise ValueError(message(op, "axes of the result", repr(axes), f"{count} axes"))
    entry = many_axes(op, entry, result.ndim)
    order = list(range(result.ndim - count))
    for position, axis in sorted(zip(entry, range(result.ndim - count, result.ndim))):
        order.insert(position, axis)
    return result.transpose(tuple(order))


def _kept(op, keepdims):
    """Whether the axis that is summed over stays; TypeError for products that have none such."""
    if keepdims is _NoValue:
        return False
    if op != "vecdot":
        raise TypeError(message(op, "operands of several dimensions", "keepdims", "no keepdims"))
    if type(keepdims) not in (bool, numpy.bool):
        raise TypeError(message(op, "keepdims must be a boolean", repr(keepdims), "True or False"))
    return bool(keepdims)


def _spread(result, shape, count):
    """A result for an `out` of more, or longer, stacks than the operands have."""
    end = len(shape) - count
    if result.shape == shape or shape[end:] != result.shape[result.ndim - count :]:
        return result
    try:
        fits = numpy.broadcast_shapes(result.shape, shape) == shape
    except ValueError:
        fits = False
    return _core.broadcast_to(result, shape) if fits else result


def _entries(op, axes, axis, keepdims):
    """The entries of `axes` for both operands and the result; None where all are at the end."""
    if axis is not _NoValue:
        if axes is not _NoValue:
            raise TypeError(message(op, "both axis and axes", "both", "one of them"))
        if op != "vecdot":
            raise TypeError(message(op, "several dimensions", f"axis={axis}", "axes="))
        if not hasattr(no_flags(op, axis), "__index__"):
            raise TypeError(message(op, "axis is not an integer", type(axis).__name__, "an int"))
        return [(axis,), (axis,), (axis,) if keepdims else ()]
    if axes is _NoValue:
        return [(-1,), (-1,), (-1,)] if keepdims else None
    if not isinstance(axes, list):
        raise TypeError(message(op, "axes", type(axes).__name__, "a list of tuples"))
    entries = axes
    if len(entries) == 2 and op == "vecdot":
        entries = entries + [entries[0] if keepdims else ()]
    if len(entries) != 3:
        raise ValueError(message(op, "axes", f"{len(axes)} entries", "one for each operand"))
    return entries


def _product(op, least, inner):
    """Registers a body of two operands, and `out`, as a generalised ufunc of NumPy's: array calls
    have its keywords around the body, compiled functions the body.

    least: the dimensions an operand must have. inner: the axis of the second operand that is summed
    over.
    """

    def register(body):
        around = _with_keywords(op, least, inner, body)
        quick(op)(around)
        return ufunc(f"np.{op}", body, around)

    return register


def _with_keywords(op, least, inner, body):
    def function(
        x1,
        x2,
        /,
        out=None,
        *,
        casting="same_kind",
        order="K",
        dtype=None,
        subok=True,
        axes=_NoValue,
        axis=_NoValue,
        keepdims=_NoValue,
        signature=_NoValue,
        sig=_NoValue,
    ):
        if signature is not _NoValue or sig is not _NoValue:
            if signature is not _NoValue and sig is not _NoValue:
                raise TypeError(message(op, "both sig and signature", "both", "one of them"))
            chosen = sig if signature is _NoValue else signature
            x1, x2 = to_ndarray(x1), to_ndarray(x2)
            how = {"casting": casting, "dtype": dtype}
            types = types_of(op, getattr(numpy, op), chosen, how, (x1, x2))
            x1, x2 = cast_all((x1, x2), types)
        if type(subok) is not bool:
            raise TypeError(message(op, "subok must be a boolean", repr(subok), "True or False"))
        order = as_order(op, order)
        one_of(op, "casting", casting, CASTINGS)
        if isinstance(out, tuple):
            (out,) = out
        a, b = to_ndarray(x1), to_ndarray(x2)
        kind = dtypes.promote_types(a.dtype, b.dtype) if dtype is None else as_dtype(op, dtype)
        if out is not None:
            require_cast(op, kind, getattr(out, "dtype", kind), casting)
        require_cast(op, a.dtype, kind, casting)
        require_cast(op, b.dtype, kind, casting)
        if order == "A":
            order = "F" if a.flags.f_contiguous and b.flags.f_contiguous else "C"
        if dtype is not None:
            a, b = a.astype(kind, copy=False), b.astype(kind, copy=False)
        _dimensions(op, (a.shape, b.shape), least)
        counts = [min(a.ndim, least[0]), min(b.ndim, least[1])]
        if op == "matmul":
            counts = [min(a.ndim, 2), min(b.ndim, 2)]
        counts.append(counts[0] + counts[1] - 2)
        entries = None
        if axes is not _NoValue or axis is not _NoValue or keepdims is not _NoValue:
            keepdims = _kept(op, keepdims)
            entries = _entries(op, axes, axis, keepdims)
        if entries is not None:
            a, b = _moved(op, a, entries[0], counts[0]), _moved(op, b, entries[1], counts[1])
        if a.shape[-1] != b.shape[inner if b.ndim > 1 else -1]:
            raise _mismatch(op, a, b)
        direct = entries is None and min(counts) == 2 and type(out) is ndarray and kind == out.dtype
        if direct and _fits(out, a, b):
            return body(a, b, out)
        result = body(a, b)
        if entries is not None and (keepdims is True or counts[2]):
            if keepdims is True:
                result = to_ndarray(result)[..., None]
            result = _move_axes(op, result, entries[2], 1 if keepdims is True else counts[2])
        elif entries is not None and entries[2] not in ((), []):
            raise ValueError(message(op, "axes of the result", repr(entries[2]), "none"))
        if out is None:
            return in_order(result, order)
        if entries is None and isinstance(out, (ndarray, numpy.ndarray)):
            result = _spread(result, out.shape, counts[2])
        return store(op, result, out, casting)

    function.__name__ = function.__qualname__ = op
    function.__module__, function.__doc__ = body.__module__, body.__doc__
    return function


def _cast(op, a, b, dtype, casting):
    """The operands of a compiled product in the type that it is computed in, which `casting` must
    allow.
    """
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"[{op}] unknown casting; expected no, equiv, safe, same_kind or unsafe")
    kind = np.result_type(a, b) if dtype is None else dtype
    if not np.can_cast(a.dtype, kind, casting) or not np.can_cast(b.dtype, kind, casting):
        raise TypeError(f"[{op}] cannot cast an operand to dtype; expected another casting")
    return a.astype(kind, copy=False), b.astype(kind, copy=False)


def _to_end(op, x, entry, count):
    """`x` with the axes that an entry of `axes` names at its end, in compiled functions."""
    axes = entry if isinstance(entry, tuple) else (entry,)
    if len(axes) != count:
        raise ValueError(f"[{op}] axes; got another number for an operand; expected its own")
    return np.moveaxis(x, axes, (-2, -1)[2 - count :])


def _from_end(op, x, entry, count):
    """`x` with its last axes where an entry of `axes` names, in compiled functions."""
    axes = entry if isinstance(entry, tuple) else (entry,)
    if len(axes) != count:
        raise ValueError(f"[{op}] axes; got another number for the result; expected its own")
    if count == 0:
        return x
    return np.moveaxis(x, (-2, -1)[2 - count :], axes)


@_product("matmul", (1, 1), -2)
def matmul(
    x1: Array,
    x2: Array,
    /,
    out: OutCast = None,
    *,
    casting: Any = "same_kind",
    dtype: DTypeArg = None,
    axes: Any = None,
):
    """Matrix product; stacks of matrices broadcast, 1-D operands are a row on the left, a column on
    the right.

    axes: for both operands and the result the axes of their matrices, at the end by default.
    dtype: the type to compute in, which `casting` must allow; order: the result's memory layout.
    Raises ValueError for scalars and for inner extents that differ, TypeError for other casts.
    """
    if axes is not None:  # in compiled functions
        left, right = min(x1.ndim, 2), min(x2.ndim, 2)
        x1, x2 = _to_end("matmul", x1, axes[0], left), _to_end("matmul", x2, axes[1], right)
        made = matmul(x1, x2, casting=casting, dtype=dtype)
        return _from_end("matmul", made, axes[2], left + right - 2)
    if dtype is not None or casting != "same_kind":  # in compiled functions
        x1, x2 = _cast("matmul", x1, x2, dtype, casting)
        return matmul(x1, x2)
    if out is not None:
        return routines.product_into(x1, x2, out)
    return routines.product(x1, x2)


def matmul_operator(a, b):
    """`a @ b`."""
    return matmul(a, b)


matmul_operator = _core.composed(matmul_operator, make("numpy.matmul", operator.matmul))


def matmul_in_place(a, b):
    """`a @= b`: the product written to `a`, whose shape it must have.

    Raises ValueError for operands whose product has another shape, and TypeError where its type
    cannot be cast to that of `a`.
    """
    b = to_ndarray(b)
    require_cast("matmul", dtypes.promote_types(a.dtype, b.dtype), a.dtype, "same_kind")
    if a.ndim < 1 or b.ndim < 2:
        found = f"{a.ndim}-d and {b.ndim}-d"
        raise ValueError(message("matmul", "too few dimensions", found, "1-d and 2-d or more"))
    return matmul(a, b, out=a)


matmul_in_place = _core.composed(matmul_in_place, make("numpy.matmul", operator.imatmul))


def _fits(out, a, b):
    """Whether the product can be written to `out` itself: right shape and dtype, apart from the
    operands.
    """
    stack = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if out.shape != stack + (a.shape[-2], b.shape[-1]):
        return False
    if out.dtype != dtypes.promote_types(a.dtype, b.dtype):
        return False
    return not any([same_memory(out, x) for x in (a, b)])


@function("np.dot")
@quick("matmul")
def dot(a: Array, b: Array, out: OutExact = None):
    """Inner product of vectors, matrix product of matrices, product with a scalar; N-d: over a's
    last and b's second-to-last axis, the other axes of both kept.

    out: an array as the product would be made, in C order; ValueError for others. Raises ValueError
    for inner extents that differ.
    """
    if out is not None:
        return routines.dot_into(np.dot, a, b, out)
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        if a.shape[a.ndim - 1] != b.shape[0]:
            raise ValueError(
                f"[dot] inner extents differ; got {a.shape[a.ndim - 1]} and {b.shape[0]}; expected "
                "equal ones"
            )
        return routines.product(a, b)
    return np.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2 if b.ndim > 1 else 0,)))


@function("np.vdot")
@quick("vdot")
def vdot(a: Array, b: Array, /):
    """Inner product of the flattened arrays, the first conjugated. Raises ValueError for other
    numbers of elements.
    """
    first, second = a.ravel(), b.ravel()
    if first.shape[0] != second.shape[0]:
        raise ValueError("[vdot] numbers of elements differ; got other ones; expected equal ones")
    return routines.inner(np.conj(first) if a.dtype.kind == "c" else first, second)


@function("np.inner")
@quick("inner")
def inner(a: Array, b: Array, /):
    """Sum of products over the last axes of both. Raises ValueError where their extents differ."""
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if a.shape[a.ndim - 1] != b.shape[b.ndim - 1]:
        raise ValueError(
            f"[inner] inner extents differ; got {a.shape[a.ndim - 1]} and {b.shape[b.ndim - 1]}; "
            "expected equal ones"
        )
    if a.ndim == 1 and b.ndim == 1:
        return routines.inner(a, b)
    return np.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@function("np.outer")
@quick("outer")
def outer(a: Array, b: Array, out: OutBroadcast = None):
    """Products of all pairs of elements of two flattened arrays: shape (a.size, b.size)."""
    return np.multiply(a.ravel()[:, None], b.ravel()[None, :])


@function("np.tensordot")
def tensordot(a: Array, b: Array, axes: Any = 2):
    """Sum of products over pairs of axes: `axes` is a number of inner axes or two sequences of
    axes.

    Raises ValueError for axes of other extents, for one that is named twice and for more than there
    are.
    """
    if isinstance(axes, (int, numpy.integer)):
        if axes > min(a.ndim, b.ndim):
            raise ValueError(f"[tensordot] too many axes; got {axes}; expected those of both")
        n = axes if axes > 0 else 0
        left, right = every(a.shape)[a.ndim - n :], every(b.shape)[:n]
    else:
        of_a, of_b = axes
        if not _compiled:
            no_flags("tensordot", of_a), no_flags("tensordot", of_b)
        left = distinct("tensordot", _several(of_a), a.ndim)
        right = distinct("tensordot", _several(of_b), b.ndim)
    if len(left) != len(right):
        raise ValueError("[tensordot] axes; got other numbers of them; expected as many of each")
    for i, j in zip(left, right):
        if a.shape[i] != b.shape[j]:
            raise ValueError("[tensordot] shapes do not match; expected equal extents")
    free_a, free_b = _others(a.ndim, left), _others(b.ndim, right)
    first, inner = _extents(a.shape, free_a), product(_extents(a.shape, left))
    last = _extents(b.shape, free_b)
    rows = np.transpose(a, free_a + left).reshape((product(first), inner))
    columns = np.transpose(b, right + free_b).reshape((inner, product(last)))
    if not _compiled:  # fuses as these, by the numbers of axes and elements
        if not free_a and not free_b:
            return to_ndarray(routines.inner(rows.ravel(), columns.ravel()))
        if inner == 1:
            return np.multiply(rows, columns).reshape(first + last)
    return routines.product(rows, columns).reshape(first + last)


def _several(axes):
    """An axis or a sequence of them as distinct() takes them."""
    if isinstance(axes, (int, numpy.integer)):
        return axes
    return axes if isinstance(axes, tuple) else tuple(axes)


def _others(ndim, axes):
    """The other axes of an array."""
    if ndim == 0:
        return ()
    rest = _others(ndim - 1, axes)
    return rest if ndim - 1 in axes else rest + (ndim - 1,)


def _extents(shape, axes):
    """The extents of these axes."""
    if len(axes) == 0:
        return ()
    return (shape[axes[0]],) + _extents(shape, axes[1:])


@function("np.kron")
def kron(a: Array, b: Array):
    """Kronecker product: blocks of `b` scaled by the elements of `a`."""
    ndim = max(a.ndim, b.ndim)
    first, second, ones = leading(a.shape, ndim), leading(b.shape, ndim), (1,) * ndim
    product = a.reshape(interleaved(first, ones)) * b.reshape(interleaved(ones, second))
    return product.reshape(multiplied(first, second))


@_product("vecdot", (1, 1), -1)
def vecdot(
    x1: Array,
    x2: Array,
    /,
    out: OutCast = None,
    *,
    casting: Any = "same_kind",
    dtype: DTypeArg = None,
    axes: Any = None,
    axis: Any = None,
    keepdims: Any = False,
):
    """Sum of products along one axis, the first operand conjugated; other axes broadcast.

    axis: of both operands; keepdims: it stays in the result, with extent 1. The other arguments are
    those of matmul().
    """
    if axes is not None or axis is not None or keepdims:  # in compiled functions
        first, second, last = -1, -1, -1
        if axes is not None:
            first, second = axes[0], axes[1]
            last = axes[2] if len(axes) > 2 else first
        elif axis is not None:
            first, second, last = axis, axis, axis
        x1, x2 = _to_end("vecdot", x1, first, 1), _to_end("vecdot", x2, second, 1)
        made = vecdot(x1, x2, casting=casting, dtype=dtype)
        if not keepdims:
            return made
        return _from_end("vecdot", np.asarray(made)[..., None], last, 1)
    if dtype is not None or casting != "same_kind":  # in compiled functions
        x1, x2 = _cast("vecdot", x1, x2, dtype, casting)
        return vecdot(x1, x2)
    return routines.inner(np.conj(x1) if x1.dtype.kind == "c" else x1, x2)


@_product("matvec", (2, 1), -1)
def matvec(
    x1: Array,
    x2: Array,
    /,
    out: OutCast = None,
    *,
    casting: Any = "same_kind",
    dtype: DTypeArg = None,
    axes: Any = None,
):
    """Matrices times vectors, stacks of both broadcast; the arguments are those of matmul()."""
    if axes is not None:  # in compiled functions
        x1, x2 = _to_end("matvec", x1, axes[0], 2), _to_end("matvec", x2, axes[1], 1)
        made = matvec(x1, x2, casting=casting, dtype=dtype)
        return _from_end("matvec", made, axes[2], 1)
    if dtype is not None or casting != "same_kind":  # in compiled functions
        x1, x2 = _cast("matvec", x1, x2, dtype, casting)
        return matvec(x1, x2)
    if x1.ndim < 2 or x2.ndim < 1:
        raise ValueError("[matvec] too few dimensions; got other operands; expected (m, n), (n)")
    if x2.ndim == 1:
        return routines.product(x1, x2)
    if _compiled:  # one loop, where stacks of matrices are copied
        return routines.inner(x1, x2[..., None, :])
    return routines.product(x1, x2[..., None])[..., 0]


@_product("vecmat", (1, 2), -2)
def vecmat(
    x1: Array,
    x2: Array,
    /,
    out: OutCast = None,
    *,
    casting: Any = "same_kind",
    dtype: DTypeArg = None,
    axes: Any = None,
):
    """Vectors, conjugated, times matrices, stacks of both broadcast; the arguments are those of
    matmul().
    """
    if axes is not None:  # in compiled functions
        x1, x2 = _to_end("vecmat", x1, axes[0], 1), _to_end("vecmat", x2, axes[1], 2)
        made = vecmat(x1, x2, casting=casting, dtype=dtype)
        return _from_end("vecmat", made, axes[2], 1)
    if dtype is not None or casting != "same_kind":  # in compiled functions
        x1, x2 = _cast("vecmat", x1, x2, dtype, casting)
        return vecmat(x1, x2)
    if x1.ndim < 1 or x2.ndim < 2:
        raise ValueError("[vecmat] too few dimensions; got other operands; expected (n), (n, m)")
    first = np.conj(x1) if x1.dtype.kind == "c" else x1
    if x1.ndim == 1:
        return routines.product(first, x2)
    if _compiled:  # one loop, where stacks of matrices are copied
        return routines.inner(first[..., None, :], np.swapaxes(x2, -1, -2))
    return routines.product(first[..., None, :], x2)[..., 0, :]
