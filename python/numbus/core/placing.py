"""Which device carries out what NumPy does on a host and a library on a GPU, where the user named
none; array work is placed in the core (src/array/placement.h).
"""

import math

from .. import _core

_ROWS = (64, 256, 1000)
# Microseconds that square matrices of so many rows take 16 cores and an NVIDIA H200
# (docs/performance.md, "Devices chosen by cost").
_SOLVE = ((43, 1383, 9059), (224, 569, 2603))
_EIGH = ((530, 5686, 76381), (802, 2110, 10678))
_SVD = ((965, 13801, 268279), (3842, 24672, 165644))
_MATRICES = {
    "cholesky": ((41, 812, 10725), (168, 257, 1171)),
    "cond": _SVD,
    "det": _SOLVE,
    "eigh": _EIGH,
    "eigvalsh": _EIGH,
    "inv": ((131, 1838, 17819), (224, 642, 3163)),
    "lstsq": _SVD,
    "qr": ((258, 4414, 53447), (277, 830, 4669)),
    "slogdet": _SOLVE,
    "solve": _SOLVE,
    "svd": _SVD,
    "svdvals": _SVD,
}
# Of a Fourier transform: nanoseconds for each element, and what launches take.
_NEAR_POINT, _FAR_POINT, _FAR_LAUNCHES = 18, 0.1, 60


def _between(times, rows):
    """A power of the number of rows between two that were measured, and beyond them."""
    k = 0 if rows < _ROWS[1] else 1
    exponent = math.log(times[k + 1] / times[k]) / math.log(_ROWS[k + 1] / _ROWS[k])
    return times[k] * (rows / _ROWS[k]) ** exponent


def matrices(name, arrays):
    """The operands of a function of linear algebra, on the device that is to carry it out."""
    shape = arrays[0].shape
    if name not in _MATRICES or len(shape) < 2 or not arrays[0].size:
        return arrays
    rows, count = math.sqrt(shape[-1] * shape[-2]), math.prod(shape[:-2])
    near, far = [count * _between(times, rows) for times in _MATRICES[name]]
    return _core.place(arrays, near, far, "solver")


def transforms(a):
    """The operand of a Fourier transform, on the device that is to carry it out."""
    far = _FAR_LAUNCHES + a.size * _FAR_POINT / 1000
    return _core.place([a], a.size * _NEAR_POINT / 1000, far, "fft")[0]
