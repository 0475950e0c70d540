"""Dicts inside compiled functions, and numba.typed.Dict: their memory, which Python shares."""

import functools
import pickle

import numpy as np
import pytest
from numbus import njit, prange, types
from numbus.kernels import CompileError, UnsupportedError
from numbus.kernels.typed import Dict

X = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.6])
I = np.array([3, 1, 4, 1, 5])


def plain(value):
    """Dicts of Python's, and numbers of Python's, in place of Numbus's and NumPy's."""
    if isinstance(value, (dict, Dict)):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def made(n):
    a = {}
    for i in range(n):
        a[i * 7 % 13] = i * 0.5
    b = {1: 2, 3: 4, 1: 5}  # noqa: F601
    c = {(i, i % 2 == 0): i for i in range(n) if i % 3}
    d = dict(zip(range(n), [1.5] * n))
    e = dict([(True, 2), (False, 3)])
    return a, b, c, d, e, len(a), bool(b), not a


def methods(n):
    a = {1: 2, 3: 4, n: 6}
    del a[1]
    p = a.pop(3)
    q = a.pop(77, -1)
    r = a.setdefault(9, 1)
    s = a.setdefault(9, 2)
    b = a.copy()
    b[n] = 0
    b.update({9: 8, 10: 11})
    b.update([(12, 13)])
    t = b.popitem()
    c = a | b
    a |= {5: 5}
    g = b.get(n, -1), b.get(99, -1), b.get(99, 0.5)
    b.clear()
    return a, b, c, p, q, r, s, t, g, n in a, n not in b, 9 in a.keys()


def loops(n):
    a = {i: i * i for i in range(n)}
    s = 0
    for k in a:
        if k == 1:
            continue
        if k == 5:
            break
        s += k
    for v in a.values():
        s = s * 3 + v
    for k, v in a.items():
        s = s * 3 + k * v
    for i, (k, v) in enumerate(a.items()):
        s += i * k - v
    for k, i in zip(a, range(3)):
        s += k * i
    t = [k + 1 for k in a], list(a), list(a.values()), list(a.items()), sorted(a), sum(a)
    return s, t, max(a), min(a.values()), sum(a.values()), {v: k for k, v in a.items()}


def compared(n):
    a, b = {1: 2.0, 3: 4.0}, {3: 4.0}
    b[1] = 2.0
    c = {1: (2, 3)}
    return a == b, a != b, a == {1: 2.0}, c == {1: (2, 3)}, c == {1: (2, n)}, a == 3


def floats(x):
    a = {0.0: 1}
    a[-0.0] = 2
    for v in x:
        a[v] = a.get(v, 0) + 1
    return a, np.float64(0.5) in a, 3.0 in a


def grouped(x):
    a = {}
    for v in x:
        k = int(v) % 3
        if k not in a:
            a[k] = [v]
        else:
            a[k].append(v)
    b = {}
    for v in x:
        b.setdefault(int(v) % 3, []).append(v)
    c = {}
    for v in x:
        c[int(v) % 2] = []
    for v in x:
        c[int(v) % 2].append(v)
    return a, b, c


def nested(n):
    a = {}
    for i in range(n):
        a[i] = {i: i * 2}
    a[0][7] = 8
    for k in a:
        a[k][100] = k
    return a, len(a[0]), a[1][1]


def in_others(n):
    a = [{1: n}, {2: n}]
    a[0][5] = n
    b = ({1: 2}, n)
    b[0][3] = n
    return a, b, a[0] == {1: n, 5: n}


def shared(n):
    a = {1: n}
    b = a
    b[2] = n
    c = d = {3: 4}
    c[n] = 1

    def put(k):
        a[k] = k

    put(9)
    return a, b, c, d, added(a, n)


def added(d, n):
    d[n] = -1
    return d[n]


def widened(n):
    a = {1: 2}
    a[2] = 0.5
    return a


def deleted(n):
    a = {i: i for i in range(n)}
    for i in range(0, n, 2):
        del a[i]
    for i in range(n, 2 * n):
        a[i] = i
    for i in range(1, n, 4):
        a.pop(i)
    for i in range(50):
        a[-1] = i
        a.pop(-1)
    return a, len(a), list(a.values())[:3]


