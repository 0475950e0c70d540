"""Arrays with elements more or less: insert, trim_zeros; bits packed and unpacked."""

import operator

import numpy

from ..core.errors import no_flags
from ..core.given import host_array
from . import names as np
from .axes import distinct, every
from .joining import _along
from .names import compiled as _compiled
from .registry import Any, Array, Axis, AxisOrNumber, Choice, Flat, Operand, function

__all__ = []


@function("np.insert", few=True)
def insert(arr: Array, obj: Any, values: Operand, axis: Axis | Flat = None):
    """A copy of `arr` with `values` before the indices `obj` along `axis` (None: flattened).

    obj: an int, a slice, ints or bools. Raises IndexError for indices out of range.
    """
    n = arr.shape[axis]
    if _compiled and isinstance(obj, (int, np.integer)):
        return _insert_block(arr, obj, _block(arr, values, axis, True), axis)
    at = _positions("insert", obj, n)
    if at.size == 1:
        one = int(at.reshape(1)[0])
        return _insert_block(arr, one, _block(arr, values, axis, at.ndim == 0), axis)
    at = numpy.where(at < 0, at + n, at)
    order = numpy.argsort(at, kind="stable")
    at[order] += numpy.arange(at.size)
    total = n + at.size
    if bool(numpy.any(at < -total)) or bool(numpy.any(at >= total)):
        raise IndexError(f"[insert] index out of bounds; got one; expected up to {n}")
    old = numpy.ones(total, numpy.bool_)
    old[at] = False
    result = np.empty(arr.shape[:axis] + (total,) + arr.shape[axis + 1 :], arr.dtype)
    result[_along(axis, arr.ndim, at)] = values
    result[_along(axis, arr.ndim, numpy.flatnonzero(old))] = arr
    return result


@function("np.delete", few=True)
def delete(arr: Array, obj: Any, axis: Axis | Flat = None):
    """A copy of `arr` without the indices `obj` along `axis` (None: flattened).

    obj: an int, a slice, ints or bools. Raises IndexError for indices out of range.
    """
    n = arr.shape[axis]
    if _compiled:
        left = np.ones(n, np.bool_)
        left[obj] = False
        return np.take(arr, np.flatnonzero(left), axis)
    if isinstance(obj, slice) and arr.ndim == 1:
        start, stop, step = obj.indices(n)
        if step == 1:
            return np.concatenate((arr[:start], arr[max(start, stop) :]))
    at = _positions("delete", obj, n)
    keep = numpy.ones(n, bool)
    try:
        keep[at] = False
    except IndexError:
        raise IndexError(f"[delete] index out of bounds; got {obj}; expected -{n} to {n}") from None
    return np.take(arr, numpy.flatnonzero(keep), axis)


def _positions(op, obj, n):
    """The indices that a user gave, numbers of the host."""
    if _compiled:
        if isinstance(obj, slice):
            return np.arange(n)[obj]
        chosen = np.asarray(obj)
        if chosen.ndim > 1:
            raise ValueError(f"[{op}] indices; got several axes; expected one or none")
        if chosen.dtype.kind == "b":
            return np.flatnonzero(chosen)
        if chosen.dtype.kind not in "iu":
            raise IndexError(f"[{op}] indices; got another type; expected integers")
        return chosen.astype(np.int64)
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    at = host_array(obj)
    if at.dtype.kind == "b":
        if at.ndim != 1:
            raise ValueError(f"[{op}] mask; got {at.ndim} axes; expected one")
        if op == "delete" and len(at) != n:
            raise ValueError(f"[delete] mask; got {len(at)} elements; expected {n}")
        return numpy.flatnonzero(at)
    if at.ndim > 1:
        raise ValueError(f"[{op}] indices; got {at.ndim} axes; expected one or none")
    if at.size == 0 and not hasattr(obj, "dtype"):
        return at.astype(numpy.int64)
    if at.dtype.kind not in "iu":
        raise (TypeError if at.size == 1 else IndexError)(
            f"[{op}] indices; got {at.dtype}; expected integers"
        )
    return at.astype(numpy.int64)


def _block(arr, values, axis, single):
    """The values as an array of as many axes; the first one of theirs goes where they are put."""
    block = np.asarray(values).astype(arr.dtype)
    if block.ndim < arr.ndim:
        block = block.reshape((1,) * (arr.ndim - block.ndim) + block.shape)
    return np.moveaxis(block, 0, axis) if single and not _compiled and axis else block


