"""cupyx.scipy: what Numbus has of it: special and fft."""

import importlib as _importlib

from ..._missing import missing as _missing
from ...cupy import get_array_module as _array_module

__name__ = "cupyx.scipy"


def get_array_module(*args):
    """This module where an argument is an array of the device, else SciPy."""
    import sys

    if _array_module(*args).__name__ == "cupy":
        return sys.modules[__package__]
    return _importlib.import_module("scipy")


def __getattr__(name):
    if name in ("fft", "special"):
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("cupyx.scipy", name)
