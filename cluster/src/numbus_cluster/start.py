"""`start`: when the jobs of the present queue will start, with the run times users really need."""

from __future__ import annotations

import math

import numpy as np

from . import live_queue, output, sources
from .errors import complain, note
from .fields import UNLIMITED
from .simulate import Request, replay
from .text import clock, duration, printable

__all__ = ["Ratios", "run"]

COLUMNS = (
    "id",
    "task",
    "tasks",
    "line",
    "partition",
    "user",
    "state",
    "submit",
    "eligible",
    "start",
    "end",
    "estimate",
    "cpus",
    "gpus",
    "memory",
    "limit",
)
FEW = 5  # jobs of a user below which those of everybody count
RECENT = 300
ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY")


class Ratios:
    """The shares of their time limit that users' jobs have really run."""

    def __init__(self, jobs, now):
        states = [jobs.code("state", name) for name in ENDED]
        keep = (jobs["start"] > 0) & (jobs["end"] > 0) & (jobs["end"] <= now)
        keep &= (jobs["limit"] > 0) & (jobs["limit"] < UNLIMITED) & np.isin(jobs["state"], states)
        jobs = jobs.where(keep)
        ran = jobs.time("end") - jobs.time("start")
        rank = np.argsort(jobs["end"], kind="stable")
        shares = np.clip(ran[rank] / jobs["limit"][rank], 0.0, 1.0)
        users = jobs["user"][rank]
        self.all = np.sort(shares[-20 * RECENT :])
        self.users = {}
        for code in np.unique(users).tolist():
            name = jobs.text("user", code)
            self.users[name] = np.sort(shares[users == code][-RECENT:])

    def of(self, user):
        """The sorted shares that count for a user."""
        own = self.users.get(user, ())
        return own if len(own) >= FEW else self.all

    def remaining(self, user, limit, used):
        """The seconds that a job is expected to run on: the median of the user's jobs that have
        run as long as this one, in shares of the limit; up to the limit where none has.
        """
        shares = self.of(user)
        longer = (
            shares[np.searchsorted(shares, used / limit, side="right") :] if len(shares) else ()
        )
        total = float(np.median(longer)) * limit if len(longer) else limit
        return max(total - used, 1.0)


def requests(entries, ratios):
    """(running, pending) Requests; those that are held are left out."""
    running, pending = [], []
    for job in entries:
        if job.held:
            continue
        limit = job.limit if 0 < job.limit < UNLIMITED else 365 * 86400
        request = Request(
            job.name,
            job.partitions,
            job.cpus,
            job.memory,
            job.gpus,
            job.nodes,
            ratios.remaining(job.user, limit, job.used),
            job.priority,
            job.on,
        )
        (running if job.running else pending).append(request)
    return running, pending


def run(options):
    """The command."""
    live = not (options.dump or options.swf or options.csv)
    with sources.opened(options) as store:
        zone, now = store.get("zone"), store.get("read")
        if options.now:
            now = sources.parse_time(options.now, now)
        jobs = store.load("start", COLUMNS, now=now)
    if live and options.now:
        raise complain("start", "--now needs a file", repr(options.now), "--dump FILE", 2)
    entries, nodes = live_queue.from_slurm() if live else live_queue.from_dump(jobs, now)
    ratios = Ratios(jobs, now)
    if not len(ratios.all):
        note("start", "no job with a time limit has ended: the limits are taken as run times")
    running, pending = requests(entries, ratios)
    starts = {job.name: job.start for job in replay(nodes, running, pending, float(now))}
    shown = [
        e
        for e in entries
        if not e.running
        and (options.user is None or e.user == options.user)
        and (options.job is None or e.name.split("_")[0].split(" ")[0] == options.job)
    ]
    if options.partitions:
        wanted = set(options.partitions.split(","))
        shown = [e for e in shown if wanted & set(e.partitions)]
    if options.job is not None and not shown:
        raise complain("start", "no such job is pending", repr(options.job), "a job's number")
    shown.sort(key=lambda e: (starts.get(e.name, math.inf), -e.priority))
    write(options, shown, starts, now, zone, len(running), ratios, live)
    return 0


def write(options, shown, starts, now, zone, running, ratios, live):
    if options.format == "json":
        output.json_text(
            {
                "now": now,
                "rows": [
                    {
                        "job": e.name,
                        "partition": ",".join(e.partitions),
                        "user": e.user,
                        "start": finite(starts.get(e.name, math.inf)),
                        "slurm": e.start or None,
                        "held": e.held or None,
                    }
                    for e in shown
                ],
            }
        )
        return
    median = float(np.median(ratios.all)) if len(ratios.all) else 1.0
    lines = [["job", "partition", "user", "starts in", "at", "Slurm says", "why not"]]
    for e in shown:
        start = starts.get(e.name, math.inf)
        known = math.isfinite(start)
        lines.append(
            [
                printable(e.name),
                printable(",".join(e.partitions)),
                printable(e.user),
                duration(start - now) if known else "NA",
                clock(start, "") if known else "NA",
                duration(max(0, e.start - now)) if e.start else "NA",
                printable(e.held) if e.held else "" if known else "no nodes are large enough",
            ]
        )
    origin = "" if live else ", sizes of the partitions as their jobs showed them"
    output.table(
        f"# {clock(now, zone)}: {running} running, {len(shown)} pending; jobs run for "
        f"{100 * median:.0f} % of their limit (median){origin}",
        lines,
    )


def finite(value):
    return int(value) if math.isfinite(value) else None
