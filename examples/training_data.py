"""Pictures to learn from, made by a generator: drawn digits in MNIST's file format, coloured shapes
in CIFAR-10's. The same seed gives the same pictures, everywhere.

python examples/training_data.py FOLDER       60,000 + 10,000 digits, 50,000 + 10,000 shapes
"""

import os
import sys

import numpy as np

# Lines through points, from left to right and top to bottom of a square from -1 to 1.
STROKES = {
    0: [(0, -1), (0.5, -0.7), (0.6, 0), (0.5, 0.7), (0, 1), (-0.5, 0.7), (-0.6, 0), (-0.5, -0.7),
        (0, -1)],
    1: [(-0.35, -0.6), (0.1, -1), (0.1, 1)],
    2: [(-0.55, -0.6), (-0.2, -1), (0.3, -0.95), (0.5, -0.5), (-0.6, 1), (0.6, 1)],
    3: [(-0.5, -0.9), (0.2, -1), (0.5, -0.5), (-0.1, -0.1), (0.55, 0.4), (0.2, 1), (-0.55, 0.85)],
    4: [(0.3, 1), (0.3, -1), (-0.6, 0.35), (0.65, 0.35)],
    5: [(0.5, -1), (-0.4, -1), (-0.5, -0.1), (0.2, -0.2), (0.55, 0.3), (0.2, 0.95), (-0.55, 0.9)],
    6: [(0.4, -1), (-0.3, -0.4), (-0.55, 0.4), (-0.1, 1), (0.45, 0.7), (0.4, 0.15), (-0.4, 0.2)],
    7: [(-0.55, -1), (0.55, -1), (-0.1, 1)],
    8: [(0, -0.05), (-0.45, -0.5), (0, -1), (0.45, -0.5), (0, -0.05), (-0.55, 0.5), (0, 1),
        (0.55, 0.5), (0, -0.05)],
    9: [(0.45, -0.4), (-0.1, 0), (-0.5, -0.4), (-0.1, -1), (0.45, -0.7), (0.45, -0.4), (0.2, 1)],
}  # fmt: skip
SHAPES = (
    "disc", "square", "triangle", "ring", "cross", "diamond", "half disc", "two discs", "bar",
    "frame",
)  # fmt: skip


def drawn(digit, count, random):
    """That many pictures of a digit, (count, 28, 28) of bytes: turned, stretched, moved, noisy."""
    turn, slant = random.uniform(-0.25, 0.25, count), random.uniform(-0.25, 0.25, count)
    wide, high = random.uniform(6, 9.5, count), random.uniform(7, 10, count)
    middle = random.uniform(12, 16, (2, count))
    thick = random.uniform(0.9, 1.9, count)[:, None, None]
    y, x = np.arange(28.0)[:, None], np.arange(28.0)
    nearest = np.full((count, 28, 28), 99.0)
    stroke = STROKES[digit]
    points = np.array(stroke) + random.uniform(-0.12, 0.12, (count, len(stroke), 2))
    u, v = points[..., 0] * wide[:, None], points[..., 1] * high[:, None]
    u = u - slant[:, None] * v
    c, s = np.cos(turn)[:, None], np.sin(turn)[:, None]
    px, py = middle[0][:, None] + c * u - s * v, middle[1][:, None] + s * u + c * v
    for k in range(len(stroke) - 1):
        x0, y0 = px[:, k, None, None], py[:, k, None, None]
        dx, dy = px[:, k + 1, None, None] - x0, py[:, k + 1, None, None] - y0
        part = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0, 1)
        far = (x - x0 - part * dx) ** 2 + (y - y0 - part * dy) ** 2
        nearest = np.minimum(nearest, far)
    ink = np.clip(thick + 0.5 - np.sqrt(nearest), 0, 1) * random.uniform(0.6, 1, (count, 1, 1))
    noisy = ink + random.normal(0, 0.12, (count, 28, 28))
    return np.rint(255 * np.clip(noisy, 0, 1)).astype(np.uint8)


def digits(count, seed):
    """(pictures, classes): that many digits in random order, about as many of each."""
    random = np.random.RandomState(seed)
    classes = random.randint(0, 10, count)
    pictures = np.zeros((count, 28, 28), np.uint8)
    for digit in range(10):
        at = np.nonzero(classes == digit)[0]
        for start in range(0, len(at), 250):
            some = at[start : start + 250]
            pictures[some] = drawn(digit, len(some), random)
    return pictures, classes.astype(np.uint8)


