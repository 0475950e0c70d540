"""cuda.jit on whatever device the suite runs on."""

import re

import numbus as nb
import numpy as np
import pytest
from numbus import cuda, float32, float64, int32
from numbus.kernels import types

TPB = 256
CONSTANTS = np.array([5, -2, 7])


@cuda.jit
def axpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_host_arrays_are_copied_back(dtype):
    rng = np.random.default_rng(1)
    x = (rng.random(1000) * 100).astype(dtype)
    y = (rng.random(1000) * 100).astype(dtype)
    out = np.zeros(1000, dtype)
    axpy[8, 128](2, x, y, out)
    np.testing.assert_array_equal(out, 2 * x + y)


@pytest.mark.parametrize("of_numbus", [False, True])
def test_read_only_host_arrays(of_numbus):
    """On a GPU a kernel gets a copy, into which it may write no more than into the array."""

    def write(x, n):
        if n > 0:
            x[0] = 7.0

    x = np.arange(4.0)
    x.flags.writeable = False
    if of_numbus:
        x = nb.broadcast_to(nb.asarray(x), (2, 4))[0]
    cuda.jit(write)[1, 1](x, 0)
    with pytest.raises(ValueError, match="read-only"):
        cuda.jit(write)[1, 1](x, 1)
        cuda.synchronize()
    assert float(x[0]) == 0.0


def test_device_arrays():
    x = np.arange(100.0)
    dx = cuda.to_device(x)
    out = cuda.device_array_like(x)
    axpy[1, 128](3.0, dx, dx, out)
    np.testing.assert_array_equal(out.copy_to_host(), 4 * x)


