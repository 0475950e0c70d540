"""Plain calls that the core answers without Python: their results are those of the functions."""

import inspect
import itertools
import warnings

import numpy as np
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

TYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SIZES = [0, 1, 2, 7, 100, 700]
LAYOUTS = {
    "dense": lambda a: a,
    "strided": lambda a: a[::2],
    "reversed": lambda a: a[::-1],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}


def sorted_in_place(a):
    a.sort()
    return a


def copied(xp, a, b):
    made = xp.zeros_like(a)
    xp.copyto(made, b)
    return made


# Functions of lines of one length.
LINES = {
    "dot": lambda xp, a, b: xp.dot(a, b),
    "method dot": lambda xp, a, b: a.dot(b),
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "operator": lambda xp, a, b: a @ b,
    "inner": lambda xp, a, b: xp.inner(a, b),
    "outer": lambda xp, a, b: xp.outer(a, b[:9]),
    "norm": lambda xp, a, b: xp.linalg.norm(a),
    "sort": lambda xp, a, b: xp.sort(a),
    # Ours keeps equal elements in order whether asked or not.
    "argsort": lambda xp, a, b: xp.argsort(a, **({"kind": "stable"} if xp is np else {"axis": 0})),
    "concatenate": lambda xp, a, b: xp.concatenate((a, b, a[:1])),
    "stack": lambda xp, a, b: xp.stack([a, b], axis=-1),
    "hstack": lambda xp, a, b: xp.hstack([a, b]),
    "vstack": lambda xp, a, b: xp.vstack((a, b)),
    "nonzero": lambda xp, a, b: xp.nonzero(a)[0],
    "flatnonzero": lambda xp, a, b: xp.flatnonzero(b),
    "take": lambda xp, a, b: a[xp.asarray(np.arange(len(a))[::-3].copy())],
    "rows": lambda xp, a, b: xp.stack((a, b))[xp.asarray(np.array([[1, -1], [0, -2]]))],
    "np.take": lambda xp, a, b: xp.take(a, xp.asarray(np.arange(len(a))[::2].copy())),
    "take method": lambda xp, a, b: a.take(xp.asarray(np.arange(len(a))[::2].copy()), 0),
    "vdot": lambda xp, a, b: xp.vdot(a, b),
    "where": lambda xp, a, b: xp.where(a > b, a, 3),
    "where alone": lambda xp, a, b: xp.where(a)[0],
    "sort method": lambda xp, a, b: sorted_in_place(a.copy()),
    "zeros_like": lambda xp, a, b: xp.zeros_like(a),
    "ones_like": lambda xp, a, b: xp.ones_like(a, dtype=np.float32),
    "array of arrays": lambda xp, a, b: xp.array([a, b]),
    "asarray of arrays": lambda xp, a, b: xp.asarray((a, b), "c16"),
    "np.copy": lambda xp, a, b: xp.copy(a),
    "flip": lambda xp, a, b: xp.flip(a),
    "diag": lambda xp, a, b: xp.diag(a[:20]),
    "repeat": lambda xp, a, b: xp.repeat(a, 3),
    "repeat method": lambda xp, a, b: a.repeat(0),
    "array": lambda xp, a, b: xp.array(a),
    "copy": lambda xp, a, b: a.copy(),
    "astype": lambda xp, a, b: a.astype("float32") if a.dtype.kind != "c" else a.astype("c8"),
    "astype half": lambda xp, a, b: a.astype(np.complex64),
    "view": lambda xp, a, b: a.view(),
    "conj": lambda xp, a, b: a.conj(),
    "result_type": lambda xp, a, b: xp.zeros(2, xp.result_type(a, b, a)),
    "result_type of others": lambda xp, a, b: xp.zeros(
        2, xp.result_type(a, 2.5, xp.zeros(1, "i4"))
    ),
    "column_stack": lambda xp, a, b: xp.column_stack((a, b)),
    "column_stack of matrices": lambda xp, a, b: xp.column_stack([a, xp.stack((b, b), -1), a]),
    "full_like": lambda xp, a, b: xp.full_like(a, 2),
    "full_like of floats": lambda xp, a, b: xp.full_like(a, 1.5),
    "full_like of a type": lambda xp, a, b: xp.full_like(a, 3, dtype="f4"),
    "reshape": lambda xp, a, b: a.reshape(-1, 1),
    "lexsort": lambda xp, a, b: a[xp.lexsort((a.real, b.real))],
    "copyto": lambda xp, a, b: copied(xp, a, b),
    "size": lambda xp, a, b: xp.size(a) + xp.size(b, 0),
}
for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "subtract"):
    LINES[name + ".reduce"] = lambda xp, a, b, name=name: getattr(xp, name).reduce(a[:9])
    LINES[name + ".accumulate"] = lambda xp, a, b, name=name: getattr(xp, name).accumulate(a)
