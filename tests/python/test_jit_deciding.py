"""Numbers of run time that decide types in compiled functions, such as `keepdims=k`: there is code
for each value, and the results are NumPy's.
"""

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit
from numbus.kernels import CompileError

pytestmark = [pytest.mark.numbus]

X = np.random.default_rng(5).normal(size=(2, 3, 4))


def same(got, want):
    assert np.asarray(got).dtype == np.asarray(want).dtype
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-12)


REDUCED = "sum prod min max mean var std any all argmin argmax count_nonzero".split()
OTHERS = """median percentile(a,30,axis=1,keepdims=k) nanmean nansum nanmedian ptp average
    quantile(a,0.3,axis=-1,keepdims=k) nanmax nanstd linalg.norm trapezoid(a,axis=0)*k""".split()


@pytest.mark.parametrize("name", REDUCED + OTHERS)
def test_keepdims(name):
    call = name if "(" in name else f"{name}(a, axis=1, keepdims=k)"
    f = function_of(f"np.{call}", "a, k")
    compiled = njit(f)
    for _ in range(2):
        for k in (True, False, 1, 0):
            same(compiled(X, k), f(X, k))


@pytest.mark.parametrize("n", range(-3, 3))
def test_an_axis_and_keepdims_together(n):
    f = function_of("np.sum(a, axis=n, keepdims=k)", "a, n, k")
    compiled = njit(f)
    for k in (True, False):
        same(compiled(X, n, k), f(X, n, k))


AXES = [
    ("np.moveaxis(a, m, n)", "m, n"),
    ("np.swapaxes(a, m, n)", "m, n"),
    ("a.swapaxes(m, n)", "m, n"),
    ("np.expand_dims(a, m)", "m"),
    ("np.flip(a, (m, n))", "m, n"),
    ("np.moveaxis(a, (m, n), (n, m))", "m, n"),
    ("np.concatenate((a, a), axis=m)", "m"),
    ("np.stack((a, a), axis=n)", "n"),
    ("np.diagonal(a, 0, m, n)", "m, n"),
    ("np.rot90(a, 1, (m, n))", "m, n"),
    ("np.sum(a, axis=(m, n))", "m, n"),
    ("np.squeeze(a[:, :1], m)", "m"),
]


@pytest.mark.parametrize(("text", "names"), AXES)
def test_axes(text, names):
    f = function_of(text, "a, " + names)
    compiled = njit(f)
    for m in range(-3, 3):
        for n in range(-3, 3):
            given = (m, n)[: len(names.split(","))]
            if names == "n":
                given = (n,)
            try:
                want = f(X, *given)
            except ValueError:
                continue
            same(compiled(X, *given), want)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (-1, 1, 0), (1, 2, 0)])
def test_a_tuple_of_axes(axes):
    for text in ("np.transpose(a, axes)", "a.transpose(axes)", "np.permute_dims(a, axes)"):
        f = function_of(text, "a, axes")
        same(njit(f)(X, axes), f(X, axes))


def test_digits():
    for text in ("round(x, n)", "np.round(x, n)"):
        f = function_of(text, "x, n")
        compiled = njit(f)
        for x in (1234, 12.3456, 2.5):
            for n in (-2, -1, 0, 1, 3):
                got, want = compiled(x, n), f(x, n)
                assert got == want, (text, x, n)


def inner(a, k, n):
    return np.sum(a, axis=n, keepdims=k)


compiled_inner = njit(inner)


def test_through_calls():
    @njit
    def known(a):
        return compiled_inner(a, True, 1) + compiled_inner(a, True, -2)

    @njit
    def handed_on(a, k, n):
        return compiled_inner(a, k, n)

    @njit
    def computed(a, k, n):
        return compiled_inner(a, not k, n - 1)

    same(known(X), inner(X, True, 1) * 2)
    for k in (True, False):
        same(handed_on(X, k, 1), inner(X, k, 1))
        same(computed(X, k, 1), inner(X, not k, 0))


def test_names_of_one_value():
    @njit
    def f(a):
        k = True
        n = 1
        total = a.sum(axis=n, keepdims=k)
        for _ in range(2):
            total = total + a.sum(axis=n, keepdims=k)
        return total

    same(f(X), 3 * X.sum(axis=1, keepdims=True))


def test_in_loops():
    @njit
    def f(a, k):
        total = np.zeros((2, 1, 4))
        for _ in range(3):
            total += np.sum(a, axis=1, keepdims=k).reshape((2, 1, 4))
        return total

    for k in (True, False):
        same(f(X, k), 3 * X.sum(axis=1, keepdims=True))


def test_a_value_that_changes_is_refused():
    @njit
    def f(a, k):
        total = 0.0
        for _ in range(2):
            total += a.sum(axis=0, keepdims=k).sum()
            k = not k
        return total

    with pytest.raises(CompileError, match="keepdims= of run time"):
        f(X, True)


def test_many_values_are_refused():
    @njit
    def f(a, n):
        return np.expand_dims(a, n % 2)

    with pytest.raises(CompileError, match="more than 64 values"):
        for n in range(65):
            same(f(X[0], n), np.expand_dims(X[0], n % 2))


def test_large_values_are_refused():
    @njit
    def f(a, n):
        return np.moveaxis(a, n, 0)

    with pytest.raises(CompileError, match="axes of run time"):
        f(X, 10**6)


SUBSCRIPTS = ["ij,ij->i", "ij,ij", "ij,ij->ji", "ij,ik", "i...,i...", " ij , ij -> j"]


@pytest.mark.parametrize("text", SUBSCRIPTS)
def test_subscripts_of_run_time(text):
    def f(s, a):
        again = s
        return np.einsum(again, a, a), len(s), s

    a = X[0]
    compiled = njit(f)
    for s in (text, "ij,ij->i", text):
        got, want = compiled(s, a), f(s, a)
        same(got[0], want[0])
        assert got[1:] == want[1:]
    inner = njit(lambda s, a: np.einsum(s, a, a))
    same(njit(lambda s, a: inner(s, a) + 1)(text, a), np.einsum(text, a, a) + 1)


@pytest.mark.parametrize("text", ["i" * 80, "ij,(j"])
def test_other_texts_are_not_yet(text):
    with pytest.raises(CompileError, match="subscripts of run time"):
        njit(lambda s, a: np.einsum(s, a, a))(text, X[0])


def test_a_text_that_is_computed_is_not_yet():
    def f(s, a):
        s = s + "->j"
        return np.einsum(s, a, a)

    with pytest.raises(CompileError, match="subscripts of run time"):
        njit(f)("ij,ij", X[0])
