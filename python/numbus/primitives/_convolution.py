"""Numbers as a GPU's tensor cores take them, for the kernels of convolutions."""

import numpy as np

F32, U32 = np.float32, np.uint32
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
