"""The values that a loop finds where compiled code begins, and what they are for the compiler."""

import array
import contextlib
import itertools
import math
import time
import types

from . import functions, methods, narrow, numbers, select, singles, static
from .native import _kept, memory

_KINDS = {int: "i", float: "f", bool: "b", complex: numbers.COMPLEX}
_TYPES = {kind: t for t, kind in _KINDS.items()}
_OURS = {}  # types of Numbus's numbers, by kind, once they are known
MAKE = {
    1: lambda i, f: i, 2: lambda i, f: f, 3: lambda i, f: bool(i),
    4: lambda i, f: _TYPES["I"](i), 5: lambda i, f: _TYPES["F"](f), 6: lambda i, f: _TYPES["B"](i),
    7: lambda i, f: _OURS["H"](i), 8: lambda i, f: _OURS["G"](f),
}  # fmt: skip
MAKE[numbers.CODES[singles.SINGLE]] = lambda i, f: _TYPES[singles.SINGLE](f)
MAKE |= {numbers.CODES[k]: lambda i, _, k=k: _TYPES[k](i) for k in narrow.KINDS}
ROOM = 1 << 20  # items that a list may grow by before code is left, at least
# Seconds to look at an item of a list, to copy it and what changes of it back.
_PER_ITEM = {"i": 2e-8, "f": 1.5e-8, "b": 3e-9}
_LOOKS = 5  # times what looking at all items takes: the same, where they lie all over the memory
_TO_LOOK = 1e-9  # seconds to look at a bool of a list that is used in place
_IN_PLACE = 1 << 15  # bools of longer lists take less memory, and so less time, in a copy


class TooCostly(Exception):
    """Copying lists would take longer than the loop, or what it assigns to is found only later."""


class Dear(TooCostly):
    """Copying lists would take longer than the loop."""


