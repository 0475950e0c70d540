"""Strings that are not known while compiling: what CPython says of them is the oracle."""

import itertools
import random
import sys

import numpy as np
import pytest
from jit_check import equal
from numbus import cuda, njit, types
from numbus.kernels import CompileError, UnsupportedError
from numbus.kernels.typed import Dict, List
from test_jit_memory import steady

TEXTS = [
    "",
    "a",
    "abc",
    "aaa",
    "  a b\t c\n",
    "a,b,,c",
    ",",
    "Hello World",
    "ABC def",
    "-12",
    "+007",
    "3.25",
    "é中\U0001f600",
    "straße ǅ ΌΣΟΣ Σ.",
    "line\nnext\r\nlast\x85",
    "x" * 40,
    "ab" * 9,
    "\u3000a\u2003",
    'it\'s "q"\\',
    "İstanbul ŉ",
    "\ud800",
]
PARTS = ["", "a", "ab", ",", "aa", " ", "é", "中\U0001f600", "\n", "Σ", "xx", "zz"]

# Bodies of f(s, t, k), where s and t are strings and k is an int.
BODIES = [
    "s",
    "s + t",
    "t + 'é' + s",
    "s * k",
    "k * t",
    "len(s)",
    "s == t, s != t, s < t, s <= t, s > t, s >= t",
    "t in s, t not in s",
    "s[k]",
    "s[k:]",
    "s[:k]",
    "s[k:k + 3]",
    "s[::-1]",
    "s[k::2]",
    "s[5:k:-1]",
    "s[::k]",
    "[c for c in s]",
    "[c + t for c in s if c in 'abc']",
    "s.find(t), s.rfind(t), s.count(t)",
    "s.find(t, k), s.rfind(t, k), s.count(t, k)",
    "s.find(t, 1, k), s.rfind(t, None, k), s.count(t, -3, k)",
    "s.index(t)",
    "s.rindex(t, k)",
    "s.startswith(t), s.endswith(t)",
    "s.startswith(t, k), s.endswith(t, 0, k)",
    "s.startswith((t, 'a')), s.endswith(('c', t))",
    "s.split()",
    "s.split(t)",
    "s.split(None, k)",
    "s.split(t, k)",
    "s.split(sep=t)",
    "s.split(maxsplit=k)",
    "s.rsplit()",
    "s.rsplit(t, k)",
    "s.rsplit(None, k)",
    "s.splitlines()",
    "s.splitlines(True)",
    "t.join(s)",
    "t.join(s.split())",
    "t.join([s, t, 'x'])",
    "t.join((s, 'é'))",
    "s.strip()",
    "s.lstrip()",
    "s.rstrip()",
    "s.strip(t)",
    "s.lstrip(t)",
    "s.rstrip(t)",
    "s.replace(t, 'XY')",
    "s.replace(t, '')",
    "s.replace(t, 'q', k)",
    "s.replace('a', t)",
    "s.zfill(k)",
    "s.center(k), s.ljust(k), s.rjust(k)",
    "s.center(k + 9, '*')",
    "s.ljust(9, t)",
    "s.partition(t)",
    "s.rpartition(t)",
    "s.removeprefix(t), s.removesuffix(t)",
    "s.upper()",
    "s.lower()",
    "s.title()",
    "s.capitalize()",
    "s.swapcase()",
    "s.casefold()",
    "s.isalpha(), s.isdigit(), s.isdecimal(), s.isnumeric(), s.isalnum(), s.isspace()",
    "s.isupper(), s.islower(), s.istitle(), s.isascii(), s.isprintable()",
    "int(s)",
    "int(s, 16), int(s, 0)",
    "float(s)",
    "ord(s)",
    "[ord(c) for c in s]",
    "chr(k), chr(k * 300)",
    "str(k), str(k > 1), str(k / 4), str(None), str(s)",
    "str(np.uint64(k * k) + np.uint64(2**63))",
    "bool(s), not s, s and t, s or t",
    "s if k > 1 else t",
    "(s, k) == (t, 1), (s, k) < (t, 1)",
    "s == k, s != None, s is None",
    "isinstance(s, str)",
    "s in [t, 'abc'], s in (t, 'abc'), s in t.split()",
    "{s: 1, t: 2}.get('a', 3)",
    "sorted([len(w) for w in s.split()])",
    "list(enumerate(s))",
    "[a + b for a, b in zip(s, t)]",
    "f'{s}|{t}|{k}|{k / 3}|{k > 2}'",
    "f'{s:5}|{s:>7}|{s:^9}|{s:*<6}|{s:.2}|{s:é^8.3}'",
    "f'{k:5}|{k:<5}|{k:^7}|{k:05}|{k:+}|{k: d}|{k:x}|{k:#>6b}|{k:o}|{-k:08X}'",
    "f'{k / 7:.3f}|{k / 7:10.2e}|{k * 1e10:g}|{k / 3:<12}|{k * 0.25:+08.1f}'",
    "f'{k / 3:%}|{k / 9:.0f}|{k * 1e-7:G}'",
    "f'{k > 1:5}|{float(k):5}|{np.float32(k / 3)}|{np.float32(k):.2f}|{np.int8(k)}'",
    "tuple_of(s, k)",
    "shorter(s)",
    "min_of(s, t)",
    "{c: s.count(c) for c in s}['a']",
]

