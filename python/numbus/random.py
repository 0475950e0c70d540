"""numbus.random: NumPy's generators, same bits for the same seed; the samples come back as Numbus
arrays.

Not a fallback: random bits are made on the host by definition here, but many uniform numbers of
Philox, which the default device makes. On a GPU those of PCG64 and Philox are made there that are
uniform, integers, normal or exponential: where the generator begins does not matter, as it can be
moved ahead, and what it leaves behind is the state that NumPy's would have. Numbers in the tails of
normal and exponential ones, one of 3,000, may differ from the host's by one unit in the last place,
as the C library's logarithm may.
"""

import functools as _functools
import math as _math
import sys as _sys
from types import ModuleType as _ModuleType

import numpy as _numpy
import numpy.random as _numpy_random
from numpy.random import (  # noqa: F401
    MT19937,
    PCG64,
    PCG64DXSM,
    SFC64,
    BitGenerator,
    Philox,
    SeedSequence,
    bit_generator,
)

from . import _core
from .core.fallback import resolve as _resolve
from .core.interrupts import MANY as _MANY
from .core.interrupts import interruptible as _interruptible
from .core.operands import library as _library
from .core.quick import draws as _draws
from .core.streams import MOST as _MOST
from .core.streams import sample as _sample
from .core.streams import uniform as _uniform_of

__path__ = []  # modules in it are mirrors of NumPy's (core/fallback.py)

_FLOATS = ("float32", "float64")
_ON_DEVICE = 20_000  # numbers with which the routine takes less time than NumPy does
_WHOLE = (int, _numpy.integer)
_NUMBERS = (int, float, _numpy.integer, _numpy.floating)
_LARGE = 1e300  # of a parameter, with which results may overflow, in which NumPy is silent
_INTEGERS = {
    t: (0, 1) if t == "bool" else (int(_numpy.iinfo(t).min), int(_numpy.iinfo(t).max))
    for t in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    )
}  # fmt: skip


def _count(value):
    """How many samples a `size`, or an array of parameters, asks for; 0 for what is neither."""
    if isinstance(value, _WHOLE):
        return int(value)
    if isinstance(value, (tuple, list)):
        return int(_math.prod(value)) if all([isinstance(n, _WHOLE) for n in value]) else 0
    size = getattr(value, "size", 0)
    return size if isinstance(size, int) else 0  # a type has a descriptor of that name


def _shape_of(size):
    """The shape that a `size` asks for; None for what is neither a number nor several."""
    if isinstance(size, _WHOLE):
        return (int(size),)
    return tuple(size) if isinstance(size, (tuple, list)) else None


def _possible(size):
    return isinstance(size, _WHOLE) or min(size) > 0


def _many(bits, size):
    """How many numbers a call asks for that a routine draws on a GPU; 0: NumPy draws them."""
    n = _count(size) if type(bits) in (PCG64, Philox) else 0
    some = _ON_DEVICE <= n <= _MOST and _possible(size)
    return n if some and _core.draws_apart(n) else 0


def _are_numbers(*values):
    """Whether parameters are plain numbers with which no result overflows."""
    return all([isinstance(v, _NUMBERS) and abs(_own(v)) < _LARGE for v in values])


def _own(value):
    """One of Python's numbers: NumPy's of few bits do not compare with large ones."""
    return value if isinstance(value, int) else float(value)


# These return None where NumPy has to draw, or to say what is wrong.


def _kind(dtype, names):
    """A dtype among those of these names; None for others, and for what is none."""
    try:
        kind = _numpy.dtype(dtype)
    except TypeError:
        return None
    return kind if kind.isnative and kind.name in names else None


def _uniform(bits, size, dtype):
    n = _count(size)
    if n < _ON_DEVICE or not ((type(bits) is Philox and _possible(size)) or _many(bits, size)):
        return None
    kind = _kind(dtype, _FLOATS)
    made = _uniform_of(bits, n, kind) if kind else None
    return None if made is None else made.reshape(size)


