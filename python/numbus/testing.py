"""numbus.testing: NumPy's assertions on the values of Numbus arrays."""

import numpy.testing as _numpy_testing

from .core.fallback import make as _make

__all__ = list(_numpy_testing.__all__)
__path__ = []  # modules in it are mirrors of NumPy's (core/fallback.py)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numbus.testing' has no attribute {name!r}")
    value = getattr(_numpy_testing, name)
    if callable(value) and not isinstance(value, type):
        value = _make(name, value, counted=False)
    globals()[name] = value
    return value
