"""What a GPU gains by streams and pinned memory: copies and work at the same time."""

import time

import numbus as nb
import numpy as np
import pytest
from numbus import _core, cuda

pytestmark = pytest.mark.numbus


@cuda.jit
def spin(out, iterations):
    x = np.float32(cuda.grid(1))
    for _ in range(iterations):
        x = x * np.float32(0.999) + np.float32(0.5)
    if x == np.float32(-1):
        out[0] = x


def seconds(work, repeats=7):
    best = float("inf")
    for _ in range(repeats):
        cuda.synchronize()
        start = time.perf_counter()
        work()
        cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.gpu
def test_copies_and_kernels_overlap():
    a, b = cuda.stream(), cuda.stream()
    h = cuda.pinned_array(1 << 28, np.uint8)
    h[:] = 1
    d, out = cuda.device_array(1 << 28, np.uint8), cuda.device_array(1, np.float32)

    def copy():
        d.copy_to_device(h, stream=a)

    def kernel():
        spin[64, 128, b](out, iterations)

    def both():
        kernel()
        copy()

    t_copy = seconds(copy)
    iterations = 100_000
    iterations = int(iterations * t_copy / seconds(kernel))
    t_kernel = seconds(kernel)
    assert seconds(both) < 0.75 * (t_copy + t_kernel), (t_copy, t_kernel)
    assert (d[::1000].copy_to_host() == 1).all()


@pytest.mark.gpu
def test_copies_overlap_array_work():
    s = cuda.stream()
    h = cuda.pinned_array(1 << 28, np.uint8)
    h[:] = 1
    d, x = cuda.device_array(1 << 28, np.uint8), nb.ones(1 << 28, nb.float32)

    def copy():
        d.copy_to_device(h, stream=s)

    def arrays():
        for _ in range(iterations):
            nb.add(x, 1.0, out=x)
            _core.flush()

    t_copy = seconds(copy)
    iterations = 5
    iterations = max(1, int(iterations * t_copy / seconds(arrays)))
    t_arrays = seconds(arrays)

    def both():
        arrays()
        copy()

    assert seconds(both) < 0.85 * (t_copy + t_arrays), (t_copy, t_arrays)


@pytest.mark.gpu
def test_calls_return_before_the_copy_is_done():
    s = cuda.stream()
    h = cuda.pinned_array(1 << 28, np.uint8)
    h[:] = 3
    d = cuda.device_array(1 << 28, np.uint8)
    d.copy_to_device(h, stream=s)
    s.synchronize()
    start = time.perf_counter()
    d.copy_to_device(h, stream=s)
    called = time.perf_counter() - start
    early = s.done
    s.synchronize()
    whole = time.perf_counter() - start
    assert not early and called < whole / 4


@pytest.mark.gpu
def test_pinned_copies_are_faster():
    pageable = np.ones(1 << 28, np.uint8)
    pinned = cuda.pinned_array(1 << 28, np.uint8)
    pinned[:] = 1
    d = cuda.device_array(1 << 28, np.uint8)
    slow = seconds(lambda: d.copy_to_device(pageable))
    assert seconds(lambda: d.copy_to_device(pinned)) < slow
    slow = seconds(lambda: d.copy_to_host(pageable))
    assert seconds(lambda: d.copy_to_host(pinned)) < slow
