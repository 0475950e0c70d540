"""np.gradient with spacings and coordinates, against NumPy, as array calls and compiled."""

import itertools

import numbus as nb
import numpy as np
import pytest
from helpers import draw

pytestmark = pytest.mark.numbus
EVEN, UNEVEN = np.arange(5.0) / 4, np.array([0, 0.5, 2, 2.25, 7])
CALLS = {
    "none": lambda xp, a, u, v: xp.gradient(a),
    "spacing": lambda xp, a, u, v: xp.gradient(a, 0.5),
    "strong spacing": lambda xp, a, u, v: xp.gradient(a, np.float64(0.5), axis=0),
    "spacings": lambda xp, a, u, v: xp.gradient(a, 0.5, 2),
    "coordinates": lambda xp, a, u, v: xp.gradient(a, u, v),
    "mixed": lambda xp, a, u, v: xp.gradient(a, u, 3.0, edge_order=2),
    "one axis": lambda xp, a, u, v: xp.gradient(a, v, axis=1),
    "second order": lambda xp, a, u, v: xp.gradient(a, v, axis=-1, edge_order=2),
}


@pytest.mark.parametrize("t", ["i4", "u1", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("name", CALLS)
def test_gradient(xp, core, name, t):
    for first, second in itertools.product((EVEN, UNEVEN, np.array([1, 2, 4, 5, 9])), repeat=2):
        a = draw((5, 5), t, seed=3)
        want = CALLS[name](np, a, first, second)
        before = core.answer_few(False)
        got = CALLS[name](xp, *[xp.array(x) for x in (a, first, second)])
        core.answer_few(before)
        for x, y in zip(got, want) if isinstance(want, tuple) else [(got, want)]:
            x = np.asarray(x)
            assert x.dtype == y.dtype
            tolerance = 2e-2 if t == "f2" else 1e-5
            np.testing.assert_allclose(x, y, tolerance, tolerance)


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["none", "spacing", "coordinates", "mixed"])
def test_compiled(name):
    bodies = {
        "none": lambda a, u, v: np.gradient(a),
        "spacing": lambda a, u, v: np.gradient(a, 0.5, axis=1),
        "coordinates": lambda a, u, v: np.gradient(a, u, v),
        "mixed": lambda a, u, v: np.gradient(a, u, 3.0, edge_order=2),
    }
    for a in (draw((5, 5), "f8"), draw((5, 5), "i4")):
        got, want = nb.njit(bodies[name])(a, EVEN, UNEVEN), bodies[name](a, EVEN, UNEVEN)
        np.testing.assert_allclose(np.array(got), np.array(want), 1e-12)


def test_errors(xp):
    a = xp.ones((3, 4))
    with pytest.raises(TypeError, match="spacings; got 3"):
        xp.gradient(a, 1, 2, 3)
    with pytest.raises(ValueError, match="coordinates; got 4; expected 3"):
        xp.gradient(a, xp.ones(4), axis=0)
    with pytest.raises(ValueError, match="edge_order; got 3"):
        xp.gradient(a, edge_order=3)
    with pytest.raises(ValueError, match="extent of axis 0; got 1"):
        xp.gradient(a[:1])
