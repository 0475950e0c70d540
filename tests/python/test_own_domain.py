"""Parts of pending arrays: what takes long is computed over the part, not over the array."""

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.recorded]


def columns(xp, n, functions):
    """Functions of a few columns of arrays that are pending, as noise and wavelets are made."""
    i, j = xp.mgrid[0:n, 0:n]
    out = xp.zeros((n, n))
    for k in range(1, 7):
        part = i[:, : 2**k] * 0.1
        for _ in range(functions):
            part = xp.sin(part)
        out[:, : 2**k] += part * j[:, : 2**k]
    return out


def flops_of(xp, core, make):
    core.reset_stats()
    made = make()
    core.flush()
    return core.stats()["flops"], made


@pytest.mark.parametrize("n", [16, 150, 400])
@pytest.mark.parametrize("functions", [0, 1, 3])
def test_values(xp, n, functions):
    np.testing.assert_allclose(
        columns(xp, n, functions).to_numpy(), columns(np, n, functions), rtol=1e-12, atol=1e-12
    )


def test_functions_of_a_part_run_over_the_part(xp, core):
    n = 512
    whole, _ = flops_of(xp, core, lambda: xp.sin(xp.mgrid[0:n, 0:n][0] * 0.1))
    parts, _ = flops_of(xp, core, lambda: columns(xp, n, 1))
    # Six parts of 2 to 64 of 512 columns: a quarter of the functions of the whole, and cheap work.
    assert parts < 0.6 * whole