def _insert_block(arr, at, block, axis):
    n, k = arr.shape[axis], at
    if k < -n or k > n:
        raise IndexError(f"[insert] index out of bounds; got {k}; expected up to {n}")
    if k < 0:
        k += n
    end = k + block.shape[axis]
    more = block.shape[axis]
    result = np.empty(arr.shape[:axis] + (n + more,) + arr.shape[axis + 1 :], arr.dtype)
    result[_along(axis, arr.ndim, slice(0, k))] = arr[_along(axis, arr.ndim, slice(0, k))]
    result[_along(axis, arr.ndim, slice(k, end))] = block
    result[_along(axis, arr.ndim, slice(end, None))] = arr[_along(axis, arr.ndim, slice(k, None))]
    return result


def _turned(bits, bitorder):
    return bits[..., ::-1] if bitorder == "little" else bits


@function("np.packbits", few=True)
def packbits(
    a: Array, /, axis: AxisOrNumber | Flat = None, bitorder: Choice("big", "little") = "big"
):
    """Eight elements along `axis` (None: flattened) as the bits of a uint8, zeros after the last.

    TypeError for what is neither integers nor bool.
    """
    if a.dtype.kind not in "iub":
        raise TypeError(f"[packbits] elements; got {a.dtype}; expected integers or bool")
    lines = np.moveaxis(a, axis, -1)
    n = lines.shape[-1]
    bits = np.zeros(lines.shape[:-1] + ((n + 7) // 8 * 8,), np.uint8)
    bits[..., :n] = lines != 0
    grouped = bits.reshape(lines.shape[:-1] + ((n + 7) // 8, 8))
    weights = np.left_shift(np.uint8(1), np.arange(7, -1, -1, dtype=np.uint8))
    packed = np.sum(grouped * _turned(weights, bitorder), -1, dtype=np.uint8)
    return np.moveaxis(packed, -1, axis)


@function("np.unpackbits", few=True)
def unpackbits(
    a: Array,
    /,
    axis: AxisOrNumber | Flat = None,
    count: Any = None,
    bitorder: Choice("big", "little") = "big",
):
    """The bits of uint8 elements along `axis` (None: flattened), each a uint8.

    count: how many of them, with zeros where there are no more; negative: less than all.
    """
    if a.dtype != np.uint8:
        raise TypeError(f"[unpackbits] elements; got {a.dtype}; expected uint8")
    lines = np.moveaxis(a, axis, -1)
    have = 8 * lines.shape[-1]
    shifts = _turned(np.arange(7, -1, -1, dtype=np.uint8), bitorder)
    bits = np.right_shift(lines[..., None], shifts) & np.uint8(1)
    bits = bits.reshape(lines.shape[:-1] + (have,))
    if count is None:
        return np.moveaxis(bits, -1, axis)
    n = count if _compiled else operator.index(no_flags("unpackbits", count))
    if n < 0:
        n += have
        if n < 0:
            raise ValueError(f"[unpackbits] count; got {count}; expected at least -{have}")
    if not _compiled and n <= have:
        return np.moveaxis(bits[..., :n], -1, axis)
    longer = np.zeros(lines.shape[:-1] + (n,), np.uint8)
    longer[..., :have] = bits[..., :n]
    return np.moveaxis(longer, -1, axis)


@function("np.trim_zeros")
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None):
    """`filt` without the zeros at the ends that `trim` names ("f", "b"), along all axes or `axis`:
    a view; of a list a list.
    """
    a = np.asarray(filt)
    both = trim in ("fb", "bf", "FB", "BF", "fB", "Fb", "bF", "Bf")
    front, back = both or trim in ("f", "F"), both or trim in ("b", "B")
    if not front and not back:
        raise ValueError("[trim_zeros] trim not known; expected 'f', 'b' or 'fb'")
    axes = every(a.shape) if axis is None else distinct("trim_zeros", axis, a.ndim)
    index = _kept(np.nonzero(a) if a.ndim > 0 else (), a.shape, axes, front, back)
    return filt[index[0]] if a.ndim == 1 else a[index]


def _kept(found, shape, axes, front, back):
    """One slice an axis, from the first to the last index that was found along `axes`."""
    d = len(shape) - 1
    if d < 0:
        return ()
    rest = _kept(found, shape[:-1], axes, front, back)
    if d not in axes:
        return rest + (slice(None),)
    n, some = shape[d], found[d]
    if some.size == 0:  # nothing stays of the axes that are trimmed
        return rest + (slice(0, 0),)
    first = int(np.min(some)) if front else 0
    return rest + (slice(first, int(np.max(some)) + 1 if back else n),)
