"""Entries like the one before: the same code is run for names that hold the same types of numbers
and arrays, without all that is found out at a first entry.
"""

import array
import types

from . import held, numbers

_NOTHING = object()
_MOST = 4  # plans of a loop
_number_kind = held._number_kind


class Plan:
    """What an entry found: where the names are, and of what kind. It only knows numbers, arrays of
    NumPy's and Numbus's, modules and what these have, and functions that the compiler knows.
    """

    def __init__(self, before, code, frame):
        this = before.loop
        self.loop, self.code, self.frame_code = this, code, frame.f_code
        self.entry, self.fixed, self.key = before.entry, before.fixed, before.key
        self.numbers, self.own = before.numbers, before.own
        # No value of the program's is held here, but functions that the compiler knows.
        self.names, self.reads, self.dotted = [], [], []
        for name in this.names:
            is_local = not (before.own and name not in before.own)
            self.names.append((name, is_local, before.entry[name]))
        for name in this.reads:
            kind, value = before.fixed[name], before.values.get(name, _NOTHING)
            self.reads.append((name, kind, value if type(kind) is tuple else _NOTHING))
            if type(kind) is tuple and kind[0] == "array":
                self.reads[-1] = name, kind, None
        for first, attribute in this.dotted:
            value = before.values.get(first)
            found = before.values.get(f"{first}.{attribute}", _NOTHING)
            of_module = type(value) is types.ModuleType
            self.dotted.append((first, attribute, found if of_module else _NOTHING))
        stored = [*this.names, *before.numbers]
        kinds = [before.entry.get(n) or before.fixed[n] for n in stored]
        self.stores = [(j, n, numbers.STORES[k]) for j, (n, k) in enumerate(zip(stored, kinds))
                       if k != "o"]  # fmt: skip
        self.count = len(stored)
        self.template = before.words(len(code.loops), code.words)[0].tolist()
        for j in range(self.count):
            self.template[4 + 2 * j] = 0

    def values_of(self, frame):
        """(values by names, arrays) at another entry, or None: it is not like the one before."""
        if frame.f_code is not self.frame_code:
            return None
        local, others, built_in = frame.f_locals, frame.f_globals, frame.f_builtins
        values, arrays, own = {}, [], self.own
        counter = self.loop.counter
        for name, is_local, kind in self.names:
            value = (local if is_local else others).get(name, _NOTHING)
            if value is _NOTHING:
                found = "i" if name == counter else "o"
            else:
                values[name] = value
                found = _number_kind(value)
            if found != kind or (kind == "f" and value != value):
                return None
        for name, kind, same in self.reads:
            value = local.get(name, _NOTHING)
            if value is _NOTHING and name not in own:
                value = others.get(name, _NOTHING)
                if value is _NOTHING:
                    value = built_in.get(name, _NOTHING)
            if value is not _NOTHING:
                values[name] = value
            if same is None:
                if not _fits(value, kind, arrays):
                    return None
            elif kind == "o":
                if type(value) is not types.ModuleType:
                    return None
            elif same is not _NOTHING:
                if value is not same:
                    return None
            elif _number_kind(value) != kind or (kind == "f" and value != value):
                return None
        for first, attribute, same in self.dotted:
            of = values.get(first)
            if same is _NOTHING:
                if not _is_array(of):
                    return None
                continue
            if type(of) is not types.ModuleType or vars(of).get(attribute) is not same:
                return None
            value = same
            values[f"{first}.{attribute}"] = value
        return values, arrays


def _is_array(value):
    """Whether it is an array of NumPy's or Numbus's, of which no attribute is a plain number."""
    numpy = held.numpy
    return numpy is not None and type(value) in (numpy.ndarray, held._core.ndarray)


def _fits(value, kind, arrays):
    """Whether a value is an array that is passed as this one."""
    _, elements, dtype, axes, writable, parameter, whose = kind
    if whose == "array":
        if type(value) is not held.numpy.ndarray:
            return False
        flags = value.flags
        if not flags.aligned or flags.writeable != writable:
            return False
    elif type(value) is not held._core.ndarray or value._device != "cpu" or not value.size:
        return False
    if value.ndim != axes or value.dtype != dtype:
        return False
    if whose == "ours" and elements != "B":
        if type(value[(0,) * axes]) is not held._OURS[elements]:
            return False
    k = int(parameter[1:])
    if k < len(arrays):
        return arrays[k] is value
    if any(value is a for a in arrays):
        return False
    arrays.append(value)
    return k == len(arrays) - 1


class Held(held.Held):
    """The values of an entry that is like the one before."""

    _lists = _listed = _bools = _grown = ()
    estimate, nan, pooled = 0.0, None, held._NO_POOLS

    def __init__(self, plan, values, arrays):
        self.loop, self.entry, self.fixed = plan.loop, plan.entry, plan.fixed
        self.numbers, self.key, self.plan = plan.numbers, plan.key, plan
        self.values, self.arrays, self.sources = values, arrays, arrays

    def words(self, _loops, _ranges=0, first=0):
        """As for others."""
        plan, values = self.plan, self.values
        si, sf = plan.template[:], [0.0] * (2 * plan.count)
        for j, name, store in plan.stores:
            if store == "f":
                sf[j] = values[name]
            elif store == "c":
                sf[j], sf[plan.count + j] = values[name].real, values[name].imag
            else:
                si[4 + 2 * j] = int(values.get(name, first))
        return array.array("l", si), array.array("d", sf)

    def copy_lists(self):
        """There are none."""

    def write_back(self, si):
        """There is nothing to be stored."""


def plan(before, code, frame):
    """The plan for entries like this one; None where it has lists, or what runs code."""
    this = before.loop
    if len(this.plans) >= _MOST or this.made_names or this.appended or before.nan is not None:
        return None
    if before._lists or before._listed or before._bools or before._grown:
        return None
    if any(held.select.DOT in name for name in this.names):
        return None
    for name in this.reads:
        kind, value = before.fixed[name], before.values.get(name, _NOTHING)
        if type(kind) is tuple:
            if kind[0] not in ("call", "array") or kind[-1] == "items":
                return None
        elif kind == "o" and type(value) is not types.ModuleType:
            return None
    for first, attribute in this.dotted:
        kind, value = before.fixed[f"{first}.{attribute}"], before.values.get(first)
        if type(value) is types.ModuleType:
            if type(kind) is not tuple or kind[0] != "call":
                return None
        elif not _is_array(value) or kind != "o":
            return None
    return Plan(before, code, frame)


def again(this, frame):
    """What an entry finds that is like an earlier one, whose plan is put first; None: it is not
    like any of them.
    """
    for k, of in enumerate(this.plans):
        found = of.values_of(frame)
        if found is None:
            continue
        entry = Held(of, *found)
        if of.fixed["@"] != held.products():
            return None
        if held.asks_sharing(this) and entry._sharing(of.fixed) != of.fixed["&"][1]:
            continue
        if k:
            this.plans.insert(0, this.plans.pop(k))
        return entry
    return None
