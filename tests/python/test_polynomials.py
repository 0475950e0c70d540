"""NumPy's poly1d, which stays what it is: functions of polynomials give one for one."""

import numbus as nb
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
P, Q = np.poly1d([1, -2, 3.5]), np.poly1d([2, 1])

CALLS = {
    "polyint": lambda m: m.polyint(P, 2, [1, 2]),
    "polyder": lambda m: m.polyder(P),
    "polyadd": lambda m: m.polyadd(P, [1, 2]),
    "polysub": lambda m: m.polysub([1, 2], P),
    "polymul": lambda m: m.polymul(P, Q),
    "polydiv": lambda m: m.polydiv(P, Q),
    "polyval": lambda m: m.polyval(P, [1.0, 2.0]),
    "polyval of one": lambda m: m.polyval([1, 2], P),
    "sum": lambda m: m.sum(P),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    got, want = CALLS[name](nb), CALLS[name](np)
    assert isinstance(got, np.poly1d) == isinstance(want, np.poly1d)
    assert repr(got) == repr(want)


def test_no_coefficients():
    for x in (2, np.float32(3), np.arange(3), np.ones((2, 2), np.float32)):
        got, want = np.asarray(nb.polyval([], x)), np.asarray(np.polyval([], x))
        assert got.dtype == want.dtype and got.shape == want.shape and not got.any()
        compiled = nb.njit(lambda p, x: np.polyval(p, x))(np.zeros(0), x)
        assert np.shape(compiled) == want.shape and not np.any(compiled)


@pytest.mark.numbus
def test_roots_of_complex_eigenvalues(monkeypatch):
    """From NumPy 2.5 on eigenvalues are complex; real roots stay real, as NumPy's do."""
    import numbus as nb

    found = nb.linalg.eigvals
    monkeypatch.setattr(nb.linalg, "eigvals", lambda a: found(a).astype("complex128"))
    before = nb._core.answer_few(False)
    try:
        for p in ([1, -3, 2], [1, 0, 1], [2.0, -5, 2, 0], [1j, 2]):
            got, want = nb.roots(nb.array(p)), np.roots(p)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.sort(np.asarray(got)), np.sort(want), 1e-12)
    finally:
        nb._core.answer_few(before)


@pytest.mark.numbus
def test_cross_of_two_components(monkeypatch):
    import numbus as nb
    from numbus.functions import numeric

    monkeypatch.setattr(numeric, "_PLANES", False)
    for a, b in (([1, 2], [3, 4]), ([1, 2, 3], [3, 4])):
        with pytest.raises(ValueError, match="components"):
            nb.cross(nb.array(a), nb.array(b))
    assert nb.cross(nb.array([1, 0, 0]), nb.array([0, 1, 0])).tolist() == [0, 0, 1]