PROGRAM = """
import numpy as np
def tuple_of(s, k):
    a, b = s, (s + '!', k)
    s = a[1:]
    return s, b, [(s, k), (a, 2)]
def shorter(s):
    return s if len(s) < 3 else shorter(s[:-2]) + '.'
def min_of(s, t):
    best = s
    for w in (t, 'abc'):
        if w < best:
            best = w
    return best
def f(s, t, k):
    return {}
"""


def function(body):
    import linecache

    text = PROGRAM.format(body)
    file = f"<text {body}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def run(f, args):
    try:
        return f(*args), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("body", BODIES)
def test_as_cpython(body):
    f = function(body)
    ours = njit(f)
    r = random.Random(body)
    right = 0
    for _ in range(150):
        args = (
            r.choice(TEXTS),
            r.choice(PARTS + TEXTS[:4]),
            r.choice((0, 1, 2, 3, 5, 8, -1, -2, -4)),
        )
        want, error = run(f, args)
        got, raised = run(ours, args)
        if isinstance(raised, NotImplementedError) or "not yet" in str(raised):
            assert not isinstance(raised, CompileError), raised
            continue
        assert type(raised) is type(error), (args, raised, error, got, want)
        if error is None:
            equal(got, want, 0)
        right += 1
    assert right > 50


def test_all_characters():
    """What the tables say of each character, and what becomes of it."""

    @njit
    def flags(s):
        out = np.zeros((len(s), 9), np.bool_)
        for i, c in enumerate(s):
            out[i, 0] = c.isalpha()
            out[i, 1] = c.isdecimal()
            out[i, 2] = c.isdigit()
            out[i, 3] = c.isnumeric()
            out[i, 4] = c.isupper()
            out[i, 5] = c.islower()
            out[i, 6] = c.istitle()
            out[i, 7] = c.isprintable()
            out[i, 8] = c.isspace()
        return out

    @njit
    def cases(s):
        return s.upper(), s.lower(), s.title(), s.casefold(), s.swapcase()

    tests = [
        str.isalpha,
        str.isdecimal,
        str.isdigit,
        str.isnumeric,
        str.isupper,
        str.islower,
        str.istitle,
        str.isprintable,
        str.isspace,
    ]
    for first in range(0, sys.maxunicode + 1, 1 << 16):
        text = "".join(map(chr, range(first, first + (1 << 16))))
        assert cases(text) == (
            text.upper(),
            text.lower(),
            text.title(),
            text.casefold(),
            text.swapcase(),
        )
        if first < 0x40000:
            want = np.array([[test(c) for test in tests] for c in text])
            assert (flags(text) == want).all()


