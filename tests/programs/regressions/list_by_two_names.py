"""A list of tuples that another name had got out of a tuple was copied where that name changed it."""


def f(x):
    v10 = [(0, x)]
    v14, v15 = (v10, 1)
    v14[0] = (-1, x)
    v14 += [(2, x)]
    return v10, v15


def arguments():
    return (0.5,)
