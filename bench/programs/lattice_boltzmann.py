"""Flow around a cylinder.

Class: fused.
Method: lattice Boltzmann, nine velocities, one relaxation time (BGK), bounce-back at walls;
Krueger et al., 2017.
"""

import numpy as np

SIZES = {"small": (24, 12, 9), "middle": (120, 50, 35), "large": (600, 300, 45)}

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


def setup(size, rng):
    nx, ny, steps = size
    x, y = np.arange(nx)[:, None], np.arange(ny)[None, :]
    wall = (x - nx / 4) ** 2 + (y - ny / 2) ** 2 < (ny / 6) ** 2
    f = WEIGHTS[:, None, None] * np.ones((9, nx, ny)) * (1.0 + 0.01 * rng.random((9, nx, ny)))
    return f, wall, steps


def equilibrium(rho, ux, uy):
    along = CX[:, None, None] * ux + CY[:, None, None] * uy
    square = 1.5 * (ux**2 + uy**2)
    return WEIGHTS[:, None, None] * rho * (1.0 + 3.0 * along + 4.5 * along**2 - square)


def run(start, wall, steps):
    f = start.copy()
    for _ in range(steps):
        rho = f.sum(axis=0)
        ux = (CX[:, None, None] * f).sum(axis=0) / rho
        uy = (CY[:, None, None] * f).sum(axis=0) / rho
        ux[0] = 0.05
        out = f - (f - equilibrium(rho, ux, uy)) / 0.6
        out[:, wall] = f[OPPOSITE][:, wall]
        for i in range(9):
            f[i] = np.roll(out[i], (CX[i], CY[i]), axis=(0, 1))
    return f