def inside(kind, u, v):
    """Below 0 within a shape of size 1, above outside of it."""
    r = np.hypot(u, v)
    square = np.maximum(abs(u), abs(v))
    bar = np.maximum(abs(u) - 0.95, abs(v) - 0.25)
    return {
        "disc": lambda: r - 0.8,
        "square": lambda: square - 0.7,
        "triangle": lambda: np.maximum(v - 0.5, 0.87 * abs(u) - 0.5 * v - 0.5),
        "ring": lambda: abs(r - 0.65) - 0.2,
        "cross": lambda: np.minimum(bar, np.maximum(abs(v) - 0.95, abs(u) - 0.25)),
        "diamond": lambda: abs(u) + abs(v) - 0.95,
        "half disc": lambda: np.maximum(r - 0.9, -v),
        "two discs": lambda: np.hypot(abs(u) - 0.5, v) - 0.38,
        "bar": lambda: bar,
        "frame": lambda: abs(square - 0.62) - 0.18,
    }[kind]()


def coloured(kind, count, random):
    """That many pictures of one shape, (count, 3, 32, 32) of bytes, on grounds of other colours."""
    turn, size = random.uniform(-0.35, 0.35, count), random.uniform(8, 14, count)
    middle = random.uniform(12, 19, (2, count))
    y, x = np.arange(32.0)[:, None], np.arange(32.0)
    x = (x - middle[0][:, None, None]) / size[:, None, None]
    y = (y - middle[1][:, None, None]) / size[:, None, None]
    c, s = np.cos(turn)[:, None, None], np.sin(turn)[:, None, None]
    edge = inside(kind, c * x + s * y, c * y - s * x) * size[:, None, None]
    covered = np.clip(0.5 - edge, 0, 1)[:, None]
    ground, colour = random.uniform(0, 1, (2, count, 3, 1, 1))
    colour = np.where(abs(colour - ground).max(axis=1, keepdims=True) < 0.3, 1 - ground, colour)
    slope = random.uniform(-0.15, 0.15, (2, count, 3, 1, 1))
    ground = ground + slope[0] * x[:, None] + slope[1] * y[:, None]
    picture = ground + covered * (colour - ground)
    picture = picture + random.normal(0, 0.05, picture.shape)
    return np.rint(255 * np.clip(picture, 0, 1)).astype(np.uint8)


def shapes(count, seed):
    """(pictures, classes): that many shapes in random order, about as many of each."""
    random = np.random.RandomState(seed)
    classes = random.randint(0, 10, count)
    pictures = np.zeros((count, 3, 32, 32), np.uint8)
    for number, kind in enumerate(SHAPES):
        at = np.nonzero(classes == number)[0]
        for start in range(0, len(at), 250):
            some = at[start : start + 250]
            pictures[some] = coloured(kind, len(some), random)
    return pictures, classes.astype(np.uint8)


def write_idx(file, data):
    """An array of bytes in the idx format of MNIST."""
    extents = b"".join(int(n).to_bytes(4, "big") for n in data.shape)
    with open(file, "wb") as stream:
        stream.write(bytes([0, 0, 8, data.ndim]) + extents + data.tobytes())


def write_digits(root, count, tests):
    """Files of MNIST's names and format below root/MNIST/raw, unless they are there."""
    folder = os.path.join(root, "MNIST", "raw")
    os.makedirs(folder, exist_ok=True)
    for part, number, seed in (("train", count, 1), ("t10k", tests, 2)):
        names = [
            os.path.join(folder, f"{part}-{rest}-ubyte") for rest in ("images-idx3", "labels-idx1")
        ]
        if not all(os.path.exists(name) for name in names):
            for name, data in zip(names, digits(number, seed)):
                write_idx(name, data)


def write_shapes(root, count, tests):
    """Files of CIFAR-10's names and format in root/cifar-10-batches-bin, unless they are there."""
    folder = os.path.join(root, "cifar-10-batches-bin")
    os.makedirs(folder, exist_ok=True)
    parts = [(f"data_batch_{k}.bin", count // 5, 10 + k) for k in range(1, 6)]
    for name, number, seed in [*parts, ("test_batch.bin", tests, 10)]:
        name = os.path.join(folder, name)
        if not os.path.exists(name):
            pictures, classes = shapes(number, seed)
            rows = np.concatenate([classes[:, None], pictures.reshape(number, -1)], axis=1)
            with open(name, "wb") as stream:
                stream.write(rows.tobytes())
    with open(os.path.join(folder, "batches.meta.txt"), "w") as stream:
        stream.write("\n".join(name.replace(" ", "_") for name in SHAPES) + "\n")


if __name__ == "__main__":
    write_digits(sys.argv[1], 60000, 10000)
    write_shapes(sys.argv[1], 50000, 10000)
