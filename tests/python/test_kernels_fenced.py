"""Kernels where the default device has memory of its own and runs on the host, as in tests."""

import itertools
import os
import subprocess
import sys

import numbus as nb
import numpy as np
import pytest
from numbus import cuda, njit

PLACES = {
    "numpy": np.array,
    "cpu": lambda a: nb.to_device(nb.array(a), "cpu"),
    "fenced": lambda a: nb.to_device(nb.array(a), "fenced"),
}


@cuda.jit
def doubled(x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = 2 * x[i]


@cuda.jit
def counted(total, x):
    i = cuda.grid(1)
    part = cuda.shared.array(4, np.float64)
    part[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    cuda.atomic.add(total, 0, part[3 - cuda.threadIdx.x])


@cuda.jit
def outside(x):
    x[cuda.grid(1) + 3] = 1.0


def check_kernels():
    """Also run by itself with the fenced device as the default."""
    for source, target in itertools.product(PLACES.values(), repeat=2):
        x, y = source([1.0, 2.0, 3.0]), target(np.zeros(6))
        doubled[1, 8](x[::-1], y[::2])
        assert y.tolist() == [6.0, 0.0, 4.0, 0.0, 2.0, 0.0]
    for place in PLACES.values():
        total, x = place([0.0]), place(np.arange(8.0))
        counted[2, 4](total, x)
        assert total.tolist() == [28.0]
        doubled[1, 4](x[:4], x[4:])
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 2.0, 4.0, 6.0]
        with pytest.raises(IndexError, match="axis 0 of 'x'"):
            outside[1, 8](x)
            nb.synchronize()  # a GPU tells then


def check_cupy():
    from numbus.compat import cupy

    element = cupy.ElementwiseKernel("T x, T y", "T z", "z = x - y", "difference")
    assert element(cupy.arange(4.0), 2.0).tolist() == [-2.0, -1.0, 0.0, 1.0]
    raw = cupy.ElementwiseKernel("raw T x, T y", "T z", "z = x[i] - y", "raw_difference")
    out = cupy.zeros(4)
    raw(cupy.arange(4.0), cupy.ones(4), out)
    assert out.tolist() == [-1.0, 0.0, 1.0, 2.0]
    total = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert float(total(cupy.arange(4.0))) == 6.0


def test_kernels_on_the_cpu_write_to_fenced_arrays():
    check_kernels()


def test_kernels_on_the_fenced_device():
    text = "import test_kernels_fenced as t; t.check_kernels(); t.check_cupy()"
    env = os.environ | {"NUMBUS_DEVICE": "fenced"}
    folder = os.path.dirname(__file__)
    run = subprocess.run(
        [sys.executable, "-c", text], env=env, cwd=folder, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@njit
def shifts(x, y):
    for i in range(y.size):
        y[i] = x[i] + 1


@njit
def added(x, y):
    return (x + y).sum()


def test_arrays_of_another_device_that_overlap():
    """Compiled functions see copies of them: what would be lost is told, and nothing is changed."""
    a = PLACES["fenced"]([1.0, 2.0, 3.0, 4.0])
    shifts(a[:2], a[2:])
    assert a.tolist() == [1.0, 2.0, 2.0, 3.0]
    shifts(a[::2], a[1::2])
    assert a.tolist() == [1.0, 2.0, 2.0, 3.0]
    shifts(a, a)
    assert a.tolist() == [2.0, 3.0, 3.0, 4.0]
    assert added(a[1:], a[:-1]) == 18.0
    for f in (shifts, lambda x, y: njit(lambda t: shifts(t[0], t[1]))((x, y))):
        with pytest.raises(ValueError, match="share elements on fenced"):
            f(a[:3], a[1:])
        assert a.tolist() == [2.0, 3.0, 3.0, 4.0]