class Held:
    """The values that a loop finds at an entry, and what they are for the compiler.

    seconds: that copying lists may take; TooCostly is raised where it is more. guess: only the
    first items of lists are looked at, which tells whether it is worth looking at all.
    """

    def __init__(self, this, frame, seconds, guess=False):
        self.loop, self._seconds, self._guess = this, seconds, guess
        self.estimate = 0.0  # seconds for copies
        code, local = frame.f_code, frame.f_locals
        is_function = code.co_flags & _CO_OPTIMIZED
        own = ()
        if is_function:
            own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.own = own
        self.values = {}
        self.arrays, self._lists, self._listed, self._known = [], [], [], {}
        self._copies = {}  # by numbers of arrays: those that were made when lists were looked at
        self._grown = []  # (list, array with room for more, kind)
        self._bools = []  # (list, number of the array): whose items are used in place
        self.taken = set()  # ids of lists that are copied
        self.pooled = _pools() if this.made_names else _NO_POOLS
        self.sources = []  # what each array stands for

        def find(name):
            if name in local:
                return local[name]
            if name in own:
                raise KeyError(name)
            if name in frame.f_globals:
                return frame.f_globals[name]
            return frame.f_builtins[name]

        self._growing = set()
        for name in this.appended:
            with contextlib.suppress(KeyError):  # of a statement that has not run yet
                self._growing.add(id(find(name)))
        entry, fixed = {}, {}
        self._changing = frame.f_globals, {n for n in this.names if n not in own}, this.names
        # What is assigned to is a variable of the function or of the module, and nothing built in.
        stored = set()  # (id of an object, attribute)
        for name in this.names:
            if select.DOT in name:
                of, _, attribute = name.partition(select.DOT)
                entry[name] = self._stored(name, find(of), attribute, stored)
                continue
            scope = frame.f_globals if is_function and name not in own else local
            if name not in scope:
                # The first item of a range is as good as one that is assigned later.
                entry[name] = "i" if name == this.counter else "o"
                continue
            self.values[name] = scope[name]
            entry[name] = _number_kind(scope[name])
            if name in this.made_names and type(self.values.get(name)) is list:
                entry[name] = self.pooled.kind(scope[name], self)
        for name in this.reads:
            try:
                value = self.values[name] = find(name)
            except KeyError:
                fixed[name] = "o"
                continue
            fixed[name] = self._describe(value)
        for first, attribute in this.dotted:
            fixed[f"{first}.{attribute}"] = self._read(first, attribute, fixed, stored)
        fixed["@"] = products()
        self.nan = self._only_nan(this)
        fixed["&"] = ("shared", self._sharing(fixed) if asks_sharing(this) else frozenset())
        self.entry, self.fixed = entry, fixed
        self.numbers = [n for n, f in fixed.items() if isinstance(f, str) and f in numbers.STORES]
        self.key = (*entry.values(), *fixed.values())

    def _only_nan(self, this):
        """The NaN that names hold; None: there is none. Where there are several it is not known
        which of them a name holds at the end; a list that one comes into would hold another one.
        """
        found = {id(v): v for v in self.values.values() if type(v) is float and v != v}
        if len(found) > 1 or (found and (self._listed or this.made_names or this.appended)):
            raise TooCostly
        return found.popitem()[1] if found else None

    def nan_of(self, name, value):
        """The object for a NaN that a name holds at the end: `x is math.nan` may be asked."""
        before = self.values.get(name)
        if type(before) is float and before != before:
            return before
        return value if self.nan is None else self.nan

    def _read(self, first, attribute, fixed, stored):
        """What an attribute that is read stands for; of methods also what they read."""
        name, of = f"{first}.{attribute}", self.values.get(first)
        if (id(of), attribute) in stored:
            raise TooCostly  # under another name, whose changes would not be seen
        value = _NOTHING if of is None else _attribute(of, attribute)
        if value is not _NOTHING:
            self.values[name] = value
            return self._describe(value)
        function = None if of is None else methods.of_object(of, attribute)
        found = function and functions.called(function, self._changing, 0, of)
        if not found:
            return "o"
        for more in found.attributes:
            fixed[f"{first}.{more}"] = self._read(first, more, fixed, stored)
        return ("method", found)

    def _stored(self, name, of, attribute, stored):
        """The kind of an attribute that is assigned to, which runs no code."""
        if (id(of), attribute) in stored or not _is_assigned_plainly(of, attribute):
            raise TooCostly
        stored.add((id(of), attribute))
        value = self.values[name] = _attribute(of, attribute)
        if value is _NOTHING:
            raise TooCostly
        return _number_kind(value)

    def _describe(self, value):
        kind = _number_kind(value)
        if kind != "o":
            return kind
        known = numbers.known_function(value)
        if known is not None:
            return ("call", known)
        if type(value) is types.FunctionType:
            found = functions.called(value, self._changing)
            return "o" if found is None else ("function", found)
        if id(value) not in self._known:
            before = len(self.arrays)
            self._known[id(value)] = self._array(value)
            self.sources += [value] * (len(self.arrays) - before)
        return self._known[id(value)]

    def _array(self, value):
        kind = type(value)
        if kind is list or kind is tuple:
            return self._list(value)
        if kind in _MEMORY:
            return self._memory(value)
        if numpy is None:
            return "o"
        if kind is numpy.ndarray:
            writable = value.flags.writeable
            if not value.flags.aligned:
                return "o"
        elif kind is _core.ndarray and value._device == "cpu":
            writable = True
        else:
            return "o"
        elements = numbers.element_kind(value.dtype)
        if elements is None or not 1 <= value.ndim <= 4:
            return "o"
        if kind is not numpy.ndarray and elements != "B":
            # Elsewhere elements are numbers that are not computed before they are read.
            elements = {"F": "G", "I": "H"}.get(elements, elements.lower())
            if elements not in _OURS or not value.size:
                return "o"
            if type(value[(0,) * value.ndim]) is not _OURS[elements]:
                return "o"
        self.arrays.append(value)
        parameter = f"a{len(self.arrays) - 1}"
        whose = "array" if kind is numpy.ndarray else "ours"
        return ("array", elements, value.dtype, value.ndim, writable, parameter, whose)

    def _sharing(self, fixed):
        """The pairs of parameters whose arrays may lie in the same memory."""
        arrays = {f[5]: f for f in fixed.values() if isinstance(f, tuple) and f[0] == "array"}
        arrays = [(p, f[6], self.arrays[int(p[1:])]) for p, f in arrays.items()
                  if f[6] in numbers.ARRAYS]  # fmt: skip
        pairs = set()
        for (p, whose, a), (q, of, b) in itertools.combinations(arrays, 2):
            if whose == of and a.base is b.base is None:
                continue  # each owns its memory
            share = numbus.may_share_memory if whose == "ours" else numpy.may_share_memory
            if whose != of or share(a, b):
                pairs |= {(p, q), (q, p)}
        return frozenset(pairs)

    def _memory(self, value):
        """Python's array.array, bytearray and bytes: elements of their memory."""
        code = getattr(value, "typecode", "B")
        if not value or code not in _OF_MEMORY:
            return "o"
        kind, items = _OF_MEMORY[code], memoryview(value)
        self.arrays.append(items)
        parameter = f"a{len(self.arrays) - 1}"
        return ("array", kind, code, 1, not items.readonly, parameter, "items")

    def _list(self, value):
        grows, writable = id(value) in self._growing, type(value) is list
        if not writable:
            self._spend(len(value) * _PER_ITEM["f"])
            value = list(value)
            writable = bool(value) and type(value[0]) is list
        elif value and type(value[0]) is tuple:
            writable = False
        if value and type(value[0]) is tuple:
            if len(value) > _MOST_TUPLES or any(type(row) is not tuple for row in value):
                return "o"
            value = [list(row) for row in value]
        found = _kept.list_guess(value)
        if found is None:
            return "o"
        kind, extents, rows = found
        count = math.prod(extents)
        costs = count * _PER_ITEM[kind]
        in_place = kind == "b" and len(extents) == 1 and not grows and writable
        if in_place and (count <= _IN_PLACE or self._seconds < costs):
            self._spend(count * _TO_LOOK)
            if id(value) in self.taken or (not self._guess and _kept.list_words(value) is None):
                return "o"
            self.taken.add(id(value))
            self._bools.append((value, len(self.arrays)))
            self.arrays.append(("i", 1))  # until copy_lists()
            return ("array", "b", None, 1, True, f"a{len(self.arrays) - 1}", "bools")
        made = None
        if kind == "b" and len(extents) == 1 and not grows and not self._guess:
            made = self._read_bools(value, extents, costs)
        found = self.look_at(value) if made is None else found
        if found is None:
            return "o"
        kind, extents, rows = found
        # Copies of one list under two names would not see each other's changes.
        own = {id(value), *rows}
        if not own.isdisjoint(self.taken):
            return "o"
        self.taken |= own
        if grows and len(extents) > 1:
            return "o"
        self._listed.append((value, len(self.arrays), kind, extents, grows, writable))
        self._copies[len(self.arrays)] = made
        self.arrays.append((kind, len(extents)))  # until copy_lists()
        how = "grows" if grows else "list"
        return ("array", kind, None, len(extents), writable, f"a{len(self.arrays) - 1}", how)

    @property
    def pools(self):
        """The arrays in which lists are that the loop makes."""
        return self.pooled.arrays

    def made_list(self, tag, word):
        """The list that a name holds at the end."""
        kind = chr(0xE100 + tag - numbers.FIRST_MADE)
        return self.pooled.list_of(numbers.MADE[kind], word, _TYPES[numbers.MADE[kind]])

    def _read_bools(self, value, extents, costs):
        """The array of a list of bools, which is looked at only once; None for others."""
        self._spend(costs)
        made = memory("b", *extents)
        return made if _kept.read_bools(value, made) else None

    def look_at(self, value):
        """(kind, extents, ids of rows) of a list of numbers; None for others."""
        found = _kept.list_guess(value)
        if found is None:
            return None
        costs = math.prod(found[1]) * _PER_ITEM[found[0]]
        self._spend(costs)
        if self._guess:
            return found
        start = time.perf_counter()
        found = _kept.list_numbers(value)
        if found and found[0] == "n":
            # `x in l` and `l == m` ask whether a NaN is the same object, which a copy would not be.
            raise TooCostly
        self._check(_LOOKS * (time.perf_counter() - start) - costs)
        return found

    def _spend(self, seconds):
        self.estimate += seconds
        self._check(seconds)

    def _check(self, seconds):
        self._seconds -= max(seconds, 0.0)
        if self._seconds < 0:
            raise Dear

    def sequences(self, over):
        """The lists or arrays that a loop goes over; None in the place of ranges."""
        return [self.values.get(n) if isinstance(n, str) else None for n in over.parts]

    def words(self, loops, ranges=0, first=0):
        """The numbers that code begins with, and room for those it ends with. first: the first
        item of a range.
        """
        names = [*self.loop.names, *self.numbers]
        last = 4 + 2 * len(names) + 3 * loops + ranges
        growing = [extents[0] for _, _, _, extents, grows, _ in self._listed if grows]
        end = [*growing, *self.pooled.tops()]
        si = array.array("l", [0]) * last
        si.extend((id(True), id(False), *end))
        sf = array.array("d", [0.0]) * (2 * len(names))  # also imaginary parts
        for j, name in enumerate(names):
            kind = self.entry.get(name) or self.fixed[name]
            if numbers.STORES.get(kind) == "f":
                sf[j] = self.values[name]
            elif kind == numbers.COMPLEX:
                value = self.values[name]
                sf[j], sf[len(names) + j] = value.real, value.imag
            elif kind in numbers.MADE:
                si[4 + 2 * j] = self.pooled.word(self.values[name])
            elif kind != "o":
                si[4 + 2 * j] = int(self.values.get(name, first))
        return si, sf

    def copy_lists(self):
        """Puts arrays of the same numbers in the place of lists."""
        for value, k in self._bools:
            self.arrays[k] = _kept.list_words(value).cast("l")
        self._lists += self.pooled.copy_lists()
        for value, k, kind, extents, grows, writable in self._listed:
            room = (extents[0] + max(extents[0], ROOM),) if grows else extents
            copied = self._copies.pop(k)
            made = self.arrays[k] = memory(kind, *room) if copied is None else copied
            held = made[: extents[0]] if grows else made
            if copied is None:
                _kept.read_list(value, held, kind)
            if writable:
                self._lists.append((value, held, b"" if kind == "b" else bytes(held), kind))
            if grows:
                self._grown.append((value, made, kind))

    def write_back(self, si):
        """Stores what has changed into the lists, and gives some of them another length."""
        for of in self._lists:
            _kept.write_list(*of)
        end = len(si) - len(self.pooled.tops())
        for of, count in zip(self._grown, si[end - len(self._grown) : end].tolist()):
            _kept.extend_list(*of, count)


