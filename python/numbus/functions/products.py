"""Products of vectors and matrices: matmul, dot, inner, outer, tensordot, kron and their kin."""

import functools
import operator

import numpy

from .. import _core
from .._core import ndarray
from ..core.errors import as_order, many_axes, message
from ..core.fallback import make
from ..core.host import same_memory
from ..core.operands import as_dtype, in_order, require_cast, store, to_ndarray
from ..core.quick import quick
from ..core.ufuncs import UFUNCS, cast_all, types_of
from . import names as np
from .axes import distinct, every, interleaved, leading, multiplied, product
from .names import compiled as _compiled
from .reductions import reduce
from .registry import Any, Array, OutBroadcast, function

__all__ = [
    "dot",
    "matmul",
    "matvec",
    "vecdot",
    "vecmat",
]


_NoValue = numpy._NoValue
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe", "same_value")


def _few_terms(a, b):
    """The product as a sum of outer products, in the order of the terms."""
    total = None
    for k in range(a.shape[-1]):
        term = UFUNCS["multiply"](a[..., :, k : k + 1], b[..., k : k + 1, :])
        total = term if total is None else UFUNCS["add"](total, term)
    return total


@functools.cache
def _offer(*devices):
    """Names the libraries of the operands' devices, and of those that cost may choose."""
    from ..core.libraries import offer

    chosen = "auto" in devices
    if any(d.startswith("cuda") for d in devices) or (chosen and _core.may_have_gpu()):
        offer("cublas")
    if chosen or not all(d.startswith("cuda") for d in devices):
        offer("blas")


def _matmul(a, b, out=None, dtype=None):
    """Matrix product of arrays of at least two axes each, stacks broadcast."""
    if out is None and dtype is None and a.shape[-1] > 0:
        # src/array/at_once_calls.h says why.
        if _core.is_chain_of_rows(a.shape[-2], a.shape[-1], b.shape[-1]) and (
            a.dtype.kind in "fc"
            and b.dtype.kind in "fc"
            and "e" not in (a.dtype.char, b.dtype.char)
        ):
            return _few_terms(a, b)
    if dtype is None:
        dtype = numpy.promote_types(a.dtype, b.dtype) if out is None else out.dtype
    elif type(dtype) is not numpy.dtype:
        dtype = numpy.dtype(dtype)
    if dtype.char in "fdFD":
        _offer(a._device, b._device, _core.get_device())
        return _core.matmul(a, b, dtype, out)
    return _finish("matmul", _without_library(a, b, dtype), out)


def _without_library(a, b, dtype):
    """Integers wrap, bool is any(and), half floats sum in float32: one kernel stores no product."""
    if dtype.char == "e":
        return _matmul(a, b, None, "float32").astype(dtype)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    return _sum_of_products(a[..., :, :, None], b[..., None, :, :], -2)


def _sum_of_products(a, b, axis=-1):
    """sum(a*b) over one axis in one kernel, in the promoted dtype; bool as any(and)."""
    product = UFUNCS["multiply"](a, b)
    kind = product.dtype.kind
    if kind == "b":
        return reduce("any", product, axis)
    # Floats sum in their own type in any case; half floats and integers have to be told to.
    return reduce("sum", product, axis, None if kind in "fc" else product.dtype)


def _finish(op, result, out):
    return result if out is None else store(op, result, out)


def _mismatch(op, a, b):
    return ValueError(
        message(
            op, "inner extents differ", f"shapes {a.shape} and {b.shape}", "equal inner extents"
        )
    )


def _dimensions(op, shapes, least):
    if any([len(shape) < count for shape, count in zip(shapes, least)]):
        found = " and ".join([f"{len(shape)}-d" for shape in shapes])
        wanted = " and ".join([f"{count}-d" for count in least])
        raise ValueError(message(op, "too few dimensions", found, f"{wanted} or more"))


def _matmul_core(a, b, dtype, out):
    left, right = a.shape, b.shape
    if len(left) == len(right) == 1:
        return _sum_of_products(a, b, None)
    if len(left) > 1 and len(right) > 1:
        return _matmul(a, b, out, dtype)
    if len(left) == 1:
        return _matmul(a.reshape((1, left[0])), b, None, dtype)[..., 0, :]
    return _matmul(a, b.reshape((right[0], 1)), None, dtype)[..., 0]


def _conjugated(a):
    return UFUNCS["conjugate"](a) if a.dtype.kind == "c" else a


def _vecdot_core(a, b, _dtype, _out):
    return _sum_of_products(_conjugated(a), b)


def _matvec_core(a, b, dtype, _out):
    return _matmul(a, b[..., None], None, dtype)[..., 0]


def _vecmat_core(a, b, dtype, _out):
    return _matmul(_conjugated(a)[..., None, :], b, None, dtype)[..., 0, :]


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
        if not hasattr(axis, "__index__"):
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