SHAPES = [((3, 4), (4,)), ((4,), (4, 3)), ((3, 4), (4, 2)), ((1, 4), (4, 1)), ((5, 1), (1, 5))]
SHAPES += [((0, 4), (4, 2)), ((3, 0), (0, 2)), ((3, 4), (3,))]
SHAPES += [((40, 8), (8, 70)), ((9, 9), (9, 70))]
MATRICES = {
    "dense": lambda a: a,
    "Fortran": lambda a: np.asfortranarray(a) if isinstance(a, np.ndarray) else a.copy("F"),
    "strided": lambda a: a[..., ::2].repeat(2, -1)[..., : a.shape[-1]],
    "reversed": lambda a: a[::-1],
}


def values(letter, n, seed):
    rng = np.random.default_rng(seed)
    v = rng.integers(0, 2 if letter == "?" else 9, n)
    if np.dtype(letter).kind in "if":
        v = v - 4
    a = v.astype(letter)
    if letter in ("f4", "f8") and n > 4:
        a[1::3] = rng.random(len(a[1::3]))
    return a


@pytest.fixture
def ways(core):
    """Does something at rest at once, recorded, and with operands that are pending."""
    before = core.set_at_once(1024)

    def each(work):
        found = []
        for most, pending in ((1024, False), (0, False), (1024, True), (0, True)):
            core.synchronize()
            core.set_at_once(most)
            with np.errstate(all="ignore"):
                try:
                    made = work(pending)
                    found.append(np.asarray(made))
                except (TypeError, ValueError, IndexError) as error:
                    found.append(type(error))
        return found

    yield each
    core.set_at_once(before)


def waiting(xp, a, pending):
    """`a` as an array of ours whose elements are known, or recorded."""
    if not pending:
        return xp.asarray(a)
    whole = np.zeros(5000, a.dtype)
    whole[: a.size] = a.ravel()
    twice = xp.where(xp.asarray(np.ones(5000, bool)), xp.asarray(whole), xp.asarray(whole))
    return twice[: a.size].reshape(a.shape)


def compare(found, expected, exact):
    first = found[0]
    # What is pending is in C order, which may change the order of sums.
    for one, other in itertools.pairwise(found):
        if isinstance(first, type):
            assert other is one
            continue
        assert (other.dtype, other.shape) == (one.dtype, one.shape)
    for one, other in (found[:2], found[2:]):
        assert isinstance(first, type) or one.tobytes() == other.tobytes()
    if isinstance(expected, type):
        assert isinstance(first, type) and issubclass(first, expected)
        return
    assert not isinstance(first, type), first
    expected = np.asarray(expected)
    assert (first.dtype, first.shape) == (expected.dtype, expected.shape)
    if exact:
        np.testing.assert_array_equal(first, expected)
    else:
        size = np.finfo(expected.dtype).eps * 64 if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(first, expected, rtol=size, atol=size * 100)


def by_numpy(work):
    with np.errstate(all="ignore"):
        try:
            return work()
        except (TypeError, ValueError, IndexError) as error:
            return type(error)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("letter", TYPES)
