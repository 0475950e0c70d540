"""NumPy's float32 in loops that compile themselves: types, bits and warnings."""

import numbus
import pytest

from tests.loops.checking import check, installed  # noqa: F401 - a fixture
from tests.loops.run import differences

AFTER = (1, 2, 50)
OTHERS = [
    "b[i]", "s", "0.1", "t", "n", "i", "2**53 + i", "d[i]", "k[i]", "z[i]", "u[i]", "w[i]", "v[i]",
    "True", "1e300", "1e38", "h", "y", "1e-44", "float('inf')",
]  # fmt: skip
_HEAD = """
import math
a = np.linspace(-2, 3, 60).astype(np.float32)
b = (np.arange(60) - 7).astype(np.float32)
c, e = np.zeros(60, np.float32), np.zeros(60)
d, k = np.linspace(0, 1, 60), np.arange(60)
z, u = np.arange(60).astype(np.int16), np.arange(60).astype(np.uint8)
w, v = np.arange(60).astype(np.int32), np.arange(60).astype(np.uint32)
s, t, n, h, y = np.float32(0.7), 1.5, 3, np.float64(1.25), np.int64(5)
"""


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "**", "<", "==", ">="])
@pytest.mark.parametrize("other", OTHERS)
def test_operators_with_each_type(other, sign, after):
    check(_HEAD + f"""
for i in range(60):
    p = a[i] {sign} {other}
    q = {other} {sign} a[i]
""", after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("value", [
    *OTHERS, "a[i] * b[i] - c[i - 1]", "a[i] / b[i] * 0.1", "a[i] * a[i] * 1e20", "-a[i]",
    "abs(a[i])", "np.sqrt(b[i])", "np.sqrt(abs(b[i])) * s", "np.floor(a[i])", "np.trunc(a[i])",
    "np.float32(d[i]) * 3", "np.float32(2**60 + i)", "np.float64(a[i]) * d[i]", "int(a[i])",
    "float(a[i]) * 2", "math.floor(a[i])", "math.sin(a[i])", "min(a[i], b[i])", "max(a[i], 0.5)",
    "sum(x * 0.1 for x in a)", "max(a)", "a[i] if a[i] > s else b[i]", "bool(a[i])",
    "math.trunc(s)", "round(s)", "np.maximum(a[i], s)", "a[i] < b[i] < 3",
])  # fmt: skip
def test_values_under_names_and_in_arrays(value, after):
    check(_HEAD + f"""
for i in range(60):
    p = {value}
    c[i] = {value}
    e[i] = p
    if p > 1:
        s = s + np.float32(0.1)
""", after)  # fmt: skip


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("value", ["a[i] * 1e30", "a[i] * 0.5 + c[i - 1]", "a[i] / b[i]", "d[i]",
                                   "a[i] * a[i] * 1e20", "s * a[i - 1]"])  # fmt: skip
def test_strips_of_singles(value, after):
    check(_HEAD + f"""
for j in range(20):
    for i in range(1, 60):
        c[i] = {value}
    for i in range(1, 60):
        a[i] += 0.25 * c[i]
""", after)  # fmt: skip


def test_rows_and_functions_of_singles():
    for after in AFTER:
        check("""
            def f(x, y):
                return x * y if x > 0.5 else x + 0.25
            m = np.arange(36, dtype=np.float32).reshape(6, 6) / 7
            s = np.float32(0)
            for i in range(6):
                row = m[i]
                for j in range(6):
                    s += f(row[j], m[j, i])
                for x in row:
                    s -= f(x, 2)
        """, after, entered=after < 6)  # fmt: skip


@pytest.mark.parametrize("name", ["ceil", "floor", "sqrt", "trunc", "abs", "maximum"])
def test_functions_of_ours_of_singles(name):
    """NumPy's float32 given to the functions that a script under the runner has as NumPy's."""
    more = ", np.float32(0.5)" if name == "maximum" else ""
    text = f"""
import numpy
s, p, q = numpy.float32(1.7), 0, []
for i in range(80):
    p = np.{name}(s{more})
    q.append(type(p))
    n = int(p)
"""
    for after in AFTER:
        found, _ = differences(text, after, numbus)
        assert not found, found
