"""Objects whose `__array__` gives an array of ours: taken like that array, everywhere."""

import warnings

import numbus as nb
import numpy
import pytest


class Full:
    def __init__(self, values, library):
        self.values, self.asked = library.asarray(values), []

    def __array__(self, dtype=None, copy=None):
        self.asked.append((dtype, copy))
        found = self.values if dtype is None else self.values.astype(dtype)
        return found.copy() if copy else found


class Typed(Full):
    def __array__(self, dtype=None):
        return self.values if dtype is None else self.values.astype(dtype)


class Bare(Full):
    def __array__(self):
        return self.values


CALLS = {
    "asarray": lambda np, x: np.asarray(x),
    "array": lambda np, x: np.array(x),
    "in a list": lambda np, x: np.array([x, [1, 2, 3]]),
    "in lists": lambda np, x: np.array([[x, x], [x, [1, 2, 3]]]),
    "mean": lambda np, x: np.mean(x),
    "operator": lambda np, x: np.arange(3) + x,
    "subtract": lambda np, x: np.subtract(1, x),
    "sqrt": lambda np, x: np.sqrt(x),
    "sort": lambda np, x: np.sort(x),
    "concatenate": lambda np, x: np.concatenate([x, x]),
    "vstack": lambda np, x: np.vstack([x, [1, 2, 3]]),
    "where": lambda np, x: np.where(x, x, 0),
    "full": lambda np, x: np.full(3, x),
    "median": lambda np, x: np.median(x),
    "interp": lambda np, x: np.interp([1, 2], [1.0, 2.0, 3.0], np.asarray(x)),
    "append": lambda np, x: np.append(x, x),
    "pad": lambda np, x: np.pad(x, 1),
    "shape": lambda np, x: [*np.shape(x), np.ndim(x), np.size(x)],
    "norm": lambda np, x: np.linalg.norm(x),
    "fft": lambda np, x: np.fft.fft(x),
    "zeros_like": lambda np, x: np.zeros_like(x),
    "vectorize": lambda np, x: np.vectorize(lambda v: v + 1)(x),
    "nditer": lambda np, x: [float(v) for v in np.nditer(x)],
    "ma": lambda np, x: np.ma.array(x).sum(),
    "choice": lambda np, x: np.random.default_rng(0).choice(x),
    "clip": lambda np, x: np.clip(np.arange(3), x, 9),
    "histogram": lambda np, x: np.histogram(x)[0],
    "select": lambda np, x: np.select([np.array([True, False, True])], [x]),
    "polyfit": lambda np, x: np.polyfit([1, 2, 3], x, 1),
    "add.at": lambda np, x: added_at(np, x),
}


def added_at(np, x):
    a = np.zeros(3)
    np.add.at(a, [0, 1, 2], x)
    return a


@pytest.mark.parametrize("kind", [Full, Typed, Bare])
@pytest.mark.parametrize("call", CALLS)
def test_functions_take_it_like_its_array(call, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of methods that take no `copy`
        expected = CALLS[call](numpy, numpy.asarray([3.0, 1.0, 2.0]))
        found = CALLS[call](nb, kind([3.0, 1.0, 2.0], nb))
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(expected))


def test_assignment_takes_it():
    a = nb.zeros((2, 3))
    a[1] = Full([3.0, 1.0, 2.0], nb)
    assert a.tolist() == [[0, 0, 0], [3, 1, 2]]


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("dtype", [None, "float32"])
def test_type_and_copy_are_handed_on_once(dtype, copy):
    x, real = Full([3.0, 1.0], nb), Full([3.0, 1.0], numpy)
    found = nb.asarray(x, dtype, copy=copy)
    expected = numpy.asarray(real, dtype, copy=copy)
    assert x.asked == real.asked
    assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    assert (found is x.values) == (expected is real.values)


def test_a_copy_is_made_where_the_method_makes_none():
    x = Typed([1.0, 2.0], nb)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nb.array(x)
    found[0] = 9
    assert x.values.tolist() == [1, 2]
    with pytest.warns(DeprecationWarning, match="copy"):
        assert nb.asarray(x, copy=False) is x.values


def test_its_array_stays_pending_and_shared():
    x = Full(nb.arange(4.0), nb)
    nb.asarray(x)[0] = 7
    assert x.values.tolist() == [7, 1, 2, 3]


def test_what_is_no_array_is_refused():
    class Wrong:
        def __array__(self, dtype=None, copy=None):
            return [1, 2]

    for call in (nb.asarray, nb.mean, lambda x: nb.arange(2) + x):
        with pytest.raises(ValueError, match="not producing an array"):
            call(Wrong())


def test_errors_of_the_method_pass_through():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("broken by itself")

    with pytest.raises(TypeError, match="broken by itself"):
        nb.array(Broken())
