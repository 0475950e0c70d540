"""Sharing memory with others: both sides see what either side writes, at the right time."""

import copy
import importlib
import io
import pickle
import warnings

import numpy as np
import pytest
from helpers import assert_same, assert_same_array, to_numpy

cpu = pytest.mark.cpu  # NumPy sees the memory itself


@cpu
def test_asarray_is_zero_copy(xp):
    a = xp.arange(6.0).reshape(2, 3)
    n = np.asarray(a)
    assert n.shape == (2, 3) and n.dtype == np.float64 and n.strides == a.strides
    n[0, 0] = 50
    assert float(a[0, 0]) == 50
    a[1, 1] = -1
    assert n[1, 1] == -1


@cpu
def test_export_then_in_place(xp):
    a = xp.arange(4.0)
    n = np.asarray(a)
    a += 1
    assert n.tolist() == [1, 2, 3, 4]
    a[1:] = a[:-1] * 2
    assert n.tolist() == [1, 2, 4, 6]
    a *= a
    assert n.tolist() == [1, 4, 16, 36]


@cpu
def test_pending_reader_keeps_the_old_value(xp):
    a = xp.arange(4.0)
    n = np.asarray(a)
    b = a + 1
    c = b * 2
    n[:] = 5
    assert b.tolist() == [1, 2, 3, 4]
    assert c.tolist() == [2, 4, 6, 8]
    assert a.tolist() == [5, 5, 5, 5]


@cpu
def test_import_is_shared(xp):
    n = np.arange(4.0)
    a = xp.asarray(n)
    b = a + 1
    n[0] = 100
    assert float(a[0]) == 100 and float(b[0]) == 1
    a += 1
    assert n.tolist() == [101, 2, 3, 4]
    c = xp.array(n)
    n[1] = -5
    assert float(c[1]) == 2
    a[...] = 0
    assert n.tolist() == [0, 0, 0, 0]


@cpu
def test_interior_update_of_a_shared_grid(xp):
    """No storage is swapped under somebody's pointer."""
    x = np.random.default_rng(0).random((60, 70))
    a = xp.array(x)
    n = np.asarray(a)
    for _ in range(3):
        a[1:-1, 1:-1] = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
        x[1:-1, 1:-1] = 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
        assert np.array_equal(n, x)


@cpu
def test_release_and_export_again(xp):
    a = xp.arange(3.0)
    n = np.asarray(a)
    del n
    b = a
    a += 1
    n = np.asarray(a)
    a += 1
    assert n.tolist() == [2, 3, 4] and b.tolist() == [2, 3, 4]


def test_memory_outlives_the_array(xp):
    n = np.asarray(xp.arange(1000.0) + 1)
    junk = [np.asarray(xp.zeros(1000)) for _ in range(20)]
    assert n.sum() == 500500 and len(junk) == 20
    v = memoryview(xp.arange(4))
    assert v.tolist() == [0, 1, 2, 3] and v.format in ("l", "q") and v.shape == (4,)


@cpu
@pytest.mark.parametrize("make", [
    "x[::2]", "x[::-1]", "x.T", "x[1:, ::3]", "x[0, 0]", "x[:0]", "xp.broadcast_to(x[0], (3, 6))",
    "x.reshape(-1)[5:]",
])  # fmt: skip
def test_buffer_of_views(xp, make):
    x = np.arange(24.0).reshape(4, 6)
    want, got = eval(make, {"x": x, "xp": np}), eval(make, {"x": xp.array(x), "xp": xp})
    n = np.asarray(got)
    assert_same_array(n, np.asarray(want))
    assert n.flags.writeable == np.asarray(want).flags.writeable or n.ndim == 0


def test_array_with_dtype_and_copy(xp):
    a = xp.arange(3)
    assert np.asarray(a, dtype="float32").dtype == np.float32
    n = np.array(a)
    n[0] = 9
    assert int(a[0]) == 0
    assert np.array(a, copy=False).tolist() == [0, 1, 2]


@pytest.mark.numbus
def test_numpy_operators_and_functions(xp):
    a, n = xp.arange(3.0), np.array([1.0, 2, 3])
    for result in (a + n, n + a, n * a, np.add(n, a), np.sin(a), n - a, xp.maximum(n, a)):
        assert not isinstance(result, np.ndarray), "mixing gives a Numbus array"
    assert (n - a).tolist() == [1, 1, 1]
    assert (n < a).tolist() == [False, False, False]
    n += a
    assert n.tolist() == [1, 3, 5] and type(n) is np.ndarray
    a += n
    assert a.tolist() == [1, 4, 7]
    assert float(np.sum(a)) == 12 and np.concatenate([a, n]).shape == (6,)
    assert np.mean(a) == 4 and np.dot(a, a) == 66


@pytest.mark.numbus
def test_scalars_in_numpy(xp):
    s = xp.arange(4.0).sum()
    assert np.float64(2) * s == 12 and float(np.sqrt(s)) == np.sqrt(6.0)
    n = np.zeros(3)
    n[0] = s
    assert n[0] == 6 and np.asarray(s).shape == () and (n + s).tolist() == [12, 6, 6]


@cpu
@pytest.mark.numbus
def test_dlpack(xp):
    a = xp.arange(6.0).reshape(2, 3)
    n = np.from_dlpack(a)
    n[0, 0] = 7
    assert float(a[0, 0]) == 7
    b = xp.from_dlpack(np.arange(4.0))
    assert b.tolist() == [0, 1, 2, 3]
    a += 1
    assert n[0, 1] == 2
    assert a.__dlpack_device__() == (1, 0)