def _between(bits, low, high, size):
    if not (_many(bits, size) and _are_numbers(low, high) and low <= high):
        return None
    made = _uniform(bits, size, float)
    return None if made is None else made * (float(high) - float(low)) + float(low)


def _normal(bits, size, dtype):
    return _ziggurat(bits, "normal", size, dtype)


def _exponential(bits, size, dtype):
    return _ziggurat(bits, "exponential", size, dtype)


def _stored(out, draw, bits, size, dtype):
    """What draw(bits, size, dtype) returns; in `out`, where that is an array on the device that can
    take it.
    """
    if out is None:
        return draw(bits, size, dtype)
    if not isinstance(out, _core.ndarray) or out.device == "cpu":
        return None
    if size is not None and _shape_of(size) != out.shape:
        return None
    flags = out.flags
    if not (flags.c_contiguous and flags.writeable and _many(bits, out.shape)):
        return None
    made = draw(bits, out.shape, dtype) if _kind(dtype, _FLOATS) == out.dtype else None
    if made is None:
        return None
    out[...] = made
    return out


def _ziggurat(bits, name, size, dtype):
    n = _many(bits, size)
    kind = _kind(dtype, _FLOATS) if n else None
    if not kind:
        return None
    made = _sample(bits, name, n, kind, 8 * kind.itemsize)
    return None if made is None else made.reshape(size)


def _integers(bits, low, high, size, dtype, endpoint):
    kind = _kind(dtype, _INTEGERS)
    if high is None:
        low, high = 0, low
    if kind is None or not all([isinstance(v, _WHOLE) for v in (low, high)]):
        return None
    low, high = int(low), int(high) - (0 if endpoint else 1)
    least, most = _INTEGERS[kind.name]
    if not least <= low < high <= most:
        return None
    width, reach = 8 * kind.itemsize, high - low
    # 64-bit integers of small ranges take 32 bits; all of a range that is a type's are accepted.
    unit = 1 if kind.kind == "b" else 32 if width == 64 and reach < 1 << 32 else width
    bound = 0 if reach + 1 == 1 << unit else reach + 1
    threshold = (1 << unit) % bound if bound else 0
    share, given = 1 - threshold / (1 << unit), (low % (1 << 64), bound, threshold)
    made = _sample(bits, f"integers{unit}", _count(size), kind, unit, share, given)
    return None if made is None else made.reshape(size)


def _sampler(real, bound):
    """NumPy's function, interruptible where it draws many samples. What is pending on a device
    apart from the host is begun before, so that both work at the same time.
    """

    def is_long(args, kwargs):
        given = (*args[bound:], *kwargs.values())
        if not any([_count(v) >= _MANY for v in given]):
            return False
        # A large integer may be a bound: Cython writes the names into the docstring.
        names = (real.__doc__ or "").partition("(")[2].partition(")")[0].split(", ")
        names = [n.partition("=")[0] for n in names]
        if "size" not in names:
            return True
        at = names.index("size") + bound
        size = kwargs.get("size", args[at] if at < len(args) else None)
        if size is not None:
            return _count(size) >= _MANY
        return any([_count(v) >= _MANY for v in given if not isinstance(v, _WHOLE)])

    if real.__name__ == "shuffle":
        return real
    drawn = _interruptible(real, is_long)

    @_functools.wraps(real)
    def beside_device(*args, **kwargs):
        if is_long(args, kwargs) and _core.draws_apart(_MANY):
            _core.flush("random numbers that the host draws")
        return drawn(*args, **kwargs)

    return beside_device


# Methods that NumPy composes of others, which it would find here.
_OF_OTHERS = ("choice", "multivariate_normal", "permutation")


