"""Heat diffusion with a source, in plain NumPy: Jacobi steps written with slices.

python examples/heat.py --size 256 --steps 1000       runs on NumPy
python -m numbus examples/heat.py --demo              on Numbus, beside NumPy; draws heat.png
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np


def initial(n):
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


def step(p, f):
    """One Jacobi step: the new field and the norm of the change."""
    q = p.copy()
    q[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f[1:-1, 1:-1])
    return q, np.linalg.norm(q - p)


def solve(n, steps, read_each=False):
    """The field after `steps` steps, the last change, and the steps per second."""
    p, f = initial(n)
    warm, change = step(p, f)
    step(warm, f)
    start = time.perf_counter()
    for _ in range(steps):
        p, change = step(p, f)
        if read_each:
            float(change)
    change = float(change)
    return p, change, steps / (time.perf_counter() - start)


def compare(n, steps, read_each, file):
    """Runs this file under plain Python and real NumPy: its field, last change and speed."""
    command = [sys.executable, __file__, "--size", str(n), "--steps", str(steps), "--out", file]
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


def picture(field, file):
    """The field as an image: a small colour map from dark blue over red to yellow."""
    try:
        from PIL import Image
    except ImportError:
        print("no picture: Pillow is not installed (pip install pillow)")
        return
    low, high = field.min(), field.max()
    t = (field - low) / (high - low)
    stops = np.array([[10, 8, 40], [90, 20, 110], [205, 55, 75], [250, 150, 45], [252, 250, 190]])
    place = t * (len(stops) - 1)
    left = np.minimum(place.astype(int), len(stops) - 2)
    blend = (place - left)[:, :, None]
    colours = stops[left] * (1 - blend) + stops[left + 1] * blend
    size = (field.shape[1], field.shape[0])
    Image.frombytes("RGB", size, colours.astype(np.uint8).tobytes()).save(file)
    print(f"wrote {file}")


def demo(picture_file):
    """Speeds beside NumPy at two sizes, and a picture of the result."""
    print(f"heat diffusion, Jacobi steps with a source and the norm of the change, on {device()}")
    for n, steps, read_each in ((256, 1000, True), (2048, 40, False)):
        field, change, speed = solve(n, steps, read_each)
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
    picture(solve(320, 6000)[0], picture_file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--read-each", action="store_true", help="read the norm at every step")
    parser.add_argument("--out", help="save the field as .npy")
    parser.add_argument("--demo", action="store_true", help="compare with NumPy and draw heat.png")
    parser.add_argument("--picture", default="heat.png")
    options = parser.parse_args()
    if options.demo:
        demo(options.picture)
        return
    field, change, speed = solve(options.size, options.steps, options.read_each)
    if options.out:
        np.save(options.out, field)
    print(f"{change!r} {speed:.2f} steps/s")


if __name__ == "__main__":
    main()
