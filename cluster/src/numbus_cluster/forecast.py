"""`forecast`: how long a job waits that is submitted now, with bounds that hold by count alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import fields, output, sources
from .errors import complain, note
from .jobs import Classes, Jobs, partitions_asked
from .replay import queue_of
from .text import clock, duration, printable

__all__ = ["Asked", "forecasts", "load", "run"]

COLUMNS = (
    "id",
    "line",
    "tasks",
    "partition",
    "user",
    "state",
    "submit",
    "eligible",
    "start",
    "end",
    "cpus",
    "gpus",
    "memory",
    "limit",
)
MOST_TASKS = 1000  # of a pending array that count, each as a job that waits
LOOK_BACK = 1500  # jobs that are replayed to find the last change
HOURS = 24
FAN = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class Asked:
    """The job that is asked about: numbers, seconds and megabytes; None where it is not said."""

    cpus: int | None = None
    limit: int | None = None
    memory: float | None = None
    gpus: int | None = None

    def size(self, by):
        """Hours of CPU, GB or GPU; None where the job does not say."""
        if self.limit is None:
            return None
        amount = {
            "cpu": self.cpus,
            "gpu": self.gpus,
            "memory": None if self.memory is None else self.memory / 1024,
        }[by]
        return None if amount is None else amount * self.limit / 3600


def asked_job(options, op):
    """The Asked of the command line."""
    limit = memory = None
    if options.time is not None:
        try:
            limit = fields.limit(options.time)
        except ValueError:
            limit = -1
        if not 0 < limit < fields.UNLIMITED:
            raise complain(
                op,
                "--time is no time limit",
                repr(options.time),
                "1-02:03:04, 4:00:00 or minutes",
                2,
            )
    if options.mem is not None:
        try:
            memory, per = fields.memory(options.mem)
        except ValueError:
            memory, per = 0, 0
        if memory <= 0 or per:
            raise complain(op, "--mem is no memory", repr(options.mem), "16G or 4000M", 2)
    for name in ("cpus", "gpus"):
        value = getattr(options, name)
        if value is not None and not (name == "gpus") <= value + 1 <= 1_000_000:
            raise complain(op, f"--{name} cannot be", value, "a number of them", 2)
    return Asked(options.cpus, limit, memory, options.gpus)


def load(options, names_of=None):
    """(Jobs of the asked partitions, their codes, the moment of the forecast, zone)."""
    with sources.opened(options) as store:
        names = store.names()
        codes = partitions_asked(Jobs({}, names), names_of or options.partitions)
        listed = listing(names["partition"].texts, codes)
        zone, now = store.get("zone"), store.get("read")
        if options.now:
            now = sources.parse_time(options.now, now)
        since = sources.parse_time(options.since, now) if options.since else 0

        def keep(part):
            return np.isin(part["partition"], list(listed)) & (part["submit"] >= since)

        jobs = store.load(options.command, COLUMNS, keep, now)
    return jobs, codes, now, zone


def listing(texts, codes):
    """{code in the data: the partitions it stands for}: a pending job may name several."""
    wanted = {texts[code]: code for code in codes}
    out = {}
    for code, text in enumerate(texts):
        found = [wanted[name] for name in text.split(",") if name in wanted]
        if found:
            out[code] = found
    return out


def in_partition(jobs, code):
    """The jobs of a partition, with those that are pending in several; arrays that are pending
    together are as many jobs as they have tasks.
    """
    texts = jobs.names["partition"].texts
    codes = [c for c, found in listing(texts, [code]).items() if code in found]
    rows = jobs.where(np.isin(jobs["partition"], codes))
    times = np.where(rows["start"] == 0, np.minimum(rows["tasks"], MOST_TASKS), 1)
    return rows.where(np.repeat(np.arange(len(rows)), times)) if (times != 1).any() else rows


def forecast(jobs, now, levels, confidence, begin):
    """The Forecast for jobs of one kind at a moment."""
    queue = queue_of(jobs, begin)
    index = int(np.searchsorted(queue.eligible, now, side="right"))
    for _ in queue.run(max(0, index - LOOK_BACK), index, every=5):
        pass
    queue.advance(now)
    return queue.forecast(index, now, levels, confidence)


def forecasts(jobs, code, classes, size, now, levels, confidence, begin):
    """[(name of the class, Forecast)] of a partition: of the class of a size in hours, or of all.

    A class with too few jobs for a bound takes all of the partition's, and says so in its name.
    """
    rows = in_partition(jobs, code)
    of = classes.of(rows)
    wanted = range(len(classes.labels)) if size is None else [classes.index(size)]
    out = []
    for i in wanted:
        found = forecast(rows.where(of == i), now, levels, confidence, begin)
        name = classes.labels[i]
        if size is not None and all(math.isinf(b) for b in found.bounds.values()):
            whole = forecast(rows, now, levels, confidence, begin)
            if whole.started > found.started:
                found, name = whole, f"all sizes (few jobs {name})"
        out.append((name, found))
    return out


def run(options):
    """The command."""
    by = "memory" if options.memory else "gpu" if options.gpu else "cpu"
    classes = Classes.parse(options.edges, by)
    levels = parse_levels(options.quantiles)
    if not 0.5 <= options.confidence < 1:
        raise complain("forecast", "no such confidence", options.confidence, "0.5 to 0.999", 2)
    asked = asked_job(options, "forecast")
    size = asked.size(by) if options.size is None else options.size
    if size is None and (asked.cpus or asked.limit or asked.gpus or asked.memory):
        raise complain(
            "forecast",
            "the size of the job is not stated",
            f"classes by {by}",
            "--time with --cpus (-g: --gpus, -m: --mem), or --size HOURS",
            2,
        )
    jobs, codes, now, zone = load(options)
    late = int(((jobs["start"] > 0) & (jobs.time("start") < jobs.time(options.begin))).sum())
    if late:
        note("forecast", f"{late:,} jobs that start before they are {options.begin} are left out")
    found = {
        code: forecasts(jobs, code, classes, size, now, levels, options.confidence, options.begin)
        for code in codes
    }
    if options.plot:
        from . import plots

        code = codes[0]
        rows = in_partition(jobs, code)
        which = "all sizes"
        if size is not None:
            narrow = rows.where(classes.of(rows) == classes.index(size))
            if len(narrow) >= HOURS * 4:
                rows, which = narrow, found[code][0][0]
        title = f"{jobs.text('partition', code)}, {which}"
        plots.save(plots.fan(*fan(rows, now, options.begin), now, title), options.plot)
    write(jobs, found, levels, options, now, zone)
    return 0


def parse_levels(text):
    try:
        levels = tuple(float(part) / (100 if float(part) > 1 else 1) for part in text.split(","))
        if not levels or not all(0 < q < 1 for q in levels):
            raise ValueError
    except ValueError:
        raise complain(
            "forecast", "no quantiles", repr(text), "percentages such as 50,90", 2
        ) from None
    return levels


def fan(jobs, now, begin):
    """(hours from now, levels, waits by level and hour): quantiles of the waits of past jobs that
    became eligible at the same hour of the day, one hour more or less.
    """
    index = jobs.time(begin) <= now
    jobs = jobs.where(index)
    start, eligible, end = jobs.time("start"), jobs.time(begin), jobs.time("end")
    seen = (start > 0) & (start <= now)
    until = np.where(seen, start, np.where((start == 0) & (end > 0), np.minimum(end, now), now))
    waits = np.maximum(until - eligible, 0).astype(float)
    from .bounds import quantiles

    hour = eligible // 3600 % 24
    hours = np.arange(HOURS + 1)
    table = []
    for ahead in hours:
        here = (now // 3600 + ahead) % 24
        distance = np.abs(hour - here)
        near = np.flatnonzero(np.minimum(distance, 24 - distance) <= 1)[-3000:]
        near = near if len(near) >= 20 else np.arange(len(waits))
        table.append(quantiles(waits[near], seen[near], FAN) if len(near) else [np.inf] * len(FAN))
    return hours, FAN, np.array(table).T


def write(jobs, found, levels, options, now, zone):
    """The result as a table or JSON."""
    if options.format == "json":

        def number(value):
            return value if math.isfinite(value) else None

        output.json_text(
            {
                "now": now,
                "unit": "s",
                "confidence": options.confidence,
                "rows": [
                    {
                        "partition": jobs.text("partition", code),
                        "class": name,
                        "started": f.started,
                        "pending": f.pending,
                        "restarted": f.since,
                        "quantiles": [
                            {
                                "level": q,
                                "wait": number(f.estimates[q]),
                                "bound": number(f.bounds[q]),
                            }
                            for q in levels
                        ],
                    }
                    for code, rows in found.items()
                    for name, f in rows
                ],
            }
        )
        return
    lines = [["partition", "class"]]
    for q in levels:
        lines[0] += [f"{100 * q:g} % start within", "at most"]
    lines[0] += ["from jobs", "waiting", "since a change"]
    for code, rows in found.items():
        for name, f in rows:
            cells = []
            for q in levels:
                cells += [shown(f.estimates[q]), shown(f.bounds[q])]
            lines.append(
                [
                    printable(jobs.text("partition", code)),
                    name,
                    *cells,
                    str(f.started),
                    str(f.pending),
                    clock(f.since, zone) if f.since else "",
                ]
            )
    output.table(
        f"# jobs submitted at {clock(now, zone)} ({printable(jobs.origin)}); “at most” with "
        f"{100 * options.confidence:g} % confidence",
        lines,
    )


def shown(seconds):
    """A wait, or NA where the data bound nothing."""
    return "NA" if math.isinf(seconds) else duration(seconds)
