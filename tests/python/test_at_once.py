"""Small operations on what is at rest: carried out at once, with the bits of recorded ones."""

import itertools
from functools import partial

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

TYPES = ["?", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c16"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "fmin", "less", "equal", "copysign"]
BINARY += ["logical_and", "bitwise_xor", "left_shift", "gcd", "fmod", "floor_divide", "remainder"]
BINARY += ["power", "arctan2", "hypot", "logaddexp", "nextafter", "heaviside", "lcm"]
REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var", "std"]
UNARY = ["negative", "absolute", "sqrt", "floor", "isnan", "square", "invert", "logical_not", "sin"]
UNARY += ["exp", "log1p", "arctan", "tanh", "cbrt", "sign", "reciprocal", "conjugate", "rad2deg"]
LAYOUTS = {
    "dense": lambda a: a,
    "Fortran": lambda a: a.reshape(4, 6).T,
    "strided": lambda a: a[::2].reshape(3, 4),
    "reversed": lambda a: a.reshape(4, 6)[::-1, ::-3],
    "column": lambda a: a.reshape(4, 6)[:, 2:3],
}


def values(letter, seed):
    rng = np.random.default_rng(seed)
    v = rng.integers(-9, 9, 24) if letter not in "?u2u4u8" else rng.integers(0, 9, 24)
    a = np.asarray(v).astype(letter)
    if letter in ("f2", "f4", "f8"):
        a[:4] = [np.nan, np.inf, -0.0, 0.5]
    if letter == "c16":
        a[:4] = [complex(np.nan, 1), complex(1, -np.inf), complex(-0.0, 0.5), 3j]
    return a


@pytest.fixture
def at_once(core):
    """Runs work at once and recorded; says what both gave and how much ran at once."""
    before = core.set_at_once(1024)

    def both(work):
        results, counts = [], []
        for most in (1024, 0):
            core.synchronize()
            core.set_at_once(most)
            count = core.stats()["at_once"]
            with np.errstate(all="ignore"):
                try:
                    results.append(np.asarray(work()))
                except (TypeError, ValueError) as error:
                    results.append(np.array(str(error)))
            counts.append(core.stats()["at_once"] - count)
        assert counts[1] == 0
        return *results, counts[0]

    yield both
    core.set_at_once(before)


def same(x, y):
    assert x.dtype == y.dtype and x.shape == y.shape and x.strides == y.strides
    bits = x.view(np.uint8 if x.dtype.kind == "b" else x.dtype)
    np.testing.assert_array_equal(bits, y)
    if x.dtype.kind == "f":
        numbers = ~np.isnan(x)  # any NaN is any other's equal
        np.testing.assert_array_equal(np.signbit(x)[numbers], np.signbit(y)[numbers])


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_have_the_bits_of_recorded_ones(xp, core, at_once, letter, layout):
    view = LAYOUTS[layout]
    a, b = xp.asarray(values(letter, 1)), xp.asarray(values(letter, 2))
    c = xp.asarray(values("f4", 3))
    ran = 0
    for name in UNARY:
        *results, count = at_once(lambda name=name: getattr(xp, name)(view(a)))
        same(*results)
        ran += count
    for name in BINARY:
        f = getattr(xp, name)
        for x, y in ((view(a), view(b)), (view(a), 3), (view(a), view(c)), (view(a), a[5])):
            *results, count = at_once(lambda f=f, x=x, y=y: f(x, y))
            same(*results)
            ran += count
    assert ran > 40


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_predicates_leave_elements_as_they_are(xp, core, at_once, letter, layout):
    view = LAYOUTS[layout]
    given, other = xp.asarray(values(letter, 1)), xp.asarray(values("f4", 2))
    holds = view(xp.asarray(values("i4", 3) > 0))
    ran = 0
    for name in ("add", "multiply", "exp", "logical_or", "power", "not_equal"):
        f = getattr(xp, name)

        def work(f=f):
            out = xp.full(view(given).shape, 7, f(given, given).dtype if f.nin > 1 else "c16")
            out = out.T.copy().T
            operands = (view(given), view(other))[: f.nin]
            f(*operands, out=out, where=holds, casting="unsafe")
            return out

        *results, count = at_once(work)
        same(*results)
        ran += count
    assert ran > 12

    def chosen():
        v = view(given * 1)
        v[v != 0] = 1
        v[holds] += view(other)[holds].astype(letter)
        return xp.where(holds, v, view(other))

    same(*at_once(chosen)[:2])


@pytest.mark.parametrize("letter", [*TYPES, "i2", "c8"])
@pytest.mark.parametrize("extents", [(24,), (4, 6), (2, 3, 4), (1, 24, 1), (3, 1, 8)])
def test_reductions_have_the_bits_of_recorded_ones(xp, core, at_once, letter, extents):
    rng = np.random.default_rng(extents)
    real = rng.permutation(values(letter, 5)).reshape(extents)
    if letter in ("f4", "f8", "f2"):
        real = (real + rng.random(extents)).astype(letter)
    a, ran = xp.asarray(real), 0
    axes = [None, *range(len(extents)), -1, (0, len(extents) - 1)][: 3 + len(extents)]
    views = [a, a.T, a[::-1], a[..., ::2], a.reshape(-1, 2)[:, 1]]
    views.append(xp.broadcast_to(a, (2, *extents)))
    for name, axis, v in itertools.product(REDUCTIONS, axes, views):
        if isinstance(axis, tuple) and (name.startswith("arg") or v.ndim < 2 or len(extents) < 2):
            continue
        if axis is not None and np.max(np.abs(axis)) >= v.ndim:
            continue
        for kwargs in ({}, {"keepdims": True}):
            *results, count = at_once(partial(getattr(xp, name), v, axis=axis, **kwargs))
            same(*results)
            ran += count
    assert ran > 100 or letter in ("c8", "c16", "f2")


@pytest.mark.parametrize("letter", ["f4", "f8", "i4", "u1"])
def test_long_rows_and_wide_columns(xp, core, at_once, letter):
    rng = np.random.default_rng(8)
    for extents in ((33,), (32,), (31,), (500,), (2, 31), (16, 32), (17, 30), (9, 56), (40, 12)):
        real = (rng.random(extents) * 200 - (0 if letter == "u1" else 100)).astype(letter)
        a, total = xp.asarray(real), 1e-3 if letter == "f4" else 1e-12
        for name, axis in itertools.product(REDUCTIONS, [None, *range(len(extents))]):
            for v, w in ((a, real), (a.T, real.T)):
                *results, count = at_once(partial(getattr(xp, name), v, axis=axis))
                same(*results)
                assert count or (name.startswith("arg") and v is not a)
                expected = getattr(np, name)(w, axis=axis)
                np.testing.assert_allclose(results[0], expected, total, 1e-5)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 511, 513, 1000, 4097, 16384])
