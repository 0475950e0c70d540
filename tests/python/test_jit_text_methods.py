"""str.expandtabs and str.isidentifier in compiled functions, against CPython's."""

import random

import pytest
from numbus import njit

pytestmark = pytest.mark.numbus


@njit
def expanded(s, n):
    return s.expandtabs(), s.expandtabs(n), s.expandtabs(tabsize=n)


def test_expandtabs():
    r = random.Random(3)
    for _ in range(500):
        s = "".join(r.choices("\t\n\ra é中", k=r.randint(0, 12)))
        n = r.choice((-1, 0, 1, 2, 3, 4, 8, 9))
        assert expanded(s, n) == expanded.py_func(s, n), (s, n)
    assert njit(lambda: "a\tb".expandtabs(4))() == "a   b"
    with pytest.raises((OverflowError, MemoryError)):
        expanded("\t\t\t\t", 2**62)


@njit
def are_names(s, t):
    return s.isidentifier(), t.isidentifier()


def test_isidentifier():
    for c in map(chr, (*range(0x3400), *range(0xA000, 0xD800, 7), *range(0xE000, 0x20000, 5))):
        want = c.isidentifier(), ("a" + c).isidentifier()
        assert are_names(c, "a" + c) == want, hex(ord(c))
    for s in ("", "_", "if", "a b", "1a", "a1", "é中", "x.y", "\u0e33", "a\u0e33"):
        assert are_names(s, s) == (s.isidentifier(),) * 2, s
