"""Warnings of one number among many that a compiled kernel stores: its own code finds it; and
warnings beside flags that other code has left.
"""

import ctypes.util
import itertools
import operator
import os
import platform
import warnings

import numbus as nb
import numpy as np
import pytest
from numbus import _core
from test_warnings import ROWS, given, special_values

DEVICE = os.environ.get("NUMBUS_DEVICE", "cpu")
pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(DEVICE.startswith("cuda"), reason="work on a GPU gives no warnings"),
]
N = 300_007


def texts(function, x, library):
    given = library.asarray(x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(library, given)
        for r in result if isinstance(result, tuple) else (result,):
            np.asarray(r)
    return sorted(str(w.message) for w in caught)


CHAINS = {
    "log": (lambda l, x: l.log(x), -1),
    "log1p": (lambda l, x: l.log1p(x), -1),
    "chain": (lambda l, x: l.sin(x) * 2 + l.log(x), -1),
    "exp": (lambda l, x: l.exp(x) + l.cos(x), 1e4),
    "sin": (lambda l, x: 1.5 * l.sin(x) * x, np.inf),
    "power": (lambda l, x: (x + 0.5) ** 2.5, -2),
    "arccos": (lambda l, x: l.arccos(x - 1), 5),
    "sinh": (lambda l, x: l.sinh(x) - x, 1e4),
    "every other": (lambda l, x: l.log(x[::2]) * 2, -1),
    "backwards": (lambda l, x: l.log(x[::-1]) * 2, -1),
    "columns": (lambda l, x: l.log(x[: N - N % 6].reshape(-1, 6).T), -1),
    "two results": (lambda l, x: (l.log(x), l.log(x) * 0 + 1), -1),
    "and a sum": (lambda l, x: (y := l.log(x), y.sum()), -1),
    "complex": (lambda l, x: l.exp(x + 1j * x), 1e4),
    "tanh, none": (lambda l, x: l.tanh(x) + l.exp(-x), 1e4),
    "a NaN, none": (lambda l, x: l.log(x) + l.sin(x), np.nan),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("at", [0, 12, 16384 * 7 + 1, N - 7, None])
def test_one_among_many(name, dtype, at):
    function, special = CHAINS[name]
    _core.forget_plans()  # one is looked at four times, and then more and more seldom
    x = np.linspace(0.2, 1.9, N).astype(dtype)
    if at is not None:
        x[at // 2 * 2] = special
    ours, wanted = (texts(function, x, library) for library in (nb, np))
    assert set(ours) == set(wanted)


@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_where(dtype):
    """What takes no part is no reason to warn."""
    x = np.linspace(0.2, 1.9, N).astype(dtype)
    x[77] = -1
    for taken in (True, False):
        where = np.ones(N, bool)
        where[77] = taken

        def function(library, given, where=where):
            out = library.zeros(N, given.dtype)
            return library.log(given, out=out, where=library.asarray(where))

        assert set(texts(function, x, nb)) == set(texts(function, x, np))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("special", [1, -1])
def test_into_a_part(dtype, special):
    """What lies beside the part was infinite before, which is nobody's error."""
    x = np.full((500, 700), 1.5, dtype)
    x[320, 641] = special

    def function(library, given):
        out = library.asarray(np.full((502, 1400), np.inf, dtype))
        out[1:-1, ::2] = library.log(given) * 2
        return out[1:-1, ::2] + 1

    _core.forget_plans()
    assert set(texts(function, x, nb)) == set(texts(function, x, np))


# --- half floats ----------------------------------------------------------------------------------

OF_TWO = """add subtract multiply divide copysign fmax fmin maximum minimum less less_equal equal
    not_equal nextafter heaviside arctan2 logaddexp hypot floor_divide remainder""".split()


@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize("number", [65519, 65520, -(10**6), 2**40, 2**63 - 1, 1e6, -65520.0])
def test_numbers_beyond_half_floats(name, number):
    x = np.ones(3, "f2")
    for swaps in (False, True):

        def function(library, given, swaps=swaps):
            operands = (number, given) if swaps else (given, number)
            return getattr(library, name)(*operands)

        assert set(texts(function, x, nb)) == set(texts(function, x, np)), swaps


def test_numbers_beyond_half_floats_in_functions():
    x = np.ones(3, "f2")
    for function in (
        lambda l, a: l.where(l.asarray([True, False, True]), a, 10**6),
        lambda l, a: l.clip(a, 0, 10**6),
        lambda l, a: a + 10**6,
        lambda l, a: 10**6 > a,
    ):
        assert set(texts(function, x, nb)) == set(texts(function, x, np))


@pytest.mark.skipif(DEVICE == "fenced", reason="segments are summed by kernels, as on a GPU")
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "subtract", "maximum"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("indices", [[0, 2, 4], [0], [3, 1, 5]])
def test_reduceat(name, dtype, indices):
    big = np.finfo(dtype).max / 2
    lines = [1, 0, 2, 0, 3, 0], [big, big, big, 0, 1, 2], [1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 0]
    for line in lines:

        def function(library, given):
            return getattr(library, name).reduceat(given, indices)

        x = np.array(line, dtype)
        assert set(texts(function, x, nb)) == set(texts(function, x, np)), line


@pytest.fixture
def raise_flags():
    """Raises the processor's flags of floating-point errors, as other code may leave them."""
    name = ctypes.util.find_library("m")
    if name is None:
        pytest.skip("no C library of mathematics")
    every = {"x86_64": 13, "aarch64": 7}.get(platform.machine())
    if every is None:
        pytest.skip("unknown numbers of flags")
    function = ctypes.CDLL(name).feraiseexcept
    return lambda: function(every)


OPERATORS = {
    f"operator.{name}": getattr(operator, name)
    for name in "truediv floordiv mod add mul sub pow neg abs itruediv imul".split()
}


@pytest.mark.parametrize("name", [*ROWS, *OPERATORS])
@pytest.mark.parametrize("at_once", [0, 512])
def test_flags_of_other_work_say_nothing(xp, core, raise_flags, name, at_once):
    """What is recorded, or done at once, warns once whatever flags were set before."""
    theirs = OPERATORS.get(name) or getattr(np, name)
    ours = OPERATORS.get(name) or getattr(xp, name)
    count = 1 if name in ("operator.neg", "operator.abs") else getattr(theirs, "nin", 2)
    numbers = np.array(list(itertools.product(special_values("f8"), repeat=count)))
    before = core.set_at_once(at_once)

    def after_flags(*operands):
        raise_flags()
        return ours(*operands)

    try:
        for rows in (numbers, np.repeat(numbers, 3, 0), numbers[:0], numbers[:7]):
            operands = [rows[:, k].copy() for k in range(count)]
            want = given(theirs, *[x.copy() for x in operands])
            assert given(after_flags, *map(xp.array, operands)) == want
            lazy = [xp.array(x) * 1.0 for x in operands]
            assert given(after_flags, *lazy) == want
    finally:
        core.set_at_once(before)
