"""Types of results: NEP 50, for every pair of dtypes and every row of the table."""

import itertools

import numpy as np
import pytest
from helpers import supported_dtypes
from test_table import ROWS

DTYPES = supported_dtypes()
SCALARS = [True, 1, 1.0, 1j]


@pytest.mark.parametrize("first", DTYPES)
def test_pairs(xp, first):
    for second in DTYPES:
        x, y = np.ones(2, first), np.ones(2, second)
        a, b = xp.array(x), xp.array(y)
        for text in ("a + b", "a * b", "a / b", "a == b", "xp.where(xp.ones(2, bool), a, b)"):
            want = eval(text, {"a": x, "b": y, "xp": np})
            got = eval(text, {"a": a, "b": b, "xp": xp})
            assert got.dtype == want.dtype, f"{text} with {first}, {second}"
            assert got.tolist() == want.tolist(), f"{text} with {first}, {second}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_python_scalars_are_weak(xp, dtype):
    x = np.ones(2, dtype)
    a = xp.array(x)
    for s in SCALARS:
        for text in ("a + s", "s + a", "a * s", "a / s", "a < s", "xp.maximum(a, s)", "s == a",
                     "xp.where(True, a, s)", "a[0] + s", "a.sum() * s"):  # fmt: skip
            want = eval(text, {"a": x, "s": s, "xp": np})
            got = eval(text, {"a": a, "s": s, "xp": xp})
            assert got.dtype == want.dtype, (
                f"{text} with {dtype}, {s!r}: {got.dtype} != {want.dtype}"
            )
            assert got.tolist() == want.tolist(), f"{text} with {dtype}, {s!r}"


@pytest.mark.parametrize("row", ROWS, ids=[r["name"] for r in ROWS])
def test_rows(xp, row):
    """The dtype of the result, or TypeError, for every combination of operand types."""
    u, function = getattr(np, row["name"]), getattr(xp, row["name"])
    arrays = {d: (np.ones(1, d), xp.ones(1, d)) for d in DTYPES}
    for names in itertools.product(DTYPES, repeat=row["nin"]):
        try:
            want = u(*[arrays[d][0] for d in names]).dtype
        except TypeError:
            with pytest.raises(TypeError):
                function(*[arrays[d][1] for d in names])
            continue
        got = function(*[arrays[d][1] for d in names]).dtype
        assert got == want, f"{row['name']}{names}: {got} != {want}"


@pytest.mark.parametrize("name", ["add", "divide", "multiply", "sqrt", "maximum", "less"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "fc"])
def test_dtype_argument(xp, name, dtype):
    u, function = getattr(np, name), getattr(xp, name)
    x = np.array([1.5, 2.25], "float64")
    inputs = [x] * u.nin
    try:
        want = u(*inputs, dtype=dtype, casting="unsafe")
    except TypeError:
        with pytest.raises(TypeError):
            function(*[xp.array(v) for v in inputs], dtype=dtype, casting="unsafe")
        return
    got = function(*[xp.array(v) for v in inputs], dtype=dtype, casting="unsafe")
    assert got.dtype == want.dtype
    assert np.allclose(np.asarray(got), want, 1e-3)


def test_python_integers_out_of_range(xp):
    a = xp.ones(2, "int64")
    with pytest.raises(OverflowError):
        a + 2**70
    assert (a < 2**70).tolist() == [True, True]


def test_result_type(xp):
    for x, y in itertools.product(DTYPES, DTYPES):
        assert xp.result_type(x, y) == np.result_type(x, y)
        assert xp.promote_types(x, y) == np.promote_types(x, y)
    assert xp.result_type(xp.ones(1, "float32"), 1.5) == np.float32
    assert xp.can_cast("int64", "float32", "same_kind")


def test_float64_rounds_once_to_float16(xp):
    h = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    h = np.sort(h[np.isfinite(h)])
    ties = (h[:-1] + h[1:]) / 2
    x = np.concatenate([h, ties, np.nextafter(ties, 1e9), np.nextafter(ties, -1e9), [1e300, 1e-50]])
    with np.errstate(over="ignore"):
        expected = x.astype("float16")
    np.testing.assert_array_equal(np.asarray(xp.array(x).astype("float16")), expected)
