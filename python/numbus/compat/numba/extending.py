"""numba.extending: overload and its kin; other names say that they are not served yet."""

from numbus.kernels import njit
from numbus.kernels.extending import (
    intrinsic,
    overload,
    overload_attribute,
    overload_method,
    register_jitable,
)

from .._missing import missing

__all__ = ["intrinsic", "overload", "overload_attribute", "overload_method", "register_jitable"]
__name__ = "numba.extending"
__path__ = []  # so that Python asks us what `from … import` does not find


def is_jitted(function):
    """Whether a function is one made by jit."""
    return isinstance(function, type(njit(lambda: None)))


def __getattr__(name):
    return missing("numba.extending", name, "overload")
