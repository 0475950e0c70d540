"""Basic, integer and boolean indexing: reading and assigning."""

import itertools

import numbus as nb
import numpy as np
import pytest
from helpers import assert_same_outcome, both, draw, outcome, run_both, supported_dtypes

A = np.arange(60.0).reshape(3, 4, 5)
I1 = np.array([2, 0, 1, -1])
M1 = np.array([True, False, True])

READS = [
    "a[1, 2, 3]", "a[-1, -1, -1]", "a[0]", "a[1:, 2]", "a[[0, 2]]", "a[[0, 2], [1, 3]]",
    "a[i[:3]]", "a[i % 3, i]", "a[:, i]", "a[..., i]", "a[1, :, i]", "a[:, 0, [1, 1, 2]]",
    "a[i[:2, None] % 3, i[None, :]]", "a[[True, False, True]]", "a[m]", "a[m, 1]", "a[m][:, 0]",
    "a[a > 20]", "a[a > 1000]", "a[:, a[0, :, 0] > 3]", "a[~m]", "a[m, ..., 2]",
    "a[xp.array(1)]", "a[()]", "a[None, i % 3]", "a[:, [2, 1], ::-1]", "a[[[0, 1], [2, 0]]]",
    "a[xp.nonzero(a > 50)]", "a[xp.where(a > 50)]", "xp.take(a, i % 3, axis=0)", "xp.take(a, i)",
    "xp.nonzero(a > 30)", "xp.argwhere(a > 55)", "xp.flatnonzero(a > 55)",
    "xp.compress([True, False, True], a, axis=0)", "a.item(7)", "a.item(1, 2, 3)", "a.take([1, 2])",
]  # fmt: skip

WRITES = [
    "a[1, 2, 3] = -1", "a[0] = 7", "a[0] = xp.arange(5.0)", "a[1:, 2] = 5",
    "a[..., 0] = a[..., 1]", "a[[0, 2]] = 3", "a[[0, 2], [1, 3]] = xp.arange(5.0)",
    "a[:, i] = 1.5", "a[i[:2], 1] += 10", "a[a > 20] = 0", "a[a > 20] *= 2", "a[m] = 4",
    "a[m] = xp.ones((4, 5))", "a[m, 1] = xp.arange(5.0)", "a[a > 40] = xp.arange(19.0)",
    "a[:, a[0, :, 0] > 3] = 8", "a[a > 5000] = 3", "a[...] = 1", "a[None] = 2", "a[::-1] = a[::1]",
    "a[1] = [1, 2, 3, 4, 5]", "a[0, 0, 0] += 3", "a[[0, 0, 0]] += 1", "a[xp.nonzero(a > 50)] = -3",
    "a[:] = a[:, ::-1]", "a[2:1] = 9", "a[True] = 3", "a[m] += a[m]", "xp.put(a, [1, 2], [5, 6])",
    "xp.place(a, a > 30, [1, 2])", "xp.copyto(a, 3.0, where=a > 9)", "xp.putmask(a, a > 9, 4.0)",
    "xp.fill_diagonal(a[0], 3)", "a.flat[3] = 9",
]  # fmt: skip


@pytest.mark.parametrize("text", READS)
def test_read(xp, text):
    both(xp, text, a=A, i=I1, m=M1)


@pytest.mark.parametrize("text", WRITES)
def test_write(xp, text):
    run_both(xp, text, a=A, i=I1, m=M1)


@pytest.mark.parametrize("text", READS)
def test_read_pending(xp, text):
    """The same on an array that is not computed yet, then changed."""
    want_a, i, m = A * 2 + 1, I1, M1
    a = xp.array(A) * 2 + 1
    want = eval(text, {"a": want_a, "i": i, "m": m, "xp": np})
    got = eval(text, {"a": a, "i": xp.array(i), "m": xp.array(m), "xp": xp})
    if isinstance(want, (int, float)):
        assert got == want
    elif not isinstance(want, tuple):
        assert np.array_equal(np.asarray(got), want)


def test_read_is_a_value(xp):
    """Advanced indexing copies, also while everything is still lazy."""
    run_both(
        xp,
        "x = a[i]\nx += 1\ny = a[a > 5]\ny *= 0\nz = a[[0, 1]]\na[0] = 99\nw = a[i[:1]]",
        a=np.arange(10.0),
        i=I1,
    )