@pytest.mark.parametrize("f, argument", [
    (made, 20), (methods, 7), (loops, 6), (compared, 3), (floats, X), (grouped, X), (nested, 3),
    (in_others, 4), (shared, 5), (deleted, 41),
])  # fmt: skip
def test_as_in_python(f, argument):
    got, want = plain(njit(f)(argument)), plain(f(argument))
    assert got == want
    assert repr(got) == repr(want)  # the order, and the types of numbers


def test_values_have_one_type():
    assert repr(njit(widened)(1)) == "{1: 2.0, 2: 0.5}"


def test_arrays_as_values():
    def f(x):
        a = {1: x, 2: x * 2}
        a[3] = x[1:]
        a[2] += 1
        for k in a:
            a[k][0] = k
        return a

    x = X.copy()
    got, want = njit(f)(x), f(X.copy())
    del x  # the dict keeps its own reference
    assert list(got) == list(want)
    for k in want:
        np.testing.assert_array_equal(got[k], want[k])


def lookup(d, k):
    return d[k]


@pytest.mark.parametrize("keys, absent", [
    ((1, 2), 3), ((1.5, 2.5), -0.5), ((True,), False), (((1, 2.5, True),), (1, 2.5, False)),
    (((1, (2, 3)),), (1, (2, 4))), ((float("inf"),), float("nan")),
])  # fmt: skip
def test_key_error_has_the_key(keys, absent):
    d = Dict({k: i for i, k in enumerate(keys)})
    f = njit(lookup)
    assert [f(d, k) for k in keys] == list(range(len(keys)))
    with pytest.raises(KeyError) as error:
        f(d, absent)
    assert repr(error.value.args) == repr((absent,))
    assert "return d[k]" in error.value.__notes__[0]
    for change in (popped, delete):
        with pytest.raises(KeyError) as error:
            njit(change)(d, absent)
        assert repr(error.value.args) == repr((absent,))


def popped(d, k):
    return d.pop(k)


def delete(d, k):
    del d[k]


def test_a_size_that_changes_ends_a_loop():
    def grows(n):
        d = {1: 2}
        for k in d:
            d[k + 1] = n
        return d

    def shrinks(n):
        d = {1: 2, 2: 3}
        for v in d.values():
            d.pop(1, v)
        return d

    def of_comprehension(n):
        d = {1: 2, 2: 3}
        return [d.pop(1, 0) for k in d]

    def leaves_in_time(n):
        d = {1: 2, 2: 3}
        for k in d:
            del d[k]
            break
        return d

    for f in (grows, shrinks, of_comprehension):
        for g in (f, njit(f)):
            with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
                g(1)
    assert njit(leaves_in_time)(1) == {2: 3}
    with pytest.raises(KeyError, match="dictionary is empty"):
        njit(emptied)()


def emptied():
    d = {1: 2}
    d.popitem()
    return d.popitem()


def test_printed(capsys):
    njit(lambda n: print({1: 2.5, 3: n}, {(1, 2): True}))(4)
    assert capsys.readouterr().out == "{1: 2.5, 3: 4.0} {(1, 2): True}\n"


def test_in_a_parallel_loop():
    @njit(parallel=True)
    def f(n):
        d = {i: i * 2 for i in range(n)}
        out = np.zeros(n)
        for i in prange(n):
            own = {i: 1}
            own[2 * i + 1] = d[i]
            if i in d:
                for k, v in own.items():
                    out[i] += k * v
        return out

    np.testing.assert_array_equal(f(1000), [i + (2 * i + 1) * 2 * i for i in range(1000)])


def filled(d, n):
    d[n] = n
    return d


MISTAKES = [
    (lambda n: {1: 2, 2.5: 3}, "keys of two types in one dict: int and float"),
    (lambda n: {2: 2, True: 3}, "keys of two types in one dict: int and bool"),
    (lambda n: {1: 2}[1.0], "a key of the type float for a dict"),
    (lambda n: {1j: 2}, "keys of the type complex"),
    (lambda n: dict(a=1), "dict.. with keywords"),
    (lambda n: {1: np.zeros(2)} == {1: np.zeros(2)}, "comparing dict"),
    (lambda n: (1, np.zeros(2)) in {1: np.zeros(2)}.items(), "'in' of items"),
    (lambda n: n in {1: np.zeros(2)}.values(), "'in' of values that are array"),
    (lambda n: len({}), "an empty dict here"),
    (lambda n: {}.popitem(), "an empty dict here"),
    (lambda n: filled({}, n), "an empty list or dict for a function"),
]


