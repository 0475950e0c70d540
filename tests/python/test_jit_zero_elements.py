"""Division by zero in compiled functions: NumPy's of elements, Python's of Python's numbers."""

import warnings

import numpy as np
import pytest
from numbus import njit

DIVISIONS = {
    "/": lambda a: a[1] / a[0],
    "//": lambda a: a[1] // a[0],
    "%": lambda a: a[1] % a[0],
    "1 /": lambda a: 1 / a[0],
    "1 //": lambda a: 1 // a[0],
    "sum": lambda a: 1.0 / a[:1].sum(),
    "size": lambda a: 1 / (a.size - 2),
    "int": lambda a: 1 / int(a[0]),
    "float": lambda a: 1 / float(a[0]),
    "item": lambda a: 1 / a[0].item(),
    "array item": lambda a: 1 // a.item(0),
}


def given(function, a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(a)
        except ZeroDivisionError:
            return "ZeroDivisionError"


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ("bool", "int8", "uint16", "int64", "float32", "float64"))
def test_zero_as_in_numpy(name, dtype):
    for value in (0, 1, 3):
        a = np.array([0, value], dtype)
        expected, found = given(DIVISIONS[name], a), given(njit(DIVISIONS[name]), a)
        if isinstance(expected, str):
            assert found == expected
        else:
            np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("value", [0, 5, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("how", [lambda x: int(x[0]), lambda x: x[0].item(), lambda x: x.item()])
def test_integers_beyond_int64_raise(how, value):
    """CPython's int holds them; int is int64 here."""
    x = np.array([value], np.uint64)
    if value < 2**63:
        assert njit(how)(x) == value
    else:
        with pytest.raises(OverflowError, match="beyond int64"):
            njit(how)(x)
