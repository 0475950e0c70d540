"""`table`: waiting times for each partition and size class."""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import dataclass

import numpy as np

from . import output, sources
from .errors import complain, note
from .jobs import Classes, Jobs, partitions_asked, started, waits
from .text import clock, duration, printable

__all__ = ["Cell", "collect", "run"]

QUANTILES = (0.1, 0.5, 0.9)
STATISTICS = {"mean": "mean", "median": "p50", "p90": "p90"}
MOST_PAIRS = 1 << 22


@dataclass(frozen=True)
class Cell:
    """The waits of a partition's size class in seconds; NaN without jobs."""

    jobs: int
    mean: float
    p10: float = math.nan
    p50: float = math.nan
    p90: float = math.nan


class Waits:
    """Counts, sums and, if wanted, quantiles of waits by key, of any number of jobs in bounded
    memory: waits are whole seconds, so that equal ones are counted and not kept.
    """

    def __init__(self, keys, quantiles):
        self.counts, self.sums = np.zeros(keys, np.int64), np.zeros(keys)
        self.quantiles = quantiles
        self.parts, self.waiting = [], 0  # of (key << 32 | wait, number)

    def add(self, keys, seconds):
        self.counts += np.bincount(keys, minlength=len(self.counts))
        self.sums += np.bincount(keys, seconds, len(self.counts))
        if self.quantiles:
            self.parts.append(np.unique(keys << 32 | seconds, return_counts=True))
            self.waiting += len(self.parts[-1][0])
            if self.waiting > MOST_PAIRS and len(self.parts) > 1:
                self.merge()

    def merge(self):
        pairs = np.concatenate([pair for pair, _ in self.parts])
        numbers = np.concatenate([number for _, number in self.parts])
        pairs, which = np.unique(pairs, return_inverse=True)
        merged = pairs, np.bincount(which, numbers).astype(np.int64)
        # What repeats nothing would be merged again for each block.
        self.parts, self.waiting = [merged], 0

    def cells(self):
        """A Cell for each key."""
        with np.errstate(invalid="ignore"):
            means = self.sums / self.counts
        if not self.parts:
            return [Cell(int(n), float(m)) for n, m in zip(self.counts, means)]
        self.merge()
        pairs, numbers = self.parts[0]
        out = []
        for key, (n, mean) in enumerate(zip(self.counts, means)):
            first, last = np.searchsorted(pairs, [key << 32, (key + 1) << 32])
            values = pairs[first:last] & 0xFFFFFFFF
            ends = np.cumsum(numbers[first:last])
            out.append(
                Cell(
                    int(n),
                    float(mean),
                    *(quantile(values, ends, q) if n else math.nan for q in QUANTILES),
                )
            )
        return out


def quantile(values, ends, q):
    """The q-quantile of sorted values that occur ends[i] − ends[i − 1] times, by linear
    interpolation (Hyndman and Fan 1996, definition 7, NumPy's default).
    """
    place = (ends[-1] - 1) * q
    below = math.floor(place)
    low, high = values[np.searchsorted(ends, [below, math.ceil(place)], side="right")]
    return float(low + (high - low) * (place - below))


