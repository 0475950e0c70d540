"""cupy.random: NumPy's generators and their bits, with CuPy's names and dtype arguments.

The same seed gives NumPy's numbers, not CuPy's.
"""

import functools

import numpy

from numbus import random as _random

from .._missing import getter

__name__ = "cupy.random"
__path__ = []  # so that Python asks us what `from … import` does not find

# What takes dtype= here and not in NumPy.
_TYPED = """rand randn random random_sample ranf sample uniform normal standard_normal exponential
standard_exponential gamma standard_gamma beta binomial chisquare f geometric gumbel hypergeometric
laplace logistic lognormal logseries negative_binomial noncentral_chisquare noncentral_f pareto
poisson power rayleigh standard_cauchy standard_t triangular vonmises wald weibull zipf
dirichlet multivariate_normal""".split()


def _typed(function):
    @functools.wraps(function)
    def sample(*args, dtype=None, **kwargs):
        made = function(*args, **kwargs)
        if dtype is None or made is None:
            return made
        return made.astype(dtype) if hasattr(made, "astype") else numpy.dtype(dtype).type(made)

    return sample


class RandomState(_random.RandomState):
    """NumPy's RandomState whose samples are arrays on the device; methods take dtype=."""

    def __init__(self, seed=None, method=None):
        super().__init__(seed)

    def ranf(self, *args, **kwargs):
        """random_sample."""
        return self.random_sample(*args, **kwargs)

    sample = ranf


for _name in _TYPED:
    if hasattr(RandomState, _name):
        setattr(RandomState, _name, _typed(getattr(RandomState, _name)))
    globals()[_name] = _typed(getattr(_random, _name))

random_integers = _random.random_integers
BitGenerator = _random.BitGenerator
Generator = _random.Generator
# CuPy's generators by name; the bits are those of NumPy's.
XORWOW = MRG32k3a = _random.PCG64
Philox4x3210 = _random.Philox
default_rng = _random.default_rng


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
