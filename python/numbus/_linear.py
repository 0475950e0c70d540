"""Products of vectors and matrices: matmul, dot, inner, outer, tensordot, kron and their kin."""

import functools

import numpy

from . import _core
from ._convert import operand, to_ndarray
from ._core import ndarray
from ._errors import many_axes, message
from ._host import same_memory
from ._reductions import reduce, store
from ._ufuncs import UFUNCS

__all__ = [
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]


# Products with few terms are a chain of rows that fuses with its surroundings, so that the product
# itself need not exist. Short results leave the vectors of such a kernel empty.
_FEW_TERMS, _LONG_ROW = 8, 64


def _few_terms(a, b):
    """The product as a sum of outer products, in the order of the terms."""
    total = None
    for k in range(a.shape[-1]):
        term = UFUNCS["multiply"](a[..., :, k : k + 1], b[..., k : k + 1, :])
        total = term if total is None else UFUNCS["add"](total, term)
    return total


@functools.cache
def _offer(device):
    from ._libraries import offer  # not at start-up

    offer("cublas" if device.startswith("cuda") else "blas")


def _matmul(a, b, out=None, dtype=None):
    """Matrix product of arrays of at least two axes each, stacks broadcast."""
    if out is None and dtype is None and b.shape[-1] >= _LONG_ROW:
        if 0 < a.shape[-1] <= _FEW_TERMS and (
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
        _offer(a._device)
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


def matmul(x1, x2, /, out=None, *, casting="same_kind", order="K", dtype=None, **kwargs):
    """Matrix product; stacks of matrices broadcast, 1-D operands are a row on the left, a column on
    the right.

    Raises ValueError for scalars and for inner extents that differ.
    """
    a, b = to_ndarray(x1), to_ndarray(x2)
    left, right = a.shape, b.shape
    if not left or not right:
        raise ValueError(
            message("matmul", "scalar operand", f"{a.ndim}-d and {b.ndim}-d", "1-d or more")
        )
    if left[-1] != right[-2 if len(right) > 1 else 0]:
        raise _mismatch("matmul", a, b)
    if isinstance(out, tuple):
        (out,) = out
    if len(left) == len(right) == 1:
        result = _sum_of_products(a, b, None)
        return _finish("matmul", result if dtype is None else result.astype(dtype), out)
    if len(left) > 1 and len(right) > 1:
        if type(out) is ndarray and _fits(out, a, b):
            return _matmul(a, b, out)
        return _finish("matmul", _matmul(a, b, None, dtype), out)
    if len(left) == 1:
        result = _matmul(a.reshape((1, left[0])), b, None, dtype)[..., 0, :]
    else:
        result = _matmul(a, b.reshape((right[0], 1)), None, dtype)[..., 0]
    return _finish("matmul", result, out)


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


def dot(a, b, out=None):
    """Inner product of vectors, matrix product of matrices, product with a scalar; N-d: over a's
    last and b's second-to-last axis, the other axes of both kept.
    """
    a, b = operand(a), operand(b)
    if not getattr(a, "ndim", 0) or not getattr(b, "ndim", 0):
        return UFUNCS["multiply"](a, b, out=out)
    if a.ndim <= 2 and b.ndim <= 2:
        if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
            raise _mismatch("dot", a, b)
        return matmul(a, b, out)
    axis = b.ndim - 2 if b.ndim > 1 else 0
    if a.shape[-1] != b.shape[axis]:
        raise _mismatch("dot", a, b)
    return _finish("dot", tensordot(a, b, ((a.ndim - 1,), (axis,))), out)


def vdot(a, b, /):
    """Inner product of the flattened arrays, the first conjugated."""
    a, b = to_ndarray(a).ravel(), to_ndarray(b).ravel()
    if a.shape != b.shape:
        raise _mismatch("vdot", a, b)
    return _sum_of_products(UFUNCS["conjugate"](a) if a.dtype.kind == "c" else a, b, None)


def inner(a, b, /):
    """Sum of products over the last axes of both."""
    a, b = operand(a), operand(b)
    if not getattr(a, "ndim", 0) or not getattr(b, "ndim", 0):
        return UFUNCS["multiply"](a, b)
    if a.shape[-1] != b.shape[-1]:
        raise _mismatch("inner", a, b)
    if a.ndim == 1 and b.ndim == 1:
        return _sum_of_products(a, b, None)
    return tensordot(a, b, ((-1,), (-1,)))


def outer(a, b, out=None):
    """Products of all pairs of elements of two flattened arrays: shape (a.size, b.size)."""
    a, b = to_ndarray(a).ravel(), to_ndarray(b).ravel()
    return UFUNCS["multiply"](a.reshape((a.size, 1)), b.reshape((1, b.size)), out=out)


def tensordot(a, b, axes=2):
    """Sum of products over pairs of axes: `axes` is a number of inner axes or two sequences of
    axes.
    """
    a, b = to_ndarray(a), to_ndarray(b)
    if isinstance(axes, (int, numpy.integer)):
        if axes > min(a.ndim, b.ndim):
            raise ValueError(message("tensordot", "too many axes", axes, "no more than both have"))
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        left, right = axes
        left, right = many_axes("tensordot", left, a.ndim), many_axes("tensordot", right, b.ndim)
    if len(left) != len(right) or any([a.shape[i] != b.shape[j] for i, j in zip(left, right)]):
        raise ValueError(
            message("tensordot", "shapes do not match", f"{a.shape} and {b.shape}", "equal extents")
        )
    free_a = tuple([i for i in range(a.ndim) if i not in left])
    free_b = tuple([j for j in range(b.ndim) if j not in right])
    shape = tuple([a.shape[i] for i in free_a]) + tuple([b.shape[j] for j in free_b])
    if not free_a and not free_b:
        a, b = a.transpose(left) if left else a, b.transpose(right) if right else b
        return to_ndarray(_sum_of_products(a.ravel(), b.ravel()))
    n = 1
    for i in left:
        n *= a.shape[i]
    rows, columns = _product([a.shape[i] for i in free_a]), _product([b.shape[j] for j in free_b])
    a = a.transpose(free_a + left).reshape((rows, n))
    b = b.transpose(right + free_b).reshape((n, columns))
    if n == 1:
        return UFUNCS["multiply"](a, b).reshape(shape)
    return _matmul(a, b).reshape(shape)


def _product(extents):
    result = 1
    for extent in extents:
        result *= extent
    return result


def kron(a, b):
    """Kronecker product: blocks of `b` scaled by the elements of `a`."""
    a, b = to_ndarray(a), to_ndarray(b)
    ndim = max(a.ndim, b.ndim)
    first = (1,) * (ndim - a.ndim) + a.shape
    second = (1,) * (ndim - b.ndim) + b.shape
    spread_a = tuple([extent for n in first for extent in (n, 1)])
    spread_b = tuple([extent for n in second for extent in (1, n)])
    result = UFUNCS["multiply"](a.reshape(spread_a), b.reshape(spread_b))
    return result.reshape(tuple([m * n for m, n in zip(first, second)]))


def vecdot(x1, x2, /, out=None, *, axis=-1, **kwargs):
    """Sum of products along one axis, the first operand conjugated; other axes broadcast."""
    a, b = to_ndarray(x1), to_ndarray(x2)
    if a.ndim == 0 or b.ndim == 0 or a.shape[axis] != b.shape[axis]:
        raise _mismatch("vecdot", a, b)
    if axis not in (-1,):
        from ._manipulation import moveaxis

        a, b = moveaxis(a, axis, -1), moveaxis(b, axis, -1)
    result = _sum_of_products(UFUNCS["conjugate"](a) if a.dtype.kind == "c" else a, b)
    return _finish("vecdot", result, out)


def matvec(x1, x2, /, out=None, **kwargs):
    """Matrices times vectors, stacks of both broadcast."""
    a, b = to_ndarray(x1), to_ndarray(x2)
    if a.ndim < 2 or b.ndim < 1 or a.shape[-1] != b.shape[-1]:
        raise _mismatch("matvec", a, b)
    return _finish("matvec", _matmul(a, b[..., None])[..., 0], out)


def vecmat(x1, x2, /, out=None, **kwargs):
    """Vectors, conjugated, times matrices, stacks of both broadcast."""
    a, b = to_ndarray(x1), to_ndarray(x2)
    if a.ndim < 1 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise _mismatch("vecmat", a, b)
    a = UFUNCS["conjugate"](a) if a.dtype.kind == "c" else a
    return _finish("vecmat", _matmul(a[..., None, :], b)[..., 0, :], out)
