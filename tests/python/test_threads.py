"""Python threads: they run while a long kernel does, and may all record at once."""

import threading
import time

import numpy as np
import pytest


@pytest.mark.cpu  # a GPU works on its own anyway
def test_python_goes_on_while_a_kernel_runs(xp, core):
    x = xp.array(np.random.default_rng(0).random(4_000_000))
    core.synchronize()
    ticks, running = [], True

    def tick():
        while running:
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    def work():
        y = x
        for _ in range(6):
            y = xp.sin(y) + xp.exp(-y) * xp.tanh(y + 0.5)
        return y

    core.synchronize()
    work()
    core.synchronize()  # compiled
    kept = work()
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        start = time.perf_counter()
        core.flush()
        end = time.perf_counter()
    finally:
        running = False
        thread.join()
    inside = [t for t in ticks if start <= t <= end]
    gaps = np.diff([start, *inside, end])
    assert len(inside) >= 3 and gaps.max() < 0.7 * (end - start), (end - start, gaps.max())
    del kept


def test_many_threads(xp):
    """Each computes for itself, in turns with the others, over kernels long and short."""
    wrong = []

    def work(seed):
        r = np.random.default_rng(seed)
        for n in (10, 300_000, 1000, 700_000):
            a = r.random(n)
            b, want = xp.array(a), a.copy()
            for k in range(6):
                b = b * 2 - b[::-1] * (k + 1)
                want = want * 2 - want[::-1] * (k + 1)
                b[b > 1] = 0.25
                want[want > 1] = 0.25
                b += b.max()
                want += want.max()
            if not np.array_equal(np.asarray(b), want):
                wrong.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_threads_that_share_an_array(xp):
    """All see the same pending array; what they record meets it computed once."""
    for _ in range(5):
        shared = xp.sqrt(xp.arange(400_000.0)) + 1
        found = []

        def read(shared=shared, found=found):
            found.append(float((shared * 2).sum()))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(found)) == 1
        assert found[0] == pytest.approx(float(((np.sqrt(np.arange(4e5)) + 1) * 2).sum()))