@pytest.mark.parametrize("f, message", MISTAKES, ids=[m for _, m in MISTAKES])
def test_not_yet(f, message):
    with pytest.raises(UnsupportedError, match=message) as error:
        njit(f)(1)
    assert "test_jit_dicts.py:" in str(error.value)


def test_mistakes():
    for f, message in [
        (lambda n: {1: 2} + {3: 4}, "operator [+] does not work on dict"),
        (lambda n: {1: 2} < {3: 4}, "have no order"),
        (lambda n: {1: 2}.append(3), "has no method 'append'"),
        (lambda n: {1: 2}.get(1, default=3), "takes no keywords"),
    ]:
        with pytest.raises(CompileError, match=message):
            njit(f)(1)


def test_not_in_kernels():
    from numbus import cuda

    @cuda.jit
    def kernel(x):
        d = {1: 2}
        x[0] = d[1]

    with pytest.raises(UnsupportedError, match="dicts in a kernel"):
        kernel[1, 1](np.zeros(1))

    @cuda.jit
    def taking(x, d):
        x[0] = d[1]

    with pytest.raises(UnsupportedError, match="as an argument of a kernel"):
        taking[1, 1](np.zeros(1), Dict({1: 2}))


def test_changing_a_shared_dict_in_a_parallel_loop():
    @njit(parallel=True)
    def f(n):
        d = {1: 2}
        for i in prange(n):
            d[i] = i
        return d

    with pytest.raises(UnsupportedError, match="changing the dict 'd' in a parallel loop"):
        f(3)


# ---- numba.typed.Dict ----------------------------------------------------------------------------
def test_typed_dict_is_shared():
    @njit
    def put(d, n):
        for i in range(n):
            d[i] = i * 2
        return d

    d = Dict.empty(types.int64, types.float64)
    d[1] = 2.5
    e = put(d, 3)
    assert d == {1: 2.0, 0: 0.0, 2: 4.0} == e
    assert list(d) == [1, 0, 2]
    e[7] = 1
    del d[0]
    assert d == e == {1: 2.0, 2: 4.0, 7: 1.0}
    assert repr(d) == "{1: 2.0, 2: 4.0, 7: 1.0}"


def test_typed_dict_in_python():
    d = Dict()
    assert len(d) == 0 and d == {} and 1 not in d and list(d.items()) == []
    with pytest.raises(KeyError):
        d[1]
    d[1] = 2
    d[5] = 3
    assert d.pop(1) == 2 and d.get(9) is None and d.setdefault(9, 4) == 4
    d.update({6: 7})
    assert d.copy() == d and d.popitem() == (6, 7) and list(d.values()) == [3, 4]
    assert pickle.loads(pickle.dumps(d)) == d == Dict({5: 3, 9: 4})
    for k in list(d):
        del d[k]
    assert not d
    with pytest.raises(KeyError):
        del d[1]
    e = Dict({1: 2})
    with pytest.raises(RuntimeError):
        for k in e:
            e[k + 1] = 0
    with pytest.raises(ValueError, match="negative"):
        Dict.empty(types.int64, types.int64, -1)


def test_typed_dict_made_inside():
    from numbus.compat.numba.typed import Dict as NumbaDict

    vectors, pair = types.float64[:], types.UniTuple(types.int64, 2)

    @njit
    def f(n):
        a = Dict.empty(types.int64, types.float64)
        b = NumbaDict.empty(key_type=types.int64, value_type=vectors)
        c = Dict.empty(pair, types.float64[:])
        d = Dict()
        for i in range(n):
            a[i] = i
            b[i] = np.arange(i * 1.0)
            c[i, 0] = np.zeros(1)
            d[i] = i > 1
        return a, b, c, d

    a, b, c, d = f(3)
    assert (a, d) == ({0: 0.0, 1: 1.0, 2: 2.0}, {0: False, 1: False, 2: True})
    assert repr(dict(a)) == "{0: 0.0, 1: 1.0, 2: 2.0}"
    assert [v.size for v in b.values()] == [0, 1, 2] and list(c) == [(0, 0), (1, 0), (2, 0)]


