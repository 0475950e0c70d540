"""Small folds of segments, `nonzero`, `put` and `a.flat = b`, which are answered at once."""

import numbus as nb
import numpy as np
import pytest

TYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c16"]


def values(letter, shape, seed):
    rng = np.random.default_rng(seed)
    return (rng.integers(-3, 4, shape) * (rng.random(shape) < 0.7)).astype(letter)


def same(ours, theirs):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "logical_or"])
def test_reduceat(letter, name):
    if letter == "?" and name == "subtract":
        pytest.skip("booleans have no difference")
    rng = np.random.default_rng(1)
    for seed, (shape, axis) in enumerate([((10,), 0), ((3, 40), 1), ((40, 3), 0), ((2, 9, 4), 1)]):
        a = values(letter, shape, seed)
        for count in (1, 3, 12):
            at = rng.integers(0, shape[axis], count)
            for x in (a, np.asfortranarray(a), np.repeat(a, 2, -1)[..., ::2]):
                theirs = getattr(np, name).reduceat(x, at, axis)
                ours = getattr(nb, name).reduceat(nb.array(x), nb.array(at), axis)
                same(ours, theirs)
                if axis == 0:
                    same(getattr(nb, name).reduceat(nb.array(x), nb.array(at)), theirs)


def test_reduceat_refuses_what_numpy_refuses():
    a = nb.arange(5.0)
    for at in (nb.array([5]), nb.array([-1]), nb.array([0, 7])):
        with pytest.raises(IndexError):
            nb.add.reduceat(a, at)
    with nb.errstate(all="raise"), pytest.raises(FloatingPointError):
        nb.add.reduceat(nb.array([1e308, 1e308]), nb.array([0]))


@pytest.mark.parametrize("letter", TYPES)
def test_elements_that_are_not_zero(letter):
    for seed, n in enumerate([1, 2, 10, 511, 600]):
        a = values(letter, n, seed)
        if letter in ("f2", "f4", "f8"):
            a[::5] = [np.nan, -0.0, np.inf][seed % 3]
        x = nb.array(a)
        for p, q in ((x, a), (x[::2], a[::2]), (x[:0], a[:0])):
            same(p.nonzero()[0], q.nonzero()[0])
            same(nb.flatnonzero(p), np.flatnonzero(q))
            assert int(nb.count_nonzero(p)) == np.count_nonzero(q)
    view = nb.array([0, 2, 255, 1], dtype="u1").view("?")
    same(view.nonzero()[0], np.array([1, 2, 3]))


@pytest.mark.parametrize("letter", TYPES)
def test_put_and_flat(letter):
    for shape in ((10,), (3, 4), (2, 3, 2)):
        a, b = values(letter, shape, 1), values(letter, shape, 2)
        x, y = nb.array(a), nb.array(b)
        at = np.array([1, 4, -2, 4])
        for values_of in (lambda b: b.ravel()[:4], lambda b: b.ravel()[3:7]):
            a.put(at, values_of(b))
            x.put(nb.array(at), values_of(y))
            same(x, a)
        a.put(at, a.ravel()[1:5].copy())
        x.put(nb.array(at), x.ravel()[1:5])
        same(x, a)
        x.flat, a.flat = y, b
        same(x, a)
        x[::-1].flat, a[::-1].flat = y, b
        same(x, a)
        same(x.flat[1:7:2], a.flat[1:7:2])
        same(x.flat[::-1], a.flat[::-1])
        same(x.flat[8:2], a.flat[8:2])
        same(x.T.flat[1:5], a.T.flat[1:5])
        with pytest.raises(IndexError):
            x.put(nb.array([99]), y.ravel()[:1])
        with pytest.raises(ValueError):
            x.flags.writeable = False
            x.put(nb.array([0]), y.ravel()[:1])


def test_rows_of_all_types_have_ways_of_their_own():
    """Operations of one and of two operands are told apart, whatever the types."""
    for letter in TYPES[:-1]:
        a, b = values(letter, 12, 1), values(letter, 12, 2)
        x, y = nb.array(a), nb.array(b)
        for name in ("negative", "absolute", "sign", "isnan", "isfinite", "exp", "sqrt"):
            if letter == "?" and name in ("negative", "sign"):
                continue
            f, g = getattr(nb, name), getattr(np, name)
            with np.errstate(all="ignore"):
                ours, theirs = f(x), g(a)
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-3)
        for name in ("add", "multiply", "maximum", "less", "equal", "logical_and", "hypot"):
            f, g = getattr(nb, name), getattr(np, name)
            two = np.float64(2)
            for p, q, r, s in ((x, y, a, b), (x, 2.5, a, 2.5), (x, two, a, two)):
                ours, theirs = f(p, q), g(r, s)
                assert ours.dtype == theirs.dtype, (letter, name)
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-3)
