"""None as an item of lists, tuples and dicts of compiled functions, against CPython."""

import random

import jit_check
import pytest
from numbus import njit


def made(n, x, s):
    a = [None] * n
    a[1] = 3
    b = [i if i % 2 else None for i in range(n)]
    c = [1.0, None, x]
    d = [(1, None), (2, s)]
    e = {1: None, n: x}
    f = [s, None] * 2
    g = [None, [1, 2], None]
    h = {s: (None, n)}
    return a, b, c, d, e, f, g, h, [None, None], [None if i > 1 else (i, s) for i in range(3)]


def memo(n):
    known = [None] * (n + 2)
    known[0], known[1] = 0, 1
    for i in range(2, n + 1):
        a, b = known[i - 1], known[i - 2]
        if a is not None and b is not None:
            known[i] = a + b
    return known[n], known[n + 1], len(known)


def changed(x):
    total = 0
    for v in x:
        if v is not None:
            total += v
    x.append(None)
    x[0] = None
    x.insert(1, 5)
    last = x.pop()
    return total, last, x[-1], len(x)


def in_dicts(keys):
    d = {}
    for k in keys:
        if k % 2:
            d[k] = None
        else:
            d[k] = k * 0.5
    missing = 0
    for k, v in d.items():
        if v is None:
            missing += k
    return d, missing, d.get(1), d.get(2), d.get(77), 1 in d, d.pop(2)


def strings(words):
    out = [None]
    for w in words:
        if w is None:
            out.append("none")
        elif len(w) > 2:
            out.append(w + "!")
        else:
            out.append(None)
    return out, out[0] is None, [w for w in words if w is not None]


def raises(x, i):
    return x[i] + 1


def of_tuples(rows):
    total = 0.0
    for k, v in rows:
        total += k if v is None else v
    return total


def nested(x):
    rows = [[None, i + x] for i in range(3)]
    rows[0].append(None)
    return rows, rows[1][1], rows[0][0] is None


CASES = [
    (made, 4, 2.5, "é"),
    (memo, 9),
    (changed, [1, None, 3]),
    (changed, [None, 2]),
    (in_dicts, [1, 2, 3, 4]),
    (strings, ["a", None, "bcd"]),
    (of_tuples, [(1, None), (2, 0.5), (3, None)]),
    (nested, 7),
    (raises, [1, None, 3], 0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_against_cpython(case):
    f, *args = case
    ours = [list(a) if isinstance(a, list) else a for a in args]
    got, want = njit(f)(*ours), f(*args)
    assert repr(plain(got)) == repr(plain(want))
    assert ours == list(args)


def plain(v):
    if isinstance(v, tuple):
        return tuple([plain(i) for i in v])
    return dict(v) if hasattr(v, "items") else [plain(i) for i in v] if isinstance(v, list) else v


def test_none_raises_as_in_cpython():
    with pytest.raises(TypeError, match="NoneType"):
        njit(raises)([1, None, 3], 1)


def test_ints_and_floats_beside_none_are_two_types():
    with pytest.raises(TypeError, match="several types"):
        njit(lambda x: len(x))([1, None, 2.5])


def program(seed):
    r = random.Random(seed)
    kind = r.choice(("k", "k * 0.5", "str(k)", "(k, 1)"))
    lines = ["def f(n):", "    a = [None] * 3", "    d = {}", "    log = ['']"]
    lines.append("    for k in range(n):")
    for _ in range(r.randint(2, 7)):
        test = f"k % {r.randint(2, 4)} == {r.randint(0, 1)}"
        lines.append("        " + r.choice([
            f"a.append({kind} if {test} else None)",
            f"a[k % len(a)] = {kind}",
            "a[k % len(a)] = None",
            f"d[k] = {kind} if {test} else None",
            "d[k // 2] = None",
            "log.append('n' if a[k % len(a)] is None else 'v')",
            "log.append('n' if d.get(k) is None else 'v')",
            "log.append(str(len([v for v in a if v is None])))",
            "if a[-1] is None and len(a) > 2:\n            a.pop()",
            f"a[0] = {kind}\n        a.insert(1, None)",
        ]))  # fmt: skip
    lines += [f"    d[99] = {kind.replace('k', 'n')}", f"    a.append({kind.replace('k', 'n')})"]
    return "\n".join([*lines, "    return a, d, log"]) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_generated(seed, tmp_path):
    text = program(seed)
    f = jit_check.made(text, tmp_path)
    compiled = njit(f)
    for n in (0, 1, 5, 8):
        assert repr(plain(compiled(n))) == repr(plain(f(n))), text
