"""Reductions of many short rows, which a GPU does by warps: the bits of the same rows in few."""

import numpy as np
import pytest

nb = pytest.importorskip("numbus")

ROWS = 3000  # more than a GPU gives a block each
REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "any", "all", "argmin", "argmax"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "?", "c8", "f2"])
@pytest.mark.parametrize("cols", [33, 100, 127, 576, 1000, 1024])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_rows_are_the_same_in_few_and_in_many(name, cols, dtype):
    if dtype == "c8" and name in ("min", "max", "argmin", "argmax"):
        pytest.skip("complex numbers have no order")
    rng = np.random.default_rng(cols)
    a = (rng.standard_normal((ROWS, cols)) * 1.5).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        a[5, 7] = np.nan
        a[ROWS - 1, cols - 1] = -0.0
    x = nb.array(a)
    with np.errstate(all="ignore"):
        whole = np.asarray(getattr(nb, name)(x, axis=1))
        parts = [np.asarray(getattr(nb, name)(x[k : k + 500].copy(), axis=1))
                 for k in range(0, ROWS, 500)]  # fmt: skip
        expected = np.concatenate(parts)
    assert whole.dtype == expected.dtype
    np.testing.assert_array_equal(whole, expected)  # NaN of whatever bits are equal
    if whole.dtype.kind == "f":
        zero = whole == 0
        np.testing.assert_array_equal(np.signbit(whole)[zero], np.signbit(expected)[zero])
    exact = np.dtype(dtype).kind in "iub?" and name not in ("mean", "var")
    if exact or name in ("min", "max"):
        np.testing.assert_array_equal(whole, getattr(np, name)(a, axis=1))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("rows", [1, 7, 8, 63, 64, 65, 1000])
def test_few_columns(rows, dtype):
    """Beside an elementwise result that the same kernel stores."""
    rng = np.random.default_rng(rows)
    a = (rng.standard_normal((rows, 70)) * 9).astype(dtype)
    x = nb.array(a)
    y = x * 2
    total = y.sum(0)
    np.testing.assert_array_equal(np.asarray(y), a * 2)
    rtol = {"f4": 1e-4, "f8": 1e-12, "i8": 0}[dtype]
    np.testing.assert_allclose(np.asarray(total), (a * 2).sum(0), rtol=rtol, atol=rtol * 100)
