"""Gradients against central differences of the same program run by NumPy."""

import numpy as np


def trees(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


def real_parts(v, rng):
    """A random direction of the shape and type of `v`."""
    d = rng.standard_normal(v.shape)
    return d + 1j * rng.standard_normal(v.shape) if v.dtype.kind == "c" else d


def value(program, args):
    return float(program(np, *[a.copy() for a in args]))


def slope(program, args, directions, h):
    """The derivative of the program's value along directions, by differences of fourth order."""

    def at(shift):
        return value(program, [a + shift * h * d for a, d in zip(args, directions, strict=True)])

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def product(gradient, direction):
    """The derivative along a direction that a gradient says; of x + iy it is d/dx + i d/dy."""
    return float(np.sum(np.real(np.conj(np.asarray(gradient)) * direction)))


def check(xp, program, *args, rtol=1e-6, h=2.0**-18, seed=0):
    """Compares the gradient along two random directions; returns the gradients."""
    args = [np.asarray(a) for a in args]
    numbers = tuple(range(len(args)))
    given = [xp.array(a) for a in args]
    got, found = xp.value_and_grad(lambda *x: program(xp, *x), numbers)(*given)
    want = value(program, args)
    assert abs(float(got) - want) <= 1e-9 * max(1, abs(want)), (float(got), want)
    for a, before, g in zip(given, args, found, strict=True):
        assert np.array_equal(np.asarray(a), before), "the arguments stay as they are"
        assert g.shape == before.shape and g.dtype == before.dtype
    rng = np.random.default_rng(seed)
    for _ in range(2):
        directions = [real_parts(a, rng) for a in args]
        by_gradient = sum([product(g, d) for g, d in zip(found, directions, strict=True)])
        by_difference = slope(program, args, directions, h)
        scale = max(1.0, abs(by_difference), abs(want))
        assert abs(by_gradient - by_difference) <= rtol * scale, (by_gradient, by_difference)
    return found
