"""Heat conduction by Jacobi steps: five-point update with a source, and the norm of the change."""

import numpy as np

from ..cases import Case, fill

TITLE = "Heat conduction"
ABOUT = (
    "Jacobi steps on a float64 grid with a source, the norm of the change after each step: 256² "
    "reads the norm on the host every time (latency counts), 2,048² does not (bandwidth counts)."
)


def code(xp, p, f, steps, read=False):
    norm = 0.0
    for _ in range(steps):
        q = p.copy()
        q[1:-1, 1:-1] = 0.25 * (
            p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1]
        )
        norm = xp.linalg.norm(q - p)
        p = q
        if read:
            norm = float(norm)
    return p, norm


def code_and_read(xp, p, f, steps):
    return code(xp, p, f, steps, read=True)


def numba():
    """The loops as one writes them first: two buffers, one loop each for copy, update, norm."""
    import numba as nb

    @nb.njit(parallel=True)
    def step(p, q, f):
        n, m = p.shape
        for i in nb.prange(n):
            for j in range(m):
                q[i, j] = p[i, j]
        for i in nb.prange(1, n - 1):
            for j in range(1, m - 1):
                q[i, j] = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - f[i, j])
        total = 0.0
        for i in nb.prange(n):
            for j in range(m):
                d = q[i, j] - p[i, j]
                total += d * d
        return np.sqrt(total)

    def run(p, f, steps):
        p, q, norm = p.copy(), np.empty_like(p), 0.0
        for _ in range(steps):
            norm = step(p, q, f)
            p, q = q, p
        return p, norm

    return run


def numba_cuda():
    from numba import cuda

    @cuda.jit
    def step(p, q, f, total):
        part = cuda.shared.array(256, "float64")
        j, i = cuda.grid(2)
        t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
        d = 0.0
        if 0 < i < p.shape[0] - 1 and 0 < j < p.shape[1] - 1:
            v = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - f[i, j])
            d = v - p[i, j]
            q[i, j] = v
        part[t] = d * d
        cuda.syncthreads()
        k = 128
        while k > 0:
            if t < k:
                part[t] += part[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            cuda.atomic.add(total, 0, part[0])

    zero = np.zeros(1)

    def copy(x):
        out = cuda.device_array_like(x)
        out.copy_to_device(x)
        return out

    def run(p, f, steps):
        n, m = p.shape
        grid = ((m + 31) // 32, (n + 7) // 8)
        p, q = copy(p), copy(p)
        total = cuda.to_device(zero)
        for _ in range(steps):
            total.copy_to_device(zero)
            step[grid, (32, 8)](p, q, f, total)
            p, q = q, p
            if n <= 256:
                total.copy_to_host()
        return p, np.sqrt(total.copy_to_host()[0])

    return run


def jax():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(p, f):
        inner = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1])
        q = p.at[1:-1, 1:-1].set(inner)
        return q, jnp.sqrt(jnp.sum((q - p) ** 2))

    def run(p, f, steps):
        norm, read = 0.0, p.shape[0] <= 256
        for _ in range(steps):
            p, norm = step(p, f)
            if read:
                norm = float(norm)
        return p.block_until_ready(), norm

    return run


def torch_with(compiled):
    def build():
        import torch

        def step(p, f):
            q = p.clone()
            q[1:-1, 1:-1] = 0.25 * (
                p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1]
            )
            return q, torch.linalg.norm(q - p)

        call = torch.compile(step) if compiled else step

        def run(p, f, steps):
            norm, read = 0.0, p.shape[0] <= 256
            for _ in range(steps):
                p, norm = call(p, f)
                if read:
                    norm = float(norm)
            return p, norm

        return run

    return build


PROGRAMS = {
    "numba": numba,
    "numba.cuda": numba_cuda,
    "jax": jax,
    "torch": torch_with(False),
    "torch.compile": torch_with(True),
}


def inputs(n):
    return {"p": fill((n, n), seed=0), "f": fill((n, n), seed=1) * 1e-3}


def cases(quick=False):
    sizes = ((64, 5), (128, 5)) if quick else ((256, 200), (2048, 20))
    for n, steps in sizes:
        points = float(n * n * steps)
        yield Case(
            f"heat {n}", f"{steps} steps", f"{n}²", n,
            lambda i, n=n, steps=steps: {**inputs(n), "steps": steps},
            bytes=24 * points, flops=8 * points, code=code_and_read if n <= 256 else code,
            programs=PROGRAMS, rtol=1e-10, input_bytes=16.0 * n * n, memory=64.0 * n * n,
            headline=True,
        )  # fmt: skip
