"""Readers of other formats: the Standard Workload Format and CSV files with a mapping."""

from __future__ import annotations

import csv
import re
import warnings

import numpy as np

from .columns import Bad
from .errors import complain
from .jobs import COLUMNS, SOURCES, build, find_columns

__all__ = ["read_csv", "read_swf"]

ROWS, LETTERS = 50_000, 1 << 23  # of a batch at most, a field counting as one letter more
# Feitelson, Tsafrir and Krakov, "Experience with using the Parallel Workloads Archive", JPDC 74
# (2014), and the archive's page on the format: 18 numbers a line, -1 where one is unknown.
SWF = (
    "id",
    "submit",
    "wait",
    "run",
    "allocated",
    "cpu",
    "used_memory",
    "cpus",
    "limit",
    "memory",
    "status",
    "user",
    "group",
    "program",
    "queue",
    "partition",
    "before",
    "think",
)
# Of the field `status`; 2 to 4 are parts of a job that was checkpointed, whose whole is there too.
STATES = {0: "FAILED", 1: "COMPLETED", 5: "CANCELLED"}


def chunks(source, letters):
    """Yields lists of items of bounded number and size; letters(item): the size of one."""
    chunk, size = [], 0
    for item in source:
        chunk.append(item)
        size += letters(item)
        if len(chunk) >= ROWS or size > LETTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def read_swf(stream, origin, names, left):
    """Yields dicts of columns from a text stream of SWF."""
    begin, number = 0, 0

    def data():
        nonlocal begin, number
        for number, line in enumerate(stream, 1):
            if "\0" in line:
                raise complain(
                    "swf",
                    f"{origin} is no text",
                    f"a zero byte in line {number}",
                    "the Standard Workload Format",
                )
            found = re.match(r";\s*UnixStartTime:\s*(\d{1,10})\b", line, re.ASCII)
            if found:
                begin = int(found[1])
            if line.strip() and not line.lstrip().startswith(";"):
                yield number, line

    places = None
    for chunk in chunks(data(), lambda item: len(item[1])):
        places, lines = zip(*chunk)
        yield swf_columns(lines, np.array(places), begin, origin, names, left)
    if places is None:
        raise complain("swf", f"{origin} has no jobs", "no line of numbers", "SWF")


