"""A name that is None at first is compared before the first pass knows of its value."""


def f(n):
    o = None
    for i in range(n):
        if i == 2:
            o = 0 < o < 5
        elif i == 1:
            o = n > 3
    return o


def arguments():
    return (5,)
