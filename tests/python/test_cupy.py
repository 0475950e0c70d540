"""CuPy's names over Numbus: arrays, devices, streams, memory, random numbers, cupyx."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numbus as nb
import numbus.compat.cupy as cp
import numbus.compat.cupyx as cupyx
import numpy as np
import pytest
from numbus import _core
from numbus.compat.cupyx.profiler import benchmark, profile, time_range
from numbus.core import fallback as _fallback

pytestmark = pytest.mark.numbus
ROOT = Path(__file__).resolve().parents[2]
ON_GPU = _core.is_default_gpu()

# CuPy's public names, as of its version 13.
NAMES = """
AxisError ComplexWarning DataSource ElementwiseKernel Inf Infinity ModuleDeprecationWarning NAN
NINF NZERO NaN PINF PZERO RankWarning RawKernel RawModule ReductionKernel TooHardError
VisibleDeprecationWarning abs absolute acos acosh add all allclose alltrue amax amin angle any
append apply_along_axis apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh
argmax argmin argpartition argsort argwhere around array array2string array_equal array_equiv
array_repr array_split array_str asanyarray asarray asarray_chkfinite ascontiguousarray asfarray
asfortranarray asin asinh asnumpy astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average
bartlett base_repr binary_repr bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman bool bool_ broadcast
broadcast_arrays broadcast_shapes broadcast_to byte byte_bounds c_ can_cast cbrt cdouble ceil
cfloat choose clear_memo clip column_stack common_type complex128 complex64 complex_
complexfloating compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef
correlate cos cosh count_nonzero cov cross csingle cuda cumprod cumproduct cumsum cumulative_prod
cumulative_sum deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff
digitize disable_experimental_feature_warning disp divide divmod dot double dsplit dstack dtype e
ediff1d einsum empty empty_like equal euler_gamma exceptions exp exp2 expand_dims expm1 extract eye
fabs fft fill_diagonal find_common_type finfo fix flatiter flatnonzero flip fliplr flipud float16
float32 float64 float_ float_power floating floor floor_divide fmax fmin fmod
format_float_positional format_float_scientific format_parser frexp fromDlpack from_dlpack
frombuffer fromfile fromfunction fromiter fromstring full full_like fuse gcd generic genfromtxt
get_array_module get_array_wrap get_default_memory_pool get_default_pinned_memory_pool
get_printoptions gradient greater greater_equal half hamming hanning heaviside histogram
histogram2d histogramdd hsplit hstack hypot i0 identity iinfo imag in1d index_exp indices inexact
inf infty inner int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert
is_available isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isneginf
isposinf isreal isrealobj isscalar issctype issubclass_ issubdtype issubsctype iterable ix_ kaiser
kron lcm ldexp left_shift less less_equal lexsort linalg linspace load loadtxt log log10 log1p log2
logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace long longlong
make_aligned_dtype mask_indices matmul matrix_transpose max maximum may_share_memory mean median
memoize meshgrid mgrid min min_scalar_type minimum mintypecode mod modf moveaxis msort multiply nan
nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanprod nanstd
nansum nanvar ndarray ndim ndindex negative newaxis nextafter nonzero not_equal number obj2sctype
ogrid ones ones_like outer packbits pad partition percentile permute_dims pi piecewise place poly
poly1d polyadd polyfit polymul polynomial polysub polyval positive pow power printoptions prod
product promote_types ptp put put_along_axis putmask quantile r_ rad2deg radians random ravel
ravel_multi_index real real_if_close reciprocal remainder repeat require reshape resize result_type
right_shift rint roll rollaxis roots rot90 round round_ row_stack s_ safe_eval save savetxt savez
savez_compressed sctype2char searchsorted select set_printoptions set_string_function setdiff1d
setxor1d shape shares_memory short show_config sign signbit signedinteger sin sinc single
singlecomplex sinh size sometrue sort sort_complex split sqrt square squeeze stack std subtract sum
swapaxes take take_along_axis tan tanh tensordot testing tile trace transpose trapezoid trapz tri
tril tril_indices tril_indices_from trim_zeros triu triu_indices triu_indices_from true_divide
trunc typename ubyte ufunc uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong union1d
unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
unsignedinteger unwrap ushort vander var vdot vectorize vsplit vstack where who
zeros zeros_like""".split()
LACKING = {"get_array_wrap", "make_aligned_dtype", "safe_eval", "set_string_function", "who"}


def test_names():
    """Of CuPy's 482 names all but five are there."""
    assert len(NAMES) == 482
    assert {name for name in NAMES if not hasattr(cp, name)} == LACKING
    assert {name for name in NAMES if name not in dir(cp)} <= LACKING


