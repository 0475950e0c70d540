"""Compiled functions: math and powers near zero and at the ends of types."""

import cmath
import itertools
import math
import sys
from fractions import Fraction

import numbus as nb
import numpy as np
import pytest
from jit_check import check
from numbus import cuda, njit


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lgamma_beside_its_zeros(dtype):
    """CPython's own loses digits there, SciPy's has all."""
    special = pytest.importorskip("scipy.special")

    @njit
    def fill(x, out):
        for i in range(len(x)):
            out[i] = math.lgamma(x[i])

    r = np.random.default_rng(3)
    apart = r.uniform(-0.1, 0.1, (7, 100)) * 10.0 ** -np.arange(7)[:, None]
    x = np.concatenate([1 + apart.ravel(), 2 + apart.ravel()]).astype(dtype)
    out = np.empty_like(x)
    fill(x, out)
    want = special.loggamma(x.astype(complex)).real
    unit = np.spacing(np.abs(want).astype(dtype)).astype(float)
    good = np.abs(out - want) <= 12 * unit
    assert good.all(), x[~good]


def gamma(x):
    return math.gamma(x)


def lgamma(x):
    return math.lgamma(x)


@pytest.mark.parametrize("theirs", [gamma, lgamma])
def test_gamma_everywhere(theirs):
    """Poles are a ValueError, whatever their size; what overflows is infinite."""
    compiled = njit(theirs)
    big = [1e17, 4503599627370496.5, 1e300, 1e308, math.inf]
    sizes = [0.0, 0.5, 1.0, 2.0, 23.0, 24.0, 170.5, 171.0, 200.5, 1000001.5, *big]
    sizes += [5e-324, 1e-310, 1e-30, 1e-20, 2e-20, math.nan]
    for x in [s * x for x in sizes for s in (1, -1)]:
        try:
            want = theirs(x)
        except OverflowError:
            want = math.copysign(math.inf, x)
        except ValueError:
            with pytest.raises(ValueError, match="math domain error"):
                compiled(x)
            continue
        assert compiled(x) == pytest.approx(want, rel=1e-13, abs=1e-322, nan_ok=True), x


