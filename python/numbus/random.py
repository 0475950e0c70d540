"""numbus.random: NumPy's generators, same bits for the same seed; the samples come back as Numbus
arrays.

Not a fallback: random bits are made on the host by definition here.
"""

import math as _math

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

from .core.interrupts import MANY as _MANY
from .core.interrupts import interruptible as _interruptible
from .core.operands import library as _library


def _count(value):
    """How many samples a `size`, or an array of parameters, asks for; 0 for what is neither."""
    if isinstance(value, int):
        return value
    if isinstance(value, (tuple, list)):
        try:
            return _math.prod(value)
        except TypeError:
            return 0
    size = getattr(value, "size", 0)
    return size if isinstance(size, int) else 0  # a type has a descriptor of that name


def _sampler(real, bound):
    """NumPy's function, interruptible where it draws many samples."""

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
        return any([_count(v) >= _MANY for v in given if not isinstance(v, int)])

    return real if real.__name__ == "shuffle" else _interruptible(real, is_long)


def _method(name, base):
    real = _sampler(getattr(base, name), bound=1)

    def method(self, *args, **kwargs):
        return _library(real, (self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = real.__doc__
    return method


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

    def spawn(self, n_children):
        """Independent generators, seeded from this one."""
        return [Generator(child.bit_generator) for child in super().spawn(n_children)]

    def __reduce__(self):
        return Generator, (self.bit_generator,)


@_wrap_methods
class RandomState(_numpy_random.RandomState):
    """numpy.random.RandomState whose samples are Numbus arrays."""


def default_rng(seed=None):
    """A Generator for a seed (int, ints, SeedSequence, BitGenerator or Generator)."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, _numpy_random.RandomState) and type(seed) is RandomState:
        return Generator(seed._bit_generator)
    return Generator(_numpy_random.default_rng(seed).bit_generator)


def _legacy(name):
    real = _sampler(getattr(_numpy_random, name), bound=0)

    def function(*args, **kwargs):
        return _library(real, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = real.__doc__
    return function


def __getattr__(name):
    # The functions on the global RandomState, which stays NumPy's own: installed packages share it.
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'numbus.random' has no attribute {name!r}")
    value = getattr(_numpy_random, name)
    if callable(value) and not isinstance(value, type):
        value = _legacy(name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_numpy_random)})