def test_functions_are_numbus_functions():
    for name in (
        "sin",
        "sum",
        "linspace",
        "where",
        "zeros",
        "ndarray",
        "ufunc",
        "einsum",
        "float32",
    ):
        assert getattr(cp, name) is getattr(nb, name), name
    assert cp.linalg.norm is nb.linalg.norm and cp.fft.fft is nb.fft.fft
    assert cp.__name__ == "cupy" and cupyx.__name__ == "cupyx" and cp.cuda.__name__ == "cupy.cuda"
    assert isinstance(cp.zeros(3), cp.ndarray) and cp.float_ is np.float64


def test_a_name_that_is_not_there():
    with pytest.raises(
        AttributeError, match=r"\[cupy\] a name .* got cupy\.nothing at .*test_cupy"
    ):
        cp.nothing  # noqa: B018
    for module, name in [(cp.cuda, "cupy.cuda"), (cp.linalg, "cupy.linalg"), (cupyx, "cupyx")]:
        with pytest.raises(AttributeError, match=rf"\[{name}\] .*{name}\.nothing"):
            module.nothing  # noqa: B018
    assert not hasattr(cp, "nothing") and not hasattr(cp, "_private")


# --- Arrays


def test_asarray_shares_no_memory():
    host = np.ones(4)
    device = cp.asarray(host)
    device += 1
    np.testing.assert_array_equal(host, np.ones(4))
    ours = nb.ones(4)  # under the runner the host's arrays are Numbus's, too
    device = cp.asarray(ours)
    device += 1
    np.testing.assert_array_equal(cp.asnumpy(ours), np.ones(4))
    same = cp.array(ours, copy=False)
    assert same is ours


@pytest.mark.skipif("NUMBUS_EAGER" in os.environ, reason="nothing fuses")
def test_asarray_of_what_is_only_computed_with_copies_nothing():
    x = nb.ones(1 << 20) + 1
    float(x.sum())

    def squares(v):
        v = cp.asarray(v)
        return (v * v).sum()

    float(squares(x))
    _core.reset_stats()
    assert float(squares(x)) == 4 << 20
    assert _core.stats()["bytes_moved"] < 1.1 * x.nbytes


def test_asnumpy_and_get():
    x = cp.arange(6, dtype="f4").reshape(2, 3)
    back = cp.asnumpy(x)
    assert type(back) is np.ndarray and back.dtype == np.float32
    back[0, 0] = 9
    assert float(x[0, 0]) == 0
    assert x.get(order="F").flags.f_contiguous
    out = np.empty((2, 3), "f4")
    assert x.get(out=out) is out and out[1, 2] == 5
    with pytest.raises(ValueError, match=r"\[asnumpy\] out has the wrong shape"):
        x.get(out=np.empty(3, "f4"))
    with pytest.raises(TypeError, match="out has the wrong dtype"):
        x.get(out=np.empty((2, 3)))
    assert x.sum().get() == 15 and cp.asnumpy([1, 2]).tolist() == [1, 2]


def test_set():
    x = cp.zeros(3)
    x.set(np.arange(3.0))
    assert x.get().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"\[set\] shapes differ"):
        x.set(np.arange(4.0))
    with pytest.raises(TypeError, match=r"\[set\] dtypes differ"):
        x.set(np.arange(3))


def test_device_and_pointer_of_an_array():
    x = cp.arange(5.0)
    assert x.device == cp.cuda.Device(0) and x.device.id == 0 and int(x.device) == 0
    assert x.device == nb.get_device() if hasattr(nb, "get_device") else True
    assert x.device.startswith("cuda" if ON_GPU else "cpu") or x.device == "null"
    assert x.data.ptr == x.__cuda_array_interface__["data"][0] if ON_GPU else x.data.ptr > 0
    assert x[2:].data.ptr == x.data.ptr + 16
    with x.device:
        pass


