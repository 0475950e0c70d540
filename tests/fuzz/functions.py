"""Functions of two numbers that programs apply to arrays: plain Python for NumPy, vectorize here.

They compute with operations that round as NumPy's do, so that every mode has to agree bit for bit.
"""

from __future__ import annotations

import types

import numpy as np


def pick(x, y):
    if x > y:
        return x - y
    return y * 0.5 if y < 0 else x


def wander(x, y):
    n = 0
    while x * x < 9 and n < 12:
        x = x * 1.5 + y
        n += 1
    return x


def nested(x, y):
    for i in range(3):
        for j in range(4):
            if x > 20:
                break
            if y < x:
                y = y + 2
                continue
            x = x + 0.75 * j - i
        else:
            x = x - 0.5
    return x - y


def leaves(x, y):
    for k in range(9):
        if x < -4:
            return y + k
        x = x - 0.5 * abs(y) - 0.25
    return x


FUNCTIONS = (pick, wander, nested, leaves)


def _by_element(f):
    def call(x, y):
        # The layout of a ufunc's result; each element is computed as Python does it.
        out = np.add(x, y)
        if isinstance(y, np.ndarray):
            y = np.broadcast_to(y, out.shape)
        for at in np.ndindex(out.shape):
            out[at] = f(x[at], y[at] if isinstance(y, np.ndarray) else y)
        return out

    return call


_made: dict = {}


def functions_for(xp):
    """The functions as `fn.name(x, y)`, for arrays of the module."""
    if getattr(xp, "__name__", "") != "numbus":
        return types.SimpleNamespace(**{f.__name__: _by_element(f) for f in FUNCTIONS})
    if not _made:
        _made.update({f.__name__: xp.vectorize(f) for f in FUNCTIONS})
    return types.SimpleNamespace(**_made)