def swf_columns(lines, places, begin, origin, names, left):
    """The columns of some lines."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = np.loadtxt(lines, ndmin=2, dtype=np.float64, comments=None)
        if table.shape[1] != len(SWF):
            raise ValueError(f"{table.shape[1]} columns")
    except (ValueError, Warning) as error:
        line, why = places[0], str(error)
        for place, text in zip(places, lines):
            line = place
            parts = text.split()
            try:
                if len(parts) != len(SWF):
                    raise ValueError(f"{len(parts)} columns")
                [float(part) for part in parts]
            except ValueError as found:
                why = str(found)
                break
        raise complain(
            "swf",
            f"{origin}, line {line}: not a job",
            why,
            f"{len(SWF)} numbers with spaces between",
        ) from None
    if not np.isfinite(table).all():
        row = np.argmin(np.isfinite(table).all(axis=1))
        raise complain(
            "swf",
            f"{origin}, line {places[row]}: not a job",
            lines[row].strip()[:60],
            "finite numbers",
        )
    whole = np.isin(table[:, 10], (2, 3, 4), invert=True)
    if not whole.all():
        left.add("parts of checkpointed jobs", int(places[np.argmin(whole)]), int((~whole).sum()))
    table, places = table[whole], places[whole]
    t = dict(zip(SWF, table.T))
    n = len(table)
    out = {name: np.zeros(n, kind) for name, kind in COLUMNS.items()}
    # Without a date of its own the trace begins on the second day of 1970: 0 means unknown.
    zero = begin or 86400
    wait, run = t["wait"], t["run"]
    out["submit"] = zero + np.maximum(t["submit"], 0)
    out["eligible"] = out["submit"]
    began = wait >= 0
    out["start"] = np.where(began, out["submit"] + np.maximum(wait, 0), 0)
    out["end"] = np.where(began & (run >= 0), out["start"] + np.maximum(run, 0), 0)
    too_late = out["end"] > 2**32 - 1
    if too_late.any() or (out["submit"] > 2**32 - 1).any():
        row = np.argmax(too_late | (out["submit"] > 2**32 - 1))
        raise complain(
            "swf",
            f"{origin}, line {places[row]}: a time after the year 2106",
            lines[row].strip()[:60],
            "seconds since the start of the trace",
        )
    # A cancelled job that never ran has no start; its wait is the time until it went.
    never = (t["status"] == 5) & (run <= 0)
    out["end"] = np.where(never, out["submit"] + np.maximum(wait, 0), out["end"])
    out["start"] = np.where(never, 0, out["start"])
    cpus = np.clip(np.where(t["cpus"] > 0, t["cpus"], t["allocated"]), 0, 2**31 - 1)
    out["cpus"] = cpus
    out["limit"] = np.where(t["limit"] > 0, np.minimum(t["limit"], 2**31 - 2), -1)
    # Kilobytes for each processor.
    used = np.where(t["memory"] > 0, t["memory"], t["used_memory"])
    out["memory"] = np.minimum(np.clip(used, 0, 1e20) / 1024 * cpus, 1e30)
    out["id"] = np.clip(t["id"], 0, 2**32 - 1)
    out["task"] = out["component"] = np.full(n, -1)
    out["tasks"] = np.ones(n)
    queues = t["queue"] if (t["queue"] > 0).any() else t["partition"]
    out["partition"] = names["partition"].all([f"q{int(q)}" for q in queues])
    out["user"] = names["user"].all([f"u{int(u)}" for u in t["user"]])
    out["state"] = names["state"].all([STATES.get(int(s), "UNKNOWN") for s in t["status"]])
    out["qos"] = names["qos"].all([""] * n)
    out["line"] = places
    return {name: np.asarray(out[name]).astype(kind) for name, kind in COLUMNS.items()}


def parse_map(text):
    """{name of sacct: name in the file} from 'Partition=queue,Submit=submitted'."""
    known = {name.lower(): name for source in SOURCES.values() for name in source}
    pairs = {}
    for pair in text.split(",") if text else ():
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not equals or ours.lower() not in known:
            raise complain(
                "csv",
                "--map cannot be read",
                repr(pair),
                f"Name=column with Name one of {', '.join(sorted(known.values()))}",
                2,
            )
        pairs[theirs.lower()] = known[ours.lower()]
    return pairs


def read_csv(stream, origin, names, left, mapping="", delimiter=","):
    """Yields dicts of columns from a text stream of CSV with a header.

    mapping: which column has what sacct calls JobID, Partition, Submit, Start, State, ReqCPUS,
    Timelimit …; columns that have those names already need none. Without JobID and State, jobs are
    numbered, and those with a start count as COMPLETED.
    """
    pairs = parse_map(mapping)
    lines = (line.replace("\0", "\N{REPLACEMENT CHARACTER}") for line in stream)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)

    def rows():
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise complain(
                    "csv",
                    f"{origin}, line {reader.line_num}",
                    error,
                    "CSV with quotes that are closed",
                ) from None
            if row:
                yield reader.line_num, row

    source = rows()
    header = next(source, (1, []))[1]
    lower = [name.strip().lower() for name in header]
    for theirs in pairs:
        if theirs not in lower:
            raise complain(
                "csv",
                f"{origin} has no column {theirs}",
                ", ".join(header) or "nothing",
                "the columns that --map names",
            )
    # A mapped column comes first, so that its name wins over one that is there by chance.
    taken = set(pairs.values())
    titles = [pairs.get(name, "" if name in {t.lower() for t in taken} else name) for name in lower]
    extra = [name for name in ("JobID", "State") if name.lower() not in map(str.lower, titles)]
    try:
        places = find_columns(titles + extra)
    except KeyError as error:
        raise complain(
            "csv",
            f"{origin} lacks {error.args[0]}",
            ", ".join(header) or "nothing",
            "these columns, by their names or by --map Name=column,…",
        ) from None
    done = 0
    for chunk in chunks(source, lambda item: len(item[1]) + sum(map(len, item[1]))):
        for line, row in chunk:
            if len(row) != len(header):
                raise complain(
                    "csv",
                    f"{origin}, line {line}: wrong number of columns",
                    len(row),
                    f"the {len(header)} of the header",
                )
        numbers, fields = zip(*chunk)
        columns = dict(enumerate(zip(*fields)))
        n = len(fields)
        for place, name in enumerate(extra, len(titles)):
            columns[place] = (
                [str(done + i + 1) for i in range(n)] if name == "JobID" else ["COMPLETED"] * n
            )
        picked = {name: columns[place] for name, place in places.items()}
        for name in ("submit", "eligible", "start", "end", "estimate"):
            if name in picked:
                picked[name] = [
                    v.strip().replace(" ", "T", 1).removesuffix("Z") for v in picked[name]
                ]
        done += n
        try:
            yield build(picked, names, numbers)
        except Bad as bad:
            raise complain(
                "csv",
                f"{origin}, line {numbers[bad.index]}: the column {bad.column} cannot be read",
                repr(bad.value),
                bad.expected,
            ) from None
    if not done:
        raise complain("csv", f"{origin} has no jobs", "no line after the header", "jobs")
