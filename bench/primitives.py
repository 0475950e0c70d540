"""Sorts, counts, masks and random numbers on a GPU, with CuPy's and PyTorch's beside.

    NUMBUS_DEVICE=cuda python bench/primitives.py [--size 1e8] [--only sort,median]

A table of milliseconds: the median of some calls, each between two synchronisations, over inputs
that together exceed the GPU's caches. Results are compared with NumPy's for a million elements, and
at full size by what is quick to tell, before anything is timed. Without a GPU it only checks.
"""

import argparse
import functools
import statistics
import time

import numbus as nb
import numpy as np
from numbus import _core, primitives

CALLS = 7
CACHE = 128 << 20  # bytes that inputs exceed


class Row:
    """A routine: its inputs, the output it fills, how NumPy and the peers do it.

    make(n): NumPy's input. load: arguments of primitives.load. outputs(n): (shape, dtype) each.
    check(x, outputs): raises where they are wrong; quick(x, outputs): by what is told in a second.
    peers: {library: function of the module and its array}.
    """

    def __init__(self, name, limit, make, load, run, outputs, check, quick, peers):
        self.name, self.limit, self.make, self.load = name, limit, make, load
        self.run, self.outputs, self.check, self.quick = run, outputs, check, quick
        self.peers = peers


@functools.lru_cache(1)
def floats(n):
    return np.random.default_rng(1).random(n, np.float32)


@functools.lru_cache(1)
def thousand(n):
    return np.random.default_rng(1).integers(0, 1000, n, np.int32)


def wide(n):
    return np.random.default_rng(1).integers(0, 1 << 40, n)


def equal(got, expected):
    np.testing.assert_array_equal(got, expected)


def call(name, **attributes):
    def run(inputs, outputs):
        _core.run_routine(name, inputs, outputs, attributes)

    return run


BINS = 100
EDGES = np.linspace(0, 1, BINS + 1, dtype=np.float32).astype(np.float64)  # NumPy's for float32


