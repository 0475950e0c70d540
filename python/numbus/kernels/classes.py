"""jitclass: classes whose objects compiled functions and Python share."""

import builtins
import inspect
import types as python_types
import typing

from .. import _core
from . import types
from ._dispatch import Dispatcher, njit
from ._errors import jitclasses

__all__ = ["deferred_type", "jitclass"]

_ANNOTATIONS = {
    builtins.int: types.int64,
    builtins.float: types.float64,
    builtins.bool: types.boolean,
    builtins.complex: types.complex128,
    builtins.str: types.unicode_type,
}


class _Deferred(types.Type):
    """A type that is told later, by define(): of a class whose objects hold others of it."""

    def __init__(self):
        super().__init__("deferred", name="deferred_type")
        self._defined = None

    def define(self, actual):
        """Raises ValueError where it has been told before."""
        if self._defined is not None:
            raise ValueError(
                f"[deferred_type] told twice; got {actual!r}; expected one call of define()"
            )
        self._defined = actual


def deferred_type():
    """A type for the fields of a jitclass that is told later: t.define(Node.class_type…)."""
    return _Deferred()


def _told(t):
    """The type with deferred ones in it replaced by what they stand for."""
    if isinstance(t, _Deferred):
        if t._defined is None:
            raise TypeError(
                "[jitclass] a deferred type has not been told; got deferred_type(); expected a "
                "call of its define() before an object is made"
            )
        return _told(t._defined)
    if not t.items:
        return t
    return types.Type(t.tag, t.dtype, t.ndim, t.layout, [_told(i) for i in t.items], t.name)


class _ClassType:
    """What a jitclass is among types: `instance_type`."""

    def __init__(self, instance_type, struct):
        self.instance_type, self.struct = instance_type, struct


class Instance:
    """An object of a jitclass: memory that compiled functions share."""

    __slots__ = ("__weakref__", "_held")

    def __new__(cls, *args, **kwargs):
        return cls._make(*args, **kwargs)

    def __init__(self, *args, **kwargs):
        pass  # the compiled __init__ has run

    @classmethod
    def _kernel_class(cls):
        """Its name and number, for the core, which knows the class from now on."""
        define(cls._number)
        return cls.__name__, cls._number

    @property
    def _numba_type_(self):
        return type(self).class_type.instance_type

    @classmethod
    def _of(cls, held):
        made = object.__new__(cls)
        object.__setattr__(made, "_held", held)
        return made

    def __setattr__(self, name, value):
        cls = type(self)
        found = inspect.getattr_static(cls, name, None)
        if not isinstance(found, property):
            raise AttributeError(
                f"[{cls.__name__}] no field of that name; got '{name}'; expected one of "
                f"{', '.join(cls.class_type.struct)}"
            )
        found.__set__(self, value)

    def __reduce__(self):
        raise TypeError(
            f"[{type(self).__name__}] objects of a jitclass cannot be pickled; expected their "
            "fields, and the object made anew"
        )


_core.set_instance_class(Instance)


def _read(self):
    return self.field


def _write(self, value):
    self.field = value


def _for_field(template, field):
    """The function with another attribute in place of `field`."""
    code = template.__code__
    names = tuple([field if n == "field" else n for n in code.co_names])
    made = python_types.FunctionType(code.replace(co_names=names), template.__globals__)
    made.__module__ = template.__module__
    made._kernel_attributes = {"field": field}
    return njit(made)


def _accessors(field):
    return property(_for_field(_read, field), _for_field(_write, field))


def _maker(cls, init):
    @njit
    def make(*args):
        return cls(*args)

    if init is None:
        return lambda: make()
    signature = inspect.signature(init)
    kinds = {p.kind for p in signature.parameters.values()}
    if kinds - {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY}:
        raise TypeError(
            f"[jitclass] parameters that only keywords give, or any number of them; got "
            f"{cls.__name__}.__init__{signature}; expected plain parameters"
        )

    def bound(*args, **kwargs):
        given = signature.bind(None, *args, **kwargs)
        given.apply_defaults()
        return make(*given.args[1:])

    return bound


def _annotated(cls, field, annotation):
    """The type that an annotation of a class stands for."""
    if isinstance(annotation, types.Type):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, Instance):
        return annotation.class_type.instance_type
    if annotation in _ANNOTATIONS:
        return _ANNOTATIONS[annotation]
    origin, items = typing.get_origin(annotation), typing.get_args(annotation)
    inner = [_annotated(cls, field, i) for i in items if i is not type(None)]
    if origin is list and len(inner) == 1:
        return types.ListType(*inner)
    if origin is dict and len(inner) == 2:
        return types.DictType(*inner)
    if origin is tuple and Ellipsis not in items:
        return types.Tuple(inner)
    if origin in (typing.Union, python_types.UnionType) and len(inner) == 1:
        return types.Type("optional", items=inner, name=f"Optional({inner[0]!r})")
    raise TypeError(
        f"[jitclass] the annotation of a field is no type of compiled functions; got "
        f"{cls.__name__}.{field}: {annotation!r}; expected such as int, list[float], or the field "
        "in the specification"
    )