def test_functions_of_lines(xp, ways, name, letter):
    call = LINES[name]
    inexact = ("dot", "method dot", "matmul", "operator", "inner", "norm", "vdot")
    exact = name not in (*inexact, "add.reduce", "multiply.reduce")
    for n in SIZES:
        for layout in LAYOUTS.values():
            a, b = layout(values(letter, n, 1)), layout(values(letter, n, 2))
            expected = by_numpy(lambda a=a, b=b: call(np, a, b))

            def work(pending, a=a, b=b, layout=layout):
                if pending:
                    return call(xp, waiting(xp, a, True), waiting(xp, b, True))
                return call(xp, xp.asarray(a), xp.asarray(b))

            compare(ways(work), expected, exact)


@pytest.mark.parametrize("letter", ["i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_products_of_matrices(xp, ways, letter, shapes):
    x, y = (values(letter, int(np.prod(s)), k).reshape(s) for k, s in enumerate(shapes))
    for left in MATRICES.values():
        for right in MATRICES.values():
            a, b = left(x), right(y)
            expected = by_numpy(lambda a=a, b=b: a @ b)
            for call in (xp.matmul, xp.dot, lambda p, q: p @ q):
                work = lambda pending: call(waiting(xp, a, pending), waiting(xp, b, pending))  # noqa
                compare(ways(work), expected, False)


def added(xp, a):
    made = a.copy() if a.dtype.kind != "b" else a.astype("i8")
    xp.add.at(made, xp.asarray(np.array([0, 0, len(a) - 1])), 3)
    return made


MATRIX_CALLS = {
    "flip": lambda xp, a: xp.flip(a),
    "diag": lambda xp, a: xp.diag(a),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, -1),
    "trace": lambda xp, a: xp.trace(a),
    "trace method": lambda xp, a: a.trace(),
    "swapaxes method": lambda xp, a: a.swapaxes(1, 0),
    "squeeze": lambda xp, a: xp.squeeze(a),
    "squeeze method": lambda xp, a: a[None, ..., None].squeeze(),
    "squeeze axis": lambda xp, a: xp.squeeze(a, 0),
    "squeeze last": lambda xp, a: a[..., None].squeeze(axis=-1),
    "diagonal": lambda xp, a: xp.diagonal(a),
    "diagonal method": lambda xp, a: a.diagonal(),
    "transpose method": lambda xp, a: a.transpose(),
    "ravel method": lambda xp, a: a.ravel(),
    "flatten": lambda xp, a: a.flatten(),
    "reshape method": lambda xp, a: a.reshape(2, -1),
    "reshape by a tuple": lambda xp, a: a.reshape((a.shape[-1], -1)),
    "reshape by words": lambda xp, a: a.reshape(shape=(-1,), order="F"),
    "reshape wrongly": lambda xp, a: a.reshape(7, 3),
    "astype": lambda xp, a: a.astype(np.float64) if a.dtype.kind != "c" else a.astype("c16"),
    "view": lambda xp, a: a.view(),
    "column_stack": lambda xp, a: xp.column_stack((a, a)),
    "full_like": lambda xp, a: xp.full_like(a, 1),
    "reduce": lambda xp, a: xp.maximum.reduce(a, -1),
    "reduce by words": lambda xp, a: xp.add.reduce(a, axis=1, keepdims=True),
    "accumulate": lambda xp, a: xp.add.accumulate(a, axis=1),
    "accumulate of all": lambda xp, a: xp.multiply.accumulate(a),
    "at": lambda xp, a: added(xp, a),
    "new axis": lambda xp, a: a[None, ..., 0, None],
    "many axes": lambda xp, a: a[(None,) * 70],
}


@pytest.mark.parametrize("name", MATRIX_CALLS)
@pytest.mark.parametrize("letter", TYPES)
def test_views_of_matrices(xp, ways, name, letter):
    call = MATRIX_CALLS[name]
    for shape in ((3, 4), (4, 3), (1, 1), (0, 3), (40, 40), (2, 3, 4)):
        whole = values(letter, int(np.prod(shape)), 1).reshape(shape)
        for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2]):
            expected = by_numpy(lambda view=view, whole=whole: call(np, view(whole)))

            def work(pending, view=view, whole=whole):
                return call(xp, view(waiting(xp, whole, pending)))

            compare(ways(work), expected, "trace" not in name and "reduce" not in name)
    a = xp.arange(9.0).reshape(3, 3)
    with pytest.raises(ValueError, match="read-only"):
        xp.diag(a)[0] = 1
    xp.flip(a)[0, 0] = 7
    xp.swapaxes(a, 0, 1)[0, 1] = 5
    assert float(a[2, 2]) == 7 and float(a[1, 0]) == 5


