"""Sharing GPU memory with CuPy and PyTorch: both see what either writes, in stream order."""

import os

import numpy as np
import pytest

ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda")
pytestmark = pytest.mark.skipif(not ON_GPU, reason="needs a GPU (NUMBUS_DEVICE=cuda)")
DTYPES = "bool int8 int16 int32 int64 uint8 float16 float32 float64 complex64 complex128".split()


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def torch():
    t = pytest.importorskip("torch")
    if not t.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return t


@pytest.mark.parametrize("dtype", DTYPES)
def test_to_torch_and_back(xp, torch, dtype):
    a = xp.arange(12).astype(dtype).reshape(3, 4)
    t = torch.from_dlpack(a)
    assert t.is_cuda and tuple(t.shape) == (3, 4)
    np.testing.assert_array_equal(t.cpu().numpy(), np.asarray(a))
    b = xp.from_dlpack(t)
    assert b.dtype == a.dtype and b.shape == a.shape and str(b.device).startswith("cuda")
    np.testing.assert_array_equal(np.asarray(b), np.asarray(a))


def test_torch_sees_later_writes(xp, torch):
    a = xp.ones(1000)
    t = torch.from_dlpack(a)
    a += 1
    a[1:] = a[:-1] * 2
    torch.cuda.synchronize()
    np.testing.assert_array_equal(t.cpu().numpy(), [2.0] + [4.0] * 999)
    t *= 10
    torch.cuda.synchronize()
    np.testing.assert_array_equal(np.asarray(a + 0), [20.0] + [40.0] * 999)


def test_a_view_of_torchs_memory(xp, torch):
    t = torch.arange(24.0, device="cuda").reshape(4, 6)
    a = xp.from_dlpack(t.T)
    assert a.shape == (6, 4) and a.strides == (4, 24)
    a[0] = 7
    torch.cuda.synchronize()
    assert t[:, 0].tolist() == [7.0] * 4
    del t
    assert np.asarray(a)[0].tolist() == [7.0] * 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy_takes_ours(xp, cupy, dtype):
    a = (xp.arange(24) % 2).astype(dtype).reshape(4, 6)[:, ::2]
    c = cupy.asarray(a)
    np.testing.assert_array_equal(cupy.asnumpy(c), np.asarray(a))
    assert c.data.ptr == a.__cuda_array_interface__["data"][0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ours_takes_cupys(xp, cupy, dtype):
    c = (cupy.arange(24) % 2).astype(dtype).reshape(4, 6)[:, ::2]
    for a in (xp.asarray(c), xp.from_dlpack(c)):
        assert a.dtype == c.dtype and a.shape == c.shape and str(a.device).startswith("cuda")
        np.testing.assert_array_equal(np.asarray(a), cupy.asnumpy(c))


class OnlyInterface:
    """What has nothing but __cuda_array_interface__."""

    def __init__(self, a, **changes):
        self.kept = a
        self.__cuda_array_interface__ = {**a.__cuda_array_interface__, **changes}


@pytest.mark.parametrize("dtype", DTYPES)
def test_cuda_array_interface_alone(xp, dtype):
    a = (xp.arange(24) % 2).astype(dtype).reshape(4, 6)
    for source in (a, a[::2, 1:], a[::-1].T, a[:0], a[1, 2:3].reshape(())):
        b = xp.asarray(OnlyInterface(source))
        assert b.dtype == a.dtype and b.shape == source.shape and b.device == a.device
        np.testing.assert_array_equal(np.asarray(b), np.asarray(source))
    b = xp.asarray(OnlyInterface(a))
    b[0] = 1
    np.testing.assert_array_equal(np.asarray(a)[0], np.ones(6, dtype))
    del a
    np.testing.assert_array_equal(np.asarray(b + b)[0], np.ones(6, dtype) + np.ones(6, dtype))


def late(torch, xp, readonly=False):
    """Fifty additions to 2**24 zeros that still run in a stream, as nothing but the interface."""
    stream = torch.cuda.Stream()
    t = torch.zeros(1 << 24, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        for _ in range(50):
            t += 1
    given = {"typestr": "<f4", "shape": (1 << 24,), "data": (t.data_ptr(), readonly), "version": 3}
    return t, OnlyInterface(xp.zeros(1), **given, strides=None, stream=stream.cuda_stream)


def test_cuda_array_interface_honours_stream_and_read_only(xp, torch):
    _t, x = late(torch, xp, readonly=True)
    b = xp.asarray(x)
    assert float((b + 0).min()) == 50
    with pytest.raises(ValueError, match="read-only"):
        b[0] = 1


def test_numbas_device_arrays(xp):
    cuda = pytest.importorskip("numba.cuda")
    d = cuda.to_device(np.arange(12.0).reshape(3, 4))
    a = xp.asarray(d)
    np.testing.assert_array_equal(np.asarray(a * 2), np.arange(12.0).reshape(3, 4) * 2)


def test_arithmetic_with_a_cupy_array(xp, cupy):
    c = cupy.arange(5.0)
    r = xp.arange(5.0) + xp.asarray(c)
    np.testing.assert_array_equal(np.asarray(r), np.arange(5.0) * 2)


def test_read_only_is_not_lent(xp, torch):
    a = xp.broadcast_to(xp.ones(3), (2, 3))
    with pytest.raises((TypeError, BufferError), match="read-only"):
        torch.from_dlpack(a)


def test_a_kernel_follows_the_stream_of_its_argument(xp, torch):
    from numbus import cuda

    @cuda.jit
    def copy(to, x):
        i = cuda.grid(1)
        if i < x.size:
            to[i] = x[i]

    t, x = late(torch, xp)
    to = xp.zeros(1 << 24, "f4")
    copy[1 << 16, 256](to, x)
    assert float(to.min()) == 50
    torch.cuda.synchronize()
    assert float(t.min()) == 50


def test_arrays_of_the_interface_alone_are_shared(xp, torch):
    from numbus import cuda

    a = xp.arange(6.0)
    b = cuda.as_cuda_array(OnlyInterface(a))
    c = cuda.from_cuda_array_interface(a.__cuda_array_interface__, owner=a)
    b[0], c[1] = 10, 20
    np.testing.assert_array_equal(np.asarray(a), [10, 20, 2, 3, 4, 5])
    assert b.device == c.device == a.device
    _t, x = late(torch, xp)
    assert float((cuda.as_cuda_array(x) + 0).min()) == 50