def test_sigmas():
    @njit
    def lower(s):
        return s.lower(), s.title(), s.capitalize()

    for letters in itertools.product(["Σ", "a", ".", "1", "\u0301", "ǅ", "ʰ"], repeat=4):
        s = "".join(letters)
        assert lower(s) == (s.lower(), s.title(), s.capitalize()), s


@pytest.mark.parametrize("seed", range(4))
def test_floats_as_text(seed):
    @njit
    def text(x):
        return str(x), f"{x}", f"{x:.3f}", f"{x:.12g}", f"{x:e}", float(str(x))

    r = np.random.default_rng(seed)
    bits = r.integers(0, 2**64, 300, np.uint64).view(np.float64)
    for x in [
        *bits,
        *(r.normal(size=100) * 10.0 ** r.integers(-8, 20, 100)),
        0.0,
        -0.0,
        1e16,
        1e-5,
        0.125,
    ]:
        x = float(x)
        want = str(x), f"{x}", f"{x:.3f}", f"{x:.12g}", f"{x:e}", float(str(x))
        got = text(x)
        assert got[:5] == want[:5], x
        np.testing.assert_equal(got[5], want[5])


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "-1e400",
        "1e-400",
        "1_0.5",
        "1__0",
        "_1",
        "1_",
        ".5",
        "5.",
        ".",
        "1e",
        "1e+",
        "+-1",
        "inf",
        "-Infinity",
        "nan",
        "infinit",
        "0x10",
        " 2.5\n",
        "1e5_0",
        "1 2",
        "1e-320",
        "0e999",
        "000.001e3",
        "1.7976931348623159e308",
    ],
)
def test_floats_of_text(text):
    ours = njit(lambda s: float(s))
    want, error = run(float, (text,))
    got, raised = run(ours, (text,))
    assert type(raised) is type(error)
    if error is None:
        np.testing.assert_equal(got, want)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-0",
        "+5",
        "9223372036854775807",
        "-9223372036854775808",
        "1_000",
        "1__0",
        "_1",
        "1_",
        "0x1F",
        "0b11",
        "0o17",
        "0x",
        "-0x_f",
        "00",
        "007",
        "0_0",
        "12a",
        "",
        "-",
        " 12 ",
        "zz",
        "1 2",
    ],
)
@pytest.mark.parametrize("base", [0, 2, 8, 10, 16, 36, 1, 37])
def test_ints_of_text(text, base):
    f = lambda s, base: int(s, base)  # noqa: E731
    want, error = run(f, (text, base))
    if error is None and not -(2**63) <= want < 2**63:
        return
    got, raised = run(njit(f), (text, base))
    assert type(raised) is type(error) and got == want


def test_lists_as_arguments():
    @njit
    def change(words):
        words.append("new")
        words[0] = words[0].upper()
        words.reverse()
        return words[1:2], len(words)

    for words in (["ab", "é"], ["x"]):
        mine, theirs = list(words), list(words)
        got = change(mine)
        assert got == change.py_func(theirs) and mine == theirs


def test_typed_containers():
    @njit
    def fill(d, words):
        for w in words:
            d[w] = d.get(w, 0) + 1
        return len(d)

    d = Dict.empty(types.unicode_type, types.int64)
    assert fill(d, ["a", "b", "a", "é"]) == 3
    assert dict(d) == {"a": 2, "b": 1, "é": 1} and d["a"] == 2 and "b" in d and "c" not in d
    d["new"] = 7
    assert fill(d, ["new"]) == 4 and d["new"] == 8
    with pytest.raises(KeyError, match="gone"):
        d["gone"]
    names = List(["a", "b"])
    names.append("c")
    assert njit(lambda l: "-".join(l))(names) == "a-b-c"


