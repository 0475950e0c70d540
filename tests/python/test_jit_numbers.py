"""Compiled functions: numbers of every type, and operators on them, as in CPython and NumPy 2."""

import cmath
import math

import numpy as np
import pytest
from jit_check import COMPLEX, FLOATS, INTS, NUMBERS, check, function_of
from numbus import njit
from numbus.kernels import CompileError


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def div(a, b):
    return a / b


def floor(a, b):
    return a // b


def mod(a, b):
    return a % b


def power(a, b):
    return a**b


def less(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b


def bits(a, b):
    return a & b, a | b, a ^ b


def shifts(a, b):
    return a << b, a >> b


def literals(a, b):
    return a + 1, a * 2.5, 3 - b, a * 2 + b, -a, +b, abs(a)


@pytest.mark.parametrize("t", NUMBERS)
@pytest.mark.parametrize("f", [add, sub, mul, div, floor, mod, less, literals])
def test_operators(f, t):
    t = np.dtype(t).type
    for a, b in ((7, 3), (100, 7), (1, 2)):
        if f is literals and issubclass(t, np.unsignedinteger) and b > 2:
            continue
        check(f, t(a), t(b))


@pytest.mark.parametrize("f", [add, sub, mul, div, floor, mod, less])
@pytest.mark.parametrize(
    "pair",
    [
        ("int32", "float32"),
        ("int8", "uint8"),
        ("uint64", "int64"),
        ("float32", "float64"),
        ("int16", "float16"),
        ("uint8", "int32"),
    ],
)
def test_mixed(f, pair):
    a, b = (np.dtype(t).type for t in pair)
    check(f, a(11), b(3))
    check(f, b(3), a(11))


@pytest.mark.parametrize("f", [add, sub, mul, div, less])
@pytest.mark.parametrize("t", INTS + FLOATS + COMPLEX)
def test_python_numbers_are_weak(f, t):
    if f is less and t in COMPLEX:
        pytest.skip("complex numbers have no order")
    t = np.dtype(t).type
    check(f, t(7), 3)
    check(f, 3, t(2))
    check(f, t(7), 2.5)
    if f is not less:
        check(f, t(7), 2.5 + 1j)
    check(f, t(7), True)


@pytest.mark.parametrize("f", [add, sub, mul, div, floor, mod, less])
def test_python_numbers(f):
    for a in (7, -7, 2.5, -2.5, True):
        for b in (3, -3, 1.5, True):
            check(f, a, b)


def test_powers():
    for a, b in ((2, 10), (2.0, 3), (2, 0.5), (2.5, -1), (True, 2)):
        check(power, a, b)
    for t in NUMBERS:
        t = np.dtype(t).type
        check(power, t(3), t(2))
        check(power, t(3), 2)

    def known(a):
        return a**2, a**3, a**0, a**1, a**0.5

    for a in (3, 3.0, np.float32(3), np.int16(3)):
        check(known, a)

    def negative(a):
        return a**-1, a**-2

    for a in (4, 4.0, np.float32(4)):
        check(negative, a)


@pytest.mark.parametrize("t", INTS)
def test_bits(t):
    t = np.dtype(t).type
    check(bits, t(12), t(10))
    check(bits, t(12), 10)
    check(shifts, t(12), t(2))
    check(shifts, t(12), 2)

    def flip(a):
        return ~a, -a

    check(flip, t(12))


def test_bits_of_python():
    check(bits, 12, -10)
    check(bits, True, False)
    check(shifts, -12, 2)
    check(shifts, 1, 40)

    def flip(a):
        return ~a, -a, not a

    check(flip, 12)
    check(flip, True)


def test_integers_wrap():
    def f(a):
        return a * a

    assert njit(f)(2**40) == (2**80 + 2**63) % 2**64 - 2**63
    check(add, np.int8(100), np.int8(100))
    check(mul, np.uint8(100), np.uint8(100))
    check(sub, np.uint32(1), np.uint32(2))

    def count(n):
        h = np.uint32(1)
        for _ in range(n):
            h = h * np.uint32(16777619) ^ np.uint32(99)
        return h

    check(count, 20)


def test_division_by_zero():
    assert isinstance(check(div, 1, 0), ZeroDivisionError)
    assert isinstance(check(floor, 1, 0), ZeroDivisionError)
    assert isinstance(check(mod, 1.5, 0.0), ZeroDivisionError)
    check(div, np.float64(1), np.float64(0))
    check(floor, np.int32(1), np.int32(0))
    check(mod, np.int32(1), np.int32(0))
    assert njit(error_model="numpy")(div)(1.0, 0.0) == math.inf
    check(floor, np.int32(-(2**31)), np.int32(-1))

    def literal(a):
        return a / 0

    assert isinstance(check(literal, 1.0), ZeroDivisionError)


def test_shift_too_far():
    for t in ("int32", "uint8", "int64"):
        t = np.dtype(t).type
        check(shifts, t(5), t(60))
        check(shifts, t(-5 if t is not np.uint8 else 5), t(100))


def test_accumulators_widen():
    def total(x):
        s = 0
        for i in range(x.shape[0]):
            s += x[i]
        return s

    for t in NUMBERS:
        x = (np.arange(20) % 7).astype(t)
        # The accumulator begins as Python's int; NumPy's result type, at least 64 bits wide.
        got = njit(total)(x)
        assert got == sum(range(7)) * 2 + sum(range(6))

    def promoted(n):
        s = 0
        for _ in range(n):
            s += 0.5
        return s

    check(promoted, 5)

    def both(c):
        if c:
            x = 1
        else:
            x = 2.5
        return x * 1.0

    check(both, True)
    check(both, False)


def test_float32_stays():
    def f(x):
        return x * 2.0 + 1 / 3

    for i in range(5):
        check(f, np.float32(i / 7))
    g = njit(f)
    g(np.float32(1))
    assert "double" not in next(iter(g.inspect_llvm().values()))


@pytest.mark.parametrize(
    "name",
    "sqrt exp log sin cos tan asin acos atan sinh cosh tanh floor ceil trunc fabs expm1 "
    "log1p log2 log10 asinh atanh degrees radians erf erfc gamma lgamma cbrt exp2".split(),
)
def test_math(name):
    f = getattr(math, name, None)
    if f is None:
        pytest.skip("not in this Python")

    def call(x):
        return f(x)

    for x in (0.1, 0.5, 0.9):
        check(call, x)
        check(call, -x) if name not in ("sqrt", "log", "log2", "log10") else None
    check(call, 0.5)
    if name not in ("atanh", "gamma", "lgamma", "log", "log2", "log10"):
        check(call, 0)
    if name not in ("atanh", "acos", "asin"):
        check(call, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, ulps", [("erf", 2), ("erfc", 4)])
def test_error_functions(name, ulps, dtype):
    """Within so many units in the last place of the C library's, tails and zeros included."""
    f = getattr(math, name)

    @njit
    def fill(x, out):
        for i in range(len(x)):
            out[i] = f(x[i])

    r = np.random.default_rng(3)
    x = np.concatenate([r.uniform(-6, 6, 2000), r.uniform(-27, 27, 500), [0.0, -0.0, 1e-300]])
    x = np.concatenate([x, [1, -1, 0.5, np.inf, -np.inf, np.nan]]).astype(dtype)
    out = np.empty_like(x)
    fill(x, out)
    want = np.array([f(float(v)) for v in x])
    unit = np.spacing(np.abs(want).astype(dtype)).astype(float)
    good = np.abs(out.astype(float) - want) <= ulps * unit
    assert (good | (np.isnan(want) & np.isnan(out))).all(), x[~good]
    assert np.array_equal(np.signbit(out), np.signbit(want)) or name == "erfc"


def test_math_of_two():
    def f(x, y):
        return (
            math.atan2(x, y),
            math.hypot(x, y),
            math.pow(x, y),
            math.fmod(x, y),
            math.copysign(x, y),
            math.log(x, y),
            math.ldexp(x, 3),
            math.remainder(x, y),
        )

    check(f, 2.5, 1.5)
    check(f, 7, 3)


def test_math_of_integers():
    def f(a, b):
        return (
            math.gcd(a, b),
            math.lcm(a, b),
            math.factorial(b),
            math.comb(a, b),
            math.perm(a, b),
            math.isqrt(a),
        )

    check(f, 12, 5)
    check(f, 100, 8)
    check(f, 7, 0)

    def bad(a):
        return math.factorial(a)

    assert isinstance(check(bad, -1), ValueError)


def test_math_tests():
    def f(x):
        return math.isnan(x), math.isinf(x), math.isfinite(x), math.isclose(x, x + 1e-12)

    for x in (1.0, math.inf, math.nan):
        check(f, x)

    def parts(x):
        return math.modf(x), math.frexp(x), math.nextafter(x, 5.0), math.ulp(x)

    for x in (2.75, -3.5, 1e10, 0.1):
        check(parts, x)

    def constants():
        return math.pi, math.e, math.inf, math.tau, np.pi, np.inf

    check(constants)

    def sums(x):
        return math.fsum(x), math.dist((0.0, 0.0), (3.0, 4.0)), math.prod((2, 3, 4))

    check(sums, np.arange(5.0))


def test_math_keeps_float32():
    def f(x):
        return math.sin(x) + math.exp(x) * 2.0

    g = njit(f)
    g(np.float32(1))
    assert "double" not in next(iter(g.inspect_llvm().values()))


def test_complex():
    def f(a, b):
        return (
            a + b,
            a * b,
            a / b,
            a - 2,
            a.real,
            a.imag,
            abs(a),
            a.conjugate(),
            a == b,
            a**2,
            complex(1.5, 2),
            complex(b),
            -a,
            1j * b,
        )

    check(f, 1 + 2j, 3 - 1j)
    check(f, 1 + 2j, 3.5)
    check(f, np.complex64(1 + 2j), np.complex64(0.5j))
    check(f, 2.0 + 0j, 3)


@pytest.mark.parametrize(
    "name",
    "sqrt exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh phase isnan "
    "isinf isfinite log10 polar rect isclose".split(),
)
def test_cmath(name):
    f = getattr(cmath, name)
    if name in ("rect", "isclose"):

        def call(z):
            return f(z.real, z.imag)
    else:

        def call(z):
            return f(z)

    for z in (0.3 + 0.4j, -1.5 + 0.2j, 2 - 3j):
        check(call, z)


def test_conversions():
    def f(x):
        return int(x), float(x), bool(x), complex(x), round(x), abs(x)

    for x in (2.7, -2.7, 0.0, 3, -3, True, 2.5, 3.5):
        check(f, x)

    def numpy_types(x):
        return np.float32(x) / 3, np.int8(x), np.uint16(x), np.float64(x), np.int64(x) // 2

    for x in (7, 7.9, np.float32(3)):
        check(numpy_types, x)

    def nothing():
        return int(), float(), bool(), complex()  # noqa: UP018

    check(nothing)

    def digits(x):
        return round(x, 2), round(x, 1), round(x, 0), round(x)

    for x in (1.2345, 2.675, -1.005, 12345.678):
        check(digits, x)

    def tens(n):
        return round(n, -2)

    check(tens, 12345.0)
    for n in (12350, 12450, -12350, -12250, 49, 50, 150, 7):
        check(tens, n)


def test_truth_values():
    def f(a, b):
        return a and b, a or b, not a, bool(a) and bool(b)

    for a in (0, 1, 2):
        for b in (0, 3):
            check(f, a, b)
    check(f, 0.0, 1.5)
    check(f, True, False)

    def chain(x, y, z):
        return x < y < z, x < y == z, 0 <= x < 10, x != y != z, 1 < x > y

    check(chain, 1, 2, 3)
    check(chain, 5, 2, 2)

    def conditional(x):
        return (1 if x > 0 else -1), (x * 1.0 if x > 2 else 0.5)

    check(conditional, 3)
    check(conditional, -3)


def test_chained_comparison_evaluates_once():
    def f(x):
        n = 0
        for i in range(x.shape[0]):
            if 0 <= x[i] < 10 and i < 5 and x[i + 1] > 0:
                n += 1
        return n

    check(f, np.arange(10))


def test_divmod_pow_min_max():
    def f(a, b):
        return divmod(a, b), pow(a, b), min(a, b), max(a, b), min(a, b, a - 1), max((a, b, b + 3))

    check(f, 17, 5)
    check(f, -17, 5)
    check(f, 17.5, 5.0)

    def modular(a, b, m):
        return pow(a, b, m)

    check(modular, 7, 130, 13)


def test_is():
    def f(x, y):
        return x is None, y is not None, x is True if False else 0

    check(f, None, 3)


def test_upper_bits_of_numbers_that_run_over_are_indices():
    def f(n, x):
        h, total = 12345, 0
        for _ in range(n):
            h = h * 6364136223846793005 + 1442695040888963407
            total += x[h >> 61] + 10 * x[h // 2**61]
        return total

    around = np.full(100, 1000)
    x = around[50:58]
    x[:] = np.arange(8)
    h, total = np.int64(12345), 0
    with np.errstate(over="ignore"):
        for _ in range(100):
            h = h * np.int64(6364136223846793005) + np.int64(1442695040888963407)
            total += 11 * x[h >> np.int64(61)]
    assert njit(f)(100, x) == total


def test_constants_of_narrow_types():
    def f(x):
        return (
            np.int64(np.int8(200)),
            np.int32(np.int16(np.int32(65537))) + x,
            np.uint64(np.int8(-1)),
            np.float64(np.float32(0.1)),
            np.float64(np.float16(0.1)),
            int(np.float32(16777217)),
            np.int64(np.int32(3.7)),
            np.int64(np.bool_(5)),
            np.float64(np.complex64(0.1).real),
        )

    def g(x):
        total = 0
        for i in range(np.uint8(260)):
            total += x[i] + x[np.int8(257)]
        return total, 2 ** np.int8(4)

    with np.errstate(over="ignore"):
        # In NumPy a Python int that a type has no room for is an error.
        want = (-56, 1 + 3, 2**64 - 1, *(float(t(0.1)) for t in (np.float32, np.float16)))
        want += (16777216, 3, 1, float(np.float32(0.1)))
    got = njit(f)(np.int64(3))
    assert got == want
    x = np.arange(10)
    assert njit(g)(x) == (sum(range(4)) + 4 * 1, 16)


def test_constants_beyond_an_integers_range():
    def constants():
        return (
            np.int32(1e10) // 7,
            np.int16(1e10) * 3,
            np.uint16(1e10) + 1,
            np.float64(np.uint64(np.float32(1e300))),
            np.int64(np.int32(np.float16(1e10))),
            min(np.int32(np.float64(1e300)), 5),
        )

    def arguments(x, y):
        return (
            np.int32(x) // 7,
            np.int16(x) * 3,
            np.uint16(x) + 1,
            np.float64(np.uint64(np.float32(y))),
            np.int64(np.int32(np.float16(x))),
            min(np.int32(np.float64(y)), 5),
        )

    assert njit(constants)() == njit(arguments)(1e10, 1e300)


def test_numbers_that_run_over_have_either_sign():
    def f(n):
        h, s = 12345, 0
        for _ in range(n):
            h = h * 6364136223846793005 + 1442695040888963407
            s += np.where(h < 0, 1, 0)
            s ^= abs(h) // 3
            s ^= h - 5 if h < 0 else h
            s += min(h, 0) % 7
        return s

    h, s = np.int64(12345), np.int64(0)
    with np.errstate(over="ignore"):
        for _ in range(100):
            h = h * np.int64(6364136223846793005) + np.int64(1442695040888963407)
            s += h < 0
            s ^= abs(h) // 3
            s ^= h - 5 if h < 0 else h
            s += min(h, 0) % 7
    assert njit(f)(100) == s


def raised(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("x", [0.0, 2.75, -2.75, 1e30, -1e30, np.inf, -np.inf, np.nan, 2.0**63])
def test_integers_of_python_floats(dtype, x):
    """NumPy takes int() of them; what int64 holds and the type does not wraps here."""
    to = getattr(np, dtype)

    def of_python(x):
        return to(x)

    def of_numpy(x):
        return to(np.sum(x, initial=np.float64(x)))

    want = raised(of_python, x)
    if want is OverflowError and abs(x) < 2.0**63:
        want = int(np.int64(int(x)).astype(to))
    if want is OverflowError and x == 2.0**63 and dtype == "int64":
        assert raised(njit(of_python), x) is OverflowError
    elif abs(x) == 2.0**63:
        assert raised(njit(of_python), x) in (want, OverflowError)
    else:
        assert raised(njit(of_python), x) == want
    assert isinstance(njit(of_numpy)(x), int)  # NumPy's numbers raise nothing


@pytest.mark.parametrize("dtype", [*NUMBERS, *COMPLEX, "bool"])
def test_math_prod_keeps_the_type_of_its_items(dtype):
    x = np.array([3, 50, 2]).astype(dtype)

    def of_array(x):
        return math.prod(x)

    def of_list(x):
        return math.prod([x[0], x[1]]) + x[2]

    for f in (of_array, of_list):
        with np.errstate(all="ignore"):
            assert njit(f)(x) == f(x)


def test_initial_of_a_sum_of_integers():
    def f(x, first):
        return np.sum(x, initial=first)

    x = np.arange(4)
    assert njit(f)(x, 2.75) == f(x, 2.75) == 8
    for first in (np.nan, np.inf, -np.inf):
        assert raised(njit(f), x, first) is raised(f, x, first)


def test_fsum_of_infinities():
    def f(x):
        return math.fsum(x)

    inf, nan = np.inf, np.nan
    for x in ([1.0, inf], [inf, inf, -1.0], [nan, inf, -inf, 1], [inf, -inf], [-inf, 1.0],
              [nan, 1.0], [1e16, 1.0, -1e16], []):  # fmt: skip
        x = np.array(x, dtype=float)
        got, want = raised(njit(f), x), raised(f, x)
        assert got == want or (got != got and want != want), x


def test_conjugate_of_real_numbers():
    def f(x, a):
        return x.conjugate(), a.conjugate(), a.conj(), (x.conjugate() & x)

    for t in ("bool", *NUMBERS[:4]):
        check(f, np.dtype(t).type(1), np.array([1, 0, 1], t))


def test_numpys_numbers_without_an_index():
    def f(a):
        x = a.sum()
        a = a[0]
        return x[()], a[()] + 1

    check(f, np.arange(3.0))
    check(f, np.arange(3, dtype=np.int8))


def test_interp_over_points_that_do_not_ascend():
    """NumPy's order of comparisons, from a guess on."""

    def f(x, xp, fp):
        return np.interp(x, xp, fp), np.interp(x[0], xp, fp)

    r = np.random.default_rng(7)
    for n in (1, 2, 3, 4, 5, 6, 12, 40):
        for _ in range(10):
            xp = r.integers(-5, 6, n).astype(float)
            x = np.append(r.integers(-7, 8, 30) / 2, [np.nan, np.inf])
            r.shuffle(x)
            check(f, x, xp, r.standard_normal(n))
            check(f, x, np.sort(xp), r.standard_normal(n))


@pytest.mark.parametrize("f", [np.nanmin, np.nanmax])
def test_nan_extremes_of_nothing(f):
    with pytest.raises(ValueError, match="zero-size array"):
        njit(lambda x: f(x))(np.zeros(0))


SCALARS = [3, 2.5, np.int8(3), np.uint8(3), np.uint64(3), np.float16(3), np.float32(3)]


@pytest.mark.parametrize("a", SCALARS, ids=repr)
def test_types_of_arange(a):
    """Of int64 at least, whatever the numbers' own types are."""

    def f(a, b, c):
        return np.arange(a), np.arange(b, a), np.arange(a, 9, c)

    for b in SCALARS:
        if not (isinstance(b, np.uint64) or isinstance(a, np.uint64)):
            check(f, a, b, np.float32(2))
            check(f, a, b, np.int8(2))


@pytest.mark.parametrize("dtype", INTS)
def test_gcd_of_an_array_and_a_python_number(dtype):
    def f(a, b):
        return np.gcd(a, b), np.lcm(a, True), np.gcd(a, False), np.gcd(a[0], b) + a[0]

    check(f, np.array([4, 12, 1], dtype), 6)


def test_square_of_bools():
    def f(a):
        return a**2, (a > 0) ** 2, a**3, np.power(a, 2), a[0] ** 2

    check(f, np.array([True, False]))


@pytest.mark.parametrize("expression", ["{} + 1", "1.5 * {}", "({}, 2)", "x < {}", "[{}]", "-{}"])
def test_a_literal_beyond_64_bits_is_an_error_with_its_line(expression):
    f = function_of(expression.format(2**64), "x")
    with pytest.raises(CompileError, match=r"9551616 does not fit into 64 bits[\s\S]*:2"):
        njit(f)(1)