@cpu
@pytest.mark.numbus
@pytest.mark.parametrize("dtype", ["bool", "int16", "uint32", "float16", "float32", "complex128"])
def test_dlpack_of_the_core(xp, core, dtype):
    """The exchange that GPU arrays use, on memory that NumPy can check."""
    a = xp.array(np.arange(6).reshape(2, 3).astype(dtype))[:, ::-1]

    class Lent:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return core.dlpack(self.array)

        def __dlpack_device__(self):
            return 1, 0

    n = np.from_dlpack(Lent(a))
    assert_same_array(n, np.asarray(a))
    b = core.from_dlpack(np.arange(6).reshape(2, 3).astype(dtype).T)
    assert b.dtype == dtype and b.tolist() == np.arange(6).reshape(2, 3).astype(dtype).T.tolist()
    a[...] = 1
    assert n.tolist() == a.tolist()
    c = core.from_dlpack(core.dlpack(a))
    del a
    assert n.all() and bool(c.all())


@cpu
@pytest.mark.numbus
def test_cuda_array_interface_only_on_gpu_arrays(xp):
    assert not hasattr(xp.arange(3), "__cuda_array_interface__")


def test_pickle_and_copy(xp):
    a = xp.arange(6.0).reshape(2, 3)[:, ::-1] + 1
    for b in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert type(b) is type(a) and b.tolist() == a.tolist()
        b[0, 0] = 99
        assert float(a[0, 0]) == 3
    s = pickle.loads(pickle.dumps(a.sum()))
    assert float(s) == float(a.sum())


def test_npy_files(xp, tmp_path):
    a = xp.arange(6).reshape(2, 3)
    xp.save(tmp_path / "a.npy", a)
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.arange(6).reshape(2, 3))
    b = xp.load(tmp_path / "a.npy")
    assert type(b) is type(a) and b.tolist() == a.tolist()
    xp.savez(tmp_path / "a.npz", a=a, b=a * 2)
    z = xp.load(tmp_path / "a.npz")
    assert z["b"].tolist() == (a * 2).tolist()
    buffer = io.BytesIO()
    xp.save(buffer, a)
    assert np.array_equal(np.load(io.BytesIO(buffer.getvalue())), to_numpy(a))


def test_npy_files_are_never_unpickled(xp, tmp_path):
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(ValueError):
        xp.load(tmp_path / "o.npy")


def test_testing_helpers(xp):
    np.testing.assert_allclose(xp.arange(3.0), [0, 1, 2])
    np.testing.assert_array_equal(xp.arange(3), np.arange(3))
    assert xp.allclose(xp.arange(3.0), xp.arange(3.0) + 1e-12)
    assert xp.array_equal(xp.arange(3), np.arange(3))


def test_a_histogram_drawn_by_matplotlib_is_one_set_of_numbers(xp):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    x = xp.arange(1000.0) * 3
    for data in (x, list(x)):  # the array as it is, and its numbers one by one
        figure, axes = pyplot.subplots()
        counts, _, bars = axes.hist(data, bins=20)
        pyplot.close(figure)
        assert np.shape(counts) == (20,) and len(bars) == 20 and counts.sum() == 1000
    real = (x + 1).to_numpy()
    assert type(real) is np.ndarray and real.tolist() == (np.arange(1000.0) * 3 + 1).tolist()


@pytest.mark.numbus
def test_old_pickles(xp):
    """Pickles name functions of ours: what was written once can be read later."""
    array = (
        b"\x80\x02cnumbus._convert\nadopt\nq\x00cnumpy._core.multiarray\n_reconstruct\nq\x01cnumpy\n"
        b"ndarray\nq\x02K\x00\x85q\x03c_codecs\nencode\nq\x04X\x01\x00\x00\x00bq\x05X\x06\x00\x00"
        b"\x00latin1q\x06\x86q\x07Rq\x08\x87q\tRq\n(K\x01K\x02K\x02\x86q\x0bcnumpy\ndtype\nq\x0cX"
        b"\x02\x00\x00\x00i1q\r\x89\x88\x87q\x0eRq\x0f(K\x03X\x01\x00\x00\x00|q\x10NNNJ\xff\xff"
        b"\xff\xffJ\xff\xff\xff\xffK\x00tq\x11b\x89h\x04X\x04\x00\x00\x00\x01\x02\x03\x04q\x12h\x06"
        b"\x86q\x13Rq\x14tq\x15b\x85q\x16Rq\x17."
    )
    assert_same(pickle.loads(array), np.array([[1, 2], [3, 4]], "int8"))
    number = (
        b"\x80\x02cnumbus._protocols\n_rebuild_generic\nq\x00cnumpy._core.multiarray\nscalar\nq\x01"
        b"cnumpy\ndtype\nq\x02X\x02\x00\x00\x00f8q\x03\x89\x88\x87q\x04Rq\x05(K\x03X\x01\x00\x00"
        b"\x00<q\x06NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tq\x07bc_codecs\nencode\nq\x08X\x08\x00"
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x0c@q\tX\x06\x00\x00\x00latin1q\n\x86q\x0bRq\x0c\x86q"
        b"\rRq\x0e\x85q\x0fRq\x10."
    )
    assert float(pickle.loads(number)) == 3.5
    for name in ("add", "concatenate", "reshape"):
        assert pickle.loads(pickle.dumps(getattr(xp, name))) is getattr(xp, name)


@pytest.mark.numbus
def test_numpy_core(xp):
    """numbus.core is numpy.core to old scripts, whatever else lies there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        core = importlib.import_module("numbus.core")
        assert core.add is xp.add and core.ndarray is xp.ndarray
        assert core.umath.sin is xp.sin and core.numeric.asarray is xp.asarray
        importlib.import_module("numbus.core.multiarray")
        assert core.multiarray.concatenate is xp.concatenate
        with pytest.raises(AttributeError):
            core.nonsense  # noqa: B018
