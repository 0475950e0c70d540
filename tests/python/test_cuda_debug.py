"""cuda.jit(debug=True): races, threads that do not meet and wrong indices; and correct kernels."""

import numpy as np
import pytest
from numbus import cuda

float32, float64, int32 = np.float32, np.float64, np.int32
on_cpu = pytest.mark.skipif(cuda.is_available(), reason="the CPU target reports these")


def line_of(kernel, text):
    """The line of a kernel's source that contains the text."""
    import inspect

    lines, first = inspect.getsourcelines(kernel.py_func)
    (found,) = [first + n for n, line in enumerate(lines) if text in line]
    return found


def refused(kernel, grid, block, *args, error=RuntimeError, dynamic=0):
    """The message of the error that a launch raises."""
    with pytest.raises(error) as e:
        kernel[grid, block, 0, dynamic](*args)
        cuda.synchronize()
    text = str(e.value)
    assert len(text.split("\n")) <= 12
    return text


def names_lines(text, kernel, *parts):
    for part in parts:
        assert f"{kernel.py_func.__name__}, {__file__}:{line_of(kernel, part)}" in text
        assert f"    {part}" in text


# --- races


@cuda.jit(debug=True)
def neighbour(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    out[cuda.grid(1)] = s[(t + 1) % 64]


@on_cpu
def test_a_read_that_does_not_wait_for_the_write():
    text = refused(neighbour, 1, 64, np.arange(64, dtype=float32), np.zeros(64))
    assert "a race" in text
    assert "s[1]" in text
    assert "a read by thread (0, 0, 0)" in text
    assert "a write by thread (1, 0, 0)" in text
    assert "block (0, 0, 0)" in text
    names_lines(text, neighbour, "s[t] = x[cuda.grid(1)]", "out[cuda.grid(1)] = s[(t + 1) % 64]")


@cuda.jit(debug=True)
def reduction_without_last_barrier(x, out):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        k //= 2
    if t == 0:
        out[0] = s[0]


@on_cpu
def test_a_reduction_that_forgets_a_barrier():
    text = refused(reduction_without_last_barrier, 1, 128, np.ones(128), np.zeros(1))
    assert "a race" in text
    names_lines(text, reduction_without_last_barrier, "s[t] += s[t + k]")


@cuda.jit(debug=True)
def tile_of_two(x, out):
    s = cuda.shared.array((8, 9), int32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    s[i, j] = x[i, j]
    cuda.syncthreads()
    s[j, i] = x[i, j]
    out[i, j] = s[i, j]


@on_cpu
def test_elements_of_two_dimensions_are_named():
    text = refused(tile_of_two, 1, (8, 8), np.arange(64).reshape(8, 8), np.zeros((8, 8)))
    assert "s[1, 0]" in text or "s[0, 1]" in text
    assert "thread (1, 0, 0)" in text
    assert "thread (0, 1, 0)" in text


@cuda.jit(debug=True)
def two_writers(out):
    s = cuda.shared.array(4, int32)
    s[2] = cuda.threadIdx.x
    cuda.syncthreads()
    out[0] = s[2]


@cuda.jit(debug=True)
def one_value_by_all(out):
    s = cuda.shared.array(4, int32)
    s[2] = 7
    cuda.syncthreads()
    out[0] = s[2]


@on_cpu
def test_writers_of_one_element():
    text = refused(two_writers, 1, 33, np.zeros(1))
    assert "s[2]" in text
    assert "a write by thread (1, 0, 0)" in text
    assert "a write by thread (0, 0, 0)" in text


def test_writers_of_one_value_are_no_race():
    out = np.zeros(1)
    one_value_by_all[1, 64](out)
    assert out[0] == 7


@cuda.jit(debug=True)
def atomic_and_read(out):
    s = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, 1)
    out[t] = s[0]


@on_cpu
def test_an_atomic_and_a_plain_read():
    text = refused(atomic_and_read, 1, 32, np.zeros(32))
    assert "an atomic by thread" in text
    assert "a read by thread" in text
    names_lines(text, atomic_and_read, "cuda.atomic.add(s, 0, 1)", "out[t] = s[0]")


@cuda.jit(debug=True)
def dynamic_memory(out):
    s = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    s[t] = t
    out[t] = s[31 - t]


@on_cpu
def test_memory_that_the_launch_sizes():
    text = refused(dynamic_memory, 1, 32, np.zeros(32), dynamic=32 * 8)
    assert "s[16]" in text


@cuda.jit(device=True)
def put(s, t, v):
    s[t] = v


@cuda.jit(debug=True)
def through_a_function(out):
    mine = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    put(mine, t, t)
    out[t] = mine[t ^ 1]


@on_cpu
def test_a_race_inside_a_device_function():
    text = refused(through_a_function, 1, 16, np.zeros(16))
    assert "mine[1]" in text
    assert "in put," in text
    assert "in through_a_function," in text


@cuda.jit(debug=True)
def lanes_that_do_not_wait(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    s[t] = s[t ^ 1]
    out[t] = s[t]


@on_cpu
def test_a_race_within_a_warp():
    text = refused(lanes_that_do_not_wait, 1, 32, np.zeros(32, float32) + 1, np.zeros(32))
    names_lines(text, lanes_that_do_not_wait, "s[t] = s[t ^ 1]")


@cuda.jit(debug=True)
def warps_apart(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    out[t] = s[63 - t]


@on_cpu
def test_a_warp_does_not_wait_for_another():
    text = refused(warps_apart, 1, 64, np.ones(64, float32), np.zeros(64))
    assert "s[63]" in text


# --- threads that do not meet


@cuda.jit(debug=True)
def half_waits(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    out[t] = t


@on_cpu
def test_a_barrier_that_some_do_not_reach():
    text = refused(half_waits, 1, 32, np.zeros(32))
    assert "do not meet at one barrier" in text
    assert "thread (0, 0, 0)" in text
    assert "thread (16, 0, 0) that has ended" in text
    names_lines(text, half_waits, "cuda.syncthreads()", "out[t] = t")


@cuda.jit(debug=True)
def leaves_early(x, out):
    t = cuda.threadIdx.x
    if t >= x.size:
        return
    cuda.syncthreads()
    out[t] = x[t]


@on_cpu
def test_a_return_before_a_barrier():
    leaves_early[1, 20](np.zeros(20), np.zeros(20))
    text = refused(leaves_early, 1, 32, np.zeros(20), np.zeros(32))
    assert "thread (20, 0, 0) that has ended" in text
    names_lines(text, leaves_early, "cuda.syncthreads()", "return")


@cuda.jit(debug=True)
def two_barriers(out):
    t = cuda.threadIdx.x
    if t % 2:
        cuda.syncthreads()
    else:
        out[t] = cuda.syncthreads_count(t > 3)


@on_cpu
def test_barriers_at_different_lines():
    text = refused(two_barriers, 1, 32, np.zeros(32))
    assert "thread (0, 0, 0) that waits" in text
    assert "thread (1, 0, 0) that waits at a barrier" in text
    names_lines(text, two_barriers, "cuda.syncthreads()", "out[t] = cuda.syncthreads_count(t > 3)")


@cuda.jit(debug=True)
def lanes_apart(out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.shfl_sync(0xFFFFFFFF, t, 3)
    else:
        cuda.syncthreads()


@on_cpu
def test_a_warp_operation_and_a_barrier():
    text = refused(lanes_apart, 1, 32, np.zeros(32))
    assert "waits at a warp operation" in text
    assert "waits at a barrier" in text


# --- indices


X = np.zeros(4)


@cuda.jit(debug=True)
def beyond_shared(x):
    tile = cuda.shared.array((4, 8), float32)
    t = cuda.threadIdx.x
    tile[t, 9 - t] = 1
    x[t] = tile[t, 0]


@cuda.jit(debug=True)
def beyond_local(x):
    own = cuda.local.array(3, float32)
    t = cuda.threadIdx.x
    for k in range(3):
        own[k] = t
    x[t] = own[t]


@cuda.jit(debug=True)
def beyond_atomic(counts, at):
    cuda.atomic.add(counts, at[cuda.grid(1)], 1)


@pytest.mark.parametrize(
    ("kernel", "args", "message", "thread"),
    [
        (beyond_shared, (X,), "index 9 is out of bounds for axis 1 of 'tile' with size 8", 0),
        (beyond_local, (X,), "index 3 is out of bounds for axis 0 of 'own' with size 3", 3),
        (
            beyond_atomic,
            (np.zeros(5, int32), np.array([0, 1, -6, 2])),
            "index -6 is out of bounds for axis 0 of 'counts' with size 5",
            2,
        ),
    ],
)  # fmt: skip
def test_indices_out_of_bounds(kernel, args, message, thread):
    with pytest.raises(IndexError) as e:
        kernel[1, 4](*args)
        cuda.synchronize()
    assert str(e.value) == message
    note = e.value.__notes__[0]
    assert f"thread ({thread}, 0, 0), block (0, 0, 0)" in note
    assert f"in {kernel.py_func.__name__}, {__file__}:" in note


@cuda.jit(boundscheck=True)
def shifted(x, by):
    x[cuda.grid(1) + by] += 1


@cuda.jit(boundscheck=True)
def guarded(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]


@cuda.jit(boundscheck=True)
def through_shared(x, order):
    s = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[order[t]]


@pytest.mark.parametrize("size", [1, 17, 63])
def test_checks_on_lanes(size):
    # Threads of a block side by side: the first that is outside is named.
    x = np.zeros(size)
    first = r"\d+" if cuda.is_available() else size  # on a GPU, whichever comes first
    with pytest.raises(IndexError, match=f"index {first} is out of bounds for axis 0 of 'x'") as e:
        shifted[1, 64](cuda.to_device(x), 0)
        cuda.synchronize()
    if not cuda.is_available():
        assert f"thread ({size}, 0, 0)" in e.value.__notes__[0]
    with pytest.raises(IndexError, match=f"index {first} is out of bounds for axis 0 of 'y'"):
        guarded[1, 64](np.zeros(64), x)
        cuda.synchronize()
    y = np.zeros(64)
    guarded[2, 64](np.ones(size), y)
    cuda.synchronize()
    np.testing.assert_array_equal(y, np.arange(64) < size)
    order = np.arange(64)[::-1].copy()
    through_shared[1, 64](y, order)
    cuda.synchronize()
    np.testing.assert_array_equal(y[::-1], np.arange(64) < size)
    order[size] = 64
    with pytest.raises(IndexError, match="index 64 is out of bounds for axis 0 of 's'"):
        through_shared[1, 64](y, order)
        cuda.synchronize()


def test_checks_of_negative_indices():
    x = np.zeros(64)
    shifted[1, 64](x, -10)  # they count from the end
    np.testing.assert_array_equal(x, 1)
    with pytest.raises(IndexError, match="index -70 is out of bounds for axis 0 of 'x' with size"):
        shifted[1, 64](x, -70)
        cuda.synchronize()


# --- correct kernels


@cuda.jit(debug=True)
def tiled_matmul(a, b, c):
    sa = cuda.shared.array((8, 8), float32)
    sb = cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // 8):
        sa[ty, tx] = a[y, tx + k * 8]
        sb[ty, tx] = b[ty + k * 8, x]
        cuda.syncthreads()
        for j in range(8):
            total += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = total


def test_matmul_is_correct():
    r = np.random.default_rng(1)
    a, b = r.random((16, 24), float32), r.random((24, 16), float32)
    c = np.zeros((16, 16), float32)
    tiled_matmul[(2, 2), (8, 8)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@cuda.jit(debug=True)
def block_sums(x, out):
    s = cuda.shared.array(128, float64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def test_block_reduction_is_correct():
    x = np.arange(512.0)
    out = np.zeros(4)
    block_sums[4, 128](x, out)
    np.testing.assert_array_equal(out, x.reshape(4, 128).sum(1))


@cuda.jit(debug=True)
def histogram(x, counts):
    mine = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        mine[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < x.size:
        cuda.atomic.add(mine, x[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(counts, t, mine[t])


def test_histogram_is_correct():
    x = np.random.default_rng(2).integers(0, 16, 1000)
    counts = np.zeros(16, int32)
    histogram[3, 64](x, counts)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))


@cuda.jit(debug=True)
def double_buffered(x, out, steps):
    s = cuda.shared.array((2, 66), float64)
    t = cuda.threadIdx.x
    s[0, t + 1] = x[t]
    if t == 0:
        s[0, 0] = s[1, 0] = 0
        s[0, 65] = s[1, 65] = 0
    cuda.syncthreads()
    now = 0
    for _ in range(steps):
        s[1 - now, t + 1] = (s[now, t] + s[now, t + 1] + s[now, t + 2]) / 3
        now = 1 - now
        cuda.syncthreads()
    out[t] = s[now, t + 1]


def test_double_buffered_stencil_is_correct():
    x = np.random.default_rng(3).random(64)
    out = np.zeros(64)
    double_buffered[1, 64](x, out, 5)
    padded = np.pad(x, 1)
    for _ in range(5):
        padded[1:-1] = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    np.testing.assert_allclose(out, padded[1:-1], rtol=1e-14)


@cuda.jit(debug=True)
def warp_reduction(x, out):
    partial = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    v = x[cuda.grid(1)]
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        k //= 2
    if lane == 0:
        partial[warp] = v
    cuda.syncthreads()
    if warp == 0:
        v = partial[lane] if lane < cuda.blockDim.x // 32 else 0.0
        k = 16
        while k > 0:
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
            k //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = v


@cuda.jit(debug=True)
def warp_reduction_in_memory(x, out):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncwarp()
    k = 16
    while k > 0:
        v = s[t ^ k]
        cuda.syncwarp()
        s[t] += v
        cuda.syncwarp()
        k //= 2
    out[cuda.grid(1)] = s[t]


def test_warp_reductions_are_correct():
    x = np.arange(256.0)
    out = np.zeros(2)
    warp_reduction[2, 128](x, out)
    np.testing.assert_array_equal(out, x.reshape(2, 128).sum(1))
    out = np.zeros(64)
    warp_reduction_in_memory[2, 32](x, out)
    np.testing.assert_array_equal(out, np.repeat(x[:64].reshape(2, 32).sum(1), 32))


@cuda.jit(debug=True)
def locked(out):
    lock = cuda.shared.array(1, int32)
    total = cuda.shared.array(1, float64)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = 0
        total[0] = 0
    cuda.syncthreads()
    if t % 32 == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += t
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)
    cuda.syncthreads()
    if t == 0:
        out[0] = total[0]


def test_a_lock_with_fences_is_correct():
    out = np.zeros(1)
    locked[1, 128](out)
    assert out[0] == 32 + 64 + 96


@cuda.jit(debug=True)
def bytes_of_neighbours(x, out):
    s = cuda.shared.array(32, np.uint8)
    flags = cuda.shared.array(4, np.bool_)
    wide = cuda.shared.array(32, np.complex128)
    t = cuda.threadIdx.x
    s[t] = x[t]
    wide[t] = complex(t, 1)
    if t < 4:
        flags[t] = t % 2 == 0
    cuda.syncthreads()
    out[t] = s[31 - t] + wide[31 - t].real + flags[t % 4]


def test_narrow_and_wide_elements_are_apart():
    x = np.arange(32, dtype=np.uint8)
    out = np.zeros(32)
    bytes_of_neighbours[1, 32](x, out)
    np.testing.assert_array_equal(out, 2.0 * x[::-1] + (np.arange(32) % 4 % 2 == 0))


@cuda.jit(debug=True)
def whole_grid(x, out):
    s = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    x[i] = s[7 - t]
    cuda.cg.this_grid().sync()
    out[i] = x[(i + 8) % x.size] + s[t]


def test_barriers_of_the_grid_are_correct():
    x = np.arange(24.0)
    out = np.zeros(24)
    a = cuda.to_device(x)
    whole_grid[3, 8](a, out)
    turned = x.reshape(3, 8)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(out, np.roll(turned, -8) + x)


def test_debug_kernels_compile_for_a_gpu():
    for kernel in (block_sums, warp_reduction, leaves_early):
        ptx, _ = cuda.compile_ptx(kernel, "void(float64[:], float64[:])", debug=True)
        assert kernel.py_func.__name__ in ptx
        assert "trap" not in ptx


@on_cpu
def test_without_debug_the_message_says_what_would_tell_more():
    plain = cuda.jit(lanes_apart.py_func)
    with pytest.raises(RuntimeError, match="never come; debug=True names the lines"):
        plain[1, 32](np.zeros(32))


def element(x, i):
    return x[i]


CHECKS = [
    ({}, {}, True),
    ({}, {"boundscheck": False}, False),
    ({"boundscheck": False}, {}, False),
    ({"boundscheck": True}, {"boundscheck": False}, True),
    ({"debug": True}, {"boundscheck": False}, True),
    ({"debug": False}, {"boundscheck": False}, False),
    ({"boundscheck": False}, {"debug": True}, False),
]


@pytest.mark.parametrize("own, of_kernel, checked", CHECKS)
def test_a_device_function_is_checked_as_it_says(own, of_kernel, checked):
    read = cuda.jit(device=True, **own)(element)
    other = cuda.jit(device=True)(element)  # the same function, as its kernel is checked

    @cuda.jit(**of_kernel)
    def k(x, out, i):
        out[0] = read(x, i)
        if i < 0:
            out[1] = other(x, i)

    x, out = np.arange(8.0)[2:5], np.zeros(2)  # what lies after its end is memory of ours
    k[1, 1](x, out, 1)
    cuda.synchronize()
    assert out[0] == 3
    if checked:
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            k[1, 1](x, out, 3)
            cuda.synchronize()
    elif not cuda.is_available():
        k[1, 1](x, out, 3)
        assert out[0] == 5


def test_both_forms_of_one_device_function_in_a_kernel():
    checked = cuda.jit(device=True, boundscheck=True)(element)
    free = cuda.jit(device=True, boundscheck=False)(element)

    @cuda.jit
    def k(x, out, i):
        out[0] = free(x, i)
        out[1] = checked(x, i)

    x, out = np.arange(8.0)[2:5], np.zeros(2)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        k[1, 1](x, out, 3)
        cuda.synchronize()
    if not cuda.is_available():
        assert out[0] == 5
