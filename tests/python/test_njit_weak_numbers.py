"""Numbers of Python's that share a variable with NumPy's narrow ones are not rounded to them."""

import linecache
import math

import numbus as nb
import numpy as np
import pytest
from numbus import njit, vectorize


def variable(c, x, h):
    v = x
    if c:
        v = h
    return v


def conditional(c, x, h):
    return h if c else x


def returned(c, x, h):
    if c:
        return h
    return x


def listed(c, x, h):
    held = [x, h]
    return held[1] if c else held[0]


def appended(c, x, h):
    held = [h]
    held.append(x)
    return held[0] if c else held[1]


def in_a_tuple(c, x, h):
    held = (x, 1)
    if c:
        held = (h, 2)
    return held[0]


def indexed_tuple(c, x, h):
    return (x, h)[int(c)]


def smaller(c, x, h):
    return min(h, x) if c else max(h, x)


def either(c, x, h):
    return (h and x) if c else (x or h)


def in_a_loop(c, x, h):
    v = h
    for i in range(2):
        v = h if c else v
        if i and not c:
            v = x
    return v


FORMS = (variable, conditional, returned, listed, appended, in_a_tuple, indexed_tuple, smaller,
         either, in_a_loop)  # fmt: skip
PYTHON = (0.1, 1e-40, 1e300, 65521.0, 2049, 2**24 + 1, -3, 0.1 + 1j, True)
NUMPY = (np.float16(0.3), np.float32(0.3), np.complex64(0.3 + 2j), np.float64(0.3))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
def test_no_value_is_rounded(form):
    compiled = njit(form)
    for x in PYTHON:
        for h in NUMPY:
            if form is smaller and (isinstance(x, complex) or isinstance(h, np.complexfloating)):
                continue
            for c in (True, False):
                with np.errstate(over="ignore"):
                    got, want = compiled(c, x, h), form(c, x, h)
                assert got == want, (form.__name__, c, x, h)


@pytest.mark.parametrize("start", [0.0, -1.5, math.inf, 2**11, 65504.0])
def test_constants_that_fit_stay_narrow(start):
    """The 0.0 from which a sum starts makes no float64 of it: each step is rounded to float32."""
    space = {"np": np, "math": math}
    text = f"def f(x):\n    s = {'math.inf' if start == math.inf else start}\n"
    text += "    for i in range(len(x)):\n        s = s + x[i]\n    return s * 1.1\n"
    exec(text, space)
    x = np.full(10, 0.1, np.float32)
    linecache.cache["<weak>"] = (len(text), None, text.splitlines(True), "<weak>")
    exec(compile(text, "<weak>", "exec"), space)
    want = space["f"](x)
    assert want.dtype == np.float32
    assert njit(space["f"])(x) == want


def test_what_numpy_promotes_is_as_narrow_as_in_numpy():
    def f(c, x, a):
        return np.where(c, x, a), np.where(a > 0, x, a)

    a = np.float32([0.25, -1])
    one, all_ = njit(f)(True, 0.1, a[0])
    assert one == np.float32(0.1) and all_ == np.float32(0.1)
    got, want = njit(f)(True, 0.1, a), f(True, 0.1, a)
    assert got[1].dtype == want[1].dtype == np.float32
    np.testing.assert_array_equal(got[1], want[1])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64])
@pytest.mark.parametrize("number", [0.1, 2, -3])
def test_vectorized_functions_give_what_ufuncs_give(dtype, number):
    """A choice between an element and a number of Python's is as narrow as the element."""

    def either(x, y):
        return x if abs(x) > 1 else y

    x = np.array([0.5, 2, -4]).astype(dtype)
    want = np.where(abs(x) > 1, x, number)
    assert want.dtype == dtype
    for given in (x, nb.asarray(x)):
        got = vectorize(either)(given, number)
        assert got.dtype == dtype
        np.testing.assert_array_equal(np.asarray(got), want)
    inside = vectorize(either)
    np.testing.assert_array_equal(njit(lambda a: inside(a, number))(x), want)


def test_arguments_after_a_star_are_arrays_in_memory():
    def first(*arrays):
        return arrays[0], len(arrays)

    inner = njit(first)

    def f(x):
        return inner(np.sign(x), x + 1)

    x = np.array([-2.0, 0.0, 3.0])
    got, want = njit(f)(x), (np.sign(x), 2)
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == 2


def plus_300(a, n):
    return a + 300


def plus(a, n):
    return a + n


def times_in_place(a, n):
    a *= n
    return a


def element_plus_300(a, n):
    s = a[0]
    for v in a:
        s = v + 300
    return s


@pytest.mark.parametrize("function", [plus_300, plus, times_in_place, element_plus_300])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_ints_beyond_the_type(function, dtype):
    """Python's ints that NumPy's integers cannot hold: OverflowError in NumPy's words."""
    for n in (-1, 100, 300, 70_000, 2**40):
        told = []
        for of in (function, njit(function)):
            try:
                result = of(np.array([1, 2], dtype), n)
                told.append(np.asarray(result).tolist())
            except OverflowError as error:
                told.append(str(error))
        assert told[1] == told[0], n
