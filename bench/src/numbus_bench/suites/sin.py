"""The sine of a million to a thousand million numbers."""

from ..cases import Case, Once, fill, traced
from ..text import power

TITLE = "Sine"
ABOUT = "sin(x) of float32 numbers in [0, 1), from 10⁶ to 10⁹ of them."
BUDGET = 1.5


def sine(xp, x):
    return xp.sin(x)


def numexpr_sine():
    import numexpr

    return lambda x: numexpr.evaluate("sin(x)", {"x": x})


def numba_sine():
    import numba
    import numpy as np

    @numba.njit(parallel=True)
    def f(x):
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            out[i] = np.sin(x[i])
        return out

    return lambda x: f(x)


def numba_cuda_sine():
    import math

    from numba import cuda

    @cuda.jit
    def f(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sin(x[i])

    output = Once(cuda.device_array_like)

    def run(x):
        out = output(x)
        f[(x.size + 255) // 256, 256](x, out)
        return out

    return run


def cases(quick=False):
    programs = {
        **traced(sine), "numexpr": numexpr_sine, "numba": numba_sine, "numba.cuda": numba_cuda_sine,
    }  # fmt: skip
    for exponent in (4, 5) if quick else (6, 7, 8, 9):
        n = 10**exponent
        yield Case(
            f"sin 10^{exponent}", "sin", power(exponent), n,
            lambda i, n=n: {"x": fill(n, "float32", [n, i])},
            # 15 operations: a reduced argument and a polynomial of degree 9 or so.
            bytes=8.0 * n, flops=15.0 * n, code=sine, programs=programs, dtype="float32",
            rtol=3e-7, input_bytes=4.0 * n, memory=16.0 * n, rotate=True, headline=True,
        )  # fmt: skip
