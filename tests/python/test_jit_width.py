"""Products of stacks, lists and names of arguments in compiled functions against NumPy."""

import numbus as nb
import numpy as np
import pytest
from jit_check import function_of

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

RNG = np.random.default_rng(7)
A = RNG.integers(-3, 4, (2, 3, 4))
B = RNG.integers(-3, 4, (2, 4, 5))
PRODUCTS = """
a @ b / a @ b[0] / a[0] @ b / a @ b[0, :, 0] / b[0, :, 0] @ b / np.dot(a, b) / np.dot(a, b[0])
np.dot(a[0], b) / np.dot(a, b[0, :, 0]) / np.dot(a[:0], b) / np.inner(a, a[0]) / np.inner(a, a)
np.vecdot(a, a) / np.vecdot(a, a * 2) / np.tensordot(a, b, 0) / np.tensordot(a, a.T, 1)
np.tensordot(a, a, 3) / np.tensordot(a, a[0].copy(), axes=2) / np.tensordot(a, b, ((2,), (1,)))
np.tensordot(a, b, ((0, 2), (0, 1))) / np.linalg.matrix_power(a[0, :, :3] + np.eye(3) * 9, -2)
"""
CALLS = """
a.compress([True, False], 0) / a.compress([True, False], axis=0) / a.compress(condition=[True])
np.compress(a[0, 0] > 0, a, axis=2) / np.astype(a, np.int8) / np.asanyarray(a)
np.asanyarray([1, 2], dtype=np.int8) / np.linspace(0, stop=3) / np.linspace(start=0, stop=3, num=4)
np.reshape(a, shape=(4, 6)) / a[0, 0].tolist() / a.tolist()
np.array([[k, 2], [3, 4]]) / np.array([[k, 2], [3, k]], dtype=np.float32)
np.insert(a, [0, 1], 7, 1)
np.roll(a, [1, 2], [0, -1]) / np.roll(a, 1, [0, 1]) / np.roll(a, [1, 2])
np.insert(a, slice(0, 2), 9, 0)
"""


def split(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" / ")]


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("source", split(PRODUCTS))
def test_products(source, dtype):
    f = function_of(source, "a, b")
    a, b = A.astype(dtype), B.astype(dtype)
    want, got = f(a, b), nb.njit(f)(a, b)
    assert np.asarray(got).dtype == want.dtype and np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, 1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("source", split(CALLS))
def test_calls(source):
    f = function_of(source, "a, k")
    want, got = f(A, 5), nb.njit(f)(A, 5)
    assert type(got) is type(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_array_equal(got, want)


def test_lists_of_lists():
    f = nb.njit(lambda rows: np.array(rows))
    np.testing.assert_array_equal(f([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="rows of different lengths"):
        f([[1, 2], [3]])


def test_negative_powers_of_integers():
    with pytest.raises(ValueError, match="negative powers of integers"):
        nb.njit(lambda a: np.linalg.matrix_power(a, -1))(A[0, :, :3])
