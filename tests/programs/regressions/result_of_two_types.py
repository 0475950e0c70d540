"""seed 32522: the returns that are not reached say of which type a result is."""


def f(a1, a2):
    if a2:
        return (a2, 3)
    return (1, 0.0 * a1)


def arguments():
    return (0, 2.0)
