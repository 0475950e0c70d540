"""What has to be as it was for a captured call to stand for the next one."""

import builtins
import collections
import dis
import gc
import types

from ... import _core

ITEM, ATTRIBUTE, CELL, ITEMS, GRADIENT, HOLDS, TRUTH = range(7)
_DEEPEST = 3
_LONGEST = 256
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class Parts:
    """What a module or an optimizer adds: guards, functions that give numbers anew.

    guards : list of (kind, of, name, value)
    renewals : list of callables
    reason : str or None
        Why a step with it cannot be recorded again.
    """

    def __init__(self, guards=(), renewals=(), reason=None):
        self.guards, self.renewals, self.reason = list(guards), list(renewals), reason


class _Guards:
    def __init__(self, watch, keeps, is_given):
        self.all = {}
        self.watch, self.keeps, self.is_given = watch, keeps, is_given
        self.named_twice = False

    def add(self, kind, of, name, value):
        if isinstance(value, (_core.TensorBase, _core.ndarray, _core.generic)):
            # The next call may have another argument, and this one in its place.
            self.named_twice = self.named_twice or self.is_given(value)
            # What the call itself has made is no longer there.
            if not self.keeps(value):
                return
        self.watch.name(value)
        self.all.setdefault((kind, id(of), name), (kind, of, name, value))

    def contents(self, value, depth=0):
        if type(value) not in (list, dict, tuple) or depth >= _DEEPEST:
            return
        items = tuple(value.values() if isinstance(value, dict) else value)
        if len(items) > _LONGEST:
            return
        if not isinstance(value, tuple):
            self.add(ITEMS, value, None, items)
        for item in items:
            self.contents(item, depth + 1)


def of(watch, capture, tensors, gradients):
    """(guards, renewals) of a captured call, or why there are none."""
    kept = {id(t._array): t for t in tensors if capture.keeps(t)}

    def keeps(value):
        if isinstance(value, _core.TensorBase):
            return id(value._array) in kept
        return True

    found = _Guards(watch, keeps, capture.is_given)
    _read_closure(found, watch.function)
    for code, names, given in watch.calls:
        for value in given.values():
            watch.name(value)
        _read(found, code, names, given)
    renewals = list(watch.renewals)
    for part in [make(of_) for of_, make in list(watch.parts.values())]:
        if part.reason is not None:
            return part.reason
        for guard in part.guards:
            found.add(*guard)
        renewals += part.renewals
    for t in tensors:
        if not capture.keeps(t):
            continue
        found.add(HOLDS, t, None, t._array)
        grad = t._grad
        if grad is not None and id(grad._array) in kept:
            found.add(GRADIENT, t, None, grad)
        elif gradients.get(id(t), 0) is None and t._leaf:
            found.add(GRADIENT, t, None, None)

    if found.named_twice:
        return "an argument is also reached in another way"
    return list(found.all.values()), renewals


def _read_closure(found, function):
    """Variables of other functions that a function sees, and what hangs on them."""
    function = getattr(function, "__func__", function)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        found.add(CELL, cell, None, value)
        found.contents(value)


def _functions_of(code):
    return [f for f in gc.get_referrers(code) if isinstance(f, types.FunctionType)]


def _read(found, code, names, given):
    """Guards of what a function's code reads by names and attributes."""
    free = {}
    for function in [] if code.co_name in _COMPREHENSIONS else _functions_of(code):
        if function.__code__ is not code or function.__closure__ is None:
            continue
        _read_closure(found, function)
        for name, cell in zip(code.co_freevars, function.__closure__, strict=True):
            try:
                free[name] = cell.cell_contents
            except ValueError:
                continue
    instructions = list(dis.get_instructions(code))
    stored = collections.Counter(i.argval for i in instructions if i.opname == "STORE_FAST")
    stored.update(n for i in instructions if i.opname.startswith("STORE_FAST_") for n in i.argval)
    once = {}  # by names of variables that are assigned in one place: a one-tuple
    now, constant = None, None  # a one-tuple of the object that has just been loaded
    for i in instructions:
        op = i.opname
        if op in ("LOAD_GLOBAL", "LOAD_NAME"):
            now = None
            if i.argval in names:
                value = names[i.argval]
                found.add(ITEM, names, i.argval, value)
                found.contents(value)
                now = (value,)
            elif hasattr(builtins, i.argval):
                found.add(ITEM, vars(builtins), i.argval, getattr(builtins, i.argval))
        elif op in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
            now = (free[i.argval],) if i.argval in free else None
        elif op == "LOAD_FAST" and i.argval in given and not stored[i.argval]:
            now = (given[i.argval],)
        elif op == "LOAD_FAST" and i.argval in once:
            now = once[i.argval]
        elif op == "STORE_FAST" and now is not None and stored[i.argval] == 1:
            once[i.argval] = now
            now = None
        elif op in ("LOAD_ATTR", "LOAD_METHOD") and now is not None:
            now = _attribute(found, now[0], i.argval)
        elif op == "LOAD_CONST" and now is not None:
            constant = (i.argval,)
            continue
        elif op == "BINARY_SUBSCR" and now is not None and constant is not None:
            now = _item(found, now[0], constant[0])
        elif op not in ("CACHE", "PUSH_NULL", "RESUME", "EXTENDED_ARG", "PRECALL"):
            now = None
        constant = None


def _attribute(found, of, name):
    """Guards an attribute that an object, a class or a module has of its own; its value."""
    if isinstance(of, (_core.TensorBase, _core.ndarray)):
        return None
    found.watch.name(of)
    fields = getattr(of, "__dict__", {})
    if name in fields:
        value = fields[name]
        if isinstance(of, type):
            found.add(ATTRIBUTE, of, name, getattr(of, name))
        else:
            found.add(ITEM, fields, name, value)
        found.contents(value)
        return (value,)
    for kind in type(of).__mro__:
        if name in kind.__dict__:  # a method, a property, a setting of the class
            value = kind.__dict__[name]
            if isinstance(value, types.MemberDescriptorType) and hasattr(of, name):  # of __slots__
                value = getattr(of, name)
                found.add(ATTRIBUTE, of, name, value)
                found.contents(value)
                return (value,)
            if not callable(value) and not hasattr(value, "__get__"):
                found.add(ATTRIBUTE, of, name, getattr(of, name))
            return None
    value = getattr(of, name, None)
    found.watch.name(value)
    return None if value is None else (value,)


def _item(found, of, key):
    if type(of) not in (dict, list, tuple):
        return None
    try:
        value = of[key]
    except (LookupError, TypeError):
        return None
    found.contents(of)
    return (value,)
