"""NumPy's functions for compiled functions, themselves in Python that compiles.

Each runs in CPython, too. They stand in library/, by subject, under the names of the functions that
they are for.
"""

import importlib

import numpy

from ._resolve import name_object

_functions = {}
_FILES = "sorting products shaping statistics linalg mathematics random distributions".split()


def known(*names):
    """Makes a function the one for these names: 'np.sort', 'math.gcd'."""

    def keep(function):
        for name in names:
            _functions[name] = function
        return function

    return keep


def find(name):
    """The function for 'np.sort' and the like, or None."""
    if not _functions:
        for file in _FILES:
            importlib.import_module(f"{__package__}.library.{file}")
    return _functions.get(name)


# What random numbers are made of. In CPython they come from a state of its own.
_state = numpy.random.RandomState()
_kept = numpy.zeros(2)


def random_bits():
    """32 random bits, as uint32."""
    return numpy.uint32(_state.randint(0, 2**32, dtype=numpy.uint32))


def random_unit():
    """A random number of [0, 1)."""
    return _state.random_sample()


def random_kept():
    """Whether a normal number is kept for the next call, and which: two float64 of the state."""
    return _kept


def random_seed(seed):
    """Begins the state anew."""
    _state.seed(seed)
    _kept[0] = 0


for _function in (random_bits, random_unit, random_kept, random_seed):
    name_object(_function, _function.__name__.replace("random_", "numbus random "))
