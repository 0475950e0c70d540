"""What the tests of numbus.nn and numbus.optim share: PyTorch's figures, and comparison."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pytorch"))
TOLERANCE = {"float64": 1e-11, "float32": 3e-6}


def close(found, expected, limit, what):
    """Asserts that an array or tensor has PyTorch's shape, dtype and numbers, within `limit` of the
    largest one.
    """
    found = np.asarray(found._array if hasattr(found, "backward") else found)
    assert found.shape == expected.shape, what
    if expected.dtype.kind == "f":
        assert found.dtype == expected.dtype, what
        size = np.max(np.abs(expected[np.isfinite(expected)]), initial=1.0)
        np.testing.assert_allclose(found, expected, rtol=limit, atol=limit * size, err_msg=what)
    else:
        np.testing.assert_array_equal(found, expected, what)
