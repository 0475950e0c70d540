"""cuda.shared.array and cuda.local.array whose extent is an argument of a device function that is
constant where the kernel calls it; cuda.fp16.
"""

import numpy as np
import pytest
from numbus import cuda
from numbus.kernels import CompileError
from numbus.kernels._made import make

WIDTH = 16


@cuda.jit(device=True)
def rotated(n, i, x):
    s = cuda.shared.array(n, np.float64)
    s[i] = x
    cuda.syncthreads()
    return s[(i + 1) % n]


@cuda.jit(device=True)
def summed(n, m):
    a = cuda.local.array((n, m), np.int64)
    for i in range(n):
        for k in range(m):
            a[i, k] = i * m + k
    t = 0
    for i in range(n):
        for k in range(m):
            t += a[i, k]
    return t


@cuda.jit(device=True)
def passed_on(n, i):
    return rotated(n, i, float(i)) + summed(2, n)


def test_each_constant_has_memory_of_its_own():
    @cuda.jit
    def kernel(a, b):
        i = cuda.threadIdx.x
        a[i] = rotated(32, i, float(i))
        cuda.syncthreads()
        if i < WIDTH:
            b[i] = 0
        b[i] = rotated(2 * WIDTH, i, 10.0 * i) + summed(3, 2) + summed(WIDTH, 1)

    a, b = np.zeros(32), np.zeros(32)
    kernel[1, 32](a, b)
    cuda.synchronize()
    n = np.arange(1, 33) % 32
    assert (a == n).all() and (b == 10 * n + 15 + 120).all()


def test_passed_on():
    @cuda.jit
    def kernel(a):
        a[cuda.threadIdx.x] = passed_on(8, cuda.threadIdx.x)

    a = np.zeros(8)
    kernel[1, 8](a)
    cuda.synchronize()
    assert (a == np.arange(1, 9) % 8 + 120).all()


def test_what_is_not_constant_is_told():
    @cuda.jit
    def kernel(a, n):
        a[0] = rotated(n, 0, 1.0)

    with pytest.raises(CompileError, match="has to be known while compiling"):
        kernel[1, 1](np.zeros(1), 3)


F16 = [np.float16(v) for v in (0.1, -1.5, 2.0, 3.25, 1000.0, -0.0, np.inf, np.nan, 6e-8, 60000)]


@pytest.mark.parametrize("name", cuda.fp16.__all__)
def test_fp16(name):
    f = getattr(cuda.fp16, name)
    count = len(f._names)
    wide = {
        "hadd": lambda x, y: x + y, "hsub": lambda x, y: x - y, "hmul": lambda x, y: x * y,
        "hdiv": np.divide, "hfma": lambda x, y, z: x * y + z, "hneg": np.negative, "habs": np.abs,
        "hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10,
        "hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: 10.0**x, "hfloor": np.floor,
        "hceil": np.ceil, "htrunc": np.trunc, "hrint": np.rint, "hsqrt": np.sqrt,
        "hrsqrt": lambda x: 1 / np.sqrt(x), "hrcp": lambda x: 1 / x, "hmax": np.fmax,
        "hmin": np.fmin, "heq": np.equal, "hne": np.not_equal, "hge": np.greater_equal,
        "hgt": np.greater, "hle": np.less_equal, "hlt": np.less,
    }[name]  # fmt: skip

    source = {1: "f(x[i])", 2: "f(x[i], y[i])", 3: "f(x[i], y[i], z[i])"}[count]
    kernel = cuda.jit(make("kernel", ["def kernel(out, x, y, z):", "    i = grid(1)",
                                      "    if i < out.size:", f"        out[i] = {source}"],
                           f=f, grid=cuda.grid))  # fmt: skip
    every = np.array(np.meshgrid(F16, F16, F16), np.float16).reshape(3, -1)
    x, y, z = (np.ascontiguousarray(row) for row in every)
    out = np.zeros(x.size, bool if name in ("heq", "hne", "hge", "hgt", "hle", "hlt") else "f2")
    kernel[-(-x.size // 128), 128](out, x, y, z)
    cuda.synchronize()
    with np.errstate(all="ignore"):
        want = wide(*(v.astype(np.float64) for v in (x, y, z)[:count])).astype(out.dtype)
    if out.dtype == bool:
        assert (out == want).all()
        return
    exact = name in ("hadd hsub hmul hdiv hfma hneg habs hfloor hceil htrunc hrint hsqrt hrcp "
                     "hmax hmin hrsqrt").split()  # fmt: skip
    one = 0 if exact else 1
    same = (out == want) | (np.isnan(out) & np.isnan(want))
    near = np.abs(out.view(np.int16).astype(int) - want.view(np.int16)) <= one
    assert (same | near).all(), (x[~(same | near)], out[~(same | near)], want[~(same | near)])
