"""Five planets by a symplectic integrator, their coordinates in lists of floats."""

import math

PI = 3.141592653589793
SOLAR_MASS = 4 * PI * PI
DAYS = 365.24
X = [0.0, 4.841431442464721, 8.34336671824458, 12.894369562139131, 15.379697114850917]
Y = [0.0, -1.1603200440274284, 4.124798564124305, -15.111151401698631, -25.919314609987964]
Z = [0.0, -0.10362204447112311, -0.4035234171143214, -0.22330757889265573, 0.17925877295037118]
VX = [0.0, 0.001660076642744037, -0.00276742510726411, 0.0029646013756476, 0.00268067772490390]
VY = [0.0, 0.007699011184197404, 0.004998528012349172, 0.0023784717395948, 0.0016282417003824]
VZ = [0.0, -6.90460016972063e-5, 2.30417297573763e-5, -2.96589568540237e-5, -9.5159225451971e-5]
MASS = [1.0, 0.0009547919384243266, 0.0002858859806661308, 4.366244043351e-5, 5.15138902046e-5]


def advance(steps, dt, x, y, z, vx, vy, vz, mass):
    n = len(x)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = x[i] - x[j]
                dy = y[i] - y[j]
                dz = z[i] - z[j]
                squared = dx * dx + dy * dy + dz * dz
                magnitude = dt / (squared * math.sqrt(squared))
                vx[i] -= dx * mass[j] * magnitude
                vy[i] -= dy * mass[j] * magnitude
                vz[i] -= dz * mass[j] * magnitude
                vx[j] += dx * mass[i] * magnitude
                vy[j] += dy * mass[i] * magnitude
                vz[j] += dz * mass[i] * magnitude
        for i in range(n):
            x[i] += dt * vx[i]
            y[i] += dt * vy[i]
            z[i] += dt * vz[i]


def energy(x, y, z, vx, vy, vz, mass):
    e = 0.0
    for i in range(len(x)):
        e += 0.5 * mass[i] * (vx[i] ** 2 + vy[i] ** 2 + vz[i] ** 2)
        for j in range(i + 1, len(x)):
            dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
            e -= mass[i] * mass[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return e


velocities = [[v * DAYS for v in vs] for vs in (VX, VY, VZ)]
masses = [m * SOLAR_MASS for m in MASS]
for _axis in velocities:
    momentum = 0.0
    for _k in range(5):
        momentum += _axis[_k] * masses[_k]
    _axis[0] = -momentum / SOLAR_MASS
state = (X, Y, Z, *velocities, masses)
print(f"{energy(*state):.9f}")
advance(600_000, 0.01, *state)
print(f"{energy(*state):.9f}")