def test_views_share_memory(xp):
    a = xp.zeros((3, 3))
    assert a.squeeze() is a  # as NumPy has it
    one = a[None]
    views = (a.reshape(9), a.ravel(), a.transpose(), a.view(), one.squeeze(), one.squeeze(0))
    for view in views:
        assert view.base is a
        view[...] = 3
        assert float(a[1, 1]) == 3
        a[...] = 0
    assert a.flatten().base is None and a.conj() is a
    with pytest.raises(ValueError, match="read-only"):
        a.diagonal()[0] = 1


@pytest.mark.parametrize("letter", ["f4", "f8", "c16"])
def test_products_with_the_own_transpose(xp, ways, letter):
    for shape in ((3, 5), (20, 4), (9, 9), (1, 4)):
        a = values(letter, shape[0] * shape[1], 1).reshape(shape)
        for work in (lambda m: m @ m.T, lambda m: m.T @ m, lambda m: m[::-1] @ m.T):
            compare(ways(lambda p, a=a, f=work: f(waiting(xp, a, p))), work(a), False)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("letter", ["?", "i1", "u2", "i4", "i8", "u8"])
def test_bincount(xp, ways, letter, weighted):
    for n in SIZES:
        a, w = values(letter, n, 3), values("f8", n, 4)
        if letter != "?" and np.dtype(letter).kind == "i":
            a = abs(a)
        for least in (0, 3, 20):
            weights = w if weighted else None
            expected = np.bincount(a, weights, minlength=least)

            def work(pending, a=a, w=w, least=least):
                given = waiting(xp, w, pending) if weighted else None
                return xp.bincount(waiting(xp, a, pending), given, minlength=least)

            compare(ways(work), expected, True)
    wrong = xp.asarray(np.array([1, -1]))
    with pytest.raises(ValueError, match="negative"):
        xp.bincount(wrong)


def test_interp(xp, ways):
    points, at = np.linspace(0, 1, 9), np.r_[values("f8", 30, 5), np.nan, -np.inf, np.inf]
    heights = values("f8", 9, 6)
    for x in (at, at[::2], at.reshape(3, 11), 0.3, 2.5, float("nan"), at[:0]):
        for ends in ({}, {"left": -7.5}, {"right": 8.0}, {"left": 0.0, "right": 1.0}):
            for p, q in (
                (points, heights),
                (points[::2], heights[::2]),
                ((1 - points)[::-1], heights[::-1]),
            ):
                expected = np.interp(x, p, q, **ends)

                def work(pending, x=x, p=p, q=q, ends=ends):
                    given = waiting(xp, x, pending) if isinstance(x, np.ndarray) else x
                    line = waiting(xp, p, pending), waiting(xp, q, pending)
                    return xp.interp(given, *line, **ends)

                compare(ways(work), expected, True)