def test_typed_dict_in_a_signature():
    f = njit("float64(DictType(int64, float64), int64)")(lookup)
    assert f(Dict({1: 2.5}), 1) == 2.5


def test_an_array_in_a_typed_dict_outlives_its_call():
    @njit
    def keep(d, x):
        d[1] = x

    d = Dict.empty(types.int64, types.float64[::1])
    keep(d, np.arange(1e5))
    junk = [np.full(100_000, -1.0) for _ in range(5)]
    assert d[1].sum() == np.arange(1e5).sum() and len(junk) == 5


def test_many_keys():
    def f(keys, values):
        d = {}
        for i in range(keys.size):
            d[keys[i]] = values[i]
        total = 0.0
        for k in keys[::-1]:
            total += d[k]
        return total, len(d)

    r = np.random.default_rng(1)
    keys = np.concatenate([r.integers(-(2**62), 2**62, 5000), np.arange(5000) << 32])
    values = r.integers(0, 1000, keys.size) * 1.0
    assert njit(f)(keys, values) == f(keys, values)


@functools.cache
def steps():
    @njit
    def run(what, keys, values):
        d = {}
        seen = [0]
        for i in range(what.size):
            k, v, w = keys[i], values[i], what[i]
            if w < 5:
                d[k] = v
            elif w == 5:
                seen.append(d.pop(k, -1))
            elif w == 6:
                seen.append(d.get(k, -2))
            elif w == 7:
                seen.append(d.setdefault(k, v))
            elif w == 8 and k in d:
                del d[k]
            elif w == 9 and v % 40 == 0:
                d.clear()
            elif w == 10 and d:
                a, b = d.popitem()
                seen.append(a * 1000 + b)
            elif w == 11:
                for a, b in d.items():
                    seen.append(a - b)
        return d, seen

    return run


@pytest.mark.parametrize("seed", range(30))
def test_random_steps(seed):
    """The same steps in CPython."""
    r = np.random.default_rng(seed)
    n = 2000
    what, values = r.integers(0, 12, n), r.integers(0, 1000, n)
    keys = r.integers(0, (3, 30, 3000)[seed % 3], n)
    want = steps().py_func(what, keys, values)
    assert plain(steps()(what, keys, values)) == plain(want)


def merged(n):
    a = {i: i * 1.5 for i in range(n)}
    b = {1: 10.0, 2: 20.0}
    c = {**a, **b}
    d = {0: -1.0, **c, 5: 2.0}
    e = {**d}
    e[77] = 1.0
    return c, d, e, len(d)


def merged_words(text):
    a = {w: len(w) for w in text.split()}
    return {"first": 1, **a, "last": 2}, {**{}, **a}


def from_keys(n):
    a = dict.fromkeys(range(n), 2.5)
    b = dict.fromkeys([3, 4, 3], 1)
    c = dict.fromkeys(("x", "y"), "z")
    d = dict.fromkeys("hello", 0)
    for k in "help":
        d[k] = d.get(k, 10) + 1
    return a, b, c, d


def in_values(n):
    d = {i: i * 0.5 for i in range(n)}
    w = {i: "w" * i for i in range(n)}
    t = {i: (i, "x") for i in range(n)}
    found = [1.5 in d.values(), 1.25 in d.values(), 3 not in d.values()]
    found.append("ww" in w.values())
    found.append("v" not in w.values())
    found.append((2, "x") in t.values())
    found.append((2, "y") in t.values())
    return found


@pytest.mark.parametrize("n", [0, 1, 4, 40])
@pytest.mark.parametrize("f", [merged, from_keys, in_values])
def test_entries_of_other_dicts_keys_and_values(f, n):
    assert njit(f)(n) == f(n)


def test_entries_of_dicts_of_words():
    assert njit(merged_words)("a b cc a") == merged_words("a b cc a")
