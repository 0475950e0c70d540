"""The maximum of an array by atomic operations in a kernel, and by the library's own reduction."""

import functools

import numpy as np

from ..cases import Case, fill

TITLE = "Atomics"
ABOUT = (
    "The maximum of float32 numbers: every thread of a @cuda.jit kernel by an atomic on global "
    "memory; a tree in shared memory first and one atomic a block; the library's own max. The "
    "kernels also run on the CPU."
)
BLOCK = 256


def maximum(_xp, x):
    return x.max()


def torch():
    return lambda x: x.amax()


def jax():
    import jax

    return jax.jit(lambda x: x.max())


@functools.cache
def kernels(name, shared):
    """The kernel's program, from Numbus or from Numba."""

    def build():
        if name == "numbus":
            from numbus import cuda, float32
        else:
            from numba import cuda, float32

        @cuda.jit
        def by_global(x, out):
            i = cuda.grid(1)
            if i < x.size:
                cuda.atomic.max(out, 0, x[i])

        @cuda.jit
        def by_shared(x, out):
            s = cuda.shared.array(256, float32)
            i = cuda.grid(1)
            t = cuda.threadIdx.x
            s[t] = x[i] if i < x.size else x[0]
            cuda.syncthreads()
            k = 128
            while k > 0:
                if t < k:
                    s[t] = max(s[t], s[t + k])
                cuda.syncthreads()
                k //= 2
            if t == 0:
                cuda.atomic.max(out, 0, s[0])

        f = by_shared if shared else by_global
        start = np.full(1, -np.inf, np.float32)

        def run(x):
            out = cuda.to_device(start)
            f[(x.size + BLOCK - 1) // BLOCK, BLOCK](x, out)
            return out

        return run

    return build


def cases(quick=False):
    for exponent in (12,) if quick else (20, 24):
        n = 1 << exponent
        common = {
            "size": f"{4 * n / 1e6:.0f} MB" if n > 1e6 else "16 kB", "n": 4.0 * n,
        "dtype": "float32",
            "make": lambda i, n=n: {"x": fill(n, "float32", [n, i])}, "data": f"numbers {n}",
            "bytes": 4.0 * n, "flops": float(n), "rtol": 0.0, "reads_only": True, "rotate": True,
            "input_bytes": 4.0 * n, "memory": 12.0 * n,
        }  # fmt: skip
        yield Case(f"max {exponent}", "max()", code=maximum, programs={
            "torch": torch, "jax": jax,
        }, **common)  # fmt: skip
        for shared in (True, False):
            operation = "shared-memory tree" if shared else "global atomics"
            yield Case(
                f"{operation} {exponent}", operation, baseline=f"max {exponent}", **common,
                programs={name + ".cuda" * (name == "numba"): kernels(name, shared)
                          for name in ("numbus", "numba")},
                reference=lambda x: np.full(1, x.max()),
            )  # fmt: skip
