"""np.errstate in its modes beyond warnings: NumPy is the oracle of what is raised and told."""

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.numbus

STATEMENTS = """
a / z
z / z
1 / z
z // z
a % z
-(a * 1e308) * 10
a ** -1.0
z ** -1.0
i // 0
i % zi
np.log(a - 2)
np.log(z)
np.sqrt(-a)
np.exp(a * 1000)
np.arccosh(z)
np.divide(a, z)
np.divide(a, z, where=a > 5, out=np.zeros(4))
np.multiply(a, 1e308, out=np.zeros(4)) * 100
np.float64(1) / z
a / np.float64(0)
(a * 1e308).sum()
np.full(10, 1e308).sum()
np.full(10, 1e308).mean()
np.add.reduce(np.full(9, 1e308))
np.multiply.accumulate(a * 1e200)
np.divide.outer(a, z)
np.linalg.norm(a * 1e200)
np.full(3, 1e200) @ np.full(3, 1e200)
np.dot(np.full(3, 1e200), np.full(3, 1e200))
a.var(ddof=9)
np.sinc(z)
np.nanmean(np.array([np.nan, 1.0]))
np.where(z > 0, a / z, 0)
a.astype('f2')
(a * 1e6).astype('f2')
(a + np.inf).astype('i4')
np.inf - (z + np.inf)
a.cumsum()
np.median(z / 2)
np.hypot(a * 1e308, a * 1e308)
np.tan(a)
a == np.nan
np.maximum(z, np.nan)
np.prod(np.full(400, 10.0))
np.square(a * 1e200)
np.reciprocal(z)
np.power(z, -2.0)
np.expm1(a * 800)
np.ldexp(a, 2000)
np.cbrt(a)
np.remainder(a, z)
np.fmod(a, z)
abs(a)
a * 1e-320 * 1e-10
""".strip().split("\n")
MODES = [
    {"all": "raise"},
    {"divide": "raise"},
    {"over": "raise", "invalid": "raise"},
    {"under": "raise"},
    {},
]


def outcome(statement, module, size):
    a = module.arange(1.0, 1.0 + size)
    names = {
        "np": module,
        "a": a,
        "z": module.zeros(size),
        "i": module.arange(size),
        "zi": module.zeros(size, int),
    }
    try:
        eval(statement, names)
    except FloatingPointError as error:
        return str(error)
    return None


@pytest.mark.parametrize("size", [4])
@pytest.mark.parametrize("modes", MODES, ids=str)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_raise(xp, core, statement, modes, size):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(**modes):
            want = outcome(statement, np, size)
        with xp.errstate(**modes):
            got = outcome(statement, xp, size)
    assert got == want
    assert not core.checks_float_errors()


def test_large_and_pending(xp):
    big = xp.arange(100_000.0)
    with xp.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            1 / (big * 2)
        assert float((1 / (big + 1)).sum()) > 0


def test_nothing_is_written(xp):
    a = xp.array([1.0, 2.0])
    with xp.errstate(all="raise"), pytest.raises(FloatingPointError):
        a /= 0
    with xp.errstate(all="raise"), pytest.raises(FloatingPointError):
        xp.divide(a, 0, out=a)
    assert a.tolist() == [1.0, 2.0]


def test_states_nest_and_come_back(xp, core):
    z = xp.zeros(3)
    with xp.errstate(divide="raise"):
        with xp.errstate(divide="ignore"):
            assert (1 / z).tolist() == [np.inf] * 3
        assert core.checks_float_errors()
        with pytest.raises(FloatingPointError):
            1 / z
    assert (1 / z).tolist() == [np.inf] * 3


def test_seterr(xp):
    before = xp.seterr(divide="raise")
    try:
        with pytest.raises(FloatingPointError):
            1 / xp.zeros(3)
    finally:
        assert xp.seterr(**before)["divide"] == "raise"
    assert xp.geterr() == before
    assert (1 / xp.zeros(2)).tolist() == [np.inf] * 2


def test_decorator(xp):
    @xp.errstate(invalid="raise")
    def root(x):
        return xp.sqrt(x)

    with pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
        root(xp.array([-1.0]))


def test_calls(xp):
    told = []
    before = np.seterrcall(lambda kind, flag: told.append(kind))
    try:
        with xp.errstate(divide="call", over="call"):
            assert (1 / xp.zeros(2)).tolist() == [np.inf] * 2
            xp.exp(xp.array([1000.0]))
        assert told == ["divide by zero", "overflow"]

        def refuse(kind, flag):
            raise KeyError(kind)

        with xp.errstate(divide="call", call=refuse), pytest.raises(KeyError):
            1 / xp.zeros(2)
    finally:
        np.seterrcall(before)


def test_functions_of_the_user_run_once(xp):
    calls = []

    def reciprocal(row):
        calls.append(1)
        return 1 / row

    with xp.errstate(divide="raise"):
        xp.apply_along_axis(reciprocal, 1, xp.ones((3, 2)))
        assert len(calls) == 3
        with pytest.raises(FloatingPointError):
            xp.apply_along_axis(reciprocal, 1, xp.zeros((3, 2)))


def test_other_errors_are_ours(xp):
    with xp.errstate(all="raise"), pytest.raises(ValueError, match=r"\[add\]"):
        xp.ones(3) + xp.ones(4)


@pytest.mark.parametrize("modes", [{"over": "call"}, {"all": "warn"}, {"under": "warn"}])
def test_each_error_is_told_once(xp, modes):
    """Where NumPy goes first, what comes after it tells of nothing, whatever other kinds are."""

    def tell(library):
        calls = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with library.errstate(**modes, call=lambda *what: calls.append(what)):
                a = library.asarray([1e4, -1e4, 0.0])
                library.exp(a)
                1 / a
                library.sqrt(a)
                library.piecewise(a, [a > 0], [library.exp, 0])
                library.linalg.det(library.asarray([[[1e200, 0], [0, 1e200]]]))
        return calls, [(w.category, str(w.message)) for w in caught]

    assert tell(xp) == tell(np)


@pytest.mark.parametrize("mode", ["raise", "call", "ignore", "warn"])
def test_iterators_are_read_once(xp, mode):
    with xp.errstate(all=mode, call=print):
        got = xp.fromiter(iter([1.0, 2.0, 3.0]), float)
        counted = xp.fromiter((x for x in (4.0, 5.0)), float, count=2)
    assert got.tolist() == [1, 2, 3] and counted.tolist() == [4, 5]
