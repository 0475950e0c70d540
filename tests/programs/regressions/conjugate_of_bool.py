"""seed 27191: the conjugate of a bool is a bool."""
import numpy as np


def f(a3):
    v1 = np.uint64(3)
    for i18 in a3:
        v1 = v1 ^ i18.conjugate()
    return v1, a3.conj()


def arguments():
    return (np.array([True, False, True]),)
