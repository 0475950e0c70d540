"""numba.typed: lists and dicts whose memory compiled functions share."""

from numbus.kernels.typed import Dict, List  # noqa: F401

from .._missing import missing

__name__ = "numba.typed"
__path__ = []  # so that Python asks us what `from … import` does not find


def __getattr__(name):
    return missing("numba.typed", name, "Dict and List")
