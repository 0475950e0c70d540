"""A dam breaks: water in one dimension, and the time when the wave arrives.

Class: fused.
Method: finite volumes with Rusanov's flux and steps by the CFL condition; LeVeque, Finite Volume
Methods, 13.
"""

import numpy as np

SIZES = {"small": (200, 70), "middle": (10000, 450), "large": (300000, 220)}


def setup(size, rng):
    n, steps = size
    h = np.where(np.arange(n) < n // 2, 2.0, 1.0) + 0.01 * rng.random(n)
    return h, np.zeros(n), 1.0 / n, steps


def run(h0, hu0, dx, steps):
    h, hu, t = h0, hu0, 0.0
    for _ in range(steps):
        u = hu / h
        speed = np.abs(u) + np.sqrt(9.81 * h)
        dt = 0.45 * dx / speed.max()
        flux = hu * u + 0.5 * 9.81 * h * h
        a = np.maximum(speed[:-1], speed[1:])
        mass = 0.5 * (hu[:-1] + hu[1:]) - 0.5 * a * (h[1:] - h[:-1])
        momentum = 0.5 * (flux[:-1] + flux[1:]) - 0.5 * a * (hu[1:] - hu[:-1])
        h, hu = h.copy(), hu.copy()
        h[1:-1] -= dt / dx * (mass[1:] - mass[:-1])
        hu[1:-1] -= dt / dx * (momentum[1:] - momentum[:-1])
        t = t + dt
    return h, hu, t
