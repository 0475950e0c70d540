"""numba.experimental: not served yet; every name says so, with the line."""

from .._missing import missing

__name__ = "numba.experimental"
__path__ = []  # so that Python asks us what `from … import` does not find


def __getattr__(name):
    return missing("numba.experimental", name, "functions and named tuples")