def test_get_array_module():
    assert cp.get_array_module(cp.ones(2)) is cp
    assert cp.get_array_module(np.ones(2)) is nb
    assert cp.get_array_module(1.0, [2]) is nb


def test_older_names():
    x = cp.array([3.0, 1.0, 2.0])
    assert cp.product(x) == 6 and bool(cp.alltrue(x > 0)) and bool(cp.sometrue(x > 2))
    assert cp.in1d(x, cp.array([1.0])).tolist() == [False, True, False]
    assert float(cp.trapz(x)) == 3.5 and cp.cumproduct(x).tolist() == [3, 3, 6]
    assert cp.round_(cp.array([1.26]), 1).tolist() == [1.3]
    assert cp.asfarray([1]).dtype == np.float64 and cp.Inf == np.inf and cp.NaN != cp.NaN
    assert cp.issubsctype("f4", np.floating) and cp.sctype2char("f8") == "d"
    low, high = cp.byte_bounds(x)
    assert high - low == 24


def test_scatter():
    x = cp.zeros(4)
    cupyx.scatter_add(x, cp.array([1, 1, 3]), cp.array([1.0, 2.0, 3.0]))
    x.scatter_max(cp.array([0]), 5.0)
    cupyx.scatter_min(x, cp.array([3]), -1.0)
    assert x.get().tolist() == [5, 3, 0, -1]


# --- fuse, memoize


def test_fuse():
    @cp.fuse
    def f(x, y):
        return x * y + x

    @cp.fuse(kernel_name="other")
    def g(x):
        return x - 1

    @cp.fuse()
    def h(x):
        return cp.sqrt(x)

    x = cp.array([1.0, 4.0])
    assert f(x, x).tolist() == [2, 20] and g(x).tolist() == [0, 3] and h(x).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"\[fuse\] not a function"):
        cp.fuse(3)


def test_vectorize():
    @cp.vectorize
    def f(x, y):
        return x + 1 if x > y else x * y

    x = np.arange(6.0)
    got = f(cp.asarray(x), 2.5)
    assert isinstance(got, cp.ndarray)
    np.testing.assert_array_equal(got.get(), np.where(x > 2.5, x + 1, x * 2.5))
    assert cp.vectorize(lambda x: x / 2, otypes=["f4"])(cp.arange(3)).dtype == np.float32
    with pytest.raises(NotImplementedError, match=r"\[vectorize\] not supported"):
        cp.vectorize(lambda x: x, signature="(n)->()")


def test_ptp():
    x = np.array([[3.0, 1, 7], [2, 9, 4]])
    a = cp.asarray(x)
    assert float(a.ptp()) == 8
    assert a.ptp(axis=1).tolist() == [6, 7]
    assert a.ptp(0, None, True).tolist() == [[1, 8, 3]]
    out = cp.zeros(3)
    a.ptp(0, out=out)
    assert out.tolist() == [1, 8, 3]
    assert int(a.sum().ptp()) == 0


def test_dlpack():
    x = cp.arange(4.0)
    for y in (cp.from_dlpack(x.toDlpack()), cp.fromDlpack(x.__dlpack__()), cp.from_dlpack(x)):
        y[0] = 5
        assert float(x[0]) == 5
        x[0] = 0
    if not ON_GPU:
        assert cp.from_dlpack(np.ones(3)).tolist() == [1, 1, 1]


def test_memoize():
    calls = []

    @cp.memoize(for_each_device=True)
    def f(x):
        calls.append(x)
        return x + 1

    assert (f(1), f(1), f(2)) == (2, 2, 3) and calls == [1, 2]
    cp.clear_memo()
    assert f(1) == 2 and calls == [1, 2, 1]


# --- Devices, streams, events


