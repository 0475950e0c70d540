"""Shifts and axes of `roll` that broadcast, and limits of `linspace` of which one is Python's, in
compiled functions.
"""

import numpy as np
import pytest
from jit_check import function_of
from numbus import njit

pytestmark = [pytest.mark.numbus]

X = np.arange(24).reshape(2, 3, 4)
F, Z = np.ones(2, np.float32), np.array([1 + 2j, 3], np.complex64)

ROLLS = """np.roll(a, (1, -1), (0,)) np.roll(a, (1, 2), [1]) np.roll(a, (1,), (0, 2))
np.roll(a, [2], (1, 2, 1)) np.roll(a, (1, 2, 3), (0, 1, 2)) np.roll(a, (1, 2), 1)
np.roll(a, 2, (0, 1)) np.roll(a, (1,), (2,))""".replace(") np", ")\nnp").split("\n")

SPACES = """np.linspace(0, f[0], 5, axis=0) np.linspace(f[0], 2.5, 5, dtype=None)
np.linspace(f, 2.5, 5) np.linspace(z, 2.5, 4) np.linspace(z, 2, 4, axis=1) np.linspace(1j, f, 3)
np.linspace(a[0, 0], f[0], 3) np.linspace((1, 2), f, 3) np.linspace(0, a[0, 0], 3)
np.linspace(z, 2.5, retstep=True)[1]""".replace(") np", ")\nnp").split("\n")


@pytest.mark.parametrize("call", ROLLS + SPACES)
def test_calls(call):
    f = function_of(call.strip(), "a, f, z")
    got, want = np.asarray(njit(f)(X, F, Z)), np.asarray(f(X, F, Z))
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_numbers_of_shifts_and_axes_that_do_not_fit():
    f = function_of("np.roll(a, (1, 2, 3), (0, 1))", "a")
    for call in (f, njit(f)):
        with pytest.raises(ValueError):
            call(X)
