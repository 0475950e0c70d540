"""Types of compiled functions: float32, int64[:, ::1], void, and signatures made of them."""

import re

import numpy

from ._errors import jitclasses
from ._resolve import dtype_number

__all__ = ["Type", "is_arguments", "signature"]


class Type:
    """A type of arguments; called with others, the signature of a function that returns it.

    Indexed with slices, an array: float32[:] any 1-d array, float32[:, ::1] a C-contiguous 2-d one.
    """

    _kernel_type = True  # compiled functions know it as a value
    aligned = False  # of arrays: address and rows are multiples of 16 bytes

    def __init__(
        self, tag, dtype=None, ndim=0, layout="A", items=(), name="", weak=False, readonly=False
    ):
        self.tag, self.dtype, self.ndim, self.layout = tag, dtype, ndim, layout
        self.items, self.name, self.weak, self.readonly = tuple(items), name, weak, readonly
        if tag == "number":
            self._kernel_dtype = dtype_number(dtype)
            self.bitwidth = numpy.dtype(dtype).itemsize * 8

    def __call__(self, *arguments):
        if self.tag == "number" and len(arguments) == 1 and not isinstance(arguments[0], Type):
            return numpy.dtype(self.dtype).type(arguments[0])
        return Signature(self, arguments)

    def __getitem__(self, index):
        slices = index if isinstance(index, tuple) else (index,)
        layout = "A"
        if slices[-1].step == 1:
            layout = "C"
        elif slices[0].step == 1:
            layout = "F"
        return Type("array", self.dtype, len(slices), layout, name=f"{self.name}[{len(slices)}d]")

    def _key(self):
        return (self.tag, str(self.dtype), self.ndim, self.layout, self.items)

    def __eq__(self, other):
        if isinstance(other, str):  # the dtype of an array's type
            return self.tag == "number" and str(self.dtype) == other
        return isinstance(other, Type) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return self.name or self.tag


class Signature:
    """The types of a function's arguments and of its result."""

    def __init__(self, result, arguments):
        self.return_type, self.args = result, tuple(arguments)

    def __repr__(self):
        return f"{self.return_type}({', '.join(map(repr, self.args))})"


class _Kind(type):
    """A class of types: isinstance(t, Integer) asks what a type is of; where types of the kind are
    made of parts, calling it makes one.
    """

    def __new__(cls, name, doc, holds, make=None):
        made = super().__new__(cls, name, (), {"__doc__": doc, "__slots__": ()})
        made._holds, made._make = staticmethod(holds), make and staticmethod(make)
        return made

    def __init__(cls, *_):
        pass

    def __call__(cls, *args, **kwargs):
        if cls._make is None:
            raise TypeError(
                f"[types] a class of types that makes none; got {cls.__name__}(…); expected a "
                "type, such as float64"
            )
        return cls._make(*args, **kwargs)

    def __instancecheck__(cls, t):
        if isinstance(t, str):  # the dtype of an array's type
            t = _ALL.get("bool_" if t == "bool" else t)
        return isinstance(t, Type) and cls._holds(t)


def _number_of(kinds):
    return lambda t: t.tag == "number" and numpy.dtype(t.dtype).kind in kinds


Number = _Kind("Number", "Numbers of every kind but booleans.", _number_of("iufc"))
Integer = _Kind("Integer", "Integers.", _number_of("iu"))
Float = _Kind("Float", "Real floating-point numbers.", _number_of("f"))
Complex = _Kind("Complex", "Complex numbers.", _number_of("c"))
Boolean = _Kind("Boolean", "Booleans.", _number_of("b"))
UnicodeType = _Kind("UnicodeType", "Strings.", lambda t: t.tag == "str")
NoneType = _Kind("NoneType", "None.", lambda t: t.tag == "none")
BaseTuple = _Kind("BaseTuple", "Tuples.", lambda t: t.tag == "tuple")
ClassInstanceType = _Kind(
    "ClassInstanceType", "Objects of jitclasses.", lambda t: t.tag == "object"
)

_ALL = {}
for _name in (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
    "complex128"
).split():
    _ALL[_name] = Type("number", _name, name=_name)
_ALL["bool_"] = _ALL["boolean"] = _ALL["b1"] = Type("number", "bool", name="bool")
_ALL["void"] = _ALL["none"] = Type("none", name="none")
_ALL["unicode_type"] = _ALL["string"] = Type("str", name="unicode_type")
for _short, _long in {
    "i1": "int8",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
    "u1": "uint8",
    "u2": "uint16",
    "u4": "uint32",
    "u8": "uint64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    "c16": "complex128",
    "intp": "int64",
    "uintp": "uint64",
    "intc": "int32",
    "uintc": "uint32",
    "int_": "int64",
    "uint": "uint64",
    "float_": "float64",
    "double": "float64",
    "short": "int16",
    "ushort": "uint16",
    "byte": "uint8",
    "char": "int8",
    "long_": "int64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "size_t": "uint64",
    "ssize_t": "int64",
}.items():
    _ALL[_short] = _ALL[_long]
globals().update(_ALL)
__all__ += list(_ALL)


def _tuple(items):
    """The type of a tuple of these."""
    return Type("tuple", items=items, name=f"Tuple({', '.join(map(repr, items))})")


def _unituple(item, count):
    """The type of a tuple of `count` items of one type."""
    return Tuple([item] * count)


