"""Heat diffusion with a source, by arrays: Jacobi steps written with slices.

python examples/heat.py                               one source in the middle, until it rests
python examples/heat.py --module cupy
python examples/heat.py --steps 1000 --size 512       three sources, so many steps
python -m numbus examples/heat.py --demo              on Numbus, beside NumPy; draws heat.png
"""

import os
import subprocess
import sys
import time

import common
import numpy as np


def middle(n):
    """A cold plate and its source term: one point in the middle."""
    f = np.zeros((n, n))
    f[n // 2, n // 2] = 1.0
    return np.zeros((n, n)), f


def spots(n):
    """A warm plate with two hot edges, and a source term of three spots."""
    # Warm rather than zero: denormal numbers at a spreading front would slow NumPy down.
    p = np.full((n, n), 0.1)
    p[0, :] = 1.0
    p[:, -1] = 0.5
    y, x = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    f = np.zeros((n, n))
    for strength, cy, cx in ((1.0, 0.3, 0.3), (-0.6, 0.7, 0.4), (0.8, 0.6, 0.75)):
        f += strength * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 0.004)
    return p, f * (1500.0 / n**2)


def step(xp, p, f):
    """One Jacobi step: the new field and the norm of the change."""
    q = p.copy()
    q[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f[1:-1, 1:-1])
    return q, xp.linalg.norm(q - p)


def converge(xp, n, tolerance):
    """The field with a source in the middle once a step changes it by no more than the tolerance;
    the number of steps that takes, and the steps per second.
    """
    p, f = (xp.asarray(a) for a in middle(n))
    step(xp, p, f)
    start = time.perf_counter()
    steps, change = 0, np.inf
    while change > tolerance:
        p, change = step(xp, p, f)
        change = float(change)
        steps += 1
    return p, steps, steps / (time.perf_counter() - start)


def solve(xp, n, steps, read_each=False):
    """The field with three sources after `steps` steps, the last change, the steps per second."""
    p, f = (xp.asarray(a) for a in spots(n))
    warm, change = step(xp, p, f)
    step(xp, warm, f)
    start = time.perf_counter()
    for _ in range(steps):
        p, change = step(xp, p, f)
        if read_each:
            float(change)
    change = float(change)
    return p, change, steps / (time.perf_counter() - start)


def compare(n, steps, read_each, file):
    """Runs this file under plain Python and real NumPy: its field, last change and speed."""
    command = [sys.executable, __file__, "--size", str(n), "--steps", str(steps), "--save", file]
    command += ["--picture", ""]
    if read_each:
        command.append("--read-each")
    # The norm is NumPy's only use of BLAS; on a busy machine its threads wait for each other.
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
    change, speed = (float(word) for word in output.split()[:2])
    return np.load(file), change, speed


def device():
    """What the array module runs on; NumPy itself does not say."""
    try:
        info = np.device_info()
    except AttributeError:
        return "CPU (NumPy)"
    return info["default"]


def demo(picture_file):
    """Speeds beside NumPy at two sizes, and a picture of the result."""
    print(f"heat diffusion, Jacobi steps with a source and the norm of the change, on {device()}")
    for n, steps, read_each in ((256, 1000, True), (2048, 40, False)):
        field, change, speed = solve(np, n, steps, read_each)
        peer_field, peer_change, peer_speed = compare(n, steps, read_each, "/tmp/heat_numpy.npy")
        each = ", norm read each step" if read_each else ""
        print(
            f"{n} x {n}{each}: {speed:,.0f} steps/s here, {peer_speed:,.0f} steps/s NumPy: ", end=""
        )
        print(f"{speed / peer_speed:.1f}x")
        worst = float(np.abs(field - peer_field).max())
        off = abs(change - peer_change)
        print(f"  largest difference of the fields {worst:.1e}, of the norms {off:.1e}")
        if worst > 1e-12:
            raise SystemExit("the fields differ")
    common.colour_map(solve(np, 320, 6000)[0], picture_file)


def main():
    parser = common.array_options(__doc__, 256, "points a side")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, help="three sources, and so many steps")
    parser.add_argument("--read-each", action="store_true", help="with --steps: read each norm")
    parser.add_argument("--demo", action="store_true", help="compare with NumPy, draw the result")
    chosen = parser.parse_args()
    if chosen.demo:
        demo(chosen.picture)
        return
    xp = common.array_module(chosen.module)
    if chosen.steps is None:
        field, steps, speed = converge(xp, chosen.size, chosen.tolerance)
        print(f"{chosen.size}²: at rest after {steps} steps, {speed:.0f} steps/s")
    else:
        field, change, speed = solve(xp, chosen.size, chosen.steps, chosen.read_each)
        print(f"{change!r} {speed:.2f} steps/s")
    field = common.host(field)
    common.save(chosen, field)
    # A single source is so much the hottest place that the root shows more.
    common.colour_map(np.sqrt(field) if chosen.steps is None else field, chosen.picture)


if __name__ == "__main__":
    main()
