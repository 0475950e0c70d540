"""`table`: waiting times for each partition and size class."""

from __future__ import annotations

import csv
import math
import sys
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from . import output, sources
from .errors import complain, note
from .jobs import Classes, Jobs, partitions_asked, started, waits
from .store import scratch
from .text import clock, duration, printable

__all__ = ["Cell", "collect", "run"]

QUANTILES = (0.1, 0.5, 0.9)
STATISTICS = {"mean": "mean", "median": "p50", "p90": "p90"}
MOST_CELLS = 1_000_000
MOST_BINS = 1 << 22  # of a histogram
BLOCK = 1 << 18  # waits that are read back at a time


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
    memory. file: a temporary file for the waits, or None where no quantiles are wanted.
    """

    def __init__(self, keys, file=None):
        self.counts, self.sums = np.zeros(keys, np.int64), np.zeros(keys, np.int64)
        self.file = file

    def add(self, keys, seconds):
        """Keys and waits in whole seconds below 2**32, an array each of a segment's jobs."""
        self.counts += np.bincount(keys, minlength=len(self.counts))
        # Below 2**53, so that the sum of one block is exact in float64, too.
        self.sums += np.bincount(keys, seconds, len(self.counts)).astype(np.int64)
        if self.file:
            self.file.write(keys.astype(np.uint64) << np.uint64(32) | seconds.astype(np.uint64))

    def blocks(self):
        """Yields what was added, keys << 32 | waits."""
        self.file.seek(0)
        while data := self.file.read(8 * BLOCK):
            yield np.frombuffer(data, np.uint64)

    def cells(self):
        """A Cell for each key."""
        with np.errstate(invalid="ignore"):
            means = self.sums / self.counts
        columns = [self.counts.tolist(), means.tolist()]
        if self.file:
            columns += self.quantiles().tolist()
        return [Cell(*values) for values in zip(*columns)]

    def quantiles(self):
        """The QUANTILES (rows) of each key's waits (columns) by linear interpolation (Hyndman and
        Fan 1996, definition 7, NumPy's default); NaN without waits.
        """
        out = np.full((len(QUANTILES), len(self.counts)), math.nan)
        full = np.flatnonzero(self.counts)
        places = np.multiply.outer(QUANTILES, self.counts[full] - 1)
        below, above = np.floor(places), np.ceil(places)
        ranks = np.stack([below, above]).astype(np.int64)
        keys = np.broadcast_to(full, ranks.shape)
        low, high = ranked(self.blocks, keys.ravel(), ranks.ravel()).reshape(ranks.shape)
        out[:, full] = low + (high - low) * (places - below)
        return out


def ranked(blocks, keys, ranks):
    """The waits that stand at `ranks` (from 0) among the sorted waits of `keys`, as int64; arrays
    of equal length.

    blocks(): yields arrays of keys << 32 | waits, the same at each call. A histogram of the waits'
    leading bits tells in which bin each rank lies; the next pass divides those bins alone, until
    they are single seconds. So memory is bounded, and the result exact.
    """
    known, left = keys.astype(np.uint64), 32  # the key and leading bits; how many more there are
    while left:
        bins, which = np.unique(known, return_inverse=True)
        width = min(left, max(1, (MOST_BINS // max(len(bins), 1)).bit_length() - 1))
        counts = np.zeros(len(bins) << width, np.int64)
        for block in blocks():
            leading = block >> left
            place = np.searchsorted(bins, leading)
            mask = bins[np.minimum(place, len(bins) - 1)] == leading
            digit = (block[mask] >> (left - width)).astype(np.int64) & ((1 << width) - 1)
            np.add.at(counts, place[mask] << width | digit, 1)
        ends = np.cumsum(counts)
        begins = ends - counts
        wanted = begins[which << width] + ranks
        index = np.searchsorted(ends, wanted, side="right")
        ranks = wanted - begins[index]
        known = bins[which] << width | (index & ((1 << width) - 1)).astype(np.uint64)
        left -= width
    return (known & 0xFFFFFFFF).astype(np.int64)


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
    # Rows of the partitions asked for; the others have a number that is none of theirs.
    rows = np.full(len(names["partition"].texts), len(asked))
    rows[asked] = np.arange(len(asked))
    if len(asked) * bins > MOST_CELLS:
        raise complain(
            "table",
            "too many cells",
            f"{len(asked):,} partitions of {bins} classes",
            f"at most {MOST_CELLS:,} cells; name partitions by -p",
        )

    def keep(jobs):
        mask = started(jobs) & (rows[jobs["partition"]] < len(asked))
        if since:
            mask &= jobs["submit"] >= since
        for kind, code in filters.items():
            mask &= jobs[kind] == code
        return mask

    first = 2**32
    with scratch() if quantiles else nullcontext() as file:
        found = Waits(len(asked) * bins, file)
        for jobs, seconds in waited(store, sorted(columns), begin, keep):
            first = min(first, int(jobs["submit"].min()))
            found.add(rows[jobs["partition"]] * bins + classes.of(jobs), seconds)
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


def waited(store, columns, begin, keep):
    """Yields (Jobs, their waits in seconds) of the jobs for which keep(Jobs) is true and whose wait
    is known, some of a segment at a time; tells at its end how many were left out.
    """
    negative, unknown, example = 0, 0, None
    for batch in store.batches(columns):
        jobs = Jobs(batch)
        mask = keep(jobs)
        if not mask.all():
            jobs = jobs.where(mask)
        seconds = waits(jobs, begin)
        odd = (seconds < 0) | (jobs[begin] == 0)
        if odd.any():
            bad = np.argmax(odd)
            example = example or (int(jobs["line"][bad]), int(jobs["id"][bad]))
            negative += int((seconds < 0).sum())
            unknown += int((jobs[begin] == 0).sum())
            jobs, seconds = jobs.where(~odd), seconds[~odd]
        if len(jobs):
            yield jobs, seconds
    if negative or unknown:
        note(
            "table",
            f"{negative:,} jobs that start before they are {begin_word(begin)} and "
            f"{unknown:,} without that time are left out; the first: job {example[1]}, "
            f"line {example[0]}",
        )


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