@pytest.mark.parametrize("dtype", [None, float, int, bool, complex, "f4", "uint8", np.int16, "<f8"])
def test_new_arrays(xp, ways, dtype):
    given = {} if dtype is None else {"dtype": dtype}
    calls = [(name, shape) for name in ("zeros", "ones") for shape in (0, 3, (2, 3), (), (40, 40))]
    calls += [
        ("eye", 3),
        ("eye", 0),
        ("identity", 2),
        ("identity", 0),
        ("zeros", [2, 2]),
        ("zeros", np.int64(4)),
    ]
    for name, shape in calls:
        expected = getattr(np, name)(shape, **given)
        compare(ways(lambda _, n=name, s=shape: getattr(xp, n)(s, **given)), expected, True)
        made = getattr(xp, name)(shape, **given)
        made += 1 if made.dtype != bool else True
        np.testing.assert_array_equal(np.asarray(made), expected + made.dtype.type(1))
        assert xp.empty(shape, **given).shape == np.empty(shape, **given).shape or name == "eye"
    for value in (2, -1, 2.5, float("nan"), True, 1 << 40):
        try:
            expected = np.full((2, 3), value, **given)
        except (OverflowError, ValueError) as error:
            with pytest.raises(type(error)):
                np.asarray(xp.full((2, 3), value, **given))
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(ways(lambda _, v=value: xp.full((2, 3), v, **given)), expected, True)
    compare(ways(lambda _: xp.eye(3, 5, **given)), np.eye(3, 5, **given), True)
    compare(ways(lambda _: xp.eye(3, 5, 1, **given)), np.eye(3, 5, 1, **given), True)


@pytest.mark.parametrize("given", [(5,), (0,), (-3,), (2, 9), (9, 2), (0, 10, 3), (10, 0, -3)])
def test_arange(xp, ways, given):
    for words in ({}, {"dtype": int}, {"dtype": "f4"}, {"dtype": None}, {"dtype": np.float64}):
        compare(ways(lambda _, w=words: xp.arange(*given, **w)), np.arange(*given, **words), True)


LISTS = [[1, 2, 3], (1.5, 2), [[1, 2], [3, 4]], [True, False], [1 + 2j, 3], [], [[], []], [1, [2]]]
LISTS += [["a"], [None], 3, 2.5, [1 << 70], [np.float64(2), 1.0], [np.float32(2), 1.0]]


@pytest.mark.parametrize("which", range(len(LISTS)))
@pytest.mark.parametrize("dtype", [None, "f4", float, int, complex])
def test_arrays_of_lists(xp, ways, which, dtype):
    given = LISTS[which]
    for name in ("array", "asarray"):
        try:
            expected = getattr(np, name)(given, dtype)
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                getattr(xp, name)(given, dtype)
            continue
        compare(ways(lambda _, n=name: getattr(xp, n)(given, dtype)), expected, True)


def test_numbers_of_arrays_in_lists(xp, ways):
    a = values("f8", 9, 1)

    def work(pending):
        x = waiting(xp, a, pending)
        return xp.array([x[0], x[1] * 2, 1.0, x[2] + x[3]])

    compare(ways(work), np.array([a[0], a[1] * 2, 1.0, a[2] + a[3]]), True)


def test_what_is_written_later_does_not_change_results(xp, core):
    core.set_at_once(1024)
    a = xp.arange(6.0)
    made = [xp.array(a), a.copy(), a[xp.asarray(np.arange(6))], xp.concatenate((a,)), xp.sort(a)]
    a[:] = -1
    for x in made:
        np.testing.assert_array_equal(np.asarray(x), np.arange(6.0))


INDICES = [[0], [2, -1, 0, 2], [[1, -2], [0, 0]], []]
AXES = {0: lambda i: i, 1: lambda i: (slice(None), i), 2: lambda i: (Ellipsis, i)}