@pytest.mark.parametrize("letter", [t for t in TYPES if t not in ("?", "f2", "c16")])
def test_sums_of_products_have_the_bits_of_recorded_ones(xp, at_once, letter, n):
    rng = np.random.default_rng(n)
    integers = letter[0] in "iu"
    base = rng.integers(0, 100, 7 * n) if integers else rng.standard_normal(7 * n)
    a, b = xp.array(base.astype(letter)), xp.array(base[::-1].astype(letter))
    lines = [a[:n], a[:n][::-1], a[: 3 * n : 3], a.reshape(n, 7)[:, 2], a.reshape(n, 7)[::-1, 3]]
    others = [b[:n], b[n : 2 * n][::-1], b[::7], b[: 2 * n][::-2]]
    for x, y in itertools.product(lines, others):
        *results, count = at_once(lambda x=x, y=y: x @ y)
        assert count == 1
        same(*results)
        np.testing.assert_allclose(results[0], np.asarray(x) @ np.asarray(y), 1e-3, 1e-3)


def test_sums_of_products_of_special_numbers(xp, at_once):
    for special in ([np.inf, 1.0], [np.nan, 2.0], [-0.0, -0.0], [np.inf, -np.inf], [1e308, 1e308]):
        for n in (2, 40, 700):
            a = xp.array(np.resize(special, n))
            for b in (a, a[::-1], xp.ones(n), -xp.zeros(n)):
                same(*at_once(lambda a=a, b=b: a @ b)[:2])


@pytest.mark.parametrize("letter", ["f4", "f8", "i2", "?"])
def test_reductions_under_predicates(xp, core, at_once, letter):
    rng = np.random.default_rng(9)
    for extents in ((20,), (40,), (5, 50), (50, 5), (3, 4, 5)):
        real = (rng.random(extents) * 9 - 4).astype(letter)
        a, ran = xp.asarray(real), 0
        for mask in (rng.random(extents) < 0.4, rng.random(extents[-1]) < 0.5, False, True):
            where = xp.asarray(mask)
            for name, axis in itertools.product(REDUCTIONS, [None, *range(len(extents))]):
                if name in ("min", "max") or name.startswith("arg"):
                    continue
                *results, count = at_once(partial(getattr(xp, name), a, axis=axis, where=where))
                same(*results)
                ran += count
        assert ran > 20
        chosen = xp.asarray(rng.random(extents) < 0.4)
        same(*at_once(lambda a=a, chosen=chosen: a[chosen].sum())[:2])


@pytest.mark.parametrize("letter", [*TYPES, "i2", "c8"])
def test_scans_have_the_bits_of_recorded_ones(xp, core, at_once, letter):
    a, ran = xp.asarray(values(letter, 6)), 0
    scans = ["add", "multiply", "maximum", "fmin", "subtract", "logical_or", "bitwise_and"]
    shapes = [a, a[::-2], a.reshape(4, 6), a.reshape(4, 6).T, a.reshape(2, 3, 4)[:, ::-1]]
    for name, v in itertools.product(scans, shapes):
        for axis in range(v.ndim):
            scan = getattr(xp, name).accumulate
            *results, count = at_once(partial(scan, v, axis=axis))
            same(*results)
            ran += count

    def into():
        out = xp.zeros((6, 4), "c16").T
        xp.cumsum(a.reshape(4, 6), axis=1, out=out[:, ::-1])
        b = a * 1
        xp.cumsum(b, out=b)
        return xp.concatenate([out.ravel(), b])

    same(*at_once(into)[:2])
    assert ran > 20 or letter in ("f2", "c8", "c16")


