"""guvectorize against loops in Python."""

import numbus as nb
import numpy as np
import pytest
from numbus import _core, float64, guvectorize, int64
from numbus.kernels import types

RNG = np.random.default_rng(3)
TARGETS = ["cpu", "parallel", "cuda"]
F, I = types.float64, types.int64


def add_to(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + y


def multiply(a, b, c):
    m, n = a.shape
    for i in range(m):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]


def mean(x, out):
    t = 0.0
    for v in x:
        t += v
    out[0] = t / x.shape[0]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("x", "y"), [((5,), ()), ((3, 5), ()), ((3, 5), (3,)), ((5,), (4, 3)), ((2, 1, 5), (3,)),
                 ((0, 5), ()), ((2, 3, 4), (2, 3))]
)  # fmt: skip
def test_loop_dimensions_broadcast(x, y, target):
    f = guvectorize([(F[:], F, F[:])], "(n),()->(n)", target=target)(add_to)
    a, b = RNG.random(x), RNG.random(y)
    got = f(a, b)
    np.testing.assert_array_equal(got, a + b[..., None])
    assert got.dtype == np.float64


@pytest.mark.parametrize("target", TARGETS)
def test_matmul(target):
    f = guvectorize("void(float64[:,:], float64[:,:], float64[:,:])", "(m,n),(n,p)->(m,p)",
                    target=target)(multiply)  # fmt: skip
    a, b = RNG.random((4, 1, 2, 3)), RNG.random((5, 3, 4))
    np.testing.assert_allclose(f(a, b), a @ b, rtol=1e-14)
    np.testing.assert_allclose(f(a[0, 0], b[1]), a[0, 0] @ b[1], rtol=1e-14)
    np.testing.assert_allclose(f(a[::2, :, ::-1], b[1:, ::-1]), a[::2, :, ::-1] @ b[1:, ::-1])


@pytest.mark.parametrize("target", TARGETS)
def test_scalar_output(target):
    f = guvectorize([(F[:], F[:])], "(n)->()", target=target)(mean)
    a = RNG.random((6, 7))
    np.testing.assert_allclose(f(a), a.mean(axis=1))
    assert np.isscalar(f(a[0]))
    np.testing.assert_allclose(f(a.T), a.mean(axis=0))


@pytest.mark.parametrize("target", TARGETS)
def test_dynamic(target):
    f = guvectorize("(n),()->(n)", target=target)(add_to)
    x, out = np.arange(6).reshape(2, 3), np.zeros((2, 3), int)
    f(x, 10, out)
    np.testing.assert_array_equal(out, x + 10)
    out = np.zeros((2, 3), "f4")
    f(x.astype("f4"), np.float32(0.5), out)
    np.testing.assert_array_equal(out, x + 0.5)
    with pytest.raises(TypeError, match="types of its outputs are not known"):
        f(x, 10)


def test_types_are_converted_safely():
    f = guvectorize([(I[:], I, I[:]), (F[:], F, F[:])], "(n),()->(n)")(add_to)
    assert f.types == ["ll->l", "dd->d"]
    assert f(np.arange(3, dtype="i2"), 1).dtype == np.int64
    assert f(np.arange(3, dtype="f4"), 1).dtype == np.float64
    out = np.zeros(3, "f4")
    f(np.arange(3), 1.5, out)
    np.testing.assert_array_equal(out, np.arange(3, dtype="f4") + 1.5)
    with pytest.raises(TypeError, match="no declared signature"):
        f(np.zeros(3, complex), 1)


def test_two_outputs_and_ours():
    @guvectorize([(F[:], F[:], F[:])], "(n)->(),()")
    def extremes(x, low, high):
        low[0] = high[0] = x[0]
        for v in x:
            low[0] = min(low[0], v)
            high[0] = max(high[0], v)

    a = RNG.random((3, 4))
    low, high = extremes(a)
    np.testing.assert_array_equal(low, a.min(axis=1))
    np.testing.assert_array_equal(high, a.max(axis=1))
    assert isinstance(extremes(nb.array(a))[0], nb.ndarray)


def test_writable_arguments():
    @guvectorize([(F[:], F[:])], "(n)->()", writable_args=("x",))
    def take(x, out):
        out[0] = x[0]
        x[0] = -1

    a = RNG.random((3, 2))
    first = a[:, 0].copy()
    np.testing.assert_array_equal(take(a), first)
    assert (a[:, 0] == -1).all()
    with pytest.raises(TypeError, match="cannot be converted"):
        take(np.arange(3))


