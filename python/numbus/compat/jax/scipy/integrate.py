"""jax.scipy.integrate: `trapezoid`."""

from ..._missing import missing as _missing
from ..numpy import trapezoid  # noqa: F401

__name__ = "jax.scipy.integrate"


def __getattr__(name):
    return _missing("jax.scipy.integrate", name)
