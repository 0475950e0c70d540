"""seed 610836: an item of np.array that its dtype does not hold wraps, as what is stored does."""

import numpy as np


def f(a0, a1):
    total = 0
    for i3 in [a0, a0, False]:
        v2 = 0
        v4 = np.array([i3, v2 - True], dtype=np.int64)
        total += v4[1]
    return v4, total, np.array([a1, 300], dtype=np.int8), np.array([a0, 1], dtype=np.uint8)


def arguments():
    return np.uint64(2**64 - 3), np.int64(-129)
