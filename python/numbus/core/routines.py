"""Routines of the core's table by name, on arrays: plan nodes with declared reads and writes."""

import functools

import numpy

from .. import _core
from .._core import ndarray
from . import dtypes
from .dtypes import kind_of
from .errors import message
from .given import host_array
from .host import on_host
from .operands import store, to_ndarray
from .ufuncs import UFUNCS

_INT64, _FLOAT64 = numpy.dtype(numpy.int64), numpy.dtype(numpy.float64)
MOST_RANKS = 4  # that one partition takes; the table of routines has as many attributes
# On a GPU a selection reads its lines once a digit and four ranks, and counts in tables of 2,048
# words; otherwise sorting takes less time and memory.
_FEW_RANKS, _LONG_LINE = 12, 1 << 15


def keeps_order(a):
    """Whether sort() of `a` can be stable: where it cannot, equal elements differ in no bits but
    those of zeros and NaN, and argsort() tells their order.
    """
    return kind_of(a.dtype) not in "fc" or on_host(a)


def sort(a, axis, stable=False, descending=False):
    """The elements along `axis` in order, NaN last; in the axis order and dtype of `a`.

    Unless `stable`, -0.0 comes before 0.0 and NaN loses its sign.
    """
    return _core.along_lines("sort", a, axis, False, [stable, descending])


def argsort(a, axis, descending=False):
    """The indices that sort along `axis`, int64. Equal elements keep their order."""
    return _core.along_lines("argsort", a, axis, True, [descending])


def ranks(op, kth, extent, size):
    """`kth`, an int or a sequence of them, as distinct ints in [0, extent), in order; none where
    there are no elements (size 0).
    """
    given = kth if isinstance(kth, (tuple, list)) else numpy.asarray(to_ndarray(kth))
    found = host_array(given)
    if found.dtype.kind == "b":
        raise ValueError(message(op, "kth is not an integer", found.dtype, "ints"))
    if found.dtype.kind not in "iu":
        raise TypeError(message(op, "kth is not an integer", found.dtype, "ints"))
    if found.ndim > 1:
        raise ValueError(message(op, "kth has too many axes", f"{found.ndim}-d", "at most 1-d"))
    distinct = set()
    for k in found.ravel().tolist() if size else ():
        if not -extent <= k < extent:
            raise ValueError(message(op, "kth out of bounds", k, f"{-extent} <= kth < {extent}"))
        distinct.add(k % extent)
    return sorted(distinct)


def partition(a, ranks, axis):
    """The elements along `axis` with those of the given ranks where sorting puts them.

    ranks: distinct ints in [0, extent of the axis).
    """
    if len(ranks) > MOST_RANKS:
        return sort(a, axis)
    return _core.along_lines("partition", a, axis, False, _padded(ranks))


def argpartition(a, ranks, axis):
    """The indices that partition() would put where, int64."""
    if len(ranks) > MOST_RANKS:
        return argsort(a, axis)
    return _core.along_lines("argpartition", a, axis, True, _padded(ranks))


def _padded(ranks):
    return [*ranks, *[-1] * (MOST_RANKS - len(ranks))]


def select(a, ranks, axis):
    """The elements along `axis` that sorting puts at `ranks`, in their order; the axis becomes the
    last one.

    ranks: a list of ints in [0, extent of the axis).
    """
    if not on_host(a):
        few = len(ranks) <= _FEW_RANKS and a.shape[axis] >= _LONG_LINE
        if a.dtype.kind == "c" or not few:
            order = [*(d for d in range(a.ndim) if d != axis), axis]
            return sort(a, axis).transpose(order)[..., ranks]
    return _core.select_ranks(a, axis, ranks)


def search(line, values, right):
    """Where `values` belong in a sorted line of their dtype, int64; right: after equal ones."""
    if values.dtype.kind == "c" and not on_host(values):  # kernels compare one word
        return _search_by_order(line, values, right)
    return _core.search(line, values, right)


def _search_by_order(line, values, right):
    """search() as a stable sort of both: what stands before a value, less the values there."""
    flat, n, m = values.reshape((-1,)), line.shape[0], values.size
    parts = [line, flat] if right else [flat, line]
    order = argsort(_core.concatenate(parts, 0, False, None, "same_kind", None), 0)
    of_line = order < n if right else order >= m
    before = _core.accumulate(_core.add, of_line.astype(numpy.int64), 0, None, None)
    found = _core.empty((n + m,), numpy.int64)
    found[order] = before
    return (found[n:] if right else found[:m]).reshape(values.shape)


def interp(x, xp, fp, ends):
    """The values at `x` of the lines between the points (xp, fp); `ends`, two, before and after
    them. All are float64.
    """
    return _core.interp(x, xp, fp, ends)


def accumulate(a, axis, dtype, product):
    """The sums, or products, of all elements up to each along `axis`: as the registered functions
    have it in compiled functions.
    """
    raise NotImplementedError("[accumulate] an array call; expected a compiled function")


