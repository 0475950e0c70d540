"""Shapes that an assignment takes where there is nothing to write: NumPy's rules, both callers."""

import itertools

import numbus as nb
import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError

VALUES = [(), (1,), (2,), (4,), (0,), (2, 0), (3, 0), (0, 3), (5, 5), (2, 3), (1, 2, 0), (2, 1, 0)]
VALUES += [(1, 0, 3), (2, 0, 3), (1, 2, 3), (5, 5, 5), (3, 1, 2, 0)]
KEYS = {
    "all": 0,
    "indices": np.array([0, 1]),
    "no indices": np.array([], int),
    "rows of indices": np.array([[1, 0]]),
    "mask of rows": np.array([True, True]),
    "no row": np.array([False, False]),
}


def store(a, key, value):
    a[key] = value


def store_all(a, key, value):
    a[:] = value


def store_none(a, key, value):
    a[key, 0:0] = value


def outcome(function, a, key, value):
    try:
        function(a, key, value)
    except (ValueError, IndexError) as error:
        return type(error)
    return np.asarray(a).tolist()


@pytest.mark.parametrize("shape", [(2, 0), (2, 3), (2, 3, 0)], ids=str)
@pytest.mark.parametrize("key", KEYS)
def test_shapes(shape, key):
    function = store_all if key == "all" else store
    for f, wanted in itertools.product((function, store_none), VALUES):
        if f is store_none and key == "all":
            continue
        value = np.arange(1.0, 1.0 + np.prod(wanted, dtype=int)).reshape(wanted)
        value = value if wanted else 7.0
        want = outcome(f, np.zeros(shape), KEYS[key], value)
        assert outcome(f, nb.zeros(shape), KEYS[key], value) == want, (f.__name__, wanted)
        assert outcome(njit(f), np.zeros(shape), KEYS[key], value) == want, (f.__name__, wanted)


def test_out_of_another_shape():
    for shape in [(3, 0), (4,), (2,), (5, 5)]:
        with pytest.raises(ValueError, match="shape"):
            np.add(np.zeros(shape), 1.0, out=np.zeros((2, 0)))
        with pytest.raises(ValueError, match="broadcast"):
            nb.add(nb.zeros(shape), 1.0, out=nb.zeros((2, 0)))


def test_more_indices_than_axes():
    def slices(a):
        a[0:1, 0:1] = 1.0

    def indices(a, k):
        a[k, 0:0] = 1.0

    def mask(a, m):
        a[m, 0] = 1.0

    m = np.ones((2, 3), bool)
    for f, arguments in ((slices, ()), (indices, (np.array([0]),)), (mask, (m,))):
        a = np.zeros((2, 3)) if f is mask else np.zeros(3)
        with pytest.raises(IndexError):
            f(a, *arguments)
        with pytest.raises(CompileError, match="too many indices"):
            njit(f)(a, *arguments)
