"""guvectorize: axis=, axes=, keepdims=, layouts without outputs, functions that are compiled
already; and options that are honoured or refused. NumPy's own gufuncs are the oracle.
"""

import itertools

import numpy as np
import pytest
from numbus import guvectorize, jit, njit, vectorize


@guvectorize(["void(float64[:],float64[:])"], "(n)->()")
def total(x, y):
    y[0] = 0
    for i in range(len(x)):
        y[0] += x[i]


@guvectorize(["void(float64[:],float64[:],float64[:])"], "(n),(n)->(n)")
def added(x, y, z):
    for i in range(len(x)):
        z[i] = x[i] + i * y[i]


@guvectorize(["void(float64[:,:],float64[:,:],float64[:,:])"], "(m,n),(n,k)->(m,k)")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@guvectorize(["void(float64[:],float64)"], "(n),()")
def raised(x, y):
    for i in range(len(x)):
        x[i] += y


X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axis, keep", list(itertools.product([0, 1, 2, -1, -3], [False, True])))
def test_axis_and_keepdims_as_sums(axis, keep):
    np.testing.assert_array_equal(total(X, axis=axis, keepdims=keep), X.sum(axis, keepdims=keep))
    np.testing.assert_array_equal(
        total(X, axes=[(axis,), (axis,)] if keep else [axis], keepdims=keep),
        X.sum(axis, keepdims=keep),
    )
    out = np.zeros(X.sum(axis, keepdims=keep).shape)
    assert total(X, axis=axis, keepdims=keep, out=out) is out
    np.testing.assert_array_equal(out, X.sum(axis, keepdims=keep))


@pytest.mark.parametrize("axes", list(itertools.product([0, 1, -1], repeat=3)))
def test_axes_of_each_argument(axes):
    x, y = np.moveaxis(X, -1, axes[0]), np.moveaxis(X[::-1] + 1, -1, axes[1])
    want = np.moveaxis(added(X, X[::-1] + 1), -1, axes[2])
    np.testing.assert_array_equal(added(x, y, axes=list(axes)), want)
    out = np.zeros(want.shape)
    added(x, y, out, axes=[(a,) for a in axes])
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    "axes", [[(1, 2), (1, 0), (0, 1)], [(-2, -1), (1, 0), (-1, 0)], [(0, 2), (1, 2), (2, 0)]]
)
def test_axes_as_matmul(axes):
    a, b = np.arange(30.0).reshape(2, 3, 5), np.arange(40.0).reshape(4, 5, 2)
    try:
        want = np.matmul(a, b, axes=axes)
    except ValueError:
        with pytest.raises(ValueError):
            product(a, b, axes=axes)
        return
    np.testing.assert_array_equal(product(a, b, axes=axes), want)


@pytest.mark.parametrize("kwargs", [
    {"axis": 3}, {"axes": [(0,), (0,)]}, {"axes": [(0, 1)]}, {"axis": 0, "axes": [0]},
    {"axes": (0,)}, {"axis": "a"}, {"axes": [0, 0, 0]},
], ids=str)  # fmt: skip
def test_wrong_axes(kwargs):
    with pytest.raises((ValueError, TypeError)):
        total(X, **kwargs)
    for f, args in ((product, (X, X)), (added, (X, X))):
        with pytest.raises(TypeError):
            f(*args, axis=0, keepdims=True)


def test_without_outputs():
    a = np.zeros((2, 3))
    assert raised(a, np.array([2.0, 3.0])) == () and a.tolist() == [[2.0] * 3, [3.0] * 3]
    raised(a, 1)
    assert a.tolist() == [[3.0] * 3, [4.0] * 3]
    raised(a.T, 1, axis=None)
    assert a.tolist() == [[4.0] * 3, [5.0] * 3]
    raised(np.zeros((0, 3)), 2)

    @guvectorize("(n),(m)")
    def first(x, y):
        x[:] = y[0]

    a = np.zeros((2, 3))
    first(a, np.array([7.0, 1.0]))
    assert (a == 7).all()


