"""jax.scipy.signal: convolutions."""

import numbus as nb

from ....core.errors import message
from ..._missing import missing as _missing
from .. import lax
from .. import numpy as _jnp
from .._array import Array, as_array, made
from .._functions import expect_arrays, together

__name__ = "jax.scipy.signal"


def _convolved(op, in1, in2, mode, method="auto", turned=False):
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of ['full', 'same', 'valid']; got {mode!r}")
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"Got {method=}; expected 'auto', 'fft', or 'direct'.")
    expect_arrays(op, in1, in2)
    (a, b), _ = together(op, (made(in1), made(in2)), True)
    x, w = Array(as_array(a)), Array(as_array(b))
    if x.ndim != w.ndim:
        raise ValueError(f"{op}: in1 and in2 must have the same number of dimensions")
    if not x.size or not w.size:
        raise ValueError(f"zero-size arrays not supported in convolutions, got shapes {x.shape} "
                         f"and {w.shape}.")  # fmt: skip
    if not 1 <= x.ndim <= 3:
        raise NotImplementedError(
            message(f"jax.scipy.signal.{op}", "so many axes are not yet available", x.ndim,
                    "one to three")
        )  # fmt: skip
    if turned:
        w = _jnp.conj(_jnp.flip(w))
    if mode == "valid":
        pairs = list(zip(x.shape, w.shape))
        if all(n <= m for n, m in pairs) and x.shape != w.shape:
            x, w = w, x
        elif not all(n >= m for n, m in pairs):
            raise ValueError(
                f"convolve: for mode='valid' one operand must be at least as large as the other "
                f"along every axis, got {pairs}"
            )
    sizes = w.shape
    if mode == "valid":
        pads = [(0, 0)] * x.ndim
    elif mode == "full":
        pads = [(n - 1, n - 1) for n in sizes]
    else:
        pads = [(n - 1 - (n - 1) // 2, (n - 1) // 2) for n in sizes]
    found = lax.conv_general_dilated(x[None, None], _jnp.flip(w)[None, None], (1,) * x.ndim, pads)
    return found[0, 0]


def convolve(in1, in2, mode="full", method="auto", precision=None):
    """The convolution of arrays of one to three axes; all methods add directly."""
    _checked(precision)
    return _convolved("convolve", in1, in2, mode, method)


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The convolution of two matrices, beyond which there are zeros."""
    return _of_matrices("convolve2d", in1, in2, mode, boundary, fillvalue, precision, False)


def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The correlation of arrays of one to three axes."""
    _checked(precision)
    return _convolved("correlate", in1, in2, mode, method, True)


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The correlation of two matrices, beyond which there are zeros."""
    return _of_matrices("correlate2d", in1, in2, mode, boundary, fillvalue, precision, True)


def _of_matrices(op, in1, in2, mode, boundary, fillvalue, precision, turned):
    _checked(precision)
    if boundary != "fill" or fillvalue != 0:
        raise NotImplementedError(f"{op}() only supports boundary='fill', fillvalue=0")
    if made(in1).ndim != 2 or made(in2).ndim != 2:
        raise ValueError(f"{op}() only supports 2-dimensional inputs.")
    if turned and mode == "same":  # the middle one of an even number is that of the turned result
        found = _convolved(op, _jnp.flip(made(in1)), _jnp.conj(made(in2)), mode)
        return _jnp.flip(found)
    return _convolved(op, in1, in2, mode, "auto", turned)


def _checked(precision):
    from .._functions import check_precision

    check_precision("jax.scipy.signal", precision)


def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of arrays along all axes, by Fourier transforms."""
    if axes is not None:
        raise NotImplementedError(
            message("jax.scipy.signal.fftconvolve", "axes= is not yet available", axes, "None")
        )
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of ['full', 'same', 'valid']; got {mode!r}")
    expect_arrays("fftconvolve", in1, in2)
    (a, b), _ = together("fftconvolve", (made(in1), made(in2)), True)
    a, b = as_array(a), as_array(b)
    if mode == "valid" and any(n < m for n, m in zip(a.shape, b.shape)):
        a, b = b, a
    whole = [n + m - 1 for n, m in zip(a.shape, b.shape)]
    axes = tuple(range(a.ndim))
    product = nb.fft.fftn(a, whole, axes=axes) * nb.fft.fftn(b, whole, axes=axes)
    found = nb.fft.ifftn(product, whole, axes=axes)
    found = as_array(found if a.dtype.kind == "c" else nb.real(found)).astype(a.dtype)
    if mode != "full":
        shape = a.shape if mode == "same" else [n - m + 1 for n, m in zip(a.shape, b.shape)]
        key = [slice((n - m) // 2, (n - m) // 2 + m) for n, m in zip(whole, shape)]
        found = found[tuple(key)]
    return Array(as_array(found))


def __getattr__(name):
    return _missing("jax.scipy.signal", name)
