"""reduceat, reduce, accumulate and at of every ufunc against NumPy: ufunc × dtype × axis × layout ×
keywords.
"""

import os

import numpy as np
import pytest
from helpers import ALL, LAYOUTS, draw, operand

ON_CPU = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"
pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
BINARY = sorted(
    name
    for name in set(dir(np)) - {"ldexp"}
    if isinstance(getattr(np, name), np.ufunc)
    and getattr(np, name).__name__ == name
    and (getattr(np, name).nin, getattr(np, name).nout) == (2, 1)
    and not getattr(np, name).signature
)
# Computed by code of our own: within an ulp of NumPy's each time.
OWN_CODE = """power float_power arctan2 hypot logaddexp logaddexp2 divide floor_divide remainder
    fmod""".split()
TOLERANCE = {2: 2e-2, 4: 2e-5, 8: 1e-11}
CASES = 6
ERRORS = TypeError, ValueError, IndexError, OverflowError


def same(got, want, exact, what):
    assert tuple(got.shape) == want.shape, f"{what}: {got.shape} != {want.shape}"
    assert got.dtype == want.dtype, f"{what}: {got.dtype} != {want.dtype}"
    x = np.asarray(got)
    inexact = want.dtype.kind in "fc"
    if exact or not inexact:
        assert np.array_equal(x, want, equal_nan=inexact), f"{what}:\n{x}\n{want}"
        return
    size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
    with np.errstate(all="ignore"):
        scale = np.max(np.abs(want[np.isfinite(want)]), initial=1)
    tolerance = TOLERANCE[size]
    np.testing.assert_allclose(x, want, tolerance, tolerance * scale, err_msg=what)


def is_exact(op, dtype, longest):
    """Whether a fold has NumPy's bits: not where it sums pairwise, or by code of our own."""
    kind = np.dtype(dtype).kind
    if kind not in "fc":
        return op not in OWN_CODE
    if op in OWN_CODE or kind == "c":
        return False
    return op != "add" and (op != "multiply" or longest <= 32) and ON_CPU


def outcome(call, *args, **keywords):
    """The result of a call, or the type of what it raises."""
    with np.errstate(all="ignore"):
        try:
            return call(*args, **keywords)
        except ERRORS as error:
            return next(t for t in ERRORS if isinstance(error, t))


def compare(got, want, exact, what):
    if isinstance(want, type) or isinstance(got, type):
        assert got is want, f"{what}: {got} instead of {want}"
        return
    same(got, want, exact, what)


def segments(r, n):
    """Indices that grow, stay or fall, as reduceat takes them."""
    if n == 0:
        return np.zeros(0, int)
    kind = r.integers(4)
    count = int(r.integers(1, 6))
    if kind == 0:
        return np.sort(r.integers(0, n, count))
    if kind == 1:
        return r.integers(0, n, count)
    return np.unique(np.append(r.integers(0, n, count), 0))


def domain(op, dtype):
    if op in ("left_shift", "right_shift", "power", "float_power"):
        return 0, 3
    # Divisors are not zero, and products stay finite.
    return (1, 3) if np.dtype(dtype).kind in "iu" else (0.5, 1.5)


def reduceat(op, x, at, axis, **keywords):
    """NumPy's. Its vector code of two ufuncs (2.4) folds only the first and the last element; their
    accumulate is right.
    """
    result = getattr(np, op).reduceat(x, at, axis, **keywords)
    if op not in ("arctan2", "power"):
        return result
    last = np.moveaxis(result, axis, 0)
    for k, (begin, end) in enumerate(zip(at, [*at[1:], x.shape[axis]])):
        part = np.moveaxis(x, axis, 0)[begin : max(begin + 1, end)]
        if "out" in keywords:
            keywords = {"out": np.zeros(part.shape, keywords["out"].dtype)}
        last[k] = getattr(np, op).accumulate(part, **keywords)[-1]
    return result


def keywords(r, xp, shape, dtype):
    """Sometimes dtype= or out=, for NumPy and for `xp`."""
    choice = r.integers(5)
    other = np.dtype(ALL[r.integers(len(ALL))])
    if choice == 0:
        return {"dtype": other}, {"dtype": other}
    if choice == 1:
        out = np.zeros(shape, other)
        return {"out": out}, {"out": xp.array(out)}
    return {}, {}


