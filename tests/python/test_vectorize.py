"""vectorize against NumPy's ufuncs and numpy.vectorize."""

import numbus as nb
import numpy as np
import pytest
from numbus import cuda, njit, vectorize
from numbus.kernels import CompileError

RNG = np.random.default_rng(5)
X = RNG.random((5, 6))


def scale(a, b):
    return a * b + 1


def close(got, want):
    """Equal but for a rounding: kernels may contract a * b + c."""
    np.testing.assert_allclose(got, want, rtol=1e-15)


TARGETS = ["cpu", "parallel", "cuda"]
PAIRS = {
    "dense": (X, X),
    "one": (X, X[:1, :1]),
    "row": (X, X[0]),
    "column": (X, X[:, :1]),
    "both ways": (X[:, :1], X[0]),
    "transposed": (X.T, X.T),
    "mixed order": (X.T, RNG.random((6, 5))),
    "strided": (X[::2, ::3], X[1::2, ::3][:1]),
    "negative": (X[::-1], X[:, ::-1]),
    "number": (X, 2.5),
    "number first": (2, X),
    "three axes": (RNG.random((2, 3, 4)), RNG.random((3, 1))),
    "empty": (np.zeros((0, 3)), 1.0),
    "0-d": (np.array(3.0), np.array(4.0)),
    "long": (RNG.random(5000), RNG.random(5000)),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("layout", PAIRS)
def test_broadcasting(layout, target):
    a, b = PAIRS[layout]
    f = vectorize(["float64(float64, float64)"], target=target)(scale)
    got = f(a, b)
    np.testing.assert_allclose(got, a * b + 1, rtol=1e-15)
    assert got.dtype == np.float64
    assert got.shape == np.broadcast_shapes(np.shape(a), np.shape(b))


def test_dynamic_types():
    f = vectorize(scale)
    assert f.types == []
    assert f(X, X).dtype == np.float64
    assert f(X.astype("f4"), X.astype("f4")).dtype == np.float32
    assert f(X.astype("f4"), 2.5).dtype == np.float32
    assert f(np.arange(3), 2).dtype == np.int64
    assert f(np.arange(3), 2.5).dtype == np.float64
    assert f.types == ["dd->d", "ff->f"]
    assert (f.nin, f.nout, f.nargs, f.identity, f.__name__) == (2, 1, 3, None, "scale")


def test_numbers_give_numbers():
    f = vectorize(scale)
    assert f(2, 3) == 7
    assert isinstance(f(2, 3), np.int64)
    assert isinstance(f(np.float32(2), np.float32(3)), np.float32)
    g = vectorize("float32(float32, float32)")(scale)
    assert isinstance(g(2, 3), np.float32)


def test_the_first_signature_that_fits():
    f = vectorize(["int32(int32, int32)", "float32(float32, float32)", "float64(float64, float64)"])
    f = f(scale)
    assert f.types == ["ii->i", "ff->f", "dd->d"]
    assert f(np.arange(3, dtype="i2"), np.arange(3, dtype="i4")).dtype == np.int32
    assert f(np.arange(3, dtype="i4"), np.float32(1)).dtype == np.float64
    assert f(np.arange(3, dtype="i2"), np.float32(1)).dtype == np.float32
    assert f(np.arange(3, dtype="f4"), 2.5).dtype == np.float32
    assert f(np.arange(3, dtype="i4"), 2).dtype == np.int32
    assert f(1, 2).dtype == np.float64  # int64 fits into float64 only, as NumPy sees it
    with pytest.raises(TypeError, match=r"no declared loop.*got \(complex128, float64\).*ii->i"):
        f(X + 1j, X)


def test_numpy_arrays_in_and_out_and_ours():
    f = vectorize(scale)
    assert type(f(X, X)) is np.ndarray
    ours = f(nb.array(X), X)
    assert isinstance(ours, nb.ndarray)
    close(np.asarray(ours), X * X + 1)  # a kernel on a GPU rounds a product and its sum once
    assert isinstance(f(nb.array(X), 2), nb.ndarray)


@pytest.mark.parametrize("target", TARGETS)
def test_out_and_where(target):
    f = vectorize("float64(float64, float64)", target=target)(scale)
    out = np.zeros((5, 6))
    assert f(X, X, out=out) is out
    close(out, X * X + 1)
    out = np.full((5, 6), 7.0)
    f(X, X[0], out=out, where=X > 0.5)
    close(out, np.where(X > 0.5, X * X[0] + 1, 7))
    out = np.zeros((5, 6), "f4")
    f(X, X, out)
    np.testing.assert_allclose(out, X * X + 1, rtol=1e-6)
    with pytest.raises(TypeError, match="does not fit into out"):
        f(X, X, out=np.zeros((5, 6), int))
    with pytest.raises(ValueError, match="does not fit into out"):
        f(X, X, out=np.zeros(6))
    with pytest.raises(ValueError, match="do not broadcast"):
        f(X, np.zeros(4))
    strided = np.zeros((10, 6))
    f(X, 2.0, out=strided[::2])
    close(strided[::2], X * 2.0 + 1)
    assert not strided[1::2].any()


def test_out_that_is_an_operand():
    f = vectorize(scale)
    a = np.arange(10.0)
    f(a[:-1], 1.0, out=a[1:])
    np.testing.assert_array_equal(a[1:], np.arange(9) + 1)
    a = np.arange(9.0).reshape(3, 3)
    f(a, 1.0, out=a.T)
    np.testing.assert_array_equal(a.T, np.arange(9).reshape(3, 3) + 1)


@vectorize(["float64(float64, float64)", "int64(int64, int64)"], identity=0)
def plus(a, b):
    return a + b


A = RNG.random((3, 4, 5))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (0, 2), (1, 2), None])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("a", [A, A.transpose(2, 0, 1), A[::2, ::-1], A[:0]])
def test_reduce(a, axis, keepdims):
    got = plus.reduce(a, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(got, np.add.reduce(a, axis=axis, keepdims=keepdims), rtol=1e-14)
    assert np.shape(got) == np.shape(np.add.reduce(a, axis=axis, keepdims=keepdims))
    got = plus.reduce(a, axis=axis, initial=10.0, where=a > 0.5)
    want = np.add.reduce(a, axis=axis, initial=10.0, where=a > 0.5)
    np.testing.assert_allclose(got, want, rtol=1e-14)


def test_reduce_without_identity():
    first = vectorize(lambda a, b: a - b)
    np.testing.assert_array_equal(first.reduce(A, axis=1), np.subtract.reduce(A, axis=1))
    with pytest.raises(ValueError, match="no identity"):
        first.reduce(np.zeros(0))
    assert first.reduce(np.zeros(0), initial=3.0) == 3
    out = np.zeros((4, 5))
    assert first.reduce(A, out=out) is out
    np.testing.assert_array_equal(out, np.subtract.reduce(A))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_accumulate_and_reduceat(axis):
    np.testing.assert_allclose(plus.accumulate(A, axis), np.add.accumulate(A, axis), rtol=1e-14)
    at = [0, 2, 1, 1]
    np.testing.assert_allclose(plus.reduceat(A, at, axis), np.add.reduceat(A, at, axis), rtol=1e-14)


def test_outer_and_at():
    np.testing.assert_array_equal(plus.outer(X, X[0]), np.add.outer(X, X[0]))
    a, b = np.zeros(5), np.zeros(5)
    plus.at(a, [0, 0, 3], [1.0, 2.0, 3.0])
    np.add.at(b, [0, 0, 3], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(a, b)
    c = np.zeros((3, 4)).T
    plus.at(c, (slice(None), 1), 2.0)
    assert c[:, 1].sum() == c.sum() == 8
    with pytest.raises(ValueError, match="only functions of two numbers"):
        vectorize(lambda a: a).reduce(X)


def test_branches_and_loops_inside():
    @vectorize
    def collatz(n):
        k = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            k += 1
        return k

    x = np.arange(1, 300)
    np.testing.assert_array_equal(collatz(x), np.vectorize(collatz.py_func)(x))


def test_division_is_numpys():
    f = vectorize(lambda a, b: a / b)
    np.testing.assert_array_equal(f(np.array([1.0, -1.0]), 0.0), [np.inf, -np.inf])


def test_in_compiled_functions():
    f = vectorize("float64(float64, float64)")(scale)

    @njit
    def total(x):
        t = 0.0
        for i in range(x.shape[0]):
            t += f(x[i], 2.0)
        return t

    x = RNG.random(50)
    np.testing.assert_allclose(total(x), (x * 2 + 1).sum())

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = f(x[i], 2.0)

    out = np.zeros(50)
    kernel[1, 64](x, out)
    np.testing.assert_array_equal(out, x * 2 + 1)


def test_calls_another_one():
    f = vectorize(scale)
    g = vectorize(lambda a: f(a, a) - 1)
    np.testing.assert_allclose(g(X), X * X)


def test_messages():
    with pytest.raises(ValueError, match="no such target; got 'tpu'"):
        vectorize(target="tpu")(scale)
    with pytest.raises(TypeError, match="no such option; got fast"):
        vectorize(fast=True)
    with pytest.raises(TypeError, match="wrong number of types; got 1; expected 2"):
        vectorize("float64(float64)")(scale)
    with pytest.raises(TypeError, match="wrong number of arguments; got 1; expected 2"):
        vectorize(scale)(X)
    with pytest.raises(CompileError, match="nothing"):
        vectorize("float64(float64)")(lambda a: a.nothing)
    with pytest.raises(TypeError, match="numbers' types"):
        vectorize("float64(float64[:])")(lambda a: a)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("layout", PAIRS)
def test_arrays_of_ours(layout, target):
    a, b = PAIRS[layout]
    f = vectorize("float64(float64, float64)", target=target)(scale)
    ours = [nb.array(x) if isinstance(x, np.ndarray) else x for x in (a, b)]
    got = f(*ours)
    assert isinstance(got, nb.ndarray)
    close(np.asarray(got), a * b + 1)
    out = nb.zeros(got.shape)
    assert f(*ours, out=out) is out
    close(np.asarray(out), a * b + 1)


def test_methods_of_arrays_of_ours():
    x = nb.array(X)
    assert isinstance(plus.reduce(x), nb.ndarray)
    np.testing.assert_allclose(np.asarray(plus.reduce(x)), X.sum(axis=0))
    assert isinstance(plus.accumulate(x), nb.ndarray)
    assert plus.outer(x, x).shape == (5, 6, 5, 6)
    c = nb.zeros(4)
    plus.at(c, [0, 0, 1], 2.0)
    assert c.tolist() == [4, 2, 0, 0]
    out, mask = nb.zeros((5, 6)), nb.array(X > 0.5)
    vectorize(scale)(x, x[0], out=out, where=mask)
    close(np.asarray(out), np.where(X > 0.5, X * X[0] + 1, 0))
    b = nb.arange(10.0)
    vectorize(scale)(b[:-1], 1.0, out=b[1:])
    np.testing.assert_array_equal(np.asarray(b)[1:], np.arange(9) + 1)


def test_large_arrays_of_subclasses():
    @vectorize
    def halvings(x):
        k = 0
        while x > 1:
            x = x / 2
            k += 1
        return k

    x = np.linspace(0, 9, 1 << 16)
    want = halvings(x[:5])
    np.testing.assert_array_equal(halvings(x)[:5], want)
    masked = np.ma.array(x, mask=x > 5)
    np.testing.assert_array_equal(np.asarray(halvings(masked)), halvings(x))
    readonly = x.view()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(halvings(readonly), halvings(x))
    np.testing.assert_array_equal(halvings(x[::-2]), halvings(x)[::-2])
