"""Five planets by a symplectic integrator, their coordinates in lists of floats."""

import math

PI = 3.141592653589793
SOLAR_MASS = 4 * PI * PI
DAYS = 365.24
X = [0.0, 4.84143144246472090, 8.34336671824457987, 12.894369562139131, 15.379697114850917]
Y = [0.0, -1.16032004402742839, 4.12479856412430479, -15.111151401698631, -25.919314609987964]
Z = [0.0, -0.103622044471123109, -0.403523417114321381, -0.22330757889265573, 0.17925877295037118]
VX = [0.0, 0.00166007664274403694, -0.00276742510726411, 0.0029646013756476162, 0.002680677724903893]
VY = [0.0, 0.00769901118419740425, 0.00499852801234917238, 0.0023784717395948095, 0.0016282417003824]
VZ = [0.0, -0.0000690460016972, 0.0000230417297573763, -0.00002965895685402, -0.000095159225451]
MASS = [1.0, 0.000954791938424326609, 0.000285885980666130812, 0.0000436624404335, 0.0000515138902]


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
advance(400_000, 0.01, *state)
print(f"{energy(*state):.9f}")
