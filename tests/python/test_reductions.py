"""Reductions: every operation × axis × keepdims × dtype, against NumPy."""

import warnings

import numbus as nb
import numpy as np
import pytest
from helpers import assert_same_array, both, draw, run_both, supported_dtypes

OPS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax",
       "count_nonzero"]  # fmt: skip
DTYPES = supported_dtypes()
RTOL = {2: 2e-2, 4: 3e-6, 8: 2e-14}


def tolerance(dtype):
    dtype = np.dtype(dtype)
    return RTOL.get(dtype.itemsize // (2 if dtype.kind == "c" else 1), 2e-14) * (
        1 if dtype.kind in "fc" else 0
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_axes(xp, mode, op, dtype):
    x = draw((4, 5, 3), dtype, 0.5 if op == "prod" else -3, 1.5 if op == "prod" else 3)
    a = xp.array(x)
    for axis in (None, 0, 1, 2, -1, (0, 1), (0, 2), (2, 1), (0, 1, 2), ()):
        for keepdims in (False, True):
            if op.startswith("arg") and isinstance(axis, tuple):
                continue
            if op == "count_nonzero" and axis == ():
                continue
            kwargs = {"axis": axis, "keepdims": keepdims}
            try:
                want = getattr(np, op)(x, **kwargs)
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(xp, op)(a, **kwargs)
                continue
            rtol = tolerance(want.dtype) if hasattr(want, "dtype") else 0
            got = getattr(xp, op)(a, **kwargs)
            if isinstance(want, int):
                assert got == want
                continue
            assert_same_array(got, want, rtol, f"{op} {dtype} {kwargs}")
            if op != "count_nonzero":
                got = getattr(a, op)(**kwargs)
                assert_same_array(got, want, rtol, f"method {op} {dtype} {kwargs}")


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("make", ["x[::2]", "x[:, ::-1]", "x.T", "x[::-1, 1:3]", "x[:, :1]",
                                  "xp.broadcast_to(x[:1], (6, 40))"])  # fmt: skip
def test_layouts(xp, mode, op, make):
    x = draw((41, 40), "float64", 0.9, 1.1)
    for axis in (None, 0, 1):
        # 1 + …: the columns of a broadcast row vary by nothing but NumPy's own rounding.
        both(xp, f"1 + xp.{op}({make}, axis={axis})", 1e-12, x=x)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, 100_003])
def test_lengths(xp, mode, op, n):
    x = draw((n,), "float64", 0.9, 1.1, seed=n)
    both(xp, f"xp.{op}(x)", 1e-12, x=x)
    both(xp, f"xp.{op}(x[::-1] * 2)", 1e-12, x=x)


@pytest.mark.parametrize("shape", [(1000, 3), (3, 1000), (70, 65, 2), (2, 40_000), (40_000, 2)])
@pytest.mark.parametrize("op", ["sum", "max", "mean", "std", "argmin", "any"])
def test_shapes(xp, mode, op, shape):
    x = draw(shape, "float64", -1, 1)
    for axis in (None, 0, 1, *([(0, 2)] if len(shape) == 3 and op != "argmin" else [])):
        both(xp, f"xp.{op}(x, axis={axis})", 1e-12, x=x)


