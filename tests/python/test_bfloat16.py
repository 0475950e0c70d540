"""bfloat16 against ml_dtypes on NumPy: conversions of all values, the rows of the table,
reductions, scans, sorts, indexing, products, compiled functions, gradients, and what passes it on.
"""

import pickle
import warnings

import ml_dtypes
import numbus as nb
import numpy as np
import pytest
from helpers import LAYOUTS
from jit_check import function_of
from numbus import _core, njit

pytestmark = pytest.mark.numbus

BF = ml_dtypes.bfloat16
EVERY = np.arange(65536, dtype=np.uint16).view(BF)
OTHERS = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
    complex64 complex128""".split()
ROWS = _core.table()


def on_gpu():
    return nb.array([1.0]).device.startswith("cuda")


def bits(x):
    """The words of elements; NaN of either sign and payload are one."""
    x = np.asarray(x)
    assert x.dtype == BF
    return np.where(np.isnan(x.astype("f4")), np.uint16(0x7FC0), x.view(np.uint16))


def same(got, want, what=""):
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, what)
    if want.dtype == BF:
        bad = np.flatnonzero(bits(got).ravel() != bits(want).ravel())
        got, want = np.asarray(got).ravel()[bad[:4]], want.ravel()[bad[:4]]
        assert bad.size == 0, f"{what}: {got} != {want} at {bad[:4]}, {bad.size} of them"
    else:
        np.testing.assert_array_equal(np.asarray(got), want, what)


def close(got, want, what=""):
    """At most one unit in the last place."""
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, what)
    if want.dtype != BF:
        return np.testing.assert_allclose(np.asarray(got), want, rtol=1e-15, err_msg=what)
    x, y = np.asarray(got).astype("f4"), want.astype("f4")
    np.testing.assert_array_equal(np.isnan(x), np.isnan(y), what)
    order = [
        np.where(b >= 0x8000, -(b & 0x7FFF), b) for b in (np.int32(bits(got)), np.int32(bits(want)))
    ]
    bad = (np.abs(order[0] - order[1]) > 1) & ~np.isnan(x)
    assert not bad.any(), f"{what}: {x[bad][:4]} != {y[bad][:4]}"


def drawn(shape, seed=0, scale=3.0):
    r = np.random.default_rng([seed, *shape])
    return (r.standard_normal(shape) * scale).astype(BF)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        yield


@pytest.mark.parametrize("other", OTHERS)
def test_all_values_become(other):
    got = np.asarray(nb.array(EVERY).astype(other))
    real = np.isfinite(EVERY.astype("f4"))
    if np.dtype(other).kind in "iu":
        info = np.iinfo(other)
        real = (EVERY.astype("f4") > info.min - 1.0) & (EVERY.astype("f4") < info.max + 1.0)
    # What is beyond an integer's range is the processor's to say, by way of float32.
    want = EVERY.astype("f4").astype(other)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got[real], want[real])
    if want.dtype.kind in "fc":
        np.testing.assert_array_equal(got, want)
        signed = ~np.isnan(want.real) | (not on_gpu())  # a GPU has one NaN for float16
        np.testing.assert_array_equal(np.signbit(got.real)[signed], np.signbit(want.real)[signed])


@pytest.mark.parametrize("other", OTHERS)
def test_rounding(other):
    t = np.dtype(other)
    if t.kind in "bui":
        x = np.arange(-70000, 70000).astype(t) if t.itemsize > 1 else np.arange(256).astype(t)
        if t.itemsize == 8:  # once, by way of float32 as in NumPy
            x = np.concatenate([x, (np.arange(1, 4000) * 2305843009213693).astype(t)])
        want = x.astype("f4").astype(BF)
    else:
        wide = EVERY[np.isfinite(EVERY.astype("f4"))].astype("f8")
        wide = np.unique(wide)
        ties = (wide[1:] + wide[:-1]) / 2
        wide = np.concatenate([wide, ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf),
                               [np.inf, -np.inf, np.nan, 3.4e38, 3.3961775e38, 1e300,
                                1e-320]])  # fmt: skip
        x = wide.astype(t)
        real = x.real.astype("f8")
        near = np.unique(EVERY[np.isfinite(EVERY.astype("f4"))].astype("f8"))
        want = _rounded(real, near)
    same(nb.array(x).astype(BF), want, other)
    same(nb.asarray(nb.array(x), dtype="bfloat16"), want, other)


def _rounded(x, near):
    """Exactly, from float64 to the nearest value, of two the one whose last bit is zero."""
    at = np.clip(np.searchsorted(near, x), 1, near.size - 1)
    low, high = near[at - 1], near[at]
    with np.errstate(all="ignore"):
        up = (x - low > high - x) | (
            (x - low == high - x) & (low.astype(BF).view(np.uint16) % 2 == 1)
        )
    found = np.where(up, high, low).astype(BF)
    most = float.fromhex("0x1.ffp127")
    found = np.where(
        x >= most, np.array(np.inf, BF), np.where(x <= -most, -np.array(np.inf, BF), found)
    )
    found = np.where(np.isnan(x), np.array(np.nan, BF), found)
    return np.where((x == 0) | (found == 0), np.copysign(found, x.astype("f4").astype(BF)), found)


def test_kinds_and_names():
    x = nb.ones(3, "bfloat16")
    assert x.dtype == nb.bfloat16 and x.itemsize == 2 and nb.bfloat16 is BF
    assert repr(x) == "array([1, 1, 1], dtype=bfloat16)"
    assert type(np.asarray(x)) is np.ndarray and np.asarray(x).dtype == BF
    assert type(x[0]) is BF or isinstance(x[0], nb.generic)
    assert x.tolist() == [1.0, 1.0, 1.0] and type(x[0].item()) is float
    assert float(nb.finfo(nb.bfloat16).max) == float(ml_dtypes.finfo(BF).max)
    assert nb.isdtype(BF, "real floating") and not nb.isdtype(BF, "integral")
    for y in (pickle.loads(pickle.dumps(x)), nb.array(np.ones(3, BF)), nb.full(3, 1, dtype=BF),
              nb.arange(3, dtype=BF) * 0 + 1, nb.asarray([1, 1, 1], BF), nb.ones_like(x),
              nb.eye(3, dtype=BF).sum(0), x.copy(), x.view("uint16").view(BF)):  # fmt: skip
        same(y, np.ones(3, BF))
    shared = np.zeros(4, BF)
    nb.asarray(shared)[1:3] = 2.5
    if _core.get_device() == "cpu":
        assert shared.tolist() == [0, 2.5, 2.5, 0]


def test_dlpack():
    x = nb.array(drawn((3, 4)))
    same(nb.from_dlpack(x), np.asarray(x))


@pytest.mark.parametrize("other", [*OTHERS, "bfloat16"])
def test_promotion(other):
    a, b = nb.ones(2, BF), nb.ones(2, other)
    want = {
        "bool": "bfloat16", "int8": "bfloat16", "uint8": "bfloat16", "int16": "float32",
        "uint16": "float32", "float16": "float32", "bfloat16": "bfloat16", "float32": "float32",
        "complex64": "complex64", "complex128": "complex128",
    }.get(other, "float64")  # fmt: skip
    for t in ((a + b).dtype, (b * a).dtype, nb.where(a > 0, a, b).dtype, nb.result_type(a, b),
              nb.promote_types(BF, other), nb.concatenate([a, b]).dtype):  # fmt: skip
        assert t == want
    if other != "float16":
        with np.errstate(all="ignore"):
            assert (np.ones(2, BF) + np.ones(2, other)).dtype == want


def test_python_numbers_are_weak():
    a = nb.ones(2, BF)
    for y in (
        a + 1,
        1.5 * a,
        a - True,
        a / 3,
        nb.maximum(a, 2.5),
        a[0] + 1,
        nb.where(a > 0, a, 2.0),
    ):
        assert y.dtype == BF
    assert (a * 1j).dtype == np.complex64
    with pytest.raises(TypeError):
        a & a


def _arguments(row, x):
    other = np.roll(x, 1)
    return (x,) if row["nin"] == 1 else (x, other)


EXACT = frozenset(
    """add subtract multiply divide sqrt negative positive absolute fabs minimum maximum fmin fmax
    floor ceil rint trunc sign signbit copysign square reciprocal conjugate equal not_equal less
    less_equal greater greater_equal logical_and logical_or logical_xor logical_not isnan isfinite
    isinf heaviside nextafter""".split()
)


def _rows():
    for row in ROWS:
        u = getattr(np, row["name"])
        try:
            u(*_arguments(row, np.ones(2, BF)))
        except TypeError:  # integers alone, or ml_dtypes has no loop
            continue
        yield pytest.param(row, id=row["name"])


with np.errstate(all="ignore"):
    KNOWN = list(_rows())


def _special():
    words = np.concatenate(
        [np.arange(0, 65536, 97), [0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 1, 0x8001, 0x7F, 0x80]]
    )
    return words.astype(np.uint16).view(BF)


def _compare(row):
    """Zeros of extremes have the sign of either operand, that of sign() is NumPy's for floats."""
    name = row["name"]
    if name in ("maximum", "minimum", "fmax", "fmin", "sign"):
        return lambda got, want, what: same(np.asarray(got) + BF(0), want + BF(0), what)
    return same if name in EXACT else close


