"""Replays a queue on nodes: priorities, run times that are expected, and backfilling."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Node", "Request", "replay"]

DEPTH = 500  # jobs that backfilling looks at, Slurm's default (bf_max_job_test)


@dataclass
class Node:
    """What a node has: CPUs, megabytes, GPUs; partitions: names."""

    name: str
    cpus: int
    memory: float
    gpus: int
    partitions: frozenset


@dataclass
class Request:
    """A job: what it wants in all, the seconds it is expected to run (for a running job: from now
    on), and for a running job the names of its nodes.
    """

    name: str
    partitions: tuple
    cpus: int
    memory: float
    gpus: int
    nodes: int
    run: float
    priority: float = 0.0
    on: tuple = ()
    start: float = field(default=np.inf)


def replay(nodes, running, pending, now=0.0):
    """Sets `start` of the pending Requests, infinite for what fits on no nodes; returns them.

    The queue is served by priority, then in the order given. The first job that does not fit gets
    a reservation at the earliest moment when it will; later jobs may start before it where they do
    not delay it (EASY backfilling: D. Lifka, The ANL/IBM SP scheduling system, JSSPP 1995).
    """
    machine = _Machine(nodes)
    ends = []  # heap of (moment, number, share of each node)
    for number, job in enumerate(running):
        rows = [machine.index[name] for name in job.on if name in machine.index]
        if not rows:
            continue
        share = machine.share(job, rows)
        machine.free -= share
        heapq.heappush(ends, (now + max(job.run, 0.0), number, share))
    number = len(running)
    waiting = sorted(pending, key=lambda job: -job.priority)
    # What would not even fit into empty nodes would block the queue for ever.
    waiting = [job for job in waiting if machine.fit(job, machine.size) is not None]
    moment = now
    while waiting:
        blocked = None
        left, looked = [], 0
        for job in waiting:
            looked += 1
            if blocked is not None and looked > DEPTH:
                left.append(job)
                continue
            rows = machine.fit(job, machine.free)
            if rows is not None and blocked is not None:
                due, kept = blocked
                # After the reservation's moment its nodes need what the reserved job takes.
                if moment + job.run > due:
                    share = machine.share(job, rows)
                    if ((machine.free - share + kept[0] - kept[1])[rows] < -1e-6).any():
                        rows = None
            if rows is not None:
                share = machine.share(job, rows)
                job.start = moment
                machine.free -= share
                heapq.heappush(ends, (moment + job.run, number, share))
                number += 1
                continue
            left.append(job)
            if blocked is None:
                blocked = machine.reservation(job, ends)
        waiting = left
        if not waiting or not ends:
            break
        moment = ends[0][0]
        while ends and ends[0][0] <= moment:
            machine.free += heapq.heappop(ends)[2]
    return pending


class _Machine:
    """The nodes as a table of (CPUs, megabytes, GPUs), and what is free of them."""

    def __init__(self, nodes):
        self.index = {node.name: i for i, node in enumerate(nodes)}
        self.size = np.array([[n.cpus, n.memory, n.gpus] for n in nodes], float).reshape(-1, 3)
        self.free = self.size.copy()
        names = {p for node in nodes for p in node.partitions}
        self.rows = {
            p: np.array([i for i, n in enumerate(nodes) if p in n.partitions], np.int64)
            for p in names
        }

    def share(self, job, rows):
        """What a job takes of each node, spread evenly over `rows`."""
        taken = np.zeros_like(self.size)
        taken[rows] = np.array([job.cpus, job.memory, job.gpus], float) / len(rows)
        return taken

    def fit(self, job, free):
        """The nodes for a job, those with the least room to spare, or None."""
        count = max(job.nodes, 1)
        want = np.array([job.cpus, job.memory, job.gpus], float) / count
        for partition in job.partitions:
            rows = self.rows.get(partition)
            if rows is None:
                continue
            good = rows[(free[rows] >= want - 1e-6).all(axis=1)]
            if len(good) >= count:
                return good[np.lexsort((free[good, 0], free[good, 2]))[:count]]
        return None

    def reservation(self, job, ends):
        """(the moment at which a job fits, (what will have been freed by then, its share))."""
        free = self.free.copy()
        for moment, _, share in sorted(ends, key=lambda end: end[:2]):
            free += share
            rows = self.fit(job, free)
            if rows is not None:
                return moment, (free - self.free, self.share(job, rows))
        return np.inf, (np.zeros_like(free), np.zeros_like(free))
