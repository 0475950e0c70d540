"""Against CPython: maketrans and translate, numbers of digits beyond ASCII, `s += c`, hash() of
tuples, items of dicts and of errors' arguments, the order of lists of complex numbers.
"""

import random
import time

from numbus import njit


def outcome(f, *args):
    """What a call gives, or the class of what it raises, and its text."""
    try:
        return f(*args)
    except Exception as e:
        return type(e), str(e).split("\n")[0]


def agree(f, *args):
    got, wanted = outcome(f, *args), outcome(f.py_func, *args)
    if isinstance(wanted, tuple) and wanted and isinstance(wanted[0], type):
        assert got[0] is wanted[0] and wanted[1] in got[1], (args, got, wanted)
    else:
        assert got == wanted, (f.py_func.__name__, args)


@njit
def two(s, a, b):
    return s.translate(str.maketrans(a, b))


@njit
def three(s, a, b, c):
    return s.translate(str.maketrans(a, b, c))


@njit
def by_dicts(s, n):
    return s.translate(str.maketrans({"a": "xyz", "é": "", chr(98): str(n)})), s.translate(
        {97: 98, 99: n}
    )


def test_translations():
    draw = random.Random(1)
    for _ in range(300):
        s, a, b, c = ("".join(draw.choices("abcé漢", k=draw.randrange(5))) for _ in range(4))
        agree(two, s, a, b)
        agree(two, s, a, a[::-1])
        agree(three, s, a, b, c)
        agree(by_dicts, s, draw.choice((-1, 100, 0x110000, 0x4E2D)))


@njit
def whole(s, base):
    return int(s, base)


@njit
def real(s):
    return float(s)


def test_digits_beyond_ascii():
    draw = random.Random(2)
    for _ in range(500):
        s = "".join(draw.choices("٠٣٩१৭９𝟘𝟡7a_-+ .e²½", k=draw.randrange(1, 5)))
        agree(whole, s, draw.choice((10, 2, 8, 16, 36, 0)))
        agree(real, s)
    agree(whole, "\u2003७ ", 10)


@njit
def grown(parts, keep):
    s = ""
    kept = []
    for i in range(len(parts)):
        s += parts[i]
        if i % keep == 0:
            kept.append(s)
            t = s
            t += "!"
            kept.append(t)
        if i % 5 == 4:
            s = s[: len(s) // 2]
        if i % 7 == 6:
            s += s
            s += s[1:3]
    return kept, s


def test_strings_that_grow_in_place():
    draw = random.Random(3)
    for _ in range(100):
        parts = ["".join(draw.choices("abé", k=draw.randrange(4))) for _ in range(30)]
        agree(grown, parts, draw.randrange(1, 5))


def test_growing_is_not_quadratic():
    @njit
    def f(n):
        s = ""
        for i in range(n):
            s += chr(97 + i % 26)
        return len(s)

    f(10)
    start = time.perf_counter()
    assert f(800000) == 800000
    assert time.perf_counter() - start < 20  # 1.3 terabytes to copy, if each step copied all


@njit
def hashes(a, b, c):
    return hash((a, b, c)), hash(()), hash((a,)), hash((b, (a, c), True))


def test_hashes_of_tuples():
    draw = random.Random(4)
    for _ in range(200):
        a = draw.choice((0, -1, 2**62, draw.randrange(-(2**63), 2**63)))
        agree(hashes, a, draw.choice((0.5, -0.0, 1e300, float("inf"))), draw.random() + 1j)


@njit
def items(k, v, x):
    d = {1: 2.5, 3: 4.5}
    e = {1: [1, 2], 2: [3]}
    f = {1: [1, 2], 2: [x]}
    return (k, v) in d.items(), (k, v) not in d.items(), e == f, e != f


def pairs(n):
    for i in range(n):
        yield i, str(i)


@njit
def from_generators(n):
    return dict(pairs(n)), dict((i, i * 0.5) for i in range(n))


def test_dicts():
    for k in range(4):
        for v in (2.5, 4.5, 1.0):
            agree(items, k, v, k)
        agree(from_generators, k)


@njit
def second(x, k):
    try:
        try:
            if k == 0:
                raise ValueError("a", x)
            if k == 1:
                raise ValueError("b")
            if k == 2:
                raise KeyError(x)
            k = [1][x]
        except (ValueError, LookupError) as e:
            return e.args[1] + 1
    except IndexError as e:
        return -len(str(e))
    return 0


def test_items_of_arguments_of_errors():
    for k in range(4):
        agree(second, 5, k)
    agree(second, 0, 3)


@njit
def in_order(a, b, k):
    z = [complex(a, 1.0)]
    w = [complex(b, 1.0)]
    for _ in range(k):
        z.append(2j)
    return z <= z, z < z, z > w[:0], z < w + w, z >= w


def test_lists_of_complex_numbers():
    for a, b, k in ((1, 1, 0), (1, 1, 1), (1, 2, 0), (2, 1, 2)):
        agree(in_order, a, b, k)
