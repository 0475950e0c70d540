"""Arrays with elements more or less: insert, trim_zeros; bits packed and unpacked."""

import operator

import numpy

from . import names as np
from .joining import _along
from .manipulation import moveaxis
from .names import compiled as _compiled
from .registry import Any, Array, Axis, AxisOrNumber, Choice, Flat, Operand, function

__all__ = []


@function("np.insert", few=True)
def insert(arr: Array, obj: Any, values: Operand, axis: Axis | Flat = None):
    """A copy of `arr` with `values` before the indices `obj` along `axis` (None: flattened).

    obj: an int, a slice, ints or bools. Raises IndexError for indices out of range. Compiled
    functions take an int.
    """
    n = arr.shape[axis]
    if _compiled:
        if not isinstance(obj, (int, np.integer)):
            raise NotImplementedError("[insert] several indices; got an array; expected an int")
        return _insert_block(arr, obj, _block(arr, values, axis, True), axis)
    at = _positions("insert", obj, n)
    if at.size == 1:
        one = operator.index(at.reshape(())[()])
        return _insert_block(arr, one, _block(arr, values, axis, at.ndim == 0), axis)
    at = numpy.where(at < 0, at + n, at)
    order = numpy.argsort(at, kind="stable")
    at[order] += numpy.arange(at.size)
    old = numpy.ones(n + at.size, bool)
    try:
        old[at] = False
    except IndexError:
        raise IndexError(f"[insert] index out of bounds; got {obj}; expected -{n} to {n}") from None
    shape = arr.shape[:axis] + (old.size,) + arr.shape[axis + 1 :]
    result = np.empty(shape, arr.dtype)
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
    at = _positions("delete", obj, n)
    keep = numpy.ones(n, bool)
    try:
        keep[at] = False
    except IndexError:
        raise IndexError(f"[delete] index out of bounds; got {obj}; expected -{n} to {n}") from None
    return np.take(arr, numpy.flatnonzero(keep), axis)


def _positions(op, obj, n):
    """The indices that a user gave, numbers of the host."""
    if isinstance(obj, slice):
        return numpy.arange(*obj.indices(n))
    at = numpy.asarray(obj)
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
    return moveaxis(block, 0, axis) if single and not _compiled and axis else block


def _insert_block(arr, at, block, axis):
    n, k = arr.shape[axis], at
    if k < -n or k > n:
        raise IndexError(f"[insert] index out of bounds; got {k}; expected -{n} to {n}")
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


@function("np.packbits", compiled=False, few=True)
def packbits(
    a: Array, /, axis: AxisOrNumber | Flat = None, bitorder: Choice("big", "little") = "big"
):
    """Eight elements along `axis` (None: flattened) as the bits of a uint8, zeros after the last.

    TypeError for what is neither integers nor bool.
    """
    if a.dtype.kind not in "iub":
        raise TypeError(f"[packbits] elements; got {a.dtype}; expected integers or bool")
    lines = moveaxis(a, axis, -1)
    n = lines.shape[-1]
    bits = np.zeros(lines.shape[:-1] + ((n + 7) // 8 * 8,), np.uint8)
    bits[..., :n] = lines != 0
    grouped = bits.reshape(lines.shape[:-1] + ((n + 7) // 8, 8))
    weights = np.left_shift(np.uint8(1), np.arange(7, -1, -1, dtype=np.uint8))
    packed = np.sum(grouped * _turned(weights, bitorder), -1, dtype=np.uint8)
    return moveaxis(packed, -1, axis)


@function("np.unpackbits", compiled=False, few=True)
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
    lines = moveaxis(a, axis, -1)
    have = 8 * lines.shape[-1]
    shifts = _turned(np.arange(7, -1, -1, dtype=np.uint8), bitorder)
    bits = np.right_shift(lines[..., None], shifts) & np.uint8(1)
    bits = bits.reshape(lines.shape[:-1] + (have,))
    n = have if count is None else operator.index(count)
    if n < 0:
        n += have
        if n < 0:
            raise ValueError(f"[unpackbits] count; got {count}; expected at least -{have}")
    if n > have:
        longer = np.zeros(lines.shape[:-1] + (n,), np.uint8)
        longer[..., :have] = bits
        bits = longer
    return moveaxis(bits[..., :n], -1, axis)


@function("np.trim_zeros")
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None):
    """`filt` without the zeros at the ends that `trim` names ("f", "b"), along all axes or `axis`:
    a view; of a list a list. Compiled functions take one axis.
    """
    if _compiled:
        return _trim_line(filt, trim, axis)
    a = np.asarray(filt)
    ends = trim.lower() if isinstance(trim, str) else ""
    if ends not in ("fb", "bf", "f", "b"):
        raise ValueError(f"[trim_zeros] trim; got {trim}; expected 'f', 'b' or 'fb'")
    axes = numpy.lib.array_utils.normalize_axis_tuple(
        range(a.ndim) if axis is None else axis, a.ndim
    )
    index = [slice(None)] * a.ndim
    found = np.nonzero(a) if a.ndim else ()
    for d in axes:
        if found[d].size == 0:
            # Nothing stays of the axes that are trimmed.
            index[d] = slice(0, 0)
            continue
        first = int(np.min(found[d])) if "f" in ends else 0
        last = int(np.max(found[d])) + 1 if "b" in ends else a.shape[d]
        index[d] = slice(first, last)
    return filt[index[0]] if a.ndim == 1 else a[tuple(index)]


def _trim_line(line, trim, axis):
    if line.ndim != 1 or axis is not None:
        raise NotImplementedError("[trim_zeros] several axes, axis=; got these; expected one axis")
    front = trim == "fb" or trim == "bf" or trim == "f"
    back = trim == "fb" or trim == "bf" or trim == "b"
    if not front and not back:
        raise ValueError("[trim_zeros] trim not known; expected 'f', 'b' or 'fb'")
    some = np.flatnonzero(line)
    n, count = line.shape[0], some.shape[0]
    first, last = 0, n
    if front:
        first = some[0] if count else n
    if back:
        last = some[count - 1] + 1 if count else 0
    return line[first:last]
