"""Loops over element-private bodies become a loop inside one kernel, its state in registers."""

import numpy as np
import pytest
from helpers import draw, to_numpy

pytestmark = pytest.mark.numbus
MODES = ["eager", "interp", "compiled"]


def mandelbrot(xp, c0, steps):
    c, n = c0.copy(), xp.zeros(c0.shape, "int64")
    for _ in range(steps):
        m = abs(c) < 2
        c[m] = c[m] ** 2 + c0[m]
        n[m] += 1
    return c, n


def rebinding(xp, c0, steps):
    x, y = c0.real, c0.imag * 0.5
    for _ in range(steps):
        before = x
        t = x * 0.5 + y * 0.25
        x, y = y, t - before * 0.125
    return x, y, before


def constant_change(xp, c0, steps):
    x, n = c0.real.copy(), xp.ones(c0.shape, "int32")
    for _ in range(steps):
        x *= 0.75
        x += c0.imag
        n += 2
    return x, n


def keeping_turns(xp, c0, steps):
    x, kept = c0.real, []
    for _ in range(steps):
        y = x * 0.5
        x = y + 1
        kept.append(y)
    return (x, *kept)


def changing_scalar(xp, c0, steps):
    x, y = c0.real, c0.imag
    for k in range(steps):
        x = x * 0.5 + k
        y = y * 0.25 - x
    return x, y


def several_arrays(xp, c0, steps):
    parts = [c0.real * k for k in range(steps)]
    total, square = xp.zeros(c0.shape), xp.zeros(c0.shape)
    for p in parts:
        total += p
        square += p * p
    return total, square


BODIES = [mandelbrot, rebinding, constant_change, keeping_turns, changing_scalar, several_arrays]


@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 30, 100])
def test_result(xp, core, body, steps):
    c0 = draw((7, 37), "complex128", -2, 1)
    core.set_mode("eager")
    eager = [np.asarray(g) for g in body(xp, xp.array(c0), steps)]
    if steps <= 7 or body is not mandelbrot:  # orbits are chaotic
        for g, e in zip(eager, body(np, c0, steps), strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-12)
    for mode in MODES[1:]:
        core.set_mode(mode)
        for g, e in zip(body(xp, xp.array(c0), steps), eager, strict=True):
            np.testing.assert_array_equal(np.asarray(g), e, err_msg=mode)
    core.set_mode("auto")


@pytest.mark.parametrize("body", [mandelbrot, rebinding, constant_change], ids=lambda f: f.__name__)
def test_launches(xp, core, body):
    """Twenty-five iterations and more to a launch."""
    core.set_mode("compiled")
    c0 = xp.array(draw((64, 64), "complex128", -2, 1))
    for _ in range(2):
        xp.synchronize()
        core.reset_stats()
        kept = body(xp, c0, 100)
        xp.synchronize()
        stats = core.stats()
        del kept
    core.set_mode("auto")
    assert stats["launches"] <= 6, stats  # a kernel for each of two that share nothing
    assert stats["compiles"] == 0, stats


def test_other_counts_compile_nothing(xp, core):
    core.set_mode("compiled")
    c0 = xp.array(draw((64, 64), "complex128", -2, 1))
    for steps in range(5, 20):
        mandelbrot(xp, c0, steps)
        xp.synchronize()
        if steps == 5:
            core.reset_stats()
    core.set_mode("auto")
    assert core.stats()["compiles"] <= 1, core.stats()


@pytest.mark.recorded
def test_requests_that_repeat_are_all_done(xp, core):
    """A stopwatch's loop, whose iterations all compute the same."""
    a, b = xp.array(draw((64, 64), "float64")), xp.array(draw((64, 64), "float64"))
    xp.synchronize()
    core.reset_stats()
    for _ in range(10):
        c = a * b
        d = c + 1
    xp.synchronize()
    assert core.stats()["launches"] == 10
    del d


