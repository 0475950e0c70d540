"""NumPy's functions for compiled functions, themselves in Python that compiles.

Each runs in CPython, too. They stand in library/, by subject, under the names of the functions that
they are for.
"""

import importlib

_functions = {}
_FILES = "sorting products shaping statistics linalg mathematics".split()


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