def _on_numpys(name, base):
    """The method of `base` as a function of one of our generators, with one of NumPy's in its
    state.
    """
    original = getattr(base, name)

    @_functools.wraps(original)
    def real(self, *args, **kwargs):
        if base is _numpy_random.Generator:
            return original(base(self.bit_generator), *args, **kwargs)
        numpys = base(self._bit_generator)
        if name != "multivariate_normal":
            return original(numpys, *args, **kwargs)
        # The normal number that it keeps for the next call is its own, unlike its bits.
        numpys.set_state(base.get_state(self, legacy=False))
        try:
            return original(numpys, *args, **kwargs)
        finally:
            base.set_state(self, numpys.get_state(legacy=False))

    return real


def _method(name, base):
    original = _on_numpys(name, base) if name in _OF_OTHERS else getattr(base, name)
    real = _sampler(original, bound=1)

    def method(self, *args, **kwargs):
        return _library(real, (self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = real.__doc__
    return _core.composed(_draws(original, True, _MANY - 1)(method))


def _wrap_methods(cls):
    """Overrides each public method of the NumPy class above `cls` by one that converts."""
    base = cls.__mro__[1]
    for name in dir(base):
        if name[0] != "_" and name not in vars(cls) and callable(getattr(base, name)):
            setattr(cls, name, _method(name, base))
    return cls


@_wrap_methods
class Generator(_numpy_random.Generator):
    """numpy.random.Generator whose samples are Numbus arrays."""

    @_core.composed
    @_draws(_numpy_random.Generator.random, True, _ON_DEVICE - 1)
    def random(self, size=None, dtype=float, out=None):
        """Uniform numbers of [0, 1), float64 or float32, in the shape `size`; NumPy's bits.

        Many of Philox, and on a GPU of PCG64, are made on the default device.
        """
        made = _stored(out, _uniform, self.bit_generator, size, dtype)
        return _library(_drawn, (self, size, dtype, out), {}) if made is None else made

    @_core.composed
    @_draws(_numpy_random.Generator.uniform, True, _MANY - 1)
    def uniform(self, low=0.0, high=1.0, size=None):
        """Uniform numbers of [low, high), float64, in the shape `size`; NumPy's bits."""
        made = _between(self.bit_generator, low, high, size)
        return _library(_uniforms, (self, low, high, size), {}) if made is None else made

    @_core.composed
    @_draws(_numpy_random.Generator.integers, True, _MANY - 1)
    def integers(self, low, high=None, size=None, dtype=_numpy.int64, endpoint=False):
        """Integers of [low, high), of [0, low) without `high`, with `endpoint` the upper limit
        among them, in the shape `size`; NumPy's bits.
        """
        if _many(self.bit_generator, size):
            made = _integers(self.bit_generator, low, high, size, dtype, endpoint)
            if made is not None:
                return made
        return _library(_integral, (self, low, high, size, dtype, endpoint), {})

    @_core.composed
    @_draws(_numpy_random.Generator.standard_normal, True, _MANY - 1)
    def standard_normal(self, size=None, dtype=_numpy.float64, out=None):
        """Normal numbers of mean 0 and variance 1, float64 or float32, in the shape `size`; NumPy's
        bits.

        Of many on a GPU those beyond 3.65 may differ from the host's by a unit in the last place.
        """
        made = _stored(out, _normal, self.bit_generator, size, dtype)
        return _library(_standard_normals, (self, size, dtype, out), {}) if made is None else made

    @_core.composed
    @_draws(_numpy_random.Generator.normal, True, _MANY - 1)
    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normal numbers of mean `loc` and deviation `scale`, float64, in the shape `size`.

        NumPy's bits, and on a GPU as those of standard_normal.
        """
        if _are_numbers(loc, scale) and scale >= 0:
            made = _normal(self.bit_generator, size, float)
            if made is not None:
                return made * float(scale) + float(loc)
        return _library(_normals, (self, loc, scale, size), {})

    @_core.composed
    @_draws(_numpy_random.Generator.standard_exponential, True, _MANY - 1)
    def standard_exponential(self, size=None, dtype=_numpy.float64, method="zig", out=None):
        """Exponential numbers of scale 1, float64 or float32, in the shape `size`; NumPy's bits.

        method: "zig" or "inv", which is drawn on the host. Of many on a GPU those beyond 7.69 may
        differ from the host's by a unit in the last place.
        """
        if type(method) is str and method == "zig":
            made = _stored(out, _exponential, self.bit_generator, size, dtype)
            if made is not None:
                return made
        return _library(_standard_exponentials, (self, size, dtype, method, out), {})

    @_core.composed
    @_draws(_numpy_random.Generator.exponential, True, _MANY - 1)
    def exponential(self, scale=1.0, size=None):
        """Exponential numbers of a scale, float64, in the shape `size`; NumPy's bits, and on a GPU
        as those of standard_exponential.
        """
        if _are_numbers(scale) and scale >= 0:
            made = _exponential(self.bit_generator, size, float)
            if made is not None:
                return made * float(scale)
        return _library(_exponentials, (self, scale, size), {})

    def spawn(self, n_children):
        """Independent generators, seeded from this one."""
        return [Generator(child.bit_generator) for child in super().spawn(n_children)]

    def __reduce__(self):
        return Generator, (self.bit_generator,)


@_wrap_methods
class RandomState(_numpy_random.RandomState):
    """numpy.random.RandomState whose samples are Numbus arrays.

    Of one that was given a PCG64 or Philox the uniform numbers are made as a Generator's.
    """

    @_core.composed
    @_draws(_numpy_random.RandomState.random_sample, True, _MANY - 1)
    def random_sample(self, size=None):
        """Uniform numbers of [0, 1), float64, in the shape `size`; NumPy's bits."""
        made = _uniform(self._bit_generator, size, float)
        return _library(_random_samples, (self, size), {}) if made is None else made

    random = random_sample

    @_core.composed
    @_draws(_numpy_random.RandomState.uniform, True, _MANY - 1)
    def uniform(self, low=0.0, high=1.0, size=None):
        """Uniform numbers of [low, high), float64, in the shape `size`; NumPy's bits."""
        made = _between(self._bit_generator, low, high, size)
        return _library(_legacy_uniforms, (self, low, high, size), {}) if made is None else made


_drawn, _uniforms, _integral, _standard_normals, _normals, _standard_exponentials, _exponentials = [
    _sampler(getattr(_numpy_random.Generator, name), bound=1)
    for name in (
        "random", "uniform", "integers", "standard_normal", "normal", "standard_exponential",
        "exponential",
    )
]  # fmt: skip
_random_samples = _sampler(_numpy_random.RandomState.random_sample, bound=1)
_legacy_uniforms = _sampler(_numpy_random.RandomState.uniform, bound=1)


def default_rng(seed=None):
    """A Generator for a seed (int, ints, SeedSequence, BitGenerator or Generator)."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, _numpy_random.RandomState) and type(seed) is RandomState:
        return Generator(seed._bit_generator)
    return Generator(_numpy_random.default_rng(seed).bit_generator)


@_functools.cache
def shared():
    """The RandomState whose methods the functions of this module are, as NumPy's `mtrand._rand`."""
    names = [name for name in dir(_numpy_random.RandomState) if not name.startswith("_")]
    here = _sys.modules[__name__]
    functions = {
        name: staticmethod(getattr(here, name)) for name in names if hasattr(_numpy_random, name)
    }
    return type("RandomState", (RandomState,), functions)(_numpy_random.mtrand._rand._bit_generator)


def _legacy(name):
    original = getattr(_numpy_random, name)
    real = _sampler(original, bound=0)

    def function(*args, **kwargs):
        return _library(real, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = real.__doc__
    return _core.composed(_draws(original, False, _MANY - 1)(function))


def __getattr__(name):
    # The functions on the global RandomState, which stays NumPy's own: installed packages share it.
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'numbus.random' has no attribute {name!r}")
    value = getattr(_numpy_random, name)
    if callable(value) and not isinstance(value, type):
        value = _legacy(name)
    elif isinstance(value, _ModuleType):
        value = _resolve(value, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_numpy_random)})
