"""A name that is assigned again outside of loops has a type of its own from there on."""

import numpy as np
import pytest
from numbus import njit

pytestmark = pytest.mark.numbus


@njit
def after_a_written_out_loop(x, n):
    for _ in ([x for k in range(2)], x):
        n = (8 >> n) + 1
    kept = n
    n = 0.5
    return kept, n


@njit
def in_a_written_out_loop(x):
    total = 0
    for v in (1, 2.5, [x, x]):
        w = v
        total = total + 1
    w = total << 2
    return w, total


@njit
def again_and_again(x):
    y = 1
    y = y << 3
    first = y
    y = x * y
    y, z = (y, 2), y
    return first, y, z


CASES = [
    (after_a_written_out_loop, (0.5, 1)),
    (in_a_written_out_loop, (3,)),
    (again_and_again, (2.5,)),
]


@pytest.mark.parametrize("f, args", CASES)
def test_versions(f, args):
    want = f.py_func(*args)
    got = f(*args)
    assert got == want and [type(v) for v in got] == [type(v) for v in want]


@pytest.mark.parametrize("n", [np.int8(3), np.float32(0.5)])
def test_one_type_in_loops_over_lists(n):
    """A loop over a list is a loop, also where the list has acted as a tuple so far."""

    def f(n):
        value = 1
        before = value * np.float32(0.1)
        last = before
        for value, _ in [(n, 0.5), (2, n)]:
            last = value
        return before, last

    def g(n):
        value = 1
        before = value**-1
        for _, _ in [(n, 0.5), (2, n)]:
            value = n
        return before, value

    # value is of the type of 1 and n from the start.
    assert njit(f)(n) == (np.float32(0.1), 2)
    if isinstance(n, np.integer):
        with pytest.raises(ValueError, match="negative integer powers"):
            njit(g)(n)
    else:
        assert njit(g)(n) == (1.0, 0.5)