def test_what_is_written_is_not_converted():
    for wrong in (np.zeros(3, np.float32), [0.0, 1.0], 1.0):
        with pytest.raises((TypeError, ValueError), match=r"written to|dimensions"):
            raised(wrong, 1)
    with pytest.raises(ValueError, match="written to, and cannot be broadcast"):
        raised(np.zeros(3), np.zeros(2))


def test_without_outputs_inside():
    @njit
    def inside(a, y):
        raised(a, y)
        return a.sum()

    a = np.zeros((2, 3))
    assert inside(a, np.array([2.0, 3.0])) == 15.0 and inside(a, 1.0) == 21.0
    with pytest.raises(Exception, match="written to, and cannot be converted"):
        inside(np.zeros(3, np.float32), 1.0)
    with pytest.raises(Exception, match="written to, and cannot be broadcast"):
        inside(np.zeros(3), np.ones(2))
    with pytest.raises(ValueError, match="written to, and cannot be broadcast"):
        inside(np.zeros((1, 3)), np.ones(2))


WRITERS = [
    "x[0] = 1", "x[0] += 1", "x[:] = 1", "z = x; z[0] = 1", "z = x[1:]; z[0] = 1",
    "z, k = x, 1; z[0] = k", "z = x if y > 0 else x[::-1]; z[0] = 1", "x += 1", "x.fill(1)",
    "h(x)", "h(x[1:])", "np.copyto(x, x + 1)", "np.add(x, 1, out=x)", "x[0], k = 1, 2",
]  # fmt: skip
READERS = ["z = x[0]", "z = x.sum() + x[0]", "z = np.sum(x)", "z = len(x)", "z = x[len(x) - 1]"]


@pytest.mark.parametrize("body", WRITERS + READERS)
def test_written_parameters(body):
    from numbus.kernels._guv_axes import written_parameters
    from numbus.kernels._made import make

    f = make("f", ["def f(x, y):", f"    {body}"])
    assert written_parameters(f, ["x", "y"], [1, 0]) == ({0} if body in WRITERS else set())


def test_of_compiled_functions():
    f = njit(lambda x: x + 1)
    assert vectorize(f)(np.arange(3)).tolist() == [1, 2, 3]
    assert vectorize(["float64(float64)"])(f)(np.arange(3)).dtype == np.float64
    g = guvectorize(["void(float64[:],float64[:])"], "(n)->(n)")(njit(lambda x, y: None))
    assert g(np.ones(3)).shape == (3,)


def test_options():
    for make in (vectorize, lambda **k: guvectorize("(n)->(n)", **k)):
        with pytest.raises(NotImplementedError, match="object mode"):
            make(forceobj=True)
        with pytest.raises(TypeError, match="no such option"):
            make(parallel=True)
    with pytest.raises(TypeError, match="writable_args"):
        vectorize(writable_args=(0,))
    with pytest.raises(TypeError, match="writable_args"):
        guvectorize("(n)->(n)", writable_args="x")
    with pytest.raises(ValueError, match="no such flags of fastmath"):
        jit(fastmath={"nope"})
    with pytest.raises(NameError, match="no such part of parallel"):
        jit(parallel={"nope": True})


def test_parts_of_fastmath_and_parallel():
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s

    x = np.random.default_rng(0).standard_normal(1001) * 3.7
    want = total(x)
    for flags in (False, set(), {"nnan", "nsz"}, {"contract"}):
        assert njit(fastmath=flags)(total)(x) == want
    for flags in (True, {"fast"}):
        np.testing.assert_allclose(njit(fastmath=flags)(total)(x), want, rtol=1e-12)
    for parts in ({}, {"fusion": False}, {"prange": False}):
        assert njit(parallel=parts)(total)(x) == want