def rows():
    def sorted_part(x, out):
        equal(out[0], np.sort(x))

    def argsorted(x, out):
        equal(out[0], np.argsort(x, kind="stable"))

    def median(x, out):
        n = len(x)
        equal(out[0], np.partition(x, [(n - 1) // 2, n // 2, n - 1])[[(n - 1) // 2, n // 2, n - 1]])

    def counted(x, out):
        equal(out[0], np.bincount(x, minlength=1000))

    def histogram(x, out):
        equal(out[0], np.histogram(x, BINS, (0, 1))[0])

    def masked(x, out):
        equal(out[0][: out[1][0]], x[x > 0.5])

    def normal(x, out):
        assert abs(out[0].mean()) < 8 / len(x) ** 0.5 and abs(out[0].std() - 1) < 8 / len(x) ** 0.5

    def uniform(x, out):
        generator = np.random.Generator(np.random.Philox(key=5))
        equal(out[0], generator.random(len(x), np.float32))

    def in_order(x, out):
        assert (out[0][:-1] <= out[0][1:]).all()
        words = f"uint{8 * x.itemsize}"
        assert out[0].view(words).sum(dtype="uint64") == x.view(words).sum(dtype="uint64")

    def stable(x, out):
        y, i = x[out[0]], out[0]
        assert ((y[:-1] < y[1:]) | ((y[:-1] == y[1:]) & (i[:-1] < i[1:]))).all()

    def at_ranks(x, out):
        n = len(x)
        for k, v in zip([(n - 1) // 2, n // 2, n - 1], out[0], strict=True):
            assert (x < v).sum() <= k < (x <= v).sum()

    def all_counted(x, out):
        assert out[0].sum() == len(x)

    def unique(i, o):  # of the namespace, as users call it
        o[:] = [nb.unique(i[0])]

    def distinct(x, out):
        equal(out[0], np.flatnonzero(np.bincount(x)))

    def by_ranks(n):
        ranks = nb.asarray([(n - 1) // 2, n // 2, n - 1])
        return lambda i, o: _core.run_routine("select", [*i, ranks], o, {})

    key = nb.array([5, 0, 1, 0, 0, 0], nb.uint64)
    normal_key = nb.array([5, 0], nb.uint64)
    same = lambda dtype: lambda n: [((n,), dtype)]  # noqa: E731
    return [
        Row("sort float32", 2.6, floats, ("sort", "float32"), call("sort"), same("float32"),
            sorted_part, in_order,
            {"cupy": lambda m, x: m.sort(x), "torch": lambda m, x: m.sort(x)}),
        Row("sort int64", None, wide,
            ("sort", "int64"), call("sort"), same("int64"), sorted_part, in_order,
            {"cupy": lambda m, x: m.sort(x), "torch": lambda m, x: m.sort(x)}),
        Row("argsort float32", 4.5, floats, ("argsort", "float32"), call("argsort"), same("int64"),
            argsorted, stable,
            {"cupy": lambda m, x: m.argsort(x), "torch": lambda m, x: m.argsort(x)}),
        Row("unique int32, 1,000 values", 3.0, thousand, ("bincount", "int32"), unique,
            lambda n: [], distinct, distinct,
            {"cupy": lambda m, x: m.unique(x), "torch": lambda m, x: m.unique(x)}),
        Row("sort int32, 1,000 values", None, thousand, ("sort", "int32"), call("sort"),
            same("int32"), sorted_part, in_order, {"cupy": lambda m, x: m.sort(x)}),
        Row("median float32", 1.0, floats, ("select", "float32"), by_ranks,
            lambda n: [((3,), "float32")], median, at_ranks,
            {"cupy": lambda m, x: m.median(x), "torch": lambda m, x: m.median(x)}),
        Row("bincount int32, 1,000 bins", 0.5, thousand, ("bincount", "int32"),
            call("bincount"), lambda n: [((1000,), "int64")], counted, counted,
            {"cupy": lambda m, x: m.bincount(x), "torch": lambda m, x: m.bincount(x)}),
        Row("histogram float32, 100 bins", 0.5, floats, ("histogram", "float32"),
            lambda i, o: _core.run_routine("histogram", [i[0], edges_there()], o, {"uniform": 1}),
            lambda n: [((BINS,), "int64")], histogram, all_counted,
            {"cupy": lambda m, x: m.histogram(x, BINS, (0, 1)),
             "torch": lambda m, x: m.histc(x, BINS, 0, 1)}),
        Row("boolean mask float32", 0.25, floats, ("compact", "float32"),
            lambda i, o: _core.run_routine("compact", i, o, {}),
            lambda n: [((n,), "float32"), ((1,), "int64")], masked, masked,
            {"cupy": lambda m, x: x[x > 0.5], "torch": lambda m, x: x[x > 0.5]}),
        Row("Philox uniform float32", None, floats, ("philox", "float32"),
            lambda i, o: _core.run_routine("philox", [key], o, {}), same("float32"), uniform,
            uniform,
            {"cupy": lambda m, x: m.random.random(len(x), np.float32),
             "torch": lambda m, x: m.rand(len(x), device="cuda")}),
        Row("Philox normal float32", 0.24, floats, ("normal", "float32"),
            lambda i, o: _core.run_routine("normal", [normal_key], o, {}),
            same("float32"), normal, normal,
            {"cupy": lambda m, x: m.random.standard_normal(len(x), np.float32),
             "torch": lambda m, x: m.randn(len(x), device="cuda")}),
    ]  # fmt: skip


_edges = []


def edges_there():
    if not _edges:
        _edges.append(nb.asarray(EDGES))
    return _edges[0]


def inputs_of(row, n):
    """NumPy's input, and arrays on the device: rotations of it, until they exceed the caches."""
    x = row.make(n)
    several = []
    for k in range(-(-CACHE // x.nbytes) if n >= 1 << 18 else 1):
        y = np.roll(x, k * 12_345) if k else x
        there = [nb.asarray(y)]
        if row.name.startswith("boolean"):
            there.append(nb.asarray((y > 0.5).view(np.uint8)))
        several.append(there)
    return x, several


def timed(function, several, synchronise):
    """Milliseconds: the median of CALLS calls over the inputs, one after the other."""
    function(several[0])
    synchronise()
    times = []
    for k in range(CALLS):
        one = several[k % len(several)]
        synchronise()
        start = time.perf_counter()
        function(one)
        synchronise()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def ours(row, n, run, check):
    """Milliseconds of a call and of the first one, and NumPy's input."""
    x, several = inputs_of(row, n)
    outputs = [nb.empty(*o) for o in row.outputs(n)]
    start = time.perf_counter()
    primitives.load(*row.load)
    run(several[0], outputs)
    nb.synchronize()
    first = 1e3 * (time.perf_counter() - start)
    check(x, [np.asarray(o) for o in outputs])
    return timed(lambda i: run(i, outputs), several, nb.synchronize), first, x


def peer(library, function, x):
    """Milliseconds, or None where the library is not installed or has no GPU."""
    try:
        if library == "cupy":
            import cupy as module

            synchronise = module.cuda.Device().synchronize
            several = [module.asarray(x)]
        else:
            import torch as module

            synchronise = module.cuda.synchronize
            several = [module.from_numpy(x).cuda()]
        return timed(lambda i: function(module, i), several, synchronise)
    except Exception:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=float, default=1e8 if _core.is_default_gpu() else 5000)
    parser.add_argument("--only", default="", help="words of the rows' names, with commas")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    n = int(options.size)
    small = min(n, 1_000_003)
    print(f"{_core.get_device()}, {n:,} elements, ms: median of {CALLS} calls")
    print(f"{'':30}{'numbus':>9}{'wanted':>9}{'cupy':>9}{'torch':>9}{'first call':>12}")
    for row in rows():
        if not any(word in row.name for word in options.only.split(",")):
            continue
        run = row.run(small) if row.name.startswith("median") else row.run
        first = ours(row, small, run, row.check)[1]
        run = row.run(n) if row.name.startswith("median") else row.run
        ms, _, x = ours(row, n, run, row.quick)
        others = [
            peer(name, row.peers[name], x) if name in row.peers and not options.no_peers else None
            for name in ("cupy", "torch")
        ]
        figures = [ms, row.limit, *others, first]
        text = ["-" if v is None else format(v, ".3f") for v in figures]
        cells = "".join(f"{v:>9}" for v in text[:4])
        print(f"{row.name:30}{cells}{text[4]:>12}", flush=True)


if __name__ == "__main__":
    main()
