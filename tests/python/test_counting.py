"""bincount and histogram: NumPy's counts and edges, without NumPy."""

import numpy as np
import pytest

R = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def no_fallbacks(core):
    before = core.stats()["fallbacks"]
    yield
    assert core.stats()["fallbacks"] == before


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "int32", "bool"])
@pytest.mark.parametrize("minlength", [0, 3, 40])
def test_bincount(xp, dtype, minlength):
    x = R.integers(0, 2 if dtype == "bool" else 23, 5000).astype(dtype)
    w = R.integers(0, 5, 5000).astype("float32")
    for weights in (None, w):
        want = np.bincount(x, weights, minlength)
        got = xp.bincount(xp.array(x), None if weights is None else xp.array(w), minlength)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)


def test_bincount_of_nothing_and_of_lists(xp):
    assert xp.bincount([], minlength=3).tolist() == [0, 0, 0]
    assert xp.bincount([1, 1, 5]).tolist() == [0, 2, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("x", "kwargs", "error"),
    [([-1], {}, ValueError), ([1.5], {}, TypeError), ([[1]], {}, ValueError),
     ([1], {"weights": [1, 2]}, ValueError), ([1], {"minlength": -1}, ValueError),
     ([1], {"weights": [1j]}, TypeError)],
)  # fmt: skip
def test_bincount_refuses(xp, x, kwargs, error):
    with pytest.raises(error):
        np.bincount(np.array(x), **kwargs)
    with pytest.raises(error, match=r"\[bincount\]"):
        xp.bincount(xp.array(x), **kwargs)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("kwargs", [{}, {"bins": 7}, {"bins": 33, "range": (0, 20)},
                                    {"range": (-3.5, 9.25), "density": True}], ids=str)  # fmt: skip
def test_histogram(xp, dtype, kwargs):
    a = (R.normal(10, 4, (70, 60)).clip(0, 50)).astype(dtype)
    counts, edges = xp.histogram(xp.array(a), **kwargs)
    want_counts, want_edges = np.histogram(a, **kwargs)
    assert counts.dtype == want_counts.dtype and edges.dtype == want_edges.dtype
    np.testing.assert_allclose(np.asarray(edges), want_edges, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(counts), want_counts, rtol=1e-6)


def test_histogram_on_the_edges(xp):
    a = np.linspace(0, 1, 1001)
    for bins in (1, 3, 10, 49):
        got = xp.histogram(xp.array(a), bins)[0]
        np.testing.assert_array_equal(np.asarray(got), np.histogram(a, bins)[0])


def test_histogram_with_weights_nan_and_one_value(xp):
    a, w = R.random(500), R.integers(0, 9, 500)
    got = xp.histogram(xp.array(a), 12, weights=xp.array(w))[0]
    np.testing.assert_array_equal(np.asarray(got), np.histogram(a, 12, weights=w)[0])
    a[7] = np.nan
    got = xp.histogram(xp.array(a), 5, range=(0, 1))[0]
    np.testing.assert_array_equal(np.asarray(got), np.histogram(a, 5, range=(0, 1))[0])
    for x in ([3.0, 3.0], []):
        got, want = xp.histogram(xp.array(x), 4), np.histogram(np.array(x), 4)
        np.testing.assert_array_equal(np.asarray(got[0]), want[0])
        np.testing.assert_array_equal(np.asarray(got[1]), want[1])
    with pytest.raises(ValueError, match=r"\[histogram\] limits are not finite"):
        xp.histogram(xp.array([1.0, np.nan]))
    with pytest.raises(ValueError, match=r"\[histogram\] bins; got fewer than 1"):
        xp.histogram(xp.array([1.0]), 0)
