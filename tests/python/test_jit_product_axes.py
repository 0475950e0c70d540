"""`axes=`, `axis=` and `keepdims=` of products, and other arguments that compiled functions have
taken since: bases of `logspace`, coefficients of bool.
"""

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit

pytestmark = [pytest.mark.numbus]

RNG = np.random.default_rng(3)
CUBE, SQUARES, VECTOR = RNG.normal(size=(3, 4, 3)), RNG.normal(size=(3, 3, 4)), RNG.normal(size=3)
Z = SQUARES + 1j * SQUARES[::-1]

CALLS = """np.matmul(a, b, axes=[(0, 1), (2, 1), (0, 1)])
np.matmul(a, b, axes=[(1, 0), (0, 2), (-1, -2)])
np.matmul(a, b, axes=[(-2, -1), (-2, -1), (0, 2)])
np.matmul(a, v, axes=[(1, 2), (0,), (0,)])
np.matmul(v, b, axes=[0, (1, 2), 1])
np.matmul(v, v, axes=[(0,), (0,), ()])
np.matmul(a, b, axes=[(0, 1), (2, 1), (0, 1)], dtype=np.float32, casting='same_kind')
np.matvec(a, v, axes=[(1, 0), (0,), (0,)])
np.vecmat(v, b, axes=[(0,), (1, 2), (0,)])
np.vecdot(a, a, axis=1)
np.vecdot(a, a, axis=0, keepdims=True)
np.vecdot(a, a, keepdims=True)
np.vecdot(z, z, axes=[0, 0, 1], keepdims=True)
np.vecdot(a, v, axes=[(0,), (0,)])
np.vecdot(a, v, axes=[2, 0, ()])
np.logspace(0.0, 2.0, 5, base=np.array([2.0, 3.0]))
np.logspace(np.array([0.0, 1.0, 2.0]), 2.0, 4, base=np.array([[2.0], [3.0]]))
np.logspace(0.0, 2.0, 5, False, v + 5, axis=-1)
np.logspace(v, v + 1, 5, base=v + 5, axis=1, dtype=np.float32)
np.polynomial.polynomial.polyval(0.5, np.array([True, False, True]))
np.polynomial.polynomial.polyint(np.array([True, False, True]))""".split("\n")


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    f = function_of(call, "a, b, v, z")
    got, want = njit(f)(CUBE, SQUARES, VECTOR, Z), f(CUBE, SQUARES, VECTOR, Z)
    assert np.shape(got) == np.shape(want) and np.asarray(got).dtype == np.asarray(want).dtype
    bound = 1e-6 if np.asarray(want).dtype == np.float32 else 1e-13
    np.testing.assert_allclose(got, want, rtol=10 * bound, atol=bound)


@pytest.mark.parametrize("name", "polyadd polysub polymul".split())
def test_coefficients_of_bool(name):
    f = function_of(f"np.polynomial.polynomial.{name}(a, a)", "a")
    for call in (f, njit(f)):
        with pytest.raises(ValueError, match="no common type"):
            call(np.array([True, False]))


@pytest.mark.parametrize(
    "axes", ["[(0,), (1, 2), (0, 1)]", "[(0, 1), (1, 2), (0,)]", "[(0, 1), (1, 2), ()]"]
)
def test_wrong_numbers_of_axes(axes):
    f = function_of(f"np.matmul(a, b, axes={axes})", "a, b")
    for call in (f, njit(f)):
        with pytest.raises(ValueError):
            call(CUBE, SQUARES)
