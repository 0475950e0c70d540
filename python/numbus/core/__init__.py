"""What the functions on arrays stand on: operands, memory, fallback, errors, ufuncs, devices.

To old scripts the name is that of numpy.core: names that are not here are NumPy's.
"""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'numbus.core' has no attribute {name!r}")
    import numpy.core

    from .fallback import Mirror

    return Mirror(numpy.core).__getattr__(name)
