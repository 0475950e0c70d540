"""Making arrays: every function against NumPy, dtypes, shapes and strides included."""

import numpy as np
import pytest
from helpers import assert_same_array, both, supported_dtypes

DTYPES = supported_dtypes()
SHAPES = [(), (0,), (1,), (5,), (2, 3), (0, 4), (3, 1, 2)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_filled(xp, shape, dtype):
    for text in ("zeros(s, d)", "ones(s, d)", "full(s, 1, d)", "full(s, 1, dtype=d)"):
        want = eval("m." + text, {"m": np, "s": shape, "d": dtype})
        got = eval("m." + text, {"m": xp, "s": shape, "d": dtype})
        assert_same_array(got, want, what=text)
    assert xp.empty(shape, dtype).shape == shape
    assert xp.empty(shape, dtype).dtype == dtype


@pytest.mark.parametrize("text", [
    "zeros(3)", "zeros((2, 2))", "ones(4)", "full(3, 7)", "full(3, 2.5)", "full((2,), True)",
    "full(2, 1j)", "arange(5)", "arange(0)", "arange(2, 9)", "arange(2, 9, 3)", "arange(9, 2, -2)",
    "arange(5.0)", "arange(0.0, 1.0, 0.25)", "arange(5, dtype='float32')", "arange(-3, 3)",
    "linspace(0, 1, 5)", "linspace(2, -3, 11)", "linspace(0, 1, 4, endpoint=False)",
    "linspace(0, 1, 1)", "linspace(0, 10, 3, dtype='int64')", "eye(3)", "eye(2, 4)", "eye(3, k=1)",
    "eye(4, 3, k=-1, dtype='int64')", "identity(3)", "array(5)", "array(2.5)", "array(True)",
    "array([1, 2, 3])", "array([1.5, 2])", "array([[1, 2], [3, 4]])", "array([True, False])",
    "array([1, 2.5, 1j])", "array([])", "array([[]])", "array([1, 2], dtype='float32')",
    "array((1, 2))", "asarray([1, 2])", "array([1, 2, 3], ndmin=2)", "indices((2, 3))",
    "array(range(4))",
])  # fmt: skip
def test_like_numpy(xp, text):
    want = eval("m." + text, {"m": np})
    assert_same_array(eval("m." + text, {"m": xp}), want, 2e-16, what=text)


def test_linspace_retstep(xp):
    got, step = xp.linspace(0, 3, 7, retstep=True)
    want, want_step = np.linspace(0, 3, 7, retstep=True)
    assert_same_array(got, want)
    assert float(step) == float(want_step)


@pytest.mark.parametrize("text", ["zeros_like(a)", "ones_like(a)", "full_like(a, 3)",
                                  "zeros_like(a, dtype='float64')", "empty_like(a)*0"])  # fmt: skip
@pytest.mark.parametrize("make", ["x", "x.T", "x[::2, ::-1]"])
def test_like(xp, text, make):
    x = np.arange(12).reshape(3, 4)
    want = eval("m." + text, {"m": np, "a": eval(make, {"x": x})})
    got = eval("m." + text, {"m": xp, "a": eval(make, {"x": xp.array(x)})})
    assert_same_array(got, want, what=text)


def test_meshgrid(xp):
    x, y = np.linspace(0, 1, 3), np.linspace(5, 6, 4)
    for kwargs in ({}, {"indexing": "ij"}, {"sparse": True}):
        want = np.meshgrid(x, y, **kwargs)
        got = xp.meshgrid(xp.array(x), xp.array(y), **kwargs)
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert_same_array(g, w, what=str(kwargs))


def test_array_copies_and_asarray_does_not(xp):
    a = xp.arange(4.0)
    b, c = xp.array(a), xp.asarray(a)
    a[0] = 9
    assert float(b[0]) == 0
    assert float(c[0]) == 9
    assert xp.asarray(a) is a


def test_astype_and_copy(xp):
    x = np.array([[-1.7, 0.2, 2.9], [3.5, -0.5, 100.25]])
    a = xp.array(x)
    for dtype in DTYPES:
        if dtype.startswith("uint"):
            assert_same_array(abs(a).astype(dtype), np.abs(x).astype(dtype), what=dtype)
        else:
            assert_same_array(a.astype(dtype), x.astype(dtype), what=dtype)
    b = a.copy()
    b[0, 0] = 5
    assert float(a[0, 0]) == -1.7
    assert_same_array(a.T.copy(), x.T.copy())
    assert a.astype("float64", copy=False) is a


@pytest.mark.parametrize("value", [1, 2.5, True, 1j])
def test_fill(xp, value):
    a, x = xp.zeros((2, 3), "complex128"), np.zeros((2, 3), "complex128")
    a.fill(value)
    x.fill(value)
    assert_same_array(a, x)


LISTS = [
    [1, 2, 3], (1.5, 2), [True, False], [1, True], [1, 2.5, 1j], [[1, 2], (3, 4.5)], [[[1]]],
    [2**62], [2**63], [2**64], [-(2**63)], [-(2**63) - 1], [2**53 + 1, 0.5], [[True], [2]],
    [1e400, -0.0],
    [float("nan")], [], [[]], [[], []], [[1, 2], [3]], [1, [2]], [[1], 2], [None], ["a"], [1, "a"],
    [np.float32(1.5)], [np.int8(3), 2], [np.arange(3), [1, 2, 3]], [range(3)], [b"x"],
    [[1.0, 2], None],
]  # fmt: skip


@pytest.mark.parametrize(
    "dtype", [None, "int8", "int64", "float16", "float32", "complex64", "bool"]
)
@pytest.mark.parametrize("data", LISTS, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_lists_of_numbers(xp, data, dtype):
    """Elements, types, shapes and errors are those of NumPy."""
    try:
        want = np.array(data, dtype)
    except Exception as error:
        with pytest.raises(type(error)):
            xp.array(data, dtype)
        return
    got = xp.array(data, dtype)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.filterwarnings("ignore")
def test_lists_of_floats_round_as_numpys(xp):
    odd = [2**24 + 1, 2**60 + 2**36 + 1, 16777217.0, 1e39, -(2**62) - 1]
    for dtype in ("float32", "complex64"):
        np.testing.assert_array_equal(np.asarray(xp.array(odd, dtype)), np.array(odd, dtype))


@pytest.mark.parametrize("text", [
    "xp.concatenate([a, b])", "xp.concatenate([a, b.astype('f4')], axis=1)", "xp.stack([a, b], 1)",
    "xp.concatenate([a, b], axis=None)", "xp.stack([a, b], axis=-1)",
    "xp.concatenate([a[a > 3], a[0]])",
    "xp.concatenate([a, b], dtype='f4')", "xp.concatenate([a[:0], b])", "xp.array([a, b])",
    "xp.array([a[0], b[1]], 'f4')", "xp.array([a.sum(), b.sum()])", "xp.stack([a.sum(), b.sum()])",
    "xp.stack([a, b], out=xp.zeros((2, 3, 4)))", "xp.vstack([a[0], b])",
    "xp.column_stack([a[0], b[0]])",
    "xp.hstack([a, b.astype(complex)])", "xp.concatenate([a.astype(int), b.astype('u8')])",
])  # fmt: skip
def test_joined(xp, text):
    both(xp, text, a=np.arange(12.0).reshape(3, 4), b=-np.arange(12.0).reshape(3, 4))


def test_what_does_not_join(xp):
    a, b = xp.ones((2, 3)), xp.ones((2, 2))
    with pytest.raises(ValueError, match=r"\[concatenate\] shapes differ outside axis 0; got \("):
        xp.concatenate([a, b])
    with pytest.raises(ValueError, match=r"\[stack\] shapes differ; got \(2, 3\) and \(2, 2\)"):
        xp.stack([a, b])
    with pytest.raises(ValueError, match=r"\[concatenate\] wrong shape of out; got \(3,\)"):
        xp.concatenate([a, a], out=xp.ones(3))
    with pytest.raises(TypeError, match=r"\[concatenate\] cannot cast under this rule; got"):
        xp.concatenate([a, a], dtype="i4")
    with pytest.raises(TypeError, match=r"\[stack\] both out and dtype"):
        xp.stack([a, a], dtype="i4", out=xp.ones((2, 2, 3)))


def test_truth_values_are_no_extents(xp):
    a = xp.arange(6.0)
    for call in (
        lambda: xp.zeros((3, True)),
        lambda: xp.ones(True),
        lambda: xp.full((True, 2), 3.0),
        lambda: xp.zeros_like(a, shape=(2, True)),
        lambda: a.reshape(True, 6),
        lambda: xp.reshape(a, (6, True)),
        lambda: xp.broadcast_to(a, (True, 6)),
    ):
        with pytest.raises(TypeError):
            call()


def test_buffers_that_may_not_be_written_to(xp):
    for given, writeable in ((b"abcd", False), (memoryview(b"abcd"), False), (bytearray(4), True)):
        a = xp.frombuffer(given, np.uint8)
        assert a.flags.writeable == np.frombuffer(given, np.uint8).flags.writeable == writeable
        if not writeable:
            with pytest.raises(ValueError, match="read-only"):
                a[0] = 1
            with pytest.raises(ValueError, match="read-only"):
                a += 1


def test_objects_become_elements_themselves(xp):
    d, e = {"a": 1}, {"a": [xp.arange(2)]}
    for given in ([d, e], [d, e] * 5000, [[d], [e]], [d, "text", e]):
        made = xp.array(given, dtype=object)
        assert made.flat[0] is d
        assert made.shape == np.array(given, dtype=object).shape
    assert xp.array([d])[0] is d and xp.array([d], dtype=object)[0] is d


JOINED = """m.append(m.arange(3), 1.5) m.append(m.arange(3), [[1]]) m.append(m.arange(3.), 2**70)
m.append(m.arange(3), True) m.append(m.arange(3), []) m.append(m.arange(3), [1, 2.])
m.append(m.arange(3.), 2**53+1) m.append(m.arange(3.), 1j) m.append(m.arange(3, dtype="i1"), 1)
m.append(m.arange(3.), [1, 2]) m.append(m.arange(2000.), 5) m.append(m.array([]), 1)
m.vstack([m.zeros((0,2)),[1,2]]) m.vstack([m.zeros((2,2),"f4"),[1,2],m.ones(2)])
m.vstack([m.ones(2),[[1,2]]]) m.vstack([m.ones((2,2)),[1]]) m.vstack([m.ones((1,2,2)),[1,2]])
m.concatenate([m.arange(3,dtype="i1"),[1]]) m.concatenate([m.ones((2,2)),[1]])
m.concatenate([[1],m.ones(2),(2,3)]) m.hstack([m.arange(3,dtype="f4"),[True]])
m.stack([m.arange(2),[1.,2]]) m.array([m.arange(2),[1,2]]) m.column_stack([m.arange(2),[1,2]])
m.array([m.arange(2,dtype="i1"),[1,2]]) m.array([m.arange(2),[1,2]],"f4")
m.hstack([m.ones(1),[]])"""


@pytest.mark.parametrize("call", JOINED.replace(", ", ",").split())
def test_lists_beside_arrays(xp, call):
    def made(m):
        try:
            return eval(call, {"m": m})
        except ValueError:
            return ValueError

    want, got = made(np), made(xp)
    if want is ValueError or want.dtype == object:
        assert got is want or got.tolist() == want.tolist()
    else:
        assert_same_array(got, want, what=call)
