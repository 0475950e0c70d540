"""seed 20109 of grammar 4: a list of tuples that a loop returned ended the process."""


def f(a0):
    v11 = [(1, 2.0), (4, -3.0)]
    for _ in v11:
        if a0:
            return (v11,)
    return (v11,)


def arguments():
    return (1,)
