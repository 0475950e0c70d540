"""What Python's own numbers raise in compiled functions, and other classes of errors that the
generator of programs has found."""

import math
import operator

import numpy as np
import pytest
from numbus import njit, vectorize
from numbus.kernels._errors import UnsupportedError

pytestmark = pytest.mark.numbus

FLOATS = [np.float64, np.float32, np.float16, float]
SPECIAL = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 1e4, -1e4, math.inf, -math.inf, math.nan]
LARGE = [2.0**62, -(2.0**62), 2.0**63 - 1024, -(2.0**63), 2.0**63, -(2.0**63) - 2048, 1e300]
TO_INT = [int, round, math.floor, math.ceil, math.trunc]


def outcome(f, *args):
    with np.errstate(all="ignore"):
        try:
            return f(*args)
        except Exception as error:
            return type(error)


def functions(to_int):
    if to_int is int:
        return lambda x: int(x)
    if to_int is round:
        return lambda x: round(x)
    if to_int is math.floor:
        return lambda x: math.floor(x)
    if to_int is math.ceil:
        return lambda x: math.ceil(x)
    return lambda x: math.trunc(x)


@pytest.mark.parametrize("to_int", TO_INT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("t", FLOATS, ids=lambda t: t.__name__)
def test_float_to_int(to_int, t):
    f = functions(to_int)
    compiled = njit(f)
    for x in SPECIAL + (LARGE if t in (float, np.float64) else []):
        want = outcome(f, t(x))
        if want is TypeError:  # NumPy's short floats have no __trunc__
            continue
        if type(want) is int and not -(2**63) <= want < 2**63:
            want = OverflowError  # int is int64 here
        got = outcome(compiled, t(x))
        assert got == want and type(got) is type(want), (x, got, want)


def test_to_int_raises_before_what_follows():
    def f(x, out):
        for i in range(x.size):
            out[i] = int(x[i]) + 1

    x = np.array([1.0, 2.0, math.nan, 3.0])
    ours, theirs = np.zeros(4, np.int64), np.zeros(4, np.int64)
    for g, out in ((f, theirs), (njit(f), ours)):
        with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
            g(x, out)
    assert ours.tolist() == theirs.tolist() == [2, 3, 0, 0]


@pytest.mark.parametrize("t", [np.float64, np.float32, np.float16], ids=lambda t: t.__name__)
def test_to_int_as_an_index(t):
    """The element before the failing one is counted, those after it are not."""

    def f(x, h):
        for i in range(x.size):
            h[int(x[i] * 2)] += 1

    compiled = njit(f)
    with np.errstate(all="ignore"):
        special = np.array([*SPECIAL, *LARGE, 3.9, -2.5, 5.0]).astype(t)
    for x in special:
        for at in (0, 5, 19):
            values = np.full(20, 1.5, t)
            values[at] = x
            ours, theirs = np.zeros(10, np.int64), np.zeros(10, np.int64)
            want = outcome(f, values, theirs)
            got = outcome(compiled, values, ours)
            if want is IndexError and abs(float(x)) >= 2.0**62:
                assert got in (IndexError, OverflowError)  # int is int64 here
            else:
                assert got == want, (x, got, want)
            assert ours.tolist() == theirs.tolist()


def test_numpy_model_and_elements_raise_nothing():
    def f(x):
        return int(x) + (1 << int(x != x)) * 0

    least = np.iinfo(np.int64).min
    assert njit(f, error_model="numpy")(math.nan) == least
    assert vectorize(f)(np.array([math.nan, 2.0])).tolist() == [least, 2]


SHIFTS = [operator.lshift, operator.rshift]


@pytest.mark.parametrize("symbol", ["<<", ">>"])
def test_shift_counts(symbol):
    shift = operator.lshift if symbol == "<<" else operator.rshift

    def left(a, n):
        return a << n

    def right(a, n):
        return a >> n

    compiled = njit(left if symbol == "<<" else right)
    for a in (0, 1, 5, -7, True):
        for n in (0, 1, 3, -1, -64, False):
            assert outcome(compiled, a, n) == outcome(shift, a, n), (a, n)
    # NumPy's numbers have no such error.
    assert compiled(np.int64(5), np.int64(-1)) == int(shift(np.int64(5), np.int64(-1)))


@pytest.mark.parametrize("a", [-8.0, -0.5, 0.0, 2.0, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("b", [0.5, -0.5, 2.0, 3.0, 1 / 3, math.inf, -math.inf, math.nan, 0.0])
def test_fractional_powers(a, b):
    """Where Python gives a complex number, whose type no values decide here."""
    want = outcome(lambda a, b: a**b, a, b)
    got = outcome(njit(lambda a, b: a**b), a, b)
    if isinstance(want, complex):
        assert got is ValueError
    else:
        assert got == pytest.approx(want, rel=1e-15, nan_ok=True)


def test_numbers_of_numpy_give_nan():
    f = njit(lambda a, b: a**b)
    assert math.isnan(f(np.float64(-8.0), 0.5))


def test_sides_of_comparisons_have_types_of_their_own():
    f = lambda a, b: a < b != (b if b else a)  # noqa: E731
    for a, b in ((2, 3), (3, 2), (0, 1)):
        got = njit(f)(a, b)
        assert got is f(a, b)


def test_numbers_of_several_types_are_no_mistake():
    def f(a):
        n = min(a, 1.5)
        return (n & 1) if a < 1 else 0

    with pytest.raises(UnsupportedError, match="operator &"):
        njit(f)(0)


@pytest.mark.parametrize("t", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("other", [0.0, -0.0, 1.0, -5.0, math.inf, -math.inf, math.nan])
def test_nextafter(t, other):
    f = lambda a, b: (np.nextafter(a, b), math.nextafter(a, b))  # noqa: E731
    compiled = njit(f)
    for x in (0.0, -0.0, 1.0, -1.0, 2.0, 0.1, math.inf, -math.inf, math.nan, np.finfo(t).tiny):
        for y in (other, t(other)):
            for got, want in zip(compiled(t(x), y), f(t(x), y)):
                same = got == want and math.copysign(1, got) == math.copysign(1, want)
                assert same or (got != got and want != want), (x, y, got, want)


def test_nextafter_of_arrays():
    a = np.arange(-3, 3).astype(np.float32)
    assert (njit(lambda a: np.nextafter(a, 1.0))(a) == np.nextafter(a, np.float32(1))).all()


def test_truth_of_arrays_is_not_yet():
    with pytest.raises(UnsupportedError, match=r"truth value of an array.*\n(.*\n)*.*\.any\(\)"):
        njit(lambda a: 1 if a > 0 else 2)(np.zeros(1))


@pytest.mark.parametrize("n", [0, 3])
def test_library_of_nothing(n):
    a = np.zeros(n)
    f = lambda a: (np.partition(a[:0], 2), np.polyval(a, -1.0), np.polyval(a, a))  # noqa: E731
    for got, want in zip(njit(f)(a), f(a)):
        assert np.array_equal(got, want) and np.array_equal(np.signbit(got), np.signbit(want))


def test_products_of_bools():
    a = np.array([True, True, False])
    f = lambda a: (np.vdot(a, a), np.dot(a, a), np.inner(a, ~a))  # noqa: E731
    assert njit(f)(a) == (True, True, False)
    assert all(type(x) is bool for x in njit(f)(a))


@pytest.mark.parametrize(
    "f",
    [
        lambda n: 9223372036854775808 + n,
        lambda n: -9223372036854775809,
        lambda n: [9223372036854775808, n],
        lambda n: 9223372036854775808 if n else n,
        lambda n: int(9223372036854775808),  # noqa: RUF046, UP018
        lambda n: ~9223372036854775808,
        lambda n: 9223372036854775808 * 2,
        lambda n: 9223372036854775808 // 3,
        lambda n: min(9223372036854775808, n),
        lambda n: range(9223372036854775808)[n],
    ],
)
def test_large_literals_are_right_or_refused(f):
    try:
        got = njit(f)(1)
    except UnsupportedError:
        return
    assert got == f(1)


def test_large_literals_that_are_right():
    def f(n):
        return n < 9223372036854775808, np.uint64(9223372036854775808), 9223372036854775808 / 2

    assert njit(f)(1) == f(1)
    g = lambda a: a & 18446744073709551615  # noqa: E731
    assert njit(g)(np.uint64(2**64 - 3)) == 2**64 - 3


@njit("float32(float32, int64)")
def declared(x, n):
    return x * 3 + n


@njit(["int64(int64)", "float64(float64)"])
def twice_declared(x):
    return x / 2 if x != 0 else 0.0


@pytest.mark.parametrize("x", [0.1, 7, True, np.float32(0.1), np.float64(0.1), np.int8(5)])
def test_declared_functions_called_by_others(x):
    """They take the types that they declare, wherever they are called from."""
    assert njit(lambda x: declared(x, 2))(x) == declared(x, 2)
    assert njit(lambda x: declared(n=2.9, x=x))(x) == declared(x, 2.9)
    assert njit(lambda x: twice_declared(x))(x) == twice_declared(x)


def test_declared_functions_refuse_other_types():
    from numbus.kernels._errors import CompileError

    with pytest.raises(CompileError, match="no signature that declared"):
        njit(lambda x: declared(x, 2))(1j)


@pytest.mark.parametrize("which", ["min", "max"])
@pytest.mark.parametrize("t", [np.float64, np.float32, np.int64])
def test_extremes_of_arrays_are_those_of_comparisons(which, t):
    """np.max says NaN wherever there is one; Python's max looks at one item after the other."""

    def least(a):
        return min(a)

    def most(a):
        return max(a)

    def least_of_list(a, b, c):
        return min([a, b, c])

    def most_of_list(a, b, c):
        return max([a, b, c])

    f, of_list = (least, least_of_list) if which == "min" else (most, most_of_list)
    for items in ([1, math.nan, 3], [math.nan, 1, 3], [0.0, -0.0, 0.0], [-0.0, 0.0, -0.0], []):
        if t is np.int64 and any(x != x for x in items):
            continue
        a = np.array(items, t)
        got, want = outcome(njit(f), a), outcome(f, a)
        assert got is want or str(got) == str(want)
        if len(items) == 3 and t is np.float64:
            got, want = outcome(njit(of_list), *items), outcome(of_list, *items)
            assert got == want or (got != got and want != want)


@pytest.mark.parametrize("k", [0, 1, -1, 5, -5])
def test_diagonals_are_views(k):
    def f(a, k):
        d = np.diag(a, k)
        e = a.diagonal(offset=k)
        a[0, 0] = 7.0
        a[1, 0] = 8.0
        return d, e, np.diag(a + 1.0), np.diag(d)

    for a in (np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3).T[::-1]):
        for got, want in zip(njit(f)(a.copy(order="K"), k), f(a.copy(order="K"), k)):
            assert np.array_equal(got, want), (got, want)


@pytest.mark.parametrize("n", [0, 1])
def test_lists_returned_in_tuples_from_loops(n):
    """A list of tuples is known only in a second pass, which ended the process."""

    def f(n):
        v = [(1, 2.0), (3, -3.0)]
        for _ in v:
            if n:
                return (v,)
        return (v,)

    assert njit(f)(n) == f(n)


def test_numbers_and_tuples_are_never_equal():
    def f(x):
        rows = [(1, 2.0), (3, 4.0)]
        return rows[0] == x, x != rows[1], rows.count((3, 4.0))

    assert njit(f)(1) == f(1)
