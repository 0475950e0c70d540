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
