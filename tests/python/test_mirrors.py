"""Modules inside of NumPy's packages, by their mirrors; numbers beside arrays under an errstate."""

import importlib
import operator
import os
import warnings

import numbus as nb
import numpy as np
import pytest

MODULES = """random.mtrand random._generator random.bit_generator random._pcg64 linalg._linalg
    linalg.lapack_lite fft._pocketfft fft._helper matlib lib.stride_tricks polynomial.polynomial
    testing._private.utils ma.extras""".split()


@pytest.mark.parametrize("name", MODULES)
def test_modules_in_packages_of_numpys(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        real = importlib.import_module("numpy." + name)
        ours = importlib.import_module("numbus." + name)
        for public in getattr(real, "__all__", ()):
            assert hasattr(ours, public), public


def test_names_of_random_modules_are_ours():
    from numbus.random import _generator, mtrand

    assert nb.random.mtrand.RandomState is nb.random.RandomState is mtrand.RandomState
    assert _generator.Generator is nb.random.Generator
    assert _generator.default_rng is nb.random.default_rng
    a, b = nb.arange(6), np.arange(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mtrand.RandomState(1).shuffle(a)
        np.random.RandomState(1).shuffle(b)
        np.testing.assert_array_equal(a, b)
        state = np.random.get_state()
        try:
            everybody = mtrand._rand
            assert isinstance(everybody, nb.random.RandomState)
            everybody.seed(3)
            found = [everybody.normal(size=3), nb.random.normal(size=2), everybody.permutation(a)]
            everybody.shuffle(a)
            assert all(type(x) is nb._core.ndarray for x in found)
            np.random.seed(3)
            for x in (np.random.normal(size=3), np.random.normal(size=2), np.random.permutation(b)):
                np.testing.assert_array_equal(found.pop(0), x)
            np.random.shuffle(b)
            np.testing.assert_array_equal(a, b)
        finally:
            np.random.set_state(state)


OPERATORS = [operator.truediv, operator.mul, operator.floordiv, operator.pow, operator.add]
NUMBERS = [
    lambda xp, v: xp.asarray(v) * 1,
    lambda xp, v: xp.asarray([v]).sum(),
    lambda xp, v: xp.asarray([v, v])[0],
    lambda xp, v: xp.asarray(v, "f4") * xp.asarray(1, "f4"),
    lambda xp, v: np.float64(v),
]
ARRAYS = [lambda xp, v: xp.asarray(v), lambda xp, v: xp.asarray([v, 1.0])]


@pytest.mark.skipif(
    os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda"),
    reason="work on a GPU gives no warnings",
)
@pytest.mark.parametrize("number", range(len(NUMBERS)))
@pytest.mark.parametrize("array", range(len(ARRAYS)))
@pytest.mark.parametrize("f", OPERATORS)
def test_numbers_beside_arrays_raise_and_warn(f, array, number):
    def met(xp, x, y, turned, raises):
        p, q = NUMBERS[number](xp, x), ARRAYS[array](xp, y)
        with warnings.catch_warnings(record=True) as found, nb.errstate(all="warn", under="ignore"):
            warnings.simplefilter("always")
            try:
                with nb.errstate(**({"all": "raise", "under": "ignore"} if raises else {})):
                    f(q, p) if turned else f(p, q)
                    nb.synchronize()
            except FloatingPointError as error:
                return str(error)
        return sorted(str(w.message) for w in found)

    for x, y in ((1.0, 0.0), (0.0, 0.0), (1e38, 1e38), (2.0, 3.0), (-1.0, 0.5), (0.0, -1.0)):
        for turned in (False, True):
            for raises in (False, True):
                ours, theirs = (met(xp, x, y, turned, raises) for xp in (nb, np))
                assert ours == theirs, (x, y, turned)
