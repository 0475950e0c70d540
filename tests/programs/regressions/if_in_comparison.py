"""seed 10311: an if in the middle of a comparison has a type of its own."""


def f(a0):
    v9 = a0
    return a0 > v9 != (v9 if v9 else a0)


def arguments():
    return (0,)