def drawn(r, xp, op, case):
    """An operand with axes, NumPy's and ours, what it is, and one of its axes."""
    layouts = [n for n in LAYOUTS if n != "0-d"]
    dtype = ALL[r.integers(len(ALL))]
    layout = layouts[r.integers(len(layouts))]
    x, mine = operand(xp, layout, dtype, *domain(op, dtype), case)
    return dtype, layout, x, mine, int(r.integers(x.ndim))


@pytest.mark.parametrize("op", BINARY)
def test_reduceat(xp, mode, op):
    r = np.random.default_rng([1, BINARY.index(op)])
    for case in range(CASES):
        dtype, layout, x, mine, axis = drawn(r, xp, op, case)
        at = segments(r, x.shape[axis])
        shape = (*x.shape[:axis], len(at), *x.shape[axis + 1 :])
        theirs, ours = keywords(r, xp, shape, dtype)
        want = outcome(reduceat, op, x, at, axis, **theirs)
        got = outcome(getattr(xp, op).reduceat, mine, at, axis, **ours)
        what = f"{op}.reduceat {dtype} {layout} axis {axis} at {at} {theirs}"
        state = np.dtype(dtype) if isinstance(want, type) else want.dtype
        compare(got, want, is_exact(op, state, x.shape[axis]), what)


@pytest.mark.parametrize("op", BINARY)
def test_accumulate(xp, mode, op):
    r = np.random.default_rng([5, BINARY.index(op)])
    for case in range(CASES):
        dtype, layout, x, mine, axis = drawn(r, xp, op, case)
        theirs, ours = keywords(r, xp, x.shape, dtype)
        want = outcome(getattr(np, op).accumulate, x, axis, **theirs)
        got = outcome(getattr(xp, op).accumulate, mine, axis, **ours)
        state = np.dtype(dtype) if isinstance(want, type) else want.dtype
        exact = op not in OWN_CODE and (state.kind in "iub" or (ON_CPU and state.kind != "c"))
        what = f"{op}.accumulate {dtype} {layout} axis {axis} {theirs}"
        compare(got, want, exact, what)


@pytest.mark.parametrize("op", BINARY)
def test_reduce(xp, mode, op):
    r = np.random.default_rng([4, BINARY.index(op)])
    for case in range(CASES):
        dtype = ALL[r.integers(len(ALL))]
        layout = [*LAYOUTS][r.integers(len(LAYOUTS))]
        x, mine = operand(xp, layout, dtype, *domain(op, dtype), case)
        axes = [None, (), *range(-x.ndim, x.ndim), tuple(range(x.ndim))]
        axis = axes[r.integers(len(axes))]
        options = {"axis": axis, "keepdims": bool(r.integers(2))}
        if r.integers(4) == 0:
            options["dtype"] = np.dtype(ALL[r.integers(len(ALL))])
        want = outcome(getattr(np, op).reduce, x, **options)
        if op in ("arctan2", "power") and not isinstance(want, type) and x.size and want.size:
            if not isinstance(axis, int):
                continue  # NumPy's vector code, see reduceat()
            keywords = {k: v for k, v in options.items() if k == "dtype"}
            with np.errstate(all="ignore"):
                want = getattr(np, op).accumulate(x, axis, **keywords).take([-1], axis)
            want = want if options["keepdims"] else want.squeeze(axis)
        got = outcome(getattr(xp, op).reduce, mine, **options)
        if not isinstance(want, type):
            want = np.asarray(want)
        state = np.dtype(dtype) if isinstance(want, type) else want.dtype
        exact = is_exact(op, state, x.size) and (state.kind in "iub" or isinstance(axis, int))
        what = f"{op}.reduce {dtype} {layout} {options}"
        compare(got if isinstance(got, type) else np.asarray(got), want, exact, what)


SHAPES = [
    ((40_000,), 0, [0, 5, 300, 20_000]), ((200_000,), 0, [7, 100_000]), ((3, 5000), 1, [0, 33, 99]),
    ((5000, 3), 0, [0, 33, 99, 98]), ((300, 40), 0, [0, 1, 200]), ((2, 90, 33), 1, [3, 50, 50, 0]),
    ((100, 700), 0, [5]), ((70, 2, 3), 0, list(range(70))),
]  # fmt: skip