@cuda.jit
def block_maximum(x, out):
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = TPB // 2
    while k > 0:
        if t < k:
            s[t] = max(s[t], s[t + k])
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def test_shared_memory_and_barriers():
    x = np.random.default_rng(1).random(4096).astype(np.float32)
    out = np.zeros(4096 // TPB, np.float32)
    block_maximum[4096 // TPB, TPB](x, out)
    np.testing.assert_array_equal(out, x.reshape(-1, TPB).max(axis=1))


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0)
    for k in range((a.shape[1] + 15) // 16):
        sa[ty, tx] = 0
        sb[ty, tx] = 0
        if y < a.shape[0] and tx + k * 16 < a.shape[1]:
            sa[ty, tx] = a[y, tx + k * 16]
        if x < b.shape[1] and ty + k * 16 < b.shape[0]:
            sb[ty, tx] = b[ty + k * 16, x]
        cuda.syncthreads()
        for j in range(16):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def test_tiled_matmul():
    rng = np.random.default_rng(1)
    a = rng.random((50, 33)).astype(np.float32)
    b = rng.random((33, 41)).astype(np.float32)
    c = np.zeros((50, 41), np.float32)
    matmul[(3, 4), (16, 16)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@cuda.jit
def warp_sum(x, out):
    v = x[cuda.grid(1)]
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        k //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, v)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_warp_shuffles(dtype):
    x = np.arange(128).astype(dtype)
    out = np.zeros(1, dtype)
    warp_sum[2, 64](x, out)
    assert out[0] == x.sum()


@cuda.jit
def votes(x, out):
    i = cuda.threadIdx.x
    p = x[i] > 3
    out[0, i] = cuda.ballot_sync(0xFFFFFFFF, p)
    out[1, i] = cuda.any_sync(0xFFFFFFFF, p)
    out[2, i] = cuda.all_sync(0xFFFFFFFF, p)
    out[3, i] = cuda.syncthreads_count(p)
    out[4, i] = cuda.popc(x[i])
    out[5, i] = cuda.match_any_sync(0xFFFFFFFF, x[i])


def test_votes():
    x = np.arange(32, dtype=np.int32) % 8
    out = np.zeros((6, 32), np.int64)
    votes[1, 32](x, out)
    bits = sum(1 << i for i in range(32) if x[i] > 3)
    assert (out[0] == bits).all()
    assert (out[1] == 1).all()
    assert (out[2] == 0).all()
    assert (out[3] == (x > 3).sum()).all()
    assert list(out[4]) == [int(v).bit_count() for v in x]
    same = [sum(1 << j for j in range(32) if x[j] == x[i]) for i in range(32)]
    assert list(out[5] & 0xFFFFFFFF) == same


ATOMIC_TYPES = [np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize("dtype", ATOMIC_TYPES)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", lambda x: 7 + x.sum()),
        ("sub", lambda x: 7 - x.sum()),
        ("max", lambda x: max(7, x.max())),
        ("min", lambda x: min(7, x.min())),
        ("nanmax", lambda x: max(7, x.max())),
        ("nanmin", lambda x: min(7, x.min())),
    ],
)
def test_atomics(name, expected, dtype):
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def kernel(x, out):
        operation(out, 0, x[cuda.grid(1)])

    x = np.random.default_rng(1).permutation(64).astype(dtype)
    if name == "sub" and np.dtype(dtype).kind == "u":
        x[:] = 0
        x[0] = 5
    out = np.full(1, 7, dtype)
    kernel[2, 32](x, out)
    assert out[0] == expected(x)


def test_compare_and_swap_counts():
    @cuda.jit
    def kernel(out):
        while True:
            old = out[0]
            if cuda.atomic.cas(out, 0, old, old + 1) == old:
                break

    out = np.zeros(1, np.int32)
    kernel[4, 1](out)
    assert out[0] == 4


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_atomic_load_sees_what_other_blocks_store(dtype):
    @cuda.jit
    def kernel(tickets, sums):
        i = cuda.atomic.add(tickets, 0, 1)
        before = sums[i]
        if i > 0:
            while before == 0:
                before = cuda.atomic.load(sums, i - 1)
        cuda.atomic.exch(sums, i, before + i + 1)

    tickets, sums = np.zeros(1, np.int32), np.zeros(40, dtype)
    kernel[40, 1](tickets, sums)
    np.testing.assert_array_equal(sums, np.cumsum(np.arange(1, 41)))

    @cuda.jit
    def of_constants(out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.load(CONSTANTS, i)

    out = np.zeros(3, np.int64)
    of_constants[1, 3](out)
    np.testing.assert_array_equal(out, CONSTANTS)


def test_errors_name_thread_and_line():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i == 77:
            raise ValueError("bad luck")
        x[i] = 1

    x = cuda.to_device(np.zeros(128))
    with pytest.raises(ValueError, match="bad luck") as e:
        kernel[2, 64](x)
        cuda.synchronize()
    assert "thread (13, 0, 0), block (1, 0, 0)" in e.value.__notes__[0]
    kernel[1, 64](x)  # the next launch works
    cuda.synchronize()
    assert x.copy_to_host()[:64].all()


def test_debug_checks_bounds():
    @cuda.jit(debug=True)
    def kernel(x):
        x[cuda.grid(1)] = 1

    with pytest.raises(
        IndexError, match="index 100 is out of bounds for axis 0 of 'x' with size 100"
    ):
        kernel[2, 64](np.zeros(100))
        cuda.synchronize()


def test_dynamic_shared_memory():
    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(0, int32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        out[t] = s[s.size - 1 - t]

    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    kernel[1, 64, 0, 64 * 4](x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_cooperative_grid():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        x[i] = i
        cuda.cg.this_grid().sync()
        out[i] = x[x.size - 1 - i]

    x = np.zeros(96)
    out = np.zeros(96)
    kernel[3, 32](x, out)
    np.testing.assert_array_equal(out, np.arange(96)[::-1])


def test_device_functions_and_local_arrays():
    @cuda.jit(device=True)
    def weight(i, j):
        return i * 10 + j

    @cuda.jit
    def kernel(out):
        a = cuda.local.array(4, float64)
        i = cuda.grid(1)
        for j in range(4):
            a[j] = weight(i, j)
        out[i] = a[0] + a[1] + a[2] + a[3]

    out = np.zeros(8)
    kernel[1, 8](out)
    np.testing.assert_array_equal(out, [40 * i + 6 for i in range(8)])


def test_float32_kernel_has_no_float64():
    ptx, _ = cuda.compile_ptx(axpy, "void(float32, float32[::1], float32[::1], float32[::1])")
    assert ".f64" not in ptx
    assert ".visible .entry axpy(" in ptx


@cuda.jit
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = a.dtype.type(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.int64, np.float64, np.complex64])
@pytest.mark.parametrize("shape", [(24, 32, 16), (5, 16, 3), (7, 13, 9), (9, 1, 17), (3, 0, 4)])
def test_rows_at_any_place(dtype, shape):
    """Arrays whose rows begin at multiples of 16 bytes are read wider than others."""
    rng = np.random.default_rng(3)
    rows, terms, columns = shape
    x = rng.integers(-3, 4, rows * terms + 5).astype(dtype)
    y = rng.integers(-3, 4, terms * columns + 5).astype(dtype)
    dx, dy = cuda.to_device(x), cuda.to_device(y)
    for skip in (0, 1, 2, 4):
        a, da = (v[skip : skip + rows * terms].reshape(rows, terms) for v in (x, dx))
        b, db = (v[skip : skip + terms * columns].reshape(terms, columns) for v in (y, dy))
        out = cuda.device_array((rows, columns), dtype)
        product[(3, 3), (8, 8)](da, db, out)
        np.testing.assert_array_equal(out.copy_to_host(), a @ b)


def test_rows_of_whole_vectors_are_read_as_such():
    plain = types.signature("void(float32[:,::1], float32[:,::1], float32[:,::1])")[0]
    kernel = product._make()
    assert "ld.global.v4.f32" in kernel.ptx(list(plain), 90, 80, aligned=True)
    assert "ld.global.v4.f32" not in kernel.ptx(list(plain), 90, 80)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_negatives_of_truth_values(dtype):
    """LLVM converts a signed bit for a GPU as if it were 1."""

    def negatives(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = -all(x[i])
            out[i] += 2 * -int(x[i, 0] > 0)

    x = np.array([[1, 2], [0, 3], [-1, 1]], np.int32)
    out = np.zeros(3, dtype)
    cuda.jit(negatives)[1, 32](x, out)
    assert out.tolist() == [-3, 0, -1]
    y = nb.array(x[:, 0])
    assert (-(y > 0).astype("i4")).astype(dtype).tolist() == [-1, 0, 0]
    assert ((-(y != 0).astype("i8")) * np.dtype(dtype).type(1.5)).tolist() == [-1.5, 0, -1.5]


def test_signed_bits_in_ptx():
    def negatives(x, out):
        for i in range(x.shape[0]):
            out[i] = -all(x[i])

    for t in ("float16", "float32", "float64", "complex64"):
        ptx = cuda.compile_ptx(negatives, f"void(int32[:, :], {t}[:])")[0]
        assert "selp" in ptx and ".s32" not in "".join(re.findall(r"cvt\.rn\.f\S+", ptx))