def _product_function(op, doc, least, inner, core):
    """A product with the arguments of NumPy's generalised ufuncs.

    least: the dimensions an operand must have. inner: the axis of each that is summed over, by the
    dimensions of its vector or matrix. core: the product of operands of one dtype.
    """

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
        if casting not in _CASTINGS:
            raise ValueError(message(op, "unknown casting", repr(casting), ", ".join(_CASTINGS)))
        if isinstance(out, tuple):
            (out,) = out
        a, b = to_ndarray(x1), to_ndarray(x2)
        kind = numpy.promote_types(a.dtype, b.dtype) if dtype is None else as_dtype(op, dtype)
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
            return core(a, b, kind, out)
        result = core(a, b, None if dtype is None else kind, None)
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
    function.__doc__ = doc
    return function


matmul = _product_function(
    "matmul",
    """Matrix product; stacks of matrices broadcast, 1-D operands are a row on the left, a column on
    the right.

    axes: for both operands and the result the axes of their matrices, at the end by default.
    dtype: the type to compute in, which `casting` must allow; order: the result's memory layout.
    Raises ValueError for scalars and for inner extents that differ, TypeError for other casts.
    """,
    (1, 1),
    -2,
    _matmul_core,
)
quick("matmul")(matmul)


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
    require_cast("matmul", numpy.promote_types(a.dtype, b.dtype), a.dtype, "same_kind")
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
    if out.dtype != numpy.promote_types(a.dtype, b.dtype):
        return False
    return not any([same_memory(out, x) for x in (a, b)])


@quick("matmul")
def dot(a, b, out=None):
    """Inner product of vectors, matrix product of matrices, product with a scalar; N-d: over a's
    last and b's second-to-last axis, the other axes of both kept.
    """
    a, b = to_ndarray(a), to_ndarray(b)  # a number is one of its own type, not a weak one
    number = not a.ndim or not b.ndim
    # NumPy's ufunc takes any `out` of these; where it asks the BLAS, only one as it makes it.
    asked = max(a.ndim, b.ndim) < 3 and numpy.promote_types(a.dtype, b.dtype).char in "fdFD"
    if number and (out is None or not asked):
        return UFUNCS["multiply"](a, b, out=out)
    if out is not None:
        return exactly("dot", to_ndarray(dot(a, b)), out)
    axis = b.ndim - 2 if b.ndim > 1 else 0
    if a.shape[-1] != b.shape[axis]:
        raise _mismatch("dot", a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (axis,)))


def exactly(op, result, out):
    """`result` in `out`, which must be as NumPy would have made it: no cast, C order."""
    if isinstance(out, tuple):
        raise TypeError(message(op, "out is no array", "a tuple", "an ndarray"))
    if isinstance(out, (ndarray, numpy.ndarray)) and (
        out.dtype != result.dtype or not out.flags.c_contiguous
    ):
        found = f"{out.dtype}, " + ("C order" if out.flags.c_contiguous else "another order")
        raise ValueError(message(op, "out is not acceptable", found, f"{result.dtype} in C order"))
    return store(op, result, out)


@function("np.vdot")
@quick("vdot")
def vdot(a: Array, b: Array, /):
    """Inner product of the flattened arrays, the first conjugated. Raises ValueError for other
    numbers of elements.
    """
    first, second = a.ravel(), b.ravel()
    if first.shape[0] != second.shape[0]:
        raise ValueError("[vdot] numbers of elements differ; got other ones; expected equal ones")
    first = np.conj(first) if a.dtype.kind == "c" else first
    return np.dot(first, second) if _compiled else _sum_of_products(first, second, None)


@function("np.inner")
@quick("inner")
def inner(a: Array, b: Array, /):
    """Sum of products over the last axes of both. Raises ValueError where their extents differ."""
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if a.shape[a.ndim - 1] != b.shape[b.ndim - 1]:
        raise ValueError("[inner] inner extents differ; got other ones; expected equal ones")
    if a.ndim == 1 and b.ndim == 1:
        return np.dot(a, b) if _compiled else _sum_of_products(a, b, None)
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
    if _compiled:
        return np.dot(rows, columns).reshape(first + last)
    if not free_a and not free_b:
        return to_ndarray(_sum_of_products(rows.ravel(), columns.ravel()))
    if inner == 1:
        return UFUNCS["multiply"](rows, columns).reshape(first + last)
    return _matmul(rows, columns).reshape(first + last)


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


vecdot = _product_function(
    "vecdot",
    """Sum of products along one axis, the first operand conjugated; other axes broadcast.

    axis: of both operands; keepdims: it stays in the result, with extent 1. The other arguments are
    those of matmul().
    """,
    (1, 1),
    -1,
    _vecdot_core,
)
quick("vecdot")(vecdot)
matvec = _product_function(
    "matvec",
    """Matrices times vectors, stacks of both broadcast; the arguments are those of matmul().""",
    (2, 1),
    -1,
    _matvec_core,
)
quick("matvec")(matvec)
vecmat = _product_function(
    "vecmat",
    """Vectors, conjugated, times matrices, stacks of both broadcast; the arguments are those of
    matmul().
    """,
    (1, 2),
    -2,
    _vecmat_core,
)
quick("vecmat")(vecmat)
