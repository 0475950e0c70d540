"""The masked Mandelbrot iteration as NumPy users write it."""

import importlib

import numpy as np
from common import Workload


def code(xp, c0, steps):
    c = c0.copy()
    it = xp.zeros(c.shape, dtype="int64")
    for _ in range(steps):
        mask = abs(c) < 2
        c[mask] = c[mask] ** 2 + c0[mask]
        it[mask] += 1
    return it


def numba(inputs):
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True)
    def f(c0, steps):
        it = np.zeros(c0.shape, np.int64)
        for i in nb.prange(c0.shape[0]):
            for j in range(c0.shape[1]):
                c, k = c0[i, j], 0
                for _ in range(steps):
                    if not abs(c) < 2:
                        break
                    c = c * c + c0[i, j]
                    k += 1
                it[i, j] = k
        return it

    return lambda: f(inputs["c0"], inputs["steps"])


def jax(inputs):
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")

    @jax.jit
    def f(c0, steps):
        def body(_, state):
            c, it = state
            mask = jnp.abs(c) < 2
            return jnp.where(mask, c * c + c0, c), it + mask

        return jax.lax.fori_loop(0, steps, body, (c0, jnp.zeros(c0.shape, jnp.int64)))[1]

    return lambda: f(inputs["c0"], inputs["steps"])


def torch(inputs):
    torch = importlib.import_module("torch")
    c0, steps = inputs["c0"], inputs["steps"]

    def run():
        c, it = c0.clone(), torch.zeros(c0.shape, dtype=torch.int64, device=c0.device)
        for _ in range(steps):
            mask = torch.abs(c) < 2
            c = torch.where(mask, c * c + c0, c)
            it += mask
        return it

    return run


def inputs(n):
    x, y = np.meshgrid(np.linspace(-2.0001, 0.5003, n), np.linspace(-1.2502, 1.2501, n))
    return {"c0": x + 1j * y}


def workloads(quick):
    n, steps = (256, 20) if quick else (1024, 100)
    yield Workload(
        name="mandelbrot",
        title=f"masked Mandelbrot, {n}², {steps} steps",
        make=lambda: inputs(n),
        code=code,
        # c, c0 and it stay in registers between steps: c0 read once, it written once.
        bytes=24.0 * n * n,
        flops=10.0 * n * n * steps,
        peers={"numba": numba, "jax": jax, "torch": torch},
        steps=steps,
        cpu=(("numpy", 8.0),),
        gpu_ms=1.0,
        # One pixel whose orbit meets the threshold within a rounding may take one step more.
        rtol=2.0 / steps,
    )
