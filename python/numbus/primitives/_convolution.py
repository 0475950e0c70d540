"""What kernels of convolutions share: numbers as a GPU's tensor cores take them, and taps."""

import numpy as np

F32, I32, U32 = np.float32, np.int32, np.uint32
THREADS = 128  # of a block
HALF = U32(0x1000)  # of the last bit that TF32 has
KEPT = U32(0xFFFFE000)
ABSOLUTE, INFINITY, NAN = U32(0x7FFFFFFF), U32(0x7F800000), U32(0x7FC00000)


def kept(x):
    """To TF32's 11 bits, the nearest; of what `settled` has seen."""
    return ((x.view(U32) + HALF) & KEPT).view(F32)


def lower(x):
    """The same for tensor cores alone, which cut off the other bits."""
    return (x.view(U32) + HALF).view(F32)


def settled(x):
    """The number, or a NaN whose bits can be rounded: of those of a GPU all are set."""
    bits = x.view(U32)
    return (NAN if bits & ABSOLUTE > INFINITY else bits).view(F32)


def of_tap(tap, wide, kw, dh, dw):
    """How far a tap's element lies from the first one's, in an image of lines of `wide` numbers."""
    return tap // kw * dh * wide + tap % kw * dw


def taps_within(y, x, h, w, kh, kw, dh, dw):
    """A bit for each tap whose element lies in the image, of an upper left one at (y, x)."""
    rows, inside = U32(0), U32(0)
    for q in range(kw):
        if x + I32(q) * dw >= 0 and x + I32(q) * dw < w:
            rows |= U32(1) << U32(q)
    for r in range(kh):
        if y + I32(r) * dh >= 0 and y + I32(r) * dh < h:
            inside |= rows << U32(r * kw)
    return inside