@pytest.mark.parametrize("text", [
    "x.sum(dtype='float32')", "x.sum(dtype='int64')", "xp.sum(k, dtype='float64')", "xp.mean(k)",
    "xp.mean(k, dtype='float32')", "x.std(ddof=1)", "x.var(axis=0, ddof=1)",
    "xp.sum(x, where=x > 0)", "xp.sum(x, axis=1, where=x > 0)", "xp.mean(x, where=x > 0)",
    "xp.max(x, where=x < 1, initial=-9.0)", "xp.min(x, initial=-9.0)", "xp.sum(x, initial=5.0)",
    "xp.prod(x[0], initial=2.0)", "xp.any(x > 1.9)", "xp.all(x < 9, axis=0)", "x.std(axis=(0, 1))",
    "xp.linalg.norm(x)", "xp.linalg.norm(x, axis=1)", "xp.linalg.norm(x[0])",
    "xp.linalg.norm(x, 1, axis=0)", "xp.linalg.norm(x, xp.inf, axis=0)", "xp.cumsum(x)",
    "xp.cumsum(x, axis=0)", "x.cumsum(1)", "xp.cumprod(x[0])", "xp.nansum(y)", "xp.nanmean(y)",
    "xp.nanmax(y)", "xp.nanmin(y, axis=0)", "xp.nanstd(y)", "xp.nanprod(y[0])",
    "xp.nanvar(y, axis=1)", "xp.ptp(x)", "xp.amax(x, 0)", "xp.amin(x)", "xp.average(x)",
    "xp.average(x, axis=0)", "xp.median(x)", "xp.add.reduce(x)", "xp.add.reduce(x, axis=1)",
    "xp.maximum.reduce(x, axis=None)", "xp.add.accumulate(x)", "xp.multiply.outer(x[0], x[1])",
    "xp.sum([1, 2, 3])", "xp.sum(2.5)", "xp.max(3)", "xp.sum(x, out=xp.zeros(()))",
    "xp.sum(x, axis=0, out=xp.zeros(9))", "sum(x[0])", "max(x[0])", "xp.trace(x)",
    "xp.dot(x, x.T)", "x @ x.T", "xp.vdot(x, x)", "xp.inner(x[0], x[1])", "xp.outer(x[0], x[1])",
    "xp.einsum('ij,ij->i', x, x)", "xp.einsum('ij,kj->ik', x, x)",
    "xp.tensordot(x, x, ([0, 1], [0, 1]))", "xp.matmul(x.T, x)",
])  # fmt: skip
def test_forms(xp, mode, text):
    x = draw((7, 9), "float64", -2, 2)
    y = x.copy()
    y[1, 2] = y[3, 3] = np.nan
    both(xp, text, 2e-6 if "float32" in text else 1e-13, x=x, y=y, k=draw((40,), "int64", -9, 9))


@pytest.mark.parametrize("op", ["sum", "max", "min", "mean", "argmax", "argmin", "any", "std"])
def test_nan(xp, mode, op):
    for at in (0, 5, 999):
        x = draw((1000,), "float64", -1, 1)
        x[at] = np.nan
        both(xp, f"xp.{op}(x)", x=x)
        both(xp, f"xp.{op}(x.reshape(10, 100), axis=1)", 1e-13, x=x)


@pytest.mark.parametrize("op", ["argmin", "argmax"])
def test_first_of_equals(xp, mode, op):
    x = np.array([3, 1, 5, 1, 5, 3] * 50)
    both(xp, f"x.{op}()", x=x)
    both(xp, f"x.reshape(10, 30).{op}(axis=0)", x=x)
    both(xp, f"(x.reshape(10, 30) % 2).{op}(axis=1)", x=x)


def test_empty(xp, mode):
    run_both(
        xp,
        "s = a.sum()\np = a.prod()\nq = a.any()\nr = a.all()\nt = b.sum(axis=0)\nu = b.sum(axis=1)",
        a=np.zeros(0),
        b=np.zeros((0, 3)),
    )
    for op in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(xp, op)(xp.zeros(0))
        with pytest.raises(ValueError):
            getattr(xp, op)(xp.zeros((0, 3)), axis=0)


def test_accuracy_of_variance(xp, mode):
    """A large mean must not eat the variance."""
    x = draw((100_000,), "float64", 0, 1) + 1e8
    want = float(np.var(x - 1e8))
    assert abs(float(xp.var(xp.array(x))) - want) < 1e-6 * want


def test_accuracy_of_float32_sum(xp, mode):
    x = draw((1_000_003,), "float32", 0, 1)
    exact = float(x.astype("float64").sum())
    assert abs(float(xp.sum(xp.array(x))) - exact) < 1e-6 * exact


def test_reduction_of_expression_and_reuse(xp, mode):
    run_both(
        xp,
        "m = x.mean()\ns = x.std()\nz = (x - m) / s\nt = (z * z).sum(axis=0)\n"
        "u = z.max() - z.min()\n"
        "x += u\nv = xp.sqrt(xp.sum(x**2))\nx /= v\nw = x.sum() + x[0, 0]",
        1e-12,
        x=draw((30, 20), "float64", -1, 3),
    )


