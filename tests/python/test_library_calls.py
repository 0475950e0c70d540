"""Calls of NumPy's functions on our memory: in the core, and by the body in Python."""

import collections
import itertools
import weakref

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

Pair = collections.namedtuple("Pair", "first second")


def twice(*args, **kwargs):
    return list(args), kwargs


# What is done with the operands, all of which NumPy has to see as its own.
FUNCTIONS = {
    "delete": lambda a, b: np.delete(a, 1, -1),
    "insert": lambda a, b: np.insert(a, 0, b, 0),
    "itself": lambda a, b: a,
    "both": lambda a, b: (a, [b, {"k": a}], Pair(b, 3)),
    "view": lambda a, b: a[..., ::-1],
    "transposed": lambda a, b: Pair(a.T, b[1:]),
    "fresh view": lambda a, b: (a + 1)[::2],
    "large": lambda a, b: np.tile(a, 400),
    "number": lambda a, b: (a.sum(), a.size, "text", None, a.dtype),
    "elements": lambda a, b: a.ravel()[0],
    "objects": lambda a, b: a.astype(object),
    "read-only": lambda a, b: np.broadcast_to(a.ravel()[0], (2, 2)),
    "writes": lambda a, b: a.__setitem__(..., b.ravel()[0]),
    "raises": lambda a, b: np.zeros(3)[7],
}
TYPES = ["?", "i1", "u8", "f2", "f4", "f8", "c16"]
LAYOUTS = {
    "dense": lambda a: a,
    "transposed": lambda a: a.T,
    "strided": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1],
    "empty": lambda a: a[:0],
    "broadcast": lambda a: a[:1, :1],
}


def same(xp, one, other, pairs):
    """The same structure, where arrays stand for the same arrays."""
    assert type(one) is type(other)
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for x, y in zip(one, other, strict=True):
            same(xp, x, y, pairs)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(xp, one[key], other[key], pairs)
    elif hasattr(one, "strides"):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.flags.writeable == other.flags.writeable
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
        assert [one is a for a, _ in pairs] == [other is b for _, b in pairs]
        for a, b in pairs:
            assert np.may_share_memory(np.asarray(one), np.asarray(a)) == np.may_share_memory(
                np.asarray(other), np.asarray(b)
            )
    else:
        assert one == other or one != one


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_ways_do_the_same(xp, name):
    from numbus.core.operands import library

    for letter, layout in itertools.product(TYPES, LAYOUTS.values()):
        found = []
        for way in (library, library.__wrapped__):
            rng = np.random.default_rng(3)
            a, b = (xp.asarray(rng.integers(0, 2, (4, 6)).astype(letter)) for _ in range(2))
            given = layout(a), layout(b)
            try:
                made = way(FUNCTIONS[name], given, {})
            except (IndexError, ValueError) as error:
                made = type(error), str(error)
            found.append((made, (a, b, *given)))
        (one, ours), (other, theirs) = found
        pairs = list(zip(ours, theirs, strict=True))
        same(xp, one, other, pairs)
        for a, b in pairs:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_operands_of_all_kinds(xp):
    from numbus.core.operands import library

    a, r = xp.arange(6.0), np.arange(3)
    number, waiting = a[2], (xp.arange(100_000.0) + 1).sum()
    for args in (
        ([a, [a, 3]], (a[1:], "x"), 2.5, True, 1 << 70),
        (number, [number], np.float32(2), r, [r]),
        (slice(a[1], 5), slice(1, 2), {"k": a}, Pair(a, 1), waiting),
        (np.ma.array([1, 2]), object, np.dtype("f8"), np.ma.zeros(2)),
        ([[[[[[a]]]]]], []),
    ):
        given, named = library(twice, args, {"x": args[0], "y": 1})
        again, others = library.__wrapped__(twice, list(args), {"x": args[0], "y": 1})
        same(xp, given, again, [(a, a)])
        same(xp, named, others, [(a, a)])
        seen = library(lambda *x: [str(type(i)) for i in x], args, {})
        assert not any("numbus" in text for text in seen)


def test_calls_of_few_elements(xp, core):
    from numbus.core.quick import few

    @core.composed
    @few(np.sort)
    def body(*args, **kwargs):
        return "body"

    a = xp.arange(6.0)
    xp.synchronize()
    assert body(a[::-1]).tolist() == a.tolist() and isinstance(body(a), xp.ndarray)
    assert body(a, axis=0).tolist() == a.tolist() and body([a, a]).tolist() == [a.tolist()] * 2
    pending, word = xp.zeros(600) + 1, xp.arange(6) > 2
    before = core.answer_few(True)
    for call in (
        lambda: body(xp.zeros(5000)),
        lambda: body([1, 2]),
        lambda: body(a, axis=7),
        lambda: body(pending * 2),
        lambda: body(a[word]),
        lambda: body(np.arange(3), a),
        lambda: body([1] * 100 + [a]),
    ):
        assert call() == "body"
    assert core.answer_few(False) and body(a) == "body" and not core.answer_few(before)


def test_what_was_lent_and_kept(xp, core):
    """A view that someone keeps stays one of the array; others are used again."""
    from numbus.core.quick import few

    kept = []

    def take(*arrays):
        kept.append([x for x in arrays if x.size > 3])
        return arrays[0].sum()

    body = core.composed(few(take)(lambda *arrays: None))
    for n in (2, 3, 4, 5, 6):
        for t in ("f8", "i2", "?", "c16"):
            a, b = xp.arange(n).astype(t), xp.ones((n, 2), t).T
            xp.synchronize()
            assert body(a, b, b) == np.arange(n).astype(t).sum()
            for x, y in zip(kept.pop(), (a, b, b) if n > 3 else (b, b)):
                assert x.shape == y.shape and x.dtype == y.dtype and x.strides == y.strides
                assert x.flags.c_contiguous == y.flags.c_contiguous
                assert x.flags.f_contiguous == y.flags.f_contiguous
                y += y
                y[..., 0] = 1
                np.testing.assert_array_equal(x, np.asarray(y))
                x[..., -1] = 0
                np.testing.assert_array_equal(x, np.asarray(y))


def test_results_that_a_caller_gave(xp):
    from numbus.core.operands import library

    a, out = xp.arange(4.0), np.zeros(4)
    assert library(np.negative, (a,), {"out": out}) is out and out[3] == -3
    assert library(np.modf, (a,), {"out": (out, None)})[0] is out
    ours = xp.zeros(4)
    assert library(np.negative, (a,), {"out": ours}) is ours and float(ours[3]) == -3


def test_memory_is_lent_as_long_as_numpy_has_it(xp, core):
    from numbus.core.operands import library

    kept = []
    a = xp.arange(600.0) + 1
    library(lambda x: kept.append(x), (a,), {})
    assert kept[0].base is not None and kept[0].flags.aligned and kept[0].flags.writeable
    kept[0][3] = -1
    a *= 2
    assert float(a[3]) == -2 == kept[0][3]
    gone = weakref.ref(kept[0])
    view = library(lambda x: x[::2], (a,), {})
    del a
    assert kept[0][0] == 2 and float(view[0]) == 2
    kept.clear()
    assert gone() is None and float(view[1]) == 6
    readonly = xp.broadcast_to(xp.ones(1), 3)
    with pytest.raises(ValueError, match="read-only"):
        library(lambda x: x.__setitem__(0, 2), (readonly,), {})