@pytest.mark.parametrize("letter", ["?", "i1", "u2", "f2", "f4", "i8", "f8", "c16"])
@pytest.mark.parametrize("shape", [(4,), (4, 3), (3, 4), (3, 1, 5), (3, 4, 5), (40, 30, 3)])
def test_rows_are_read_and_written(xp, ways, letter, shape):
    whole = values(letter, int(np.prod(shape)), 1).reshape(shape)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[..., ::2]):
        for axis in range(len(shape)):
            for given in INDICES:
                if axis == 2 and len(shape) < 3:
                    continue
                index = AXES[axis](np.array(given, np.int64))
                try:
                    expected = view(whole)[index]
                except IndexError as error:
                    expected = type(error)

                def ours(a, pending, axis=axis, given=given):
                    return AXES[axis](waiting(xp, np.array(given, np.int64), pending))

                def read(pending, view=view):
                    return view(waiting(xp, whole, pending))[ours(whole, pending)]

                compare(ways(read), expected, True)
                if isinstance(expected, type):
                    continue
                for value in (values(letter, expected.size, 2).reshape(expected.shape), 1, None):
                    if value is None:
                        value = values(letter, expected.shape[-1], 3)
                    after = whole.copy()
                    view(after)[index] = value

                    def write(pending, view=view, value=value):
                        made = waiting(xp, whole, pending).copy()
                        new = value if isinstance(value, int) else waiting(xp, value, pending)
                        view(made)[ours(whole, pending)] = new
                        return made

                    compare(ways(write), after, True)


def test_writes_through_indices_of_the_array_itself(xp, ways):
    def work(pending):
        a = waiting(xp, np.array([3, 0, 1, 2, 0]), pending).copy()
        a[a] = a + 10
        b = a % 5
        b[b] = b[::-1]
        return xp.concatenate((a, b))

    a = np.array([3, 0, 1, 2, 0])
    a[a] = a + 10
    b = a % 5
    b[b] = b[::-1]
    compare(ways(work), np.concatenate((a, b)), True)
    memory = np.array([1, 0, 2, 1])
    first, second = xp.asarray(memory), xp.asarray(memory)
    first[second] = first[::-1]
    expected = np.array([1, 0, 2, 1])
    expected[expected] = expected[::-1]
    np.testing.assert_array_equal(np.asarray(first), expected)


@pytest.mark.parametrize("letter", ["?", "i1", "u8", "f2", "f4", "f8", "c16"])
def test_searchsorted(xp, ways, letter):
    for n in SIZES:
        a, v = np.sort(values(letter, n, 1)), values(letter, 40, 2).reshape(4, 10)
        for x in (v, v[:, 3], v[0, 0], 0.5, v.astype("f8") if letter != "c16" else v):
            for side in ("left", "right"):
                expected = np.searchsorted(a, x, side)

                def work(pending, a=a, x=x, side=side):
                    given = waiting(xp, x, pending) if isinstance(x, np.ndarray) else x
                    return xp.searchsorted(waiting(xp, a, pending), given, side=side)

                compare(ways(work), expected, True)


def test_rows_assigned(xp, ways):
    for letter in ("?", "i4", "f8", "c16"):
        whole, new = values(letter, 60, 1).reshape(6, 10), values(letter, 60, 2).reshape(6, 10)

        def work(pending, whole=whole, new=new):
            a = waiting(xp, whole, pending).copy()
            b = waiting(xp, new, pending)
            a[2] = b[3]
            a[:, 1] = b[0, :6]
            a[4] = a[5]
            a.ravel()[1:40] = a.ravel()[:39]
            a[0, 0:0] = b[0, 0:0]
            return a

        a, b = whole.copy(), new
        a[2], a[:, 1], a[4] = b[3], b[0, :6], a[5]
        a.ravel()[1:40] = a.ravel()[:39]
        compare(ways(work), a, True)


def test_samples_are_those_of_numpy(xp):
    for draw in (
        lambda r: r.random(),
        lambda r: r.random(5),
        lambda r: r.standard_normal(4),
        lambda r: r.normal(1.0, 2.0, size=3),
        lambda r: r.integers(0, 9, 6),
        lambda r: r.integers(5),
        lambda r: r.uniform(-1, 1),
        lambda r: r.random((2, 3), dtype="f4"),
        lambda r: r.permutation(7),
    ):
        ours, theirs = draw(xp.random.default_rng(3)), draw(np.random.default_rng(3))
        assert type(ours) is type(theirs) or isinstance(ours, xp.ndarray)
        np.testing.assert_array_equal(np.asarray(ours), theirs)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype


