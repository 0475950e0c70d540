"""Heat steps with a source and a norm: copy, five-point update of the interior, norm of the change.

4096² for 100 steps (bandwidth), and 256² for 1000 steps with the norm read on the host (latency).
"""

import importlib

import numpy as np
from common import Workload


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


def numba(inputs):
    """The loops as one writes them first: two buffers, one loop each for copy, update, norm."""
    nb = importlib.import_module("numba")

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

    p0, f, steps = inputs["p"], inputs["f"], inputs["steps"]

    def run():
        p, q, norm = p0.copy(), np.empty_like(p0), 0.0
        for _ in range(steps):
            norm = step(p, q, f)
            p, q = q, p
        return p, norm

    return run


def numba_fused(inputs):
    """By hand: two buffers, one pass for update and norm."""
    nb = importlib.import_module("numba")

    @nb.njit(parallel=True, fastmath={"reassoc", "nsz"})
    def step(p, q, f):
        n, m = p.shape
        total = 0.0
        for i in nb.prange(1, n - 1):
            s = 0.0
            for j in range(1, m - 1):
                v = 0.25 * (p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - f[i, j])
                d = v - p[i, j]
                q[i, j] = v
                s += d * d
            total += s
        return np.sqrt(total)

    p0, f, steps = inputs["p"], inputs["f"], inputs["steps"]

    def run():
        p, q = p0.copy(), p0.copy()
        norm = 0.0
        for _ in range(steps):
            norm = step(p, q, f)
            p, q = q, p
        return p, norm

    return run


def numba_cuda(inputs):
    cuda = importlib.import_module("numba.cuda")

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

    p0, f, steps = inputs["p"], inputs["f"], inputs["steps"]
    read = p0.shape[0] <= 256
    host = p0.copy_to_host()
    n, m = host.shape
    grid = ((m + 31) // 32, (n + 7) // 8)
    zero = np.zeros(1)

    def run():
        p, q = cuda.to_device(host), cuda.to_device(host)
        total = cuda.to_device(zero)
        for _ in range(steps):
            total.copy_to_device(zero)
            step[grid, (32, 8)](p, q, f, total)
            p, q = q, p
            if read:
                total.copy_to_host()
        return p, np.sqrt(total.copy_to_host()[0])

    return run


def jax(inputs):
    jax = importlib.import_module("jax")
    jnp = importlib.import_module("jax.numpy")
    p0, f, steps = inputs["p"], inputs["f"], inputs["steps"]

    @jax.jit
    def step(p, f):
        inner = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1])
        q = p.at[1:-1, 1:-1].set(inner)
        return q, jnp.sqrt(jnp.sum((q - p) ** 2))

    read = p0.shape[0] <= 256

    def run():
        p, norm = p0, 0.0
        for _ in range(steps):
            p, norm = step(p, f)
            if read:
                norm = float(norm)
        p.block_until_ready()
        return p, norm

    return run


def torch_with(compiled):
    def make(inputs):
        torch = importlib.import_module("torch")
        p0, f, steps = inputs["p"], inputs["f"], inputs["steps"]

        def step(p, f):
            q = p.clone()
            q[1:-1, 1:-1] = 0.25 * (
                p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1]
            )
            return q, torch.linalg.norm(q - p)

        call = torch.compile(step) if compiled else step
        read = p0.shape[0] <= 256

        def run():
            p, norm = p0, 0.0
            for _ in range(steps):
                p, norm = call(p, f)
                if read:
                    norm = float(norm)
            return p, norm

        return run

    return make


PEERS = {
    "numba": numba,
    "numba.fused": numba_fused,
    "numba.cuda": numba_cuda,
    "jax": jax,
    "torch": torch_with(False),
    "torch.compile": torch_with(True),
}


def inputs(n):
    r = np.random.default_rng(0)
    return {"p": r.random((n, n)), "f": r.random((n, n)) * 1e-3}


def workloads(quick):
    n, steps = (512, 20) if quick else (4096, 100)
    yield Workload(
        name="heat",
        title=f"heat step with source and norm, float64 {n}², {steps} steps",
        make=lambda: inputs(n),
        code=code,
        bytes=24.0 * n * n * steps,
        flops=8.0 * n * n * steps,
        peers=PEERS,
        steps=steps,
        cpu=(("numba", 2.0),),
        gpu_ms=13.0,
        rtol=1e-10,
    )
    m, more = (256, 50) if quick else (256, 1000)
    yield Workload(
        name="heat256",
        title=f"heat, {m}², {more} steps, the norm read each step",
        make=lambda: inputs(m),
        code=code_and_read,
        bytes=24.0 * m * m * more,
        flops=8.0 * m * m * more,
        peers=PEERS,
        steps=more,
        cpu=(("numpy", 10.0),),
        gpu_ms=30.0,
        rtol=1e-10,
    )
