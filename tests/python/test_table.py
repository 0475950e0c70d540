"""Tests generated from the table of operations: operation × dtype × layout × back end."""

import importlib

import numpy as np
import pytest
from helpers import LAYOUTS, MODULE, assert_same, operand, supported_dtypes, to_numpy, ulps


def rows():
    try:
        return (
            importlib.import_module("numbus._core").table() if MODULE == "numbus" else fake_rows()
        )
    except ImportError:
        return fake_rows()


def fake_rows():
    """Rows for debugging the tests with NumPy."""
    names = ["add", "divide", "sqrt", "sin", "log", "less", "bitwise_and", "power", "floor_divide"]
    unary = ("sqrt", "sin", "log")
    domain = {"sqrt": (0, 100), "log": (0.01, 100), "divide": (0.5, 100), "power": (0.5, 4)}
    domain["floor_divide"] = (1, 100)
    return [
        dict(name=n, nin=1 if n in unary else 2, domain=domain.get(n, (-100, 100)), ulp=4)
        for n in names
    ]


# A row's `ulp` of 0: it agrees with NumPy bit for bit on real numbers; else the largest error.
ROWS = [r for r in rows() if hasattr(np, r["name"])]
ULP = {r["name"]: r["ulp"] for r in ROWS}
DTYPES = supported_dtypes()
WIDE = {"float16": np.float64, "float32": np.float64, "float64": np.longdouble}


def wide_reference(u, inputs, dtype):
    """The result to more digits than dtype has; None where NumPy cannot say."""
    wide = WIDE.get(np.dtype(dtype).name)
    if wide is None:
        return None
    with np.errstate(all="ignore"):
        return u(*[np.asarray(x).astype(wide) if np.ndim(x) or hasattr(x, "dtype") else x
                   for x in inputs])  # fmt: skip


def check(name, u, got, inputs, what):
    """One result against NumPy (exact rows) or against the truth (the others)."""
    with np.errstate(all="ignore"):
        want = u(*inputs)
    kind = want.dtype.kind
    if kind == "c" or (kind == "f" and any(np.asarray(x).dtype.kind == "c" for x in inputs)):
        rtol = 1e-3 if want.dtype.itemsize < 4 else 4e-6 if want.real.dtype == np.float32 else 1e-14
        if name in ("add", "subtract", "negative", "positive", "conjugate"):
            rtol = 0.0
        return assert_same(got, want, rtol, what)
    if kind != "f" or ULP[name] == 0:
        return assert_same(got, want, 0.0, what)
    assert got.shape == want.shape and got.dtype == want.dtype, what
    exact = wide_reference(u, inputs, want.dtype)
    error = ulps(to_numpy(got), exact)
    worst = float(np.max(error, initial=0.0))
    assert worst <= ULP[name], f"{what}: {worst:.2f} ULP"
    return None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", ROWS, ids=[r["name"] for r in ROWS])
def test_row(xp, mode, row, dtype):
    name, (lo, hi) = row["name"], row["domain"]
    u = getattr(np, name)
    function = getattr(xp, name)
    probe = [np.ones(1, dtype)] * row["nin"]
    try:
        u(*probe)
    except TypeError:
        with pytest.raises(TypeError):
            function(*[xp.array(p) for p in probe])
        return
    if np.dtype(dtype).kind == "c" and name in ("expm1", "log1p", "arccosh", "arctanh", "power"):
        lo, hi = 0.1, 0.9
    if np.dtype(dtype).itemsize <= 2 or np.dtype(dtype) == np.complex64:
        lo, hi = max(lo, -10), min(hi, 10)
    for layout in LAYOUTS:
        pairs = [operand(xp, layout, dtype, lo, hi, seed) for seed in range(row["nin"])]
        inputs, subjects = zip(*pairs)
        check(name, u, function(*subjects), inputs, f"{name} {dtype} {layout}")
    if row["nin"] == 2:
        x, y = operand(xp, "contiguous", dtype, lo, hi, 3)
        for scalar in (2, 1.5, True):
            for inputs, subjects in (((x, scalar), (y, scalar)), ((scalar, x), (scalar, y))):
                try:
                    u(*inputs)
                except TypeError:
                    continue
                check(name, u, function(*subjects), inputs, f"{name} {dtype} with {scalar}")


@pytest.mark.parametrize("row", ROWS, ids=[r["name"] for r in ROWS])
def test_out_and_where(xp, mode, row):
    """out= writes into the array and returns it; where= leaves the rest alone."""
    name, (lo, hi) = row["name"], row["domain"]
    u, function = getattr(np, name), getattr(xp, name)
    dtype = "int64" if row.get("rule") in ("Bits", "Shift", "BitCount") else "float64"
    try:
        kind = u(*[np.ones(1, dtype)] * row["nin"]).dtype
    except TypeError:
        dtype = "int64"
        kind = u(*[np.ones(1, dtype)] * row["nin"]).dtype
    inputs, subjects = zip(*[operand(xp, "strided", dtype, lo, hi, i) for i in range(row["nin"])])
    want, got = np.zeros(inputs[0].shape, kind), xp.zeros(inputs[0].shape, kind)
    mask = np.arange(want.size).reshape(want.shape) % 3 == 0
    u(*inputs, out=want, where=mask)
    result = function(*subjects, out=got, where=xp.array(mask))
    assert result is got
    rtol = 0.0 if ULP[name] == 0 else 4e-15
    assert_same(got, want, rtol, f"{name} where=")
    u(*inputs, out=want)
    function(*subjects, out=got)
    assert_same(got, want, rtol, f"{name} out=")


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308, 0.5, 2.5])


