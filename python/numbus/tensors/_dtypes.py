"""The dtypes of tensors and how they combine: PyTorch's names and rules over NumPy's types.

Rules: https://docs.pytorch.org/docs/stable/tensor_attributes.html (type promotion).
"""

import builtins

import numpy

from .. import _core
from ..core import dtypes
from ..core.dtypes import kind_of
from ..core.errors import message


class dtype:
    """The type of a tensor's elements, under PyTorch's name."""

    __slots__ = ("name", "numpy")

    home = "numbus"  # what stands before the name when it is printed

    def __init__(self, name, type_):
        self.name, self.numpy = name, numpy.dtype(type_)

    @property
    def is_floating_point(self):
        return kind_of(self.numpy) == "f"

    @property
    def is_complex(self):
        return self.numpy.kind == "c"

    @property
    def is_signed(self):
        return kind_of(self.numpy) in "ifc"

    @property
    def itemsize(self):
        return self.numpy.itemsize

    def to_real(self):
        return of(numpy.zeros((), self.numpy).real.dtype)

    def to_complex(self):
        return of(dtypes.result_type(self.numpy, numpy.complex64))

    def __repr__(self):
        return f"{dtype.home}.{self.name}"

    def __reduce__(self):
        return _named, (self.name,)

    def __eq__(self, other):
        if type(other) is dtype:
            return self.numpy == other.numpy
        if other is None or isinstance(other, str):
            return NotImplemented
        try:
            return self.numpy == numpy.dtype(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self.numpy)


def _named(name):
    return globals()[name]


float16 = half = dtype("float16", "f2")
bfloat16 = dtype("bfloat16", "bfloat16")
float32 = dtype("float32", "f4")
float64 = double = dtype("float64", "f8")
complex64 = cfloat = dtype("complex64", "c8")
complex128 = cdouble = dtype("complex128", "c16")
uint8 = dtype("uint8", "u1")
uint16 = dtype("uint16", "u2")
uint32 = dtype("uint32", "u4")
uint64 = dtype("uint64", "u8")
int8 = dtype("int8", "i1")
int16 = short = dtype("int16", "i2")
int32 = dtype("int32", "i4")
int64 = long = dtype("int64", "i8")
bool = dtype("bool", "?")
float = float32
int = int32

ALL = (
    float16, bfloat16, float32, float64, complex64, complex128, uint8, uint16, uint32, uint64, int8,
    int16, int32, int64, bool,
)  # fmt: skip
_OF = {t.numpy: t for t in ALL}
_PYTHON = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float32,
    builtins.complex: complex64,
}
_state = {"float": numpy.dtype("f4"), "complex": numpy.dtype("c8")}


def of(t):
    """The dtype of one of NumPy's."""
    return _OF[t]


def to_numpy(t):
    """NumPy's dtype for PyTorch's, NumPy's, a Python type (PyTorch's choice for it), or None."""
    if type(t) is dtype:
        return t.numpy
    if t is None:
        return None
    if t is builtins.float:
        return _state["float"]
    if t is builtins.complex:
        return _state["complex"]
    if t in _PYTHON:
        return _PYTHON[t].numpy
    found = numpy.dtype(t)
    if found not in _OF:
        raise TypeError(message("dtype", "no dtype of tensors", t, "a dtype such as float32"))
    return found


def default_float():
    """NumPy's dtype of tensors made of Python floats."""
    return _state["float"]


def get_default_dtype():
    """The dtype of tensors that are made of Python floats: float32 unless it was set."""
    return of(_state["float"])


def set_default_dtype(t):
    """Sets the dtype of tensors that are made of Python floats: a floating-point one."""
    found = to_numpy(t)
    if kind_of(found) != "f":
        raise TypeError(
            message(
                "set_default_dtype",
                "not floating point",
                t,
                "float16, bfloat16, float32 or float64",
            )
        )
    _state["float"] = found
    _state["complex"] = dtypes.result_type(found, numpy.complex64)
    tell_settings(dtype=found)


_settings = {"dtype": None, "device": None}
_numbers = {(None, None): 0}


def tell_settings(**changed):
    """Tells the core what new tensors are made as, upon which captured calls depend."""
    _settings.update(changed)
    key = tuple(_settings.values())
    _core.set_new_tensors(_numbers.setdefault(key, len(_numbers)))


def of_data(numbers):
    """The dtype of a tensor that is made of Python numbers, of which NumPy made an array."""
    kind = kind_of(numbers.dtype)
    if kind == "f":
        return _state["float"]
    return _state["complex"] if kind == "c" else numbers.dtype


_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def _category(t):
    return _RANK[kind_of(t)]


def joined(a, b):
    """Of two dtypes of the same standing: integers give way to floats of whatever size."""
    if a == b:
        return a
    x, y = _category(a), _category(b)
    if x == y or {x, y} == {2, 3}:
        if (
            "u" in (a.kind, b.kind)
            and x == 1
            and numpy.dtype("u1") not in (a, b)
            and a.kind != b.kind
        ):
            raise TypeError(
                message("promote_types", "integers without a common type", f"{a}, {b}",
                        "signed integers, or uint8 as the only unsigned type")
            )  # fmt: skip
        return dtypes.promote_types(a, b)
    return a if x > y else b


def promote_types(type1, type2):
    """The dtype to which tensors of two dtypes are taken."""
    return of(joined(to_numpy(type1), to_numpy(type2)))


def _number_type(x):
    """The category of a number (`bool`, `int`, `float`, `complex`), and the type it asks for."""
    if isinstance(x, (builtins.bool, numpy.bool_)):
        return numpy.dtype("?")
    if isinstance(x, (builtins.int, numpy.integer)):
        return numpy.dtype("i8")
    if isinstance(x, (builtins.float, numpy.floating, dtypes.bfloat16)):
        return _state["float"]
    return _state["complex"]


def common(operands):
    """The dtype of the result of arrays and numbers.

    Arrays with axes decide, arrays without decide only where their category (bool, integer, float,
    complex) is higher, and numbers last.
    """
    with_axes = without = numbers = None
    for x in operands:
        shape = getattr(x, "shape", None)
        if shape is None or isinstance(x, numpy.generic):
            t = _number_type(x)
            numbers = t if numbers is None else joined(numbers, t)
        elif shape:
            with_axes = x.dtype if with_axes is None else joined(with_axes, x.dtype)
        else:
            without = x.dtype if without is None else joined(without, x.dtype)
    found = with_axes
    for t in (without, numbers):
        if t is None:
            continue
        if found is None:
            found = t
        elif _category(t) > _category(found):
            # A complex number keeps the precision of the floats beside it.
            wide = t.kind == "c" and kind_of(found) == "f"
            found = dtypes.result_type(found, numpy.complex64) if wide else t
    return found


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type=None):
        self.dtype = of(_state["float"] if type is None else to_numpy(type))
        known = dtypes.finfo(self.dtype.numpy)
        self.bits = known.bits
        for name in ("eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            setattr(self, name, builtins.float(getattr(known, name)))
        self.resolution = builtins.float(f"{self.resolution:.0e}")  # a power of ten

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        found = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({found}, dtype={self.dtype.name})"


class iinfo:
    """Limits of an integer dtype: bits, min, max."""

    def __init__(self, type):
        self.dtype = of(to_numpy(type))
        known = numpy.iinfo(self.dtype.numpy)
        self.bits, self.min, self.max = known.bits, builtins.int(known.min), builtins.int(known.max)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"
