"""Methods of the program's objects: functions whose first argument stands for what they read of an
object.
"""

import ast
import types

from . import static

_OF_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that a program has made


def of_object(value, name):
    """The function that `value.name(…)` calls with the object before all arguments, where finding
    it runs no code; else None.
    """
    kind = type(value)
    if issubclass(kind, (type, types.ModuleType)) or not kind.__flags__ & _OF_PYTHON:
        return None
    if kind.__getattribute__ is not object.__getattribute__:
        return None
    found = static.attribute(kind, name, None)
    if type(found) is not types.FunctionType:
        return None
    own = static.attribute(kind, "__dict__", None)
    if own is not None and type(own) is not types.GetSetDescriptorType:
        return None
    return found if static.own(value, name, found) is static.NOTHING else None


def attributes(tree, first):
    """What a method reads of its object, by the name of its first argument; None where it does
    anything else with that.
    """
    found = [
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == first
        and isinstance(n.ctx, ast.Load)
    ]
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == first]
    return sorted(set(found)) if len(names) == len(found) else None