@pytest.mark.parametrize("row", KNOWN)
def test_rows(row):
    u, f = getattr(np, row["name"]), getattr(nb, row["name"])
    compare = _compare(row)
    for x in (_special(), drawn((1031,)), np.abs(drawn((40,), 1, 0.2))):
        args = _arguments(row, x)
        want = u(*args)
        compare(f(*[nb.array(a) for a in args]), want, row["name"])
    for name, (shape, make) in LAYOUTS.items():
        x = drawn(shape, 2)
        if row["nin"] == 2:
            y = drawn(shape, 3)
            want = u(make(np, x), make(np, y))
            got = f(make(nb, nb.array(x)), make(nb, nb.array(y)))
        else:
            want, got = u(make(np, x)), f(make(nb, nb.array(x)))
        compare(np.asarray(got), np.asarray(want), f"{row['name']} {name}")


@pytest.mark.parametrize("row", KNOWN)
def test_rows_compiled(row):
    u = getattr(np, row["name"])
    names = "x" if row["nin"] == 1 else "x, y"
    kind = u(*_arguments(row, np.ones(1, BF))).dtype
    plain = njit(function_of(f"np.{row['name']}({names})", names))
    inner = njit(function_of(f"np.{row['name']}({names})", names))

    @njit
    def loop1(x):
        out = np.empty(x.shape[0], kind)
        for i in range(x.shape[0]):
            out[i] = inner(x[i])
        return out

    @njit
    def loop2(x, y):
        out = np.empty(x.shape[0], kind)
        for i in range(x.shape[0]):
            out[i] = inner(x[i], y[i])
        return out

    for x in (_special(), drawn((67,))):
        args = _arguments(row, x)
        want = u(*args)
        for f in (plain, loop1 if row["nin"] == 1 else loop2):
            for made in (np.asarray, nb.array):
                got = f(*[made(a) for a in args])
                _compare(row)(np.asarray(got), want, f"{row['name']} {f}")


