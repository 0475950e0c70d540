KERNEL = True
# Complex numbers with NaN are ordered as arrays of them.
import numpy as np


def f():
    v2 = KERNEL - np.complex128(KERNEL)
    v3 = KERNEL / v2 > KERNEL
    return v3


def arguments():
    return ()
