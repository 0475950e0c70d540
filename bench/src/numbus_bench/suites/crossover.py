"""From which problem size on the faster device pays: sweeps with the crossing marked."""

import functools

import numpy as np

from ..cases import Case, fill, traced
from .arrays import product

TITLE = "Crossover"
ABOUT = (
    "The same work on growing problems: a matrix product of n × n in float32, and the distance "
    "matrix of n random points in space in float64 with its parts. Below the crossing the CPU "
    "(without a GPU: NumPy) is the faster choice."
)
BUDGET = 2.0
# Operations whose curves may cross, and the operation that is the same with copies over the link.
CURVES = (("matmul", "matmul with copies"), ("distance matrix", "distance matrix with copies"))
# The parts of one of them, timed by themselves.
PARTS = {"distance matrix": ("einsum", "matmul of points", "arithmetic")}


def distance(xp, P):
    """All squared distances of points: einsum of squares, -2 P Pᵀ, abs."""
    square = xp.einsum("ij,ij->i", P, P)
    return xp.abs(square[:, None] + square[None, :] - 2 * (P @ P.T))


def squares(xp, P):
    return xp.einsum("ij,ij->i", P, P)


def inner(_xp, P):
    return P @ P.T


def arithmetic(xp, square, G):
    return xp.abs(square[:, None] + square[None, :] - 2 * G)


def numba_distance():
    import numba

    @numba.njit(parallel=True)
    def f(P):
        n = P.shape[0]
        out = np.empty((n, n))
        for i in numba.prange(n):
            for j in range(n):
                s = 0.0
                for k in range(P.shape[1]):
                    d = P[i, k] - P[j, k]
                    s += d * d
                out[i, j] = s
        return out

    return lambda P: f(P)


@functools.cache
def with_copies(code):
    """Inputs from the host, the result back to it."""

    def build():
        import numbus

        def run(**inputs):
            there = {name: numbus.array(value) for name, value in inputs.items()}
            return np.asarray(code(numbus, **there))

        return run

    return {"numbus:cuda": build}


def points(n, i):
    return {"P": fill((n, 3), seed=[n, i])}


def parts(n, i):
    P = points(n, i)["P"]
    return {"square": squares(np, P), "G": inner(np, P)}


def cases(quick=False):
    for n in (10, 64, 128) if quick else (10, 20, 50, 100, 200, 400, 800, 1500, 2500, 4000):
        step = max(1, n // 16)
        common = {
            "size": str(n), "n": n, "bytes": 12.0 * n * n, "flops": 2.0 * n**3, "dtype": "float32",
            "make": lambda i, n=n: {"a": fill((n, n), "float32", [n, i]),
                                    "b": fill((n, n), "float32", [n, i, 1])},
            "data": f"matmul {n}", "input_bytes": 8.0 * n * n, "memory": 24.0 * n * n,
            "rtol": 1e-5, "reference": lambda a, b, k=step: a[::k] @ b,
            "see": lambda xp, result, k=step: result[::k],
        }  # fmt: skip
        yield Case(f"matmul {n}", "matmul", code=product, programs=traced(product), **common)
        yield Case(f"matmul with copies {n}", "matmul with copies",
                   programs=with_copies(product), stays=True, **common)  # fmt: skip
    for n in (10, 50) if quick else (10, 20, 50, 100, 200, 300, 400, 600, 800):
        common = {
            "size": str(n), "n": n, "make": lambda i, n=n: points(n, i), "rtol": 1e-12,
            "data": f"points {n}", "input_bytes": 24.0 * n, "memory": 64.0 * n * n,
        }  # fmt: skip
        whole = {"bytes": 8.0 * n * n, "flops": 9.0 * n * n}
        yield Case(f"distance matrix {n}", "distance matrix", code=distance,
                   programs={**traced(distance), "numba": numba_distance},
                   **whole, **common)  # fmt: skip
        yield Case(f"distance matrix with copies {n}", "distance matrix with copies", stays=True,
                   programs=with_copies(distance), reference=lambda P: distance(np, P),
                   **whole, **common)  # fmt: skip
        yield Case(f"einsum {n}", "einsum", code=squares, bytes=32.0 * n, flops=5.0 * n,
                   programs=traced(squares), **common)  # fmt: skip
        yield Case(f"matmul of points {n}", "matmul of points", code=inner,
                   bytes=8.0 * n * n, flops=5.0 * n * n,
                   programs=traced(inner), **common)  # fmt: skip
        common |= {"make": lambda i, n=n: parts(n, i), "data": f"parts {n}",
                   "input_bytes": 8.0 * n * n}  # fmt: skip
        yield Case(f"arithmetic {n}", "arithmetic", code=arithmetic, bytes=16.0 * n * n,
                   flops=4.0 * n * n, programs=traced(arithmetic), **common)  # fmt: skip