def test_many_small_operations_on_what_is_pending_carry_it_out(xp, core, at_once):
    big = xp.arange(3000.0)
    core.set_at_once(512)

    def work(steps):
        a, before = big * 2, core.stats()["at_once"]
        row = a[:10]
        for _ in range(steps):
            row = row + 1
        return np.asarray(row), core.stats()["at_once"] - before

    few, many = work(6), work(40)
    np.testing.assert_array_equal(few[0], 2 * np.arange(10.0) + 6)
    np.testing.assert_array_equal(many[0], 2 * np.arange(10.0) + 40)
    assert few[1] == 0 and many[1] > 20


def test_results_of_reductions_overlap_their_operand(xp, core, at_once):
    def work():
        a = xp.arange(12.0).reshape(3, 4)
        xp.sum(a, axis=0, out=a[1])
        xp.max(a, axis=1, out=a[:, 2])
        b = xp.arange(6)
        xp.argmax(b, out=b[3:4].reshape(()))
        return xp.concatenate([a.ravel(), b.astype(float)])

    same(*at_once(work)[:2])


@pytest.mark.parametrize("source, target", itertools.product(TYPES, TYPES))
def test_casts_and_assignments(xp, core, at_once, source, target):
    a = xp.asarray(values(source, 4))

    def work():
        t = xp.zeros((4, 6), target)
        t[:, ::2] = a.reshape(4, 6)[:, 1::2]
        t[1] = a[3]
        turned = a.reshape(4, 6).T.astype(target)
        return xp.concatenate([t.ravel(), a.astype(target), turned.ravel()])

    same(*at_once(work)[:2])


def test_overlapping_operands_are_read_before_they_are_written(xp, core, at_once):
    def work():
        a = xp.arange(20.0)
        a[1:] += a[:-1]
        a[::-1] -= a
        a[2:12] = a[5:15]
        a.reshape(4, 5).T[1:] *= a.reshape(5, 4)[:4].reshape(4, 4)
        m = a.view("i8")
        a[:] = m % 7
        return a

    results = at_once(work)
    same(*results[:2])
    assert results[2] > 3


def test_what_is_pending_stays_pending(xp, core, at_once):
    big = xp.arange(5000.0)
    core.set_at_once(1024)
    pending = (big * 2)[:10]
    before = core.stats()["at_once"], core.stats()["flushes"]
    made = pending + 1
    assert (core.stats()["at_once"], core.stats()["flushes"]) == before
    small = xp.arange(10.0) * 2  # nothing here waits for the work above
    assert core.stats()["at_once"] == before[0] + 2
    np.testing.assert_array_equal(np.asarray(made), 2 * np.arange(10.0) + 1)
    np.testing.assert_array_equal(np.asarray(small), 2 * np.arange(10.0))


@pytest.mark.parametrize("letter", ["i1", "u8", "i4", "f2", "f4", "f8"])
def test_progressions(xp, core, at_once, letter):
    for start, stop, step in ((0, 7, 1), (5, -9, -2), (1, 2, 1 / 3), (0.1, 1000, 1.7)):
        if letter == "u8":
            start, stop = abs(start), max(stop, start)
        same(*at_once(lambda a=(start, stop, step): xp.arange(*a).astype(letter))[:2])
    same(*at_once(lambda: xp.arange(3, 90, 7, letter))[:2])
    same(*at_once(lambda: xp.linspace(0.1, 0.7, 13))[:2])
    same(*at_once(lambda: xp.full((3, 4), 2, letter))[:2])
    same(*at_once(lambda: xp.zeros((3, 4), letter))[:2])


def test_masks_keep_the_values_that_they_were_used_with(xp, core, at_once):
    def work():
        a = xp.arange(8.0)
        mask = a > 3
        chosen = a[mask]
        mask[:] = False
        mask |= a < 2
        return chosen

    same(*at_once(work)[:2])


def test_only_so_many_elements(xp, core, at_once):
    a = xp.arange(1025.0)
    core.synchronize()
    core.set_at_once(10**9)  # 1,024 at most
    before = core.stats()["at_once"]
    a + 1
    assert core.stats()["at_once"] == before
    a[1:] + 1
    assert core.stats()["at_once"] == before + 1
    assert core.set_at_once(-5) == 1024
    assert core.set_at_once(3) == 0


def test_errors_are_those_of_recorded_ones(xp, core, at_once):
    core.set_at_once(1024)
    a = xp.arange(4)
    with pytest.raises(ValueError, match="negative"):
        np.asarray(a ** xp.asarray([-1, 0, 1, 2]))
    with pytest.raises(ValueError, match="broadcast"):
        a + xp.arange(3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a += 1
