"""Windows carried out without a plan: the same bits, errors and memory as with one, and only while
that costs less.
"""

import numpy as np
import pytest
from conftest import DEVICE

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

NEVER, ESTIMATED, ALWAYS = 0, 1, 2


@pytest.fixture
def without(core):
    """Sets when windows are carried out without a plan; operations are all recorded."""
    before = core.set_at_once(0)
    yield core.set_without_plan
    core.set_at_once(before)


# Each line changes or makes arrays: x and y float64 (5, 700), t int32 (700,), m a mask of x's
# shape, z complex (40, 60), f in Fortran's order (30, 50).
PROGRAMS = {
    "chain": "r = (x * y + 1.5) / (x - y) - abs(x)",
    "casts": "r = x.astype('f4') + t; s = (x > y) + t.astype('i1'); q = x.astype('?') | m",
    "half": "r = x.astype('f2') * 2; s = r.astype('f8') + x",
    "complex": "r = z * z.conj() + 1j; s = abs(z) + z.real; q = (z == z.T.copy().T)",
    "functions": "r = xp.exp(x) + xp.arctan2(x, y); s = xp.isnan(xp.log(x))",
    "integers": "r = t // 3 + t % 7; s = t << 2; q = t ** 2; p = (t - 350) // -4",
    "choices": "r = xp.where(m, x, y); s = xp.where(x > 0, 1, t)",
    "boxes": "r = x.copy(); r[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, 2:]) / 3",
    "shifted": "r = x.copy(); r[:, 1:] = r[:, :-1] * 2; r[:, :-3] += r[:, 3:]; r[::-1] -= r",
    "in place": "r = x.copy(); r += y; r *= r; r[m] = 7; r[r > 8] -= 1; xp.negative(r, out=r)",
    "orders": "r = f + 1; s = f.T * r.T; q = f + s.T; p = f[::2, ::-3] - f[::2, ::3]",
    "lines": "r = x[:, ::7] * y[:, ::7]; s = x[::-2, 5:600:3] + 1; q = x[:, None] + y[:, :1, None]",
    "counting": "r = xp.arange(3000) * 2; s = xp.arange(2500, dtype='f4') - 0.5; q = r[::-1] + 1",
    "sums": "r = (x * y).sum(); s = (x + y).mean(0) * 2; q = x.max(1); p = x - q[:, None]",
    "indices": "r = (x * 2)[:, t]; s = x.copy(); s[:, t[:5]] = 1; q = r.sum(1) + 1; p = s * 2 + s",
    "routines": "r = xp.sort(x + y, axis=1) * 2; s = (x * 2) @ y.T + 1; q = xp.cumsum(t + 1) - 1",
    "dropped": "x + y; r = x - y; s = r * 2; r = s + 1; s = None",
    "nothing": "r = x[:, :0] * 2; s = r.sum() + x[0, 0]; q = xp.zeros((0, 3)) + 1",
    "one": "r = xp.array(3.0) * x[0, 0] + 1; s = r * r; q = xp.full((1, 1), 2) + t[5]",
    "loop": "r = x\nfor k in range(9):\n    r = r * 0.5 + y * 2 - k\n    r = r - x",
    "overwritten": "r = x.copy(); r[...] = y; r[0] = x[1]; r[...] = r + 1",
}


def arrays(xp):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(5, 700)), rng.normal(size=(5, 700))
    t = rng.integers(0, 700, 700).astype("i4")
    z = rng.normal(size=(40, 60)) + 1j * rng.normal(size=(40, 60))
    f = np.asfortranarray(rng.normal(size=(30, 50)))
    made = {"x": x, "y": y, "t": t, "m": x > 0.3, "z": z, "f": f}
    return {name: xp.array(a) for name, a in made.items()}


