"""The Mandelbrot set by masked arrays, by a compiled loop and by a GPU kernel."""

import numpy as np

from ..cases import Case, Once

TITLE = "Mandelbrot engines"
ABOUT = (
    "The same picture of 1,024² points, at most 100 steps each: masked arrays as NumPy users "
    "write them, a loop in @njit with prange, a kernel in @cuda.jit (which Numbus also runs on "
    "the CPU). Speed-ups are over NumPy's masked arrays."
)


def masked(xp, c0, steps):
    c = c0.copy()
    it = xp.zeros(c.shape, dtype="int64")
    for _ in range(steps):
        mask = abs(c) < 2
        c[mask] = c[mask] ** 2 + c0[mask]
        it[mask] += 1
    return it


def jax():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def f(c0, steps):
        def body(_, state):
            c, it = state
            mask = jnp.abs(c) < 2
            return jnp.where(mask, c * c + c0, c), it + mask

        return jax.lax.fori_loop(0, steps, body, (c0, jnp.zeros(c0.shape, jnp.int64)))[1]

    return lambda c0, steps: f(c0, steps)


def torch():
    import torch

    def run(c0, steps):
        c, it = c0.clone(), torch.zeros(c0.shape, dtype=torch.int64, device=c0.device)
        for _ in range(steps):
            mask = torch.abs(c) < 2
            c = torch.where(mask, c * c + c0, c)
            it += mask
        return it

    return run


def compiled(name):
    """A parallel loop over the rows, compiled by Numbus or by Numba."""

    def build():
        if name == "numbus":
            from numbus import njit, prange
        else:
            from numba import njit, prange

        @njit(parallel=True)
        def f(c0, steps):
            it = np.zeros(c0.shape, np.int64)
            for i in prange(c0.shape[0]):
                for j in range(c0.shape[1]):
                    c, k = c0[i, j], 0
                    for _ in range(steps):
                        if not c.real * c.real + c.imag * c.imag < 4:
                            break
                        c = c * c + c0[i, j]
                        k += 1
                    it[i, j] = k
            return it

        return lambda c0, steps: f(c0, steps)

    return build


def kernel(name):
    """One thread for each point."""

    def build():
        if name == "numbus":
            from numbus import cuda
        else:
            from numba import cuda

        @cuda.jit
        def f(c0, it, steps):
            j, i = cuda.grid(2)
            if i < c0.shape[0] and j < c0.shape[1]:
                a = c0[i, j].real
                b = c0[i, j].imag
                x, y, k = a, b, 0
                while k < steps and x * x + y * y < 4.0:
                    x, y = x * x - y * y + a, 2 * x * y + b
                    k += 1
                it[i, j] = k

        output = Once(lambda c0: cuda.device_array(c0.shape, np.int64))

        def run(c0, steps):
            n, m = c0.shape
            it = output(c0)
            f[((m + 15) // 16, (n + 15) // 16), (16, 16)](c0, it, steps)
            return it

        return run

    return build


def inputs(n, steps):
    x, y = np.meshgrid(np.linspace(-2.0001, 0.5003, n), np.linspace(-1.2502, 1.2501, n))
    return {"c0": x + 1j * y, "steps": steps}


PROGRAMS = {"jax": jax, "torch": torch}


def cases(quick=False):
    n, steps = (64, 10) if quick else (1024, 100)
    common = {
        "size": f"{n}²", "n": n, "make": lambda i: inputs(n, steps), "data": f"mandelbrot {n}",
        # c, c0 and the count stay in registers: c0 read once, the count written once.
        "bytes": 24.0 * n * n, "flops": 10.0 * n * n * steps, "rtol": 2.0 / steps,
        "input_bytes": 16.0 * n * n, "memory": 100.0 * n * n,
    }  # fmt: skip
    yield Case("masked arrays", "masked arrays", code=masked, programs=PROGRAMS,
               headline=True, **common)  # fmt: skip
    for operation, programs in (
        ("njit, prange", {"numbus:cpu": compiled("numbus"), "numba": compiled("numba")}),
        ("cuda.jit", {"numbus": kernel("numbus"), "numba.cuda": kernel("numba")}),
    ):
        yield Case(
            operation, operation, programs=programs, baseline="masked arrays", **common,
            reference=lambda c0, steps: masked(np, c0, steps),
        )  # fmt: skip
