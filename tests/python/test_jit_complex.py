"""Compiled functions: complex numbers of Python's compute as CPython's do, and have their types."""

import itertools
import math
import operator
import sys

import numpy as np
import pytest
from numbus import njit

OPERATORS = "+ - * / **".split()
PARTS = [0.0, -0.0, 1.0, -2.5, 1e-200, 1e200, np.inf, np.nan]
NUMBERS = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
DIVISORS = [0, 3, 0.0, -0.0, 2.5, np.inf, 0j, 3 - 4j, 1e-310j, complex(1e-310, -1e-320)]
POWERS = [0, 1, 2, 3, 5, -1, -2, 100, 101, 0.0, 1.0, -1.0, 0.5, 2.0, -100.0, 1j, -1 + 0j, 2 - 1j]
FUNCTIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}


def _outcome(function, *args):
    try:
        return function(*args)
    except (ZeroDivisionError, OverflowError) as error:
        return type(error)


def _same(got, want, near):
    if isinstance(want, type) or isinstance(got, type):
        return got is want
    pairs = [(got.real, want.real), (got.imag, want.imag)]
    if near and np.isfinite([want.real, want.imag]).all():
        return abs(got - want) <= 1e-13 * abs(want)
    return all((g == w and np.signbit(g) == np.signbit(w)) or (g != g and w != w) for g, w in pairs)


@pytest.mark.parametrize("kind", [complex, np.float64, float, int])
@pytest.mark.parametrize("symbol", OPERATORS)
def test_as_cpython(symbol, kind):
    """Values, signs of zeros, NaN parts and errors; OverflowError is an infinity here."""
    function = FUNCTIONS[symbol]
    compiled = njit(lambda a, b: function(a, b))
    if kind is not complex and sys.version_info >= (3, 14):
        pytest.skip("there a real number is no complex one with a zero beside it")
    others = {"/": DIVISORS, "**": POWERS}.get(symbol, NUMBERS if kind is complex else PARTS)
    compared = 0
    for b in others:
        if kind is not complex and isinstance(b, complex):
            continue
        if kind is int and (not np.isfinite(b) or b != int(b) or abs(b) > 1e9):
            continue
        b = kind(b)
        # Whole powers are products, of which CPython's are exact; others hang on libm.
        whole = symbol != "**" or (complex(b).imag == 0 and complex(b).real in range(-100, 101))
        for a in NUMBERS:
            want = _outcome(function, a, b)
            if want is OverflowError or (not whole and not np.isfinite(a)):
                continue
            got = _outcome(compiled, a, b)
            if not whole and not isinstance(want, type) and not np.isfinite(got):
                continue
            assert _same(got, want, not whole), f"{a!r} {symbol} {b!r}: {got!r} for {want!r}"
            compared += 1
    assert compared


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -3, 100, 2.0, -1.0, 1 + 0j])
def test_known_powers(exponent):
    """An exponent that is known while compiling gives the bits of one that is not."""
    f, g = njit(lambda a: a**exponent), njit(lambda a, b: a**b)
    for a in NUMBERS:
        got, want = _outcome(f, a), _outcome(g, a, exponent)
        assert _same(got, want, False), f"{a!r} ** {exponent!r}: {got!r} for {want!r}"


@pytest.mark.parametrize("symbol", [*OPERATORS, "==", "!="])
def test_types(symbol, tmp_path):
    """np.float64 is one of Python's floats to a complex of Python's, and to no other number."""
    path = tmp_path / "program.py"
    path.write_text(
        f"def left(x, a, b):\n    return x * (a {symbol} b)\n\n\n"
        f"def plus(x, a, b):\n    return +(a {symbol} b)\n"
    )
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    function = space["plus"] if symbol in ("==", "!=") else space["left"]
    numbers = [2, 2.5, 1 + 1j, np.float64(2), np.float32(2), np.complex128(2), np.int8(2)]
    x = np.ones(1, np.complex64)
    for a, b in itertools.product(numbers, numbers):
        want = got = TypeError
        try:
            want = function(x, a, b)
            got = TypeError
            got = njit(function)(x, a, b)
        except TypeError:
            pass  # + of a bool of NumPy's; CompileError is one, too
        assert getattr(got, "dtype", type(got)) == getattr(want, "dtype", type(want)), (a, b)


@pytest.mark.parametrize("name", ["floor", "ceil"])
def test_whole_numbers_of_numpy(name):
    """math.floor and math.ceil go by way of a float, which holds no integer of 64 bits."""
    function = getattr(math, name)
    compiled = njit(lambda x: function(x))
    for t in (np.int64, np.uint64, np.int32, np.uint8):
        info = np.iinfo(t)
        for value in (0, 1, 100, 2**53 + 1, 2**62 + 1, 2**63 - 1, 2**64 - 1, info.min, info.max):
            if not info.min <= value <= info.max:
                continue
            want = function(t(value))
            if want >= 2**63:
                with pytest.raises(OverflowError):
                    compiled(t(value))
            else:
                assert compiled(t(value)) == want


def test_part_that_decides_nothing():
    """The imaginary part of a real number is a zero, and not a constant that leaves out a side."""

    def f(a):
        return a.imag or 1, 2 if a.imag else 3.5

    for a in (0.0, 2, True, np.float32(1)):
        got, want = njit(f)(a), f(a)
        assert got == want and isinstance(got[1], float)
    assert isinstance(njit(f)(0.0)[0], float)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power", "equal"])
@pytest.mark.parametrize("x", [0.0, -2.5, np.inf])
def test_ufuncs_take_no_float64_for_one_of_pythons(name, x):
    """np.float64 is a float of Python's to an operator of Python's complex, not to a ufunc."""
    function = getattr(np, name)

    def f(x):
        return function(0.5j, x), function(x, 0.5j)

    with np.errstate(all="ignore"):
        want = f(np.float64(x))
    np.testing.assert_allclose(njit(f)(np.float64(x)), want, rtol=1e-15)
