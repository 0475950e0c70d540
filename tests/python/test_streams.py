"""Streams, events, and pinned, mapped and managed memory: the order that a program asks for holds
in whatever streams it runs, and memory lives as long as work in flight needs it.

Run as a program it is given a number of random programs, for a driver without a GPU.
"""

import asyncio
import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numbus as nb
import numpy as np
import pytest
from numbus import cuda

ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda")
pytestmark = pytest.mark.numbus
KINDS = {
    "pinned": cuda.pinned_array,
    "mapped": cuda.mapped_array,
    "managed": cuda.managed_array,
}


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def add_late(x, iterations):
    i = cuda.grid(1)
    for _ in range(iterations):
        cuda.nanosleep(1000)
    if i < x.size:
        x[i] += 1


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


def blocks(n):
    return max(1, -(-n // 128)), 128


def copied_bytes():
    nb.synchronize()
    stats = nb.stats()
    return stats["bytes_to_device"], stats["bytes_to_host"]


class Program:
    """A random program of copies and kernels in several streams, beside the same one in NumPy."""

    SIZE = 700

    def __init__(self, seed, array_work=True):
        self.r = np.random.default_rng(seed)
        self.array_work = array_work
        self.streams = [0, *(cuda.stream() for _ in range(self.r.integers(1, 4)))]
        self.device, self.host = [], []
        for _ in range(3):
            self.new_device()
            self.new_host()

    def new_device(self):
        start = self.r.integers(0, 255, self.SIZE, dtype=np.uint8)
        stream = self.pick(self.streams)
        self.device.append((cuda.to_device(start, stream=stream), start.copy()))

    def new_host(self):
        made = cuda.pinned_array(self.SIZE, np.uint8)
        made[:] = self.r.integers(0, 255, self.SIZE, dtype=np.uint8)
        self.host.append((made, made.copy()))

    def pick(self, items):
        return items[self.r.integers(len(items))]

    def step(self):
        stream = self.pick(self.streams)
        d, de = self.pick(self.device)
        h, he = self.pick(self.host)
        low = int(self.r.integers(self.SIZE))
        part = slice(low, low + 1 + int(self.r.integers(self.SIZE - low)))
        n = part.stop - part.start
        choice = self.r.integers(14 if self.array_work else 11)
        if choice in (0, 1):
            d[part].copy_to_device(h[part], stream=stream)
            de[part] = he[part]
        elif choice in (2, 3):
            d[part].copy_to_host(h[part], stream=stream)
            he[part] = de[part]
        elif choice == 4:
            add_one[(*blocks(n), stream)](d[part])
            de[part] += 1
        elif choice == 5 and self.array_work:
            iterations = int(self.r.integers(200)) if ON_GPU else 0
            add_late[(*blocks(n), stream)](d[part], iterations)
            de[part] += 1
        elif choice == 5:
            add_one.forall(n, stream=stream)(d[part])
            de[part] += 1
        elif choice == 6:
            value = int(self.r.integers(256))
            cuda.memset(d[part], value, stream)
            de[part] = value
        elif choice == 7:
            assert np.array_equal(d[part].copy_to_host(stream=stream), de[part])
            assert d.getitem(low, stream=stream) == de[low]
        elif choice == 8:  # from and to memory that is not pinned
            values = self.r.integers(0, 255, n, dtype=np.uint8)
            if stream == 0 and not self.array_work:
                d[part].copy_to_device(values)
            else:
                d.setitem(part, values, stream=stream)
            de[part] = values
            values[:] = 0
        elif choice == 9:  # something in use goes, something else comes
            del d, h
            for items, new in ((self.device, self.new_device), (self.host, self.new_host)):
                if self.r.integers(2):
                    del items[self.r.integers(len(items))]
                    new()
        elif choice == 10:
            self.synchronize(stream)
        elif choice == 11:
            d += 3
            de += 3
        elif choice == 12:
            other, oe = self.pick(self.device)
            d[part] = other[part] * 2 + d[part]
            de[part] = oe[part] * 2 + de[part]
        else:
            other, oe = self.pick(self.device)
            i = self.index(d)
            self.device[i] = (other + d, oe + de)

    def index(self, d):
        return next(i for i, (a, _) in enumerate(self.device) if a is d)

    def synchronize(self, stream):
        kind = self.r.integers(4)
        if kind == 0:
            cuda.synchronize()
        elif stream == 0 or kind == 1:
            event = cuda.event(timing=False)
            event.record(stream)
            event.wait(self.pick(self.streams))
            if self.r.integers(2):
                event.synchronize()
                assert event.query()
        elif kind == 2:
            stream.synchronize()
        else:
            self.streams[self.streams.index(stream)] = cuda.stream()

    def check(self):
        cuda.synchronize()
        for d, de in self.device:
            np.testing.assert_array_equal(d.copy_to_host(), de)
        for h, he in self.host:
            np.testing.assert_array_equal(h, he)


def run_program(seed, array_work=True, steps=120):
    program = Program(seed, array_work)
    for _ in range(steps):
        program.step()
    program.check()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    run_program(seed)


def test_random_programs_on_a_driver_that_runs_late(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    source = Path(__file__).resolve().parents[1] / "cpp" / "fake_cuda_driver.inc"
    if not compiler or not source.exists():
        pytest.skip("needs a C++ compiler and tests/cpp")
    driver = tmp_path / "late.so"
    subprocess.run(
        [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-x", "c++", source, "-o", driver],
        check=True,
    )
    environment = {
        **os.environ,
        "NUMBUS_CUDA_DRIVER": str(driver),
        "NUMBUS_DEVICE": "cuda",
        "NUMBUS_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", __file__, "40"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "40 programs" in done.stdout


# --- streams ---


def test_work_in_two_streams_and_an_event():
    s, t = cuda.stream(), cuda.stream()
    h = cuda.pinned_array(5000, np.float32)
    h[:] = np.arange(5000)
    d = cuda.to_device(h, stream=s)
    axpy[(*blocks(5000), s)](2, d, d)
    done = s.record()
    t.wait_event(done)
    axpy[(*blocks(5000), t)](1, d, d)
    out = cuda.pinned_array_like(h)
    d.copy_to_host(out, stream=t)
    t.synchronize()
    assert done.query() and s.done and t.query()
    np.testing.assert_array_equal(out, np.arange(5000, dtype=np.float32) * 6)


def test_array_work_comes_after_streams_and_before_them():
    s = cuda.stream()
    d = cuda.to_device(np.zeros(1000), stream=s)
    for iteration in range(20):
        add_late[(*blocks(1000), s)](d, 50 if ON_GPU else 0)
        d *= 2
        e = d + iteration
        axpy[(*blocks(1000), s)](1.0, e, d)
    x = np.zeros(1000)
    for iteration in range(20):
        x = (x + 1) * 2
        x += x + iteration
    np.testing.assert_array_equal(np.asarray(d), x)


def test_arrays_may_go_while_work_is_in_flight():
    total = cuda.to_device(np.zeros(10000))
    for iteration in range(60):
        s = cuda.stream()
        h = cuda.pinned_array(10000)
        h[:] = iteration
        d = cuda.to_device(h, stream=s)
        del h
        axpy[(*blocks(10000), s)](1.0, d, total)
        del d, s
        nb.full(10000, np.nan) + 1  # wants their memory
        if iteration % 20 == 0:
            gc.collect()
    np.testing.assert_array_equal(total.copy_to_host(), np.full(10000, sum(range(60))))


def test_launches_with_host_arrays_in_a_stream():
    s = cuda.stream()
    x, y = np.arange(100.0), np.ones(100)
    axpy[1, 128, s](3, x, y)
    np.testing.assert_array_equal(y, np.arange(100) * 3 + 1)
    p = cuda.pinned_array(100)
    p[:] = 1
    axpy[1, 128, s](3, x, p)
    s.synchronize()
    np.testing.assert_array_equal(p, y)


def test_threads_with_streams_of_their_own():
    results = [None] * 4

    def work(k):
        s = cuda.stream()
        h = cuda.pinned_array(3000, np.int64)
        h[:] = k
        d = cuda.to_device(h, stream=s)
        for _ in range(30):
            add_one[(*blocks(3000), s)](d)
        d.copy_to_host(h, stream=s)
        s.synchronize()
        results[k] = h

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        assert (results[k] == k + 30).all()


def test_copies_of_every_layout():
    s = cuda.stream()
    base = np.arange(60.0).reshape(6, 10)
    some = (base[::2], base[:, ::-3], np.asfortranarray(base), base[:0], base[2, 3])
    for x in (base, base.T, *some):
        for stream in (0, s):
            d = cuda.to_device(x, stream=stream)
            assert isinstance(d, nb.ndarray) and d.shape == x.shape and d.dtype == x.dtype
            np.testing.assert_array_equal(d.copy_to_host(stream=stream), x)
            out = np.zeros_like(x)
            d.copy_to_host(out, stream=stream)
            s.synchronize()
            np.testing.assert_array_equal(out, x)
            wide = np.zeros((2 * x.shape[0], *x.shape[1:])) if x.ndim else np.zeros(())
            into = wide[::2] if x.ndim else wide
            d.copy_to_host(into, stream=stream)
            np.testing.assert_array_equal(into, x)
            d.copy_to_device(x * 2, stream=stream)
            np.testing.assert_array_equal(d.copy_to_host(), x * 2)
            d.copy_to_device(x.astype(np.float32), stream=stream)  # another dtype
            np.testing.assert_array_equal(d.copy_to_host(), x)
            d.copy_to_device(cuda.to_device(x + 1), stream=stream)
            np.testing.assert_array_equal(d.copy_to_host(), x + 1)


def test_to_device_into_an_array():
    s = cuda.stream()
    d = cuda.device_array(10)
    assert cuda.to_device(np.arange(10.0), to=d, stream=s) is d
    np.testing.assert_array_equal(d.copy_to_host(stream=s), np.arange(10))


def test_items_in_a_stream():
    s = cuda.stream()
    d = cuda.to_device(np.arange(24.0).reshape(4, 6), stream=s)
    d.setitem((1, 2), 50, stream=s)
    d.setitem(0, np.arange(6) + 0.5, stream=s)
    d.setitem((slice(None), 5), -1, stream=s)
    want = np.arange(24.0).reshape(4, 6)
    want[1, 2] = 50
    want[0] = np.arange(6) + 0.5
    want[:, 5] = -1
    assert d.getitem((1, 2), stream=s) == 50
    np.testing.assert_array_equal(d.getitem(0, stream=s).copy_to_host(), want[0])
    np.testing.assert_array_equal(d.copy_to_host(stream=s), want)


def test_the_default_stream_and_those_of_others():
    default = cuda.default_stream()
    assert int(default) == 0 and default.handle.value == 0
    d = cuda.to_device(np.zeros(10), stream=default)
    for s in (default, cuda.legacy_default_stream(), cuda.external_stream(0), None):
        add_one[1, 32, s](d)
    s = cuda.stream()
    if ON_GPU:
        assert s.handle.value == int(s) != 0
        other = cuda.external_stream(int(s))
        add_one[1, 32, other](d)
        add_one[1, 32, s](d)
        other.synchronize()

    class Foreign:
        def __cuda_stream__(self):
            return 0, int(s)

    add_one[1, 32, Foreign()](d)
    assert (d.copy_to_host() == (7 if ON_GPU else 5)).all()
    default.synchronize()
    assert default.query()


def test_priorities_and_independent_streams():
    s = cuda.Stream(non_blocking=True, priority=-1)
    assert s.non_blocking and s.priority <= 0
    d = cuda.to_device(np.zeros(10), stream=s)
    add_one[1, 32, s](d)
    assert (d.copy_to_host(stream=s) == 1).all()


def test_callbacks_come_in_order_and_do_not_block():
    s = cuda.stream()
    seen, all_done = [], threading.Event()
    d = cuda.to_device(np.zeros(100), stream=s)
    for k in range(3):
        add_late[1, 128, s](d, 1000 if ON_GPU else 0)
        s.add_callback(lambda stream, status, arg: seen.append((stream is s, status, arg)), k)
    s.add_callback(lambda *ignored: all_done.set())
    s.synchronize()
    assert all_done.wait(10)
    assert seen == [(True, 0, k) for k in range(3)]


def test_async_done():
    async def main():
        streams = [cuda.stream() for _ in range(3)]
        d = [cuda.to_device(np.full(50, float(k)), stream=s) for k, s in enumerate(streams)]
        for a, s in zip(d, streams, strict=True):
            add_one[1, 64, s](a)
        assert await asyncio.gather(*(s.async_done() for s in streams)) == streams
        return [a.copy_to_host()[0] for a in d]

    assert asyncio.run(main()) == [1, 2, 3]


def test_auto_synchronize():
    s = cuda.stream()
    d = cuda.to_device(np.arange(3000.0))
    out = cuda.pinned_array(3000)
    with s.auto_synchronize() as inside:
        assert inside is s
        add_one[(*blocks(3000), s)](d)
        d.copy_to_host(out, stream=s)
    np.testing.assert_array_equal(out, np.arange(3000) + 1)


def test_events_measure_time():
    s = cuda.stream()
    d = cuda.to_device(np.zeros(100), stream=s)
    add_late[1, 128, s](d, 0)
    start, end = cuda.event(), cuda.event()
    start.record(s)
    for _ in range(10):
        add_late[1, 128, s](d, 100 if ON_GPU else 0)
    end.record(s)
    end.synchronize()
    elapsed = cuda.event_elapsed_time(start, end)
    assert 0 < elapsed < 10000 and elapsed == start.elapsed_time(end)
    if ON_GPU:
        assert elapsed > 0.1


def test_events_that_tell_no_time():
    a, b, silent = cuda.event(), cuda.event(), cuda.event(timing=False)
    a.record()
    silent.record()
    assert b.query()  # nothing is before it
    with pytest.raises(ValueError, match="an event tells no time; got one that was not recorded"):
        a.elapsed_time(b)
    with pytest.raises(ValueError, match="got one made with timing=False"):
        silent.elapsed_time(a)


def test_streams_belong_to_a_device():
    s, e = cuda.stream(), cuda.event()
    with nb.device("null"):
        with pytest.raises(ValueError, match=r"of another device; got c.*; expected null"):
            cuda.event().record(s)
        with pytest.raises(ValueError, match="of another device"):
            cuda.default_stream().wait_event(e)
        with pytest.raises(ValueError, match="of another device"):
            add_one[1, 1, s](np.zeros(1))
        t = cuda.stream()
        d = cuda.to_device(np.zeros(10), stream=t)
        t.wait_event(cuda.event())
        assert t.query() and d.shape == (10,)


def test_an_error_in_a_kernel_belongs_to_its_stream():
    @cuda.jit
    def fails(x):
        if cuda.grid(1) == 3:
            raise ValueError("three")

    a, b = cuda.stream(), cuda.stream()
    d = cuda.to_device(np.zeros(10))
    if not ON_GPU:
        with pytest.raises(ValueError, match="three"):
            fails[1, 32, a](d)
        return
    fails[1, 32, a](d)
    add_one[1, 32, b](d)
    b.synchronize()
    with pytest.raises(ValueError, match="three"):
        a.synchronize()
    a.synchronize()
    fails[1, 32, a](d)
    event = a.record()
    with pytest.raises(ValueError, match="three"):
        event.synchronize()
    fails[1, 32, b](d)
    with pytest.raises(ValueError, match="three"):
        cuda.synchronize()
    assert (d.copy_to_host() == 1).all()


# --- memory of the host ---


def test_kinds_are_numpy_arrays():
    assert type(cuda.pinned_array(3)) is np.ndarray
    for kind, make in KINDS.items():
        x = make((3, 4), np.int32, order="F")
        assert isinstance(x, np.ndarray) and x.shape == (3, 4) and x.dtype == np.int32
        assert x.flags["F_CONTIGUOUS"] and x.flags["WRITEABLE"]
        assert make(5).dtype == np.float64
        assert make(()).shape == () and make((0, 3)).size == 0
        x = make((2, 3), np.float64, strides=(64, 8))
        assert x.strides == (64, 8)
        x[:] = 1
        assert kind == "pinned" or type(x) in (cuda.MappedNDArray, cuda.ManagedNDArray)
    like = np.asfortranarray(np.zeros((3, 5), np.complex64))
    for make in (cuda.pinned_array_like, cuda.mapped_array_like):
        x = make(like)
        assert x.shape == like.shape and x.dtype == like.dtype and x.flags["F_CONTIGUOUS"]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_in_numpy_and_in_array_expressions(make):
    x = make((40, 50))
    x[:] = np.arange(2000.0).reshape(40, 50)
    plain = np.arange(2000.0).reshape(40, 50)
    assert type(np.sin(x)) is np.ndarray and type(x + x) is np.ndarray
    np.testing.assert_array_equal(np.sin(x) + x.sum(axis=0), np.sin(plain) + plain.sum(axis=0))
    assert x.max() == 1999 and isinstance(x.max(), float)
    a = nb.asarray(x)
    assert isinstance(a, nb.ndarray)
    np.testing.assert_array_equal(np.asarray(a * 2 + 1), plain * 2 + 1)
    b = nb.ones((40, 50))
    for r in (b + x, x + b, np.add(x, b), nb.add(b, x)):
        assert isinstance(r, nb.ndarray)
        np.testing.assert_array_equal(np.asarray(r), plain + 1)
    b[:] = x
    b[1] = x[2] * 2
    np.testing.assert_array_equal(np.asarray(b)[:3], [plain[0], plain[2] * 2, plain[2]])
    x[:] = np.asarray(nb.sqrt(a))
    np.testing.assert_array_equal(x, np.sqrt(plain))


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_as_kernel_arguments(make, dtype):
    x, y = make(1000, dtype), make(1000, dtype)
    x[:], y[:] = np.arange(1000) % 100, 1
    axpy[(*blocks(1000), cuda.stream())](2, x, y)
    cuda.synchronize()
    want = (np.arange(1000) % 100).astype(dtype) * np.dtype(dtype).type(2) + 1
    np.testing.assert_array_equal(y, want.astype(dtype))
    add_one[blocks(1000)](y[10:20])
    add_one[blocks(1000)](y[::-2])
    cuda.synchronize()
    want = want.astype(dtype)
    want[10:20] += 1
    want[::-2] += 1
    np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_kernels_reach_the_memory_itself(make):
    x = make(1 << 20, np.float32)
    x[:] = 1
    before = copied_bytes()
    s = cuda.stream()
    for _ in range(3):
        add_one[(*blocks(x.size), s)](x)
    s.synchronize()
    assert (x == 4).all()
    assert copied_bytes() == before
    np.testing.assert_array_equal(x.copy_to_host(), x)
    x.copy_to_device(np.arange(1 << 20))
    assert x[77] == 77
    assert cuda.is_cuda_array(x) == ON_GPU
    d = cuda.as_cuda_array(x[10:20])
    d += 1
    cuda.synchronize()
    np.testing.assert_array_equal(x[8:22], [8, 9, *range(11, 21), 20, 21])


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_memory_of_a_gpu_without_one():
    described = {"typestr": "<f8", "shape": (3,), "data": (4096, False), "version": 3}

    class Theirs:
        __cuda_array_interface__ = described

    for adopt, given in (
        (cuda.as_cuda_array, Theirs()),
        (cuda.from_cuda_array_interface, described),
    ):
        with pytest.raises(
            RuntimeError, match=r"\[asarray\] memory of a GPU that Numbus cannot use"
        ):
            adopt(given)


def test_pinned_for_a_while():
    a, b = np.arange(3000.0), np.zeros(3000)
    s = cuda.stream()
    with cuda.pinned(a, b):
        d = cuda.to_device(a, stream=s)
        add_one[(*blocks(3000), s)](d)
        d.copy_to_host(b, stream=s)
    # The end of the block has waited.
    np.testing.assert_array_equal(b, a + 1)
    with cuda.pinned(a), cuda.pinned(a), cuda.pinned(cuda.pinned_array(10)):
        np.testing.assert_array_equal(cuda.to_device(a).copy_to_host(), a)
    with cuda.pinned():
        pass


def test_mapped_for_a_while():
    a = np.arange(3000.0).reshape(30, 100)
    s = cuda.stream()
    with cuda.mapped(a) as d:
        assert isinstance(d, nb.ndarray) and d.shape == a.shape
        add_one[(*blocks(3000), s)](d.reshape(3000))
        d += 1
    np.testing.assert_array_equal(a, np.arange(3000.0).reshape(30, 100) + 2)
    with cuda.mapped(a, np.zeros(3)) as (d, e):
        d[:3, 0] = e + 5
    np.testing.assert_array_equal(a[:3, 0], [5, 5, 5])


def test_alloc_pinned_lives_as_long_as_its_arrays():
    memory = cuda.alloc_pinned(800)
    assert memory.ptr and memory.nbytes == 800 and memoryview(memory).nbytes == 800
    x = np.frombuffer(memory, np.float64)
    assert x.ctypes.data == memory.ptr
    x[:] = 5
    s = cuda.stream()
    d = cuda.to_device(x, stream=s)
    del memory, x
    gc.collect()
    assert (d.copy_to_host(stream=s) == 5).all()
    for _ in range(100):
        cuda.alloc_pinned(1 << 16)
    assert cuda.alloc_pinned(0).nbytes == 0


def test_counts_of_bytes():
    x = np.ones(1000)
    before = copied_bytes()
    d = cuda.to_device(x, stream=cuda.stream())
    d.copy_to_host()
    float((d + 1).sum())
    there, back = (now - then for now, then in zip(copied_bytes(), before, strict=True))
    assert (there, back) == ((8000, 8008) if ON_GPU else (0, 0))


# --- mistakes ---


@pytest.mark.parametrize("wrong", [7, "s", 1.5, object()])
def test_what_is_no_stream(wrong):
    d = cuda.to_device(np.zeros(4))
    for call in (
        lambda: add_one[1, 32, wrong],
        lambda: cuda.to_device(np.zeros(4), stream=wrong),
        lambda: d.copy_to_host(stream=wrong),
        lambda: d.copy_to_device(np.zeros(4), stream=wrong),
        lambda: cuda.memset(d, 0, stream=wrong),
        lambda: cuda.event().record(wrong),
    ):
        with pytest.raises(TypeError, match=r"not a stream; got .*; expected cuda.stream\(\)"):
            call()


def test_other_mistakes():
    s = cuda.stream()
    d = cuda.to_device(np.zeros(4))
    with pytest.raises(ValueError, match=r"\[copy_to_host\] shapes differ; got \(5,\)"):
        d.copy_to_host(np.zeros(5), stream=s)
    with pytest.raises(ValueError, match=r"\[copy_to_device\] shapes differ; got \(2, 2\)"):
        d.copy_to_device(np.zeros((2, 2)), stream=s)
    with pytest.raises(ValueError, match=r"\[copy_to_device\] shapes differ"):
        cuda.to_device(np.zeros(3), to=d)
    with pytest.raises(ValueError, match="read-only"):
        d.copy_to_host(np.broadcast_to(np.zeros(1), 4), stream=s)
    with pytest.raises(ValueError, match=r"\[memset\] not a byte; got 300"):
        cuda.memset(d, 300)
    with pytest.raises(ValueError, match=r"\[memset\] the array is not contiguous"):
        cuda.memset(d[::2], 0)
    with pytest.raises(ValueError, match="negative"):
        cuda.alloc_pinned(-1)
    with pytest.raises(ValueError, match=r"negative extent; got shape \(-2,\)"):
        cuda.mapped_array(-2)
    with pytest.raises(ValueError, match="strides do not fit"):
        cuda.pinned_array((2, 3), strides=(8,))
    with pytest.raises(TypeError, match="Python objects cannot be on a device"):
        cuda.managed_array(3, object)
    with pytest.raises(TypeError, match=r"\[pinned\] not an array of the host; got list"):
        with cuda.pinned([1, 2]):
            pass
    with pytest.raises(ValueError, match=r"\[mapped\] the array is not contiguous"):
        with cuda.mapped(np.zeros(10)[::2]):
            pass
    with pytest.raises(TypeError, match="not a handle"):
        cuda.external_stream("x")
    with pytest.raises((MemoryError, RuntimeError)):
        cuda.pinned_array(1 << 50, np.uint8)
    assert (d.copy_to_host(stream=s) == 0).all()


if __name__ == "__main__":
    count = int(sys.argv[1])
    for seed in range(count):
        run_program(seed, array_work=False)
    assert nb.stats()["bytes_to_device"] > 0
    print(f"{count} programs")


def test_own_arrays_need_no_pinning():
    x = nb.arange(8.0)
    with cuda.pinned(x, np.ones(3)):
        d = cuda.to_device(x)
        assert d.copy_to_host().tolist() == list(range(8))
    with cuda.mapped(x) as m:
        assert np.asarray(m).tolist() == list(range(8))
