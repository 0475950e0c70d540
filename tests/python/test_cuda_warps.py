"""Warp operations and barriers on the lanes of vector registers, against threads as fibers."""

import itertools

import numpy as np
import pytest
from numbus import cuda, int32, int64
from numbus.kernels._generate import make

on_cpu = pytest.mark.skipif(cuda.is_available(), reason="lanes and fibers are the CPU's")
ALL = 0xFFFFFFFF


class Writer:
    """A random kernel whose control flow its warps go through together.

    Around barriers, conditions are the block's; around warp operations, the block's or the warp's.
    Lanes differ only in what they compute, and some end early.
    """

    def __init__(self, seed):
        self.r, self.names = np.random.default_rng(seed), itertools.count()

    def pick(self, *items):
        return items[self.r.integers(len(items))]

    def condition(self, loops, block):
        """True for all of the block or, else, for all of a warp."""
        items = [f"n > {self.r.integers(0, 6)}", f"u % {self.r.integers(2, 4)} == 0"]
        items += [f"{k} == {self.r.integers(0, 3)}" for k in loops]
        if not block:
            items = [
                "warp == 1", "t < 32", "t >= 64", "warp % 2 == 0",
                f"cuda.any_sync({ALL}, v > {self.r.integers(900, 1009)})",
                f"cuda.all_sync({ALL}, v > {self.r.integers(0, 90)})", *items[:1],
                f"cuda.popc(cuda.ballot_sync({ALL}, v % 2 == 0)) > 15",
            ]  # fmt: skip
        return self.pick(*items)

    def barrier(self, pad):
        lines = ["s[t] = v", "cuda.syncthreads()", "v = (v * 3 + s[(t + 37) % 96]) % 1009"]
        if self.r.random() < 0.3:
            lines[1] = "v += cuda.syncthreads_count(v % 3 == 0)"
        return [pad + line for line in (*lines, "cuda.syncthreads()")]

    def exchange(self, pad):
        k = self.r.integers(1, 32)
        line = self.pick(
            f"v = (v + 7 * cuda.shfl_xor_sync({ALL}, v, {k})) % 1009",
            f"v = (v + cuda.shfl_up_sync({ALL}, v, {k})) % 1009",
            f"v = (v + cuda.shfl_down_sync({ALL}, v, {k} - 3)) % 1009",
            f"v = (v + cuda.shfl_sync({ALL}, v * 2, (lane * 5 + {k}) % 32)) % 1009",
            f"v = (v + cuda.shfl_sync({ALL}, lane, lane ^ {k})) % 1009",
            f"v += int(cuda.shfl_xor_sync({ALL}, float32(v), {k}))",
            f"v = (v + cuda.popc(cuda.ballot_sync({ALL}, v % 3 == 1) & cuda.lanemask_lt())) % 1009",
            f"v += cuda.any_sync({ALL}, v == {k}) + 2 * cuda.eq_sync({ALL}, v % 2 == 0)",
            f"v = (v + cuda.popc(cuda.match_any_sync({ALL}, v % 5)) + cuda.activemask()) % 1009",
            f"v = (v + cuda.match_all_sync({ALL}, v // 300)[0]) % 1009",
            f"v += cuda.all_sync({ALL}, v < 1000)",
        )
        if self.r.random() < 0.2:
            return [pad + part for part in ("s[t] = v", "cuda.syncwarp()", "v += s[t ^ 1]",
                                            "cuda.syncwarp()", "v %= 1009")]  # fmt: skip
        return [pad + line]

    def own(self, pad):
        what = self.pick("v += t", "v = v * 2 % 1009", "u += 1")
        if what != "u += 1" and self.r.random() < 0.5:
            test = self.pick(f"v % {self.r.integers(2, 5)} == 1", "lane < 9", "lane == 0")
            return [f"{pad}if {test}:", f"{pad}    {what}", f"{pad}else:", f"{pad}    v += 5"]
        return [pad + what]

    def block(self, depth, pad, loops, leave, block):
        lines = []
        for _ in range(self.r.integers(1, 4)):
            what = self.pick(
                "barrier", "exchange", "exchange", "own", "if", "for", "while", "leave", "early",
                "keep",
            )  # fmt: skip
            inner = block and self.r.random() < 0.5
            if what == "early" and depth == 3 and self.r.random() < 0.4:
                lines += [f"{pad}if v % 11 == {self.r.integers(0, 11)}:",
                          f"{pad}    out[cuda.grid(1)] = -v", f"{pad}    return"]  # fmt: skip
            elif what == "leave" and leave:
                lines += [f"{pad}if {self.condition(loops, block)}:", f"{pad}    {leave}"]
            elif what == "if" and depth:
                lines += [f"{pad}if {self.condition(loops, inner)}:"]
                lines += self.block(depth - 1, pad + "    ", loops, leave if inner == block else "",
                                    inner)  # fmt: skip
                if self.r.random() < 0.5:
                    lines += [f"{pad}else:"]
                    lines += self.block(depth - 1, pad + "    ", loops, "", inner)
            elif what == "for" and depth:
                k = f"k{next(self.names)}"
                count = self.pick("2", "3", "n") if inner else self.pick("2", "warp + 1", "t // 32")
                lines += [f"{pad}for {k} in range({count}):"]
                lines += self.block(depth - 1, pad + "    ", [*loops, k] if inner else loops,
                                    self.pick("break", "continue"), inner)  # fmt: skip
            elif what == "while" and depth:
                k = f"k{next(self.names)}"
                lines += [f"{pad}{k} = 0", f"{pad}while {k} < 3:", f"{pad}    {k} += 1"]
                lines += self.block(depth - 1, pad + "    ", [*loops, k],
                                    self.pick("break", "continue"), inner)  # fmt: skip
            elif what == "keep":
                lines += [f"{pad}mine[{self.r.integers(4)}] += v", f"{pad}v += mine[v % 4] % 7"]
            elif what == "barrier" and block:
                lines += self.barrier(pad)
            elif what in ("own", "leave"):
                lines += self.own(pad)
            else:
                lines += self.exchange(pad)
        return lines

    def kernel(self):
        return [
            "def kernel(x, n, out):", "    s = cuda.shared.array(96, int64)",
            "    mine = cuda.local.array(4, int64)", "    for k in range(4):",
            "        mine[k] = k",
            "    t = cuda.threadIdx.x", "    lane = t % 32", "    warp = t // 32",
            "    v = x[cuda.grid(1)]", "    u = 0", "    s[t] = 0", "    cuda.syncthreads()",
            *self.block(3, "    ", [], "", True), *self.exchange("    "),
            *self.block(3, "    ", [], "", True), *self.barrier("    "),
            "    out[cuda.grid(1)] = v + u + mine[3]",
        ]  # fmt: skip


