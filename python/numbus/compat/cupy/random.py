"""cupy.random: NumPy's generators and their bits, with CuPy's names and dtype arguments.

The same seed gives NumPy's numbers, not CuPy's; but normal numbers, and 20,000 or more of most
other distributions, are made on the device, of Philox's stream for a key that the generator draws.
"""

import functools
import math

import numpy

from numbus import _core
from numbus import random as _random

from .._missing import getter
from ._distributions import NAMES, drawn, drawn_integers

__name__ = "cupy.random"
__path__ = []  # so that Python asks us what `from … import` does not find

# What takes dtype= here and not in NumPy.
_TYPED = """rand random random_sample ranf sample uniform normal exponential
standard_exponential gamma standard_gamma beta binomial chisquare f geometric gumbel hypergeometric
laplace logistic lognormal logseries negative_binomial noncentral_chisquare noncentral_f pareto
poisson power rayleigh standard_cauchy standard_t triangular vonmises wald weibull zipf
dirichlet multivariate_normal""".split()


def _parameters(name):
    """The names of a function's parameters, of those that take a size: Cython has them in its
    docstring.
    """
    original = getattr(numpy.random.RandomState, name, numpy.random.RandomState.random_sample)
    text = (original.__doc__ or "").partition("(")[2].partition(")")[0]
    names = tuple([part.partition("=")[0] for part in text.split(", ")])
    return names if "size" in names else ()


def _typed(name, function, methods=False):
    names = _parameters(name)

    @functools.wraps(function)
    def sample(*args, dtype=None, **kwargs):
        state, given = (args[:1], args[1:]) if methods else ((), args)
        if names and dtype is None and len(given) == len(names) + 1:
            given, dtype = given[:-1], given[-1]
        if name in NAMES:
            draw = state[0].randint if methods else _random.randint
            made = drawn(name, names, draw, given, kwargs, dtype)
            if made is not None:
                return made
        made = function(*state, *given, **kwargs)
        if dtype is None or made is None:
            return made
        return made.astype(dtype) if hasattr(made, "astype") else numpy.dtype(dtype).type(made)

    return sample


def _standard_normal(integers, size, dtype):
    """Normal numbers on the device: an array of shape `size`, 0-d for None; float32 or float64.

    integers: the method of a generator that draws the key.
    """
    dtype = numpy.dtype(float if dtype is None else dtype)
    shape = () if size is None else size if isinstance(size, (tuple, list)) else (size,)
    if min(shape, default=0) < 0:
        raise ValueError(
            f"[standard_normal] negative extents; got {tuple(shape)}; expected 0 or more"
        )
    if dtype not in ("float32", "float64"):
        raise TypeError(f"[standard_normal] dtype; got {dtype}; expected float32 or float64")
    key = int(integers(0, 1 << 64, dtype=numpy.uint64))
    return _core.draw("normal", [key, 0], math.prod(shape), dtype).reshape(shape)


class RandomState(_random.RandomState):
    """NumPy's RandomState whose samples are arrays on the device; methods take dtype=."""

    def __init__(self, seed=None, method=None):
        super().__init__(seed)

    def ranf(self, *args, **kwargs):
        """random_sample."""
        return self.random_sample(*args, **kwargs)

    sample = ranf

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers of [low, high), of [0, low) without `high`, in the shape `size`."""
        original = super().randint
        made = drawn_integers(original, low, high, size, dtype)
        return original(low, high, size, dtype) if made is None else made

    def standard_normal(self, size=None, dtype=float):
        """Normal numbers of mean 0 and variance 1, float32 or float64, in the shape `size`."""
        return _standard_normal(self.randint, size, dtype)

    def randn(self, *size, dtype=float):
        """standard_normal of a shape given as extents."""
        return self.standard_normal(size, dtype)


for _name in _TYPED:
    if hasattr(RandomState, _name):
        setattr(RandomState, _name, _typed(_name, getattr(RandomState, _name), methods=True))
    globals()[_name] = _typed(_name, getattr(_random, _name))


def randint(low, high=None, size=None, dtype=int):
    """Integers of [low, high), of [0, low) without `high`, in the shape `size`."""
    made = drawn_integers(_random.randint, low, high, size, dtype)
    return _random.randint(low, high, size, dtype) if made is None else made


def standard_normal(size=None, dtype=float):
    """Normal numbers of mean 0 and variance 1, float32 or float64, in the shape `size`."""
    return _standard_normal(_random.randint, size, dtype)


def randn(*size, dtype=float):
    """standard_normal of a shape given as extents."""
    return standard_normal(size, dtype)


class Generator(_random.Generator):
    """NumPy's Generator whose samples are arrays on the device."""

    def standard_normal(self, size=None, dtype=float, out=None):
        """Normal numbers of mean 0 and variance 1, float32 or float64, in the shape `size`."""
        if out is None:
            return _standard_normal(self.integers, size, dtype)
        if size is not None and out.shape != (size if isinstance(size, tuple) else (size,)):
            raise ValueError(f"[standard_normal] size; got {size}; expected {out.shape}, as `out`")
        out[...] = _standard_normal(self.integers, out.shape, out.dtype)
        return out

    def __reduce__(self):
        return Generator, (self.bit_generator,)


random_integers = _random.random_integers
BitGenerator = _random.BitGenerator
# CuPy's generators by name; the bits are those of NumPy's.
XORWOW = MRG32k3a = _random.PCG64
Philox4x3210 = _random.Philox


def default_rng(seed=None):
    """A Generator for a seed (int, ints, SeedSequence, BitGenerator or Generator)."""
    if isinstance(seed, Generator):
        return seed
    return Generator(_random.default_rng(seed).bit_generator)


def get_random_state():
    """The state behind the functions of this module."""
    state = RandomState()
    state.set_state(_random.get_state())
    return state


def set_random_state(rs):
    """Makes a RandomState's present state that of the functions of this module."""
    if not isinstance(rs, _random.RandomState):
        raise TypeError(
            f"[set_random_state] not a state; got {type(rs).__name__}; expected a RandomState"
        )
    _random.set_state(rs.get_state())


def reset_states():
    """Seeds the functions of this module anew."""
    _random.seed(None)


__getattr__ = getter(__name__, _random)
