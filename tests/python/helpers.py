"""What the tests share: dtypes, layouts, comparison with NumPy in units in the last place."""

import importlib
import os
import warnings

import numpy as np

MODULE = os.environ.get("NUMBUS_TEST_MODULE", "numbus")
ALL = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64
    complex128""".split()


def supported_dtypes():
    """The dtypes that the module under test has."""
    try:
        xp = importlib.import_module(MODULE)
    except ImportError:
        return ALL
    found = []
    for name in ALL:
        try:
            xp.zeros(1, name)
            found.append(name)
        except (TypeError, NotImplementedError):
            pass
    return found


def draw(shape, dtype, lo=-3.0, hi=3.0, seed=0):
    """Random data in [lo, hi], cut to what the dtype can hold."""
    r = np.random.default_rng([seed, *map(abs, shape)])
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return r.random(shape) < 0.5
    if dtype.kind == "u":
        lo, hi = max(lo, 0.0), max(hi, 1.0)
    if dtype.kind in "iu":
        low, high = int(np.ceil(lo)), max(int(np.floor(hi)), int(np.ceil(lo)))
        return r.integers(low, high, shape, endpoint=True).astype(dtype)
    x = r.uniform(lo, hi, shape)
    if dtype.kind == "c":
        return (x + 1j * r.uniform(lo, hi, shape)).astype(dtype)
    return x.astype(dtype)


# name: (shape to draw, how the operand is made of it)
LAYOUTS = {
    "contiguous": ((7, 37), lambda xp, x: x),
    "strided": ((9, 22), lambda xp, x: x[::2, 1::3]),
    "negative": ((5, 33), lambda xp, x: x[::-1, ::-1]),
    "transposed": ((17, 6), lambda xp, x: x.T),
    "column": ((12, 5), lambda xp, x: x[:, 2]),
    "broadcast": ((1, 9), lambda xp, x: xp.broadcast_to(x, (4, 9))),
    "0-d": ((), lambda xp, x: x),
    "empty": ((0, 3), lambda xp, x: x),
    "one": ((1, 1), lambda xp, x: x),
    "long": ((1031,), lambda xp, x: x),
}


def operand(xp, layout, dtype, lo, hi, seed):
    """The same operand for NumPy and for xp."""
    shape, make = LAYOUTS[layout]
    x = draw(shape, dtype, lo, hi, seed)
    return make(np, x), make(xp, xp.array(x))


def leaks(value):
    """The arrays of NumPy's in a result that Numbus could hold."""
    if isinstance(value, (tuple, list)):
        return [a for x in value for a in leaks(x)]
    held = (
        type(value) is np.ndarray and value.dtype.kind in "biufc" and value.dtype.char not in "gG"
    )
    return [value] if held else []


def to_numpy(x):
    return np.array(np.asarray(x))


def ulps(got, exact):
    """Error of got in units in the last place of its own type; exact is of a wider type."""
    got = np.asarray(got)
    exact = np.asarray(exact)
    wide = exact.dtype
    with np.errstate(all="ignore"):
        rounded = np.abs(exact.astype(got.dtype))
        unit = np.spacing(np.maximum(rounded, np.finfo(got.dtype).tiny)).astype(wide)
        error = np.abs(got.astype(wide) - exact) / unit
        ok = np.isnan(got) & np.isnan(exact)
        ok |= np.isinf(got) & (got == exact.astype(got.dtype))
    return np.where(ok, 0, error)


def assert_same(got, want, rtol=0.0, what=""):
    """Same shape, dtype and kind; values exact, or within rtol of the largest magnitude."""
    want_array = np.asarray(want)
    assert tuple(got.shape) == want_array.shape, f"{what}: shape {got.shape} != {want_array.shape}"
    assert got.dtype == want_array.dtype, f"{what}: dtype {got.dtype} != {want_array.dtype}"
    x = to_numpy(got)
    if rtol == 0.0 or want_array.dtype.kind not in "fc":
        if not np.array_equal(x, want_array, equal_nan=want_array.dtype.kind in "fc"):
            bad = np.argwhere(np.atleast_1d(~(x == want_array)))[:3].tolist()
            raise AssertionError(f"{what}: differs at {bad}:\n{x!r}\n!=\n{want_array!r}")
        return
    np.testing.assert_array_equal(np.isnan(x), np.isnan(want_array), what)
    if x.size:
        scale = np.nanmax(np.abs(np.where(np.isfinite(want_array), want_array, 0)))
        with np.errstate(invalid="ignore"):
            d = np.where(x == want_array, 0, np.abs(x - want_array))
        worst = np.nanmax(d) if not np.isnan(d).all() else 0
        assert worst <= rtol * scale, f"{what}: off by {worst} with magnitude {scale}"


def assert_same_array(got, want, rtol=0.0, what=""):
    """assert_same, with strides and the distinction between array and scalar."""
    assert_same(got, want, rtol, what)
    if isinstance(want, np.ndarray):
        assert len(got.strides) == want.ndim
        if want.size:
            for n, s, t in zip(want.shape, got.strides, want.strides):
                assert n == 1 or s == t, f"{what}: strides {got.strides} != {want.strides}"


def both(xp, text, rtol=0.0, **names):
    """Evaluate text with NumPy and with xp on copies of the same data; compare the results."""
    want = eval(text, {"xp": np, **{k: v.copy() for k, v in names.items()}})
    got = eval(text, {"xp": xp, **{k: xp.array(v) for k, v in names.items()}})
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), text
        for g, w in zip(got, want):
            assert_same_array(g, w, rtol, text)
    elif isinstance(want, (np.ndarray, np.generic)):
        assert_same_array(got, want, rtol, text)
    else:
        assert got == want, f"{text}: {got!r} != {want!r}"


def run_both(xp, text, rtol=0.0, **names):
    """Execute statements with NumPy and with xp; compare every array that is left."""
    worlds = []
    for module in (np, xp):
        ns = {"xp": module, "np": np}
        ns.update({k: v.copy() if module is np else xp.array(v) for k, v in names.items()})
        exec(text, ns)
        worlds.append(ns)
    want, got = worlds
    for name, value in want.items():
        if isinstance(value, (np.ndarray, np.generic)):
            assert_same_array(got[name], value, rtol, f"{text}\n{name}")
        elif isinstance(value, (bool, int, float, complex, str)):
            assert got[name] == value, f"{text}\n{name}: {got[name]!r} != {value!r}"
    return got


def outcome(call):
    """What a call gives: its value, or the exception that it raises."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except Exception as error:
        return error


def assert_same_outcome(got, want, rtol=0.0, what="", layout=True):
    """The same value, with strides if `layout`, or an exception of a class that NumPy's is of."""
    if isinstance(want, Exception):
        kinds = [kind for kind in type(want).__mro__ if kind.__module__ == "builtins"]
        assert isinstance(got, kinds[0]), f"{what}: {got!r} where NumPy raises {want!r}"
    elif isinstance(got, Exception):
        raise AssertionError(f"{what}: raises {got!r} where NumPy gives {want!r}") from got
    elif isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for g, w in zip(got, want):
            assert_same_outcome(g, w, rtol, what, layout)
    elif isinstance(want, (np.ndarray, np.generic)):
        (assert_same_array if layout else assert_same)(got, want, rtol, what)
    else:
        assert got == want, f"{what}: {got!r} != {want!r}"
