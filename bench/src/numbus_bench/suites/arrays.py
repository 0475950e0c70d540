"""Eight array operations, on arrays that fit into caches and on arrays that do not."""

import math

import numpy as np

from ..cases import Case, Once, fill, traced

TITLE = "Array operations"
ABOUT = (
    "Eight operations on float64 arrays of 8 MB (1,000²) and 800 MB (10,000²). For the matrix "
    "product the size is that of its three matrices together (576² and 5,760² each); the singular "
    "values are those of 1,000 × 1,000 and of 1,000,000 × 100."
)
BUDGET = 5.0  # of the total time, beside the other suites


def elementwise(_xp, a):
    return 3 * a * a + 2 * a + 1


def total(_xp, a):
    return a.sum()


def deviation(_xp, a):
    return a.std()


def slices(_xp, a):
    return a[::2, ::2] + 0.0


def stencil(_xp, a):
    """3×3 smoothing by nine shifted slices."""
    return (
        a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:]
        + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:]
        + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]
    ) / 9.0  # fmt: skip


def transform(xp, a):
    return xp.fft.fft(a)


def product(_xp, a, b):
    return a @ b


def decompose(xp, a):
    return xp.linalg.svd(a, full_matrices=False)


def rebuilt(_xp, result):
    """The singular values, and the first rows of the matrix from all three parts."""
    u, s, v = result
    return s, (u[:64] * s) @ v


# ---- the same by hand, for libraries that are not arrays ----------------------------------------
def numexpr_elementwise():
    import numexpr

    return lambda a: numexpr.evaluate("3 * a * a + 2 * a + 1", {"a": a})


def numexpr_sum():
    import numexpr

    return lambda a: numexpr.evaluate("sum(a)", {"a": a})


def numba_elementwise():
    import numba

    @numba.njit(parallel=True)
    def f(a):
        out = np.empty_like(a)
        x, y = a.reshape(-1), out.reshape(-1)
        for i in numba.prange(x.size):
            y[i] = 3 * x[i] * x[i] + 2 * x[i] + 1
        return out

    return lambda a: f(a)


def numba_sum():
    import numba

    @numba.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def f(x):
        s = 0.0
        for i in numba.prange(x.size):
            s += x[i]
        return s

    return lambda a: f(a.reshape(-1))


def numba_std():
    import numba

    @numba.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def f(x):
        s = 0.0
        for i in numba.prange(x.size):
            s += x[i]
        mean = s / x.size
        q = 0.0
        for i in numba.prange(x.size):
            d = x[i] - mean
            q += d * d
        return np.sqrt(q / x.size)

    return lambda a: f(a.reshape(-1))


def numba_stencil():
    import numba

    @numba.njit(parallel=True)
    def f(a):
        n, m = a.shape
        out = np.empty((n - 2, m - 2))
        for i in numba.prange(n - 2):
            for j in range(m - 2):
                out[i, j] = (
                    a[i, j] + a[i, j + 1] + a[i, j + 2]
                    + a[i + 1, j] + a[i + 1, j + 1] + a[i + 1, j + 2]
                    + a[i + 2, j] + a[i + 2, j + 1] + a[i + 2, j + 2]
                ) / 9.0  # fmt: skip
        return out

    return lambda a: f(a)


def numba_cuda_stencil():
    from numba import cuda

    @cuda.jit
    def f(a, out):
        j, i = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            s = 0.0
            for k in range(3):
                for l in range(3):
                    s += a[i + k, j + l]
            out[i, j] = s / 9.0

    output = Once(lambda a: cuda.device_array((a.shape[0] - 2, a.shape[1] - 2)))

    def run(a):
        n, m = a.shape
        out = output(a)
        f[((m + 31) // 32, (n + 7) // 8), (32, 8)](a, out)
        return out

    return run


def torch_std():
    return lambda a: a.std(correction=0)


def torch_slices():
    return lambda a: a[::2, ::2].clone()


def square(n):
    def make(i):
        return {"a": fill((n, n), seed=[n, i])}

    return make


def cases(quick=False):
    sizes = ((200, "0.3 MB"),) if quick else ((1_000, "8 MB"), (10_000, "800 MB"))
    for n, size in sizes:
        yield square_case("sum", total, n, size, 8, 1, {"numexpr": numexpr_sum, "numba": numba_sum},
                          reads_only=True)  # fmt: skip
        yield square_case("standard deviation", deviation, n, size, 8, 4,
                          {"numba": numba_std, "torch": torch_std}, reads_only=True)  # fmt: skip
        yield square_case("elementwise", elementwise, n, size, 16, 5,
                          {"numexpr": numexpr_elementwise, "numba": numba_elementwise})  # fmt: skip
        # Every cache line of every second row is read, a quarter of the elements is written.
        yield square_case("slicing", slices, n, size, 6, 0, {"torch": torch_slices})
        yield square_case("3×3 stencil", stencil, n, size, 16, 9, {
            "numba": numba_stencil, "numba.cuda": numba_cuda_stencil,
        }, rtol=1e-14)  # fmt: skip
        yield square_case("FFT", transform, n, size, 24, 2.5 * math.log2(n), memory=64.0 * n * n)
    # Last, as they take longest: a budget that is spent should cost few of the others.
    for n, size in sizes:
        yield product_case(64 if quick else 576 if n == 1_000 else 5_760, size)
    for n, size in sizes:
        rows, columns = (64, 64) if quick else (1_000, 1_000) if n == 1_000 else (1_000_000, 100)
        yield Case(
            f"SVD {size}", "SVD", size, 8.0 * n * n, lambda i, r=rows, c=columns: tall(r, c, i),
            # Householder reduction and both factors, by Golub and Van Loan's count.
            bytes=2 * 8.0 * rows * columns, flops=6.0 * rows * columns**2 + 20.0 * columns**3,
            code=decompose, programs=traced(decompose), see=rebuilt, rtol=1e-9,
            input_bytes=8.0 * rows * columns, memory=48.0 * n * n, headline=True,
        )  # fmt: skip


def square_case(operation, code, n, size, moved, flops, programs=None, **more):
    """An operation on n × n numbers; bytes that move and flops are those of one element."""
    return Case(
        f"{operation} {size}", operation, size, 8.0 * n * n, square(n), moved * n * n,
        float(flops) * n * n, code=code, programs={**traced(code), **(programs or {})},
        input_bytes=8.0 * n * n, data=f"square {n}", rotate=True, headline=True,
        **{"memory": 32.0 * n * n, **more},
    )  # fmt: skip


def tall(rows, columns, i):
    return {"a": fill((rows, columns), seed=[rows, i])}


def product_case(n, size):
    return Case(
        f"matmul {size}", "matmul", size, 24.0 * n * n,
        lambda i: {"a": fill((n, n), seed=[n, 0, i]), "b": fill((n, n), seed=[n, 1, i])},
        bytes=24.0 * n * n, flops=2.0 * n**3, code=product, programs=traced(product),
        input_bytes=16.0 * n * n, memory=64.0 * n * n, headline=True, rtol=1e-11,
    )  # fmt: skip