@pytest.mark.parametrize("letter", ["i8", "f4", "f8", "c16"])
def test_solutions_are_those_of_numpy(xp, ways, letter):
    for n in (0, 1, 2, 3, 7, 20, 64, 65):
        whole = values(letter, n * n, 1).reshape(n, n) + 9 * np.eye(n, dtype=letter)
        for view in MATRICES.values():
            a = view(whole) if n else whole
            rights = [values(letter, n, 2), values(letter, n * 2, 3).reshape(n, 2), None]
            rights.append(np.asfortranarray(values(letter, n * 70, 3).reshape(n, 70)))
            for b in rights:

                def work(pending, a=a, b=b, lib=xp.linalg):
                    x = waiting(xp, a, pending)
                    return lib.inv(x) if b is None else lib.solve(x, waiting(xp, b, pending))

                try:
                    expected = np.linalg.inv(a) if b is None else np.linalg.solve(a, b)
                except np.linalg.LinAlgError as error:
                    expected = type(error)
                compare(ways(work), expected, True)
    singular = xp.asarray(np.ones((3, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="ingular"):
        xp.linalg.inv(singular)
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.solve(singular, singular[0])
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        xp.linalg.solve(singular, singular[0, :2])


FACTORISATIONS = ["det", "cholesky", "eigh", "eigvalsh", "qr", "svd", "pinv", "slogdet"]


@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factorisations_of_few_elements(xp, ways, name):
    ours, theirs = getattr(xp.linalg, name), getattr(np.linalg, name)
    whole = values("f8", 16, 1).reshape(4, 4)
    whole = whole @ whole.T + np.eye(4)
    for view in MATRICES.values():
        a = view(whole) if name not in ("cholesky", "eigh", "eigvalsh") else whole
        expected = theirs(a)
        several = isinstance(expected, tuple)
        for part in range(len(expected) if several else 1):

            def work(pending, a=a, part=part, several=several):
                found = ours(waiting(xp, a, pending))
                return found[part] if several else found

            compare(ways(work), expected[part] if several else expected, name != "pinv")
        assert not several or type(ours(xp.asarray(a))) is type(expected)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "fft2", "irfft", "fftn"])
def test_transforms_of_few_elements(xp, ways, name):
    a = values("f8", 24, 1).reshape(4, 6)
    for n in ({}, {"norm": "ortho"}):
        expected = getattr(np.fft, name)(a, **n)
        compare(ways(lambda p, n=n: getattr(xp.fft, name)(waiting(xp, a, p), **n)), expected, True)


def test_wrong_indices(xp, core):
    core.set_at_once(1024)
    a = xp.arange(5.0)
    for wrong in ([5], [0, -6]):
        with pytest.raises(IndexError, match="out of bounds"):
            a[xp.asarray(np.array(wrong))]
        with pytest.raises(IndexError, match="out of bounds"):
            a[xp.asarray(np.array(wrong))] = xp.asarray(np.ones((7, 7)))
        with pytest.raises(IndexError, match="out of bounds"):
            a[xp.asarray(np.array([0, *wrong]))] = 9
        assert float(a[0]) == 0
    with pytest.raises(ValueError):
        a[xp.asarray(np.array([1, 2]))] = xp.asarray(np.ones(3))
    b = xp.arange(3.0)
    b.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        b[xp.asarray(np.array([1, 2]))] = 1


def test_plain_calls_run_at_once(xp, core):
    """Nothing is recorded, and the counter says so."""
    core.set_at_once(1024)
    a, m, i = xp.arange(9.0), xp.eye(3), xp.arange(3)
    core.synchronize()
    m @ m  # finds the library
    calls = [lambda: m @ m, lambda: m @ a[:3], lambda: xp.dot(a, a), lambda: a[i]]
    calls += [lambda: xp.bincount(i), lambda: xp.sort(a), lambda: xp.interp(a, a, a)]
    calls += [lambda: xp.zeros(3), lambda: xp.linalg.norm(a), lambda: xp.concatenate((a, a))]
    for call in calls:
        before = core.stats()
        made = call()
        after = core.stats()
        assert after["at_once"] > before["at_once"]
        assert after["instructions"] == before["instructions"], inspect.getsource(call)
        del made


