"""cupyx's names over Numbus: what `import cupyx` gives in a script that Numbus runs."""

import importlib as _importlib

import numpy as _numpy

import numbus as _numbus
import numbus.cuda as _cuda
from numbus import errstate, geterr, seterr

from .._missing import missing as _missing

__name__ = "cupyx"

_SUBMODULES = frozenset("jit profiler scipy time".split())


def rsqrt(x):
    """1 / sqrt(x), element-wise."""
    return _numbus.reciprocal(_numbus.sqrt(x))


def scatter_add(a, slices, value):
    """add.at(a, slices, value)."""
    _numbus.add.at(a, slices, value)


def scatter_max(a, slices, value):
    """maximum.at(a, slices, value)."""
    _numbus.maximum.at(a, slices, value)


def scatter_min(a, slices, value):
    """minimum.at(a, slices, value)."""
    _numbus.minimum.at(a, slices, value)


def empty_pinned(shape, dtype=float, order="C"):
    """An uninitialised NumPy array in pinned memory."""
    return _numpy.asarray(_cuda.pinned_array(shape, _numpy.dtype(dtype), order=order))


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros in pinned memory."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """An uninitialised NumPy array in pinned memory, like another in shape, dtype and order."""
    if order in ("K", "A", None):
        fortran = a.flags["F_CONTIGUOUS"] and not a.flags["C_CONTIGUOUS"]
        order = "F" if fortran else "C"
    return empty_pinned(a.shape if shape is None else shape, dtype or a.dtype, order)


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """A NumPy array of zeros in pinned memory, like another in shape, dtype and order."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


class allow_synchronize:
    """A block in which CuPy would refuse to synchronise; nothing is refused here."""

    def __init__(self, allow):
        self.allow = allow

    def __enter__(self):
        return None

    def __exit__(self, *error):
        pass


def get_runtime_info(*, full=True):
    """Devices, versions and libraries; str() of it is the text."""
    from ..info import text

    return text()


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__package__}.{name}")
    if name == "GeneralizedUFunc":
        return _missing("cupyx", name, "numba.guvectorize, which runs here")
    return _missing("cupyx", name)


__all__ = ["allow_synchronize", "empty_like_pinned", "empty_pinned", "errstate",
           "get_runtime_info", "geterr", "rsqrt", "scatter_add", "scatter_max", "scatter_min",
           "seterr", "zeros_like_pinned", "zeros_pinned"]  # fmt: skip