@pytest.mark.parametrize("shape,axis,at", SHAPES)
@pytest.mark.parametrize("op", ["add", "multiply", "subtract", "fmax", "bitwise_xor", "hypot"])
def test_reduceat_shapes(xp, op, shape, axis, at):
    """Short and long segments, along and across memory, few and many of them."""
    for dtype in ("float64", "float16", "int32", "uint8", "bool", "complex64"):
        x = draw(shape, dtype, 0.999, 1.001, 3)
        for y, mine in ((x, xp.array(x)), (x[::-1], xp.array(x)[::-1])):
            want = outcome(getattr(np, op).reduceat, y, at, axis)
            got = outcome(getattr(xp, op).reduceat, mine, at, axis)
            compare(got, want, is_exact(op, dtype, x.shape[axis]), f"{op}.reduceat {dtype}")


@pytest.mark.cpu
@pytest.mark.numbus
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "float16"])
def test_long_segments_are_reductions(xp, dtype):
    """A sum or product of a segment of a line has the bits of the reduction of that slice."""
    x = xp.array(draw((70_000,), dtype, 0.6, 0.8, 5))
    at = [0, 40, 1000, 20_000]
    for op, name in (("add", "sum"), ("multiply", "prod")):
        got = np.asarray(getattr(xp, op).reduceat(x, at))
        for k, (begin, end) in enumerate(zip(at, [*at[1:], len(x)])):
            assert got[k].tobytes() == getattr(x[begin:end], name)().tobytes(), (op, k)


@pytest.mark.parametrize("text", [
    "xp.add.reduceat(x, [0.5])", "xp.add.reduceat(x, [4])", "xp.add.reduceat(x, [0, -1])",
    "xp.add.reduceat(x, [[0, 1]])", "xp.add.reduceat(x, 2)", "xp.add.reduceat(x, [])",
    "xp.add.reduceat(x, [True, False])", "xp.add.reduceat(x, xp.array([0, 2]))",
    "xp.add.reduceat(x, xp.array([0, 2], 'u8'))", "xp.add.reduceat(x, xp.array([0.0, 2]))",
    "xp.add.reduceat(x, xp.array([0, 2], 'i1'), 1)", "xp.add.reduceat(x[0, 0], [0])",
    "xp.add.reduceat(x, [0], axis=None)", "xp.add.reduceat(x[0], [0], axis=None)",
    "xp.add.reduceat(x, [0], axis=(1,))", "xp.add.reduceat(x, [0], axis=(0, 1))",
    "xp.negative.reduceat(x, [0])", "xp.add.reduceat(x[:, :0], [], 1)",
    "xp.add.reduceat(x[:, :0], [0], 1)", "xp.add.reduceat(x, [0, 2], out=xp.zeros((3, 5)))",
    "xp.add.reduceat(x, [0, 2], out=(xp.zeros((2, 5), 'f4'),))",
    "xp.add.reduceat(x, [0, 2], 0, None, x[::2])", "xp.add.reduceat(x, [0, 2], out=x[1:3])",
    "xp.power.reduceat(i, [0, 1, 2])", "xp.power.reduceat(i, [0, 2])",
    "xp.power.accumulate(i[:2])", "xp.power.accumulate(i)", "xp.power.accumulate(i[3:])",
    "xp.less.reduceat(x, [0, 2])", "xp.less.reduceat(x, [0, 2], dtype=bool)",
    "xp.divide.reduceat(i + 9, [0, 1], dtype='int64')",
])  # fmt: skip
def test_arguments(xp, text):
    x = draw((4, 5), "float64")
    i = np.array([3, 2, -1, 2])
    want = outcome(eval, text, {"xp": np, "x": x.copy(), "i": i})
    got = outcome(eval, text, {"xp": xp, "x": xp.array(x), "i": xp.array(i)})
    compare(got, want, False, text)


