"""seed 443222: a float16 from math.erf, compared; it failed on a processor with float16 arithmetic."""
import math

import numpy as np


def f(a0, a1):
    v5 = a1 * np.negative(np.arctan(a1))
    v6 = v5[:]
    v10 = math.erf(v6[(-3) % 7]) < np.tanh(isinstance(False, float)) != a0
    return v10, math.erf(v6[4]) < 0, [math.erf(v) < 0.1 for v in v6]


def arguments():
    return (6, np.array([0.5, 0.0, -2.5, -1.0, 3.25, -2.5, 0.5], dtype=np.float16))
