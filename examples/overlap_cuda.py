"""Copying and computing at the same time: kernels in streams, and a picture of who did what when.

python examples/overlap_cuda.py                       with Numba and a GPU
python -m numbus examples/overlap_cuda.py             with or without a GPU
"""

from itertools import pairwise

import common
from numba import cuda
from overlap import CHUNKS, STEPS, STREAMS, chunks, show, values


@cuda.jit
def roots(x, y):
    """Square roots by Newton's iteration."""
    i = cuda.grid(1)
    if i < x.size:
        r = 0.5 * (x[i] + 1.0)
        for _ in range(STEPS):
            r = 0.5 * (r + x[i] / r)
        y[i] = r


def by_streams(x, y, count):
    """Each chunk's copies and work follow each other in one stream; streams may overlap. Returns
    four events for each chunk: its beginning, and the ends of copy, work and copy back.
    """
    length = x.size // CHUNKS
    streams = [cuda.stream() for _ in range(count)]
    there = [[cuda.device_array(length) for _ in range(2)] for _ in range(count)]
    marks = []
    for k, (source, target) in enumerate(chunks(x, y)):
        stream, (a, b) = streams[k % count], there[k % count]
        events = [cuda.event() for _ in range(4)]
        events[0].record(stream)
        a.copy_to_device(source, stream=stream)
        events[1].record(stream)
        roots[(length + 127) // 128, 128, stream](a, b)
        events[2].record(stream)
        b.copy_to_host(target, stream=stream)
        events[3].record(stream)
        marks.append(events)
    cuda.synchronize()
    return marks


def main():
    parser = common.options(__doc__, 1 << 22, "values")
    chosen = parser.parse_args()
    x = values(chosen.size)
    source, y = cuda.pinned_array(x.size), cuda.pinned_array(x.size)
    source[:] = x
    for count in (1, STREAMS):
        title = f"{x.size} roots, {count} stream" + "s" * (count > 1)
        marks = common.timed(title, by_streams, source, y, count)
    show(chosen, y)
    rows = []
    for k, events in enumerate(marks):
        times = [marks[0][0].elapsed_time(event) for event in events]
        rows.append((f"chunk {k}", list(pairwise(times))))
    common.bars(rows, chosen.picture, "ms: copy, work, copy back")


if __name__ == "__main__":
    main()
