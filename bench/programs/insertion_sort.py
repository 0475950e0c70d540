"""Numbers in order, each shifted to where it belongs.

Class: loops.
Method: insertion sort; Knuth, The Art of Computer Programming, 5.2.1.
"""

import numpy as np

SIZES = {"small": 195, "middle": 1070, "large": 6200}


def setup(n, rng):
    return (rng.random(n),)


def run(values):
    a = np.copy(values)
    for i in range(1, a.size):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a
