"""Physics and numerical methods."""

import numpy as np

print("-- projectile with drag")
g, k, dt = 9.81, 0.05, 0.01
position, velocity = np.zeros(2), np.array([20.0, 15.0])
track = [position.copy()]
while position[1] >= 0:
    speed = np.linalg.norm(velocity)
    velocity = velocity + dt * (np.array([0, -g]) - k * speed * velocity)
    position = position + dt * velocity
    track.append(position.copy())
track = np.array(track)
print(track.shape, track[-1], track[:, 1].max(), track[:, 1].argmax())

print("-- Runge and Kutta on the Lorenz system")


def lorenz(s, sigma=10.0, rho=28.0, beta=8 / 3):
    x, y, z = s
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


s, h = np.array([1.0, 1.0, 1.0]), 0.01
for _ in range(100):
    k1 = lorenz(s)
    k2 = lorenz(s + h / 2 * k1)
    k3 = lorenz(s + h / 2 * k2)
    k4 = lorenz(s + h * k3)
    s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
print(s)

print("-- heat in a rod and on a plate")
u = np.zeros(21)
u[10] = 1.0
for _ in range(50):
    u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
print(u.round(10), u.sum().round(12))
plate = np.zeros((8, 8))
plate[0] = 100
step = 0
while step < 200:
    new = plate.copy()
    new[1:-1, 1:-1] = 0.25 * (
        plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    )
    change = np.abs(new - plate).max()
    step += 1
    plate = new
    if change < 1e-3:
        break
print(step, change, plate.round(3))

print("-- spectrum of a signal")
t = np.arange(0, 1, 1 / 128)
signal = np.sin(2 * np.pi * 8 * t) + 0.5 * np.cos(2 * np.pi * 21 * t)
spectrum = np.fft.rfft(signal)
frequencies = np.fft.rfftfreq(t.size, 1 / 128)
strength = 2 * np.abs(spectrum) / t.size
print(frequencies[np.argsort(strength)[-2:]], strength.max().round(12))
spectrum[frequencies > 15] = 0
print(np.allclose(np.fft.irfft(spectrum), np.sin(2 * np.pi * 8 * t)), np.hanning(5), np.sinc(0.5))
print(np.fft.fftshift(np.fft.fftfreq(6)), np.abs(np.fft.fft2(np.eye(4))).round(12))

print("-- pendulum, phase and energy")
theta, omega = 0.5, 0.0
energies = np.empty(1000)
for n in range(1000):
    omega -= 0.01 * np.sin(theta)
    theta += 0.01 * omega
    energies[n] = 0.5 * omega**2 - np.cos(theta)
print(theta, omega, energies.min(), energies.max(), energies.std().round(12))

print("-- forces between charges")
places = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
charges = np.array([1.0, -1, 2, 1])
away = places[:, None, :] - places[None, :, :]
r = np.sqrt((away**2).sum(-1))
np.fill_diagonal(r, np.inf)
force = (charges[:, None, None] * charges[None, :, None] * away / r[..., None] ** 3).sum(axis=1)
print(force, force.sum(axis=0), (0.5 * (np.outer(charges, charges) / r).sum()).round(12))

print("-- roots by Newton, integrals by rules")
x = 1.0
for _ in range(6):
    x -= (x**3 - 2) / (3 * x**2)
print(x, np.cbrt(2.0), x - 2 ** (1 / 3))
grid = np.linspace(0, np.pi, 101)
print(
    np.trapezoid(np.sin(grid), grid),
    (np.sin(grid)[:-1:2] + 4 * np.sin(grid)[1::2] + np.sin(grid)[2::2]).sum()
    * (grid[1] - grid[0])
    / 3,
)
print(
    np.gradient(grid**2, grid)[:3],
    np.interp(1.234, grid, np.cos(grid)),
    np.diff(np.sin(grid), 2)[:2],
)
nodes, weights = np.polynomial.legendre.leggauss(5)
print((weights * np.exp(nodes)).sum(), nodes.round(12))

print("-- particle in a box, by a matrix")
n = 60
h = 1 / (n + 1)
matrix = (
    np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
) / h**2
levels = np.linalg.eigvalsh(matrix)[:4]
print(levels.round(6), (np.arange(1, 5) * np.pi).round(6) ** 2)

print("-- game of life, sand, automata")
life = np.zeros((7, 7), dtype=int)
life[[1, 2, 3, 3, 3], [2, 3, 1, 2, 3]] = 1
for _ in range(4):
    around = sum(
        np.roll(life, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
    )
    life = ((around == 3) | ((life == 1) & (around == 2))).astype(int)
print(life)
row = np.zeros(31, dtype=np.uint8)
row[15] = 1
rule = np.unpackbits(np.array([90], dtype=np.uint8))[::-1]
for _ in range(6):
    print("".join(np.where(row, "#", ".")))
    row = rule[4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)]

print("-- complex waves and rotations")
z = np.exp(1j * np.linspace(0, np.pi, 5))
print(z.round(12), np.angle(z), z.conj()[1].round(12), np.abs(z).sum(), (z * 1j).real.round(12))
a = np.radians(30)
turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
print(
    turn @ [1, 0],
    np.linalg.det(turn),
    np.linalg.matrix_power(turn, 12).round(12),
    np.cross([1, 0, 0], [0, 1, 0]),
)
c = np.linspace(-2, 1, 13) + 1j * np.linspace(-1.2, 1.2, 9)[:, None]
w, counts = np.zeros_like(c), np.zeros(c.shape, int)
for _ in range(30):
    live = np.abs(w) <= 2
    w[live] = w[live] ** 2 + c[live]
    counts += live
print(counts)