def test_fused_chains_round_at_each_result():
    x, y = drawn((500,)), drawn((500,), 1)
    a, b = nb.array(x), nb.array(y)
    same((a * b + a) * b - a / (b + 7), (x * y + x) * y - x / (y + 7))
    same(nb.where(a > b, a * 2, b + a), np.where(x > y, x * BF(2), y + x))
    a[::2] += b[::2]
    x[::2] += y[::2]
    same(a, x)


@pytest.mark.parametrize("shape", [(7,), (1000,), (40, 50), (3, 4, 5), (1, 20000)])
def test_reductions(shape):
    x = drawn(shape)
    a = nb.array(x)
    wide = x.astype("f4")
    for axis in (None, *range(len(shape))):
        close(np.asarray(a.sum(axis)), np.asarray(wide.astype("f8").sum(axis)).astype(BF), "sum")
        close(np.asarray(a.mean(axis)), np.asarray(wide.astype("f8").mean(axis)).astype(BF), "mean")
        close(np.asarray(a.var(axis)), np.asarray(wide.astype("f8").var(axis)).astype(BF), "var")
        close(np.asarray(a.std(axis)), np.asarray(wide.astype("f8").std(axis)).astype(BF), "std")
        for name in ("min", "max", "argmin", "argmax", "any", "all"):
            want = np.asarray(getattr(wide, name)(axis))
            want = want.astype(BF) if name in ("min", "max") else want
            same(np.asarray(getattr(a, name)(axis)), want, name)
    assert nb.ones(3000, BF).sum() == 3000  # counted in float32: 256 is where bfloat16 would stop
    assert nb.array([1, np.nan, 3], BF).max() != 3 and nb.nanmax(nb.array([1, np.nan, 3], BF)) == 3


