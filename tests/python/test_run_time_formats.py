"""Formats that are known at run time only, against CPython: texts and errors with their texts."""

import random

import numpy as np
import pytest
from numbus import njit


@njit
def one(x, spec):
    return format(x, spec)


@njit
def in_f_string(x, spec):
    return f"<{x:{spec}}>"


@njit
def percent(text, x):
    return text % x


@njit
def percent_two(text, x, y):
    return text % (x, y)


@njit
def fields(text, x, y, z):
    return text.format(x, y, key=z)


@njit
def mapped(text, a, b):
    d = {"a": a, "b": b}
    return text.format_map(d) + (text.replace("{", "%(").replace("}", ")s") % d)


def outcome(f, *args):
    """What a call gives or raises; None for what compiled functions do not know yet."""
    try:
        return f(*args)
    except NotImplementedError as e:
        assert "not yet" in str(e)
        return None
    except Exception as e:
        first = str(e).split("\n")[0]
        return type(e).__name__, first


def agree(f, *args):
    got, wanted = outcome(f, *args), outcome(f.py_func, *args)
    if got is None and wanted is not None:
        return 0
    if isinstance(wanted, tuple) and isinstance(got, tuple):
        assert got[0] == wanted[0] and wanted[1] in got[1], (f.__name__, args, got, wanted)
    else:
        assert got == wanted, (f.__name__, args)
    return 1


VALUES = [
    (True, False),
    (0, 7, -1234567, 2**63 - 1, -(2**63), 97, 300),
    (np.int8(-5), np.int8(100)),
    (np.uint64(2**64 - 1), np.uint64(0)),
    (0.0, -0.0, 1.5, -1234567.891, 1e22, 1e-7, float("inf"), float("nan"), 123456.0, 0.1, -0.04),
    (np.float64(2.5), np.float64(-1e100)),
    (np.float32(0.1), np.float32(3.0)),
    ("", "a", "héllo", "日本語 text"),
    (None,),
    (1.5 + 2j, -0j),
]


def a_spec(draw):
    """A format, often one that CPython refuses."""
    parts = [
        draw.choice(["", "", "", "<", ">", "^", "=", "*<", "0>", "é^", " ="]),
        draw.choice(["", "", "", "+", "-", " "]),
        draw.choice(["", "", "", "", "z", "#"]),
        draw.choice(["", "", "0"]),
        draw.choice(["", "", "5", "12", "30"]),
        draw.choice(["", "", "", ",", "_", ",_"]),
        draw.choice(["", "", "", ".0", ".1", ".3", ".17", "."]),
        draw.choice(["", *"bcdoxXeEfFgG%s", "q", "é"]),
    ]
    if draw.random() < 0.05:
        parts.insert(draw.randrange(len(parts)), draw.choice("z#0,.xé"))
    return "".join(parts)


@pytest.mark.parametrize("kind", range(len(VALUES)))
def test_formats_of_one_value(kind):
    draw = random.Random(kind)
    known = 0
    for _ in range(1500):
        x, spec = draw.choice(VALUES[kind]), a_spec(draw)
        known += agree(one, x, spec)
        if draw.random() < 0.2:
            agree(in_f_string, x, spec)
    assert known > 1000 or isinstance(VALUES[kind][0], complex)


def a_conversion(draw):
    """A conversion of `%`, often one that CPython refuses."""
    parts = [
        draw.choice(["%", "%", "%", "a%", "%%%", ""]),
        draw.choice(["", "", "-", "+", " ", "#", "0", "+0", "-0", "# "]),
        draw.choice(["", "", "5", "12"]),
        draw.choice(["", "", ".0", ".3", ".", ".12"]),
        draw.choice(["", "", "l", "h"]),
        draw.choice("sdiuxXoeEfFgGcr%yé"),
        draw.choice(["", " z", "%"]),
    ]
    return "".join(parts)


@pytest.mark.parametrize("kind", range(len(VALUES)))
def test_percent(kind):
    draw = random.Random(kind)
    known = 0
    for _ in range(1000):
        known += agree(percent, a_conversion(draw), draw.choice(VALUES[kind]))
    assert known > 600
    for _ in range(200 if kind % 3 == 1 else 0):
        text = a_conversion(draw) + draw.choice(["", "%*d", "%.*f", "%s", "%s%s"])
        agree(percent_two, text, draw.choice(VALUES[kind]), draw.choice((0, 7, -5)))


def test_fields():
    draw = random.Random(5)
    known = 0
    for _ in range(3000):
        pieces = []
        for _ in range(draw.randrange(1, 5)):
            name = draw.choice(["", "", "0", "1", "key", "2", "no", " "])
            conversion = draw.choice(["", "", "", "!r", "!s", "!x", "!"])
            spec = draw.choice(["", "", ":5", ":>{}", ":{1}", ":{:{}}", ":{", ":^9", "::"])
            pieces.append(draw.choice(["{", "{", "{", "{{", ""]) + name + conversion + spec)
            end = draw.choice(["}", "}", "}", "}", "}}", ""])
            pieces.append(end + draw.choice(["", " x", "é"]))
        known += agree(fields, "".join(pieces), draw.choice("ab"), 6, draw.choice([2.5, -1.0]))
    assert known > 2500


def test_a_dict_is_named():
    for text in ("{a} {b}", "{b}{b}", "{a}{c}", "x"):
        assert agree(mapped, text, 1, 22)
    assert agree(percent, "%(a)s", 3)


def test_known_formats_that_no_f_string_stands_for():
    @njit
    def f(x, y):
        return (
            f"{y} {x + 1}",
            "{0} {0}".format(x + 1),
            "%*d|%-*s|" % (5, x, 4, y),  # noqa: UP031
            "%.3d %c" % (x, 97),  # noqa: UP031
            "%r" % y,  # noqa: UP031
            f"{x:05,} {y:05}",
        )

    assert f(3, "b") == f.py_func(3, "b")


def test_the_text_of_a_dict_says_not_yet():
    @njit
    def f(text, x):
        return text % {"a": x}

    assert f("%(a)5d", 3) == "    3"
    with pytest.raises(NotImplementedError, match="the text of a dict"):
        f("%s", 3)
