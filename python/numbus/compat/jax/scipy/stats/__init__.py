"""jax.scipy.stats: densities and probabilities of distributions."""

import sys as _sys

from ...._missing import missing as _missing
from .._distributions import distribution as _distribution
from .._distributions import sem  # noqa: F401

__name__ = "jax.scipy.stats"


def __getattr__(name):
    found = _distribution(name)
    if found is None:
        return _missing("jax.scipy.stats", name)
    globals()[name] = _sys.modules[f"{__spec__.name}.{name}"] = found
    return found