def test_scans_sorts_and_searches():
    x = np.concatenate([drawn((300,)), _special()])
    a = nb.array(x)
    same(nb.sort(a) + BF(0), _sorted(x) + BF(0))
    same(nb.argsort(a, stable=True), np.argsort(x.astype("f4"), stable=True))
    if on_gpu():  # which adds in another order, and rounds the sums once
        exact = np.cumsum(x[:300].astype("f8"))
        assert np.abs(np.asarray(nb.cumsum(a[:300])).astype("f8") - exact).max() < 2.0
    else:
        same(nb.cumsum(a[:300]), np.cumsum(x[:300]))
        same(nb.cumprod(a[:20]), np.cumprod(x[:20]))
    ordered = np.sort(x[:300].astype("f4")).astype(BF)
    same(
        nb.searchsorted(nb.array(ordered), a[:300]),
        np.searchsorted(ordered.astype("f4"), x[:300].astype("f4")),
    )
    same(nb.unique(a[:300]), np.unique(x[:300].astype("f4")).astype(BF))
    same(nb.median(a[:299]), np.median(x[:299].astype("f4")).astype(BF)[()])
    same(nb.flip(a), x[::-1])
    same(nb.diff(a[:300]), np.diff(x[:300]))
    y = drawn((5000,), 9)
    same(
        nb.sort(nb.array(y).reshape(5, 1000), 0),
        np.sort(y.reshape(5, 1000).astype("f4"), 0).astype(BF),
    )
    same(nb.sort(nb.array(np.tile(y, 10))), np.sort(np.tile(y, 10).astype("f4")).astype(BF))


def _sorted(x):
    return x[np.argsort(x.astype("f4"), stable=True)]


def test_indexing():
    x = drawn((20, 30))
    a = nb.array(x)
    for index in (3, (slice(None), 4), (slice(1, 9, 2), slice(None, None, -3)), [1, 5, 1], x > 0,
                  (Ellipsis, None), (np.array([1, 2]), np.array([3, 4]))):  # fmt: skip
        same(np.asarray(a[index]), np.asarray(x[index]), str(index))
    a[2] = 7
    a[:, 3] = [*range(20)]
    a[a > 3] = -1.5
    a[[1, 4]] = a[[4, 1]]
    x[2] = 7
    x[:, 3] = [*range(20)]
    x[x > 3] = -1.5
    x[[1, 4]] = x[[4, 1]]
    same(a, x)
    nb.add.at(a, ([1, 1, 2], [3, 3, 3]), BF(0.5))
    np.add.at(x, ([1, 1, 2], [3, 3, 3]), BF(0.5))
    same(a, x)
    for name in ("concatenate", "stack", "vstack"):
        same(getattr(nb, name)([a, a]), getattr(np, name)([x, x]))
    same(nb.take(a, [3, 1], 1), np.take(x, [3, 1], 1))
    same(nb.clip(a, -1, 1), np.minimum(np.maximum(x, BF(-1)), BF(1)))


@pytest.mark.parametrize(
    "shape",
    [((3, 4), (4, 5)), ((50, 70), (70, 20)), ((2, 3, 4), (2, 4, 3)), ((4,), (4,)), ((3, 4), (4,))],
)
def test_products(shape):
    x, y = drawn(shape[0]), drawn(shape[1], 1)
    want = np.matmul(x.astype("f8"), y.astype("f8"))
    exact = np.asarray(want).astype(BF)
    for text in ("a @ b", "np.dot(a, b)"):
        if text != "a @ b" and len(shape[0]) > 2:
            continue
        got = eval(text, {"np": nb, "a": nb.array(x), "b": nb.array(y)})
        assert got.dtype == BF
        bound = np.matmul(abs(x.astype("f8")), abs(y.astype("f8"))) * 2.0**-20
        far = abs(np.asarray(got).astype("f8") - want) - abs(exact.astype("f8") - want)
        assert (far <= bound + abs(want) * 2.0**-9).all()
    if len(shape[0]) == 2:
        f = njit(lambda a, b: a @ b)
        assert f(x, y).dtype == BF
        np.testing.assert_allclose(f(x, y).astype("f4"), want, rtol=2.0**-7, atol=1e-2)


def test_compiled_functions():
    @njit
    def loop(x, s):
        total = np.float32(0)
        for i in range(x.shape[0]):
            x[i] = x[i] * s + 1
            total += x[i]
        return total, x[0], x.sum(), x.max()

    x = drawn((100,))
    y = (x * BF(0.5) + BF(1)).copy()
    for made in (np.array, nb.array):
        a = made(x)
        total, first, whole, most = loop(a, BF(0.5))
        same(np.asarray(a), y)
        assert first == y[0] and most == y.max() and BF(whole) == whole
        assert abs(float(total) - y.astype("f8").sum()) < 1e-3

    @njit
    def made_in(n):
        a = np.zeros(n, nb.bfloat16)
        a[1:] = 1.00390625
        return a, a.astype(np.float32), a.dtype.itemsize, nb.bfloat16(1.3)

    a, wide, size, number = made_in(4)
    assert a.tolist() == [0, 1, 1, 1] and wide.dtype == np.float32 and size == 2
    assert number == BF(1.3)
    f = nb.vectorize(lambda x, y: x * y + 1)
    same(np.asarray(f(nb.array(x), nb.array(x))), (x * x + BF(1)))


