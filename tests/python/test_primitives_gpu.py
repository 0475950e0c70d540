"""The device code of the routines against NumPy.

On a GPU where one is the device, else as grids on the CPU.
"""

import numbus as nb
import numpy as np
import pytest
from numbus import _core, primitives
from numbus.core import routines

pytestmark = [pytest.mark.numbus, pytest.mark.usefixtures("fibers")]

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
# Lines at the edges of warps, blocks and tiles (the CPU's tiles are small), with what they hold.
CASES = [
    ((1,), "random"),
    ((33,), "special"),
    ((257,), "few"),
    ((2048,), "special"),
    ((2049,), "equal"),
    ((130, 17), "special"),
    ((3, 700), "random"),
    ((3, 2305), "reversed"),
    ((4001,), "special"),
    ((2, 3073), "few"),
    ((0,), "random"),
    ((4, 0), "random"),
]


@pytest.fixture
def fibers(monkeypatch):
    """A thread a fiber, on a CPU: code of the threads one by one is compiled in less time."""
    monkeypatch.setenv("NUMBUS_FIBERS", "1")


def run(name, inputs, shape, dtype, **attributes):
    """The output of a routine's device code, as NumPy's array."""
    return run_all(name, inputs, [nb.empty(shape, dtype)], **attributes)[0]


def run_all(name, inputs, outputs, **attributes):
    _core.run_routine(name, [nb.asarray(i) for i in inputs], outputs, attributes)
    nb.synchronize()
    return [np.asarray(o) for o in outputs]


