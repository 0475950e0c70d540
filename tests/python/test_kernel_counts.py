"""How many kernels the example programs take: plain NumPy code, counted by `stats()`."""

import contextlib
import time

import numpy as np
import pytest

pytestmark = pytest.mark.numbus
N = 512


class Counter:
    def __init__(self, nb, core):
        self.nb, self.core = nb, core

    def of(self, body, warm=2):
        """stats() of one call of body after `warm` calls; all input is computed before."""
        for _ in range(warm):
            body()
            self.nb.synchronize()
        self.core.reset_stats()
        kept = body()
        self.nb.synchronize()
        stats = dict(self.core.stats())
        del kept
        return stats


@pytest.fixture(params=["default", "null"])
def count(xp, core, request):
    """Counts on the device under test, and on none: plans are the same without any hardware."""
    core.set_mode("compiled")
    with xp.device("null") if request.param == "null" else contextlib.nullcontext():
        yield Counter(xp, core)
    core.set_mode("auto")


def data(xp, *shape, dtype="float64", n=1):
    r = np.random.default_rng(0)
    out = [xp.array(r.uniform(0.5, 1.5, shape).astype(dtype)) for _ in range(n)]
    xp.synchronize()
    return out if n > 1 else out[0]


def check(stats, launches=1):
    assert stats["launches"] == launches, stats
    assert stats["compiles"] == 0, f"a second iteration compiles nothing: {stats}"
    assert stats["fallbacks"] == 0 or not stats["fallbacks"], stats


def test_heat_step(xp, count):
    state = dict(zip("pf", data(xp, N, N, n=2)))

    def step():
        p, f = state["p"], state["f"]
        q = p.copy()
        q[1:-1, 1:-1] = 0.25 * (
            p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - f[1:-1, 1:-1]
        )
        norm = xp.linalg.norm(q - p)
        state["p"] = q
        return float(norm)

    check(count.of(step))


def test_mandelbrot_step(xp, count):
    x, y = data(xp, N, N, n=2)
    state = {"c": x + 1j * y, "it": xp.zeros((N, N), "int64")}
    c0 = state["c"].copy()
    xp.synchronize()

    def step():
        c, it = state["c"], state["it"]
        mask = abs(c) < 2
        c[mask] = c[mask] ** 2 + c0[mask]
        it[mask] += 1
        return mask if False else None

    check(count.of(step))


def chain(xp, S, K, T):
    d1 = (xp.log(S / K + 1e-3) + 0.065 * T) / (0.3 * xp.sqrt(T))
    d2 = d1 - 0.3 * xp.sqrt(T)
    return S * (0.5 + 0.5 * xp.tanh(0.797 * d1)) - K * xp.exp(-0.02 * T) * (
        0.5 + 0.5 * xp.tanh(0.797 * d2)
    )


def test_chain(xp, count):
    S, K, T = data(xp, 100_000, dtype="float32", n=3)
    check(count.of(lambda: chain(xp, S, K, T)))


def test_chain_summed(xp, count):
    S, K, T = data(xp, 100_000, dtype="float32", n=3)
    check(count.of(lambda: float(chain(xp, S, K, T).sum())))


def test_smoothing(xp, count):
    a = data(xp, N, N)

    def smooth():
        total = a[1:-1, 1:-1] * 0.2
        for i in range(3):
            for j in range(3):
                if (i, j) != (1, 1):
                    total = total + 0.1 * a[i : N - 2 + i, j : N - 2 + j]
        return total

    check(count.of(smooth))


def test_nine_slices_in_one_expression(xp, count):
    a = data(xp, N, N)

    def smooth():
        b = xp.zeros_like(a)
        b[1:-1, 1:-1] = (
            a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:] + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:]
            + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]
        ) / 9  # fmt: skip
        return b

    check(count.of(smooth))


def test_std(xp, count):
    a = data(xp, N, N)
    check(count.of(lambda: float(a.std())))
    check(count.of(lambda: float(xp.std(a * 2 + 1))))


def test_several_reductions_of_one_input(xp, count):
    a = data(xp, N, N)

    def body():
        s, m, x = a.sum(), a.mean(), a.max()
        return s, m, x

    check(count.of(body))


def test_sincos(xp, count):
    a = data(xp, N, N)
    check(count.of(lambda: xp.sin(a) ** 2 + xp.cos(a) ** 2))


def test_interior_update_in_place(xp, count):
    p = data(xp, N, N)

    def step():
        p[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])

    check(count.of(step))


def test_conflicting_writes_do_not_fuse(xp, count):
    a, x = data(xp, 1000, n=2)
    y = x[1:] * 2
    xp.synchronize()

    def body():
        a[:-1] = y
        a[1:] = y

    assert count.of(body)["launches"] == 2


