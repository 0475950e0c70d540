"""cupy.linalg: Numbus's."""

from numbus import linalg as _linalg

from .._missing import getter

__name__ = "cupy.linalg"
__path__ = []  # so that Python asks us what `from … import` does not find
__getattr__ = getter(__name__, _linalg)


def __dir__():
    return dir(_linalg)
