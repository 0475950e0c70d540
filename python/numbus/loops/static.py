"""What an attribute is, without running code of the program's: as inspect.getattr_static() has it,
which takes milliseconds to load.
"""

import types

NOTHING = object()
_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__
_own = object.__getattribute__


def _of_class(kind, name):
    """What a class, or one that it inherits from, has under a name."""
    for base in _mro_of(kind):
        own = _dict_of(base)
        if name in own:
            return own[name]
    return NOTHING


def _has_plain_dict(kind):
    """Whether `__dict__` of objects is what Python itself puts there."""
    for base in _mro_of(kind):
        found = _dict_of(base).get("__dict__")
        if found is not None and (
            type(found) is not types.GetSetDescriptorType
            or found.__name__ != "__dict__"
            or found.__objclass__ is not base
        ):
            return False
    return True


def _in_dict(value, name):
    """What the dict of an object has under a name."""
    try:
        own = _own(value, "__dict__")
    except AttributeError:
        return NOTHING
    return dict.get(own, name, NOTHING)


def own(value, name, found):
    """What an object has itself under a name, of which its class has `found`, no descriptor that
    comes first; NOTHING also where that is no other object. Objects of Python 3.11 have no dict
    until it is asked for, and reading their attributes takes longer from then on.
    """
    is_function = type(found) is types.FunctionType
    if not is_function and _of_class(type(found), "__get__") is not NOTHING:
        return _in_dict(value, name)
    try:
        got = _own(value, name)
    except AttributeError:
        return NOTHING
    if is_function:  # the same under a name of the object is not bound to it
        bound = type(got) is types.MethodType and got.__func__ is found and got.__self__ is value
        return NOTHING if bound else got
    return NOTHING if got is found else got


def attribute(value, name, otherwise=NOTHING):
    """What an object, or a class, has under a name: descriptors as they are."""
    if issubclass(type(value), type):
        found = _of_class(value, name)
        found = _of_class(type(value), name) if found is NOTHING else found
        return otherwise if found is NOTHING else found
    if not _has_plain_dict(type(value)):
        return otherwise  # nobody knows what the object has
    found = _of_class(type(value), name)
    if found is not NOTHING and type(found) is not types.FunctionType:
        reads, writes, deletes = (
            _of_class(type(found), f"__{what}__") is not NOTHING
            for what in ("get", "set", "delete")
        )
        if reads and (writes or deletes):
            return found
    of_object = own(value, name, found)
    if of_object is not NOTHING:
        return of_object
    return otherwise if found is NOTHING else found
