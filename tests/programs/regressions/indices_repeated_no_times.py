"""seed 481949: an index outside is an error also where what it reads is repeated no times."""
import numpy as np


def f(a0, a1):
    v1 = np.arange(2)[np.array([1, a1])]
    v2 = a0[np.array([0, a1])][:, None] * np.zeros((1, a1))
    return v1, v2, np.zeros(a1)[np.array([a1])] // a0[:a1]


def arguments():
    return (np.ones(3), 0)