def test_numpy_integers_and_scalars_as_indices(xp):
    both(xp, "a[k]", a=A, k=np.array(2))
    a = xp.array(A)
    assert float(a[np.int64(1), np.int32(2), 3]) == A[1, 2, 3]
    assert float(a[a[0, 0, 1].astype("int64")][0, 0]) == A[1, 0, 0]


def test_iteration_and_len(xp):
    a = xp.array(A)
    assert len(a) == 3
    assert [float(row.sum()) for row in a] == [row.sum() for row in A]
    assert [float(x) for x in a[0, 0]] == A[0, 0].tolist()
    assert a.tolist() == A.tolist()
    assert 17.0 in a and -5.0 not in a
    with pytest.raises(TypeError):
        len(xp.array(3.0))


# ---- gathers and scatters as parts of kernels ------------------------------------------------
def test_gather_fuses(xp, core):
    x, i = xp.array(np.arange(100.0)), xp.array(np.arange(40, dtype="int64"))
    core.set_mode("compiled")
    for _ in range(2):
        xp.synchronize()
        core.reset_stats()
        s = float((x[i * 2 + 1] * 2 + x[i]).sum())
        stats = core.stats()
    core.set_mode("auto")
    assert s == (np.arange(1, 81, 2) * 2 + np.arange(40)).sum()
    assert (stats["launches"], stats["flushes"], stats["fallbacks"]) == (1, 1, 0), stats


def test_last_of_repeated_indices_stays(xp):
    r = np.random.default_rng(0)
    i, v = r.integers(0, 50, 5000), r.random(5000)
    a, b = np.zeros(50), xp.zeros(50)
    a[i] = v
    b[xp.array(i)] = xp.array(v)
    np.testing.assert_array_equal(np.asarray(b), a)
    a[i % 7] = a[i]
    b[xp.array(i) % 7] = b[xp.array(i)]
    np.testing.assert_array_equal(np.asarray(b), a)


def test_wrong_index_that_is_known_raises_at_the_call(xp):
    x = xp.array(np.arange(10.0))
    for wrong in (10, -11):
        with pytest.raises(IndexError, match=rf"axis 0 with size 10.*got index {wrong}; expected"):
            x[xp.array([1, wrong])]
            xp.synchronize()  # a GPU looks when the kernel runs
        with pytest.raises(IndexError):
            x[xp.array([1, wrong])] = 0
            xp.synchronize()
    np.testing.assert_array_equal(np.asarray(x), np.arange(10.0))


@pytest.mark.recorded
def test_wrong_index_that_is_pending_names_its_line_and_its_dependents_only(xp):
    x = xp.array(np.arange(10.0))
    i = xp.array([3, 4]) * 3
    y = x[i] * 2  # this line
    z = x + 1
    with pytest.raises(IndexError, match=r"test_indexing\.py, line \d+\); got index 12; expected"):
        np.asarray(y)
    with pytest.raises(IndexError, match="got index 12"):
        y + 1
    np.testing.assert_array_equal(np.asarray(z), np.arange(10.0) + 1)


@pytest.mark.recorded
def test_a_wrong_index_loses_only_what_depends_on_it(xp, core):
    """All of this is one kernel, and one more that reads a good and a spoilt value."""
    x, k = xp.array(np.arange(10.0)), xp.array([3, 4])
    core.synchronize()
    i, j = k * 3, k + 1
    wrong = x[i] + 1
    right = x[j] * 2
    both = wrong + right
    total = xp.sum(wrong)
    sums = xp.sum(right)
    other = x * 3
    with pytest.raises(IndexError, match="got index 12; expected"):
        core.synchronize()
    for lost in (wrong, both, total):
        with pytest.raises(IndexError, match="got index 12"):
            np.asarray(lost + 0)
    np.testing.assert_array_equal(np.asarray(right), [8, 10])
    np.testing.assert_array_equal(np.asarray(i), [9, 12])
    np.testing.assert_array_equal(np.asarray(other), np.arange(10.0) * 3)
    assert float(sums) == 18


@pytest.mark.recorded
def test_two_wrong_indices_lose_what_depends_on_either(xp, core):
    x, k = xp.array(np.arange(10.0)), xp.array([30, 4])
    core.synchronize()
    good, first, second = x[k % 10] + 1, x[k + 1] + 1, x[k * 9] + 1
    with pytest.raises(IndexError, match=r"axis 0 with size 10.*got index 31"):
        core.synchronize()
    np.testing.assert_array_equal(np.asarray(good), [1, 5])
    with pytest.raises(IndexError, match="got index 31"):
        np.asarray(first)
    # Where one is looked at after the other, each has its own error.
    with pytest.raises(IndexError, match=r"got index (31|270)"):
        np.asarray(second)