def run(text, monkeypatch, fibers, x, n):
    if fibers:
        monkeypatch.setenv("NUMBUS_FIBERS", "1")
    else:
        monkeypatch.delenv("NUMBUS_FIBERS", raising=False)
    kernel = cuda.jit(make("kernel", text, cuda=cuda, int64=int64, float32=np.float32))
    out = np.zeros_like(x)
    kernel[2, 96](x, n, out)
    return out, kernel


def on_lanes(kernel):
    return all("numbus_wait" not in text for text in kernel.inspect_llvm().values())


@on_cpu
@pytest.mark.parametrize("first", range(0, 24, 8))
def test_generated_control_flow(first, monkeypatch):
    ran = 0
    for seed in range(first, first + 8):
        text = Writer(seed).kernel()
        x = np.random.default_rng(seed).integers(0, 1009, 192)
        for n in (0, 3):
            expected, _ = run(text, monkeypatch, True, x, n)
            got, kernel = run(text, monkeypatch, False, x, n)
            np.testing.assert_array_equal(got, expected, "\n".join(text))
        ran += on_lanes(kernel)
    assert ran >= 3


@cuda.jit(device=True)
def warp_sum(v):
    k = 16
    while k > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
        k //= 2
    return v


@cuda.jit
def rows(x, out):
    v = warp_sum(x[cuda.blockIdx.x, cuda.threadIdx.y, cuda.threadIdx.x])
    if cuda.laneid == 0:
        out[cuda.blockIdx.x, cuda.threadIdx.y] = v


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_warps_are_rows_of_a_block(dtype):
    x = np.random.default_rng(1).integers(0, 100, (3, 4, 32)).astype(dtype)
    out = np.zeros((3, 4), dtype)
    rows[3, (32, 4)](x, out)
    np.testing.assert_array_equal(out, x.sum(2))
    if not cuda.is_available():
        assert on_lanes(rows)


@cuda.jit
def part_of_a_warp(x, out):
    i = cuda.grid(1)
    if i < x.size:  # some lanes of the last warp are not here
        mask = cuda.activemask()
        out[i] = cuda.popc(cuda.ballot_sync(mask, x[i] > 0))


@pytest.mark.parametrize("count", [32, 64, 70])
def test_lanes_apart_are_fibers(count):
    out = np.zeros(count, int32)
    part_of_a_warp[2, 64](np.ones(count), out)
    np.testing.assert_array_equal(out, np.minimum(32, count - np.arange(count) // 32 * 32))


@cuda.jit
def odd_blocks(x, out):
    i = cuda.grid(1)
    out[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)


def test_blocks_that_are_not_whole_warps():
    x = np.arange(96.0)
    out = np.zeros(96)
    odd_blocks[2, 48](x, out)
    last = np.isin(np.arange(96) % 48, (31, 47))
    np.testing.assert_array_equal(out[~last], x[~last] + 1)


@pytest.mark.parametrize("bits", [1, 5, 8, 12, 13, 31])
@pytest.mark.parametrize("dtype", ["uint32", "int64"])
def test_match_low_bits(bits, dtype):
    """match_any_sync with a number of bits: that of the values without the higher ones."""

    @cuda.jit
    def match(x, out):
        t = cuda.threadIdx.x
        out[t] = cuda.match_any_sync(ALL, x[t], bits)

    x = np.random.default_rng(bits).integers(0, 2**31, 64).astype(dtype)
    x[7], x[40] = x[3], x[50]
    x[::5] &= 15
    out = np.zeros(64, np.uint32)
    match[1, 64](x, out)
    low = x & (2**bits - 1)
    for t in range(64):
        warp = low[t // 32 * 32 : t // 32 * 32 + 32]
        assert out[t] == sum(1 << k for k in range(32) if warp[k] == low[t])


def test_match_low_bits_refuses():
    @cuda.jit
    def match(x, out, bits):
        out[cuda.threadIdx.x] = cuda.match_any_sync(ALL, x[cuda.threadIdx.x], bits)

    with pytest.raises(TypeError, match="compares 1 to 31 low bits of an integer"):
        match[1, 32](np.zeros(32, np.uint32), np.zeros(32, np.uint32), 8)