@pytest.mark.numbus
@pytest.mark.recorded
def test_reduceat_is_a_node(xp, core):
    """A fold of segments joins the plan, and nothing goes to NumPy."""
    a = xp.array(draw((30, 40), "float64"))
    xp.synchronize()
    core.reset_stats()
    b = xp.hypot.reduceat(a * 2 + 1, [0, 10, 20]) - 1
    assert core.stats()["flushes"] == 0
    xp.synchronize()
    s = core.stats()
    assert (s["flushes"], s["launches"], s["fallbacks"]) == (1, 3, 0)
    assert "hypot.reduceat\n" in str(xp.explain(lambda: xp.hypot.reduceat(a, [0, 9])))
    del b


UNARY = "negative square invert sign exp logical_not isnan floor".split()
VALUES = {"power": (0, 2), "float_power": (0, 2)}


def index_of(r, n, rows):
    """An index of an array of shape (n, rows), in each of the ways that at() takes."""
    kind = r.integers(7)
    line = r.integers(-n, n, 7)
    if kind == 0:
        return line
    if kind == 1:
        return line.reshape(7, 1), r.integers(0, rows, 3)
    if kind == 2:
        return slice(None), r.integers(0, rows, 5)
    if kind == 3:
        return r.random(n) < 0.5
    if kind == 4:
        return slice(1, None, 2), slice(None, None, -1)
    if kind == 5:
        return list(map(int, line)), 1
    return int(line[0])


def ours(xp, index):
    """The same index with arrays of xp."""
    if isinstance(index, tuple):
        return tuple(ours(xp, i) for i in index)
    return xp.array(index) if isinstance(index, np.ndarray) else index


def at_case(op, case):
    """(target, index, value or None) of a random call of at()."""
    r = np.random.default_rng([2, case, *op.encode()])
    target, dtype = ALL[r.integers(len(ALL))], ALL[r.integers(len(ALL))]
    a = draw((6, 4), target, 1, 3, case)
    index = index_of(r, 6, 4)
    if op in UNARY:
        return a, index, None
    low, high = VALUES.get(op, domain(op, dtype))
    shape = a[index].shape
    value = draw(shape[r.integers(len(shape) + 1) :], dtype, low, high, case)
    # What is negative or infinite is no value of an unsigned type.
    if a.dtype.kind in "iu" and op in ("subtract", "divide", "remainder", "floor_divide", "fmod"):
        value = np.ones_like(value)
    return a, index, value


@pytest.mark.parametrize("op", [*BINARY, *UNARY])
def test_at(xp, mode, op):
    for case in range(CASES):
        a, index, value = at_case(op, case)
        want, got = a.copy(), xp.array(a)
        args = () if value is None else (value,)
        mine = () if value is None else (xp.array(value),)
        raised = outcome(getattr(np, op).at, want, index, *args)
        what = f"{op}.at {a.dtype} {index} {value if value is None else value.dtype}"
        assert outcome(getattr(xp, op).at, got, ours(xp, index), *mine) is raised, what
        if raised is None:
            same(got, want, ON_CPU and op not in OWN_CODE + ["exp"], what)


@pytest.mark.numbus
@pytest.mark.parametrize(
    "op", ["hypot", "power", "logaddexp", "arctan2", "multiply", "floor_divide"]
)
def test_at_of_many(xp, core, op):
    """Enough for vectors, of indices that meet within one and of some that do not: equal bits."""
    r = np.random.default_rng(3)
    for dtype in ("float64", "float32", "complex64", "int16"):
        if dtype == "complex64" and op != "multiply":
            continue
        for n in (5, 5000):
            at, value = r.integers(-n, n, 1003), draw((1003,), dtype, 1, 1.01, n)
            a = draw((n, 2), dtype, 1, 1.1, n)
            want, results = a.copy(), []
            raised = outcome(getattr(np, op).at, want, (at, 1), value)
            for mode in ("interp", "compiled") if ON_CPU else ("auto",):
                core.set_mode(mode)
                mine = xp.array(a)
                args = mine, (xp.array(at), 1), xp.array(value)
                assert outcome(getattr(xp, op).at, *args) is raised
                results.append(np.asarray(mine))
                core.set_mode("auto")
            same(results[0], want, False, f"{op}.at {dtype} {n}")
            np.testing.assert_array_equal(results[0], results[-1])


