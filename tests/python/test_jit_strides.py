"""Compiled views of another type, frombuffer and as_strided, against NumPy."""

import numpy as np
import pytest
from jit_check import FLOATS, INTS, check, function_of, layouts
from numbus import njit

TYPES = [*INTS, *FLOATS, "complex64", "complex128"]


@pytest.mark.parametrize("source", TYPES)
def test_views_of_another_type(source):
    for target in TYPES:
        f = function_of("a.view(to)", to=np.dtype(target).type)
        for shape in ((8,), (3, 4), (2, 3), (0,), (3,)):
            for a in layouts(shape, source):
                with np.errstate(invalid="ignore"):
                    check(f, a, rtol=0)


def test_a_view_shares_memory():
    def f(a):
        b = a.view(np.uint8)
        b[0] = 7
        return b.size

    a = np.zeros(3, np.int32)
    assert njit(f)(a) == 12 and a.tolist() == [7, 0, 0]


@pytest.mark.parametrize("source", ["uint8", "int16", "float64", "complex128"])
@pytest.mark.parametrize("target", ["uint8", "int32", "float32", "complex64"])
def test_from_buffer(source, target):
    rng, to = np.random.default_rng(5), np.dtype(target).type
    for _ in range(12):
        n, count, offset = rng.integers(0, 20), rng.integers(-1, 6), rng.integers(0, 24)
        a = rng.integers(0, 100, n).astype(source)

        def f(a, k, o):
            return np.frombuffer(a, to, k, o).copy()

        def g(a):
            return np.frombuffer(a, dtype=to).copy()

        for function, given in ((f, (int(count), int(offset))), (g, ())):
            try:
                want = function(a, *given)
            except ValueError:
                if n == 0:
                    continue  # NumPy takes no empty buffers
                with pytest.raises(ValueError):
                    njit(function)(a, *given)
                continue
            got = njit(function)(a, *given)
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_as_strided(axes):
    rng = np.random.default_rng(axes)
    f = njit(lambda a, shape, strides: np.lib.stride_tricks.as_strided(a, shape, strides).copy())
    for _ in range(60):
        a = rng.integers(0, 100, rng.integers(1, 12)).astype(np.int32)
        shape = tuple(int(v) for v in rng.integers(0, 4, axes))
        strides = tuple(int(v) * 4 for v in rng.integers(0, 3, axes))
        last = sum((n - 1) * s for n, s in zip(shape, strides)) + 4
        if 0 in shape or last <= a.nbytes:
            want = np.lib.stride_tricks.as_strided(a, shape, strides).copy()
            np.testing.assert_array_equal(f(a, shape, strides), want)
        else:
            with pytest.raises(ValueError, match="reach outside"):
                f(a, shape, strides)


def test_as_strided_windows_are_written_through():
    def f(a):
        w = np.lib.stride_tricks.as_strided(a, (4, 3), (8, 8))
        w[1] = 5.0
        return w.sum()

    check(f, np.arange(6.0))


def test_attributes_by_text():
    check(lambda a: (getattr(a, "size"), getattr(a, "ndim", 3), hasattr(a, "shape")), np.ones(3))  # noqa: B009
    check(lambda a: getattr(a, "T").copy(), np.ones((2, 3)))  # noqa: B009
    check(lambda a: repr(a), 3)
    check(lambda a: repr(a), 2.5)


def test_recompiled_functions_see_the_globals_of_now():
    added = [1]

    def make():
        k = added[0]

        def f(x):
            return x + k

        def change(v):
            nonlocal k
            k = v

        return f, change

    f, change = make()
    g = njit(f)
    assert (g(1), g(1.5)) == (2, 2.5)
    change(10)
    assert g(1) == 2
    g.recompile()
    assert (g(1), g(1.5)) == (11, 11.5) and len(g.signatures) == 2
    g.disable_compile()
    g.recompile()
    assert g(1) == 11
    with pytest.raises(TypeError):
        g(1j)
