"""Compiled functions against CPython: the same source, run both ways."""

import math

import numpy as np
import pytest
from numbus import njit, prange
from numbus.kernels import CompileError, UnsupportedError


def same(function, *args, **options):
    """Runs the function compiled and in CPython, and compares; gives the compiled result."""
    ours = njit(**options)(function)(*args)
    theirs = function(*args)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-13)
    return ours


def test_numbers():
    def f(a, b):
        return a * 2 + b

    assert same(f, 1, 2) == 4
    assert isinstance(njit(f)(1, 2), int)
    same(f, 1.5, 2)
    same(f, np.float32(2), 0.5)


def test_sum_of_elements():
    def f(x):
        t = 0.0
        for i in range(x.shape[0]):
            t += x[i]
        return t

    same(f, np.random.default_rng(1).random(1000))


def test_early_return_and_tuple_assignment():
    def mandel(cr, ci, n):
        zr = zi = 0.0
        for k in range(n):
            if zr * zr + zi * zi > 4.0:
                return k
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        return n

    for c in ((0.1, 0.2), (1.0, 1.0), (-0.75, 0.3)):
        same(mandel, *c, 50)


@njit
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def test_recursion():
    assert fib(20) == 6765


def test_arrays_and_expressions():
    def f(n):
        a = np.zeros(n)
        for i in range(n):
            a[i] = math.sqrt(i) + np.sin(i)
        return a * 2 + 1

    same(f, 50)


@pytest.mark.parametrize("n", [0, 1, 63, 1000])
def test_parallel_sum(n):
    def f(x):
        t = 0.0
        for i in prange(x.shape[0]):
            t += x[i] * 2
        return t

    same(f, np.random.default_rng(1).random(n), parallel=True)


def test_raise_names_the_line():
    @njit
    def f(n):
        if n > 3:
            raise ValueError("too big")
        return n

    with pytest.raises(ValueError, match="too big") as e:
        f(5)
    assert 'raise ValueError("too big")' in e.value.__notes__[0]
    assert f(2) == 2


def test_wrong_number_of_arguments():
    @njit
    def scaled(x, by=2):
        return x * by

    assert scaled(3) == 6 and scaled(3, by=4) == 12
    with pytest.raises(TypeError, match=r"\[scaled\] wrong number of arguments; got 0; .* 'x'"):
        scaled()
    with pytest.raises(TypeError, match=r"\[scaled\] .*; got 3; expected 2"):
        scaled(1, 2, 3)
    with pytest.raises(TypeError, match=r"\[scaled\] .*'times'"):
        scaled(1, times=3)


def test_messages():
    @njit
    def f(x):
        return x.nothing

    with pytest.raises(CompileError, match="no attribute 'nothing'"):
        f(1)

    @njit
    def g(x):
        with x:
            pass

    with pytest.raises(UnsupportedError, match="not yet"):
        g(1)


def test_defaults_and_keywords():
    @njit
    def f(a, b=2, c=10):
        return a + 10 * b + 100 * c

    for args, kwargs in [
        ((1,), {}),
        ((1, 3), {}),
        ((1, 3, 4), {}),
        ((1,), {"c": 5}),
        ((), {"c": 5, "a": 1}),
        ((1, 2), {"c": 3}),
        ((), {"b": 1, "c": 2, "a": 3}),
    ]:
        assert f(*args, **kwargs) == f.py_func(*args, **kwargs)
    for args, kwargs in [
        ((), {}),
        ((), {"b": 1}),
        ((1, 2), {"b": 3}),
        ((1,), {"d": 1}),
        ((1, 2, 3, 4), {}),
    ]:
        with pytest.raises(TypeError, match=r"\[f\] wrong number of arguments"):
            f(*args, **kwargs)
