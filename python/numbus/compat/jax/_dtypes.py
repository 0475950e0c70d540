"""JAX's dtypes: how operands combine, and which 64-bit types there are.

Rules: https://docs.jax.dev/en/latest/type_promotion.html.
"""

import warnings

import numpy

from ...core.dtypes import BFLOAT16
from ...core.errors import message
from .. import _missing

_NARROW = {
    numpy.dtype("f8"): numpy.dtype("f4"), numpy.dtype("i8"): numpy.dtype("i4"),
    numpy.dtype("u8"): numpy.dtype("u4"), numpy.dtype("c16"): numpy.dtype("c8"),
}  # fmt: skip
_state = {"jax_enable_x64": False}

# What each type goes up to where two differ; "i*", "f*" and "c*" are weak: those of Python numbers.
_UP = {
    "b1": ["i*"], "i*": ["u1", "i1"], "u1": ["i2", "u2"], "u2": ["i4", "u4"], "u4": ["i8", "u8"],
    "i1": ["i2"], "i2": ["i4"], "i4": ["i8"], "u8": ["f*"], "i8": ["f*"], "f*": ["f2", "fb", "c*"],
    "f2": ["f4"], "fb": ["f4"], "f4": ["f8", "c8"], "f8": ["c16"], "c*": ["c8"],
    "c8": ["c16"], "c16": [],
}  # fmt: skip
_WEAK = {"i*": "i8", "f*": "f8", "c*": "c16"}


def _above(node):
    found = {node}
    for other in _UP[node]:
        found |= _above(other)
    return found


_ABOVE = {node: _above(node) for node in _UP}
_joined = {}


def has_x64():
    """Whether 64-bit types exist."""
    return _state["jax_enable_x64"]


def is_jit_disabled():
    """Whether functions that `jit` has made run as Python."""
    return _state.get("jax_disable_jit", False)


def canonical(t):
    """NumPy's dtype as JAX has it: without x64 those of 64 bits have 32."""
    t = numpy.dtype(t)
    return t if _state["jax_enable_x64"] else _NARROW.get(t, t)


def asked(t, op):
    """The dtype of an argument `dtype=`, with JAX's warning where it has 64 bits in vain."""
    if t is None:
        return None
    wide = numpy.dtype(t)
    found = canonical(wide)
    if found != wide and not isinstance(t, type):
        warnings.warn(
            f"Explicitly requested dtype {wide} requested in {op} is not available, and will be "
            f"truncated to dtype {found}. To enable more dtypes, set the jax_enable_x64 "
            "configuration option.",
            stacklevel=4,
        )
    return found


def node(t):
    """The name of a dtype in the table above."""
    if t == BFLOAT16:
        return "fb"
    return "b1" if t.kind == "b" else f"{t.kind}{t.itemsize}"


def weak_node(x):
    """That of a Python number."""
    if isinstance(x, bool):
        return "b1"
    return "i*" if isinstance(x, int) else "f*" if isinstance(x, float) else "c*"


def join(first, second):
    """The least type that both go up to."""
    if first == second:
        return first
    key = first, second
    if key not in _joined:
        common = _ABOVE[first] & _ABOVE[second]
        _joined[key] = next(n for n in common if common <= _ABOVE[n])
    return _joined[key]


def inexact(name):
    """The floating-point type that integers are taken to; others stay."""
    if name[0] in "fc":
        return name
    return "f*" if name in ("i*", "i8", "u8") else "f4"


def strong(name):
    """NumPy's dtype of a name, and whether it is weak."""
    weak = name in _WEAK
    return canonical("bfloat16" if name == "fb" else _WEAK.get(name, name)), weak


def expect_fits(lowest, highest, t):
    """Raises OverflowError for numbers of Python's beyond an integer type."""
    limits = numpy.iinfo(t)
    if lowest < limits.min or highest > limits.max:
        wrong = lowest if lowest < limits.min else highest
        raise OverflowError(f"Python integer {wrong} out of bounds for {t.name}")


def expect_an_integer(x):
    """Raises OverflowError for a number of Python's beyond the integers that it would become."""
    if not -(2**31) <= x < 2**31:
        expect_fits(x, x, canonical("i8"))


class Scalar:
    """A dtype under JAX's name, such as `jnp.float32`: it also makes arrays of one number."""

    made = None  # what makes an array of a number and a dtype; _array.py sets it

    def __init__(self, name):
        self.__name__ = self.name = name
        self.dtype = numpy.dtype(name)

    def __call__(self, x=0):
        return Scalar.made(x, self.dtype)

    def __eq__(self, other):
        if isinstance(other, Scalar):
            return self.dtype == other.dtype
        if other is None or isinstance(other, str):
            return NotImplemented
        try:
            return self.dtype == numpy.dtype(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"<class 'jax.numpy.{self.name}'>"


_OPTIONS = {
    # What may be set, and the values that are what happens here anyway.
    "jax_enable_x64": (True, False),
    "jax_platform_name": ("cpu", "gpu", "cuda", None),
    "jax_platforms": ("cpu", "gpu", "cuda", "", None),
    "jax_default_matmul_precision": ("float32", "highest", "high", "default", None),
    "jax_threefry_partitionable": (True,),
    "jax_disable_jit": (True, False),
    "jax_numpy_dtype_promotion": ("standard",),
    "jax_debug_nans": (False,),
    "jax_log_compiles": (False,),
}


class _Config:
    """`jax.config`."""

    def update(self, name, value):
        """Sets an option; what would change results and is not served raises."""
        if name not in _OPTIONS:
            _missing.missing("jax.config", name)
        if value not in _OPTIONS[name]:
            raise NotImplementedError(
                message("jax.config.update", f"a value of {name} that is not yet available",
                        repr(value), " or ".join(map(repr, _OPTIONS[name])))
            )  # fmt: skip
        if name in ("jax_platform_name", "jax_platforms") and value:
            from ... import device

            device("cpu" if value == "cpu" else "cuda")
        _state[name] = value

    def __getattr__(self, name):
        if name == "x64_enabled":
            return has_x64()
        if name in _state:
            return _state[name]
        return _missing.missing("jax.config", name)


config = _Config()
