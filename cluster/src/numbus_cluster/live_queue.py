"""The present queue and the nodes: from squeue and sinfo, or as far as a dump tells."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from . import fields, slurm
from .columns import Bad, Cached
from .errors import complain
from .simulate import Node

__all__ = ["Entry", "from_dump", "from_slurm"]

WIDTH = 200
FIELDS = (
    "JobArrayID",
    "Partition",
    "UserName",
    "State",
    "tres-alloc",
    "TimeLimit",
    "TimeUsed",
    "StartTime",
    "PriorityLong",
    "Reason",
    "NodeList",
    "NumNodes",
)
USABLE = re.compile(r"(idle|mixed|allocated|completing|planned)[*~#+^-]*", re.I)
HELD = re.compile(r"JobHeld|Dependency|BeginTime|Cleaning|launch failed", re.I)


@dataclass
class Entry:
    """A job of the queue: seconds, megabytes; start: since when it runs, or Slurm's own estimate
    (seconds since 1970, 0 without one); held: why it cannot start whatever is free.
    """

    name: str
    partitions: tuple
    user: str
    running: bool
    cpus: int
    memory: float
    gpus: int
    nodes: int
    limit: int
    used: int
    start: int
    priority: float
    held: str = ""
    on: tuple = ()


def from_slurm():
    """([Entry …], [Node …]) of the running cluster."""
    asked = ",".join(f"{name}:{WIDTH}|" for name in FIELDS)
    text = slurm.run(
        ["squeue", "-h", "-a", "-r", "-t", "PENDING,RUNNING,COMPLETING,CONFIGURING", "-O", asked]
    )
    entries, lists = [], {}
    limits, tres = Cached(fields.limit), Cached(fields.tres)
    for number, line in enumerate(text.splitlines(), 1):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != len(FIELDS) + 1:
            raise complain(
                "squeue",
                f"line {number}: wrong number of columns",
                len(parts) - 1,
                f"{len(FIELDS)}",
            )
        row = dict(zip(FIELDS, parts))
        try:
            limit, used = limits.all([row["TimeLimit"], row["TimeUsed"]], "a time", np.int64)
            gpus, memory, cpus, count = tres.all([row["tres-alloc"]], "TRES")[0]
            start = int(fields.moments([row["StartTime"]])[0])
            priority = float(row["PriorityLong"])
            nodes = max(fields.count(row["NumNodes"].split("-")[0]), int(count), 1)
        except (Bad, ValueError) as error:
            raise complain("squeue", f"line {number} cannot be read", error, "a job") from None
        running = row["State"] != "PENDING"
        on = ()
        if running and row["NodeList"]:
            on = lists.get(row["NodeList"])
            if on is None:
                on = lists[row["NodeList"]] = hosts(row["NodeList"])
        entries.append(
            Entry(
                row["JobArrayID"],
                tuple(row["Partition"].split(",")),
                row["UserName"],
                running,
                max(int(cpus), 1),
                float(memory),
                int(gpus),
                nodes,
                int(limit),
                max(int(used), 0),
                start,
                priority,
                row["Reason"] if HELD.search(row["Reason"]) and not running else "",
                on,
            )
        )
    return entries, nodes_of_slurm()


def hosts(text):
    """The names in a list of nodes such as m[1-3,7]."""
    if "[" not in text and "," not in text:
        return (text,)
    return tuple(slurm.run(["scontrol", "show", "hostnames", text]).split())


def nodes_of_slurm():
    """The nodes that can run jobs."""
    found = {}
    for line in slurm.run(["sinfo", "-h", "-a", "-N", "-o", "%N|%R|%c|%m|%G|%T"]).splitlines():
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 6 or not USABLE.fullmatch(parts[5]):
            continue
        name, partition, cpus, memory, gres, _ = parts
        gpus = sum(int(n) for n in re.findall(r"gpu(?::[^,:()]+)?:(\d+)", gres))
        node = found.setdefault(
            name,
            [
                int(fields.count(cpus.rstrip("+"))),
                float(fields.memory(memory.rstrip("+"))[0]),
                gpus,
                set(),
            ],
        )
        node[3].add(partition)
    return [Node(name, c, m, g, frozenset(p)) for name, (c, m, g, p) in found.items()]


def gpu_partitions():
    """The names of the partitions that have nodes with GPUs."""
    return {p for node in nodes_of_slurm() if node.gpus for p in node.partitions}


# ---- a dump --------------------------------------------------------------------------------------
def from_dump(jobs, now):
    """The same of Jobs at a moment. Every partition is taken as one node as large as the most that
    its jobs ever used at once: a lower bound of what it has.
    """
    texts = jobs.names["partition"].texts
    start, end, submit = jobs.time("start"), jobs.time("end"), jobs.time("submit")
    begun = (start > 0) & (start <= now)
    over = (end > 0) & (end <= now)
    nodes = []
    for code, name in enumerate(texts):
        rows = np.flatnonzero(begun & (jobs["partition"] == code))
        if not name or "," in name or not len(rows):
            continue
        last = np.where(over[rows], end[rows], now + 1)
        peaks = [peak(start[rows], last, jobs[k][rows]) for k in ("cpus", "memory", "gpus")]
        nodes.append(
            Node(f"all of {name}", int(peaks[0]), float(peaks[1]), int(peaks[2]), frozenset([name]))
        )
    entries = []
    for row in np.flatnonzero(~over & (submit <= now)).tolist():
        running = bool(begun[row])
        if not running and 0 < end[row] <= now:
            continue
        partitions = tuple(texts[jobs["partition"][row]].split(","))
        name = str(jobs["id"][row]) + (f"_{jobs['task'][row]}" if jobs["task"][row] >= 0 else "")
        # The tasks of a pending array stand in one line.
        for copy in range(1 if running else min(int(jobs["tasks"][row]), 1000)):
            entries.append(
                Entry(
                    name + (f" ({copy + 1})" if copy else ""),
                    partitions,
                    jobs.text("user", jobs["user"][row]),
                    running,
                    max(int(jobs["cpus"][row]), 1),
                    float(jobs["memory"][row]),
                    int(jobs["gpus"][row]),
                    1,
                    int(jobs["limit"][row]),
                    int(now - start[row]) if running else 0,
                    int(start[row]) if running else int(jobs["estimate"][row]),
                    -float(submit[row]),
                    "",
                    tuple(f"all of {p}" for p in partitions) if running else (),
                )
            )
    return entries, nodes


def peak(start, end, amount):
    """The largest sum of amounts that overlap in time."""
    moments = np.concatenate([end, start])
    change = np.concatenate([-amount.astype(float), amount.astype(float)])
    # At equal moments what ends goes first: lexsort by the sign of the change.
    rank = np.lexsort((change, moments))
    return max(0.0, float(np.cumsum(change[rank]).max()))