def _dicttype(keys, values):
    """The type of a numba.typed.Dict with keys and values of these types."""
    return Type("dict", items=(keys, values), name=f"DictType[{keys!r},{values!r}]")


def _listtype(item):
    """The type of a numba.typed.List, and of a list, with items of this type."""
    return Type("list", items=(item,), name=f"ListType[{item!r}]")


def optional(value):
    """The type of None or a value of that type, for the fields of a jitclass."""
    return Type("optional", items=(value,), name=f"Optional({value!r})")


def _pointer(item):
    """The type of a pointer to items of this type, for functions that C calls."""
    return Type("pointer", items=(item,), name=f"{item!r}*")


def _set(item):
    """The type of a set with items of this type."""
    return Type("set", items=(item,), name=f"Set[{item!r}]")


def _array(dtype, ndim, layout, readonly=False):
    """The type of an array."""
    return Type(
        "array",
        dtype.dtype,
        ndim,
        layout,
        name=f"array({dtype}, {ndim}d, {layout})",
        readonly=readonly,
    )


Optional = _Kind(
    "Optional", "None or a value: Optional(type).", lambda t: t.tag == "optional", optional
)
Tuple = _Kind("Tuple", "Tuples: Tuple((a, b)).", lambda t: t.tag == "tuple", _tuple)
UniTuple = _Kind(
    "UniTuple",
    "Tuples of items of one type: UniTuple(item, count).",
    lambda t: t.tag == "tuple" and len(set(t.items)) == 1,
    _unituple,
)
DictType = _Kind(
    "DictType", "Typed dicts: DictType(keys, values).", lambda t: t.tag == "dict", _dicttype
)
ListType = _Kind("ListType", "Lists: ListType(item).", lambda t: t.tag == "list", _listtype)
CPointer = _Kind("CPointer", "Pointers: CPointer(item).", lambda t: t.tag == "pointer", _pointer)
Set = _Kind("Set", "Sets: Set(item).", lambda t: t.tag == "set", _set)
Array = _Kind("Array", "Arrays: Array(dtype, ndim, layout).", lambda t: t.tag == "array", _array)

_TEXT = re.compile(r"[\w\s\[\]():,.]*\Z")


def signature(given):
    """(argument types, result type or None) of a string, a Signature or a tuple of types."""
    if isinstance(given, str):
        if not _TEXT.match(given):
            raise ValueError(
                f"[jit] not a signature; got {given!r}; expected such as "
                "'float64(float64, int64[:])'"
            )
        names = dict(
            _ALL,
            CPointer=CPointer,
            Tuple=Tuple,
            UniTuple=UniTuple,
            Array=Array,
            DictType=DictType,
            ListType=ListType,
            int=_ALL["int64"],
            float=_ALL["float64"],
            bool=_ALL["boolean"],
            complex=_ALL["complex128"],
        )
        try:
            given = eval(given, {"__builtins__": {}}, names)
        except Exception as error:
            raise ValueError(
                f"[jit] not a signature; got {given!r} ({error}); expected such as "
                "'float64(float64, int64[:])'"
            ) from None
    if isinstance(given, Signature):
        return given.args, given.return_type
    if isinstance(given, Type):
        return (given,), None
    if isinstance(given, (tuple, list)):
        return tuple(given), None
    raise TypeError(
        f"[jit] not a signature; got {given!r}; expected such as 'float64(float64, int64[:])'"
    )


def one_type(t):
    """The class of types that is just this one."""
    return _Kind(repr(t), f"Just {t!r}.", lambda other: other == t)


def is_arguments(given):
    """Whether a tuple or list is one signature's argument types, rather than several signatures."""
    return isinstance(given, tuple) and all(isinstance(t, Type) for t in given)


def from_core(described):
    """A signature's argument types, of what the core says of them."""
    return tuple(_from_core(*t) for t in described)


def _from_core(tag, dtype, ndim, layout, readonly, items):
    if tag == "number":
        return _ALL["bool_" if dtype == "bool" else dtype]
    if tag == "array":
        return Array(_ALL["bool_" if dtype == "bool" else dtype], ndim, layout, readonly)
    if tag == "tuple":
        return Tuple(from_core(items))
    if tag == "dict":
        return DictType(*from_core(items))
    if tag == "list":
        return ListType(*from_core(items))
    if tag == "set":
        return Set(*from_core(items[:1]))
    if tag == "optional":
        return Optional(*from_core(items))
    if tag == "str":
        return _ALL["unicode_type"]
    if tag == "object":
        return jitclasses[ndim].class_type.instance_type
    if tag == "dtype":
        return Type(tag, name=f"dtype({dtype})")
    return Type(tag, name=tag)


def by_signature(texts):
    """{argument types: text}; Python's own numbers and NumPy's of one type share an entry."""
    found = {}
    for described, text in texts:
        key = from_core(described)
        found[key] = f"{found[key]}\n{text}" if key in found else text
    return found


def of_signature(texts, given):
    """The text of one signature."""
    arguments, _ = signature(given)
    if tuple(arguments) not in texts:
        raise KeyError(
            f"[inspect] not compiled for that signature; got {tuple(arguments)}; expected one of "
            f"{', '.join(map(str, texts)) or 'none: it has not been called'}"
        )
    return texts[tuple(arguments)]
