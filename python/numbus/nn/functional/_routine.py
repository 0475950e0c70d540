"""The routine of convolutions (ops/routines.def) for one and two spatial axes."""

import numpy

from ... import _core
from ..._core import ndarray
from ...core.dtypes import is_half
from ...core.libraries import offer

_SERVED = (numpy.dtype("f4"), numpy.dtype("f8"))
FORWARD, INPUT = 0, 1


def convolved(kind, a, b, space, stride, padding, dilation, groups):
    """A convolution of `a` with weights `b`, or (INPUT) its transpose, whose result has the extents
    `space`; padding on both sides alike. None: the device, dtype or number of axes is not served.
    """
    count = len(space)
    given = a.dtype
    half = is_half(given)
    if count > 2 or not (half or a.dtype in _SERVED) or type(a) is not ndarray:
        return None
    offer("blas")
    offer("cudnn")
    one = count == 1
    lead, zero = ((1,), (0,)) if one else ((), ())
    taps = (*b.shape[:2], *lead, *b.shape[2:])
    if not _core.convolves(a, "f4" if half else given, taps, [*lead, *stride], groups):
        return None
    if half:
        a, b = a.astype("f4"), b.astype("f4")
    channels = b.shape[0] if kind == FORWARD else b.shape[1] * groups
    if one:  # a line is an image of one row
        a, b = a[:, :, None], b[:, :, None]
    shape = (a.shape[0], channels, *((1,) if one else ()), *space)
    y = _core.convolve(
        kind, a, b, list(shape), [*lead, *stride], [*zero, *padding], [*lead, *dilation], groups
    )
    if one:
        y = y[:, :, 0]
    return y.astype(given) if half else y
