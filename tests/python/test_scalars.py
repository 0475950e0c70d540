"""Lazy scalars: immutable, hashable, and Python numbers wherever Python asks."""

import math
import operator

import numbus as nb
import numpy as np
import pytest
from helpers import assert_same, run_both, supported_dtypes


@pytest.fixture
def s(xp):
    return xp.arange(5.0).sum()  # 10.0


def test_augmented_assignment_rebinds(xp):
    s = xp.arange(5.0).sum()
    t = s
    s += 1
    s *= 2
    assert float(t) == 10.0
    assert float(s) == 22.0


def test_python_asks(xp, s):
    i = xp.arange(4).sum()  # 6
    assert float(s) == 10.0 and int(s) == 10 and complex(s) == 10 + 0j and bool(s)
    assert round(s / 3, 2) == 3.33 and round(s) == 10
    assert math.sqrt(s) == math.sqrt(10)
    assert list(range(i)) == [0, 1, 2, 3, 4, 5]
    assert [1, 2, 3, 4, 5, 6, 7][i] == 7
    assert f"{s:.2f}" == "10.00" and f"{i:d}" == "6" and f"{s}" == "10.0" and str(i) == "6"
    assert "%d %.1f" % (i, s) == "6 10.0"  # noqa: UP031
    assert "x" if s > 3 else "y" == "x"
    assert operator.index(i) == 6
    assert max(s, 3) == 10 and min(3, s) == 3 and sum([s, s]) == 20
    assert s in [1, 10.0] and s != 3
    assert abs(-s) == 10 and divmod(i, 4) == (1, 2) and s**2 == 100 and s // 3 == 3 and s % 3 == 1
    assert 1 + s == 11 and 20 - s == 10 and 5 * s == 50 and 5 / s == 0.5 and 2**i == 64
    assert s.item() == 10.0 and type(s.item()) is float and type(i.item()) is int
    assert isinstance(float(s), float)
    assert np.float64(1) + float(s) == 11
    assert math.floor(s + 0.5) == 10 and math.ceil(s + 0.5) == 11 and math.trunc(s) == 10


def test_hash(xp, s):
    assert hash(s) == hash(10.0)
    assert {s: 1}[10.0] == 1 and {10.0: 1}[s] == 1
    assert hash(xp.arange(4).sum()) == hash(6)
    assert len({s, xp.arange(5.0).sum(), 10.0}) == 1
    with pytest.raises(TypeError):
        hash(xp.ones(3))


def test_metadata(xp, s):
    assert s.shape == () and s.ndim == 0 and s.size == 1 and s.dtype == np.float64
    assert s.itemsize == 8 and s.nbytes == 8
    with pytest.raises(TypeError):
        len(s)
    with pytest.raises(TypeError):
        s[0] = 3


@pytest.mark.parametrize("dtype", supported_dtypes())
def test_types(xp, dtype):
    """An element keeps its dtype: a scalar is strong, a Python number weak."""
    x = np.ones((2, 2), dtype)
    a = xp.array(x)
    for text in ("a[0, 0]", "a[0, 0] + 1", "a[0, 0] * 2.5", "a.max()", "a.sum()", "a[0, 0] == 1"):
        want = eval(text, {"a": x})
        got = eval(text, {"a": a})
        assert_same(got, want, what=text)
    assert_same(a[0, 0] + xp.ones(3, "float32"), x[0, 0] + np.ones(3, "float32"))


def test_zero_d_arrays_stay_arrays(xp):
    run_both(
        xp,
        "b = a\na += 1\nc = a + 1\nd = a[()]\ne = a.copy()\ne *= 2\n"
        "f = xp.sqrt(a)\ng = a.reshape(1, 1)",
        a=np.array(3.0),
    )


def test_scalars_among_arrays(xp):
    run_both(
        xp,
        "s = a.sum()\nm = a.mean()\nb = a - m\nc = s * a\nd = a / s\ne = s + m\nf = s > m\n"
        "g = xp.where(a > m, s, m)\na[0] = s\na[1:] += m\n"
        "h = a[2] + a[3] * s\nk = xp.maximum(s, m)",
        1e-15,
        a=np.arange(1.0, 9.0),
    )


def test_value_is_taken_when_made(xp):
    run_both(xp, "s = a.sum()\na += 1\nt = a.sum()\nx = a[0]\na[0] = 50\ny = a[0]", a=np.ones(4))


def test_convergence_loop(xp):
    x = xp.ones(50)
    steps = 0
    while xp.linalg.norm(x) > 1e-3:
        x = x * 0.5
        steps += 1
    assert steps == 13


def test_while_over_elements(xp):
    a = xp.zeros(100)
    for i in range(1, 100):
        a[i] = a[i - 1] + 1
    assert float(a[99]) == 99 and a.sum() == 4950


def test_numpy_scalars(xp):
    body = "b = a * np.float32(2)\nc = a + np.int64(3)\nd = np.float64(2) * a\n"
    run_both(xp, body + "e = np.float64(2) - a.sum()", 1e-15, a=np.ones(3, "float32"))


def test_complex(xp):
    z = xp.array([1 + 2j, 3 - 1j])
    assert z[0].real == 1 and z[0].imag == 2 and z.sum().conjugate() == 4 - 1j
    assert abs(z[0]) == pytest.approx(math.sqrt(5), rel=1e-15)
    assert complex(z[1]) == 3 - 1j


def test_truth_of_arrays(xp):
    assert xp.ones((1, 1)) and not xp.zeros(1)
    with pytest.raises(ValueError):
        bool(xp.ones(2))
    with pytest.raises(TypeError):
        float(xp.ones(2))
    with pytest.raises(TypeError):
        operator.index(xp.ones(1))


@pytest.mark.parametrize("value", [-0.0, 0.0, 2.25, np.inf, -np.inf, np.nan])
def test_root_of_a_scalar_is_a_power(xp, value):
    with np.errstate(all="ignore"):
        want = np.float64(value) ** 0.5
    got = (xp.array([value]).sum() if value else xp.array([value])[0]) ** 0.5
    assert np.array_equal(float(got), want, equal_nan=True)
    assert np.signbit(float(got)) == np.signbit(want) or np.isnan(want)


def test_a_number_is_not_iterable(xp):
    for number in (xp.ones(3)[0], xp.ones(3).sum(), next(iter(xp.ones(3)))):
        with pytest.raises(TypeError, match="not iterable"):
            iter(number)
        assert not np.iterable(number)
        assert number[()] == number[...]
    assert [float(x) for x in xp.arange(3.0)] == [0, 1, 2]


@pytest.mark.parametrize("kind", "?bhilBHILefdFD")
def test_numpys_scalars(kind):
    s = np.array([2.5]).astype(kind)[0]
    for like in (np.arange(4.0), np.arange(4, dtype=np.int8), np.arange(4, dtype=np.float32)):
        got = nb.asarray(like.copy()) * s
        want = like * s
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), want)

    @nb.njit
    def f(x):
        return np.array([x]).dtype.itemsize, x + x

    size, twice = f(s)
    assert size == s.itemsize
    assert twice == s + s