def collect(store, options, classes, quantiles):
    """(partition names, {name: [Cell for each class]}, (first submission, jobs)) of a store."""
    names = store.names()
    asked = partitions_asked(Jobs({}, names), options.partitions)
    begin = options.begin
    columns = {
        "partition",
        "start",
        "limit",
        begin,
        "submit",
        "line",
        "id",
        {"cpu": "cpus", "memory": "memory", "gpu": "gpus"}[classes.by],
    }
    filters = {}
    for kind in ("user", "qos"):
        text = getattr(options, kind)
        if text is not None:
            code = names[kind].codes.get(text)
            if code is None:
                raise complain(
                    "table", f"no job has this {kind}", repr(text), f"a {kind} of the data"
                )
            filters[kind] = code
            columns.add(kind)
    now = store.get("read")
    since = sources.parse_time(options.since, now) if options.since else 0
    bins = len(classes.edges) + 1
    # Rows of the partitions asked for; the others go to a row that is dropped.
    rows = np.full(len(names["partition"].texts) + 1, len(asked))
    rows[asked] = np.arange(len(asked))
    found = Waits((len(asked) + 1) * bins, quantiles)
    negative, unknown, first, example = 0, 0, 2**32, None
    for batch in store.batches(sorted(columns)):
        jobs = Jobs(batch, names)
        keep = started(jobs) & (rows[jobs["partition"]] < len(asked))
        if since:
            keep &= jobs["submit"] >= since
        for kind, code in filters.items():
            keep &= jobs[kind] == code
        if not keep.all():
            jobs = jobs.where(keep)
        if not len(jobs):
            continue
        seconds = waits(jobs, begin)
        odd = (seconds < 0) | (jobs[begin] == 0)
        if odd.any():
            bad = np.argmax(odd)
            example = example or (int(jobs["line"][bad]), int(jobs["id"][bad]))
            negative += int((seconds < 0).sum())
            unknown += int((jobs[begin] == 0).sum())
            jobs, seconds = jobs.where(~odd), seconds[~odd]
        if len(jobs):
            first = min(first, int(jobs["submit"].min()))
            found.add(rows[jobs["partition"]] * bins + classes.of(jobs), seconds)
    if negative or unknown:
        note(
            "table",
            f"{negative:,} jobs that start before they are {begin_word(begin)} and "
            f"{unknown:,} without that time are left out; the first: job {example[1]}, "
            f"line {example[0]}",
        )
    cells = found.cells()
    table = {
        names["partition"].texts[code]: cells[i * bins : (i + 1) * bins]
        for i, code in enumerate(asked)
    }
    jobs = sum(cell.jobs for row in table.values() for cell in row)
    return table, {
        "read": now,
        "origin": store.get("origin"),
        "zone": store.get("zone"),
        "first": first if jobs else None,
        "jobs": jobs,
    }


def begin_word(begin):
    return {"eligible": "eligible", "submit": "submitted"}[begin]


def run(options):
    """The command."""
    by = "memory" if options.memory else "gpu" if options.gpu else "cpu"
    classes = Classes.parse(options.edges, by)
    quantiles = bool(options.format != "table" or options.stat != "mean" or options.plot)
    with sources.opened(options) as store:
        table, data = collect(store, options, classes, quantiles)
    if options.plot:
        from . import plots

        plots.save(plots.waits_by_class(table, classes, data), options.plot)
    write = {"table": write_table, "json": write_json, "csv": write_csv}[options.format]
    write(table, classes, data, options)
    return 0


def heading(data):
    """When and of what the data are."""
    since = f", submitted since {clock(data['first'], data['zone'])}" if data["jobs"] else ""
    return (
        f"data of {clock(data['read'], data['zone'])} ({printable(data['origin'])}): "
        f"{data['jobs']:,} jobs that started{since}"
    )


def write_table(table, classes, data, options):
    key = STATISTICS[options.stat]
    lines = [["partition", *classes.labels]]
    for name, cells in table.items():
        lines.append(
            [printable(name)]
            + [
                f"{duration(getattr(cell, key))} ({cell.jobs})" if cell.jobs else "NA"
                for cell in cells
            ]
        )
    output.table(f"# {options.stat} wait, {heading(data)}", lines)


def write_json(table, classes, data, options):
    def number(value):
        return None if math.isnan(value) else round(value, 3)

    edges = [0.0, *classes.edges, None]
    rows = [
        {
            "partition": name,
            "class": classes.labels[i],
            "from": edges[i],
            "to": edges[i + 1],
            "jobs": cell.jobs,
            "mean": number(cell.mean),
            "median": number(cell.p50),
            "p10": number(cell.p10),
            "p90": number(cell.p90),
        }
        for name, cells in table.items()
        for i, cell in enumerate(cells)
    ]
    output.json_text({"data": data, "unit": "s", "rows": rows})


def write_csv(table, classes, data, options):
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["partition", "class", "jobs", "mean_s", "median_s", "p90_s"])
    for name, cells in table.items():
        for label, cell in zip(classes.labels, cells):
            values = ("" if math.isnan(v) else f"{v:.1f}" for v in (cell.mean, cell.p50, cell.p90))
            writer.writerow([printable(name), label, cell.jobs, *values])
