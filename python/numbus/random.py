"""numbus.random: NumPy's generators, same bits for the same seed; the samples come back as Numbus
arrays.

Not a fallback: random bits are made on the host by definition here, but many uniform numbers of
Philox, which the default device makes.
"""

import math as _math

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
from .core.interrupts import MANY as _MANY
from .core.interrupts import interruptible as _interruptible
from .core.operands import as_dtype as _as_dtype
from .core.operands import library as _library
from .core.quick import draws as _draws

_UINT64, _FLOAT32, _FLOAT64 = (_numpy.dtype(t) for t in ("uint64", "float32", "float64"))
_ON_DEVICE = 20_000  # numbers of Philox with which the routine takes less time than NumPy does


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


def _possible(size):
    return isinstance(size, int) or min(size) > 0


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
    original = getattr(base, name)
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


def _uniform(bits, n, dtype):
    """What Generator(bits).random(n, dtype) gives, `bits` a Philox, by the routine; and the state
    that this leaves.
    """
    with bits.lock:
        state = bits.state
        at, halves = state["buffer_pos"], dtype == _FLOAT32
        # What is left of the last block comes first.
        left = state["buffer"][at:]
        if halves:
            left = left.view(_numpy.uint32)
            if state["has_uint32"]:
                left = _numpy.concatenate([_numpy.array([state["uinteger"]], left.dtype), left])
        head = (left >> 8) * _numpy.float32(2**-24) if halves else (left >> 11) * 2.0**-53
        each, rest = 8 if halves else 4, n - len(head)
        blocks = -(-rest // each)
        key, counter = state["state"]["key"].tolist(), state["state"]["counter"].tolist()
        counter = sum([word << 64 * k for k, word in enumerate(counter)])

        def words(past):  # NumPy counts up before it makes a block
            number = (counter + past) % (1 << 256)
            return [number >> 64 * k & (1 << 64) - 1 for k in range(4)]

        made = _core.draw("philox", key + words(1), rest, dtype)
        before = _numpy.array(words(blocks - 1), _UINT64)
        last = _numpy_random.Philox(key=state["state"]["key"], counter=before)
        state["state"]["counter"] = _numpy.array(words(blocks), _UINT64)
        state["buffer"] = buffer = last.random_raw(4)
        used = rest - each * (blocks - 1)
        state["buffer_pos"] = -(-used // 2) if halves else used
        if halves:
            state["has_uint32"] = used % 2
            state["uinteger"] = int(buffer.view(_numpy.uint32)[used if used % 2 else used - 1])
        bits.state = state
    if not len(head):
        return made
    parts = [_core.from_numpy(head.astype(dtype)), made]
    return _core.concatenate(parts, 0, False, None, "same_kind", None)


@_wrap_methods
class Generator(_numpy_random.Generator):
    """numpy.random.Generator whose samples are Numbus arrays."""

    @_core.composed
    @_draws(_numpy_random.Generator.random, True, _ON_DEVICE - 1)
    def random(self, size=None, dtype=float, out=None):
        """Uniform numbers of [0, 1), float64 or float32, in the shape `size`; NumPy's bits.

        Many of Philox are made on the default device.
        """
        n = _count(size) if out is None and type(self.bit_generator) is Philox else 0
        if n >= _ON_DEVICE and _possible(size):
            kind = _as_dtype("random", dtype)
            if kind in (_FLOAT32, _FLOAT64):
                return _uniform(self.bit_generator, n, kind).reshape(size)
        return _library(_drawn, (self, size, dtype, out), {})

    def spawn(self, n_children):
        """Independent generators, seeded from this one."""
        return [Generator(child.bit_generator) for child in super().spawn(n_children)]

    def __reduce__(self):
        return Generator, (self.bit_generator,)


@_wrap_methods
class RandomState(_numpy_random.RandomState):
    """numpy.random.RandomState whose samples are Numbus arrays."""


_drawn = _sampler(_numpy_random.Generator.random, bound=1)


def default_rng(seed=None):
    """A Generator for a seed (int, ints, SeedSequence, BitGenerator or Generator)."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, _numpy_random.RandomState) and type(seed) is RandomState:
        return Generator(seed._bit_generator)
    return Generator(_numpy_random.default_rng(seed).bit_generator)


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
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_numpy_random)})
