"""Long windows of writes under masks whose operands, values and masks share one array's storage."""

import numpy as np
import pytest


def shifted_copies(xp, x, count):
    """`count` copies of slices onto their neighbours, each where another slice of x holds."""
    positions = np.random.default_rng(1)
    for _ in range(count):
        first, length, shift = map(int, positions.integers((1, 50, 1), (1000, 900, 40)))
        mask = x[first + shift : first + shift + length]
        value = x[first - 1 : first - 1 + length]
        xp.copyto(x[first : first + length], value, where=mask.copy() if xp is np else mask)
    return x


@pytest.mark.parametrize("count", [1, 10, 170, 171, 240, 400])
def test_windows_of_any_length(xp, count):
    """Each such write is planned as three instructions, for which a full window has room."""
    start = np.random.default_rng(0).random(4000) < 0.5
    found = np.asarray(shifted_copies(xp, xp.array(start), count))
    assert np.array_equal(found, shifted_copies(np, start.copy(), count))
