"""Indices beyond slices and one mask: integer arrays, mixed and partial boolean indices.

The core hands them over. Up to three index arrays go back to it as a gather or a scatter, which
fuses; NumPy does the rest on the zero-copy view.
"""

import numpy

from . import _core
from ._convert import adopt, to_numpy
from ._core import generic, ndarray
from ._errors import message
from ._host import on_host, writing


def plain(index):
    """`index` with every Numbus array in it as a NumPy array; lists become arrays as NumPy takes
    them.
    """
    if type(index) is tuple:
        return tuple([_plain_item(item) for item in index])
    return _plain_item(index)


def _from_list(item):
    return numpy.asarray([to_numpy(x) for x in item]) if item else numpy.empty(0, numpy.intp)


def _plain_item(item):
    kind = type(item)
    if kind is ndarray or kind is generic:
        item = to_numpy(item)
    elif kind is list:
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


_MOST = 3  # index arrays of a gather


def _advanced(a, index):
    """(view, axes, arrays, place, distinct): `index` as integer arrays for some axes of a view of
    `a`, their shared shape standing at `place` among the other axes; distinct: they come from one
    mask. None where NumPy has to sort it out.
    """
    items = index if type(index) is tuple else (index,)
    taken, ellipsis, arrays, masks = [], None, 0, []
    for item in items:
        kind = type(item)
        if kind is slice or item is None:
            taken.append(item)
        elif item is Ellipsis:
            if ellipsis is not None:
                return None
            ellipsis = len(taken)
        elif kind is int:
            taken.append(item)
        else:
            if type(item) is list:
                item = _from_list(item)
            found = _as_indices(a, item)
            if found is None:
                return None
            if item.dtype == bool:
                masks.append((len(taken), item.shape))
            taken.extend(found)
            arrays += sum([type(x) is not int for x in found])
    if not 1 <= arrays <= _MOST:
        return None
    rest = a.ndim - sum([x is not None for x in taken])
    if rest < 0:
        return None
    at = len(taken) if ellipsis is None else ellipsis
    taken[at:at] = [slice(None)] * rest
    for n, shape in masks:
        before = sum([x is not None for x in taken[: n + (rest if n >= at else 0)]])
        if a.shape[before : before + len(shape)] != shape:
            return None
    # Integers count with the arrays: side by side their shape stays in place, apart it comes first.
    chosen = [n for n, x in enumerate(taken) if x is not None and type(x) is not slice]
    together = chosen[-1] - chosen[0] == len(chosen) - 1
    place = chosen[0] if together else 0
    basic, axes, found, axis = [], 0, [], 0
    for item in taken:
        if type(item) is ndarray:
            axes |= 1 << axis
            found.append(item)
            item = slice(None)
        basic.append(item)
        axis += type(item) is not int
    return a[tuple(basic)], axes, found, place, len(masks) == 1 and arrays == len(masks[0][1])


def _as_indices(a, item):
    """The integer arrays (or one int) that an array stands for; None: not for us."""
    kind = type(item)
    if kind is generic or isinstance(item, numpy.generic):
        return [int(item)] if item.dtype.kind in "iu" else None
    if kind is ndarray and item.dtype.kind in "iu":
        return [item] if item.ndim else [int(item)]
    if kind is numpy.ndarray and item.dtype.kind in "iu":
        if item.ndim == 0:
            return [int(item)]
        return [_core.to_device(_core.from_numpy(item).copy(), a._device)]
    if kind in (ndarray, numpy.ndarray) and item.dtype.kind == "b" and item.ndim:
        if kind is ndarray and not on_host(item):
            return list(item.nonzero())
        return [
            _core.to_device(_core.from_numpy(x), a._device) for x in numpy.asarray(item).nonzero()
        ]
    return None


def getitem(a, index):
    """`a[index]` by NumPy's rules for integer and boolean arrays: a copy; IndexError
    out of range.
    """
    found = _advanced(a, index)
    if found is not None:
        return _core.gather(*found[:4])
    view = numpy.asarray(a)
    index = plain(index)
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


def combine(a, index, value, op):
    """`a[index] = op(a[index], value)`, each of repeated indices counted; whether that could be
    recorded. op: "add", "minimum" or "maximum".
    """
    found = _advanced(a, index)
    if found is None:
        return False
    _core.scatter(*found[:4], value, op)
    return True


def setitem(a, index, value):
    """`a[index] = value` by NumPy's rules, broadcasting `value`; repeated indices keep the last
    value.
    """
    if isinstance(value, (list, tuple)):
        value = numpy.asarray(value)
    if not a._writeable:
        raise ValueError(
            message("setitem", "assignment destination is read-only", a.shape, "a copy")
        )
    found = None if _masks_all(a, index) else _advanced(a, index)
    if found is not None:
        return _core.scatter(*found[:4], value, distinct=found[4])
    index, value = plain(index), to_numpy(value)
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
