"""Ordinary, pinned and mapped memory of the host, by arrays: how fast a GPU gets at each.

python examples/memory.py                             ordinary memory, on the CPU
python examples/memory.py --module cupy
python -m numbus examples/memory.py [--module cupy]
"""

import common
import numpy as np


def line(x):
    return 2.0 * x + 1.0


def values(n):
    return np.random.default_rng(13).random(n)


def here(x, y):
    """On the CPU nothing has to be copied."""
    y[:] = line(x)


def copied(cp, x, y):
    """Copied to the GPU and back: from ordinary memory by way of the driver's own pinned memory,
    from pinned memory directly.
    """
    line(cp.asarray(x)).get(out=y)


def pinned(cp, n):
    """Memory that stays where it is: n float64 of it as an array of NumPy, and the memory."""
    memory = cp.cuda.alloc_pinned_memory(8 * n)
    return np.frombuffer(memory, np.float64, n), memory


def mapped(cp, memory, n):
    """Pinned memory as an array of CuPy: the GPU reads and writes it over the link."""
    owner = cp.cuda.UnownedMemory(memory.ptr, 8 * n, memory)
    return cp.ndarray((n,), np.float64, cp.cuda.MemoryPointer(owner, 0))


def show(chosen, results, rates):
    """Saves the results, which must be alike, and draws the rates in bytes per second."""
    first = next(iter(results.values()))
    for way, y in results.items():
        common.check(way, y, first, 0.0)
    common.save(chosen, first)
    rows = [(way, [(0.0, rate / 1e9)]) for way, rate in rates.items()]
    common.bars(rows, chosen.picture, "GB/s, both ways together")


def measure(results, rates, way, y, function, *arguments, xp=np):
    """Times one way; notes its result and the rate of what it reads and writes."""
    _, _, seconds = common.stopwatch(function, *arguments, xp=xp)
    results[way], rates[way] = np.array(y), 16 * y.size / seconds
    print(f"{way} memory: {1e3 * seconds:.3f} ms, {rates[way] / 1e9:.1f} GB/s")


def main():
    chosen = common.array_options(__doc__, 1 << 22, "values").parse_args()
    cp = common.array_module(chosen.module)
    n = chosen.size
    x, y = values(n), np.empty(n)
    results, rates = {}, {}
    if chosen.module == "numpy":
        measure(results, rates, "ordinary", y, here, x, y)
    else:
        measure(results, rates, "ordinary", y, copied, cp, x, y, xp=cp)
        (px, mx), (py, my) = pinned(cp, n), pinned(cp, n)
        px[:] = x
        measure(results, rates, "pinned", py, copied, cp, px, py, xp=cp)
        py[:] = 0
        measure(results, rates, "mapped", py, here, mapped(cp, mx, n), mapped(cp, my, n), xp=cp)
    show(chosen, results, rates)


if __name__ == "__main__":
    main()
