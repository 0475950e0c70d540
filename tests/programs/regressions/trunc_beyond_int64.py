"""seed 10167: a float that int64 cannot hold is no int."""

import math


def f():
    v3 = math.sinh(157)
    return math.trunc(v3)


def arguments():
    return ()
