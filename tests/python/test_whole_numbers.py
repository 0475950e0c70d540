"""Which types of numbers NumPy's functions take where integers or real ones belong."""

import numbus as nb
import numpy as np
import pytest
from jit_check import check, function_of

pytestmark = pytest.mark.numbus

A = np.arange(12.0).reshape(3, 4) + 0.25
V = np.arange(5.0)
NUMBERS = [1, True, np.bool_(True), np.int8(1), np.uint64(1), 1.0, np.float32(1), 1 + 0j, None,
           np.array(1), np.array([1])]  # fmt: skip
CALLS = {
    "round": lambda m, x: m.round(m.asarray(A), x),
    "method round": lambda m, x: m.asarray(A).round(x),
    "convolve": lambda m, x: m.convolve(m.asarray(V), m.asarray(V), mode=x),
    "correlate": lambda m, x: m.correlate(m.asarray(V), m.asarray(V), mode=x),
    "rot90": lambda m, x: m.rot90(m.asarray(A), x),
    "polyder": lambda m, x: m.polyder(m.asarray(V), x),
    "polyint": lambda m, x: m.polyint(m.asarray(V), x),
    "norm": lambda m, x: m.linalg.norm(m.asarray(A), axis=x),
    "vector_norm": lambda m, x: m.linalg.vector_norm(m.asarray(A), axis=x),
}


@pytest.mark.parametrize("name", CALLS)
def test_whole_numbers(name):
    for x in NUMBERS:
        ours = nb.asarray(x) if isinstance(x, np.ndarray) else x
        if name == "rot90" and getattr(x, "ndim", 0):
            continue  # of which NumPy looks at the only one
        try:
            want = CALLS[name](np, x)
        except (TypeError, ValueError) as error:
            kind = (TypeError, ValueError) if x is None else type(error)
            with pytest.raises(kind):
                CALLS[name](nb, ours)
        else:
            np.testing.assert_allclose(np.asarray(CALLS[name](nb, ours)), want, rtol=1e-14)


def test_fractions_are_no_whole_numbers():
    for name in ("rot90", "polyder", "norm"):
        with pytest.raises(TypeError, match="is not an integer"):
            CALLS[name](nb, 1.5)


@pytest.mark.cpu
def test_whole_numbers_in_compiled_functions():
    for text in ("np.rot90(a, b)", "np.polyder(a[0], b)", "np.polyint(a[0], b)"):
        for x in (1, True, 1.0):
            check(function_of(text, "a, b"), A, x)
    for text in ("np.convolve(a[0], a[0], mode=1.0)", "np.correlate(a[0], a[0], mode=1.0)"):
        with pytest.raises(TypeError):
            nb.njit(function_of(text))(A)


def test_complex_numbers_in_place_of_nan():
    for x in (V, V.astype("f4"), V.astype("c8")):
        for name in ("nan", "posinf", "neginf"):
            with pytest.raises(TypeError):
                nb.nan_to_num(nb.asarray(x), **{name: 1j})
    assert nb.nan_to_num(nb.asarray([1, 2]), nan=1j).tolist() == [1, 2]
