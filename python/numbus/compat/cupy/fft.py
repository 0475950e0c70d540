"""cupy.fft: Numbus's."""

from numbus import fft as _fft

from .._missing import getter

__name__ = "cupy.fft"
__path__ = []  # so that Python asks us what `from … import` does not find
__getattr__ = getter(__name__, _fft)


def __dir__():
    return dir(_fft)
