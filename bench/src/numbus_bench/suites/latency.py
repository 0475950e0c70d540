"""What a call costs besides its work: launches, short expressions, compilation."""

import itertools

import numpy as np

from ..cases import Case, traced

TITLE = "Latency"
ABOUT = (
    "Work on 16 numbers, so that only its handling counts: a short expression, cached and waited "
    "for; launches of an empty kernel; and the first call of something new, compiled each time."
)
MANY = 100


def eight(_xp, a, b):
    """Eight operations."""
    x = a * b + 1.0
    y = x * a - b
    return (x + y) * (y - a) + x


def one(_xp, a, b):
    return a + b


def kernel_module(name):
    if name == "numbus":
        from numbus import cuda
    else:
        from numba import cuda
    return cuda


def launches(name, count):
    """Launches of a kernel that adds, waited for once."""

    def build():
        cuda = kernel_module(name)

        @cuda.jit
        def add(a, b, out):
            i = cuda.grid(1)
            if i < a.size:
                out[i] = a[i] + b[i]

        out = cuda.device_array(16)

        def run(a, b):
            for _ in range(count):
                add[1, 32](a, b, out)
            return out

        return run

    return build


NEW = itertools.count(1)


def new_function(name):
    """A function that has never been compiled: its constant is new."""

    def build():
        if name == "numbus":
            from numbus import njit
        else:
            from numba import njit

        def make(zero):
            @njit
            def f(a, b):
                t = 0.0
                for i in range(a.shape[0]):
                    t += a[i] * b[i] + zero
                return t

            return f

        return lambda a, b: make(next(NEW) * 1e-300)(a, b)

    return build


def new_kernel(name):
    """A kernel that has never been compiled: its constant is new."""

    def build():
        cuda = kernel_module(name)
        out = cuda.device_array(16)

        def make(zero):
            @cuda.jit
            def f(a, b, out):
                i = cuda.grid(1)
                if i < a.size:
                    out[i] = a[i] + b[i] + zero

            return f

        def run(a, b):
            make(next(NEW) * 1e-300)[1, 32](a, b, out)
            return out

        return run

    return build


def new_jax():
    import jax

    def run(a, b):
        zero = next(NEW) * 1e-300
        return jax.jit(lambda a, b: (a * b).sum() + zero)(a, b)

    return run


def numbers(_i):
    return {"a": np.arange(16.0) / 16, "b": np.ones(16)}


def cases(_quick=False):
    common = {"size": "16 numbers", "n": 16, "make": numbers, "data": "latency", "bytes": 0.0}

    def kernel(name, program, *arguments, **more):
        programs = {library + ".cuda" * (library == "numba"): program(library, *arguments)
                    for library in ("numbus", "numba")}  # fmt: skip
        return Case(name, name, programs=programs, reference=lambda a, b: a + b,
                    **more, **common)  # fmt: skip

    yield Case("one operation", "one operation", code=one, programs=traced(one), **common)
    yield Case("eight operations", "eight operations", code=eight, programs=traced(eight), **common)
    yield kernel("kernel, waited for", launches, 1)
    yield kernel("kernel, queued", launches, MANY, calls=MANY)
    yield Case("compile a function", "compile a function", rtol=1e-12, **common, programs={
        "numbus:cpu": new_function("numbus"), "numba": new_function("numba"), "jax": new_jax,
    }, reference=lambda a, b: np.float64(a @ b))  # fmt: skip
    yield kernel("compile a kernel", new_kernel)
