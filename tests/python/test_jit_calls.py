"""Calls of compiled functions: the first of its kind is converted in general, later ones are read
as most calls are; both say the same, and what does not fit is told as Python tells it.
"""

import gc
import sys
import threading

import numbus as nb
import numpy as np
import pytest
from numbus import guvectorize, njit

OURS = type(nb.ones(1))


@njit
def same(x):
    return x


@njit
def described(x):
    return x.ndim, x.shape, x.strides


@njit
def first(x):
    return x[0] + x[0]


@njit
def scaled(x, factor=2.0, *, shift=0.5):
    return x * factor + shift


@njit
def store(x, value):
    x[0] = value
    return x


NUMBERS = [
    True, False, 0, -7, 2**31, 2**62, -(2**63), 2**63 - 1, 2**63, 1.5, float("inf"), -0.0, 1 - 2j,
    *[t(3) for t in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64)],
    np.uint64(2**63), np.float16(1.5), np.float32(0.1), np.float64(0.1), np.complex64(1 + 0.1j),
    np.complex128(2j), np.bool_(True), None, "text", (), (1, 2.5), (1, (2, True), None), np.intc(4),
]  # fmt: skip


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers_come_back(value):
    expected = value.item() if isinstance(value, np.generic) else value
    for _ in range(3):
        found = same(value)
        assert type(found) is type(expected) and repr(found) == repr(expected)


def arrays():
    base = np.arange(24.0)
    yield from (base, base[::2], base[::-1], base.reshape(4, 6), base.reshape(4, 6).T)
    yield from (base.reshape(2, 3, 4)[:, 1], base[:0], np.empty((0, 3)).T, base.reshape(24, 1))
    readonly = base.copy()
    readonly.flags.writeable = False
    yield from (readonly, np.arange(5, dtype=np.int8), np.ones(3, np.complex64), np.array(2.0))
    yield np.broadcast_to(np.float64(2), (3, 2))
    yield np.zeros(4, ">f8").astype("<f8")
    yield np.asfortranarray(base.reshape(4, 6))


@pytest.mark.parametrize("k", range(len(list(arrays()))))
def test_layouts(k):
    x = list(arrays())[k]
    for _ in range(3):
        known = 3 if x.size else 2  # strides of no elements are anybody's
        assert described(x)[:known] == (x.ndim, x.shape, x.strides)[:known]
        found = same(x)
        assert type(found) is np.ndarray and found.dtype == x.dtype
        assert np.array_equal(found, x) and found.flags.writeable == x.flags.writeable
        if x.size:
            assert np.shares_memory(found, x)
        ours = nb.asarray(x.copy())
        assert type(same(ours)) is OURS and np.array_equal(np.asarray(same(ours)), x)
    assert len({described(y) for y in arrays()}) > 8  # none of them is taken for another


def test_what_is_no_plain_array_is_converted_in_general():
    x = np.arange(4.0)
    assert first(x) == first(x) == 0.0
    with pytest.raises(TypeError):
        first(x.astype(">f8"))
    masked = nb.asarray(x)[nb.asarray(x) > 1]
    assert first(masked) == 4.0 and first(nb.asarray(x) + 3) == 6.0


def test_results_keep_arguments_alive():
    for make in (lambda: np.arange(1000.0), lambda: nb.arange(1000.0)):
        results = [same(make()) for _ in range(3)]
        gc.collect()
        for r in results:
            assert np.array_equal(np.asarray(r), np.arange(1000.0))
    x = np.arange(1000.0)
    before = sys.getrefcount(x)
    for _ in range(5):
        same(x)
    assert sys.getrefcount(x) == before


def test_what_is_written_to_ours_is_seen_by_pending_work():
    for _ in range(3):
        x = nb.arange(5.0)
        y = x + 1
        store(x, 10.0)
        z = x + 1
        assert y.tolist() == [1, 2, 3, 4, 5] and z.tolist() == [11, 2, 3, 4, 5]
        mask = x > 2
        picked = x[mask]
        store(x, 0.0)
        assert picked.tolist() == [10, 3, 4]
        total = x.sum()
        store(x, 5.0)
        assert float(total) == 10 and float(x.sum()) == 15


