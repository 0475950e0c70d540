"""numba.cuda.cudadrv: the few names of the driver's layer that scripts use."""

# ruff: noqa: F401 – names for users
from .._missing import missing as _missing
from . import devicearray, driver, error

__name__ = "numba.cuda.cudadrv"


def __getattr__(name):
    return _missing("numba.cuda.cudadrv", name)
