"""seed 20491: a negative number to a fractional power is complex, which no float holds."""


def f(a0):
    v8 = a0**0.5
    return v8


def arguments():
    return (-1,)
