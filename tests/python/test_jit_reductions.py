"""Reductions in compiled functions, with all of NumPy's arguments, against NumPy."""

import numbus as nb
import numpy as np
import pytest
from jit_check import function_of

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
NAMES = "sum prod min max any all mean var std".split()
AXES = ["axis=(0, 2)", "axis=1, keepdims=True", "keepdims=True", "axis=()", "axis=(-1, 0)"]
CALLS = [
    *[f"np.{name}(a, {how})" for name in NAMES for how in AXES],
    *[f"a.{name}({how})" for name in NAMES for how in AXES[:2]],
    "np.sum(a, 1, np.float32)",
    "a.sum(None, np.float32)",
    "a.mean(0, np.float32)",
    "np.mean(a, dtype=np.float32)",
    "np.sum(a, initial=2.5)",
    "np.sum(a > 0, dtype=bool)",
    "np.sum(a, axis=0, dtype=np.int8)",
    "np.prod(a, axis=(0, 1), initial=2, dtype=np.float64)",
    "np.max(a, initial=1)",
    "np.max(a, axis=0, initial=1)",
    "np.min(a[:0], axis=0, initial=3)",
    "np.min(a[:0], axis=0)",
    "np.var(a, ddof=1)",
    "np.std(a, 1, ddof=2, keepdims=True)",
    "a.var(0, None, None, 1)",
    "np.var(a, correction=1)",
    "np.var(a, axis=(0, 1, 2), ddof=60)",
    "np.count_nonzero(a, axis=(0, 1))",
    "np.count_nonzero(a, keepdims=True)",
    "np.argmax(a, 0, keepdims=True)",
    "np.argmin(a, keepdims=True)",
    "np.mean(a > 0, axis=1, keepdims=True)",
]
A = np.random.default_rng(0).random((3, 4, 5)) - 0.4
ARRAYS = [A, (A * 10).astype(np.int32), A + 1j * A[::-1], A.astype(np.float16)]


def outcome(call):
    with np.errstate(all="ignore"):
        try:
            return call(), None
        except Exception as error:
            return None, error


@pytest.mark.parametrize("a", ARRAYS, ids=lambda a: a.dtype.name)
@pytest.mark.filterwarnings("ignore")
def test_arguments(a):
    ran = 0
    for call in CALLS:
        want, error = outcome(lambda: eval(call, {"np": np, "a": a}))  # noqa: B023
        got, mistake = outcome(lambda: nb.njit(function_of(call))(a))  # noqa: B023
        if "not yet" in str(mistake):
            continue
        if error is not None:
            assert mistake is not None, (call, error)
            continue
        assert mistake is None, (call, mistake)
        want, got = np.asarray(want), np.asarray(got)
        assert got.shape == want.shape, call
        assert got.dtype == want.dtype or not want.ndim, (call, got.dtype, want.dtype)
        short = want.dtype in (np.float16, np.float32)
        tolerance = 64 * np.finfo(want.dtype).eps if short else 1e-12
        np.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=call)
        ran += 1
    assert ran >= (30 if a.dtype.kind == "c" else len(CALLS) - 3)


@pytest.mark.parametrize(
    "call, says",
    [
        ("np.sum(a, axis=(0, 0))", "given twice"),
        ("np.sum(a, axis=3)", "out of bounds"),
        ("np.argmax(a, axis=(0, 1))", "one axis"),
        ("np.sum(a, where=a)", "expected bool"),
        ("np.max(a, where=a > 0)", "starting value"),
        ("np.max(a, 0, None, False, 1, True, 2)", "arguments"),
        ("np.sum(a, dtype=np.float32, sort=True)", "sort="),
        ("np.mean(a, dtype=bool)", "dtype= of bool"),
        ("np.std(a, ddof='x')", "ddof has to be a number"),
        ("np.std(a, ddof=1, correction=1)", "give one of them"),
        ("np.sum(a, keepdims=a.size > 3)", "keepdims= of run time"),
        ("np.sum(a, initial=None)", "initial=None"),
        ("np.var(a, dtype=np.int32)", "no float"),
    ],
)
def test_refused(call, says):
    with pytest.raises(nb.kernels.CompileError, match=says):
        nb.njit(function_of(call))(A)


def test_kind_of_a_dtype():
    f = nb.njit(function_of("1 if a.dtype.kind in 'iu' else 2.5"))
    assert (f(np.arange(3)), f(np.arange(3.0))) == (1, 2.5)
    f = nb.njit(function_of("a.dtype.kind in ('i', 'f')"))
    assert (f(np.arange(3)), f(A > 0)) == (True, False)
