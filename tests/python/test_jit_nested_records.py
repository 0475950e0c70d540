"""Structured arrays whose fields are records or arrays themselves, and single records."""

import numpy as np
import pytest
from numbus import njit

POINT = np.dtype([("x", "i4"), ("y", "f4")])
INNER = np.dtype([("q", POINT), ("c", "c16")])
BODY = np.dtype([("m", "f8"), ("p", POINT), ("v", "f8", (3,)), ("in", INNER)])
FIRST = np.dtype([("v", "i2", (2, 2)), ("n", "u1"), ("p", POINT)], align=True)


def made(dtype, shape, seed=3):
    raw = np.random.default_rng(seed).integers(0, 100, np.dtype(dtype).itemsize * 64)
    a = np.zeros(shape, dtype)
    for k, one in enumerate(a.reshape(-1)):
        one["p"]["x"], one["p"]["y"] = raw[k], raw[k + 1] / 2
        one["v"] = np.reshape(raw[k : k + one["v"].size], one["v"].shape)
    return a


def reads(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]["p"]["x"] * a[i]["p"]["y"] + a["p"][i]["x"] + a["p"]["y"][i]
        s += a[i]["v"].sum() + a["v"][i].max()
    for r in a:
        s += r["p"]["x"]
        q = r["p"]
        s += q["y"] + q[0]
    return s, len(a), a.shape, a.ndim, a.size, a["p"].shape, a["p"]["x"].sum(), a[1:]["p"]["x"][0]


def writes(a):
    for i in range(len(a)):
        a[i]["p"]["x"] += 2
        a["p"]["y"][i] = i
    a["p"][0] = a[1]["p"]
    a[1]["p"] = (7, 2.5)
    a[2] = a[0]
    r = a[-1]
    r["p"]["x"] = 99
    r["v"][...] = 5
    a["p"]["x"][1:] = a["p"]["x"][:-1]
    a[0]["p"]["y"] = a["v"].sum()


def grid(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j]["p"]["x"] += i - j
            s += a[i][j]["p"]["x"] * a[i, j]["p"]["y"]
    return s, a[0].shape, a[:, 1].size, a.ndim


@pytest.mark.parametrize("dtype", [BODY, FIRST], ids=["nested", "aligned"])
@pytest.mark.parametrize(("f", "shape"), [(reads, 5), (writes, 5), (grid, (2, 3))])
def test_as_numpy(f, shape, dtype):
    mine, theirs = made(dtype, shape), made(dtype, shape)
    assert njit(f)(mine) == f(theirs)
    assert mine.tobytes() == theirs.tobytes()
    wide = made(dtype, (*mine.shape[:-1], 2 * mine.shape[-1]))
    expected = f(wide[..., ::2].copy())
    assert njit(f)(wide[..., ::2]) == expected


def test_deep():
    @njit
    def f(a):
        a[1]["in"]["q"]["x"] = 4
        a["in"]["c"][0] = 1 + 2j
        return a[1]["in"]["q"]["x"] + a["in"]["q"]["x"].sum(), a[0]["in"]["c"]

    a = made(BODY, 3)
    assert f(a) == (8, 1 + 2j) and a["in"]["q"]["x"][1] == 4


def test_single_records():
    def f(r):
        return r["m"] + r["p"]["x"] * r["p"]["y"] + r["v"][1] + r["v"].sum()

    a = made(BODY, 3)
    for k in range(3):
        assert njit(f)(a[k]) == f(a[k])
        assert njit(lambda t, n: t[0]["p"]["x"] + n)((a[k], 1), 2) == a[k]["p"]["x"] + 2
    # NumPy says that a record's memory is not to be written to by others.
    with pytest.raises(Exception, match=r"read-?only"):
        njit(lambda r: store(r))(a[0])


def store(r):
    r["p"]["x"] = 3


OTHERS = [np.void(b"abcd"), np.datetime64("2020-01-01"), np.timedelta64(3, "D"), np.bytes_(b"a")]


@pytest.mark.parametrize("value", OTHERS)
def test_scalars_of_other_types_are_refused(value):
    for given in (value, (1, value)):
        with pytest.raises(TypeError, match="cannot take an argument"):
            njit(lambda x: x)(given)


def test_mistakes():
    a = made(BODY, 3)
    for f in (
        lambda a: a[0, 1],
        lambda a: a[0]["none"],
        lambda a: a[0]["p"]["z"],
        lambda a: a[np.array([1, 2])],
        lambda a: a[...],
    ):
        with pytest.raises(Exception, match=r"\[jit\]"):
            njit(f)(a)


POINT = np.dtype([("a", "f8"), ("b", "i2")], align=True)
ROW = np.dtype([("x", "i4"), ("p", POINT), ("v", "f4", (2,)), ("q", POINT)], align=True)


def some_rows(n):
    rows = np.zeros(n, ROW)
    rows["x"] = np.arange(n)
    rows["p"]["a"] = np.arange(n) * 0.5
    rows["q"]["b"] = -np.arange(n)
    rows["v"] = np.arange(2 * n).reshape(n, 2)
    return rows


def one_of(a, i):
    return a[i]


def by_another(a, i):
    return one_of(a, i)


RESULTS = [
    lambda a: a[2],
    lambda a: a[1:3],
    lambda a: a[::-2],
    lambda a: a,
    lambda a: a["p"],
    lambda a: a[1]["p"],
    lambda a: a["q"][1],
    lambda a: a["q"][::2],
    lambda a: (a[0], 3, a["p"][2:]),
    lambda a: by_another(a, 3),
    lambda a: (by_another(a, 1), by_another(a, 2)["q"]),
    lambda a: a[:0],
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("k", range(len(RESULTS)))
def test_records_come_back(k, packed):
    f = RESULTS[k]
    a = some_rows(5)
    if packed:
        a = a.astype([(n, ROW[n]) for n in ROW.names])
    got, want = njit(f)(a), f(a)
    for g, w in zip(*[v if isinstance(v, tuple) else (v,) for v in (got, want)], strict=True):
        assert type(g) is type(w)
        if not isinstance(w, int):
            assert g.dtype == w.dtype and g.shape == w.shape
            np.testing.assert_array_equal(g, w)
            if isinstance(g, np.ndarray) and g.size:
                assert g.strides == w.strides and np.shares_memory(g, a)


def test_a_record_that_comes_back_is_a_view():
    a = some_rows(3)
    r = njit(RESULTS[0])(a)
    a["x"][2] = 77
    assert r["x"] == 77
    r["x"] = 5
    assert a["x"][2] == 5


def test_records_of_several_arguments():
    a, b = some_rows(3), some_rows(4)
    b["x"] += 10

    @njit
    def f(a, b, n):
        if n:
            return a[1]
        return b[1]

    assert f(a, b, 1)["x"] == 1 and f(a, b, 0)["x"] == 11
    frozen = some_rows(3)
    frozen.flags.writeable = False
    assert not njit(RESULTS[1])(frozen).flags.writeable