def test_magnitudes_at_the_limit(xp, core):
    """abs(z) < t without a root decides as abs(z) itself does."""
    near = 2 * np.exp(1j * np.linspace(0, 7, 4001))
    scale = 1 + np.arange(-8, 9)[:, None] * 2.0**-53
    odd = np.array([0, np.inf, -np.inf, np.nan, 1e-320, 1e300, 1e-200, 2])
    z = np.concatenate([(near * scale).ravel(), (odd[:, None] + 1j * odd).ravel()])
    for mode in MODES:
        core.set_mode(mode)
        x = xp.array(z)
        size = np.asarray(abs(x))
        for t in (2.0, 1e-320, 1e300, 1e-200, np.inf, np.nan, -1.0, 0.0):
            for op in ("__lt__", "__le__", "__gt__", "__ge__"):
                got = np.asarray(getattr(abs(x), op)(t))
                np.testing.assert_array_equal(got, getattr(size, op)(t), err_msg=f"{t} {op}")
    core.set_mode("auto")


def test_groups_that_go_on_behind_another(xp):
    """Steps of Adam on several parameters: what fuses early in the program ends late, and paths
    between groups lead through it.
    """

    def train(np, steps=12, n=40):
        r = np.random.default_rng(9)
        x = r.normal(size=(n, 20))
        y = (np.sin(x[:, :3]).sum(1) > 0).astype(int)
        hot = np.eye(2)[y]
        w1, b1 = r.normal(size=(20, 64)) * 0.1, np.zeros(64)
        w2, b2 = r.normal(size=(64, 2)) * 0.1, np.zeros(2)
        params = [w1, b1, w2, b2]
        m, v = ([np.zeros_like(p) for p in params] for _ in range(2))
        for step in range(steps):
            h = np.maximum(0, x @ w1 + b1)
            z = h @ w2 + b2
            z = z - z.max(axis=1, keepdims=True)
            e = np.exp(z)
            p = e / e.sum(axis=1, keepdims=True)
            loss = -np.log(p[np.arange(len(y)), y] + 1e-12).mean()
            dz = (p - hot) / len(y)
            dw2, db2, dh = h.T @ dz, dz.sum(0), dz @ w2.T
            dh[h <= 0] = 0
            dw1, db1 = x.T @ dh, dh.sum(0)
            for i, (p, g) in enumerate(zip(params, [dw1, db1, dw2, db2])):
                m[i] = 0.9 * m[i] + 0.1 * g
                v[i] = 0.999 * v[i] + 0.001 * g * g
                mh, vh = m[i] / (1 - 0.9 ** (step + 1)), v[i] / (1 - 0.999 ** (step + 1))
                p -= 0.01 * mh / (np.sqrt(vh) + 1e-8)
            if step == 0:
                float(loss)
        return float(loss)

    assert train(xp) == pytest.approx(train(np), rel=1e-9)


def knapsack(xp, weights, values, capacity=2000):
    best = xp.zeros(capacity + 1, "int64")
    for w, v in zip(weights, values, strict=True):
        best[w:] = xp.maximum(best[w:], best[:-w] + v)
    return best


def moving_windows(xp, begins, lengths, n=3000):
    """Two results with names in each iteration."""
    a, total = xp.arange(n) * 0.5, xp.zeros(n)
    for b, k in zip(begins, lengths, strict=True):
        part = a[b : b + k] * 1.5
        a[b : b + k] = part - 1
        total[k : 2 * k] += part
    return a, total


def test_positions_in_an_order_of_their_own(xp, core):
    """Windows of several iterations would each ask for a plan; those of one iteration are known."""
    r = np.random.default_rng(5)
    for f, low, high in (
        (knapsack, (1, 1), (100, 1000)),
        (moving_windows, (0, 1200), (1000, 1500)),
    ):
        for _ in range(2):
            first, second = (r.integers(low[k], high[k], 6000).tolist() for k in range(2))
            want = f(np, first, second)
            core.reset_stats()
            got = f(xp, first, second)
            stats = core.stats()
            for g, w in zip(got, want, strict=True):
                assert np.array_equal(to_numpy(g), w)
            assert stats["plan_misses"] <= 30, (f.__name__, stats)
