"""The value of a key that comes again is dropped, and counts for the type of the values."""


def f(a, b):
    d = {a % 2: 1, 0: b, a % 1: 3}
    e = {str(a % 1): [a], "0": [b]}
    return d[0], d.get(0, 0.5), len(d), e["0"][0], len(e)


def arguments():
    return 4, 2.5
