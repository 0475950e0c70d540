"""seed 620476: what a float and a float32 give together is not rounded to float32 on the way."""

import math

import numpy as np


def f(a0, a1, a2):
    v3 = math.remainder(a0, a1), math.remainder(a1, a0), math.remainder(a2, a0)
    return v3, math.log(a1, a0), math.log(a0, a2), math.fmod(a0, a1)


def arguments():
    return 0.693147180559945, np.float32(1.3), np.float16(0.4)