def test_devices():
    n = cp.cuda.runtime.getDeviceCount()
    assert n >= 1 and cp.cuda.is_available() and cp.is_available()
    with cp.cuda.Device(0) as device:
        assert cp.cuda.runtime.getDevice() == 0 == cp.cuda.get_device_id()
        device.synchronize()
        free, total = device.mem_info
        assert 0 < free <= total and cp.cuda.runtime.memGetInfo()[1] == total
        assert device.attributes["MaxThreadsPerBlock"] >= 1024
        assert device.attributes["MultiProcessorCount"] >= 1
        assert len(device.compute_capability) == 2
    cp.cuda.Device(0).use()
    for call in (cp.cuda.Device(n).use, lambda: cp.cuda.runtime.setDevice(n)):
        with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="cudaErrorInvalidDevice") as e:
            call()
        assert e.value.status == 101
    p = cp.cuda.runtime.getDeviceProperties(0)
    assert isinstance(p["name"], bytes) and p["warpSize"] == 32 and p["totalGlobalMem"] > 0
    assert cp.cuda.runtime.deviceGetAttribute(10, 0) == 32
    assert cp.cuda.runtime.runtimeGetVersion() >= 12000
    assert (cp.cuda.runtime.driverGetVersion() > 0) == ON_GPU
    assert repr(cp.cuda.Device(0)) == "<CUDA Device 0>" and cp.cuda.Device(0) < cp.cuda.Device(1)


def test_streams_and_events():
    x = cp.arange(1000.0)
    first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream()
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    with first as s:
        assert cp.cuda.get_current_stream() is s is first
        start.record()
        y = x * 2
        done = s.record()
        with second:
            second.wait_event(done)
            z = y + 1
            assert cp.cuda.get_current_stream() is second
        assert cp.cuda.get_current_stream() is first
        stop.record(first)
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    first.synchronize()
    second.synchronize()
    stop.synchronize()
    assert stop.done and first.done
    assert 0 <= cp.cuda.get_elapsed_time(start, stop) < 60_000
    np.testing.assert_array_equal(z.get(), np.arange(1000.0) * 2 + 1)
    seen = []
    first.launch_host_func(seen.append, 3)
    first.add_callback(lambda stream, error, arg: seen.append((stream is first, error, arg)), 4)
    assert seen == [3, (True, 0, 4)]
    cp.cuda.Stream.null.synchronize()
    cp.cuda.runtime.deviceSynchronize()
    add = cp.ElementwiseKernel("T x", "T y", "y = x + 1")
    with second:
        w = add(x)
    np.testing.assert_array_equal(w.get(), np.arange(1000.0) + 1)
    pinned = cupyx.empty_pinned(1000)
    w.get(stream=first, out=pinned, blocking=False)
    first.synchronize()
    np.testing.assert_array_equal(pinned, np.arange(1000.0) + 1)
    assert cp.cuda.Stream(priority=-1).__cuda_stream__()[0] == 0
    with pytest.raises(ValueError, match="has not been recorded"):
        cp.cuda.get_elapsed_time(cp.cuda.Event(), stop)
    with pytest.raises(ValueError, match="has timing disabled"):
        quick = cp.cuda.Event(disable_timing=True)
        quick.record()
        cp.cuda.get_elapsed_time(quick, stop)
    with pytest.raises(NotImplementedError, match="graphs cannot be captured"):
        first.begin_capture()


def test_streams_by_handle():
    r = cp.cuda.runtime
    stream, a, b = r.streamCreate(), r.eventCreate(), r.eventCreate()
    r.eventRecord(a, stream)
    x = cp.ones(10) + 1
    r.eventRecord(b, 0)
    r.streamWaitEvent(stream, b)
    r.streamSynchronize(stream)
    r.eventSynchronize(b)
    assert r.eventElapsedTime(a, b) >= 0 and float(x.sum()) == 20
    r.deviceSynchronize()
    assert r.streamQuery(stream) == 0
    r.eventDestroy(a), r.eventDestroy(b), r.streamDestroy(stream)
    with pytest.raises(r.CUDARuntimeError, match="handle"):
        r.streamSynchronize(stream)


# --- Memory


