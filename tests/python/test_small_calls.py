"""What small calls do to memory: operands that overlap, are read-only, empty, reversed, pending
or of other types; NumPy is the oracle, and calls of many elements do the same.
"""

import threading

import numpy as np
import pytest
from conftest import DEVICE
from helpers import draw

pytestmark = pytest.mark.numbus
TYPES = ["float64", "float32", "int64", "int8", "uint16", "bool", "complex128", "float16"]
LAYOUTS = {
    "plain": lambda x: x,
    "reversed": lambda x: x[..., ::-1],
    "transposed": lambda x: x.T,
    "every other": lambda x: x[::2],
    "of one": lambda x: x[:1],
    "empty": lambda x: x[:0],
    "line": lambda x: x.reshape(-1),
    "element": lambda x: x[0, 0, ...],
}
ERRORS = (TypeError, OverflowError, ValueError, IndexError)
ON_HOST = DEVICE == "cpu"
# NumPy reads elements that it has written already; it writes to an array that is read-only.
OF_THE_HOST = ("flat itself, in place", "add.at, in place")


def outcome(call, *args):
    try:
        return call(*args), None
    except ERRORS as error:
        return None, next(t for t in ERRORS if isinstance(error, t))


def finished(call):
    """With errors that a GPU finds when the work is done."""

    def f(m, a):
        result = call(m, a)
        m.synchronize()
        return result

    return call if ON_HOST else f


def same(got, want, what):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for x, y in zip(got, want, strict=True):
            same(x, y, what)
        return
    x, y = np.asarray(got), np.asarray(want)
    assert x.shape == y.shape and x.dtype == y.dtype, (what, x.dtype, y.dtype, x.shape, y.shape)
    assert x.tobytes() == y.tobytes() or np.array_equal(x, y, equal_nan=y.dtype.kind in "fc"), (
        f"{what}\n{x}\n{y}"
    )


READS = {
    "atleast_1d": lambda m, a: m.atleast_1d(a),
    "atleast_2d": lambda m, a: m.atleast_2d(a),
    "atleast_3d": lambda m, a: m.atleast_3d(a),
    "ascontiguousarray": lambda m, a: m.ascontiguousarray(a),
    "asfortranarray": lambda m, a: m.asfortranarray(a),
    "asanyarray": lambda m, a: m.asanyarray(a),
    "isfortran": lambda m, a: m.isfortran(a),
    "real": lambda m, a: m.real(a),
    "imag": lambda m, a: m.imag(a),
    "permute_dims": lambda m, a: m.permute_dims(a),
    "matrix_transpose": lambda m, a: m.matrix_transpose(a),
    "tobytes": lambda m, a: np.frombuffer(a.tobytes(), np.uint8),
    "clip": lambda m, a: m.clip(a, -0.5, 0.75),
    "clip below": lambda m, a: m.clip(a, None, float("nan")),
    "clip zero": lambda m, a: m.copysign(1, m.clip(a * 0.0, -0.0, 0.0)) if a.dtype == "f8" else 0,
    "divmod": lambda m, a: m.divmod(a, a + a),
    "cumsum": lambda m, a: m.cumsum(a, 0),
    "cumprod": lambda m, a: m.cumprod(a),
    "repeat": lambda m, a: m.repeat(a, 3, 0),
    "repeat flat": lambda m, a: m.repeat(a, 2),
    "repeat each": lambda m, a: m.repeat(a, m.arange(a.shape[0]), axis=0),
    "take": lambda m, a: m.take(a, m.array([0, -1, 0]), -1),
    "take many": lambda m, a: m.take(m.concatenate([a.ravel()] * 200).reshape(2, -1),
                                     m.array([1, 1, -2, 0]), 1),
    "compress": lambda m, a: m.compress([True, False, True][: a.shape[0]], a, 0),
    "delete": lambda m, a: m.delete(a, [0, -1], 0),
    "delete slice": lambda m, a: m.delete(a, slice(None, None, -2)),
    "insert": lambda m, a: m.insert(a, [0, 1], 1, 0),
    "argwhere": lambda m, a: m.argwhere(a),
    "unique": lambda m, a: m.unique(a, return_counts=True),
    "isin": lambda m, a: m.isin(a, a.ravel()[:2]),
    "partition": lambda m, a: m.partition(a, 1, -1)[..., 1],
    "flat": lambda m, a: [x for x in a.flat],
    "flat slice": lambda m, a: a.flat[1::2],
    "flat back": lambda m, a: a.flat[-1],
    "flat numpy": lambda m, a: a.flat[np.int64(1)],
    "flat mask": lambda m, a: a.flat[m.ravel(a) != 0],
    "flat indices": lambda m, a: a.flat[m.array([1, 0, -1])],
    "flat length": lambda m, a: len(a.flat),
    "vecdot": lambda m, a: m.vecdot(a, a) if a.dtype.kind in "iu" else 0,
    "matvec": lambda m, a: m.matvec(a, a[0]) if a.dtype.kind in "iu" else 0,
}  # fmt: skip


