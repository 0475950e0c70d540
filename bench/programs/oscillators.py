"""Many coupled oscillators that fall into step.

Class: fused.
Method: Kuramoto's model in the mean field, fourth-order Runge-Kutta.
"""

import numpy as np

SIZES = {"small": (500, 12), "middle": (6000, 47), "large": (100000, 30)}


def setup(size, rng):
    n, steps = size
    return rng.uniform(0.0, 2.0 * np.pi, n), 0.5 * rng.standard_normal(n), 2.0, steps


def slope(phase, own, coupling):
    c, s = np.cos(phase), np.sin(phase)
    return own + coupling * (s.mean() * c - c.mean() * s)


def run(start, own, coupling, steps):
    phase, h = start, 0.02
    order = np.empty(steps)
    for step in range(steps):
        k1 = slope(phase, own, coupling)
        k2 = slope(phase + 0.5 * h * k1, own, coupling)
        k3 = slope(phase + 0.5 * h * k2, own, coupling)
        k4 = slope(phase + h * k3, own, coupling)
        phase = phase + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        order[step] = np.sqrt(np.cos(phase).mean() ** 2 + np.sin(phase).mean() ** 2)
    return phase, order
