"""jax.numpy.fft: Numbus's transforms with JAX's dtypes."""

import numbus as _nb

from ..._missing import missing as _missing
from .._functions import general

__name__ = "jax.numpy.fft"
_NAMES = frozenset(
    "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft "
    "rfft2 rfftfreq rfftn".split()
)


def __getattr__(name):
    if name not in _NAMES:
        return _missing("jax.numpy.fft", name)
    globals()[name] = general(name, getattr(_nb.fft, name))
    return globals()[name]