def write(call):
    def f(m, a):
        result = call(m, a)
        assert result is None
        return a

    return f


def assign(m, a, index, value):
    a[index] = value


def assign_flat(a, index, value):
    a.flat[index] = value


WRITES = {
    "put": lambda m, a: m.put(a, [0, -1, 1], [1, 0]),
    "put itself": lambda m, a: m.put(a, m.array([2, 0, 1]), a.ravel()[:2]),
    "put a view": lambda m, a: m.put(a, m.array([2, 0, 1]), a[::-1]),
    "put wrong": lambda m, a: m.put(a, [0, 77, 1], [1, 0]),
    "put clipped": lambda m, a: m.put(a, [0, 77, 1, -99], [1, 0], "clip"),
    "put wrapped": lambda m, a: m.put(a, [0, 77, 1, -99], [1, 0], mode="wrap"),
    "place": lambda m, a: m.place(a, a.copy() > 0, [1, 0]),
    "putmask": lambda m, a: m.putmask(a, a > 0, [1, 0]),
    "copyto number": lambda m, a: m.copyto(a, 1.5),
    "copyto itself": lambda m, a: m.copyto(a[1:], a[:-1]),
    "copyto reversed": lambda m, a: m.copyto(a, a[::-1]),
    "copyto where": lambda m, a: m.copyto(a, a[::-1], where=a.copy() != 0),
    "copyto shape": lambda m, a: m.copyto(a, m.arange(77).astype(a.dtype)),
    "fill_diagonal": lambda m, a: m.fill_diagonal(a, 1),
    "fill_diagonal itself": lambda m, a: m.fill_diagonal(a, a.ravel()[1:3]),
    "add.at": lambda m, a: np.add.at(a, m.array([0, 0, -1]), a[0].copy()),
    "partition": lambda m, a: a.partition(a.shape[-1] - 1) if a.shape[-1] == 1 else None,
    "sort": lambda m, a: a.sort(),
    "setitem itself": lambda m, a: assign(m, a, m.array([1, 0]), a[:2]),
    "setitem back": lambda m, a: assign(m, a, m.array([-1, 0, 0]), a[:1]),
    "setitem number": lambda m, a: assign(m, a, m.array([1, 0]), 1),
    "setitem wrong": lambda m, a: assign(m, a, m.array([1, 9]), 1),
    "setitem shape": lambda m, a: assign(m, a, m.array([1, 0, 1]), m.ones(2, a.dtype)),
    "flat": lambda m, a: assign_flat(a, slice(None), 1),
    "flat one": lambda m, a: assign_flat(a, -1, 2.75),
    "flat large": lambda m, a: assign_flat(a, 0, 300),
    "flat complex": lambda m, a: assign_flat(a, 0, 1j),
    "flat indices": lambda m, a: assign_flat(a, m.array([1, 0]), 1),
    "flat itself": lambda m, a: assign_flat(a, slice(None), a[::-1]),
    "flat beyond": lambda m, a: assign_flat(a, 5000, 1),
}
CALLS = READS | {f"{name}, in place": write(call) for name, call in WRITES.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", CALLS)
def test_layouts_and_states(xp, core, name, dtype):
    call = CALLS[name]
    if name in OF_THE_HOST and not ON_HOST:
        pytest.skip("what NumPy does here hangs on the order of its reads and writes")
    for seed, (layout, view) in enumerate(LAYOUTS.items()):
        x = draw((4, 3), dtype, 0 if dtype[0] in "ub" else -3, 3, seed)
        for state in ("at rest", "pending", "read-only", "bodies"):
            if state == "read-only" and name in READS:
                continue
            ours, theirs = xp.array(x), x.copy()
            if state == "pending":
                ours = xp.where(xp.array(np.ones(x.shape, bool)), ours, ours)
            else:
                xp.synchronize()
            mine, other = view(ours), view(theirs)
            if isinstance(other, np.generic):
                continue
            if state == "read-only":
                mine.flags.writeable = other.flags.writeable = False
            before = core.answer_few(state != "bodies")
            try:
                want, error = outcome(call, np, other)
                got, mistake = outcome(finished(call), xp, mine)
            finally:
                core.answer_few(before)
            what = f"{name}, {dtype}, {layout}, {state}: {mistake} {error}"
            if state == "read-only" and (not other.size or name == "copyto itself, in place"):
                continue  # nothing is written, which is refused here and taken there
            body = state != "at rest" or not ON_HOST
            if layout == "element" and name.startswith(("repeat", "take")) and body:
                continue  # arrays without axes have none to name
            if name.startswith("setitem") and error in (IndexError, ValueError):
                assert mistake in (IndexError, ValueError), what
            else:
                assert mistake is error, what
            if error is None:
                same(got, want, what)
            same(ours, theirs, what)


def test_masks_that_are_written(xp):
    """A mask of the array's own memory is read before anything is written."""
    x = draw((40,), "bool", 0, 1, 1)
    for n in range(1, 20):
        a = xp.array(x)
        xp.synchronize()
        xp.copyto(a[:-n], a[n:], where=a[n - 1 : -1])
        y = x.copy()
        y[:-n] = np.where(x[n - 1 : -1], x[n:], x[:-n])
        same(a, y, n)


def test_memory_of_others(xp):
    """Arrays over memory of NumPy's, in its types and byte orders."""
    x = np.arange(12.0)
    a = xp.asarray(x)
    xp.put(a, [0, 1], a[::-1])
    xp.copyto(a[1:], a[:-1])
    y = np.arange(12.0)
    np.put(y, [0, 1], y[::-1])
    np.copyto(y[1:], y[:-1])
    same(a, y, "memory of NumPy's")
    swapped = np.arange(5.0).astype(">f8")
    for f in (
        lambda m, i: m.put(m.zeros(5), i, swapped),
        lambda m, i: m.insert(m.ones(3), i, swapped),
    ):
        want, error = outcome(f, np, [0, 1, 2, 0, 1])
        got, mistake = outcome(f, xp, [0, 1, 2, 0, 1])
        assert mistake is error
        if error is None and want is not None:
            same(got, want, "byte order")
    assert not xp.shares_memory(xp.ones(3), xp.ones(3))
    b = xp.ones(6)
    assert xp.shares_memory(b, b[2:]) and xp.may_share_memory(b[::2], b)
    if ON_HOST:  # elsewhere these are copies
        assert xp.shares_memory(xp.asarray(x), xp.asarray(x))
    same(xp.frombuffer(b"\x01\x02", "u1"), np.array([1, 2], "u1"), "")
    same(xp.fromiter([], "f8"), np.zeros(0), "empty")
    with pytest.raises(TypeError):
        del b.flat[0]


def test_several_threads(xp):
    """Views that calls lend are each thread's own."""
    wrong = []

    def work(n):
        a = xp.arange(float(n))
        for _ in range(300):
            found = xp.insert(a, [0, n], -1.0)
            if found.tolist() != [-1.0, *range(n), -1.0]:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 5, 9, 33)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_draws(xp):
    for seed in range(3):
        ours, theirs = (m.random.Generator(m.random.Philox(seed)) for m in (xp, np))
        for n in (None, 0, 5, (2, 3), 25_000):
            same(ours.random(n), theirs.random(n), n)
            same(
                ours.normal(xp.arange(3.0), size=(2, 3)),
                theirs.normal(np.arange(3.0), size=(2, 3)),
                n,
            )
            same(ours.integers(0, 10**6, 5), theirs.integers(0, 10**6, 5), n)
        a, b = xp.arange(7), np.arange(7)
        ours.shuffle(a), theirs.shuffle(b)
        same(a, b, "shuffle")
        assert outcome(ours.random, -1)[1] is outcome(theirs.random, -1)[1]
