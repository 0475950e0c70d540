"""What functions of NumPy give is NumPy's number, whose type does not yield: beside a float32 an
int64 makes a float64.
"""

import linecache

import numpy as np
import pytest
from numbus import njit

A, B = np.array([2.5, 1, 0, 3]), np.array([3, 1, 2, 1])
M, Z = A > 1, np.array([2.5, 0, 0, 3], np.complex64)
CALLS = """
a.argmax() a.argmin() np.argmax(a) np.argmin(b) np.nanargmax(a) np.nanargmin(a)
z.argmax() z.argmin() np.argmax(z) np.argmin(z) np.argmax(m) np.count_nonzero(a)
np.searchsorted(b,1.5) np.digitize(1.5,np.sort(a)) b.sum() np.sum(b) b.max() np.min(b) np.prod(b)
np.ptp(b) np.median(b) np.mean(b) np.trace(np.ones((2,2),np.int64)) np.dot(b,b) b@b np.vdot(b,b)
np.inner(b,b) np.cumsum(b)[1] np.bincount(b)[1] np.argsort(b)[0] np.nonzero(a)[0][0]
np.where(m)[0][1] np.flatnonzero(m)[0] np.unique(b)[0] np.argwhere(m)[0,0] m.sum() np.nansum(b)
np.clip(5,1,3) np.clip(5,1,None) np.clip(5,None,3) np.clip(2.5,1,3) np.where(a[0]>1,5,3)
np.where(a[0]>1,2.5,3) np.gcd(4,6) np.sign(3) np.abs(-3) np.power(3,2) np.maximum(3,2) np.round(3)
np.take(b,1) np.unravel_index(3,(2,2))[0] np.polyval(b,2) np.linalg.matrix_rank(np.eye(2))
np.mod(7,4) np.real(3) np.nan_to_num(3) np.average(b) np.heaviside(1,2) np.size(a) len(a) a.ndim
""".split()


@pytest.mark.parametrize("call", CALLS)
def test_beside_short_types(call):
    name = f"<strong {CALLS.index(call)}>"
    source = (
        "def f(a, b, m, z):\n"
        f"    return ({call}) * np.float32(0.1), ({call}) + np.int8(1), ({call}) / (z[0] * 3)\n"
    )
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    made = {"np": np}
    exec(compile(source, name, "exec"), made)
    got, want = njit(made["f"])(A, B, M, Z), made["f"](A, B, M, Z)
    np.testing.assert_allclose(got, want, rtol=1e-14)
