"""What the functions on arrays stand on: operands, memory, fallback, errors, ufuncs, devices.

To old scripts the name is that of numpy.core: names that are not here are NumPy's.
"""

# Imported before modules ask the package for it, whose names are looked up below.
from .dtypes import bfloat16 as _bfloat16  # noqa: F401


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numbus.core' has no attribute {name!r}")
    import numpy.core

    from .fallback import Mirror

    return Mirror(numpy.core).__getattr__(name)