def test_keywords_and_defaults():
    @njit
    def f(a, b=2.0, c=3.0):
        return a + 10 * b + 100 * c

    def plain(a, b=2.0, c=3.0):
        return a + 10 * b + 100 * c

    calls = [((1.0,), {}), ((1.0, 5.0), {}), ((1.0,), {"c": 7.0}), ((), {"a": 1.0, "c": 2.0}),
             ((1.0, 2.0, 3.0), {}), ((1.0,), {"c": 4.0, "b": 1.0})]  # fmt: skip
    for _ in range(2):
        for args, kwargs in calls:
            assert f(*args, **kwargs) == plain(*args, **kwargs)
            assert f(*args, **{"".join(list(k)): v for k, v in kwargs.items()}) == plain(
                *args, **kwargs
            )
    wrong = [((), {}), ((1.0, 2.0, 3.0, 4.0), {}), ((1.0,), {"a": 2.0}), ((1.0,), {"d": 2.0})]
    for args, kwargs in wrong:
        with pytest.raises(TypeError):
            plain(*args, **kwargs)
        with pytest.raises(TypeError, match="wrong number of arguments"):
            f(*args, **kwargs)
    for _ in range(2):
        assert scaled(1.0) == 2.5 and scaled(1.0, 3.0, shift=1.0) == 4.0


def test_errors_of_later_calls():
    @njit
    def quotient(a, b):
        return a // b

    for _ in range(3):
        assert quotient(7, 2) == 3
        with pytest.raises(ZeroDivisionError):
            quotient(7, 0)
        with pytest.raises(IndexError):
            first(np.ones(0))
        with pytest.raises(ValueError, match=r"read-?only|write"):
            x = np.ones(2)
            x.flags.writeable = False
            store(x, 1.0)


def test_threads():
    @njit(nogil=True)
    def total(x, n):
        s = 0.0
        for _ in range(n):
            for k in range(x.size):
                s += x[k]
        return s

    x, ours, failed = np.ones(50), nb.ones(50), []

    def work():
        for _ in range(200):
            if total(x, 20) != 1000 or total(ours, 20) != 1000:
                failed.append(1)

    all_threads = [threading.Thread(target=work) for _ in range(4)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    assert not failed


def test_many_kinds_of_arguments():
    for n in range(1, 5):
        for t in (np.int8, np.float32, np.float64, np.int64, np.complex128):
            x = np.ones((1,) * n, t)
            for _ in range(2):
                assert described(x)[0] == n


def test_methods_and_attributes():
    class Point:
        @njit
        def scale(self, x):
            return 2 * x

    assert callable(same) and same.__name__ == "same" and same.py_func(3) == 3
    same.note = "free"
    assert same.note == "free" and Point.scale is Point.__dict__["scale"]
    assert "same" in repr(same)


def test_declared_signatures_still_convert():
    @njit("float64(float64, int64)")
    def f(a, b):
        return a / b

    for _ in range(3):
        assert f(3, 2) == 1.5 and type(f(3, True)) is float
        with pytest.raises(TypeError, match="no matching signature"):
            f("a", 1)


@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def add(a, b, out):
    for k in range(a.size):
        out[k] = a[k] + b


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(a, b, out):
    out[0] = 0.0
    for k in range(a.size):
        out[0] += a[k] * b[k]


@pytest.mark.parametrize("ours", [False, True])
def test_generalised_functions_again_and_again(ours):
    rng = np.random.default_rng(5)
    make = nb.asarray if ours else np.asarray
    for shape in [(3,), (3,), (2, 3), (2, 3), (4, 2, 3), (0,), (0, 3), (2, 0), (3,)]:
        for _ in range(3):
            x, y = rng.random(shape), rng.random(shape)
            for b in (2.0, np.float64(2), 2, np.float32(2), np.array(2.0)):
                found = add(make(x), b)
                assert type(found) is (OURS if ours else np.ndarray)
                assert np.array_equal(np.asarray(found), x + 2)
            found = dot(make(x), make(y))
            assert np.allclose(np.asarray(found), (x * y).sum(-1)) and found.shape == shape[:-1]
            out = make(np.empty(shape))
            assert add(make(x), 1.0, out) is out and np.array_equal(np.asarray(out), x + 1)
    with pytest.raises(ValueError):
        dot(make(np.ones(3)), make(np.ones(4)))
    assert float(dot(make(np.ones(3)), make(np.ones(3)))) == 3
    assert np.asarray(dot(make(np.ones((2, 3))), make(np.ones((1, 3))))).tolist() == [3, 3]
