"""Loops of a GPU's kernels that look for Ctrl-C: their results, and which loops look."""

import numpy as np
import pytest
from numbus import cuda

# Around what a poll begins with; so often a loop runs.
LONG = [0, 1, 2, 5, 100, 4095, 4096, 4097, 65535, 65536, 65537, 65541, 131072]
LONG += [262143, 262144, 262145, 300007, 786431, 786432, 786433]


@pytest.mark.parametrize("step", [1, 3, 4, -1, -12])
def test_long_loops(step):
    """Runs of every length: beyond some length they take a copy of the loop, on a GPU."""

    @cuda.jit
    def f(begin, end, by, y):
        i = cuda.grid(1)
        s = t = 1
        for j in range(begin[i], end[i], step):
            s = s * 3 + j
        for j in range(begin[i], end[i], by[i]):
            if by[i] > 0:
                t = t * 5 + j
        k = 0
        for j in range(begin[i], end[i], step):  # noqa: B007
            if k == 70000:
                break
            k += 1
        u = 0
        v = 1
        while u < abs(end[i] - begin[i]) and v != 16807 * 16807:
            u += abs(step)
            v = v * 16807 % 2147483647 if u < 80000 or u % 2 else 16807 * 16807
        y[i, 0] = s
        y[i, 1] = t
        y[i, 2] = k
        y[i, 3] = u
        y[i, 4] = v

    begin = np.array([n * 7 % 5 - 2 for n in range(len(LONG))])
    end = begin + step * np.array(LONG) - np.sign(step) * (np.arange(len(LONG)) % abs(step))
    y = np.zeros((len(LONG), 5), np.int64)
    f[1, len(LONG)](begin, end, np.full(len(LONG), step), y)
    cuda.synchronize()
    for n, (b, e) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        s = t = 1
        for j in range(b, e, step):
            s, t = (s * 3 + j) % 2**64, (t * 5 + j) % 2**64
        wanted = np.array([s, t if step > 0 else 1], np.uint64).view(np.int64)
        assert y[n, :2].tolist() == wanted.tolist(), LONG[n]
        assert y[n, 2] == min(70000, len(range(b, e, step)))
        u, v = 0, 1
        while u < abs(e - b) and v != 16807**2:
            u += abs(step)
            v = v * 16807 % 2147483647 if u < 80000 or u % 2 else 16807**2
        assert y[n, 3:].tolist() == [u, v]


def test_kernels_for_a_gpu_look_at_the_word():
    """All loops but those that are known to be short; those that count have a copy that looks."""

    def short(x, n):
        i = cuda.grid(1)
        z = x[i]
        for _ in range(1000):
            if z > 4.0:
                break
            z = z * z + 0.1
        x[i] = z

    def counts(x, n):
        i = cuda.grid(1)
        z = x[i]
        for j in range(n):
            z = z * 0.5 + j
        x[i] = z

    def two_conditions(x, n):
        i = cuda.grid(1)
        z = x[i]
        k = 0
        while k < n and z * z <= 4.0:
            z = z * z + 0.1
            k += 1
        x[i] = k

    def unknown(x, n):
        i = cuda.grid(1)
        while x[i] < n:
            while x[i] > 1.0:
                x[i] *= 0.5
            x[i] += 0.75

    signature = "void(float64[:], int64)"
    assert "exit;" not in cuda.compile_ptx(short, signature)[0]
    ptx = cuda.compile_ptx(counts, signature)[0]
    assert ptx.count("exit;") == ptx.count("ld.volatile.global.u32") == 1
    ptx = cuda.compile_ptx(two_conditions, signature)[0]
    assert ptx.count("exit;") == 1
    assert '.pragma "nounroll";' not in ptx, "the loop is one of strips, not a copy"
    ptx = cuda.compile_ptx(unknown, signature)[0]
    # A loop may stand there twice, with and without checks of its indices.
    assert 2 <= ptx.count("exit;") == ptx.count("ld.volatile.global.u32")
    # ptxas would evaluate strips whose first values it knows: three gcds took half a minute.
    assert ptx.count("exit;") <= ptx.count('.pragma "nounroll";')