_NOTHING = static.NOTHING


def products():
    """Whether products of parts of arrays are numbers of a known type, as it is in Held.fixed."""
    return "o" if _core is None or not _core.works_at_once() else ("call", "@")


def asks_sharing(this):
    """Whether it matters to a loop which arrays lie in the same memory."""
    return this.copies or this.stores_several


def _attribute(value, name):
    """The attribute of a module, or of an object or class for which reading it runs no code;
    _NOTHING: there is none.
    """
    if issubclass(type(value), types.ModuleType):
        return vars(value).get(name, _NOTHING)
    reads = type(value).__getattribute__
    if reads is not object.__getattribute__ and reads is not type.__getattribute__:
        return _NOTHING
    found = static.attribute(value, name, _NOTHING)
    if type(found) is types.MemberDescriptorType and type(value).__flags__ & _OF_PYTHON:
        return getattr(value, name, _NOTHING)  # one of __slots__
    return found if type(found) in _PLAIN else _NOTHING


def _is_assigned_plainly(value, name):
    """Whether assigning to an attribute that an object has changes this attribute, and runs no code
    of the program's.
    """
    kind = type(value)
    if issubclass(kind, (type, types.ModuleType)) or not kind.__flags__ & _OF_PYTHON:
        return False
    if kind.__setattr__ is not object.__setattr__:
        return False
    if kind.__getattribute__ is not object.__getattribute__:
        return False
    found = static.attribute(kind, name, _NOTHING)
    if type(found) is types.MemberDescriptorType:
        return True
    if found is not _NOTHING and hasattr(type(found), "__set__"):
        return False
    own = static.attribute(kind, "__dict__", None)
    if type(own) is not types.GetSetDescriptorType:
        return False
    if found is _NOTHING:
        return static.own(value, name, found) is not _NOTHING
    return name in value.__dict__