@pytest.mark.recorded
def test_a_wrong_target_stays_as_it_was(xp, core):
    a, k = xp.arange(10.0), xp.array([3, 12])
    core.synchronize()
    v, i = k * 5, k + 0
    a += 1
    a[i] = 5.0
    b = a + 1
    c = xp.full(3, 2.0)
    with pytest.raises(IndexError, match="got index 12"):
        core.flush()
    np.testing.assert_array_equal(np.asarray(v), [15, 60])
    np.testing.assert_array_equal(np.asarray(a), np.arange(10.0) + 1)
    np.testing.assert_array_equal(np.asarray(c), [2, 2, 2])
    with pytest.raises(IndexError, match="got index 12"):
        np.asarray(b)
    a[xp.array([1, 1])] = xp.array([3.0, 4])
    assert float(a[1]) == 4


@pytest.mark.parametrize("change", ["a += 1", "a[0] = 7", "a[k % 3] = 2", "a[a > 2] = 0"])
def test_nothing_is_written_behind_a_wrong_target(xp, change):
    """The next write to the array finds the wrong index, and is not done either."""
    a, k = xp.arange(10.0), xp.array([3, 12])
    i = k + 0
    with pytest.raises(IndexError, match="got index 12"):
        a[i] = xp.array([1.0, 2])
        exec(change)
    np.testing.assert_array_equal(np.asarray(a), np.arange(10.0))


def test_zero_d_through_a_mask(xp):
    for m in (True, False):
        run_both(xp, "a[m] = b[m]\na[~m] += 1", a=np.array(1.0), b=np.array(2.0), m=np.array(m))


@pytest.mark.parametrize("name", ["place", "putmask"])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize(
    "value",
    [float("nan"), [float("nan"), 1], 2.5, [2.5, 1], 300, (300,), 2.5 + 1j, np.float64(2.5),
     np.array([2.5]), np.array(1, "uint8"), True],
    ids=str,
)  # fmt: skip
def test_place_and_putmask_convert_as_numpy_does(xp, name, dtype, value):
    want = np.arange(4).astype(dtype)
    a = xp.array(want)
    error = None
    try:
        getattr(np, name)(want, want > 1, value)
    except (ValueError, TypeError, OverflowError) as e:
        error = type(e)
    if error is None:
        getattr(xp, name)(a, a > 1, value)
    else:
        with pytest.raises(error):
            getattr(xp, name)(a, a > 1, value)
    np.testing.assert_array_equal(np.asarray(a), want)


SUMS = "add subtract minimum maximum".split()
NUMBERS = "int32 int64 uint32 uint64 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", NUMBERS + ["int8", "uint16", "float16", "bool"])
@pytest.mark.parametrize("name", SUMS + ["multiply", "logical_or"])
def test_at(xp, core, name, dtype):
    if dtype == "bool" and name == "subtract":
        pytest.skip("NumPy has no such loop")
    r = np.random.default_rng(3)
    want = r.integers(0, 9, (6, 5)).astype(dtype)
    i, v = r.integers(-6, 6, 40), r.integers(1, 4, (40, 5)).astype(dtype)
    a = xp.array(want)
    before = core.stats()["fallbacks"]
    getattr(np, name).at(want, i, v)
    getattr(xp, name).at(a, xp.array(i), xp.array(v))
    np.testing.assert_array_equal(np.asarray(a), want)
    ours = name in SUMS and dtype in NUMBERS
    if ours and not (dtype[0] == "c" and name in ("minimum", "maximum")):
        assert core.stats()["fallbacks"] == before


def test_at_keeps_nan_and_broadcasts(xp):
    a, v = A[0].copy(), np.array([-9.0, np.nan, 99, 4, 5])
    for name in ("minimum", "maximum"):
        text = f"xp.{name}.at(a, (i, slice(None)), v)\nxp.{name}.at(a, [0, 0], xp.nan)"
        run_both(xp, text, a=a, i=np.array([1, 1, 3]), v=v)
    run_both(xp, "xp.add.at(a, i, 1)\nxp.add.at(a, (0, i), 2.5)", a=a, i=np.array([1, 1]))


def test_at_with_a_wrong_index_changes_nothing(xp):
    a = xp.zeros(4)
    with pytest.raises(IndexError, match="got index 7"):
        xp.add.at(a, xp.array([1, 7]) + 0, 1.0)
        np.asarray(a)
    np.testing.assert_array_equal(np.asarray(a), np.zeros(4))


