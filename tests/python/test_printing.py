"""Arrays print as NumPy prints them."""

import numpy as np
import pytest

CASES = [
    "arange(5)", "arange(5.0)", "arange(6).reshape(2, 3)", "zeros((2, 2), 'float32')", "array(3)",
    "array(2.5)", "array([])", "zeros((0, 3))", "ones(3, bool)", "array([1.5, -2.25e10, 1e-9])",
    "array([1, 2]) * 1j", "arange(2000)", "arange(10000.0).reshape(100, 100)",
    "array([xp.nan, xp.inf])", "linspace(0, 1, 7)", "arange(24).reshape(2, 3, 4)", "arange(5) > 2",
    "arange(3).sum()", "linspace(0, 1, 3).sum()", "array([1j, 2]).sum()", "(arange(3) > 1).any()",
    "arange(5)[3]", "ones(3, 'float32').sum()",
]  # fmt: skip


def both(xp, text):
    import re

    call = re.sub(r"(?<![.\w])(arange|zeros|ones|array|linspace)\(", r"xp.\1(", text)
    return eval(call, {"xp": xp}), eval(call, {"xp": np})


@pytest.mark.parametrize("text", CASES)
def test_str(xp, text):
    got, want = both(xp, text)
    assert str(got) == str(want)


@pytest.mark.parametrize("text", CASES)
def test_repr(xp, text):
    got, want = both(xp, text)
    assert repr(got) == repr(want)


def test_format(xp):
    a = xp.arange(4.0)
    assert f"{a}" == str(np.arange(4.0))
    assert f"{a.sum():8.3f}|{a[1]:e}|{a.max():>6}" == "   6.000|1.000000e+00|   3.0"
    assert f"{xp.arange(4).sum():d}" == "6"
    assert f"{(xp.arange(4) > 2).any()}" == "True"


def test_printoptions(xp):
    with xp.printoptions(precision=2):
        assert str(xp.linspace(0, 1, 4)) == "[0.   0.33 0.67 1.  ]"
    assert xp.array2string(xp.arange(3)) == "[0 1 2]"