def test_pools():
    pool, pinned = cp.get_default_memory_pool(), cp.get_default_pinned_memory_pool()
    before = pool.used_bytes()
    x = cp.ones(1 << 20, dtype="f4") * 2
    assert pool.used_bytes() - before >= 4 << 20
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    del x
    assert pool.used_bytes() <= before + 1024
    pool.free_all_blocks()
    assert pool.n_free_blocks() in (0, 1)
    assert pinned.n_free_blocks() == 0
    pinned.free_all_blocks()
    whole = pool.get_limit()
    try:
        pool.set_limit(size=pool.used_bytes() + (64 << 20))
        with pytest.raises(MemoryError):
            (cp.ones(1 << 25) + 1).get()
        pool.set_limit(fraction=0.5)
        assert pool.get_limit() <= whole
    finally:
        pool.set_limit(size=0)
    for arguments in ({}, {"size": 1, "fraction": 0.5}, {"fraction": 2}, {"size": -1}):
        with pytest.raises(ValueError, match=r"\[set_limit\]"):
            pool.set_limit(**arguments)
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)
    with cp.cuda.using_allocator():
        pass
    cp.cuda.set_allocator()


def test_pinned_memory():
    source = np.arange(12, dtype="f4").reshape(3, 4)
    memory = cp.cuda.alloc_pinned_memory(source.nbytes)
    assert memory.ptr > 0 and memory.size() >= source.nbytes and int(memory) == memory.ptr
    array = np.frombuffer(memory, source.dtype, source.size).reshape(source.shape)
    array[...] = source
    device = cp.empty((3, 4), "f4")
    device.set(array)
    np.testing.assert_array_equal(device.get(), source)
    assert (memory + 4).ptr == memory.ptr + 4
    assert np.frombuffer(memory + 4, "f4", 1)[0] == 1
    for made in (cupyx.zeros_pinned((2, 3), "i4"), cupyx.zeros_like_pinned(source)):
        assert type(made) is np.ndarray and not made.any()
    assert cupyx.empty_pinned(5).shape == (5,)
    assert cupyx.empty_like_pinned(source.T).flags.f_contiguous


def test_memory_pointers():
    memory = cp.cuda.alloc(64)
    x = cp.ndarray((16,), cp.float32, memory)
    x[:] = cp.arange(16)
    part = cp.ndarray((2, 2), "f4", memptr=memory + 16)
    assert part.get().tolist() == [[4, 5], [6, 7]]
    part += 1
    assert float(x[5]) == 6
    memory.memset(0, 8)
    assert x.get()[:3].tolist() == [0, 0, 2]
    other = cp.cuda.alloc(64)
    other.copy_from_device(memory, 64)
    back = np.empty(16, "f4")
    other.copy_to_host(back.ctypes.data, 64)
    np.testing.assert_array_equal(back, x.get())
    back[:] = 7
    other.copy_from(ctypes.c_void_p(back.ctypes.data), 32)
    assert cp.ndarray(16, "f4", other).get()[[7, 8]].tolist() == [7, 8]
    with pytest.raises(ValueError, match="the offset leaves the memory"):
        memory + 65
    with pytest.raises(ValueError, match="the memory ends before"):
        cp.ndarray((17,), "f4", memory)


def test_managed_memory():
    memory = cp.cuda.malloc_managed(64)
    x = cp.ndarray((8,), "f8", memory)
    x[:] = cp.arange(8.0)
    assert float((x + 1).sum()) == 36 and memory.ptr > 0
    address = cp.cuda.runtime.mallocManaged(64)
    cp.cuda.runtime.free(address)


def test_unowned_memory():
    x = cp.arange(8.0)
    memory = cp.cuda.UnownedMemory(x.data.ptr, x.nbytes, x)
    same = cp.ndarray((4,), "f8", cp.cuda.MemoryPointer(memory, 32))
    assert same.get().tolist() == [4, 5, 6, 7]