@pytest.mark.parametrize("name", ["gamma", "lgamma"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gamma_of_all_sizes(name, dtype):
    """To the least subnormal number, where 1 / gamma(1 - x) would be 0, and for each float16."""

    def fill(x, out):
        for i in range(len(x)):
            out[i] = math.gamma(x[i]) if name == "gamma" else math.lgamma(x[i])

    end = {"float16": 12, "float32": 46, "float64": 180}[dtype]
    x = np.random.default_rng(5).uniform(-end, end, 4000)
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16) if dtype == "float16" else x
    x = x.astype(dtype)
    x = x[np.isfinite(x)]
    x = x[(x > 0) | (x != np.floor(x))]
    out = np.empty_like(x)
    njit(fill)(x, out)
    for v, got in zip(x.tolist(), out.tolist()):
        try:
            want = getattr(math, name)(v)
        except OverflowError:
            want = math.copysign(math.inf, v)
        with np.errstate(all="ignore"):
            short = np.dtype(dtype).type(want)
            unit = float(np.spacing(np.abs(short)))
        # lgamma has zeros, beside which CPython's loses digits, and so does a reflection.
        unit = max(unit, 1e-14) if name == "lgamma" and dtype == "float64" else unit
        assert float(short) == got or abs(got - want) <= 16 * unit, (v, got, want)


@pytest.mark.parametrize("name", "atan2 hypot copysign fmod pow remainder log".split())
def test_short_floats_with_others(name):
    """Where one number is no short float, nothing is rounded to one on the way."""

    def f(x, y):
        return getattr_(x, y)

    getattr_ = getattr(math, name)
    x, y = 0.693147180559945, 1.3
    for a, b in itertools.product((x, np.float32(y), np.float16(y), np.float64(y), 3), repeat=2):
        if all(isinstance(v, (np.float16, np.float32)) for v in (a, b)):
            continue
        assert njit(f)(a, b) == pytest.approx(getattr_(a, b), rel=1e-15), (a, b)


@pytest.mark.parametrize("t", ["int8", "int64", "uint8", "int"])
def test_integers_to_negative_powers(t):
    """NumPy's error, also of Python's ints: the type cannot hang on the exponent's value."""
    of = int if t == "int" else np.dtype(t).type

    def f(x, y):
        return x**y

    def g(x):
        return x**-1

    compiled = njit(f)
    for x in (0, 1, 2, -1, -3):
        if x < 0 and t == "uint8":
            continue
        for y in (0, 1, 5):
            assert compiled(of(x), y) == f(of(x), y)
        for y in (-1, -2, np.int64(-1), np.int8(-3)):
            with pytest.raises(ValueError, match="negative integer powers"):
                compiled(of(x), np.int64(y) if t == "uint8" else y)
    if t in ("int8", "int64"):
        check(g, of(2))
        check(g, np.arange(3).astype(t))
        check(f, np.arange(3).astype(t), np.array([1, 0, -1]))
        check(f, np.arange(3).astype(t), np.array([1, 0, 3]))


def test_negative_powers_in_kernels():
    """They raise nothing: the whole part is left."""

    @cuda.jit
    def kernel(x, y, out):
        for i in range(len(x)):
            out[i] = x[i] ** y[i]

    pairs = [(x, y) for x in (-3, -2, -1, 0, 1, 2, 7) for y in (-3, -2, -1, 0, 1, 2, 3)]
    x, y = np.array(pairs).T.copy()
    out = np.empty_like(x)
    kernel[1, 1](x, y, out)
    cuda.synchronize()
    want = [0 if x == 0 and y < 0 else int(float(x) ** float(y)) for x, y in pairs]
    assert out.tolist() == want


@pytest.mark.parametrize("t", ["int8", "int32", "int64", "uint64", "float32", "float64"])
def test_ends_of_types(t):
    """The least integer, whose size its type has not, and exponents beyond any float."""
    info = np.finfo(t) if t.startswith("f") else np.iinfo(t)

    def halves(x):
        return math.frexp(x)

    def scaled(x, e):
        return math.ldexp(x, e)

    for x in (info.min, info.max, 0):
        check(halves, np.dtype(t).type(x))
        for e in (-5, 3, 150, -150):
            for value in (np.dtype(t).type(x), np.dtype(t).type(x / 2**120)):
                with np.errstate(all="ignore"):
                    of_float = value if t.startswith("f") else float(value)
                    assert njit(scaled)(value, e) == np.ldexp(of_float, e)
        got = [njit(scaled)(np.dtype(t).type(x), e) for e in (2**62, -(2**62), 4001)]
        with np.errstate(all="ignore"):
            size = float(x) * np.inf if x else 0.0
        assert got == [size, 0.0, size]


def test_distances():
    """No square leaves float64 where the root of their sum does not; infinities outweigh NaN."""
    special = [0.0, -0.0, 1.0, -2.5, 1e200, -1e308, 5e-324, 1e-310, np.inf, -np.inf, np.nan, 3]

    def f(a, b, c, d):
        return math.dist((a, b), (c, d)), math.dist((a,), (b,)), math.hypot(a, b, c)

    def others(a):
        return math.hypot(), math.hypot(a), math.dist((), ())

    compiled = njit(f)
    for x in itertools.product(special, repeat=4):
        for got, want in zip(compiled(*map(float, x)), f(*x)):
            assert (
                got == want
                or (got != got and want != want)
                or abs(got - want) <= 2 * (math.ulp(want))
            )
    for x in special:
        check(others, x)
    with pytest.raises(ValueError, match="same number of dimensions"):
        njit(lambda a: math.dist((a, 1.0), (a,)))(2.0)


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("name", ["comb", "perm"])
def test_counts_beyond_int64_wrap(name):
    """What fits is right, also where a product on the way to it does not fit."""
    theirs = getattr(math, name)

    @njit
    def f(n, k):
        return theirs(n, k)

    for n in range(0, 132, 3):
        for k in range(0, n + 3, 2):
            assert f(n, k) == wrapped(theirs(n, k)), (n, k)
    assert f(np.int8(66), np.uint8(33)) == wrapped(theirs(66, 33))


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_of_all_integers(name):
    """They are Python's integers: an int8 has no room for 128, nor for a common multiple."""
    theirs = getattr(math, name)

    @njit
    def f(a, b):
        return theirs(a, b)

    kinds = [np.int8(-128), np.int8(100), np.uint8(200), np.int32(30), np.int64(-6)]
    numbers = [0, 1, -6, True, -(2**63), np.uint64(2**63 + 9), np.uint64(12), *kinds]
    for a, b in itertools.product(numbers, repeat=2):
        got = f(a, b)
        assert got == wrapped(theirs(a, b)) and type(got) is int, (a, b)


def test_complex_of_two_numbers():
    """The second times i; of a complex64 there CPython takes the real part alone."""

    @njit
    def f(a, b):
        return complex(a, b)

    numbers = [1, 2.5, 1.5 - 2j, np.complex128(-1j), np.float32(0.5), complex(-0.0, -0.0), -0.0]
    for a, b in itertools.product([*numbers, np.complex64(2j)], numbers):
        assert repr(f(a, b)) == repr(complex(a, b)), (a, b)
    assert f(1, np.complex64(2 + 3j)) == 1 + 2j


def test_nan_to_num_of_a_number():
    def f(x):
        y = np.nan_to_num(x)
        return y, isinstance(y, np.ndarray)

    check(f, np.float32(np.nan))
    check(f, 2.5)


def test_isqrt_of_uint64():
    @njit
    def f(n):
        return math.isqrt(n)

    for n in (2**64 - 1, 4294967295**2, 4294967295**2 - 1, 2**63, 3037000500**2, 3037000500**2 - 1):
        assert f(np.uint64(n)) == math.isqrt(n), n


@pytest.mark.parametrize("digits", [1, 2, 3, 6, 12])
def test_round_of_all_sizes(digits):
    """Python's floats are rounded as CPython does it, also where the scaled number is no float."""

    @njit
    def f(x):
        return round(x, digits)

    r = np.random.default_rng(9)
    sizes = r.uniform(-1, 1, 1500) * 10.0 ** r.integers(-5, 25, 1500)
    ends = [1.7e308, -1.7e308, math.inf, math.nan, -0.0, 4503599627370495.5, 2.675]
    for x in [*sizes.tolist(), *(r.integers(-99999, 99999, 500) / 8).tolist(), *ends]:
        assert repr(f(x)) == repr(round(x, digits)), x
    assert type(f(True)) is int


def test_methods_of_numbers():
    def f(x):
        return x.is_integer()

    for x in (2.0, 2.5, -0.0, math.inf, math.nan, np.float32(3), np.float16(0.5), 1e300):
        check(f, x)
    with pytest.raises(NotImplementedError, match="not yet"):
        njit(lambda x: x.hex())(1.5)


def test_polar_of_integers():
    check(lambda x: cmath.polar(x), -7)
    check(lambda x: cmath.polar(x), True)


def exact_powers(x, n):
    """Correctly rounded, by Python's fractions."""
    out = np.empty(x.size)
    for i, v in enumerate(x.tolist()):
        try:
            out[i] = float(Fraction(v) ** n)
        except OverflowError:
            out[i] = np.inf if v > 0 or n % 2 == 0 else -np.inf
    return out


@pytest.mark.parametrize("n", range(1, 17))
def test_whole_powers_have_the_same_bits_everywhere(n):
    rng = np.random.default_rng(n)
    parts = [rng.standard_normal(300), 10.0 ** rng.uniform(-40, 40, 200), np.arange(-20.0, 21.0)]
    limit = 2.0 ** (1024 / n) if n > 1 else sys.float_info.max
    parts += [limit * (1 - rng.random(30) * 1e-12), limit * (1 + rng.random(30) * 1e-12)]
    parts += [2.0 ** (least / n) * rng.uniform(0.5, 2, 60) for least in (-1022, -1074)]
    x = np.concatenate(parts)
    x = np.concatenate([x, -x])
    f = compiled_power(n)
    known, asked, scalar = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    f(x, known, asked, scalar, float(n))
    want = exact_powers(x, n)
    with np.errstate(all="ignore"):
        array = np.asarray(nb.asarray(x) ** n)
        arrays = np.asarray(nb.asarray(x) ** nb.full(x.size, float(n)))
    # An array's square is a product, which underflows as such.
    for got in (known, asked, scalar, array, arrays):
        np.testing.assert_array_equal(got, known)
    usual = (np.abs(want) > 1e-285) & np.isfinite(want)
    if n < 16:
        np.testing.assert_array_equal(known[usual], want[usual])
    np.testing.assert_allclose(known, want, rtol=2.3e-16, atol=5e-324)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324])
    got = np.empty_like(special)
    f(special, got, got.copy(), got.copy(), float(n))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, special**n)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(special**n))


def compiled_power(n):
    @njit
    def f(x, known, asked, scalar, y):
        for i in range(x.size):
            known[i] = x[i] ** n
        for i in range(x.size):
            asked[i] = x[i] ** y
        total = 0
        for i in range(x.size):
            if total >= 0:  # no loop over lanes
                scalar[i] = np.power(x[i], np.float64(n))
            total += 1

    return f
