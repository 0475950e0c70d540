"""numba.experimental: jitclass; other names say that they are not served yet, with the line."""

from numbus.kernels.classes import jitclass

from .._missing import missing

__all__ = ["jitclass"]
__name__ = "numba.experimental"
__path__ = []  # so that Python asks us what `from … import` does not find


def __getattr__(name):
    return missing("numba.experimental", name, "jitclass")
