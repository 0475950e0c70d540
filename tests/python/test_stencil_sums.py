"""Sums over grids whose rows a GPU walks down, quotients by one number: bits as in eager steps."""

import numbus as nb
import numpy as np
import pytest

# Rows of whole GPU blocks, in strips of four, two and one rows; rows that are none.
SHAPES = [(1150, 512), (1061, 1024), (1100, 544), (601, 1536), (160, 5632)]


def step(xp, p, f):
    q = p.copy()
    q[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1])
    return q, ((q - p) ** 2).sum(), (q - p).var()


def two_boxes(xp, p, f):
    q = f * 0.5
    q[2:, :-3] = p[:-2, 3:] - p[2:, :-3]
    q[:-1, 1:] += p[1:, :-1] / 3.0
    return q, q.sum(), abs(q).max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("code", [step, two_boxes])
def test_eager_and_fused(code, shape, dtype):
    r = np.random.default_rng(3)
    p, f = (r.random(shape).astype(dtype) for _ in range(2))
    P, F = nb.array(p), nb.array(f)
    nb.synchronize()
    got = [np.asarray(x) for x in code(nb, P, F)]
    with_eager = []
    q = P.copy() if code is step else F * 0.5
    nb.synchronize()
    if code is step:
        inner = P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:] - F[1:-1, 1:-1]
        nb.synchronize()
        q[1:-1, 1:-1] = 0.25 * inner
        nb.synchronize()
        d = q - P
        nb.synchronize()
        with_eager = [q, (d**2).sum(), d.var()]
    else:
        q[2:, :-3] = P[:-2, 3:] - P[2:, :-3]
        nb.synchronize()
        q[:-1, 1:] += P[1:, :-1] / 3.0
        nb.synchronize()
        with_eager = [q, q.sum(), abs(q).max()]
    for a, b in zip(got, with_eager):
        np.testing.assert_array_equal(a, np.asarray(b))
    want = code(np, p, f)
    np.testing.assert_array_equal(got[0], want[0])
    for a, b in zip(got[1:], want[1:]):
        np.testing.assert_allclose(a, b, rtol=1e-4 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 7, 513, 270_337, 3_000_001])
def test_std_of_lengths(n, dtype):
    x = (np.random.default_rng(n).random(n) + 3).astype(dtype)
    got = float(nb.std(nb.array(x)))
    assert got == pytest.approx(float(np.std(x.astype("float64"))), rel=1e-5, abs=1e-7)
    # The same where the values are computed on the way, from two reads.
    a, b = nb.array(x), nb.array(np.zeros(n, dtype))
    nb.synchronize()
    assert float((a + b).std()) == got


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("by", [9.0, 3.0, -7.0, 0.0, np.inf, 1e-300, 1e30, 1e-40])
def test_quotients_by_one_number(by, dtype):
    """Smoothing divides rows at once by a reciprocal; every dividend that this does not suit."""
    t = np.dtype(dtype).type
    info = np.finfo(t)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, -info.smallest_subnormal, info.max, 1.0]
    r = np.random.default_rng(5)
    a = r.standard_normal((41, 260)).astype(t)
    a[::5, ::7] = r.choice(np.array(edges, t), a[::5, ::7].shape)
    b = a * t(2) ** r.integers(-140, 120, a.shape).astype(t)
    with np.errstate(all="ignore"):
        for x in (a, b):
            for c in (x, np.zeros_like(x), -np.zeros_like(x)):
                X = nb.array(c)
                got = np.asarray((X[:-2, 1:-1] + X[2:, 1:-1] + X[1:-1, 2:]) / t(by))
                want = (c[:-2, 1:-1] + c[2:, 1:-1] + c[1:-1, 2:]) / t(by)
                np.testing.assert_array_equal(got, want)
                known = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got)[known], np.signbit(want)[known])
                np.testing.assert_array_equal(np.asarray(nb.array(c) / t(by)), c / t(by))
