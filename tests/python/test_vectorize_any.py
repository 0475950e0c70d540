"""numbus.vectorize with numpy.vectorize's options, and of what does not compile: NumPy's results,
in arrays of ours."""

import math

import numbus as nb
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]


def weighted(a, b, p=2):
    return a * b + p


def polynomial(p, x):
    return sum(c * x**k for k, c in enumerate(p))


CALLS = {
    "otypes": lambda m, x: m.vectorize(weighted, otypes=[float])(x, 1),
    "otypes by position": lambda m, x: m.vectorize(weighted, "f")(x, x),
    "int otypes": lambda m, x: m.vectorize(lambda a: a * 1.5, otypes=[int])(x),
    "several": lambda m, x: m.vectorize(lambda a: (a, a * 2), otypes="dd")(x),
    "excluded": lambda m, x: m.vectorize(polynomial, excluded={0})([1, 2, 3], x),
    "excluded name": lambda m, x: m.vectorize(polynomial, excluded=["p"])(p=[1, 2], x=x),
    "lines": lambda m, x: m.vectorize(np.dot, signature="(n),(n)->()")(x, x[0]),
    "lines to lines": lambda m, x: m.vectorize(lambda a: a[::-1], signature="(n)->(n)")(x),
    "decorator": lambda m, x: m.vectorize(otypes=[float])(lambda a: a + 1)(x),
    "keyword": lambda m, x: m.vectorize(pyfunc=weighted)(x, 2, p=3),
    "default": lambda m, x: m.vectorize(weighted)(x, 2),
    "named": lambda m, x: m.vectorize(weighted)(x, b=x, p=1),
    "builtin": lambda m, x: m.vectorize(math.floor)(x),
    "type": lambda m, x: m.vectorize(complex)(x),
    "strings": lambda m, x: m.vectorize(str)(x),
    "not compiled": lambda m, x: m.vectorize(lambda a: len(f"{a:.3f}"))(x),
    "dict": lambda m, x: m.vectorize(lambda a: {0.5: 7}.get(a, 1))(x),
    "empty": lambda m, x: m.vectorize(weighted, otypes=[float])(x[:0], 1),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    x = np.arange(6.0).reshape(2, 3) / 2
    want = CALLS[name](np, x)
    for _ in range(2):
        got = CALLS[name](nb, nb.array(x))
        for a, b in zip(got, want) if isinstance(want, tuple) else [(got, want)]:
            ours = type(nb.zeros(1))
            assert type(a) is (ours if b.dtype.kind in "biufc" else np.ndarray)
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(np.asarray(a), b)


def test_compiled_where_it_can_be():
    before = nb.stats()["fallbacks"]
    f = nb.vectorize(lambda a, b: a * b + 1)
    x = nb.arange(6.0)
    np.testing.assert_array_equal(np.asarray(f(x, 2)), np.arange(6.0) * 2 + 1)
    assert nb.stats()["fallbacks"] == before
    assert nb.vectorize(lambda a: len(str(a).encode()))(x).dtype == np.int64
    assert nb.stats()["fallbacks"] == before + 1


def test_errors_are_those_of_both():
    with pytest.raises(TypeError, match="no such option; got fast"):
        nb.vectorize(fast=True)
    with pytest.raises(TypeError, match="unexpected keyword"):
        nb.vectorize(weighted, otypes="d", target="cpu")
    with pytest.raises(ValueError, match="size 0"):
        nb.vectorize(str, otypes=None)(nb.zeros(0))
    assert nb.vectorize(weighted, doc="what it does").__doc__ == "what it does"
