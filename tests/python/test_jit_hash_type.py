"""hash() and type() in compiled functions, against CPython."""

# ruff: noqa: E721 (types are compared)

import math

import numpy as np
import pytest
from jit_check import check
from numbus import njit
from numbus.kernels import CompileError

INTEGERS = [0, 1, -1, 2, -2, 2**61 - 1, 2**61 - 2, 2**61, -(2**61) + 1, -(2**61), 2**62, 2**63 - 1]
INTEGERS += [-(2**63), -(2**63) + 1, 3 * 2**60]
FLOATS = [0.0, -0.0, 0.5, -1.0, 1.0, 2.0**61, 2.0**61 - 2.0**8, -(2.0**1023), 5e-324, -5e-324]
FLOATS += [math.inf, -math.inf, 1e308, 0.1, 2.0**-61, 2.0**-1022]


def hashed(v):
    return hash(v)


def test_hash_of_integers():
    rng = np.random.default_rng(3)
    f = njit(hashed)
    for n in INTEGERS + [int(v) for v in rng.integers(-(2**63), 2**63 - 1, 500)]:
        assert f(n) == hash(n), n
        if n >= 0:
            assert f(np.uint64(n)) == hash(n)
    for n in [2**63, 2**64 - 1, 2**64 - 2, 2**61 * 7 - 7]:
        assert f(np.uint64(n)) == hash(n)
    for t in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
        for n in (np.iinfo(t).min, np.iinfo(t).max, 1):
            assert f(t(n)) == hash(int(n))
    assert f(True) == 1 and f(False) == 0
    assert njit(lambda x: hash(x[0]))(np.array([-1])) == -2


def test_hash_of_floats():
    rng = np.random.default_rng(4)
    f = njit(hashed)
    drawn = rng.integers(0, 2**63 - 1, 1000).view(np.float64)
    drawn = [float(v) for v in drawn if math.isfinite(v)]
    for v in FLOATS + drawn + [-v for v in drawn] + [float(n) for n in INTEGERS]:
        assert f(v) == hash(v), v
        assert f(complex(v, 0.5)) == hash(complex(v, 0.5)), v
        assert f(complex(-1.5, v)) == hash(complex(-1.5, v)), v
    assert f(np.float32(0.1)) == hash(float(np.float32(0.1))) == hash(np.float32(0.1))
    assert f(math.nan) == f(math.nan)


def kinds(a, b):
    t = type(a)
    return (
        t == int,
        t is float,
        type(a) == type(b),
        type(a) is type(b),
        type(a) is not type(b),
        type(a) in (int, float),
        type(b) == complex,
        type(b) == bool,
        type((a, b)) is tuple,
        str is str,
        type(b)(a) if type(b) is float else type(b)(1),
    )


@pytest.mark.parametrize("a", [1, 2.5, True])
@pytest.mark.parametrize("b", [3, 0.5, False, 1j])
def test_type_of_numbers(a, b):
    check(kinds, a, b)


def of_items(x, k):
    return (
        type(x[0]) == np.float32,
        type(x[0]) == np.float64,
        type(x[0]) == float,
        type(k[0]) == np.int64,
        type(k[0]) is int,
        type(k[0]) == type(x[0]),
        type(x[0])(3) * x[1],
        x.dtype == np.float64,
    )


@pytest.mark.parametrize("t", [np.float32, np.float64])
def test_type_of_items(t):
    check(of_items, np.array([0.5, 1.5], t), np.array([1, 2]))


def test_what_is_refused():
    for f, args in (
        (hashed, ("text",)),
        (hashed, ((1, "text"),)),
        (lambda x: type(x) is np.ndarray, (np.ones(2),)),
        (lambda x: type(x[0]) is np.float64, (np.ones(2),)),
        (lambda x: hash(x), (np.ones(2),)),
    ):
        with pytest.raises(CompileError):
            njit(f)(*args)
