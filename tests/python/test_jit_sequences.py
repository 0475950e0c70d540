"""Tuples and lists where NumPy takes arrays, dtype codes, and defaults of local functions."""

import numpy as np
import pytest
from jit_check import check, equal
from numbus import njit
from numbus.kernels import CompileError

UNARY = "abs argsort cumsum diff exp isnan max mean negative nonzero prod ptp ravel round sort sqrt"
UNARY += " std sum unique zeros_like flip conj real median atleast_1d diag floor round sign square"
BINARY = "add append arctan2 concatenate convolve cross divide dot equal inner isin less maximum"
BINARY += " matmul multiply outer subtract vdot where"


def define(expression, path):
    path.write_text(f"import numpy as np\n\n\ndef f():\n    return {expression}\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["f"]


@pytest.mark.parametrize("name", UNARY.split())
def test_functions_of_one(name, tmp_path):
    for k, text in enumerate(("(3, 1, 2)", "(2.5, 1)", "((1, 2), (3, 4))", "([1, 2], [3, 4])")):
        if name == "nonzero" and k > 1:
            continue
        f = define(f"np.{name}({text})", tmp_path / f"{name}_{k}.py")
        equal(njit(f)(), f(), 1e-12, text)


@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_two(name, tmp_path):
    texts = "(3, 1, 2), [1, 2, 3]", "[1, 2, 3], (3, 1, 2)", "(1, 2.5, 3), (3, 1, 2)"
    for k, text in enumerate(texts):
        call = {"concatenate": f"(({text}))", "where": f"((True, False, True), {text})"}
        f = define(f"np.{name}{call.get(name, f'({text})')}", tmp_path / f"{name}_{k}.py")
        equal(njit(f)(), f(), 1e-12, text)


def stored(x):
    a, b = np.zeros((2, 3)), np.zeros(3)
    a[:, 0] = (5, 6)
    a[1] += (1, 2, x)
    b[[0, 1]] = (1, 2)
    b[b == 0] = (7,)
    return a, b


def operators(x):
    a = np.arange(3)
    return a + (1, 2, 3), (1, 2, 3) - a, a @ (1, 2, 3), a.dot((1, 2, 3)), a == (0, 1, 5)


def products(x):
    return np.int64(2) * [1, 2], 2 * (1, 2), [1, 2] * np.int64(2), (1, 2) + np.float64(x)


def ranges(x):
    return max(range(5)), min(range(3, 9)), max(range(1, 10, 3)), sum(range(4))


def codes(x):
    return np.zeros(2, "i4"), np.ones(2, "f8"), np.array([1, 2]).astype("<c16"), np.zeros(1, "?")


def rounded(x):
    return np.round(np.array([3, 1])), np.around(np.array([2.5, 1.5])), np.rint(np.array([3, 1]))


def defaults(x):
    def f(a, b=x):
        return a + b

    def g(*, b=x * 2):
        return b

    x = 10.0
    r = 0
    for k in range(3):
        h = lambda z, k=k: z * 10 + k  # noqa: E731
        k += 5
        r += h(1)
    return f(1), f(1, 2), g(), g(b=1), r


def default_of_an_array(x):
    a = np.arange(3.0)

    def f(v=a):
        return v.sum()

    a = a + 1
    return f(), f(a)


CASES = [stored, operators, products, ranges, codes, rounded, defaults, default_of_an_array]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_in_python(function):
    check(function, 0.5)


def test_refused():
    def by_a_float():
        return np.float64(2) * (1, 2)

    with pytest.raises(TypeError):
        by_a_float()
    with pytest.raises(CompileError):
        njit(by_a_float)()