@pytest.mark.cpu
@pytest.mark.numbus
@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "subtract", "hypot", "negative"])
def test_at_by_sorting(xp, core, op, monkeypatch):
    """What a GPU does: indices are sorted, and a thread folds all values of an element."""
    monkeypatch.setenv("NUMBUS_FIBERS", "1")
    from numbus import primitives
    from numbus.core.indexing import advanced

    for case in range(2 * CASES):
        a, index, value = at_case(op, case)
        got = xp.array(a)
        found = advanced(got, ours(xp, index))
        want = a.copy()
        args = () if value is None else (value,)
        if found is None or (a.dtype.kind != "c" and args and value.dtype.kind == "c"):
            continue
        if outcome(getattr(np, op).at, want, index, *args) is not None:
            continue
        loop = getattr(np, op).resolve_dtypes((a.dtype, *(v.dtype for v in args), None))
        row = {"add": "logical_or", "multiply": "logical_and", "maximum": "logical_or"}
        name = row.get(op, op) if loop[0].kind == "b" else op
        more = "" if loop[0] == a.dtype else f".{loop[0]}"
        primitives.load(f"fold_runs.{name}{more}", a.dtype)
        mine = None if value is None else xp.array(value)
        core.update(getattr(xp, op), *found[:4], mine, in_order=False)
        same(got, want, op not in OWN_CODE, f"{op}.at {a.dtype} {index} {args and value.dtype}")
        with pytest.raises(IndexError):
            one = None if value is None else 1
            core.update(getattr(xp, op), got, 1, [xp.array([0, 6])], 0, one, in_order=False)


@pytest.mark.cpu
@pytest.mark.numbus
@pytest.mark.parametrize("op", ["add", "subtract", "maximum", "minimum"])
def test_at_by_atomics(xp, op, monkeypatch):
    """What a GPU has atomics for, of small elements in a wider copy."""
    from numbus.core import ufuncs

    monkeypatch.setattr(ufuncs, "on_host", lambda a: False)
    r = np.random.default_rng(9)
    for target in ALL:
        for dtype in ALL:
            if (op, target, dtype) == ("subtract", "bool", "bool"):
                continue
            a, at = draw((7,), target, 100, 130, 1), r.integers(-7, 7, 30)
            value = draw((30,), dtype, 1, 100, 2)
            for v in (value, 3):
                got = xp.array(a)
                want = a.copy()
                if outcome(getattr(np, op).at, want, at, v) is not None:
                    continue
                mine = v if v is not value else xp.array(v)
                getattr(xp, op).at(got, xp.array(at), mine)
                if want.dtype.kind == "u" and want.dtype.itemsize == 8 and op == "subtract":
                    continue  # numbers below zero are cast to uint64 as each compiler likes
                same(got, want, True, f"{op}.at {target} {dtype} {type(mine)}")


@pytest.mark.cpu
@pytest.mark.numbus
@pytest.mark.parametrize("op", ["multiply", "bitwise_xor", "maximum", "subtract", "add"])
def test_at_by_sorting_of_many(xp, core, op, monkeypatch):
    """Values of few elements are shared by many threads where their order does not matter."""
    monkeypatch.setenv("NUMBUS_FIBERS", "1")
    from numbus import primitives

    r = np.random.default_rng(8)
    for dtype in ("int32", "uint8", "float64"):
        if op == "bitwise_xor" and dtype == "float64":
            continue
        for n, points in ((3, 5000), (1, 4096), (4000, 4097)):
            primitives.load(f"fold_runs.{op}", dtype)
            a, at = draw((n, 2), dtype, 0.9, 1.1, n), r.integers(0, n, points)
            value = draw((points, 2), dtype, 0.9, 3 if dtype == "int32" else 1.1, n)
            got = xp.array(a)
            core.update(getattr(xp, op), got, 1, [xp.array(at)], 0, xp.array(value), in_order=False)
            getattr(np, op).at(a, at, value)
            same(got, a, op != "add", f"{op}.at {dtype} {n}")