ITEMS = {
    "1": 1,
    ":": slice(None),
    "2:": slice(2, None),
    "None": None,
    "...": Ellipsis,
    "[2, 0]": [2, 0],
    "column": np.array([[1], [2]]),
    "int32": np.array([-1, 1], np.int32),
    "0-d": np.array(1),
    "mask": np.array([True, False, True]),
}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_mix_of_items(xp, length):
    """Reading, and writing, by all tuples of kinds of items, as NumPy does."""
    x = np.arange(27.0).reshape(3, 3, 3)
    for names in itertools.product(ITEMS, repeat=length):
        index = tuple(ITEMS[name] for name in names)
        ours = tuple(xp.array(i) if isinstance(i, np.ndarray) else i for i in index)
        try:
            want = x[index]
        except IndexError:
            with pytest.raises(IndexError):
                xp.array(x)[ours]
            continue
        for given in (index, ours):
            np.testing.assert_array_equal(xp.array(x)[given], want, str(names))
            a, b = x.copy(), xp.array(x)
            a[index], b[given] = -want, -xp.array(want)
            np.testing.assert_array_equal(b, a, str(names))


def test_elements_and_rows_in_turn(xp):
    x = xp.arange(6.0).reshape(2, 3)
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]
    assert [float(v) for v in x[1][::-1]] == [5, 4, 3] and list(xp.zeros(0)) == []
    rows = iter(x)
    next(rows)[:] = 7
    assert x.tolist() == [[7, 7, 7], [3, 4, 5]]
    assert [row.tolist() for row in rows] == [[3, 4, 5]] and next(rows, None) is None
    with pytest.raises(TypeError, match="0-d"):
        iter(xp.array(1.0))


@pytest.mark.parametrize("dtype", supported_dtypes())
def test_lists(xp, dtype):
    x = draw((2, 3, 4), dtype)
    for part in (x, x.T, x[:, ::-1], x[0, 0, 0:0], x[0, 1, 2]):
        want = np.asarray(part)
        got = xp.array(want).tolist()
        assert got == want.tolist() and type(got) is type(want.tolist())


@pytest.mark.parametrize(
    "index",
    [np.s_[:, 0, ..., [0, 1], 1], np.s_[:, 1, [0, 1], ..., 2], np.s_[:, [0, 1], ..., [1, 0], 1]],
)
def test_an_ellipsis_of_no_axes_keeps_arrays_apart(index):
    x = np.arange(120).reshape(2, 3, 4, 5)
    np.testing.assert_array_equal(np.asarray(nb.array(x)[index]), x[index])


def test_take_is_in_c_order(xp, mode):
    """Whatever the order of the operand; where an axis before is empty no index is looked at."""
    x = np.arange(24.0).reshape(2, 3, 4)
    orders = {
        "C": lambda m, a: a,
        "F": lambda m, a: m.asfortranarray(a),
        "moved": lambda m, a: m.transpose(a, (2, 0, 1)),
        "repeated": lambda m, a: m.broadcast_to(a[:1], (2, 3, 4)),
    }
    for name, order in orders.items():
        for indices in (0, -1, [0, 1], [[1, 0]], []):
            at = np.array(indices, int)
            for axis in (0, 1, 2, None):
                want = np.take(order(np, x), at, axis=axis)
                got = xp.take(order(xp, xp.array(x)), at, axis=axis)
                assert_same_outcome(got, want, what=f"{name} {indices} {axis}")

    def read(a):  # a GPU finds wrong indices when it has come that far
        np.asarray(a)
        return a

    for shape, index, axis in [
        ((0, 0), 0, 1), ((0, 3), 5, 1), ((0, 0), [0], 1), ((2, 0), [0], 1), ((2, 0, 0), [0], 1),
        ((0, 2), [5], 0), ((0,), [], 0), ((0,), 0, None), ((3, 0), 5, 0), ((3, 0), [], 1),
    ]:  # fmt: skip
        at = np.array(index, int)
        want = outcome(lambda: np.take(np.empty(shape), at, axis=axis))  # noqa: B023
        got = outcome(lambda: read(xp.take(xp.array(np.empty(shape)), at, axis=axis)))  # noqa: B023
        assert_same_outcome(got, want, what=f"{shape} {index} {axis}")
        got = outcome(lambda: read(xp.take(xp.zeros(shape), xp.array(at) + 0, axis=axis)))  # noqa: B023
        assert_same_outcome(got, want, what=f"{shape} {index} {axis}, indices pending")