def test_axis_errors(xp):
    a = xp.ones((2, 3))
    for axis in (2, -3, (0, 5)):
        with pytest.raises(ValueError):  # AxisError is a ValueError and an IndexError
            xp.sum(a, axis=axis)
        with pytest.raises(IndexError):
            xp.sum(a, axis=axis)
    with pytest.raises(ValueError):
        xp.sum(a, axis=(0, 0))


def test_variance_without_degrees_of_freedom():
    for values, ddof in (([], 0), ([np.nan], 1), ([1.0, 2.0], 2), ([3.0], 1)):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = np.var(values, ddof=ddof)
        np.testing.assert_equal(float(nb.var(nb.array(values), ddof=ddof)), want)
        masked = nb.array([*values, 7.0])
        keep = nb.array([True] * len(values) + [False])
        np.testing.assert_equal(float(nb.var(masked, ddof=ddof, where=keep)), want)


@pytest.mark.parametrize("width", [2, 7, 50, 300])
@pytest.mark.parametrize("op", ["sum", "mean", "std", "max", "argmax", "any"])
def test_windows_over_a_series(xp, mode, op, width):
    """Rows that overlap, along the series and across it, of it and of what is computed from it."""
    data = draw((401,), "float64")
    rows = len(data) - width + 1
    want = np.lib.stride_tricks.sliding_window_view(data, width)
    view = xp.lib.stride_tricks.as_strided(xp.array(data), (rows, width), (8, 8))
    for axis in (0, 1):
        for w, x in ((want, view), (want * 0.5, view * 0.5), (want[::2], view[::2])):
            got = getattr(x, op)(axis=axis)
            np.testing.assert_allclose(np.asarray(got), getattr(w, op)(axis=axis), 1e-12, 1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variance_of_lanes_that_met_nothing(xp, mode, dtype):
    """Rows shorter than the lanes, of one element, with outliers and with NaNs."""
    for n in (33, 40, 63, 64, 65, 100):
        x = draw((50, n), dtype, 1000, 1001)
        x[3, 5], x[4, 0], x[5, n - 1] = 1e6, -1e6, np.nan
        with np.errstate(all="ignore"):
            want = x.astype("f8").var(axis=1)
        got = np.asarray(xp.array(x).var(axis=1))
        np.testing.assert_allclose(got, want, 2e-5 if dtype == "float32" else 1e-10)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("op", "sum mean median average nansum nanmean nanmedian".split())
def test_sums_of_negative_zeros(xp, mode, op, dtype):
    """What is a sum begins with a zero, a mean of middle elements too: none is -0.0."""
    for shape in ((1,), (2,), (3,), (1, 3), (3, 2), (300, 2)):
        zeros = -np.zeros(shape, dtype)
        if np.iscomplexobj(zeros):
            zeros = zeros.conj()
        for axis in range(-1, len(shape)):
            axis = None if axis < 0 else axis
            want = np.asarray(getattr(np, op)(zeros, axis))
            got = np.asarray(getattr(xp, op)(xp.array(zeros), axis))
            for g, w in ((got.real, want.real), (got.imag, want.imag)):
                np.testing.assert_array_equal(np.signbit(g), np.signbit(w), f"{shape} {axis}")


def average_of(x, axis):
    return np.average(x, axis=0) if axis == 0 else np.average(x, axis=1)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.filterwarnings("ignore")
def test_average_of_nothing(xp, axis):
    """NumPy divides by the number of means; means of no elements are NaN."""
    for shape in ((0, 3), (3, 0), (0, 0)):
        x = np.zeros(shape)
        calls = (lambda a, k: xp.average(xp.array(a), axis=k)), nb.njit(average_of)
        for call in calls:
            try:
                want = average_of(x, axis)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    call(x, axis)
            else:
                np.testing.assert_array_equal(np.asarray(call(x, axis)), want)
