"""numbus.random: NumPy's generators, same bits for the same seed; the samples come back as Numbus
arrays.

Not a fallback: random bits are made on the host by definition here.
"""

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

from .core.operands import library as _library


def _method(name, base):
    real = getattr(base, name)

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
    real = getattr(_numpy_random, name)

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