_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a program has made
_CO_OPTIMIZED = 1  # of `inspect`
_PLAIN = {*_KINDS, list, tuple, array.array, bytearray, bytes}
_MEMORY = array.array, bytearray, bytes
_OF_MEMORY = {code: "f" if code in "fd" else "i" for code in "bBhHiIlqfd"}
_MOST_TUPLES = 100_000
_core = numbus = numpy = None  # until they are known (arrays.py)


class _NoPools:
    """What loops have that make no lists (pools.py)."""

    arrays = ()

    @staticmethod
    def tops():
        """How many items lists have: there are none."""
        return ()

    copy_lists = tops


_NO_POOLS = _NoPools()


def _pools():
    from . import pools

    return pools.Pools()


def use(core, package, module):
    """Notes the types of NumPy's and Numbus's numbers and arrays."""
    global _core, numbus, numpy
    _core, numbus, numpy = core, package, module
    plain = {"I": "int64", "F": "float64", "B": "bool_", singles.SINGLE: "float32"}
    plain |= narrow.LETTERS
    _KINDS.update({getattr(numpy, name): kind for kind, name in plain.items()})
    ours = {"H": "int64", "G": "float64", **{k.lower(): c for k, c in narrow.LETTERS.items()}}
    for kind, name in ours.items():
        for t in _core.scalar_types:
            if issubclass(t, getattr(numpy, name)):
                _OURS[kind] = t
    _KINDS.update({t: kind for kind, t in _OURS.items()})
    _TYPES.update({kind: t for t, kind in _KINDS.items()})
    _PLAIN.update(_KINDS)
    _PLAIN.update((numpy.ndarray, _core.ndarray))


def _number_kind(value):
    kind = _KINDS.get(type(value), "o")
    if kind == "i" and not -(1 << 63) <= value < 1 << 63:
        return "o"
    return kind
