"""int() of NaN raises, after what came before it."""


def f(a0, a1):
    for i in range(3):
        a1[i] = int(a0[i])
    return a1


def arguments():
    import numpy as np

    return (np.array([1.5, np.nan, 2.0]), np.zeros(3, np.int64))
