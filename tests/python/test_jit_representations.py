"""repr, !r and !s, str of complex numbers and of what may be None, formats with marks between
thousands and with prefixes: as CPython has them.
"""

import linecache
import math

import pytest
from numbus import njit

COMPLEX = [
    1 + 2j, 2.5 - 3j, 0j, complex(-0.0, 1), complex(0.0, -0.0), 1e16 + 1e-7j, -1 - 1j,
    complex(math.inf, math.nan), complex(math.nan, -math.inf), complex(0, math.nan),
]  # fmt: skip
INTEGERS = [0, 5, -5, 999, 1000, -1000, 1234567, -123456789012, 2**62, -(2**63)]
FLOATS = [0.0, 1.5, -1234.5678, 1e15, 1234567.125, -1e7, math.inf, math.nan, 999999.999]
OF_INTEGERS = [
    ",", "_", "+,", "12,", "<12,", "^+15,", "#x", "#b", "#o", "#X", "_x", "#_b", "#12x", "+#x",
    "_d", ",d", "#_X", "#d", "#",
]  # fmt: skip
OF_FLOATS = [",", ",.2f", "_.3f", "+,.1f", "15,.2f", ",.0f", ",g", ",e", ",.3%"]


def both(f, *args):
    assert njit(f)(*args) == f(*args)


@pytest.mark.parametrize("z", COMPLEX, ids=str)
def test_complex(z):
    both(lambda z: (str(z), f"{z}", repr(z), f"{z!r:>30}"), z)


def optional(x, there):
    y = None
    if there:
        y = x
    return str(y), f"{y}", f"{y!r}", f"{y!s:>7}", repr(y)


@pytest.mark.parametrize("x", [0, 3, 2.5, True, 1 + 2j, "", "a", "it's", 'q"', "ü\n"], ids=repr)
def test_none_or_value(x):
    both(optional, x, True)
    both(optional, x, False)


def test_strings():
    for s in ("", "a", "it's", "\t\\"):
        both(lambda s: (repr(s), f"<{s!r}>", f"{s!s:^9}", f"{s!r:.2}"), s)
    both(lambda: (repr(None), f"{'x'!r}", f"{None!r}", f"{3!s:>4}"))


@pytest.mark.parametrize("spec", OF_INTEGERS + OF_FLOATS)
def test_formats(spec):
    source = f"def f(x):\n    return f'{{x:{spec}}}'\n"
    file = f"<format {spec}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    made = {}
    exec(compile(source, file, "exec"), made)
    compiled = njit(made["f"])
    for x in INTEGERS if spec in OF_INTEGERS else FLOATS:
        assert compiled(x) == made["f"](x)


def test_printed(capfd):
    @njit
    def f(x, there):
        a = None
        if there:
            a = x
        print(a, (a, 1), f"{a}!", sep="|")

    for x in (2.5, "a", 3):
        for there in (True, False):
            f(x, there)
    out = capfd.readouterr().out.splitlines()
    assert out == ["2.5|(2.5, 1)|2.5!", "None|(None, 1)|None!", "a|('a', 1)|a!",
                   "None|(None, 1)|None!", "3|(3, 1)|3!", "None|(None, 1)|None!"]  # fmt: skip
