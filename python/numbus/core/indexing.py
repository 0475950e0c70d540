"""Indices beyond slices and one mask: integer arrays, mixed and partial boolean indices.

The core hands them over. Up to three index arrays go back to it as a gather or a scatter, which
fuses; NumPy does the rest on the zero-copy view.
"""

import array

import numpy

from .. import _core
from .._core import generic, ndarray
from .errors import message
from .given import host_array
from .host import on_host, writing
from .operands import adopt, to_numpy


def plain(index):
    """`index` with every Numbus array in it as a NumPy array; lists become arrays as NumPy takes
    them.
    """
    if type(index) is tuple:
        return tuple([_plain_item(item) for item in index])
    return _plain_item(index)


_SEQUENCES = (list, tuple, range, array.array)  # whose items are indices, within an index


def _from_list(item):
    made = numpy.asarray([to_numpy(x) for x in item])
    return made if made.size else made.astype(numpy.intp)  # lists of nothing have no type


def _plain_item(item):
    kind = type(item)
    if kind is ndarray or kind is generic:
        item = to_numpy(item)
    elif isinstance(item, _SEQUENCES):
        item = _from_list(item)
    elif kind is slice:
        return slice(to_numpy(item.start), to_numpy(item.stop), to_numpy(item.step))
    if isinstance(item, (numpy.ndarray, numpy.generic)) and item.dtype.kind not in "biu":
        raise IndexError(
            message(
                "getitem", "arrays used as indices", f"dtype {item.dtype}", "integer or boolean"
            )
        )
    if isinstance(item, (str, bytes, float, complex)):
        raise IndexError(
            message(
                "getitem",
                "not a valid index",
                type(item).__name__,
                "integers, slices, Ellipsis, None, integer or boolean arrays",
            )
        )
    return item


def advanced(a, index):
    """(view, axes, arrays, position, distinct): what `_core.advanced` makes of an index whose masks
    have become integer arrays; distinct: they come from one mask alone. None where NumPy has to
    sort it out.
    """
    if type(index) is ndarray and index.dtype.kind in "iu" and index.ndim:
        found = _core.advanced(a, index)
        return found and (*found, False)
    items = list(index) if type(index) is tuple else [index]
    masks, axes = {}, 0
    for n, item in enumerate(items):
        if isinstance(item, _SEQUENCES):
            item = items[n] = _from_list(item)
        if isinstance(item, (ndarray, numpy.ndarray)):
            if item.dtype.kind == "b" and item.ndim:
                masks[n] = item
            elif not item.ndim and item.dtype.kind in "iu":
                items[n] = int(item)
        axes += item.ndim if n in masks else item is not None and item is not Ellipsis
    if masks:
        expanded, axis = [], 0
        for n, item in enumerate(items):
            if n in masks:
                if a.shape[axis : axis + item.ndim] != item.shape:
                    return None
                axis += item.ndim
                expanded += _mask_indices(a, item)
            else:
                axis += a.ndim - axes if item is Ellipsis else item is not None
                expanded.append(item)
        items = expanded
    found = _core.advanced(a, tuple(items))
    if found is None:
        return None
    return *found, len(masks) == 1 and len(found[2]) == next(iter(masks.values())).ndim


def _mask_indices(a, mask):
    """The indices of the true elements of a mask, on the device of `a`."""
    if type(mask) is ndarray and not on_host(mask):
        return mask.nonzero()
    found = numpy.asarray(mask).nonzero()
    return [_core.to_device(_core.from_numpy(x), a._device) for x in found]


def getitem(a, index):
    """`a[index]` by NumPy's rules for integer and boolean arrays: a copy; IndexError
    out of range.
    """
    found = advanced(a, index)
    if found is not None:
        return _core.gather(*found[:4])
    index = plain(index)
    if _core.watching() and _core.depends(a):
        whole = _of_numbers(index)
        if is_basic(whole):
            made = a[whole]
            return made.copy() if type(made) is ndarray else made
    view = numpy.asarray(a)
    try:
        result = view[index]
    except IndexError as error:
        raise _explained("getitem", a, error) from None
    if not isinstance(result, numpy.ndarray):
        return _core.from_numpy(numpy.asarray(result))[()]
    if result.base is not None and numpy.may_share_memory(result, view):
        # A tuple that turned out to be basic: a view of `a`.
        return _core.from_numpy(result)
    return adopt(result)


def _depends(value):
    return isinstance(value, (ndarray, generic)) and _core.depends(value)


def _of_numbers(index):
    """An index whose arrays without axes are the integers that NumPy takes them for."""
    items = index if type(index) is tuple else (index,)
    return tuple(
        int(i) if isinstance(i, numpy.ndarray) and not i.ndim and i.dtype.kind in "iu" else i
        for i in items
    )


def is_basic(index):
    """Whether an index consists of integers, slices, None and an Ellipsis: it selects a view."""
    items = index if type(index) is tuple else (index,)
    return all(
        item is None
        or item is Ellipsis
        or (isinstance(item, (slice, int, numpy.integer)) and not isinstance(item, bool))
        for item in items
    )


def setitem(a, index, value):
    """`a[index] = value` by NumPy's rules, broadcasting `value`; repeated indices keep the last
    value.
    """
    if isinstance(value, (list, tuple)):
        value = host_array(value)
    if not a._writeable:
        raise ValueError(
            message("setitem", "assignment destination is read-only", a.shape, "a copy")
        )
    watched = _core.watching() and (_core.depends(a) or _depends(value))
    found = None if not watched and _masks_all(a, index) else advanced(a, index)
    if found is not None:
        return _core.scatter(*found[:4], value, distinct=found[4])
    index = plain(index)
    if watched:
        whole = _of_numbers(index)
        if is_basic(whole):
            a[whole] = value
            return None
    value = to_numpy(value)
    try:
        with writing(a) as real:
            # NumPy reads through a mask as it writes: what is read are the values from before.
            if isinstance(value, numpy.ndarray) and numpy.may_share_memory(real, value):
                value = value.copy()
            real[index] = value
    except (IndexError, ValueError) as error:
        raise _explained("setitem", a, error) from None


def _masks_all(a, index):
    """Whether `index` is one mask of all of `a`, both on the host: there NumPy writes in one pass,
    where integers made of the mask would be many more bytes.
    """
    kind = type(index)
    if kind not in (ndarray, numpy.ndarray) or not on_host(a):
        return False
    if index.dtype != bool or index.ndim != a.ndim:
        return False
    return kind is numpy.ndarray or on_host(index)


def _explained(op, a, error):
    """NumPy's error, its first sentence kept, in the form of this library."""
    text = str(error).rstrip(". ").replace(";", ",")
    return type(error)(message(op, text, f"an array of shape {a.shape}", "an index that fits it"))
