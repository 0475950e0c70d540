"""Linear algebra of stacks of matrices on a GPU, compared with NumPy's and timed.

    NUMBUS_DEVICE=cuda python bench/stacked_solvers.py [--only solve,svd] [--stacks 10000x8,16x512]

A table of milliseconds of a call between two synchronisations, the median of some: by one call of
the library for a stack (up to how many rows, the program decides), by a loop over the matrices (of
a tenth of them, times ten), by one call up to any size, and CuPy's where it is installed. Before a
row is timed, its results are compared with NumPy's: solutions and factors by how far they are from
solving the problem, relative to rounding and to NumPy's own distance; eigenvalues and singular
values one by one.
"""

import argparse
import statistics
import time

import numbus as nb
import numpy as np
from numbus import _core

try:
    import cupy
except ImportError:
    cupy = None

SECONDS = 1.0
NAMES = ["solve", "inv", "cholesky", "eigh", "svd", "svdvals", "det"]
STACKS = "10000x8,1000x32,16x512"
# Results may be so many times as far from the truth as rounding of one operation a row.
FAR = 64


def drawn(name, count, n, dtype):
    a = np.random.default_rng(n).standard_normal((count, n, n))
    if name in ("cholesky", "eigh"):
        a = a + a.swapaxes(-1, -2)
    if name == "cholesky":
        a += 2 * n * np.eye(n)
    if name in ("solve", "inv", "det"):
        a += 2 * np.sqrt(n) * np.eye(n)
    if name == "det":
        a /= 2 * np.sqrt(n)
    return a.astype(dtype)


def call(module, name, a, b):
    if name == "svdvals" and not hasattr(module.linalg, name):
        return module.linalg.svd(a, compute_uv=False)
    f = getattr(module.linalg, name)
    return f(a, b) if name == "solve" else f(a)


def distance(name, a, b, results):
    """How far results are from what they stand for, relative to the operand."""
    a, eye = a.astype(float), np.eye(a.shape[-1])
    r = [np.asarray(x).astype(float) for x in results]
    size = np.abs(a).max()
    if name == "solve":
        return np.abs(a @ r[0] - b).max() / (size * np.abs(r[0]).max())
    if name == "inv":
        return np.abs(a @ r[0] - eye).max() / (size * np.abs(r[0]).max())
    if name == "cholesky":
        assert (np.triu(r[0], 1) == 0).all()
        return np.abs(r[0] @ r[0].swapaxes(-1, -2) - a).max() / size
    if name == "eigh":
        v = r[1]
        apart = np.abs(v.swapaxes(-1, -2) @ v - eye).max()
        return max(apart, np.abs(a @ v - v * r[0][..., None, :]).max() / size)
    if name == "svd":
        u, s, vt = r
        pairs = (u.swapaxes(-1, -2), u), (vt, vt.swapaxes(-1, -2))
        apart = max(np.abs(x @ y - eye).max() for x, y in pairs)
        return max(apart, np.abs((u * s[..., None, :]) @ vt - a).max() / np.abs(s).max())
    return 0.0


def compare(name, a, b):
    want = call(np, name, a, b)
    got = call(nb, name, nb.asarray(a), nb.asarray(b))
    want, got = [x if isinstance(x, tuple) else (x,) for x in (want, got)]
    n, eps = a.shape[-1], np.finfo(a.dtype).eps
    for x, y in zip(want, got, strict=True):
        assert x.shape == y.shape and x.dtype == y.dtype, (x.shape, y.shape, x.dtype, y.dtype)
    values = {"eigh": 0, "svd": 1, "svdvals": 0, "det": 0}.get(name)
    if values is not None:
        x, y = np.asarray(want[values]).astype(float), np.asarray(got[values]).astype(float)
        scale = np.abs(x) if name == "det" else np.abs(x).max(-1, keepdims=True)
        off = (np.abs(x - y) / scale).max()
        if not off < FAR * n * eps:
            raise SystemExit(f"{name} {a.shape} {a.dtype}: values differ by {off:.2e} of {eps:.1e}")
    far, usual = distance(name, a, b, got), distance(name, a, b, want)
    if not far < max(FAR * n * eps, 8 * usual):
        raise SystemExit(f"{name} {a.shape} {a.dtype}: off by {far:.2e}, NumPy's by {usual:.2e}")
    return far / eps, usual / eps


def timed(work, wait):
    start = time.perf_counter()
    work(), wait()
    if time.perf_counter() - start > 2 * SECONDS:
        return 1e3 * (time.perf_counter() - start)
    times = []
    end = time.perf_counter() + SECONDS
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 50):
        start = time.perf_counter()
        work(), wait()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--stacks", default=STACKS)
    parser.add_argument("--dtypes", default="float32,float64")
    arguments = parser.parse_args()
    ways = {"ours": -1, "a loop": 0, "one call": 1 << 30}
    print(f"{'':34}" + "".join(f"{w:>11}" for w in (*ways, "CuPy")) + "   distance (NumPy's), eps")
    for stack in arguments.stacks.split(","):
        count, n = map(int, stack.split("x"))
        for name in arguments.only.split(","):
            for dtype in arguments.dtypes.split(","):
                a = drawn(name, count, n, dtype)
                b = np.random.default_rng(1).standard_normal((count, n, 1)).astype(dtype)
                line, far = f"{name:9}{count:6} x {n:3} x {n:3} {dtype:8} ", (0, 0)
                for largest in ways.values():
                    _core.set_stacks(largest)
                    part = 10 if largest == 0 and count >= 1000 else 1
                    few, sides = a[: count // part], b[: count // part]
                    far = max(far, compare(name, few, sides))
                    x, y = nb.asarray(few), nb.asarray(sides)
                    took = timed(lambda: call(nb, name, x, y), nb.synchronize)  # noqa: B023
                    line += f"{part * took:11.3f}"
                _core.set_stacks()
                if cupy is not None:
                    x, y = cupy.asarray(a), cupy.asarray(b)
                    wait = cupy.cuda.Device().synchronize
                    line += f"{timed(lambda: call(cupy, name, x, y), wait):11.3f}"  # noqa: B023
                else:
                    line += f"{'-':>11}"
                print(f"{line}   {far[0]:.1f} ({far[1]:.1f})", flush=True)


if __name__ == "__main__":
    main()
