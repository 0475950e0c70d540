"""`"…".format(…)` and `"…" % …` of known texts in compiled functions, against CPython."""

import linecache

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

TITLE = "%s: %5.2f"
VALUES = [0, 3, -17, 12345678901, True, 2.5, -0.0, 1e-7, 123456.789, float("inf"), float("nan"),
          "", "abc", "ä漢", None]  # fmt: skip


def made(expression, names="a, b"):
    """A function of an expression, which has a source."""
    source = f"def f({names}):\n    return {expression}\n"
    file = f"<format {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"TITLE": TITLE, "np": np}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


def random_percent(rng):
    flags = "".join(c for c in "-+ 0#" if rng.random() < 0.2)
    kind = str(rng.choice(list("sdiufFeEgGxXor")))
    width = str(rng.integers(1, 14)) if rng.random() < 0.5 else ""
    precision = f".{rng.integers(0, 6)}" if rng.random() < 0.4 else ""
    return f"%{flags}{width}{precision}{kind}"


def random_field(rng, numbered):
    name = str(rng.integers(0, 2)) if numbered else ""
    conversion = str(rng.choice(["", "", "", "!r", "!s"]))
    fill = str(rng.choice(["", "", "<", ">", "^", "*^", "0=" if not conversion else ""]))
    sign = str(rng.choice(["", "", "+", " "]))
    width = str(rng.integers(1, 14)) if rng.random() < 0.6 or fill else ""
    group = "," if rng.random() < 0.1 else ""
    precision = f".{rng.integers(0, 6)}" if rng.random() < 0.4 else ""
    kind = str(rng.choice(["", "", *"sdfeEgGx%"]))
    spec = f"{fill}{sign}{width}{group}{precision}{kind}" if rng.random() < 0.7 else ""
    return f"{{{name}{conversion}{':' if spec else ''}{spec}}}"


def check(expression, *args):
    """Compares with CPython: what is refused is told, and is no mistake of CPython's alone."""
    f = made(expression)
    try:
        expected = f(*args)
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises((type(error), CompileError)) as raised:
            njit(f)(*args)
        if type(raised.value) is type(error):
            assert str(error) in str(raised.value), expression
        return "error"
    try:
        got = njit(f)(*args)
    except (UnsupportedError, NotImplementedError):
        return "not yet"
    assert got == expected, expression
    return "same"


@pytest.mark.parametrize("seed", range(60))
def test_random_percents(seed):
    rng = np.random.default_rng(seed)
    a, b = (VALUES[i] for i in rng.integers(0, len(VALUES), 2))
    text = f"<{random_percent(rng)}%%{random_percent(rng)}>"
    check(f"{text!r} % (a, b)", a, b)


@pytest.mark.parametrize("seed", range(60))
def test_random_formats(seed):
    rng = np.random.default_rng(seed)
    a, b = (VALUES[i] for i in rng.integers(0, len(VALUES), 2))
    numbered = bool(rng.integers(2))
    text = f"<{random_field(rng, numbered)}{{{{}}}}{random_field(rng, numbered)}>"
    check(f"{text!r}.format(a, b)", a, b)


@pytest.mark.parametrize(
    ("expression", "args"),
    [
        ("'%d' % a", (3, 0)),
        ("'%d%%' % (a / b * 100)", (1, 3)),
        ("'%(x)s %(y).1f' % {'x': a, 'y': b}", (1, 2.25)),
        ("TITLE % (a, b)", ("t", 2.25)),
        ("TITLE.format()", (1, 2)),
        ("'{x:5d}{y}'.format(x=a, y=b)", (1, "u")),
        ("'{0.real} {1[0]}'.format(a, b)", (1, (2.5, 3))),
        ("'{1} {0} {1}'.format(a, b)", (1, 2.5)),
        ("'{}{}'.format(a + 1, b * 2)", (1, 2.5)),
        ("'%s %s' % (np.float32(a), np.int8(b))", (0.1, 3)),
        ("'%d' % np.uint64(a)", (2**63, 0)),
        ("'%d %d' % (np.float32(a), np.float64(-a))", (7.9, 0)),
        ("'%d %d' % (np.bool_(a), np.int8(b))", (True, -3)),
        ("'%d %d' % (a > b, a)", (True, False)),
        ("'[' + '%3d,' * 2 % (a, b) + ']'", (1, 2)),
        ("'{0} {0}'.format(a + b)", (1, 2)),
        ("'{1} {0}'.format(a + b, a - b)", (1, 2)),
        ("'{} {}'.format(*a)", ((1, "x"), 2)),
        ("'%*d' % (a, b)", (5, 2)),
        ("'%c%c' % (a, b)", (97, "x")),
        ("str(a).format(b)", (1, 2)),
        ("(str(a) + '%d') % b", (1, 2)),
        ("'%.3d' % a", (1, 2)),
        ("'%d %5d %-30d|' % (a, b, 0.5)", (7, -1.5)),
    ],
)
def test_of_one_kind(expression, args):
    assert check(expression, *args) in ("same", "not yet")
    if "* 2" not in expression:
        assert check(expression, *args) == "same"


@pytest.mark.parametrize("number", [42, -42, 0, 7.25, -7.25])
@pytest.mark.parametrize("align", ["", "<", ">", "^", "=", "*>", "0<", "*="])
@pytest.mark.parametrize("sign", ["", "+", " "])
def test_zeros_before_the_width(number, align, sign):
    kinds = ["09d", "#010x", "#010b", "#09o", "#09X"] if isinstance(number, int) else ["09.2f"]
    for kind in kinds:
        check(f"'{{:{align}{sign}{kind}}}'.format(a)", number, 0)
        if not align:
            kind = kind if kind[-1] != "b" else "#010x"
            check(f"'%{sign}{kind}' % a", number, 0)


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("'{} {} {0}'.format(a, b)", CompileError, "numbers some of its fields"),
        ("'%d %d' % a", CompileError, "fewer values"),
        ("'%d' % (a, b)", CompileError, "more values"),
        ("'%' % a", CompileError, "ends early"),
        ("'{} {}'.format(a)", CompileError, "needs 2 arguments; got 1"),
        ("'{q}'.format(a)", CompileError, "no argument 'q'"),
        ("'{'.format(a)", CompileError, "the format"),
        ("'{:n}'.format(a)", NotImplementedError, "the format 'n'"),
        ("'%a' % a", NotImplementedError, "%a"),
        ("str(a) % (b, (a, b))", UnsupportedError, "a format of run time of"),
        ("str(a).encode()", UnsupportedError, "no bytes"),
        ("hash(str(a))", UnsupportedError, "anew for each process"),
    ],
)
def test_refused(expression, error, message):
    with pytest.raises(error, match=message):
        njit(made(expression))(1, 2)


def test_in_print_and_raise(capfd):
    @njit
    def f(n):
        print("n = %d, %5.1f" % (n, n / 2))  # noqa: UP031
        if n > 2:
            raise ValueError("{} is more than {}".format(n, 2))  # noqa: UP032
        if n > 1:
            raise ValueError("%d is more than %d" % (n, 1))  # noqa: UP031

    f(1)
    with pytest.raises(ValueError, match="2 is more than 1"):
        f(2)
    with pytest.raises(ValueError, match="3 is more than 2"):
        f(3)
    assert "n = 1,   0.5\n" in capfd.readouterr().out