def pattern(kind, shape, dtype, seed=0):
    """Values of a dtype: random, few, equal, sorted, reversed; floats with all that is special."""
    r = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if kind == "equal":
        return np.full(shape, 3).astype(dtype)
    if kind == "few":
        return r.integers(0, 3, n).astype(dtype).reshape(shape)
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = r.integers(low, high, n, dtype=dtype, endpoint=True)
    elif dtype.kind == "b":
        x = r.integers(0, 2, n).astype(bool)
    else:
        x = (r.standard_normal(n) * 10.0 ** r.integers(-3, 3, n)).astype(dtype)
        if kind == "special":
            special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1], dtype)
            x = np.where(r.random(n) < 0.5, special[r.integers(0, 8, n)], x)
    if kind == "sorted":
        x.sort()
    if kind == "reversed":
        x[::-1].sort()
    return x.reshape(shape)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_sort(dtype):
    primitives.load("sort", dtype)
    for shape, kind in CASES:
        x = pattern(kind, shape, dtype, seed=shape[-1])
        got = run("sort", [x], shape, dtype)
        np.testing.assert_array_equal(got, np.sort(x))
        got = run("sort", [x], shape, dtype, descending=1)
        np.testing.assert_array_equal(got, np.flip(np.sort(x), -1))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_argsort(dtype):
    primitives.load("argsort", dtype)
    for shape, kind in CASES:
        x = pattern(kind, shape, dtype, seed=shape[-1])
        got = run("argsort", [x], shape, "int64")
        np.testing.assert_array_equal(got, np.argsort(x, kind="stable"))
        got = run("argsort", [x], shape, "int64", descending=1)
        backwards = np.argsort(np.flip(x, -1), kind="stable")
        np.testing.assert_array_equal(got, np.flip(shape[-1] - 1 - backwards, -1))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype):
    """By real, then imaginary part; a NaN in the latter, in the former, in both come last."""
    primitives.load("sort", dtype)
    primitives.load("argsort", dtype)
    real = "float32" if dtype == "complex64" else "float64"
    for shape, kind in (((1,), "random"), ((2, 900), "special"), ((3001,), "special")):
        x = np.empty(shape, dtype)
        x.real, x.imag = pattern(kind, shape, real, 1), pattern("special", shape, real, 2)
        np.testing.assert_array_equal(run("sort", [x], shape, dtype), np.sort(x))
        got = run("argsort", [x], shape, "int64")
        np.testing.assert_array_equal(got, np.argsort(x, kind="stable"))
        got = run("argsort", [x], shape, "int64", descending=1)
        backwards = np.argsort(np.flip(x, -1), kind="stable")
        np.testing.assert_array_equal(got, np.flip(shape[-1] - 1 - backwards, -1))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_select(dtype):
    primitives.load("select", dtype)
    for shape, kind in CASES:
        if 0 in shape:
            continue
        x = pattern(kind, shape, dtype, seed=shape[-1])
        n = shape[-1]
        for ranks in ([n // 2], [0, n - 1, (n - 1) // 2, n // 2], [n - 1, 0, 0, n // 3, n - 1]):
            got = run("select", [x, np.array(ranks)], (*shape[:-1], len(ranks)), dtype)
            np.testing.assert_array_equal(got, np.sort(x)[..., ranks])


def test_select_ranks():
    primitives.load("select", "int32")
    ranks = [5, 2999, 0, 17, 1500, 1500, 4, 2, 1]
    for shape in ((3000,), (3, 3000)):
        x = pattern("random", shape, "int32")
        got = run("select", [x, np.array(ranks)], (*shape[:-1], len(ranks)), "int32")
        np.testing.assert_array_equal(got, np.sort(x)[..., ranks])
    for wrong in (3000, -1):
        with pytest.raises(ValueError, match="a rank is outside of the line"):
            _core.select_ranks(nb.asarray(x), 1, [0, wrong])


@pytest.mark.parametrize("long_line", [1, 1 << 40])
def test_selection_elsewhere_than_on_a_cpu(monkeypatch, long_line):
    """By the routine, or by a sort where lines are short or ranks are many; along any axis."""
    monkeypatch.setattr(routines, "on_host", lambda a: False)
    monkeypatch.setattr(routines, "_LONG_LINE", long_line)
    for dtype in ("bool", "int16", "float64", "complex64"):
        x = pattern("random", (4, 5, 20), "float32").astype(dtype)
        for axis in range(3):
            n = x.shape[axis]
            for ranks in ([0], [n - 1, 0, 1, 1], [k % n for k in range(14)]):
                got = np.asarray(routines.select(nb.asarray(x), ranks, axis))
                want = np.moveaxis(np.sort(x, axis), axis, -1)[..., ranks]
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bincount(dtype):
    primitives.load("bincount", dtype)
    r = np.random.default_rng(5)
    sizes = ((0, 3), (1, 1), (2047, 2), (2049, 100), (9000, 127), (5000, 5000), (4000, 20_000))
    for n, bins in sizes:
        x = r.integers(0, min(bins, np.iinfo(dtype).max), n).astype(dtype)
        got = run("bincount", [x], (bins,), "int64")
        np.testing.assert_array_equal(got, np.bincount(x.astype(np.int64), minlength=bins))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64"])
def test_weighted_bincount(dtype):
    primitives.load("weighted_bincount", dtype)
    r = np.random.default_rng(6)
    for n, bins in ((0, 2), (1, 1), (3000, 7), (2500, 300)):
        bins = min(bins, np.iinfo(dtype).max)
        x = r.integers(0, bins, n).astype(dtype)
        weights = r.standard_normal(n)
        got = run("weighted_bincount", [x, weights], (bins,), "float64")
        np.testing.assert_allclose(got, np.bincount(x, weights, bins), rtol=1e-12, atol=1e-12)
        # The documented order: sums of every 256th, then a tree.
        for b in range(min(bins, 7)):
            mine = weights[x == b]
            sums = np.zeros(256)
            for k in range(0, len(mine), 256):
                part = mine[k : k + 256]
                sums[: len(part)] += part
            while len(sums) > 1:
                sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
            assert got[b] == sums[0]


def test_bincount_ignores_what_is_outside():
    primitives.load("bincount", "int64")
    x = np.array([-1, 0, 2, 3, 2**40, -(2**63)])
    np.testing.assert_array_equal(run("bincount", [x], (3,), "int64"), [1, 0, 1])


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_histogram(dtype):
    primitives.load("histogram", dtype)
    for n, bins in ((1, 1), (3000, 10), (5000, 100), (2000, 7), (3000, 9000)):
        x = pattern("few" if bins == 7 else "random", (n,), dtype, seed=n)
        if np.dtype(dtype).itemsize < 4:
            x = (x // 2).astype(dtype)  # NumPy's own difference of the largest and least overflows
        if bins > 1000 and dtype == "float16":
            continue  # which has no edges that fine
        low, high = float(x.min()), float(x.max())
        if not low < high:
            low, high = low - abs(low) / 8 - 1, high + abs(high) / 8 + 1
        expected, edges = np.histogram(x, bins, (low, high))
        edges = edges.astype(np.float64)
        got = run("histogram", [x, edges], (bins,), "int64", uniform=1)
        np.testing.assert_array_equal(got, expected)


def test_histogram_on_edges():
    """Numbers on edges, and one position beside them; outside; NaN; given edges."""
    primitives.load("histogram", "float64")
    edges = np.linspace(-1.3, 2.9, 58)
    x = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9), [np.inf, -np.inf]])
    expected = np.histogram(x, 57, (edges[0], edges[-1]))[0]
    x = np.append(x, np.nan)
    for uniform in (0, 1):
        got = run("histogram", [x, edges], (57,), "int64", uniform=uniform)
        np.testing.assert_array_equal(got, expected)
    edges = np.array([-3.0, -0.0, 0.0, 0.5, 0.5, 2.0])
    x = np.array([-3, -0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 2.5, -4.0])
    got = run("histogram", [x, edges], (5,), "int64")
    np.testing.assert_array_equal(got, np.histogram(x, edges)[0])