def test_temporaries_get_no_storage(xp, count):
    a = data(xp, N, N)
    stats = count.of(lambda: ((a + 1) * 2 - a) * a)
    assert stats["contracted_bytes"] >= 3 * N * N * 8, stats


def test_dropped_results_are_computed(xp, count):
    """A stopwatch tells the truth: what was asked for is computed, read or not."""
    a = data(xp, N, N)

    def body():
        for _ in range(3):
            b = xp.sin(a)
        return b

    check_launches = count.of(body)
    assert check_launches["instructions"] == 3
    assert check_launches["launches"] >= 1


def test_thousand_sizes_compile_at_most_four(xp, core, count):
    def body(n):
        a = xp.ones(n)
        return float(((a + 1.5) * a - a / 3).sum())

    core.reset_stats()
    for n in range(1, 1001):
        body(n)
    assert core.stats()["compiles"] <= 4 * 2, core.stats()  # ones, and the chain


def test_thousand_grids_compile_at_most_four(xp, core, count):
    r = np.random.default_rng(1)
    arrays = [xp.ones((int(n), int(m))) for n, m in r.integers(3, 200, (300, 2))]
    xp.synchronize()
    core.reset_stats()
    for a in arrays:
        b = a[1:-1, 1:-1] + a[:-2, 1:-1] * 0.5
        xp.synchronize()
        del b
    assert core.stats()["compiles"] <= 4, core.stats()


def test_plans_are_reused(xp, core, count):
    a = data(xp, 1000)

    def body():
        b = a * 2 + 1
        return float(b.sum())

    stats = count.of(body)
    assert stats["plan_hits"] == stats["flushes"] >= 1, stats


def test_loop_makes_no_new_kernels(xp, core, count):
    """A loop without reads is cut at its period: no ever-new windows."""
    state = {"p": data(xp, 300, 300)}

    def steps(n):
        for _ in range(n):
            p = state["p"]
            q = p.copy()
            q[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])
            state["p"] = q
        xp.synchronize()

    steps(150)
    core.reset_stats()
    steps(150)
    assert core.stats()["compiles"] == 0, core.stats()
    assert core.stats()["launches"] <= 150, core.stats()


def test_bytes_on_no_device_at_all(xp, core):
    """What a program moves is counted without hardware, and without time that depends on it."""
    core.set_mode("auto")
    with xp.device("null"):
        counter, n = Counter(xp, core), 10**9
        S, K, T = (xp.empty(n, "float32") for _ in range(3))
        stats = counter.of(lambda: chain(xp, S, K, T))
        assert (stats["launches"], stats["bytes_moved"]) == (1, 4 * 4 * n)
        stats = counter.of(lambda: float(chain(xp, S, K, T).sum()))
        assert (stats["launches"], stats["bytes_moved"]) == (1, 3 * 4 * n)
        a = xp.empty((n // 1000, 1000))
        stats = counter.of(lambda: float((a * 2 + 1).std()))
        assert (stats["launches"], stats["bytes_moved"]) == (1, 8 * n)
        it = xp.empty(n, "int64")

        def masked():
            m = a.reshape(n) > 1
            it[m] += 1

        stats = counter.of(masked)
        assert (stats["launches"], stats["bytes_moved"]) == (1, 3 * 8 * n)
        p = xp.empty((n // 1000, 1000))

        def smooth():
            return p[:-2] + p[1:-1] + p[2:]

        i = xp.empty(n, "int64")
        stats = counter.of(lambda: S[i] + T)
        assert (stats["launches"], stats["bytes_moved"]) == (1, (8 + 3 * 4) * n)
        stats = counter.of(smooth)
        assert (stats["launches"], stats["bytes_moved"]) == (1, 8 * n + 8 * (n - 2000))


def test_stats_keys(xp):
    keys = "instructions flushes plan_hits compiles launches contracted_bytes fallbacks".split()
    assert set(keys) <= set(xp.stats())


@pytest.mark.cpu
def test_parts_beside_the_whole_cost_no_more(xp):
    """A part of what a kernel computes, and a small array, next to which there may be no memory:
    masked accesses of such addresses took a hundred times as long as the whole kernel.
    """
    a, c = xp.arange(10.0**6).reshape(1000, 1000), xp.arange(10.0**4).reshape(10, 1000)

    def whole():
        return a * 2

    def parts():
        y = a * 2
        first, last = y[:10] + c, y[-1:] * 3
        return y, first, last

    def fastest(function):
        times = []
        for _ in range(15):
            start = time.perf_counter()
            kept = function()
            xp.synchronize()
            times.append(time.perf_counter() - start)
            del kept
        return min(times)

    _, first, last = parts()
    want = np.arange(10.0**6).reshape(1000, 1000) * 2
    np.testing.assert_array_equal(first, want[:10] + np.arange(10.0**4).reshape(10, 1000))
    np.testing.assert_array_equal(last, want[-1:] * 3)
    assert fastest(parts) < 15 * fastest(whole)
