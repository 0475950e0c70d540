"""One line slid along another: convolve and correlate."""

from ..core.dtypes import is_half
from ..core.errors import no_flags, one_int
from . import names as np
from .names import compiled as _compiled
from .registry import Any, Array, function
from .strides import sliding_window_view

__all__ = []

_BLOCK = 1024  # sums that a compiled function keeps in the cache
# Elements of lines of the host up to which NumPy answers: as quick as our kernel on two cores,
# which takes ten times as long where it has not been compiled yet.
_FEW = 1 << 20


@function("np.convolve", few=_FEW)
def convolve(a: Array, v: Array, mode: Any = "full"):
    """Discrete convolution of two lines, in their common dtype.

    mode: 'full' (n + m - 1 sums), 'same' (as many as the longer line has elements) or 'valid'
    (where the lines overlap completely), also 2, 1 and 0. Raises ValueError for lines without
    elements, for more axes than one and for other modes.
    """
    x, w = _line("convolve", a), _line("convolve", v)
    if x.shape[0] < w.shape[0]:
        return _slid("convolve", w, x[::-1], mode, False)
    return _slid("convolve", x, w[::-1], mode, False)


@function("np.correlate", few=_FEW)
def correlate(a: Array, v: Array, mode: Any = "valid"):
    """Cross-correlation of two lines: sums of `a[k + n] * conj(v[n])`.

    mode and errors: those of convolve().
    """
    if a.ndim == 0 or v.ndim == 0:
        raise ValueError("[correlate] operands; got a number; expected lines")
    x, w = _line("correlate", a), _line("correlate", v)
    if w.dtype.kind == "c":
        w = np.conjugate(w)
    if x.shape[0] < w.shape[0]:
        return _slid("correlate", w[::-1], x[::-1], mode, True)
    return _slid("correlate", x, w, mode, False)


def _line(op, a):
    if a.ndim > 1:
        raise ValueError(f"[{op}] operands; got {a.ndim} axes; expected one")
    line = a.ravel()
    if line.shape[0] == 0:
        raise ValueError(f"[{op}] operands; got one without elements; expected some")
    return line


def _slid(op, x, w, mode, turned):
    """The sums of products of `w`, which is not longer, and what of `x` lies below it.

    turned: both lines run backwards, as does the result.
    """
    n, m = x.shape[0], w.shape[0]
    if not _compiled:
        no_flags(op, mode)
        if not isinstance(mode, str):
            mode = one_int(op, "mode", mode)
    elif isinstance(mode, (float, complex, np.floating)):
        raise TypeError(f"[{op}] mode is no word; got a float; expected 'full', 'same' or 'valid'")
    if mode == "full" or mode == 2:
        before, length = m - 1, n + m - 1
    elif mode == "same" or mode == 1:
        before, length = (m - 1 - m // 2 if turned else m // 2), n
    elif mode == "valid" or mode == 0:
        before, length = 0, n - m + 1
    else:
        raise ValueError(f"[{op}] mode not known; expected 'full', 'same' or 'valid'")
    kind = np.result_type(x.dtype, w.dtype)
    if is_half(kind):  # which NumPy adds up in float32
        sums = _sums(x.astype(np.float32), w.astype(np.float32), before, length)
        return sums.astype(kind)
    return _sums(x.astype(kind), w.astype(kind), before, length)


def _sums(x, w, before, length):
    """As many sums; `w` begins so many elements before `x`."""
    n, m = x.shape[0], w.shape[0]
    out = np.empty(length, x.dtype)
    if _compiled:
        return _sums_by_blocks(x, w, before, out)
    whole = n - m + 1
    after = length - whole - before
    out[before : before + whole] = _overlap(x, w, None)
    # Beyond the ends nothing is added: not zeros, which infinities would make NaN.
    if before:
        out[:before] = _edge(x[: m - 1], before, 0, w)
    if after:
        out[before + whole :] = _edge(x[whole:], 0, after, w)
    return out


def _edge(x, before, after, w):
    """Sums where as many elements of `w` lie before or after the line."""
    n = x.shape[0]
    longer, own = np.zeros(before + n + after, x.dtype), np.zeros(before + n + after, np.bool_)
    longer[before : before + n] = x
    own[before : before + n] = True
    return _overlap(longer, w, own)


def _overlap(x, w, own):
    """Sums over all of `w`, below each run of as many elements of `x`."""
    products = sliding_window_view(x, w.shape[0]) * w
    if own is not None:
        products = np.where(sliding_window_view(own, w.shape[0]), products, x.dtype.type(0))
    return np.any(products, 1) if x.dtype == np.bool_ else np.sum(products, 1, x.dtype)


def _sums_by_blocks(x, w, before, out):
    n, length = x.shape[0], out.shape[0]
    for first in range(0, length, _BLOCK):
        last = min(first + _BLOCK, length)
        out[first:last] = x.dtype.type(0)
        for k in range(w.shape[0]):
            by = w[k]
            for i in range(max(first, before - k), min(last, n + before - k)):
                out[i] += x[i + k - before] * by
    return out
