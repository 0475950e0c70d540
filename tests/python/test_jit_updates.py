"""Items of dicts that a statement reads and assigns to, which are searched for once; and names of
loops over strings, lists and dicts, which take over what the loop holds. All as in CPython, and
nothing stays allocated.
"""

import copy
import gc
import random

import pytest
from numbus import _core, njit

WORDS = ["a", "b", "ab", "", "ä", "日本", "longer than most", "b" * 40]


def counts(words, d):
    for w in words:
        d[w] = d.get(w, 0) + 1
    return d


def more(words, d):
    for w in words:
        d[w] = 2 * d.get(w, 1) - d.get(w, 0)
    return d


def in_place(words, d):
    for w in words:
        if w not in d:
            d[w] = 1
        d[w] += len(w)
        d[w] *= 2
        d[w] = d[w] % 1000 + d.get(w, 7)
    return d


def missing(words, d):
    found = 0
    for w in words:
        try:
            d[w] += 1
        except KeyError:
            found += 1
            d[w] = found
        try:
            d[w] = d[w + "x"] + 1
        except KeyError:
            found += 1
    return d, found


def other_key(words, d):
    last = "a"
    for w in words:
        d[w] = d.get(last, 0) + 1
        last = w
        d[last] = (d.get(w, 0) + d.get("b", 5)) % 1000
    return d


def change(d, w):
    d.clear()
    for k in range(20):
        d[w + str(k)] = k
    return 3


def changed(words, d):
    for w in words:
        d[w] = d.get(w, 0) + change(d, w)
        d[w] += change(d, w)
    return d


def texts(words, d):
    t = {}
    for w in words:
        t[w] = t.get(w, "<") + w
        t[w] += "." + w
        t[w] = t[w] + t.get(w, "")[:2]
    return [t[w] for w in words]


def lists(words, d):
    t = {}
    for w in words:
        t[w] = [len(w)]
    for w in words:
        t[w] = t[w][:3] + t.get(w, [1])[-3:]
        t[w] += [2]
    return [t[w] for w in words]


def numbers(words, d):
    t = {0.5: 1}
    for k in range(len(words)):
        x = k * 0.5 if k % 3 else -0.0
        t[x] = t.get(x, k) + 1
        n = float("nan")
        t[n] = t.get(n, 2) + 1
    return len(t), [v for v in t.values()]


def pairs(words, d):
    t = {}
    for w in words:
        k = (w, len(w))
        t[k] = t.get(k, 0) + 1
        m = len(w)
        t[w, m] = t.get((w, m), 0) + 10
    return [t[w, len(w)] for w in words]


def loops(words, d):
    last, kept = "", []
    for w in words:
        if w == "ab":
            continue
        for c in (w + last)[::-1]:
            last = c
            if c == "b":
                break
            kept.append(c)
        for w in w.split("t"):  # noqa: B020
            last += w
        kept.append(w)
        if len(kept) > 60:
            break
    for k in d:
        last = k
        for k in [k, last + k]:  # noqa: B020
            kept.append(k)
    return last, w, kept


def rows(words, d):
    m = [[w, w + "!"] for w in words]
    seen = []
    for row in m:
        for w in row:
            row = [w]
            seen.append(row)
    for row in m:
        m[0] = row
        row = m[-1]
    return seen, row, m


ALL = [
    counts,
    more,
    in_place,
    missing,
    other_key,
    changed,
    texts,
    lists,
    numbers,
    pairs,
    loops,
    rows,
]


@pytest.mark.parametrize("f", ALL)
def test_as_in_cpython(f):
    rng = random.Random(f.__name__)
    compiled = njit(f)
    filled = njit(lambda words, d: {w: len(w) for w in words[:2]} if d else {"a": 3})

    def one(seed):
        rng = random.Random(seed)
        words = [rng.choice(WORDS) + rng.choice(["", "t"]) for _ in range(rng.randrange(1, 30))]
        if rng.random() < 0.3:
            words = ["".join(list(w)) for w in words * 9]  # other objects that are equal
        theirs = {w: len(w) for w in words[:2]} if len(words) > 3 else {"a": 3}
        mine = filled(words, len(words) > 3)
        given = copy.deepcopy(words)
        expected, got = f(words, theirs), compiled(given, mine)
        if isinstance(expected, tuple) and isinstance(expected[0], dict):
            assert got[1:] == expected[1:]
            got, expected = got[0], expected[0]
        if isinstance(expected, dict):
            got, expected = list(dict(got).items()), list(expected.items())
        assert got == expected and given == words

    one(0)
    gc.collect()
    before = _core.memory_stats("cpu")["used_bytes"]
    for _ in range(25):
        one(rng.random())
    gc.collect()
    assert _core.memory_stats("cpu")["used_bytes"] == before
