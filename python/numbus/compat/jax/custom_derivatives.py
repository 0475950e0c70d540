"""jax.custom_derivatives: functions with derivatives of their own."""

from .._missing import missing as _missing
from ._transforms import custom_jvp, custom_vjp  # noqa: F401

__name__ = "jax.custom_derivatives"


def custom_gradient(fun):
    """A function of what `fun` returns with it: the value and a function from its derivative to
    those by the arguments.
    """
    import functools

    made = custom_vjp(lambda *args: fun(*args)[0])

    def back(pull, g):
        found = pull(g)
        return found if isinstance(found, tuple) else (found,)

    made.defvjp(lambda *args: fun(*args), back)

    @functools.wraps(fun)
    def wrapper(*args):
        return made(*args)

    return wrapper


def __getattr__(name):
    return _missing("jax.custom_derivatives", name)
