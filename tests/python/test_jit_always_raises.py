"""A call that always raises ends what it stands in: the error is the one that CPython raises."""

import numpy as np
import pytest
from numbus import njit


def bad(x):
    raise ValueError(f"own {x}")


def worse(x):
    if x > 0:
        return bad(x)
    raise ValueError("own other")


def operand(x):
    return worse(x) + 1


def assigned(x):
    y = bad(x)
    return y * 2


def unpacked(x):
    a, b = bad(x)
    return a + b


def on_one_path(x):
    if x > 0:
        y = bad(x)
    else:
        y = 1.0
    return y * 2


def one_side(x):
    return 1.0 if x < 0 else bad(x)


def both_sides(x):
    y = bad(x) if x > 1 else worse(x)
    return y[0]


def later_side(x):
    return x > 1 and 0.5 < bad(x) < 2


def stored(x):
    a = np.zeros(3)
    a[0] = bad(x)
    return a


def element(x):
    a = np.zeros(3)
    a[1] += bad(x)
    return a


def by_lambda(x):
    g = lambda z: bad(z)  # noqa: E731
    return g(x)[0]


def by_inner(x):
    def inner(z):
        raise ValueError("own inner")

    return np.sqrt(inner(x)).sum()


def asked(x):
    if bad(x) > 0:
        return 1
    return 2


def asserted(x):
    assert bad(x) > 0
    return 1


def condition_of_loop(x):
    while bad(x):
        x -= 1
    return 3


def in_loop(x):
    s = 0.0
    for i in range(3):
        s += i
        if i == 2:
            s += bad(s)
    return s


def loop_over(x):
    for i in bad(x):
        x += i
    return x


def in_comprehension(x):
    return [bad(x) for i in range(3)], 1


def among_arguments(x):
    return np.add(x, bad(x)).sum(axis=0)


def wrong_choice(x):
    return np.searchsorted(np.ones(3), x, side="mid") + 1


def wrong_order(x):
    return np.diff(np.ones(3), -1).sum()


def wrong_method(x):
    return np.percentile(np.ones(3), 50, method="nope") + 1


def wrong_axes(x):
    return np.cov(np.ones((2, 2, 2))).T


CASES = [operand, assigned, unpacked, on_one_path, one_side, both_sides, later_side, stored]
CASES += [element, by_lambda, by_inner, asked, asserted, condition_of_loop, in_loop, loop_over]
CASES += [in_comprehension, among_arguments, wrong_choice, wrong_order, wrong_method, wrong_axes]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_error_of_the_body(function):
    with pytest.raises(ValueError) as theirs:
        function(1.5)
    with pytest.raises(ValueError) as ours:
        njit(function)(1.5)
    if str(theirs.value).startswith("own"):
        assert str(ours.value).split("\n")[0] == str(theirs.value)


def test_the_other_path_is_not_lost():
    """What is not reached leaves values as they are."""
    for function in (on_one_path, one_side, later_side):
        assert njit(function)(-1.0) == function(-1.0)

    def written(x, out):
        out[0] = 1.0 < x < bad(x)
        out[1] = x if x < 5 else bad(x)
        for i in range(int(x)):
            out[i] = bad(x)
        out[2] = 7.0

    for x in (0.5, -3.0):
        a, b = np.full(3, -1.0), np.full(3, -1.0)
        written(x, a)
        njit(written)(x, b)
        assert a.tolist() == b.tolist()
