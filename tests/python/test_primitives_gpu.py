"""The device code of the routines against NumPy: on a GPU where one is the device, else as grids on the CPU."""

import numbus as nb
import numpy as np
import pytest
from numbus import _core, primitives

pytestmark = [pytest.mark.numbus, pytest.mark.usefixtures("fibers")]

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
# Lines at the edges of warps, blocks and tiles (the CPU's tiles are small), with what they hold.
CASES = [
    ((1,), "random"),
    ((33,), "special"),
    ((257,), "few"),
    ((769,), "special"),
    ((1537,), "equal"),
    ((3, 700), "random"),
    ((2, 513), "reversed"),
    ((4001,), "special"),
    ((0,), "random"),
    ((4, 0), "random"),
]


@pytest.fixture
def fibers(monkeypatch):
    """A thread a fiber, on a CPU: code of the threads one by one is compiled in less time."""
    monkeypatch.setenv("NUMBUS_FIBERS", "1")


def run(name, inputs, shape, dtype, **attributes):
    """The output of a routine's device code, as NumPy's array."""
    out = nb.empty(shape, dtype)
    _core.run_routine(name, [nb.asarray(i) for i in inputs], [out], attributes)
    nb.synchronize()
    return np.asarray(out)


def pattern(kind, shape, dtype, seed=0):
    """Values of a dtype: random, few, equal, sorted, reversed; floats with all that is special."""
    r = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if kind == "equal":
        return np.full(shape, 3 if dtype != bool else True).astype(dtype)
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


def test_not_loaded():
    x = nb.zeros(4, "complex128")
    with pytest.raises(RuntimeError, match=r"\[radix_scatter\] the device kernel was not loaded"):
        _core.run_routine("sort", [x], [nb.empty(4, "complex128")], {})


def test_unknown_routine():
    with pytest.raises(ValueError, match="no such routine"):
        _core.run_routine("turn", [], [], {})
