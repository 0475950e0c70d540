"""Single elements, read and written: every type, layout, kind of index and kind of value."""

import os
import warnings

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus]

ON_DEVICE = os.environ.get("NUMBUS_DEVICE", "cpu") != "cpu"
TYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
LAYOUTS = {
    "vector": lambda a: a,
    "strided": lambda a: a[1::3],
    "reversed": lambda a: a[::-1],
    "matrix": lambda a: a.reshape(4, 6),
    "transposed": lambda a: a.reshape(4, 6).T[1:],
    "of three axes": lambda a: a.reshape(2, 3, 4)[:, ::-1, 1:],
    "of one element": lambda a: a[5:6].reshape(()),
}


def values(letter):
    a = (np.arange(24) * 7 % 25).astype(letter)
    if letter[0] in "fc":
        a[:3] = [np.nan, np.inf, -0.0]
    return a


def indices(shape):
    """Kinds of numbers, the last ones out of bounds or not of the right number."""
    yield tuple(0 for _ in shape)
    yield tuple(n - 1 for n in shape)
    yield tuple(-1 for _ in shape)
    yield tuple(-n for n in shape)
    yield tuple(np.int64(n // 2) for n in shape)
    yield tuple(np.int8(-1) for _ in shape)
    yield tuple(np.uint64(n - 1) for n in shape)
    yield tuple(n for n in shape)
    yield tuple(-n - 1 for n in shape)
    yield tuple(2**70 for _ in shape)
    yield (*(0 for _ in shape), 0)
    if shape:
        yield tuple(True for _ in shape)
        yield tuple(1.0 for _ in shape)


def numbers(xp):
    ours = xp.array([2.5, -1.0]), xp.array([3, -(2**40)])
    yield from (0, 1, -3, 200, 2**31, 2**53 + 1, 2**63, -(2**63), 2**64, True)
    yield from (0.5, -0.0, float("nan"), 1e300, 2j)
    yield from (np.float64(1.25), np.int64(-7), np.float32(0.1), np.int8(-3), np.uint64(2**63))
    yield from (np.bool_(True), np.complex128(1 + 2j), np.float16(3))
    yield from (np.float64(-7.9), np.longlong(4))
    yield from (ours[0][0], ours[0][1], ours[1][0], ours[1][1])
    yield from (ours[0].sum(), np.array(6))


def twin(value):
    """A number of ours as NumPy's; numbers of a GPU are arrays to NumPy."""
    return np.asarray(value)[()] if hasattr(value, "__array__") else value


def outcome(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work()
        except (IndexError, TypeError, ValueError, OverflowError) as error:
            return type(error)


def same(x, y):
    if isinstance(x, type) or isinstance(y, type):
        assert x is y
        return
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype and x.shape == y.shape
    assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("letter", TYPES)
def test_reads(xp, letter, layout):
    a = values(letter)
    theirs, ours = LAYOUTS[layout](a), LAYOUTS[layout](xp.array(a))
    for index in indices(theirs.shape):
        forms = [index, index[0]] if len(index) == 1 else [index]
        for i in forms:
            same(outcome(lambda i=i: theirs[i]), outcome(lambda i=i: ours[i]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("letter", TYPES)
def test_writes(xp, letter, layout):
    a = values(letter)
    theirs, ours = a.copy(), xp.array(a)
    view, own = LAYOUTS[layout](theirs), LAYOUTS[layout](ours)

    def write(to, index, value):
        to[index] = value

    for index in indices(view.shape):
        for value in numbers(xp):
            if letter == "?" and isinstance(value, complex):
                continue  # refused where NumPy asks for its truth
            for i in [index, index[0]] if len(index) == 1 else [index]:
                expected = outcome(lambda v=value, i=i: write(view, i, twin(v)))
                same(expected, outcome(lambda v=value, i=i: write(own, i, v)))
                same(theirs, ours)


@pytest.mark.parametrize("letter", ["i8", "f8", "f4", "?"])
def test_writes_are_seen_by_what_follows_and_not_by_what_came_before(xp, letter):
    for n in (10, 600, 40_000):
        theirs, ours = np.ones(n, letter), xp.ones(n, letter)
        kept = []
        for k in range(4):
            kept.append((theirs + theirs, ours + ours))  # pending where it is large
            theirs[k] = 0
            ours[k] = 0
            kept.append((theirs * theirs, ours * ours))
            view, own = theirs[::2], ours[::2]
            view[k] = 1
            own[k] = 1
            assert own[k] == view[k] and ours[2 * k] == theirs[2 * k]
        for x, y in kept:
            same(x, y)


def test_masks_keep_their_values_where_elements_are_written(xp):
    theirs, ours = np.arange(50.0), xp.arange(50.0)
    results = []
    for a in (theirs, ours):
        mask = a > 10
        chosen = a[mask]
        mask[3] = True
        mask[40] = False
        a[20] = -1.0
        results.append((chosen * 2, a[mask]))
    for x, y in zip(*results, strict=True):
        same(x, y)


def test_read_only_arrays_refuse_elements(xp):
    theirs = np.arange(4.0)
    ours = xp.broadcast_to(xp.arange(4.0), (3, 4))
    with pytest.raises(ValueError):
        ours[0, 0] = 1.0
    ours = xp.asarray(theirs)
    for a in (theirs, ours):
        a.flags.writeable = False
        with pytest.raises(ValueError):
            a[0] = 1.0


def test_scalars_that_are_dropped_and_made_again_keep_apart(xp):
    a, b = xp.arange(300.0), xp.arange(300)
    held = [(a[k], b[k]) for k in range(300)]
    for _ in range(3):
        sums = [x + n for x, n in held]
        assert [float(s) for s in sums] == [2.0 * k for k in range(300)]
        if not ON_DEVICE:
            assert [type(x).__name__ for x, _ in held[:2]] == ["float64", "float64"]
    del held
    again = [a[k] for k in range(300)]
    assert [float(x) for x in again] == list(range(300))
    assert [hash(x) for x in again] == [hash(float(k)) for k in range(300)]