@pytest.mark.parametrize("text", [
    "xp.negative.at(x, [0], 1)", "xp.add.at(x, [0])", "xp.add.at(x, [5], 1)",
    "xp.add.at(x, [0, -5], 1)", "xp.add.at(x, [0, 1], [[1], [2], [3]])",
    "xp.add.at(x, [0, 1], xp.ones((1, 2, 5)))", "xp.add.at(x, 0, xp.ones(3))",
    "xp.minimum.at(x, [0, 1], xp.ones((1, 1, 5)))", "xp.add.at(x, (0, 1), xp.ones(1))",
    "xp.multiply.at(x, [0, 1], xp.ones((1, 1, 1)))", "xp.add.at(i, [0, 1], i[None, :2])",
    "xp.maximum.at(i.astype('int8'), [0, 1], i[None, :2].astype('int8'))",
    "xp.add.at(x[:, :0], [4], 1)", "xp.add.at(x[:, :0], i + 2, 1)", "xp.add.at(x[:, :0], [3], 1)",
    "xp.power.at(i, [0], -1)", "xp.power.at(i, [1, 1], 2)",
    "xp.power.at(i, [1, 1], xp.array([1, -2]))",
    "xp.add.at(i, [0, 0], 1.5)", "xp.add.at(i, [0], 2**70)", "xp.multiply.at(f, [0, 0], 0.1)",
    "xp.add.at(x, ..., 1)", "xp.add.at(x, (), 1)", "xp.add.at(x, None, 1)", "xp.add.at(x, 2, 1)",
    "xp.add.at(x, (2, 3), 1)", "xp.add.at(x, (..., 3), 1)", "xp.negative.at(x, (2, 3))",
    "xp.add.at(x, [], 1)", "xp.add.at(x, [[0, 1], [2, 0]], 2)", "xp.add.at(x, [0.5], 1)",
    "xp.add.at(x, x > 0, 1)", "xp.add.at(x, (slice(None), x[0] > 0), 1)",
    "xp.add.at(x, [0, 0, 1], x[:3])", "xp.divide.at(x.T, ([1, 1], [0, 0]), [3, 7])",
    "xp.hypot.at(x[::2], [0, 0, 1], 3)", "xp.bitwise_and.at(x, [0], 1)",
    "xp.subtract.at(x, (slice(None), [0, 0]), [[1, 2]])", "xp.add.at(x[0:0], [], 1)",
    "xp.subtract.at(i, i % 2, i)", "xp.divide.at(x, ([1], [[2], [2]], ), 3.0)",
    "xp.less.at(x, [0, 0], 5)", "xp.isnan.at(x, [0])", "xp.add.at(f[1], (), 2)",
    "xp.logaddexp.at(f, (f * 0).astype(int), f)",
])  # fmt: skip
def test_at_arguments(xp, text):
    x, i, f = draw((4, 5), "float64"), np.array([3, 2, -1, 2]), np.ones(3, "float32") / 3
    mine = {"xp": xp, "x": xp.array(x), "i": xp.array(i), "f": xp.array(f)}
    theirs = {"xp": np, "x": x, "i": i, "f": f}

    def run(names):
        eval(text, names)
        for name in "xif":  # a GPU finds wrong indices when it has come that far
            np.asarray(names[name])

    raised = outcome(run, theirs)
    assert outcome(run, mine) is raised, text
    for name in "xif" if ON_CPU or raised is not IndexError else "if":
        same(mine[name], theirs[name], ON_CPU and "log" not in text, text)


@pytest.mark.numbus
def test_at_needs_no_fallback(xp, core):
    before = core.stats()["fallbacks"]
    for dtype in ALL:
        for op in ("add", "multiply", "negative", "maximum"):
            if (op, dtype) == ("negative", "bool"):
                continue
            a = xp.ones((3, 4), dtype)
            args = () if op == "negative" else (xp.ones(4, dtype),)
            getattr(xp, op).at(a, [0, 0], *args)
    assert core.stats()["fallbacks"] == before
    frozen = xp.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xp.add.at(frozen, [0], 1)


def test_long_lines(xp):
    """Lines that are folded in several parts."""
    for dtype in ("float64", "int16"):
        x = draw((2, 2_500_001), dtype, -3, 3, 1)
        mine = xp.array(x)
        for op in ("subtract", "copysign", "fmax", "bitwise_xor"):
            if (op == "bitwise_xor") == (dtype == "float64"):
                continue
            for method, args in (("accumulate", ()), ("reduceat", ([0, 1, 1_100_000],))):
                want = getattr(getattr(np, op), method)(x, *args, 1)
                got = getattr(getattr(xp, op), method)(mine, *args, 1)
                same(got, want, ON_CPU, f"{op}.{method} {dtype}")
