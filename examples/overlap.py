"""Copying and computing at the same time: square roots of a long vector, in chunks, by arrays.

python examples/overlap.py                            in turn, on the CPU
python examples/overlap.py --module cupy              copies and work of several streams overlap
python -m numbus examples/overlap.py [--module cupy]
"""

import common
import numpy as np

CHUNKS, STREAMS, STEPS = 16, 4, 40


def values(n):
    """n values from 0.5 to 2, in whole chunks, for Newton's iteration to take the roots of."""
    n = max(1, n // CHUNKS) * CHUNKS
    return np.random.default_rng(11).uniform(0.5, 2.0, n)


def roots(x):
    """Square roots by Newton's iteration, with more steps than they need: work for a GPU."""
    y = 0.5 * (x + 1.0)
    for _ in range(STEPS):
        y = 0.5 * (y + x / y)
    return y


def chunks(*arrays):
    """The arrays' chunks, side by side."""
    length = arrays[0].size // CHUNKS
    return [[a[k * length : (k + 1) * length] for a in arrays] for k in range(CHUNKS)]


def in_turn(x, y):
    """Chunk after chunk, where the data are."""
    for source, target in chunks(x, y):
        target[:] = roots(source)


def by_streams(cp, x, y, count):
    """Each chunk's copies and work follow each other in one stream; streams may overlap."""
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(count)]
    there = [cp.empty(x.size // CHUNKS) for _ in range(count)]
    for k, (source, target) in enumerate(chunks(x, y)):
        with streams[k % count]:
            there[k % count].set(source)
            roots(there[k % count]).get(out=target, blocking=False)
    for stream in streams:
        stream.synchronize()


def pinned(cp, n):
    """An array of n float64 in memory that the GPU's copy engines reach: only those overlap."""
    return np.frombuffer(cp.cuda.alloc_pinned_memory(8 * n), np.float64, n)


def show(chosen, y):
    """Checks the roots and saves them."""
    common.check("beside the library's root", y, np.sqrt(values(chosen.size)), 1e-15)
    common.save(chosen, y)


def main():
    chosen = common.array_options(__doc__, 1 << 22, "values").parse_args()
    xp = common.array_module(chosen.module)
    x = values(chosen.size)
    if chosen.module == "numpy":
        y = np.empty_like(x)
        common.timed(f"{x.size} roots, in turn", in_turn, x, y)
    else:
        source, y = pinned(xp, x.size), pinned(xp, x.size)
        source[:] = x
        for count in (1, STREAMS):
            title = f"{x.size} roots, {count} stream" + "s" * (count > 1)
            common.timed(title, by_streams, xp, source, y, count, xp=xp)
    show(chosen, y)
    common.curves({"values": x[:160], "roots": y[:160]}, chosen.picture)


if __name__ == "__main__":
    main()
