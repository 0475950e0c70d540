"""Kernels against a simulation in plain Python: a Python thread for each thread of a block."""

import itertools
import sys
import threading
import types

import numpy as np
import pytest
from numbus import cuda, float32, float64, int32, int64
from numbus.kernels._generate import make

RNG = np.random.default_rng(8)


class Meeting:
    """Threads that exchange values: each brings one, and sees all that were brought."""

    def __init__(self, count):
        self.barrier, self.values = threading.Barrier(count), {}

    def exchange(self, key, value):
        self.values[key] = value
        self.barrier.wait(20)
        seen = dict(self.values)
        self.barrier.wait(20)
        return seen

    def leave(self):
        """A thread that has ended is waited for no longer."""
        with self.barrier._cond:
            self.barrier._parties -= 1
            if self.barrier._parties and self.barrier._count == self.barrier._parties:
                self.barrier._release()


class Indices:
    """x, y and z."""

    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z


class Block:
    """One block: what its threads share."""

    def __init__(self, size):
        self.all = Meeting(size)
        self.memory, self.warps, self.lock = {}, {}, threading.Lock()


class Simulated:
    """What `cuda` is for a kernel that runs in Python."""

    def __init__(self):
        self.own = threading.local()
        self.shared = types.SimpleNamespace(array=self.shared_array)
        self.local = types.SimpleNamespace(
            array=lambda shape, dtype: np.zeros(shape, to_numpy(dtype))
        )
        self.atomic = types.SimpleNamespace(
            add=self.atomic(lambda a, v: a + v), sub=self.atomic(lambda a, v: a - v),
            max=self.atomic(max), min=self.atomic(min), exch=self.atomic(lambda a, v: v),
            xor=self.atomic(lambda a, v: a ^ v), and_=self.atomic(lambda a, v: a & v),
            or_=self.atomic(lambda a, v: a | v),
            inc=self.atomic(lambda a, v: 0 if a >= v else a + 1),
            dec=self.atomic(lambda a, v: v if a == 0 or a > v else a - 1),
        )  # fmt: skip

    def __getattr__(self, name):
        return getattr(self.own, name)

    def shared_array(self, shape, dtype):
        frame = sys._getframe(1)
        key = frame.f_code, frame.f_lasti
        block = self.own.block
        with block.lock:
            if key not in block.memory:
                block.memory[key] = np.zeros(shape, to_numpy(dtype))
            return block.memory[key]

    def atomic(self, update):
        def run(array, index, value):
            with self.own.block.lock:
                old = array[index]
                array[index] = update(old, value)
                return old

        return run

    def grid(self, n):
        o = self.own
        at = [getattr(o.blockIdx, a) * getattr(o.blockDim, a) + getattr(o.threadIdx, a)
              for a in "xyz"[:n]]  # fmt: skip
        return at[0] if n == 1 else tuple(at)

    def gridsize(self, n):
        size = [getattr(self.own.gridDim, a) * getattr(self.own.blockDim, a) for a in "xyz"[:n]]
        return size[0] if n == 1 else tuple(size)

    def syncthreads(self):
        self.votes(True)

    def votes(self, p):
        return list(self.own.block.all.exchange(self.own.number, bool(p)).values())

    def syncthreads_count(self, p):
        return sum(self.votes(p))

    def syncthreads_and(self, p):
        return int(all(self.votes(p)))

    def syncthreads_or(self, p):
        return int(any(self.votes(p)))

    def lanes(self, mask, value):
        """{lane: value} of those of the mask."""
        o = self.own
        key = o.number // 32, mask & 0xFFFFFFFF
        with o.block.lock:
            meeting = o.block.warps.setdefault(key, Meeting(int(mask & 0xFFFFFFFF).bit_count()))
        return meeting.exchange(o.laneid, value)

    def syncwarp(self, mask=0xFFFFFFFF):
        self.lanes(mask, 0)

    def shfl_sync(self, mask, value, lane):
        return self.lanes(mask, value).get(lane % 32, value)

    def shfl_up_sync(self, mask, value, n):
        at = self.own.laneid - n
        seen = self.lanes(mask, value)
        return seen.get(at, value) if at >= 0 else value

    def shfl_down_sync(self, mask, value, n):
        at = self.own.laneid + n
        seen = self.lanes(mask, value)
        return seen.get(at, value) if at < 32 else value

    def shfl_xor_sync(self, mask, value, bits):
        return self.lanes(mask, value).get(self.own.laneid ^ bits, value)

    def ballot_sync(self, mask, p):
        return sum(1 << k for k, v in self.lanes(mask, bool(p)).items() if v)

    def all_sync(self, mask, p):
        return int(all(self.lanes(mask, bool(p)).values()))

    def any_sync(self, mask, p):
        return int(any(self.lanes(mask, bool(p)).values()))

    def eq_sync(self, mask, p):
        return int(len(set(self.lanes(mask, bool(p)).values())) == 1)

    def match_any_sync(self, mask, value):
        seen = self.lanes(mask, value)
        return sum(1 << k for k, v in seen.items() if v == value)

    def match_all_sync(self, mask, value):
        same = len(set(self.lanes(mask, value).values())) == 1
        return (mask & 0xFFFFFFFF if same else 0), same

    def threadfence(self):
        pass

    threadfence_block = threadfence_system = threadfence

    def popc(self, x):
        return int(x).bit_count()

    def ffs(self, x):
        return (int(x) & -int(x)).bit_length()

    def clz(self, x):
        return 32 - (int(x) & 0xFFFFFFFF).bit_length()

    def selp(self, p, a, b):
        return a if p else b

    def launch(self, function, grid, block, *args):
        """Runs the kernel for all blocks, one after the other."""
        env = {**function.__globals__, "cuda": self}
        run = types.FunctionType(function.__code__, env, function.__name__, None,
                                 function.__closure__)  # fmt: skip
        grid, block = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        errors = []
        for bz, by, bx in itertools.product(*map(range, reversed(grid))):
            size = block[0] * block[1] * block[2]
            shared = Block(size)

            def thread(number, bx=bx, by=by, bz=bz, shared=shared):
                o = self.own
                o.block, o.number, o.laneid, o.warpsize = shared, number, number % 32, 32
                x, y = number % block[0], number // block[0] % block[1]
                o.threadIdx = Indices(x, y, number // (block[0] * block[1]))
                o.blockIdx, o.blockDim = Indices(bx, by, bz), Indices(*block)
                o.gridDim = Indices(*grid)
                try:
                    run(*args)
                except Exception as e:
                    errors.append(e)
                finally:
                    shared.all.leave()

            threads = [threading.Thread(target=thread, args=(n,)) for n in range(size)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        if errors:
            raise errors[0]


def to_numpy(dtype):
    return np.dtype(getattr(dtype, "dtype", dtype) if not isinstance(dtype, type) else dtype)


def check(function, grid, block, *args, rtol=0.0):
    """The same arrays after the kernel as after its simulation."""
    grid = grid if isinstance(grid, tuple) else (grid,)
    block = block if isinstance(block, tuple) else (block,)
    want = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    got = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    Simulated().launch(function, grid, block, *want)
    cuda.jit(function)[grid, block](*got)
    cuda.synchronize()
    for g, w in zip(got, want, strict=True):
        if isinstance(w, np.ndarray):
            np.testing.assert_allclose(g, w, rtol=rtol)
    return want


# --- positions


def places1(out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = cuda.threadIdx.x
        out[i, 1] = cuda.blockIdx.x
        out[i, 2] = cuda.gridsize(1)
        out[i, 3] = cuda.blockDim.x * 100 + cuda.gridDim.x
        out[i, 4] = cuda.laneid


def places2(out):
    x, y = cuda.grid(2)
    w, h = cuda.gridsize(2)
    if x < out.shape[1] and y < out.shape[0]:
        out[y, x] = x + 10 * y + 100 * w + 1000 * h + cuda.laneid * 100000


def places3(out):
    x, y, z = cuda.grid(3)
    w, h, d = cuda.gridsize(3)
    if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
        thread = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        block = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[z, y, x] = (thread + 1000 * block) * 1000 + w + h + d + cuda.blockDim.z


def test_places():
    check(places1, 3, 40, np.zeros((110, 5), int))
    check(places2, (2, 3), (8, 5), np.zeros((13, 15), int))
    check(places3, (2, 2, 2), (4, 3, 2), np.zeros((4, 5, 7), int))


# --- barriers


def scan(x, out):
    s = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < 64:
        v = s[t]
        if t >= step:
            v += s[t - step]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = s[t]


def break_and_continue(x, out):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for k in range(10):
        s[t] = x[t] * k
        cuda.syncthreads()
        if k % 3 == 1:
            cuda.syncthreads()
            continue
        total += s[(t + k) % 32]
        cuda.syncthreads()
        if k == 7:
            break
    else:
        total = -1.0
    out[t] = total


def nested(x, out):
    s = cuda.shared.array((4, 8), int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0
    for i in range(3):
        j = 0
        while True:
            s[ty, tx] = x[ty, tx] + i * j
            cuda.syncthreads()
            total += s[(ty + i) % 4, (tx + j) % 8]
            cuda.syncthreads()
            j += 1
            if j > i:
                break
        if i == 1:
            continue
        total *= 2
    out[ty, tx] = total


def early_return(x, out):
    s = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = 0.0
    if i >= x.size:
        return
    s[t] = x[i]
    cuda.syncthreads()
    if t % 2 == 1:
        return
    cuda.syncthreads()
    out[i] = s[t] + (s[t + 1] if i + 1 < x.size else 0.0)


def uniform_branch(x, out):
    s = cuda.shared.array(32, float64)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if cuda.blockIdx.x % 2 == 0:
        cuda.syncthreads()
        v = s[31 - t]
        cuda.syncthreads()
    else:
        v = s[t] * 2
    out[cuda.blockIdx.x, t] = v


def votes(x, out):
    t = cuda.threadIdx.x
    for k in range(4):
        p = x[t] > k
        out[0, k, t] = cuda.syncthreads_count(p)
        out[1, k, t] = cuda.syncthreads_and(p)
        out[2, k, t] = cuda.syncthreads_or(p)


def spread(x, s, out):
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[out.size - 1 - t]


def device_barrier(x, out):
    spread(x, cuda.shared.array(32, float64), out)


def two_arrays(out):
    a = cuda.shared.array(16, int32)
    b = cuda.shared.array(16, float32)
    c = cuda.local.array(3, float32)
    t = cuda.threadIdx.x
    a[t] = t
    b[t] = t * 0.5
    for k in range(3):
        c[k] = t + k
    cuda.syncthreads()
    out[t] = a[15 - t] + b[(t + 1) % 16] + c[0] * c[2]


def test_barriers():
    check(scan, 3, 64, RNG.integers(0, 100, 192), np.zeros(192, int))
    check(break_and_continue, 1, 32, RNG.random(32), np.zeros(32))
    check(nested, 1, (8, 4), RNG.integers(0, 9, (4, 8)), np.zeros((4, 8), int))
    check(early_return, 2, 64, RNG.random(101), np.zeros(101))
    check(uniform_branch, 3, 32, RNG.random(32), np.zeros((3, 32)))
    check(votes, 1, 48, RNG.integers(0, 6, 48), np.zeros((3, 4, 48), int))
    check(two_arrays, 1, 16, np.zeros(16, np.float32))


def test_barriers_in_device_functions():
    spread_there = cuda.jit(device=True)(spread)

    @cuda.jit
    def kernel(x, out):
        spread_there(x, cuda.shared.array(32, float64), out)

    x, out = RNG.random(32), np.zeros(32)
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, x[::-1])


# --- atomics


def shared_histogram(x, out):
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(s, x[i], 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, s[t])


def shared_extremes(x, out):
    s = cuda.shared.array((2, 2), float64)
    t = cuda.threadIdx.x
    if t == 0:
        s[0, 0] = -1.0
        s[1, 1] = 2.0
    cuda.syncthreads()
    cuda.atomic.max(s, (0, 0), x[cuda.grid(1)])
    cuda.atomic.min(s, (1, 1), x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x, 0] = s[0, 0]
        out[cuda.blockIdx.x, 1] = s[1, 1]


def bit_atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.xor(out, 0, x[i])
    cuda.atomic.and_(out, 1, x[i])
    cuda.atomic.or_(out, 2, x[i])
    cuda.atomic.inc(out, 3, 10)
    cuda.atomic.dec(out, 4, 10)
    cuda.atomic.sub(out, 5, x[i])


def tickets(out):
    i = cuda.grid(1)
    out[1 + cuda.atomic.add(out, 0, 1)] = 1 if i >= 0 else 0


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_atomics(dtype):
    check(bit_atomics, 2, 20, RNG.integers(0, 200, 40).astype(dtype),
          np.array([0, 255, 0, 0, 0, 2**31], np.int64).astype(dtype) if dtype != np.int32
          else np.array([0, 255, 0, 0, 0, 2**30], dtype))  # fmt: skip
    check(tickets, 2, 20, np.zeros(41, dtype))


def test_atomics_on_shared_memory():
    check(shared_histogram, 3, 50, RNG.integers(0, 8, 140), np.zeros(8, np.int32))
    check(shared_extremes, 3, 33, RNG.random(99), np.zeros((3, 2)))


# --- warps


def shuffles(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    out[0, t] = cuda.shfl_sync(0xFFFFFFFF, v, 5)
    out[1, t] = cuda.shfl_up_sync(0xFFFFFFFF, v, 3)
    out[2, t] = cuda.shfl_down_sync(0xFFFFFFFF, v, 7)
    out[3, t] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 9)
    out[4, t] = cuda.shfl_sync(0xFFFFFFFF, v, (t * 7) % 32)


def halves(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    if t % 32 < 16:
        for k in range(3):
            v += cuda.shfl_xor_sync(0x0000FFFF, v, 1 << k)
    else:
        v = v * 2
        v += cuda.shfl_sync(0xFFFF0000, v, 20)
    out[t] = v


def lanes_of_three(x, out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        mask = 0x49249249
        out[0, t] = cuda.ballot_sync(mask, x[t] > 2)
        out[1, t] = cuda.any_sync(mask, x[t] > 4)
        out[2, t] = cuda.all_sync(mask, x[t] >= 0)
        out[3, t] = cuda.eq_sync(mask, x[t] > 3)
        out[4, t] = cuda.match_any_sync(mask, x[t])
    out[5, t] = cuda.ballot_sync(0xFFFFFFFF, x[t] % 2 == 0)


def match_all(x, out):
    t = cuda.threadIdx.x
    m, p = cuda.match_all_sync(0xFFFFFFFF, x[t])
    out[0, t] = m
    out[1, t] = p


def different_turns(x, out):
    # Each warp loops as often as it likes.
    t = cuda.threadIdx.x
    v = x[t]
    for _ in range(t // 32 + 1):
        v = cuda.shfl_down_sync(0xFFFFFFFF, v, 1) + 1
        if cuda.any_sync(0xFFFFFFFF, v > 50):
            break
    cuda.syncthreads()
    out[t] = v


def bits(x, out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.popc(x[t])
    out[1, t] = cuda.ffs(x[t])
    out[2, t] = cuda.clz(x[t])
    out[3, t] = cuda.selp(x[t] > 100, x[t], 7)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_shuffles(dtype):
    x = RNG.integers(0, 100, 64).astype(dtype)
    check(shuffles, 1, 64, x, np.zeros((5, 64), dtype))
    check(halves, 1, 64, x, np.zeros(64, dtype))
    check(different_turns, 1, 64, x % 40, np.zeros(64, dtype))


def test_votes_of_warps():
    x = RNG.integers(0, 6, 32).astype(np.int32)
    check(lanes_of_three, 1, 32, x, np.zeros((6, 32), np.uint32))
    check(match_all, 1, 32, np.full(32, 4, np.int32), np.zeros((2, 32), np.uint32))
    check(match_all, 1, 32, x, np.zeros((2, 32), np.uint32))
    check(bits, 1, 32, RNG.integers(0, 2**31 - 1, 32).astype(np.int32), np.zeros((4, 32), int))


# --- generated control flow


class Writer:
    """A random kernel: loops, branches, break and continue around barriers, uniform where these
    need it; between barriers a thread reads or writes shared memory at positions of its own."""

    def __init__(self, seed):
        self.r, self.names = np.random.default_rng(seed), itertools.count()

    def pick(self, *items):
        return items[self.r.integers(len(items))]

    def exchange(self, pad):
        shift = int(self.r.integers(1, 31))
        lines = ["s[t] = v", "cuda.syncthreads()", f"v = (v * 3 + s[(t + {shift}) % 32]) % 1009"]
        return [pad + line for line in (*lines, "cuda.syncthreads()")]

    def uniform(self, loops):
        return self.pick(
            f"u % {self.r.integers(2, 4)} == 0", f"n > {self.r.integers(0, 6)}",
            *[f"{k} == {self.r.integers(0, 3)}" for k in loops],
        )  # fmt: skip

    def own(self, pad, loops):
        what = self.pick("v += t", "v = v * 2 % 1009", "u += 1")
        if what != "u += 1" and self.r.random() < 0.5:
            return [f"{pad}if v % {self.r.integers(2, 5)} == 1:", pad + "    " + what,
                    f"{pad}else:", pad + "    v += 5"]  # fmt: skip
        return [pad + what]

    def block(self, depth, pad, loops, leave):
        lines = []
        for _ in range(self.r.integers(1, 4)):
            what = self.pick("exchange", "own", "if", "for", "while", "leave", "early")
            if what == "early" and depth and self.r.random() < 0.4:
                lines += [f"{pad}if v % 11 == {self.r.integers(0, 11)}:",
                          pad + "    out[cuda.grid(1)] = -v", pad + "    return"]  # fmt: skip
            elif what == "leave" and leave:
                lines += [f"{pad}if {self.uniform(loops)}:", pad + "    " + self.pick(*leave)]
            elif what == "if" and depth:
                lines += [f"{pad}if {self.uniform(loops)}:"]
                lines += self.block(depth - 1, pad + "    ", loops, leave)
                if self.r.random() < 0.5:
                    lines += [pad + "else:", *self.block(depth - 1, pad + "    ", loops, leave)]
            elif what == "for" and depth:
                k = f"k{next(self.names)}"
                lines += [f"{pad}for {k} in range({self.pick('2', '3', 'n')}):"]
                lines += self.block(depth - 1, pad + "    ", [*loops, k], ["break", "continue"])
            elif what == "while" and depth:
                k = f"k{next(self.names)}"
                lines += [f"{pad}{k} = 0", f"{pad}while {k} < 3:", f"{pad}    {k} += 1"]
                lines += self.block(depth - 1, pad + "    ", [*loops, k], ["break", "continue"])
            elif what in ("own", "leave"):
                lines += self.own(pad, loops)
            else:
                lines += self.exchange(pad)
        return lines

    def kernel(self):
        return [
            "def kernel(x, n, out):", "    s = cuda.shared.array(32, int64)",
            "    t = cuda.threadIdx.x", "    v = x[cuda.grid(1)]", "    u = 0", "    s[t] = 0",
            "    cuda.syncthreads()",
            *self.block(3, "    ", [], []), *self.exchange("    "),
            *self.block(3, "    ", [], []), "    out[cuda.grid(1)] = v + u",
        ]  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_generated_control_flow(seed):
    text = "\n".join(line for line in Writer(seed).kernel())
    # Threads that have returned leave shared memory as it was: the positions of others are kept.
    kernel = make("kernel", text.split("\n"), cuda=cuda, int64=int64)
    check(kernel, 2, 32, RNG.integers(0, 100, 64), 4, np.zeros(64, int))


# --- mistakes


def fill(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i


@pytest.mark.parametrize(
    ("grid", "block", "error", "message"),
    [
        (1, 0, ValueError, "block"),
        (0, 32, ValueError, "grid"),
        (1, 2000, ValueError, "2000"),
        (1, (32, 64), ValueError, "2048"),
        (-1, 32, ValueError, "grid"),
        (1.5, 32, TypeError, "integers; got 1.5"),
        (1, 32.0, TypeError, "integers; got 32.0"),
        ((1, 1, 1, 1), 32, ValueError, "one to three dimensions"),
        ((), 32, ValueError, "one to three dimensions"),
        ("2", 32, TypeError, "integers"),
    ],
)
def test_wrong_launches(grid, block, error, message):
    with pytest.raises(error, match=message):
        cuda.jit(fill)[grid, block](np.zeros(5))


def test_missing_grids_and_arguments():
    kernel = cuda.jit(fill)
    with pytest.raises(ValueError, match="launched with a grid"):
        kernel(np.zeros(5))
    with pytest.raises(ValueError, match="needs a grid and a block"):
        kernel[4](np.zeros(5))
    with pytest.raises(ValueError, match="needs a grid and a block"):
        kernel[1, 2, 3, 4, 5](np.zeros(5))
    with pytest.raises(TypeError, match="wrong number of arguments; got 2; expected 1"):
        kernel[1, 32](np.zeros(5), 1)
    with pytest.raises(TypeError, match="wrong number of arguments; got 0; expected 1"):
        kernel[1, 32]()
    with pytest.raises(TypeError, match="list"):
        kernel[1, 32]([1, 2])


def test_too_much_shared_memory():
    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(300 * 128, float64)
        s[0] = x[0]
        x[1] = s[0]

    with pytest.raises(TypeError, match="too much shared memory"):
        kernel[1, 1](np.zeros(2))
    with pytest.raises((ValueError, MemoryError, RuntimeError), match="shared"):
        cuda.jit(fill)[1, 32, 0, 10**9](np.zeros(5))


@pytest.mark.parametrize("where", [0, 31, 45])
def test_errors_in_kernels(where):
    @cuda.jit
    def kernel(x, n):
        i = cuda.grid(1)
        cuda.syncthreads()
        if i == n:
            raise IndexError("no such thing")
        cuda.syncthreads()
        x[i] = 1

    x = cuda.to_device(np.zeros(64))
    with pytest.raises(IndexError, match="no such thing") as e:
        kernel[2, 32](x, where)
        cuda.synchronize()
    if where:  # the first thread of all is not named
        assert f"thread ({where % 32}, 0, 0), block ({where // 32}, 0, 0)" in e.value.__notes__[0]
    kernel[2, 32](x, 99)
    cuda.synchronize()
    assert x.copy_to_host().all()


def test_other_errors():
    @cuda.jit
    def divides(x, n):
        x[cuda.grid(1)] = 7 // n

    @cuda.jit
    def asserts(x):
        assert x[cuda.grid(1)] < 3, "too large"

    with pytest.raises(AssertionError, match="too large"):
        asserts[1, 8](np.arange(8))
        cuda.synchronize()
    divides[1, 8](np.zeros(8), 1)

    @cuda.jit
    def gives(x):
        return x[0]

    with pytest.raises(TypeError, match="a kernel returns nothing"):
        gives[1, 1](np.zeros(3))
