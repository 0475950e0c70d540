"""cupy.polynomial: NumPy's modules, whose calls count as fallbacks."""

import numbus.polynomial as _polynomial

from .._missing import getter

__name__ = "cupy.polynomial"
__path__ = []  # so that Python asks us what `from … import` does not find
__getattr__ = getter(__name__, _polynomial)
