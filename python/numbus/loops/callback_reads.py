"""What a function that SciPy calls back reads: numbers, which may be others at each call, and all
else, which has to be what it was when it was compiled.
"""

import builtins
import copy
import types

from .. import _loops
from . import functions


def plan(function, kinds, result):
    """What compiled() is given for a function and the types of its arguments; None where it is not
    compiled.
    """
    code = _loops.running_code(function)
    kinds = "f" + kinds if result == "integrand" else kinds
    called = functions.called(function, (None, (), ()))
    if called is None or len(kinds) > len(called.parameters):
        return None
    # Numbers that it reads are arguments, as they may be others at the next call.
    more, places, called = "", [], copy.copy(called)
    called.fixed = dict(called.fixed)
    for name in called.parameters[len(kinds) :]:
        of = called.defaults.get(name, "o")
        if of[0] != "number":
            return None
        more += of[1]
        places.append(called.parameters.index(name) - len(called.parameters))
    lifted = []
    for name, of in () if called.calls_itself else sorted(called.fixed.items()):
        if of[0] != "number" or not name.isidentifier():
            continue
        if name in code.co_freevars:
            places.append((code.co_freevars.index(name),))
        elif name in function.__globals__:
            places.append(name)
        else:
            continue
        more += of[1]
        lifted.append(name)
        del called.fixed[name]
    if "b" in more:
        return None
    called.parameters = (*called.parameters, *lifted)
    called.names = sorted([*called.names, *lifted])
    guards = [(code,)]
    if not _guard(function, guards, set(lifted), {id(function)}, True):
        return None
    return called, kinds, more, tuple(places), tuple(guards), function.__globals__, result


def _guard(function, guards, lifted, seen, is_itself):
    """Notes what a function reads and has to be what it is: (dict, name, value), without the value
    where there is none, and (number of a cell, value) of the function itself; of those that it
    calls (function, code, defaults) and (function, number of a cell, value). False: it cannot be
    told.
    """
    code, names = _loops.running_code(function), function.__globals__
    for name, attribute in functions.reads(code):
        if name in lifted:
            continue
        if name in code.co_freevars:
            number = code.co_freevars.index(name)
            try:
                value = function.__closure__[number].cell_contents
            except ValueError:  # nothing yet
                return False
            guards.append((number, value) if is_itself else (function, number, value))
        elif name in names:
            value = names[name]
            guards.append((names, name, value))
        else:
            value = getattr(builtins, name, None)
            guards += [(names, name), (vars(builtins), name, value)]
        if attribute is not None and issubclass(type(value), types.ModuleType):
            if attribute not in vars(value):
                return False
            guards.append((vars(value), attribute, vars(value)[attribute]))
        if type(value) is types.FunctionType and id(value) not in seen:
            seen.add(id(value))
            guards.append((value, _loops.running_code(value), value.__defaults__))
            if not _guard(value, guards, (), seen, False):
                return False
    return True
