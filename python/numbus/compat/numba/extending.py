"""numba.extending: register_jitable; the rest is not served yet."""

from numbus.kernels import njit

from .._missing import missing

__name__ = "numba.extending"
__path__ = []  # so that Python asks us what `from … import` does not find


def register_jitable(*args, **kwargs):
    """The function as it is: compiled functions call Python functions by compiling them."""
    if kwargs or not args:
        return lambda function: function
    return args[0]


def is_jitted(function):
    """Whether a function is one made by jit."""
    return isinstance(function, type(njit(lambda: None)))


def __getattr__(name):
    return missing("numba.extending", name, "functions with @njit")
