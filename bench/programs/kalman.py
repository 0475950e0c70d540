"""A Kalman filter that follows a point with constant velocity from noisy positions.

Class: small.
Method: predict and correct, with matrices of 4 x 4; Kalman, 1960.
"""

import numpy as np

SIZES = {"small": 68, "middle": 2000, "large": 65000}


def setup(steps, rng):
    velocity = np.array([1.0, 0.5]) + 0.1 * rng.standard_normal((steps, 2))
    track = np.cumsum(0.1 * velocity, axis=0)
    return (track + 0.5 * rng.standard_normal((steps, 2)),)


def run(observed):
    dt = 0.1
    f = np.eye(4)
    f[0, 2] = f[1, 3] = dt
    h = np.zeros((2, 4))
    h[0, 0] = h[1, 1] = 1.0
    q = 0.01 * np.eye(4)
    r = 0.25 * np.eye(2)
    x = np.zeros(4)
    p = np.eye(4)
    track = np.empty((len(observed), 4))
    for step in range(len(observed)):
        x = f @ x
        p = f @ p @ f.T + q
        gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
        x = x + gain @ (observed[step] - h @ x)
        p = (np.eye(4) - gain @ h) @ p
        track[step] = x
    return track, p