def test_histogram_elsewhere_than_on_a_cpu(monkeypatch):
    """Edges that float64 cannot compare, and NaN, go by a search and by counting its results."""
    monkeypatch.setattr(routines, "on_host", lambda a: False)
    edges = np.array([0, 2**60, 2**60 + 1, 2**60 + 2])
    x = np.concatenate([edges, edges + 1, edges - 1])
    np.testing.assert_array_equal(nb.histogram(nb.asarray(x), edges)[0], np.histogram(x, edges)[0])
    x, w = pattern("special", (3000,), "float64"), np.arange(3000) % 64
    for edges in ([-1.0, 0, 0, 1, 3], [-1.0, 1, np.nan]):
        for weights in (None, w):
            got = nb.histogram(nb.asarray(x), edges, weights=weights)[0]
            np.testing.assert_array_equal(got, np.histogram(x, edges, weights=weights)[0])


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_compact(dtype):
    primitives.load("compact", dtype)
    primitives.load("flatnonzero")
    r = np.random.default_rng(3)
    sizes = (0, 1, 255, 257, 2049, 9001, 16384, 70_001)
    for n, share in zip(sizes, (0.5, 1.0, 0.5, 0.0, 1.0, 0.3, 0.9, 0.5), strict=True):
        x = r.integers(0, 2 if dtype == "bool" else 100, n).astype(dtype)
        mask = r.random(n) < share
        bytes_ = mask.view(np.uint8) * 3  # any byte but zero holds
        out, count = nb.empty(n, dtype), nb.empty(1, "int64")
        out, count = run_all("compact", [x, bytes_], [out, count])
        np.testing.assert_array_equal(out[: count[0]], x[mask])
        # Of a mask that does not begin where words do.
        moved = nb.asarray(np.concatenate([[1], bytes_]).astype(np.uint8))[1:]
        out, count = nb.empty(n, dtype), nb.empty(1, "int64")
        out, count = run_all("compact", [x, moved], [out, count])
        np.testing.assert_array_equal(out[: count[0]], x[mask])
        out, count = nb.empty(n, "int64"), nb.empty(1, "int64")
        out, count = run_all("flatnonzero", [bytes_], [out, count])
        np.testing.assert_array_equal(out[: count[0]], np.flatnonzero(mask))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_search(dtype):
    primitives.load("search", dtype)
    for n, m in ((0, 3), (1, 5), (300, 1000), (1000, 700)):
        edges = np.sort(pattern("special" if n % 3 else "few", (n,), dtype, seed=n))
        x = np.concatenate([pattern("special", (m,), dtype, seed=m), edges[::3]])
        for right in (0, 1):
            got = run("search", [edges, x], x.shape, "int64", right=right)
            expected = np.searchsorted(edges, x, "right" if right else "left")
            np.testing.assert_array_equal(got, expected)


def test_interp():
    primitives.load("interp", "float64")
    r = np.random.default_rng(3)
    x = np.concatenate([r.standard_normal(700) * 3, [np.nan, np.inf, -np.inf, -1, 0, 0.5, 2]])
    points = [
        (np.array([0.5]), np.array([7.0])),
        (np.array([-1.0, 2]), np.array([3.0, -4])),
        (np.array([-1, 0, 0, 0.5, 0.5]), np.array([1.0, 2, 3, 4, 5])),
        (np.array([-2.0, -1, 0, 1, 2]), np.array([1, np.inf, np.inf, -np.inf, np.nan])),
        (np.sort(r.standard_normal(300)), r.standard_normal(300)),
    ]
    for xp, fp in points:
        for left, right in ((fp[0], fp[-1]), (-9.0, 9.0)):
            got = run("interp", [x, xp, fp, np.array([left, right])], x.shape, "float64")
            want = np.interp(x, xp, fp, left, right)
            np.testing.assert_allclose(got, want, 1e-14, 1e-14)


def philox_state(generator):
    state = generator.state["state"]
    counter = int(sum(int(c) << 64 * k for k, c in enumerate(state["counter"])) + 1) % 2**256
    words = [counter >> 64 * k & 2**64 - 1 for k in range(4)]
    return np.array([*state["key"], *words], np.uint64)