def _fields(cls, spec):
    """{name: type} of a specification and of the class's annotations."""
    if spec is None:
        spec = ()
    try:
        pairs = list(spec.items()) if hasattr(spec, "items") else [tuple(p) for p in spec]
        pairs = [(name, t) for name, t in pairs]
    except (TypeError, ValueError):
        raise TypeError(
            f"[jitclass] not a specification; got {spec!r}; expected pairs of names and types, "
            "or a dict"
        ) from None
    fields = {}
    for name, t in pairs:
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"[jitclass] not the name of a field; got {name!r}; expected a str")
        if name in fields:
            raise TypeError(f"[jitclass] a field twice; got '{name}'; expected one type for it")
        if isinstance(t, type) and issubclass(t, Instance):
            t = t.class_type.instance_type
        if not isinstance(t, types.Type):
            raise TypeError(
                f"[jitclass] a field's type is no type of compiled functions; got {name}: {t!r}; "
                "expected such as numba.float64[:]"
            )
        fields[name] = t
    for name, annotation in typing.get_type_hints(cls).items():
        if name not in fields:
            fields[name] = _annotated(cls, name, annotation)
    return fields


_KEPT = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__",
         "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__",
         "__annotations_cache__"}  # fmt: skip


def _build(cls, spec):
    if not isinstance(cls, type):
        raise TypeError(f"[jitclass] not a class; got {cls!r}; expected one")
    if cls.__bases__ != (object,):
        raise TypeError(
            f"[jitclass] a class with bases; got {cls.__name__}"
            f"({', '.join(b.__name__ for b in cls.__bases__)}); expected one without"
        )
    fields = _fields(cls, spec)
    number = len(jitclasses)
    own = types.Type("object", ndim=number, name=f"instance.jitclass.{cls.__name__}")
    namespace = {"__slots__": (), "__doc__": cls.__doc__, "__module__": cls.__module__,
                 "__qualname__": cls.__qualname__}  # fmt: skip
    members = {}
    for name, value in vars(cls).items():
        if name in _KEPT or (name == "__hash__" and value is None):
            continue
        if name in fields:
            raise NameError(
                f"[jitclass] a name of two meanings; got {cls.__name__}.{name}; expected other "
                "names for fields than for methods"
            )
        if isinstance(value, Dispatcher):
            value = value.py_func
        if isinstance(value, python_types.FunctionType):
            members["method", name] = value
            if name != "__init__":
                namespace[name] = njit(value)
        elif isinstance(value, staticmethod):
            function = getattr(value.__func__, "py_func", value.__func__)
            members["static", name] = function
            namespace[name] = staticmethod(njit(function))
        elif isinstance(value, property):
            if value.fdel is not None:
                raise TypeError(
                    f"[jitclass] a property with a deleter; got {cls.__name__}.{name}; expected a "
                    "getter and a setter"
                )
            members["get", name] = value.fget
            if value.fset is not None:
                members["set", name] = value.fset
            namespace[name] = property(njit(value.fget), value.fset and njit(value.fset))
        else:
            raise TypeError(
                f"[jitclass] a member that is no method; got {cls.__name__}.{name} = {value!r}; "
                "expected methods, properties and static methods"
            )
    namespace.update((name, _accessors(name)) for name in fields)
    made = type(cls.__name__, (Instance,), namespace)
    made.class_type = _ClassType(own, fields)
    made._members = members
    made._number = number
    made._make = staticmethod(_maker(made, members.get(("method", "__init__"))))
    jitclasses.append(made)
    if not any(_waits(t) for t in fields.values()):
        define(number)
    return made


def _waits(t):
    if isinstance(t, _Deferred):
        return t._defined is None
    return any(map(_waits, t.items))


_known = set()


def define(number):
    """Tells the core of a class, at the latest when its first object is made."""
    if number in _known:
        return
    made = jitclasses[number]
    fields = [(name, _told(t)) for name, t in made.class_type.struct.items()]
    _known.add(number)
    _core.define_object_class(number, made.__name__, fields)
    for _, t in fields:
        _define_within(t)


def _define_within(t):
    if t.tag == "object":
        define(t.ndim)
    for i in t.items:
        _define_within(i)


def jitclass(cls_or_spec=None, spec=None):
    """A class whose objects compiled functions and Python share: @jitclass(spec), or
    jitclass(cls, spec).

    `spec` gives the fields' types, as pairs of names and types of numba.types or as a dict;
    annotations of the class give others. Its methods, properties and static methods are compiled.
    An object is memory that is shared: what a compiled function changes is seen here. Raises
    TypeError for a specification or members that do not fit.
    """
    if isinstance(cls_or_spec, type) and spec is None:
        return _build(cls_or_spec, None)
    if spec is None:
        return lambda cls: _build(cls, cls_or_spec)
    if cls_or_spec is None:
        return lambda cls: _build(cls, spec)
    return _build(cls_or_spec, spec)
