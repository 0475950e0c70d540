"""The replay of a queue: cases worked out by hand, and that no node is ever overbooked."""

import math

import numpy as np
import pytest
from numbus_cluster.simulate import Node, Request, replay


def node(name="a", cpus=4, memory=1000.0, gpus=0, partitions=("p",)):
    return Node(name, cpus, memory, gpus, frozenset(partitions))


def ask(name, cpus, run, memory=0.0, gpus=0, nodes=1, priority=0.0, on=(), partitions=("p",)):
    return Request(name, partitions, cpus, memory, gpus, nodes, run, priority, on)


def starts(nodes, running, pending):
    return [job.start for job in replay(nodes, running, pending)]


def test_first_come_first_served():
    queue = [ask("1", 4, 100), ask("2", 4, 50), ask("3", 4, 10)]
    assert starts([node()], [ask("0", 4, 30, on=("a",))], queue) == [30, 130, 180]


def test_priority_goes_first():
    queue = [ask("1", 4, 100), ask("2", 4, 50, priority=5)]
    assert starts([node()], [], queue) == [50, 0]


def test_backfilling_delays_nobody():
    """One CPU is free: the short job passes the wide one, the long one must not."""
    running = [ask("0", 3, 100, on=("a",))]
    queue = [ask("wide", 4, 50), ask("long", 1, 200), ask("short", 1, 80)]
    assert starts([node()], running, queue) == [100, 150, 0]


def test_backfilling_beside_a_reservation():
    """A long job may pass where the reserved one leaves it room afterwards."""
    wide, long = starts(
        [node(cpus=5)], [ask("0", 3, 100, on=("a",))], [ask("wide", 4, 50), ask("long", 1, 500)]
    )
    assert (wide, long) == (100, 0)


def test_memory_gpus_partitions_and_several_nodes():
    nodes = [node("a", gpus=2, partitions=("g",)), node("b"), node("c")]
    running = [ask("0", 1, 60, gpus=2, on=("a",)), ask("1", 1, 40, memory=900, on=("b",))]
    queue = [
        ask("gpu", 1, 10, gpus=1, partitions=("g",)),
        ask("two", 8, 10, nodes=2),
        ask("memory", 1, 10, memory=1000),
        ask("any", 1, 5, partitions=("g", "p")),
    ]
    assert starts(nodes, running, queue) == [60, 40, 0, 0]


def test_what_fits_nowhere_never_starts_and_blocks_nobody():
    queue = [ask("large", 5, 1), ask("unknown", 1, 1, partitions=("q",)), ask("small", 1, 1)]
    assert starts([node()], [], queue) == [math.inf, math.inf, 0]
    assert starts([], [], [ask("1", 1, 1)]) == [math.inf]


@pytest.mark.parametrize("seed", range(8))
def test_never_overbooked(seed):
    """Random queues: at no moment do the jobs take more than there is, and a job that starts
    later than another with a lower priority had no room before (on one node, in order).
    """
    rng = np.random.default_rng(seed)
    nodes = [node(n, int(rng.integers(2, 9)), 100.0, int(rng.integers(0, 3))) for n in "abc"]
    pending = [
        ask(
            str(i),
            int(rng.integers(1, 9)),
            float(rng.integers(1, 100)),
            float(rng.integers(0, 120)),
            int(rng.integers(0, 2)),
            priority=float(rng.integers(0, 3)),
        )
        for i in range(60)
    ]
    replay(nodes, [], pending)
    fits = [
        any(j.cpus <= n.cpus and j.memory <= 100 and j.gpus <= n.gpus for n in nodes)
        for j in pending
    ]
    assert [math.isfinite(j.start) for j in pending] == fits
    done = [j for j in pending if math.isfinite(j.start)]
    for moment in {j.start for j in done}:
        now = [j for j in done if j.start <= moment < j.start + j.run]
        for key in ("cpus", "memory", "gpus"):
            assert sum(getattr(j, key) for j in now) <= sum(getattr(n, key) for n in nodes)