def test_messages():
    f = guvectorize([(F[:, :], F[:, :], F[:, :])], "(m,n),(n,p)->(m,p)")(multiply)
    with pytest.raises(ValueError, match=r"core dimension n .*; got 4 in argument 1; expected 3"):
        f(np.zeros((2, 3)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="argument 0 has too few dimensions; got 1; expected 2"):
        f(np.zeros(3), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="loop dimensions do not broadcast"):
        f(np.zeros((2, 2, 3)), np.zeros((3, 3, 2)))
    with pytest.raises(ValueError, match=r"output 0 has the wrong shape; got \(2, 3\)"):
        f(np.zeros((2, 3)), np.zeros((3, 2)), np.zeros((2, 3)))
    with pytest.raises(TypeError, match="wrong number of arguments; got 1"):
        f(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="not a layout"):
        guvectorize([(F[:], F[:])], "(n)->(n)->(n)")(mean)
    with pytest.raises(ValueError, match="comes from no input; got 'k'"):
        guvectorize([(F[:], F[:])], "(n)->(k)")(mean)
    with pytest.raises(TypeError, match="got 2 parameters"):
        guvectorize([(F[:], F[:], F[:])], "(n),(n)->(n)")(mean)
    with pytest.raises(TypeError, match="a layout is needed"):
        guvectorize(mean)
    assert float64 and int64


def ends(x, y, first, both):
    """Of a line and a number: x[0] + y; the first and the last element, weighted."""
    first[0] = x[0] + y
    both[0], both[1] = x[0] * y, x[-1] * 2


def drawn(rng, shape, dtype):
    """An array of that shape in some layout, of NumPy's or of ours."""
    x = np.asarray(rng.integers(-9, 9, shape)).astype(dtype)
    how = rng.integers(5)
    if how == 1 and x.ndim:
        x = np.asfortranarray(x)
    elif how == 2 and x.ndim:
        x = np.repeat(x, 2, axis=0)[::2]
    elif how == 3 and x.ndim:
        x = x[..., ::-1]
    return nb.asarray(x) if rng.integers(2) else x


@pytest.mark.parametrize("declared", [True, False])
def test_calls_of_all_kinds(declared):
    """Layouts, libraries, numbers, extents that repeat, outputs given: as NumPy's own vectorize."""
    signatures = [(F[:], F, F[:], F[:])] if declared else None
    f = guvectorize(*filter(None, [signatures, "(n),()->(),(2)"]))(ends)

    def plain(x, y):
        first, both = np.zeros(1), np.zeros(2)
        ends(x, y, first, both)
        return first[0], both

    oracle = np.vectorize(plain, signature="(n),()->(),(m)")
    rng = np.random.default_rng(8)
    for _ in range(150):
        loops = tuple(rng.integers(1, 4, rng.integers(4)))
        shapes = []
        for core in ((int(rng.integers(1, 5)),), ()):
            own = tuple(n if rng.integers(4) else 1 for n in loops)
            shapes.append(own[rng.integers(len(loops) + 1) :] + core)
        x, y = drawn(rng, shapes[0], float), drawn(rng, shapes[1], float)
        if rng.integers(4) == 0:
            y = [2.5, np.float64(3), 7, np.array(0.5), True][rng.integers(5)]
        if not declared:  # types of arguments are those of the function
            y = np.float64(y) if np.ndim(y) == 0 and not isinstance(y, _core.ndarray) else y
        want = oracle(np.asarray(x), np.asarray(y))
        ours = isinstance(x, _core.ndarray) or isinstance(y, _core.ndarray)
        outs = [drawn(rng, w.shape, float) for w in want]
        if declared and rng.integers(2):
            got = f(x, y)
            for g, w in zip(got, want):
                assert isinstance(g, _core.ndarray) == ours and g.shape == w.shape
        else:
            got = f(x, y, *outs)
            assert got[0] is outs[0] and got[1] is outs[1]
        for g, w in zip(got, want):
            np.testing.assert_array_equal(np.asarray(g), w)


def test_the_loop_of_an_integer_depends_on_its_value():
    i1, i2 = types.int8, types.int16
    f = guvectorize([(i1[:], i1, i1[:]), (i2[:], i2, i2[:])], "(n),()->(n)")(add_to)
    x = np.array([1], np.int8)
    for value, dtype in ((3, np.int8), (300, np.int16), (3, np.int8)):
        assert f(x, value).dtype == dtype and f(x, value)[0] == 1 + value
    g = guvectorize([(i1[:], i1, i1[:])], "(n),()->(n)")(add_to)
    assert g(x, 3)[0] == 4
    with pytest.raises(TypeError, match="no declared signature takes these types"):
        g(x, 300)
    assert g(x, 5)[0] == 6


def test_a_call_that_fails_has_run_once():
    @guvectorize([(F[:], F[:])], "(n)->()")
    def counted(x, out):
        out[0] += 1
        if x[0] < 0:
            raise ValueError("negative")

    for x in (np.array([-1.0]), np.array([[2.0], [-1.0]])):
        out = np.zeros(x.shape[:-1])
        with pytest.raises(ValueError, match="negative"):
            counted(x, out)
        assert (out == 1).all()


def test_outputs_without_elements():
    """No line is looked at where there is nothing to write."""

    @guvectorize([(F[:], F[:])], "(n)->(n)")
    def first(x, out):
        if x.shape[0] == 0:
            raise ValueError("nothing")
        out[0] = x[0]

    assert first(np.zeros((3, 0))).shape == (3, 0) and first(np.zeros((0, 3))).shape == (0, 3)
    assert first(nb.zeros((2, 0, 3))).shape == (2, 0, 3)


def test_plain_calls_are_direct(monkeypatch):
    """Where types fit, one compiled function compares extents and loops, at a fifth of the time."""
    f = guvectorize([(F[:], F, F[:])], "(n),()->(n)")(add_to)
    monkeypatch.setattr(type(f), "_run", None)
    x, y = RNG.random((4, 5)), RNG.random(4)
    # Arrays of a GPU go another way.
    on_host = nb.asarray(x, device="cpu"), nb.asarray(y, device="cpu")
    for a, b in ((x, 2.0), on_host, (x[:, None], y), (x[::2, ::-1], y[::2])):
        got = np.asarray(f(a, b))
        np.testing.assert_array_equal(got, np.asarray(a) + np.asarray(b)[..., None])
    out = nb.empty((4, 5), device="cpu")
    assert f(x, y, out) is out and f(x[0], 1, x[1]) is not None
    with pytest.raises(TypeError):  # what has to be converted goes the general way
        f(x.astype(np.float32), 2.0)


def test_results_in_arrays_of_the_default_device():
    """Which is one whose memory the host cannot read, where NUMBUS_DEVICE is fenced."""

    def add_first(x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + x[0]

    twice = guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(add_first)
    a, out = nb.arange(6.0), nb.zeros(6)
    assert twice(a + 1, out) is out
    np.testing.assert_array_equal(np.asarray(out), np.arange(6.0) + 2)
    gaps = nb.zeros(12)
    twice(a, gaps[::2])
    np.testing.assert_array_equal(np.asarray(gaps)[::2], np.arange(6.0))
    np.testing.assert_array_equal(np.asarray(gaps)[1::2], 0)
    single = nb.zeros((2, 6), "f4")
    twice(nb.ones((2, 6)), out=single)
    np.testing.assert_array_equal(np.asarray(single), 2)
    assert isinstance(twice(a), nb.ndarray)
    undeclared = guvectorize("(n),()->(n)")(add_to)
    undeclared(a, 2.0, out)
    np.testing.assert_array_equal(np.asarray(out), np.arange(6.0) + 2)
    numpys = np.zeros(6)
    twice(a, numpys)
    np.testing.assert_array_equal(numpys, np.arange(6.0))


def test_written_arguments_and_several_results_there():
    def shift(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i]
            x[i] = y[i]

    def limits(x, low, high):
        low[0], high[0] = x.min(), x.max()

    layout = "void(float64[:], float64[:], float64[:])"
    x, y = nb.ones(6), nb.arange(6.0)
    found = guvectorize([layout], "(n),(n)->(n)", writable_args=("x",))(shift)(x, y)
    np.testing.assert_array_equal(np.asarray(found), 1)
    np.testing.assert_array_equal(np.asarray(x), np.arange(6.0))
    low, high = guvectorize([layout], "(n)->(),()")(limits)(nb.arange(12.0).reshape(2, 6))
    np.testing.assert_array_equal(np.asarray(low), [0, 6])
    np.testing.assert_array_equal(np.asarray(high), [5, 11])