@pytest.mark.parametrize("row", ROWS, ids=[r["name"] for r in ROWS])
def test_special_values(xp, mode, row):
    """Infinities, NaN, zeros of both signs: NumPy's results, never a trap."""
    name = row["name"]
    u = getattr(np, name)
    for dtype in ("float64", "float32"):
        with np.errstate(all="ignore"):
            x = SPECIAL.astype(dtype)
            inputs = [x] if row["nin"] == 1 else [np.repeat(x, len(x)), np.tile(x, len(x))]
            try:
                want = u(*inputs)
            except TypeError:
                return
        got = to_numpy(getattr(xp, name)(*[xp.array(x) for x in inputs]))
        assert got.dtype == want.dtype
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(got, want, name)
            continue
        for test in (np.isnan, np.isposinf, np.isneginf):
            a, b = test(got), test(want)
            if not (a == b).all():
                at = np.flatnonzero(a != b)[:4]
                at = [(*(float(x[i]) for x in inputs), float(got[i]), float(want[i])) for i in at]
                raise AssertionError(f"{name} {dtype}: (inputs, got, NumPy) = {at}")
        finite = np.isfinite(want)
        close = np.isclose(got[finite], want[finite], 4 * np.finfo(dtype).eps, 1e-300)
        assert close.all(), f"{name} {dtype}"


INTEGER_EDGES = [0, 1, -1, 2, 7, -7, np.iinfo(np.int64).max, np.iinfo(np.int64).min, 63, 64, -64]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "iu"])
@pytest.mark.parametrize("row", ROWS, ids=[r["name"] for r in ROWS])
def test_integer_edges(xp, mode, row, dtype):
    """Division by zero, MIN // -1, oversized shifts, wrap-around."""
    name = row["name"]
    if name in ("power", "float_power", "left_shift", "right_shift"):
        edges = [e for e in INTEGER_EDGES if 0 <= e < 100]
    else:
        edges = INTEGER_EDGES
    x = np.array(edges, np.int64).astype(dtype)
    inputs = [x] if row["nin"] == 1 else [np.repeat(x, len(x)), np.tile(x, len(x))]
    with np.errstate(all="ignore"):
        try:
            want = getattr(np, name)(*inputs)
        except TypeError:
            return
    got = getattr(xp, name)(*[xp.array(x) for x in inputs])
    if want.dtype.kind == "f":
        if ULP[name] == 0:
            assert_same(got, want, 0.0, name)
        return
    assert_same(got, want, 0.0, name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_remainders_are_exact(xp, name, dtype):
    """For quotients of any size, subnormal numbers, zeros, infinities and NaNs."""
    r = np.random.default_rng(8)
    bits = f"u{np.dtype(dtype).itemsize}"
    x, y = r.integers(0, np.iinfo(bits).max, (2, 40000), bits).view(dtype)  # compiled
    y[::3] = x[::3] * r.uniform(1e-6, 2, y[::3].shape).astype(dtype)
    y[1::5] = np.ldexp(y[1::5], -200 if dtype == "float64" else -30).astype(dtype)
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, 3e-320, -2.5], dtype)
    x = np.concatenate([x, np.repeat(special, len(special))])
    y = np.concatenate([y, np.tile(special, len(special))])
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
    got = np.asarray(getattr(xp, name)(xp.array(x), xp.array(y)))
    np.testing.assert_array_equal(got, want)
    if name == "fmod":
        np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", [f"{u}int{8 * n}" for n in (1, 2, 4, 8) for u in ("", "u")])
def test_integer_division_is_exact(xp, name, dtype):
    """By floats where they hold both integers: sizes around their limits, zero, the lowest by -1.

    Long enough to be compiled.
    """
    r = np.random.default_rng(9)
    info = np.iinfo(dtype)
    around = [s * (2**p + d) for p in range(65) for d in (-1, 0, 1) for s in (1, -1)]
    special = np.array([v for v in around if info.min <= v <= info.max], dtype)

    def values():
        shift = r.integers(0, info.bits, 40000).astype(dtype)
        x = r.integers(info.min, info.max, 40000, dtype, endpoint=True) >> shift
        x[::5] = r.choice(special, x[::5].size)
        return x

    x, y = values(), values()
    y[1::5] = x[1::5] // np.maximum(y[1::5], 1)  # at and beside multiples
    with np.errstate(all="ignore"):
        for a, b in ((x, y), (x, y.dtype.type(7)), (x % 100, y), (x, y.dtype.type(0))):
            want = getattr(np, name)(a, b)
            other = xp.array(b) if np.ndim(b) else b
            np.testing.assert_array_equal(np.asarray(getattr(xp, name)(xp.array(a), other)), want)
