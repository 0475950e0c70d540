"""seed 477973: an infinity outweighs NaN in math.dist, whose squares may leave float64."""
import math


def f(a0, a1):
    v1 = math.inf * a1
    return math.dist((a0, v1), (math.nan, 0)), math.dist((1e200, a0), (a1, 3)), math.hypot(a0, a1, a0)


def arguments():
    return (0.5, 2)
