"""Lists and dicts whose memory compiled functions share: numba.typed.Dict and List."""

import operator
from collections.abc import ItemsView, KeysView, MutableMapping, MutableSequence, ValuesView

from .. import _core
from . import types
from ._dispatch import njit
from ._resolve import name_object

__all__ = ["Dict", "List"]


@njit
def _item(d, key):
    return d[key]


@njit
def _store(d, key, value):
    d[key] = value


@njit
def _remove(d, key):
    del d[key]


@njit
def _has(d, key):
    return key in d


@njit
def _clear(d):
    d.clear()


@njit
def _copy(d):
    return d.copy()


@njit
def _made(key, value):
    return {key: value}


@njit
def _insert(items, i, value):
    items.insert(i, value)


@njit
def _append(items, value):
    items.append(value)


@njit
def _set(items):
    return set(items)


def set_maker():
    """Called by the core: what makes the memory of a set of a list's."""
    return _set._core or _set._make()


class _Keys(KeysView):
    def __iter__(self):
        return iter(self._mapping)


class _Values(ValuesView):
    def __iter__(self):
        return iter(self._mapping._copied().values())


class _Items(ItemsView):
    def __iter__(self):
        return iter(self._mapping._copied().items())


class Dict(MutableMapping):
    """A dict with keys of one type and values of one type, which compiled functions take and give.

    Dict.empty(key_type, value_type) makes one; Dict() finds its types from the first entry. Keys
    are integers, floats, bools, strings and tuples of these; values numbers, strings, arrays,
    tuples, lists, dicts. What a compiled function changes is seen here. Raises what dict raises,
    and UnsupportedError for keys and values of other types.
    """

    def __init__(self, entries=()):
        self._held = None
        self.update(entries)

    def empty(cls, key_type, value_type, n_keys=0):
        """One without entries, of types of numba.types. Memory grows as it is needed: n_keys is how
        many entries are expected, an integer that is not negative.
        """
        if operator.index(n_keys) < 0:
            raise ValueError(
                f"[Dict.empty] a negative number of entries; got {n_keys}; expected 0 or more"
            )
        return cls._of(_core.Container.empty(types.DictType(key_type, value_type)))

    empty._kernel_name = "typed.Dict.empty"
    empty = classmethod(empty)

    @classmethod
    def _of(cls, held):
        d = cls()
        d._held = held
        return d

    @property
    def _type(self):
        return None if self._held is None else types.DictType(*types.from_core(self._held.types))

    def _copied(self):
        return {} if self._held is None else self._held.as_dict()

    def __getitem__(self, key):
        if self._held is not None:
            try:
                return _item(self, key)
            except KeyError:
                pass
        raise KeyError(key)

    def __setitem__(self, key, value):
        if self._held is None:
            self._held = _made(key, value)._held
        else:
            _store(self, key, value)

    def __delitem__(self, key):
        if self._held is not None:
            try:
                return _remove(self, key)
            except KeyError:
                pass
        raise KeyError(key)

    def __contains__(self, key):
        return self._held is not None and _has(self, key)

    def __len__(self):
        return 0 if self._held is None else len(self._held)

    def __iter__(self):
        size = len(self)
        for key in self._copied():
            yield key
            if len(self) != size:
                raise RuntimeError("dictionary changed size during iteration")

    def keys(self):
        return _Keys(self)

    def values(self):
        return _Values(self)

    def items(self):
        return _Items(self)

    def popitem(self):
        """Takes out the last entry, as dict does."""
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._copied()))
        return key, self.pop(key)

    def clear(self):
        if self._held is not None:
            _clear(self)

    def copy(self):
        return type(self)() if self._held is None else _copy(self)

    def __repr__(self):
        return repr(self._copied())

    def __reduce__(self):
        if self._held is None:
            return type(self), ()
        return _rebuilt, (*self._type.items, self._copied())


def _rebuilt(key_type, value_type, entries):
    d = Dict.empty(key_type, value_type)
    d.update(entries)
    return d


class List(MutableSequence):
    """A list with items of one type, which compiled functions take and give.

    List.empty_list(item_type) makes one; List() finds its type from the first item. Items are
    numbers, strings, arrays, tuples, lists and dicts. What a compiled function changes is seen
    here. Raises what list raises, and UnsupportedError for items of another type.
    """

    def __init__(self, items=()):
        self._held = None
        self.extend(items)

    def empty_list(cls, item_type, allocated=0):
        """One without items, of a type of numba.types. Memory grows as it is needed: `allocated` is
        how many items are expected, an integer that is not negative.
        """
        if operator.index(allocated) < 0:
            raise ValueError(
                f"[List.empty_list] a negative number of items; got {allocated}; expected 0 or more"
            )
        made = cls()
        made._held = _core.Container.empty(types.ListType(item_type))
        return made

    empty_list._kernel_name = "typed.List.empty_list"
    empty_list = classmethod(empty_list)

    @property
    def _type(self):
        return None if self._held is None else types.ListType(*types.from_core(self._held.types))

    def _copied(self):
        return [] if self._held is None else self._held.as_list()

    def _inside(self, i):
        """An index that counts from the start. Raises IndexError for one outside."""
        k = operator.index(i)
        k += len(self) if k < 0 else 0
        if not 0 <= k < len(self):
            raise IndexError("list index out of range")
        return k

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(self._copied()[i])
        return _item(self, self._inside(i))

    def __setitem__(self, i, value):
        if not isinstance(i, slice):
            return _store(self, self._inside(i), value)
        changed = self._copied()
        changed[i] = value
        self._become(changed)

    def __delitem__(self, i):
        if not isinstance(i, slice):
            return _remove(self, self._inside(i))
        changed = self._copied()
        del changed[i]
        self._become(changed)

    def _become(self, items):
        self.clear()
        self.extend(items)

    def __len__(self):
        return 0 if self._held is None else len(self._held)

    def __iter__(self):
        k = 0
        while k < len(self):
            yield self[k]
            k += 1

    def append(self, value):
        if self._held is None:
            self._held = _core.Container.of_list([value])
        else:
            _append(self, value)

    def insert(self, i, value):
        if self._held is None:
            self.append(value)
        else:
            _insert(self, operator.index(i), value)

    def extend(self, items):
        for value in self._copied() if items is self else items:
            self.append(value)

    def clear(self):
        if self._held is not None:
            _clear(self)

    def copy(self):
        return type(self)(self._copied())

    def sort(self, key=None, reverse=False):
        self._become(sorted(self._copied(), key=key, reverse=reverse))

    def __eq__(self, other):
        if not isinstance(other, (List, list)):
            return NotImplemented
        return self._copied() == list(other)

    __hash__ = None

    def __repr__(self):
        return repr(self._copied())

    def __reduce__(self):
        return type(self), (self._copied(),)


name_object(Dict, "typed.Dict")
name_object(List, "typed.List")
