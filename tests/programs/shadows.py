"""Numbers a few units in the last place away, for runs that say what hangs on rounding."""

from __future__ import annotations

import numpy as np

ULPS = 2.0
EPS = {np.dtype(t): float(np.finfo(t).eps) for t in (np.float16, np.float32, np.float64)}


def least(value):
    """Two units in the last place where these are those of subnormal numbers, else 0."""
    info = np.finfo(value.dtype)
    size = np.abs(value).astype(np.float64)
    subnormal = (size > 0) & (size < 2 * float(info.smallest_normal))
    return np.where(subnormal, ULPS * float(info.smallest_subnormal), 0.0)


def perturbed(value, r):
    """Floats and complex numbers a few units in the last place away."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(perturbed(v, r) for v in value)
    if isinstance(value, list):
        return [perturbed(v, r) for v in value]
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return type(value)(perturbed(np.asarray(value)[()], r))
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
        return value
    real = value.real.dtype
    with np.errstate(all="ignore"):
        step = ULPS * EPS[real]
        if isinstance(value, np.generic):
            if value.dtype.kind == "c":
                return value.dtype.type(complex(
                    perturbed(value.real, r), perturbed(value.imag, r)))  # fmt: skip
            moved = float(value) * (1 + r.choice((-1, 1)) * r.uniform(0.5, 1) * step)
            return real.type(moved + r.choice((-1, 1)) * least(value))
        amount = np.array([r.choice((-1, 1)) * r.uniform(0.5, 1) for _ in range(value.size)])
        amount = amount.reshape(value.shape) * step
        if value.dtype.kind == "c":
            moved = value.astype(complex)
            moved.real *= 1 + amount
            moved.imag *= 1 - amount
            moved = np.where(np.isfinite(value), moved, value)
        else:
            moved = value.astype(np.float64) * (1 + amount) + np.sign(amount) * least(value)
        return moved.astype(value.dtype)


def either_zero(value, r):
    """Complex numbers whose zeros have any sign."""
    if not np.iscomplexobj(value):
        return value
    moved = np.array(value)
    for part in (moved.real, moved.imag):
        part[part == 0] *= r.choice((-1, 1))
    return moved if isinstance(value, np.ndarray) else type(value)(moved)