def test_runtime_memory():
    r = cp.cuda.runtime
    x, host = cp.arange(8, dtype="f4"), np.zeros(8, "f4")
    r.memcpy(host.ctypes.data, x.data.ptr, 32, r.memcpyDeviceToHost)
    assert host.tolist() == list(range(8))
    host *= 2
    y = cp.zeros(8, "f4")
    r.memcpyAsync(y.data.ptr, host.ctypes.data, 32, r.memcpyHostToDevice, 0)
    assert y.get().tolist() == host.tolist()
    r.memcpy(y.data.ptr, x.data.ptr, 16, r.memcpyDeviceToDevice)
    assert y.get().tolist() == [0, 1, 2, 3, 8, 10, 12, 14]
    r.memset(y.data.ptr, 0, 16)
    assert y.get().tolist() == [0, 0, 0, 0, 8, 10, 12, 14]
    for flags in (r.hostAllocDefault, r.hostAllocMapped):
        address = r.hostAlloc(32, flags)
        r.freeHost(address)
        with pytest.raises(r.CUDARuntimeError, match="freeHost"):
            r.freeHost(address)
    address = r.malloc(64)
    r.free(address)
    for flags in (0, 2):
        r.hostRegister(host.ctypes.data, host.nbytes, flags)
        r.hostUnregister(host.ctypes.data)
    with pytest.raises(r.CUDARuntimeError, match="hostUnregister"):
        r.hostUnregister(host.ctypes.data)
    with pytest.raises(r.CUDARuntimeError, match="cudaErrorInvalidValue"):
        r.memcpy(0, 0, -1, 0)


# --- random, testing


