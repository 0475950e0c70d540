"""The parts of a program's values, and how far two of them are apart."""

import math
from collections.abc import Mapping

import numpy as np


def leaves(value, path="result"):
    """(path, what it must be, value) of every part; numbers of NumPy come back as Python's own."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):  # a dict, or one that compiled functions share
        yield path, ("dict", len(value)), None
        for k, (key, v) in enumerate(value.items()):
            yield from leaves(key, f"key {k} of {path}")
            yield from leaves(v, f"value {k} of {path}")
    elif isinstance(value, (tuple, list)):
        yield path, (type(value).__name__, len(value)), None
        for k, v in enumerate(value):
            yield from leaves(v, f"{path}[{k}]")
    elif isinstance(value, set):
        yield path, ("set", sorted(repr(own(v)) for v in value)), None
    elif isinstance(value, np.random.Generator):
        yield path, ("Generator", repr(value.bit_generator.state)), None
    elif isinstance(value, np.ndarray) and value.dtype.names:
        yield path, ("records", value.shape), None
        for name in value.dtype.names:
            yield from leaves(value[name], f"{path}['{name}']")
    elif isinstance(value, np.ndarray):
        yield path, ("array", value.dtype, value.shape), value
    elif isinstance(value, (bool, int, float, complex)):
        yield path, type(value).__name__, value
    else:
        yield path, repr(value), None


def own(value):
    """A number of NumPy's as Python's own, as which it comes back."""
    return value.item() if isinstance(value, np.generic) else value


def distance(x, y) -> float:
    """The largest |x - y|; infinite where one is NaN or infinite and the other is not."""
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "c":
        return max(distance(x.real, y.real), distance(x.imag, y.imag))
    x, y = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        d = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
    return float(np.where(np.isnan(d), math.inf, d).max()) if d.size else 0.0


def same_bits(x, y) -> bool:
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind == "c":
        return same_bits(x.real, y.real) and same_bits(x.imag, y.imag)
    if x.dtype.kind != "f":
        return bool((x == y).all())
    with np.errstate(all="ignore"):
        equal = (x == y) & (np.signbit(x) == np.signbit(y))
        return bool((equal | (np.isnan(x) & np.isnan(y))).all())