def test_signatures():
    f = njit("unicode_type(unicode_type, int64)")(lambda s, n: s * n)
    assert f("ab", 2) == "abab"
    with pytest.raises(TypeError):
        f(1, 2)


def test_key_errors_have_the_key():
    with pytest.raises(KeyError) as error:
        njit(lambda s: {"a": 1}[s])("b\xe9")
    assert error.value.args == ("b\xe9",)


def test_memory():
    def words(s):
        d = {}
        for w in s.split():
            d[w.upper()] = d.get(w.upper(), 0) + 1
        return sum(d.values())

    def text(s):
        out = ""
        for k, c in enumerate(s):
            out += c + str(k)
        parts = out.split("1")
        parts.append("é")
        return len("".join(parts[1:])) + len(f"{out:>99}") + len(parts)

    def fails(s):
        return len([int(w) for w in s.split()])

    steady(words, "a b c a " * 9)
    steady(text, "some text " * 5)
    steady(fails, "1 2 x", raises=ValueError)


def test_printed(capsys):
    def f(s, w):
        print(s, [s, "it's"], (s, 1), {s: w}, w, f"{s}-{s:>5}", sep="|")

    for s in TEXTS[:-1]:
        f(s, ["a", 'b"'])
        want = capsys.readouterr().out
        njit(f)(s, ["a", 'b"'])
        assert capsys.readouterr().out == want


def test_not_in_kernels():
    @cuda.jit
    def takes(x, s):
        x[0] = len(s)

    @cuda.jit
    def makes(x):
        x[0] = len(str(cuda.grid(1)))

    with pytest.raises(UnsupportedError, match="str as an argument of a kernel"):
        takes[1, 1](np.zeros(1), "a")
    with pytest.raises(UnsupportedError, match="strings in a kernel"):
        makes[1, 1](np.zeros(1))


def test_in_parallel():
    from numbus import prange

    @njit(parallel=True)
    def lengths(s, words):
        out = np.zeros(len(words), np.int64)
        for i in prange(len(words)):
            out[i] = len(words[i] + s) * (2 if s in words[i] else 1)
        return out

    words = [chr(97 + i % 26) * (i % 9) for i in range(1000)]
    assert lengths("aa", words).tolist() == [(len(w) + 2) * (2 if "aa" in w else 1) for w in words]


@pytest.mark.parametrize(
    "body, words",
    [
        ("s + k", "operator +"),
        ("s - t", "operator -"),
        ("s.find(k)", "does not take int"),
        ("s.foo()", "has no method"),
        ("s[t]", "index of a string"),
        ("s < k", "no order"),
        ("s.encode()", "not yet"),
        ("s.join(k)", ""),
        ("s.encode()", "not yet"),
        ("s.translate(k)", "not yet"),
        ("str.maketrans(s, k)", "strings"),
        ("s % [k]", "not yet"),
    ],
)
def test_mistakes(body, words):
    with pytest.raises(CompileError, match=words.replace("+", r"\+")) as error:
        njit(function(body))("a", "b", 1)
    assert error.value.line is not None


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 6, 17, 20])
def test_floats_with_a_precision_and_no_type(digits):
    specs = [f".{digits}", f"12.{digits}", f"<+14.{digits}", f"*^30.{digits}"]
    values = [0.0, -0.0, 1.0, 12.0, 123.0, 1234.5678, 99999.5, 1e5, 123456789.0, 1e16, 1e17]
    values += [1.5e300]
    values += [0.1, 0.00012345, 0.000099999, 1e-5, -2.5e-7, 3.14159, 9.995, 99.95, 0.5]
    values += [float("inf"), float("-inf"), float("nan")]
    x = np.array(values)
    f = njit(function(", ".join(f"f'{{k:{spec}}}'" for spec in specs)))
    for v in x:
        assert f("", "", float(v)) == f.py_func("", "", float(v)), v
