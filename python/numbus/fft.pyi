"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

from numpy.typing import ArrayLike, DTypeLike
from . import ndarray
def fft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the one-dimensional discrete Fourier Transform."""
def fft2(a: ArrayLike, s: Any = None, axes: Any = ..., norm: Any = None, out: Any = None) -> ndarray:
    """Compute the 2-dimensional discrete Fourier Transform."""
def fftfreq(n: Any, d: Any = 1.0, device: Any = None, *, dtype: DTypeLike | None = None) -> ndarray:
    """The frequencies of the `n` results of fft() for samples `d` apart."""
def fftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the N-dimensional discrete Fourier Transform."""
def fftshift(x: ArrayLike, axes: Any = None) -> ndarray:
    """`x` with the zero frequency moved to the middle of `axes` (int, tuple, None: all)."""
def hfft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the FFT of a signal that has Hermitian symmetry, i.e., a real
    spectrum."""
def ifft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the one-dimensional inverse discrete Fourier Transform."""
def ifft2(a: ArrayLike, s: Any = None, axes: Any = ..., norm: Any = None, out: Any = None) -> ndarray:
    """Compute the 2-dimensional inverse discrete Fourier Transform."""
def ifftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the N-dimensional inverse discrete Fourier Transform."""
def ifftshift(x: ArrayLike, axes: Any = None) -> ndarray:
    """The inverse of fftshift()."""
def ihfft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the inverse FFT of a signal that has Hermitian symmetry."""
def irfft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Computes the inverse of `rfft`."""
def irfft2(a: ArrayLike, s: Any = None, axes: Any = ..., norm: Any = None, out: Any = None) -> ndarray:
    """Computes the inverse of `rfft2`."""
def irfftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """Computes the inverse of `rfftn`."""
def rfft(a: ArrayLike, n: Any = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the one-dimensional discrete Fourier Transform for real input."""
def rfft2(a: ArrayLike, s: Any = None, axes: Any = ..., norm: Any = None, out: Any = None) -> ndarray:
    """Compute the 2-dimensional FFT of a real array."""
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None, *, dtype: DTypeLike | None = None) -> ndarray:
    """The frequencies of the n // 2 + 1 results of rfft() for samples `d` apart."""
def rfftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> ndarray:
    """Compute the N-dimensional discrete Fourier Transform for real input."""