def join(arrays, axis, dtype):
    """Arrays of one number of axes, one after the other along `axis`: see accumulate()."""
    raise NotImplementedError("[join] an array call; expected a compiled function")


def flatnonzero(line):
    """The indices of the elements of a line that are not zero, int64."""
    return _core.flatnonzero(line if line.dtype.kind == "b" else line != 0)


def bincount(x, bins, weights=None):
    """How often each integer of [0, bins) occurs in the line `x`, int64, or the float64 sums of its
    weights.

    On a GPU the weights of a bin are added in a fixed order that is not NumPy's.
    """
    if x.size:
        return _core.bincount(x, bins, weights)
    return _core.full((bins,), 0, _INT64 if weights is None else _FLOAT64)


def takes_edges(x, edges, even):
    """Whether histogram() has NumPy's rules for these: a GPU compares float64, without NaN."""
    if even or on_host(x):
        return True
    exact = kind_of(x.dtype) == "f" or x.dtype.itemsize < 8
    return exact and not bool((edges != edges).any())


def histogram(x, edges, even):
    """How many elements of the line `x` lie in each bin between edges, int64.

    even: these are evenly spaced floats, else any that do not decrease, in the dtype of `x`.
    """
    return _core.histogram(x, edges, even)


# --- Products


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
    from .libraries import offer

    chosen = "auto" in devices
    if any(d.startswith("cuda") for d in devices) or (chosen and _core.may_have_gpu()):
        offer("cublas")
    if chosen or not all(d.startswith("cuda") for d in devices):
        offer("blas")


def product(a, b):
    """Matrix product of arrays of one axis (a row on the left, a column on the right) or more,
    whose stacks broadcast; the inner extents are equal.
    """
    if a.ndim == 1 and b.ndim == 1:
        return inner(a, b)
    if a.ndim == 1:
        return _matrices(a.reshape((1, a.shape[0])), b, None)[..., 0, :]
    if b.ndim == 1:
        return _matrices(a, b.reshape((b.shape[0], 1)), None)[..., 0]
    return _matrices(a, b, None)


def product_into(a, b, out):
    """product() of matrices, written to an array of its shape and dtype."""
    return _matrices(a, b, out)


def _matrices(a, b, out):
    if out is None and a.shape[-1] > 0:
        # src/array/at_once_calls.h says why.
        if _core.is_chain_of_rows(a.shape[-2], a.shape[-1], b.shape[-1]) and (
            kind_of(a.dtype) in "fc"
            and kind_of(b.dtype) in "fc"
            and not dtypes.is_half(a.dtype)
            and not dtypes.is_half(b.dtype)
        ):
            return _few_terms(a, b)
    dtype = dtypes.promote_types(a.dtype, b.dtype)
    halves = dtypes.is_half(dtype) and _core.multiplies_halves(a, b)
    if dtype.char in "fdFD" or halves:
        _offer(a._device, b._device, _core.get_device())
        return _core.matmul(a, b, dtype, out)
    result = _without_library(a, b, dtype)
    return result if out is None else store("matmul", result, out)


def _without_library(a, b, dtype):
    """Integers wrap, bool is any(and), half floats sum in float32, as they do
    in a GPU's library: one kernel stores no product.
    """
    if dtypes.is_half(dtype):
        return _matrices(*[x.astype(numpy.float32) for x in (a, b)], None).astype(dtype)
    a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    return _sum_of_products(a[..., :, :, None], b[..., None, :, :], -2)


def inner(a, b):
    """The sums of products along the last axes of both, whose other axes broadcast; those of half
    floats in float32, rounded once.
    """
    if dtypes.is_half(a.dtype) or dtypes.is_half(b.dtype):
        dtype = dtypes.promote_types(a.dtype, b.dtype)
        if dtypes.is_half(dtype):
            first, second = [x.astype(numpy.float32) for x in (a, b)]
            return to_ndarray(_sum_of_products(first, second, -1)).astype(dtype)[()]
    return _sum_of_products(a, b, -1)


def _sum_of_products(a, b, axis):
    """In one kernel, in the promoted dtype; bool as any(and)."""
    product = UFUNCS["multiply"](a, b)
    kind = kind_of(product.dtype)
    axes = (axis % product.ndim,) if product.ndim > 1 else None
    if kind == "b":
        return _core.reduce("any", product, axes, False, None, None, 0)
    # Floats sum in their own type in any case; half floats and integers have to be told to.
    dtype = None if kind in "fc" else product.dtype
    return _core.reduce("sum", product, axes, False, dtype, None, 0)


def dot_into(dot, a, b, out):
    """dot() stored in `out`. NumPy's ufunc takes any for products of numbers; where it asks the
    BLAS, only one as it makes it.
    """
    asked = max(a.ndim, b.ndim) < 3 and dtypes.promote_types(a.dtype, b.dtype).char in "fdFD"
    if not asked and (a.ndim == 0 or b.ndim == 0):
        return UFUNCS["multiply"](a, b, out=out)
    return exactly("dot", to_ndarray(dot(a, b)), out)


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
