"""Errors that functions of the library note: they name the line of the program that called."""

import numpy as np
import pytest
from numbus import njit, prange

pytestmark = [pytest.mark.numbus]

A, B = np.ones((2, 3)), np.ones((2, 3))


@njit
def product(a, b):
    return a @ b  # the product


@njit
def outer(a, b):
    x = np.zeros(1)
    return product(a, b) + x


@njit
def solved(a):
    return np.linalg.solve(a, a[0])  # the system


@njit
def coefficients(a):
    return np.polynomial.polynomial.polyadd(a, a)  # the sum


@njit
def after_a_handler(a, b):
    try:
        c = a @ b
    except ValueError:
        c = a * 0
    return c @ b  # the second


@njit(parallel=True)
def in_a_loop(a, b):
    for _ in prange(4):
        (a @ b).sum()  # the iteration


CASES = [
    (product, (A, B), "# the product"),
    (outer, (A, B), "# the product"),
    (solved, (np.zeros((2, 2)),), "# the system"),
    (coefficients, (np.array([True]),), "# the sum"),
    (after_a_handler, (A, B), "# the second"),
    (in_a_loop, (A, B), "# the iteration"),
]


@pytest.mark.parametrize(("f", "given", "line"), CASES)
def test_the_line_of_the_program(f, given, line):
    with pytest.raises(ValueError) as found:
        f(*given)
    (note,) = found.value.__notes__
    assert __file__ in note and note.endswith(line), note


def test_a_raise_of_the_programs_own_keeps_its_line():
    @njit
    def f(a, b):
        try:
            a @ b
        except ValueError:
            raise IndexError("mine") from None  # the raise

    with pytest.raises(IndexError, match="mine") as found:
        f(A, B)
    assert found.value.__notes__[0].endswith("# the raise")