@pytest.mark.cpu
def test_kernels():
    from numbus import cuda

    @cuda.jit
    def scaled(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i] * x[i]

    x = np.arange(1, 9).astype(BF)
    out = nb.zeros(8, BF)
    scaled[1, 32](nb.array(x), out)
    same(out, x * x)


def test_gradients():
    x = drawn((6, 5), 4, 1.0)

    def loss(a):
        return (nb.tanh(a) * a + nb.exp(-a * a)).sum() + (a @ a.T).mean() + a[[1, 1, 2]].sum()

    got = nb.grad(loss)(nb.array(x))
    want = nb.grad(loss)(nb.array(x.astype("f4")))
    assert got.dtype == BF
    np.testing.assert_allclose(np.asarray(got).astype("f4"), np.asarray(want), rtol=0.05, atol=0.05)


def test_what_is_not_there_says_so():
    x = nb.array(drawn((4, 4)))
    for call in (nb.linalg.inv, nb.linalg.cholesky, nb.linalg.svd, nb.linalg.eigh):
        with pytest.raises(TypeError, match=r"16|bfloat16"):
            call(x)
    assert nb.fft.fft(x).dtype == np.complex64
    with pytest.raises(TypeError):
        nb.random.default_rng(1).random(3, dtype=BF)


def test_statistics_and_others():
    x = drawn((200,), 5)
    a, w = nb.array(x), x.astype("f4")
    assert abs(float(nb.quantile(a, 0.25)) - np.quantile(w, 0.25)) < 0.02
    assert nb.histogram(a, 7)[0].sum() == 200
    assert nb.nan_to_num(nb.array([np.nan, np.inf, 1], BF)).tolist() == [
        0,
        float(ml_dtypes.finfo(BF).max),
        1,
    ]
    same(nb.round(a, 1), (np.rint(x * BF(10)) / BF(10)))
    for fr, want in zip(nb.frexp(a), np.frexp(x)):
        same(fr, want)
    for part, want in zip(nb.modf(a), np.modf(x)):
        same(part, want)
    same(nb.isclose(a, a), np.ones(200, bool))
    assert nb.linspace(0, 1, 5, dtype=BF).tolist() == [0, 0.25, 0.5, 0.75, 1]
    close(nb.convolve(a, nb.array(x[:3])), np.convolve(w, w[:3]).astype(BF))
    same(nb.where(a > 0, a, nb.zeros(200, BF)), np.where(x > 0, x, BF(0)))


_BINARY = "add subtract multiply divide minimum maximum fmin fmax copysign".split()
_UNARY = "negative absolute square sqrt copy conjugate reciprocal positive".split()
_VIEWS = ("{0}", "{0}[::-1]", "{0}.T.copy().T", "{0}[:, ::-1]", "({0} * bf(1))")


def _program(seed):
    """Statements on arrays v0, v1, ... of one shape, whose results NumPy gives to the last bit."""
    r = np.random.default_rng(seed)
    lines, count = [], 2
    for _ in range(int(r.integers(3, 12))):
        x, y = (_VIEWS[r.integers(5)].format(f"v{r.integers(count)}") for _ in range(2))
        kind = r.integers(6)
        if kind < 2:
            lines.append(f"v{count} = xp.{_BINARY[r.integers(9)]}({x}, {y})")
        elif kind == 2:
            lines.append(f"v{count} = xp.{_UNARY[r.integers(8)]}({x})")
        elif kind == 3:
            lines.append(f"v{count} = xp.where({x} > {y}, {y}, {x})")
        elif kind == 4:
            lines.append(f"v{count} = {x} + abs({y}).max(0)")
        else:
            at = ("[::2]", "[:, 1]", "[1:]", "[v0 > v1]")[r.integers(4)]
            lines.append(f"v{count} = {x}.copy(); v{count}{at} = bf(0.75)")
        count += 1
        if r.integers(4) == 0:
            lines.append(f"v{r.integers(count)}[1:] += {y}[1:]")
    return lines


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_random_programs(first):
    for seed in range(first, first + 20):
        lines = _program(seed)
        if on_gpu() and "copysign" in "".join(lines):
            continue  # signs of NaN are the processor's
        shape = (4, 5) if seed % 2 else (40, 70)
        found = []
        for xp in (np, nb):
            known = {"xp": xp, "bf": BF}
            for k in range(2):
                known[f"v{k}"] = xp.array(drawn(shape, seed + 1000 * k))
            exec("\n".join(lines), known)
            found.append({k: np.asarray(v) for k, v in known.items() if k[0] == "v"})
        for name, want in found[0].items():
            same(found[1][name], want, "; ".join(lines) + f" # {seed}: {name}")