def run(text, xp):
    names = {"xp": xp, **arrays(xp)}
    with np.errstate(all="ignore"):
        exec(compile(text, "program", "exec"), names)
    return [np.asarray(names[n]) for n in "rsqpxy" if names.get(n) is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_those_of_plans(xp, core, without, name):
    without(NEVER)
    want = run(PROGRAMS[name], xp)
    without(ALWAYS)
    before = core.stats()["unplanned"]
    got = run(PROGRAMS[name], xp)
    assert core.stats()["unplanned"] > before
    for g, w, n in zip(got, want, run(PROGRAMS[name], np), strict=True):
        assert (g.dtype, g.shape, g.strides) == (w.dtype, w.shape, w.strides)
        assert g.tobytes() == w.tobytes()
        np.testing.assert_allclose(g, n, 1e-6 if name == "half" else 1e-10, 1e-10)


@pytest.mark.parametrize("t", ["f4", "f8", "i4", "u1", "?"])
@pytest.mark.parametrize("n", [1, 33, 1024, 1025, 5000, 16384, 16385, 40_000])
def test_sums_have_the_bits_of_plans(xp, core, without, n, t):
    a = (np.random.default_rng(n).normal(size=n) * 50).astype(t)
    names = "sum prod min max mean var std argmax argmin any all ptp".split()
    results = []
    for way in (NEVER, ALWAYS):
        without(way)
        x = xp.array(a)
        made = [getattr(xp, f)(x + x) for f in names if (t, f) != ("?", "ptp")]
        made += [(x * 2 + x).reshape(-1, n).max(axis=k) for k in (0, 1)]
        made += [(x + x).sum(where=x > 0), (x * 3).mean(dtype="f8", keepdims=True)]
        results.append([np.asarray(m) for m in made])
    for planned, direct in zip(*results, strict=True):
        assert direct.dtype == planned.dtype and direct.tobytes() == planned.tobytes()


def steps(xp, x, y):
    for _ in range(3):
        x = (x + y) * 0.5 - abs(x) + y / 3 - (x - 1) * (y + 2) + x * y * 0.25
        y = y - x * 0.125 + (x + 1) / (abs(y) + 2) - 0.5 * (y - 3) + (x - y) * 0.0625
    return x - y


def test_windows_that_come_again_are_planned(xp, core, without):
    without(ESTIMATED)
    core.forget_plans()
    seen = []
    for n in range(150):
        x, y = xp.arange(1000.0 + n) / 7, xp.arange(1000.0 + n)
        before = core.stats()
        result = np.asarray(steps(xp, x, y))
        after = core.stats()
        np.testing.assert_array_equal(
            result, steps(np, np.arange(1000.0 + n) / 7, np.arange(1000.0 + n))
        )
        seen.append(tuple(after[k] - before[k] for k in ("unplanned", "plan_misses", "plan_hits")))
    assert seen[0][0] >= 1 and seen[0][1] == 0, seen
    assert seen[-1][0] == 0 and seen[-1][1] == 0 and seen[-1][2] >= 1, seen
    assert sum(s[1] for s in seen) <= 6, seen


def test_large_work_is_planned_at_once(xp, core, without):
    without(ESTIMATED)
    core.forget_plans()
    x = xp.arange(1_000_000.0)
    before = core.stats()
    steps(xp, x, x + 1)[0].item()
    assert core.stats()["unplanned"] == before["unplanned"]


def test_errors_meet_what_depends_on_them(xp, without):
    without(ALWAYS)
    x = xp.arange(2000.0)
    index = xp.arange(2000) * 1
    index[1500] = 2001
    good = x * 2
    bad = (x + 1)[index * 1] * 3
    after = bad + good
    other = good - 1
    with pytest.raises(IndexError, match="index 2001"):
        np.asarray(other)
    np.testing.assert_array_equal(np.asarray(other), np.arange(2000.0) * 2 - 1)
    np.testing.assert_array_equal(np.asarray(good), np.arange(2000.0) * 2)
    for lost in (bad, after):
        with pytest.raises(IndexError, match="index 2001"):
            np.asarray(lost)


def test_wrong_indices_write_nothing(xp, without):
    without(ALWAYS)
    x = xp.arange(3000.0)
    index = xp.arange(10) * 1
    index[7] = -3001
    x += 1
    x[index * 1] = 5
    with pytest.raises(IndexError, match="-3001"):
        np.asarray(x)
    np.testing.assert_array_equal(np.asarray(x), np.arange(3000.0) + 1)


def test_negative_exponents(xp, without):
    without(ALWAYS)
    x = xp.arange(2000) + 1
    with pytest.raises(ValueError, match="negative integer powers"):
        np.asarray(x ** (x - 1000))


def test_memory_of_what_is_dead_is_given_back(xp, core, without):
    """At the latest with the window; most of it before, for the next instructions."""
    without(ALWAYS)
    x = xp.ones(100_000)
    np.asarray(x)
    used = core.memory_stats("cpu")["used_bytes"]
    for _ in range(3):
        result = steps(xp, x, x)
        np.asarray(result)
    assert core.memory_stats("cpu")["used_bytes"] <= used + 2 * x.nbytes
    del result
    assert core.memory_stats("cpu")["used_bytes"] <= used + x.nbytes


def test_unknown_choices_are_refused(core):
    with pytest.raises(ValueError, match="expected 0, 1 or 2"):
        core.set_without_plan(3)
    assert DEVICE == "cpu"