@pytest.mark.parametrize("dtype", ["uint64", "float64", "float32"])
def test_philox(dtype):
    primitives.load("philox", dtype)
    for counter in (0, 2**64 - 3, 2**192 - 2, 2**256 - 5):
        for n in (1, 17, 2047, 3000):
            numpy_bits = np.random.Philox(key=2**100 + 12345, counter=counter)
            state = philox_state(numpy_bits)
            if dtype == "uint64":
                expected = numpy_bits.random_raw(n)
            else:
                expected = np.random.Generator(numpy_bits).random(n, dtype)
            got = run("philox", [state], (n,), dtype)
            np.testing.assert_array_equal(got, expected)
            host = _core.draw("philox", state.tolist(), n, np.dtype(dtype))
            np.testing.assert_array_equal(np.asarray(host), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_normal(dtype):
    primitives.load("normal", dtype)

    def normal(n, key, counter=0):
        return run("normal", [np.array([key, counter], np.uint64)], (n,), dtype)

    x = normal(40_001, 12345)
    np.testing.assert_array_equal(normal(5000, 12345), x[:5000])
    block = 1024 if dtype == "float32" else 512
    np.testing.assert_array_equal(normal(1024, 12345, 256), x[block : block + 1024])
    for n, counter in ((40_001, 0), (1, 0), (2049, 2**32 - 300), (777, 2**64 - 100)):
        host = _core.draw("normal", [12345, counter], n, np.dtype(dtype))
        np.testing.assert_array_equal(np.asarray(host), normal(n, 12345, counter))
    other = normal(40_001, 12346)
    scipy_stats = pytest.importorskip("scipy.stats")
    for sample in (x, other):
        assert scipy_stats.kstest(sample.astype(np.float64), "norm").pvalue > 1e-3
    assert abs(np.corrcoef(x, other)[0, 1]) < 0.03
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.03


def test_not_loaded():
    x = nb.zeros(4, "complex128")
    with pytest.raises(RuntimeError, match=r"\[select_count\] the device kernel was not loaded"):
        _core.run_routine("select", [x], [nb.empty(1, "complex128")], {"ranks": [0]})


def test_unknown_routine():
    with pytest.raises(ValueError, match="no such routine"):
        _core.run_routine("turn", [], [], {})


FOLDS = {
    "add": ["int64", "float32", "complex128"],
    "multiply": ["uint16", "float64", "complex64"],
    "maximum": ["int8", "float16", "float64"],
    "logical_and": ["bool"],
    "bitwise_xor": ["uint8", "int32"],
    "subtract": ["float16", "float32", "uint64"],
    "power": ["int32", "float64"],
    "hypot": ["float32"],
    "left_shift": ["int16"],
    "fmin": ["float16"],
}


@pytest.mark.parametrize("op", FOLDS)
def test_reduceat(op):
    associative = op in ("add", "multiply", "maximum", "logical_and", "bitwise_xor", "fmin")
    r = np.random.default_rng(11)
    for dtype in FOLDS[op]:
        primitives.load(f"reduceat.{op}", dtype)
        for (outer, n, inner), begins, ends in (
            ((2, 50, 3), [0, 3, 3, 20], [3, 4, 20, 50]),
            ((1, 700, 1), [0, 300], [257, 700]),
            ((3, 800, 2), [1, 5, 90], [2, 700, 340]),
            ((1, 300, 40), [0, 299], [299, 300]),
            ((1, 5, 1), [0, 1, 2, 3, 4], [1, 2, 3, 4, 5]),
        ):
            x = r.integers(0, 2, (outer, n, inner)).astype(dtype)
            if x.dtype.kind in "fc":
                x = (1 + r.standard_normal(x.shape) / 64).astype(dtype)
            got = run(
                "reduceat",
                [x, np.array([*begins, *ends])],
                (outer, len(begins), inner),
                dtype,
                op=getattr(nb, op),
                associative=associative,
            )
            with np.errstate(all="ignore"):
                parts = [x[:, b:e] for b, e in zip(begins, ends)]
                # accumulate goes one by one, whatever NumPy's reduce does.
                fold = getattr(np, op).accumulate
                want = np.stack([fold(part, 1, dtype=dtype)[:, -1] for part in parts], 1)
            if x.dtype.kind in "fc":
                tolerance = {"float16": 0.3, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-11)
                np.testing.assert_allclose(got, want, tolerance, tolerance)
            else:
                np.testing.assert_array_equal(got, want)
