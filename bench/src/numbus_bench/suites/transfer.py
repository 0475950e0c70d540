"""Copies between host and device: from pageable, pinned and mapped memory, alone and overlapped."""

import math

import numpy as np

from ..cases import Case, Once, fill

TITLE = "Transfer"
ABOUT = (
    "Copies of float32 numbers to the device and back, from ordinary (pageable) and from pinned "
    "memory; a kernel that reads mapped memory of the host where it lies; and copy, compute, copy "
    "in eight portions, by one stream and by four, which overlap. On the CPU the same calls copy "
    "in its memory."
)
PORTIONS = 8


def module(name):
    if name == "numbus":
        from numbus import cuda
    else:
        from numba import cuda
    return cuda


def pinned(cuda, x):
    """The same numbers in pinned memory."""
    host = cuda.pinned_array(x.shape, x.dtype)
    host[...] = x
    return host


def to_device(name, is_pinned):
    def build():
        cuda = module(name)
        source = Once(lambda x: pinned(cuda, x) if is_pinned else x, each=True)
        target = Once(cuda.device_array_like)

        def run(x):
            return cuda.to_device(source(x), to=target(x))

        return run

    return build


def to_host(name, is_pinned):
    def build():
        cuda = module(name)
        source = Once(cuda.to_device, each=True)
        target = Once(lambda x: pinned(cuda, x) if is_pinned else np.zeros_like(x))

        def run(x):
            there, here = source(x), target(x)
            there.copy_to_host(here)
            return here

        return run

    return build


def mapped(name):
    def build():
        cuda = module(name)

        @cuda.jit
        def double(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = x[i] + x[i]

        def prepare(x):
            there = cuda.mapped_array(x.shape, x.dtype)
            there[:] = x
            return there

        source = Once(prepare, each=True)
        target = Once(cuda.device_array_like)

        def run(x):
            there, out = source(x), target(x)
            double[(x.size + 255) // 256, 256](there, out)
            return out

        return run

    return build


def pipeline(name, count):
    """Copy, compute, copy in portions, by `count` streams in turn."""

    def build():
        cuda = module(name)

        @cuda.jit
        def work(x, out):
            i = cuda.grid(1)
            if i < x.size:
                v = x[i]
                for _ in range(20):
                    v = math.sqrt(v * v + v)
                out[i] = v

        def prepare(x):
            m = x.size // PORTIONS
            return (
                pinned(cuda, x),
                cuda.pinned_array(x.shape, x.dtype),
                [cuda.device_array(m, x.dtype) for _ in range(PORTIONS)],
                [cuda.device_array(m, x.dtype) for _ in range(PORTIONS)],
                [cuda.stream() for _ in range(count)],
            )

        ready = Once(prepare, each=True)

        def run(x):
            host, back, there, out, streams = ready(x)
            m = x.size // PORTIONS
            for k in range(PORTIONS):
                s, part = streams[k % count], slice(k * m, (k + 1) * m)
                cuda.to_device(host[part], stream=s, to=there[k])
                work[(m + 255) // 256, 256, s](there[k], out[k])
                out[k].copy_to_host(back[part], stream=s)
            cuda.synchronize()
            return back

        return run

    return build


def worked(x):
    v = x
    for _ in range(20):
        v = np.sqrt(v * v + v)
    return v


def cases(quick=False):
    n = 1 << (16 if quick else 25)
    common = {
        "size": f"{4 * n / 1e6:.0f} MB" if n > 1e6 else "262 kB", "n": 4.0 * n, "dtype": "float32",
        "make": lambda i: {"x": fill(n, "float32", n)}, "data": f"host {n}", "stays": True,
        "input_bytes": 4.0 * n, "memory": 24.0 * n,
    }  # fmt: skip

    def case(name, program, arguments, link, reference=lambda x: x, rtol=0.0, moved=4.0):
        programs = {library + ".cuda" * (library == "numba"): program(library, *arguments)
                    for library in ("numbus", "numba")}  # fmt: skip
        return Case(name, name, programs=programs, reference=reference, link=link, rtol=rtol,
                    bytes=moved * n, **common)  # fmt: skip

    yield case("to device, pageable", to_device, (False,), "to")
    yield case("to device, pinned", to_device, (True,), "to")
    yield case("read where mapped", mapped, (), "to", reference=lambda x: x + x)
    yield case("to host, pageable", to_host, (False,), "from")
    yield case("to host, pinned", to_host, (True,), "from")
    for count, name in ((1, "one stream"), (4, "four streams")):
        yield case(f"copy, compute, copy: {name}", pipeline, (count,), "both", worked, 1e-5, 8.0)
