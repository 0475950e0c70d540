"""Windows of signals, and transforms of short sections: `stft` and its inverse."""

import math

import numbus as nb

from .. import fft
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype, not_yet
from ._functions import method, tensor_function
from .creation import finished, named

__all__ = [
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "istft",
    "kaiser_window", "stft",
]  # fmt: skip


def _window(name, shape, doc):
    """A function that makes a window of `shape`, a function of the positions from 0 to 1."""

    def make(
        window_length, periodic=True, *options, dtype=None, layout=None, device=None,
        pin_memory=False, requires_grad=False, **more,
    ):  # fmt: skip
        not_yet(name, layout=layout, pin_memory=pin_memory)
        t = _dtypes.to_numpy(dtype) or _dtypes.default_float()
        if kind_of(t) != "f":
            raise RuntimeError(message(name, "not floating point", t, "a dtype of floats"))
        n = window_length
        if n < 0:
            raise RuntimeError(message(name, "a negative length", n, "0 or more"))
        where = named(device)
        if n < 2:
            shape(nb.zeros(1), *options, **more)  # its options are checked
            made = nb.ones(n)
        else:
            made = shape(nb.arange(n, dtype=float) / (n if periodic else n - 1), *options, **more)
        return finished(as_dtype(made, t), where, requires_grad)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


def _cosine(x, alpha, beta):
    return alpha - beta * nb.cos(2 * math.pi * x)


hann_window = _window(
    "hann_window", lambda x: _cosine(x, 0.5, 0.5),
    "(1 - cos) / 2 over a period; not `periodic`: symmetric.",
)  # fmt: skip
hamming_window = _window(
    "hamming_window", lambda x, alpha=0.54, beta=0.46: _cosine(x, alpha, beta),
    "alpha - beta cos over a period; not `periodic`: symmetric.",
)  # fmt: skip
blackman_window = _window(
    "blackman_window", lambda x: _cosine(x, 0.42, 0.5) + 0.08 * nb.cos(4 * math.pi * x),
    "Blackman's window over a period; not `periodic`: symmetric.",
)  # fmt: skip
bartlett_window = _window(
    "bartlett_window", lambda x: 1 - nb.abs(2 * x - 1),
    "A triangle over a period; not `periodic`: symmetric.",
)  # fmt: skip
kaiser_window = _window(
    "kaiser_window",
    lambda x, beta=12.0: nb.i0(beta * nb.sqrt(nb.maximum(1 - (2 * x - 1) ** 2, 0))) / nb.i0(beta),
    "Kaiser's window of shape `beta` over a period; not `periodic`: symmetric.",
)  # fmt: skip


def _sections(op, n_fft, hop_length, win_length, window, like):
    """The hop, and the window with zeros at both ends as long as a section."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if hop <= 0 or not 0 < length <= n_fft:
        raise RuntimeError(
            message(op, "sections that do not fit",
                    f"n_fft={n_fft}, hop_length={hop}, win_length={length}",
                    "hop_length above 0, win_length from 1 to n_fft")
        )  # fmt: skip
    if window is not None and window.shape != (length,):
        raise RuntimeError(
            message(op, "the window has another length", window.shape, f"({length},)")
        )
    if window is None:
        window = nb.ones(length, dtype=nb.empty(0, like).real.dtype)
    before = (n_fft - length) // 2
    return hop, nb.pad(window, (before, n_fft - length - before))


@method()
@tensor_function
def stft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True,
    pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
):  # fmt: skip
    """Fourier transforms of the sections of n_fft elements of a signal, times a window.

    The result has frequencies along the dimension before the last and sections along the last. With
    `center` the signal gets borders, so that sections are around multiples of `hop_length`.
    """
    lines = input if input.ndim == 2 else input[None]
    if input.ndim not in (1, 2):
        raise RuntimeError(message("stft", "no signals", f"shape {input.shape}", "(n,) or (b, n)"))
    real = kind_of(input.dtype) == "f" and (window is None or kind_of(window.dtype) == "f")
    if return_complex is None:
        if real:
            raise RuntimeError(
                message("stft", "return_complex is not said", None, "True or False")
            )  # fmt: skip
        return_complex = True
    hop, window = _sections("stft", n_fft, hop_length, win_length, window, input.dtype)
    if center:
        lines = nb.pad(lines, ((0, 0), (n_fft // 2, n_fft // 2)), _PADS.get(pad_mode, pad_mode))
    n = lines.shape[1]
    if n < n_fft:
        raise RuntimeError(message("stft", "the signal is too short", n, f"at least {n_fft}"))
    starts = nb.arange(0, n - n_fft + 1, hop)
    cut = lines[:, starts[:, None] + nb.arange(n_fft)] * window
    half = real if onesided is None else onesided
    if half and not real:
        raise RuntimeError(message("stft", "onesided of complex numbers", input.dtype, "floats"))
    made = fft.rfft(cut) if half else fft.fft(cut)
    if normalized:
        made = made * made.real.dtype.type(n_fft**-0.5)
    made = nb.swapaxes(made, 1, 2)
    made = made if input.ndim == 2 else made[0]
    return made if return_complex else nb.stack([made.real, made.imag], axis=-1)


_PADS = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@method()
@tensor_function
def istft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False,
    onesided=None, length=None, return_complex=False,
):  # fmt: skip
    """The signal whose `stft` is nearest: sections added up, by the sums of the squared windows."""
    if kind_of(input.dtype) != "c":
        raise RuntimeError(message("istft", "not complex", input.dtype, "a complex dtype"))
    spectra = input if input.ndim == 3 else input[None]
    rows = spectra.shape[1]
    half = rows != n_fft if onesided is None else onesided
    if rows != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError(
            message("istft", "another number of frequencies than n_fft has", rows,
                    n_fft // 2 + 1 if half else n_fft)
        )  # fmt: skip
    hop, window = _sections("istft", n_fft, hop_length, win_length, window, input.dtype)
    spectra = nb.swapaxes(spectra, 1, 2)
    if normalized:
        spectra = spectra * input.real.dtype.type(n_fft**0.5)
    cut = fft.irfft(spectra, n_fft) if half else fft.ifft(spectra)
    cut = cut if return_complex or kind_of(cut.dtype) == "f" else cut.real
    count = cut.shape[1]
    n = n_fft + hop * (count - 1)
    total = nb.zeros((cut.shape[0], n), dtype=(cut * window).dtype)
    weight = nb.zeros(n, dtype=window.dtype)
    for k in range(count):
        total[:, k * hop : k * hop + n_fft] += cut[:, k] * window
        weight[k * hop : k * hop + n_fft] += window * window
    first = n_fft // 2 if center else 0
    last = first + length if length is not None else n - first
    total, weight = total[:, first:last], weight[first:last]
    if bool(nb.any(nb.abs(nb.stop_gradient(weight)) < 1e-11)):
        raise RuntimeError(
            message("istft", "windows leave elements out", "a sum of squared windows of zero",
                    "windows that overlap")
        )  # fmt: skip
    made = total / weight
    if length is not None and made.shape[1] < length:
        made = nb.pad(made, ((0, 0), (0, length - made.shape[1])))
    return made if input.ndim == 3 else made[0]