def test_random():
    cp.random.seed(7)
    np_state = np.random.RandomState(7)
    np.testing.assert_array_equal(cp.random.rand(3).get(), np_state.rand(3))
    for made, shape, dtype in [
        (cp.random.rand(2, 3, dtype="f4"), (2, 3), "f4"),
        (cp.random.randn(4, dtype=cp.float32), (4,), "f4"),
        (cp.random.random((2, 2), dtype="f4"), (2, 2), "f4"),
        (cp.random.uniform(-1, 1, 5, dtype="f4"), (5,), "f4"),
        (cp.random.normal(0, 1, (3,)), (3,), "f8"),
        (cp.random.randint(0, 9, 4), (4,), "i8"),
        (cp.random.randint(0, 9, size=4, dtype="i4"), (4,), "i4"),
        (cp.random.default_rng(3).random(4, dtype="f4"), (4,), "f4"),
        (cp.random.RandomState(3).standard_normal(4, dtype="f4"), (4,), "f4"),
        (cp.random.permutation(5), (5,), "i8"),
    ]:
        assert made.shape == shape and made.dtype == dtype and isinstance(made, cp.ndarray)
    same = [cp.random.default_rng(5).standard_normal((300, 7), "f4").get() for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert same[0].dtype == np.float32 and abs(same[0].mean()) < 0.15 < same[0].std()
    rng = cp.random.default_rng(5)
    out = cp.zeros((300, 7), "f4")
    assert rng.standard_normal(out=out) is out
    np.testing.assert_array_equal(out.get(), same[0])
    assert (rng.standard_normal((300, 7), "f4").get() != same[0]).all()
    assert cp.random.standard_normal().shape == () and cp.random.randn(0, 3).shape == (0, 3)
    for wrong, error in (((-1,), ValueError), ((3, "i4"), TypeError), ((3, "f2"), TypeError)):
        with pytest.raises(error, match=r"\[standard_normal\]"):
            cp.random.standard_normal(*wrong)
    with pytest.raises(ValueError, match=r"\[standard_normal\] size"):
        rng.standard_normal(3, out=out)
    state = cp.random.get_random_state()
    a = cp.random.rand(3).get()
    cp.random.set_random_state(state)
    np.testing.assert_array_equal(cp.random.rand(3).get(), a)
    with pytest.raises(TypeError, match="not a state"):
        cp.random.set_random_state(3)
    assert cp.random.Generator(cp.random.XORWOW(1)).random() < 1


def test_testing():
    x = cp.arange(3.0)
    cp.testing.assert_allclose(x, np.arange(3.0))
    cp.testing.assert_array_equal(x, x.get())
    cp.testing.assert_array_list_equal([x], [x])
    with pytest.raises(AssertionError):
        cp.testing.assert_allclose(x, x + 1)


# --- cupyx


def test_benchmark():
    def work(x, scale=1):
        return cp.sqrt(x) * scale

    x = cp.arange(1000.0)
    result = benchmark(work, (x,), {"scale": 2}, n_repeat=5, n_warmup=1)
    assert result.name == "work" and result.cpu_times.shape == (5,)
    assert result.gpu_times.shape == (1, 5)
    assert (result.cpu_times > 0).all() and (result.gpu_times > 0).all()
    text = str(result)
    assert text.startswith("work                :    CPU: ") and " +/- " in text
    assert (
        "    GPU-0: " in text and "(min: " in text and " / max: " in text and text.endswith(" us")
    )
    assert "GPU" not in result.to_str()
    assert str(benchmark(work, (x,), n_repeat=1, name="once")).count("+/-") == 0
    many = benchmark(work, (x,), n_repeat=100_000, max_duration=0.05)
    assert 1 <= len(many.cpu_times) < 100_000
    for arguments, error in [((3,), TypeError), ((work, [x]), TypeError),
                             ((work, (x,), [1]), TypeError), ((work, (x,), {}, 0), ValueError),
                             ((work, (x,), {}, 1.5), TypeError)]:  # fmt: skip
        with pytest.raises(error, match=r"\[benchmark\]"):
            benchmark(*arguments)


def test_ranges():
    with time_range("a part"), profile():
        pass

    @time_range()
    def f():
        return 3

    assert f() == 3


def test_cupyx_functions():
    x = np.linspace(0.1, 4, 9)
    d = cp.asarray(x)
    np.testing.assert_allclose(cupyx.rsqrt(d).get(), 1 / np.sqrt(x))
    special = cupyx.scipy.special
    import math

    for name, want in {
        "erf": np.vectorize(math.erf), "erfc": np.vectorize(math.erfc),
        "gamma": np.vectorize(math.gamma), "gammaln": np.vectorize(math.lgamma),
        "expit": lambda v: 1 / (1 + np.exp(-v)), "entr": lambda v: -v * np.log(v),
        "ndtr": lambda v: 0.5 * np.vectorize(math.erfc)(-v / np.sqrt(2)),
        "log1p": np.log1p,
    }.items():  # fmt: skip
        np.testing.assert_allclose(getattr(special, name)(d).get(), want(x), rtol=1e-12)
        np.testing.assert_allclose(getattr(special, name)(d.astype("f4")).get(), want(x), rtol=3e-6)
    np.testing.assert_allclose(special.softmax(d).get(), np.exp(x) / np.exp(x).sum())
    np.testing.assert_allclose(float(special.logsumexp(d)), np.log(np.exp(x).sum()))
    assert cupyx.scipy.fft.next_fast_len(11) == 12
    assert cupyx.scipy.get_array_module(d) is cupyx.scipy
    with pytest.raises(ModuleNotFoundError, match=r"\[cupyx\].*cupyx\.scipy\.ndimage"):
        run_text("import cupyx.scipy.ndimage", check=True)


def test_rawkernel_in_python():
    from numbus.compat.cupyx import jit

    @jit.rawkernel()
    def copy(x, y, size):
        tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        for i in range(tid, size, jit.gridDim.x * jit.blockDim.x):
            y[i] = x[i] * 2

    x, y = cp.arange(100, dtype="f4"), cp.zeros(100, "f4")
    copy((2,), (16,), (x, y, 100))
    np.testing.assert_array_equal(y.get(), np.arange(100) * 2)
    copy[2, 16](x, y, 3)
    with pytest.raises(AttributeError, match=r"cuda\.shared\.array"):
        jit.shared_memory  # noqa: B018


# --- Whole scripts


def run_text(script, *options, check=False, env=None):
    command = [sys.executable, "-m", "numbus", *options, "-c", script]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240)
    if check and "ModuleNotFoundError: " in done.stderr:
        raise ModuleNotFoundError(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


SAXPY = """
import numpy as np
import cupy as cp

n, a = 100_000, 2.5
x = cp.linspace(0, 1, n, dtype=cp.float32)
y = cp.ones(n, dtype=cp.float32)
saxpy = cp.ElementwiseKernel("T x, T y, T a", "T z", "z = a * x + y", "saxpy")
z = saxpy(x, y, a)
cp.testing.assert_allclose(z, cp.float32(a) * x + y, rtol=1e-6)
h = cp.asnumpy(z)
assert isinstance(h, np.ndarray) and h.shape == (n,)
print(type(z).__module__.split(".")[0], h[-1])
"""

NORMS = """
import cupy as cp
from cupy import ElementwiseKernel, ReductionKernel
import cupyx.profiler

squared_diff = ElementwiseKernel("float32 x, float32 y", "float32 z",
                                 "z = (x - y) * (x - y)", "squared_diff")
l2norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
x = cp.arange(10, dtype=cp.float32).reshape(2, 5)
y = cp.arange(5, dtype=cp.float32)
print(squared_diff(x, y).tolist())
print([round(float(v), 4) for v in l2norm(x, axis=1)], round(float(l2norm(x)), 4))
result = cupyx.profiler.benchmark(lambda v: l2norm(v), (x,), n_repeat=3)
assert str(result).startswith("<lambda>") and result.gpu_times.shape == (1, 3)
"""

HEAT = """
import cupy
import numpy
xp = cupy.get_array_module(cupy.zeros(1))
assert xp is cupy and xp.__name__ == "cupy"
with cupy.cuda.Device(0):
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        t = xp.zeros((64, 64)); t[0] = 1
        for step in range(200):
            t[1:-1, 1:-1] = 0.25 * (t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:])
    stream.synchronize()
n = numpy.zeros((64, 64)); n[0] = 1
for step in range(200):
    n[1:-1, 1:-1] = 0.25 * (n[:-2, 1:-1] + n[2:, 1:-1] + n[1:-1, :-2] + n[1:-1, 2:])
assert (cupy.asnumpy(t) == cupy.asnumpy(n)).all()
pool = cupy.get_default_memory_pool()
assert pool.used_bytes() >= t.nbytes
print("ok", cupy.cuda.runtime.getDeviceCount() >= 1)
"""


@pytest.mark.parametrize(("script", "output"), [
    (SAXPY, "numbus 3.5\n"),
    (NORMS, "[[0.0, 0.0, 0.0, 0.0, 0.0], [25.0, 25.0, 25.0, 25.0, 25.0]]\n"
            "[5.4772, 15.9687] 16.8819\n"),
    (HEAT, "ok True\n"),
])  # fmt: skip
def test_scripts(script, output):
    done = run_text(script, "--strict", "--report")
    assert done.stdout == output and "no fallbacks" in done.stderr


def test_without_a_gpu():
    script = "import cupy as cp\nassert cp.is_available()\nprint(float(cp.arange(4).sum()))"
    assert run_text(script, env={"NUMBUS_DEVICE": "cpu"}).stdout == "6.0\n"


def test_fallbacks_are_named():
    script = "import cupy as cp\nx = cp.arange(4.0)\nprint(cp.frompyfunc(abs, 1, 1)(x)[3] > 0.9)"
    done = run_text(script, "--report")
    assert "frompyfunc" in done.stderr and "<string>:3" in done.stderr
    command = [sys.executable, "-m", "numbus", "--strict", "-c", script]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "frompyfunc" in done.stderr and "<string>:3" in done.stderr


def test_numbus_imports_nothing_of_this():
    script = (
        "import sys, numbus\nnumbus.sin(numbus.ones(3)).sum()\n"
        "print([m for m in sys.modules if 'compat.' in m or m.split('.')[0] in ('cupy', 'numba')])"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert done.stdout == "[]\n", done.stderr
    assert _fallback is not None


def test_stride_tricks():
    import numbus.compat.cupy.lib.stride_tricks as tricks
    from numbus.compat import cupy

    x = cupy.arange(6)
    assert tricks.as_strided(x, (2, 2), (8, 8)).tolist() == [[0, 1], [1, 2]]
    assert cupy.lib.stride_tricks.sliding_window_view(x, 5).shape == (2, 5)
    with pytest.raises(AttributeError, match=r"\[cupy.lib\] a name that Numbus does not serve"):
        cupy.lib.never  # noqa: B018
