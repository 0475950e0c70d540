"""Windows for transforms of signals: raised cosines, a triangle, Kaiser's."""

from . import names as np
from .registry import Any, function

__all__ = []


def _steps(M):
    """1 - M, 3 - M, …, M - 1; nothing below one point."""
    return np.arange(1.0 - M, M, 2.0) if M >= 1 else np.zeros(0)


def _cosines(M, first, second, third):
    n = _steps(M)
    if M == 1:
        return np.ones(1)
    x = np.pi * n / (M - 1)
    return first + second * np.cos(x) + third * np.cos(2.0 * x)


@function("np.hanning")
def hanning(M: Any):
    """A raised cosine of M points, float64, zero at both ends."""
    return _cosines(float(M), 0.5, 0.5, 0.0)


@function("np.hamming")
def hamming(M: Any):
    """A raised cosine of M points, float64, 0.08 at both ends."""
    return _cosines(float(M), 0.54, 0.46, 0.0)


@function("np.blackman")
def blackman(M: Any):
    """A sum of two cosines and a constant of M points, float64, zero at both ends."""
    return _cosines(float(M), 0.42, 0.5, 0.08)


@function("np.bartlett")
def bartlett(M: Any):
    """A triangle of M points, float64, zero at both ends."""
    m = float(M)
    if m == 1:
        return np.ones(1)
    return 1 - np.absolute(_steps(m)) / (m - 1)


@function("np.kaiser")
def kaiser(M: Any, beta: Any):
    """Kaiser's window of M points, float64: Bessel functions, of a width that `beta` tells."""
    m, width = float(M), float(beta)
    if m == 1:
        return np.ones(1)
    alpha = (m - 1) / 2.0
    from_center = (np.arange(0.0, m) - alpha) / alpha
    return np.i0(width * np.sqrt(1 - from_center**2.0)) / np.i0(width)