def test_subclasses_and_foreign_arrays(xp):
    class Mine(np.ndarray):
        pass

    a = np.arange(4.0).view(Mine)
    assert isinstance(np.asarray(xp.dot(xp.arange(4.0), np.arange(4.0))), np.ndarray)
    assert float(xp.dot(a, a)) == 14.0


SUBSCRIPTS = """ij,j->i ij,jk->ik i,i-> i,i->i i,j->ij ij,ij-> ij,ij->j ij,kj->ki ij,jk
    bij,bjk->bik bij,bj->bi i,ij,j-> ij->ji ii-> ii->i ij-> ijk,jil->kl ij,jk,kl->il i,j,k->kji
    ij,kl->ijkl bij,cj->bic i,-> ,i->i ij,ik->i ...j,j->... i...,i...->... ji,jk->k""".split()


@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
@pytest.mark.parametrize("letter", ["?", "i4", "f2", "f4", "f8", "c16"])
def test_einsum(xp, ways, subscripts, letter):
    extents = {"i": 3, "j": 3, "k": 5, "l": 2, "b": 4, "c": 2}
    inputs = subscripts.split("->")[0].split(",")
    for changed in ({}, {"i": 1}, {"j": 1, "i": 4}, {"k": 70, "l": 0}):
        sizes = extents | changed
        if "ii" in subscripts or ("ji" in subscripts and changed.get("i") == 4):
            sizes["j"] = sizes["i"]
        arrays = []
        for seed, labels in enumerate(inputs):
            shape = tuple([sizes[c] for c in labels.replace("...", "lb" if "i" in labels else "")])
            v = values(letter, int(np.prod(shape)), seed).reshape(shape)
            arrays.append(np.asfortranarray(v) if seed else v)
        expected = by_numpy(lambda given=arrays: np.einsum(subscripts, *given))

        def work(pending, given=arrays):
            return xp.einsum(subscripts, *[waiting(xp, a, pending) for a in given])

        compare(ways(work), expected, False)
    if "..." not in subscripts:
        wrong = [xp.asarray(np.ones((2,) * len(labels) + (3,))) for labels in inputs]
        with pytest.raises(ValueError):
            xp.einsum(subscripts, *wrong)


def test_einsum_of_extents_that_differ(xp, core):
    core.set_at_once(1024)
    one, three, two = (xp.asarray(np.arange(1.0, n + 1)) for n in (1, 3, 2))
    assert float(xp.einsum("i,i->", one, three)) == 6.0
    for a, b in ((two, three), (three, two)):
        with pytest.raises(ValueError, match="extents"):
            xp.einsum("i,i->", a, b)


NUMBERS = [0.3, -0.0, 2.5, -7.0, 1e300, 5e-324, float("inf"), float("-inf"), float("nan")]


def test_rows_of_numbers(xp, core, ways):
    """What is computed of one number has the type and the bits of what is computed of an array."""
    for row in core.table():
        call, theirs = getattr(core, row["name"]), getattr(np, row["name"], None)
        for x in itertools.product(NUMBERS, repeat=row["nin"]) if row["nin"] < 3 else ():
            numbers = [(float, np.float64, lambda v: xp.array([v])[0])[k % 3](v)
                       for k, v in enumerate(x, len(row["name"]))]  # fmt: skip
            found = ways(lambda _, numbers=numbers, call=call: call(*numbers))
            arrays = ways(lambda _, x=x, call=call: call(*[xp.array([v]) for v in x])[0])
            for a, b in zip(found, arrays, strict=True):
                open_sign = type(a) is not type and a != a and b != b  # of a NaN
                same = a is b if type(a) is type else a.tobytes() == b.tobytes()
                assert same or open_sign, (row["name"], x, a, b)
            if theirs is not None and not isinstance(found[0], type):
                with np.errstate(all="ignore"):
                    assert found[0].dtype == theirs(*x).dtype, row["name"]
