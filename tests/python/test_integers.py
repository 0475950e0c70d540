"""What integers must not become: negative powers, rounded comparisons, NaNs."""

import numpy as np
import pytest
from helpers import both, run_both

REFUSED = "negative integer powers are not allowed"


@pytest.mark.parametrize(
    "text",
    [
        "xp.array([2]) ** -1",
        "xp.power(2, -1)",
        "xp.array([1, 2]) ** xp.array([1, -2])",
        "2 ** xp.array([-1])",
        "xp.array(2) ** xp.array(-1)",
        "xp.array([2, 3])[0] ** xp.array([-1])[0]",
        "xp.array([True]) ** xp.array([-1])",
        "xp.array([True]) ** -1",
        "xp.array([2], 'uint8') ** xp.array([-1], 'int8')",
        "xp.array([2]) ** np.int64(-1)",
        "xp.power(xp.array([2, 3]), -1, where=xp.array([True, True]), out=xp.zeros(2, int))",
    ],
)
def test_negative_powers_raise_at_the_call(xp, text):
    for module in (np, xp):
        with pytest.raises(ValueError, match=REFUSED):
            eval(text, {"np": np, "xp": module})


@pytest.mark.parametrize(
    "text",
    [
        "xp.array([], int) ** -1",
        "xp.power(xp.array([], bool), -1)",
        "xp.array([], int) ** xp.array([-1])",
        "xp.array([2], 'uint64') ** xp.array([-1])",
        "xp.array([2.0]) ** xp.array([-1])",
        "xp.array([2, 3]) ** xp.array([-1, 3])[xp.array([False, True])]",
        "xp.array([[2, 3]]).T ** xp.arange(3)",
        "xp.power(xp.array([2, 3]), xp.array([-1, 1]), where=xp.array([False, True]),"
        " out=xp.zeros(2, int))",
    ],
)
def test_powers_that_are_allowed(xp, text):
    both(xp, text)


@pytest.mark.numbus
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_powers_that_are_pending_name_their_line(xp, core, mode, dtype):
    a, e = xp.array(np.arange(9, dtype=dtype)), xp.array(np.arange(9, dtype=dtype))
    core.synchronize()
    y = a ** (e - 3)
    z = a + e
    with pytest.raises(ValueError, match=r"test_integers\.py, line \d+\); got exponent -[123];"):
        np.asarray(y)
    with pytest.raises(ValueError, match=REFUSED):
        y + 1
    np.testing.assert_array_equal(np.asarray(z), 2 * np.arange(9))


def test_masked_powers_are_looked_at_under_the_mask_only(xp, mode):
    run_both(
        xp,
        "m = e > 0\na[m] = a[m] ** e[m]\nb = a[m] ** 2",
        a=np.array([5, 6, 7]),
        e=np.array([2, -1, 0]),
    )
