"""Where the jobs come from: sacct itself or a file, through the cache."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import stat
import sys
import time
import zoneinfo
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from . import adapters, sacct_text, slurm
from .errors import Problem, complain, note
from .store import Store, folder

__all__ = ["live_command", "opened", "parse_time"]

FORMAT = (
    "JobID,Partition,User,QOS,Submit,Eligible,Start,End,State,ReqCPUS,NNodes,ReqMem,"
    "Timelimit,ReqTRES,AllocTRES"
)
DAY = 86400
OVERLAP = 3600  # slurmdbd may hear of a job later than it happened
DEFAULT_DAYS = 30
TIMES = ("submit", "eligible", "start", "end", "estimate")


def parse_time(text, now):
    """Seconds since 1970 of '30d', '12h', '2w' (before now), '2024-03-01' or a whole time."""
    found = re.fullmatch(r"(\d{1,6})([hdw])", text, re.ASCII)
    if found:
        return max(1, int(now) - int(found[1]) * {"h": 3600, "d": DAY, "w": 7 * DAY}[found[2]])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise complain(
            "time", "not a time", repr(text), "30d, 12h, 2w, 2024-03-01 or 2024-03-01T12:00", 2
        ) from None
    seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    if not 0 < seconds < 2**32:
        raise complain("time", "not a time of a cluster", repr(text), "a year from 1970 to 2105", 2)
    return seconds


def live_command(start, end):
    """The call of sacct for the jobs that were there between two times (seconds since 1970)."""

    def moment(t):
        return datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%dT%H:%M:%S")

    return [
        "sacct",
        "--allusers",
        "--parsable2",
        "--allocations",
        "--duplicates",
        "-o",
        FORMAT,
        "-S",
        moment(start),
        "-E",
        moment(end),
    ]


@contextmanager
def opened(options):
    """The Store of what the options name, read as far as necessary."""
    kinds = [kind for kind in ("dump", "swf", "csv") if getattr(options, kind, None)]
    if len(kinds) > 1:
        raise complain("read", "more than one source", ", ".join(f"--{k}" for k in kinds), "one", 2)
    if kinds:
        name = getattr(options, kinds[0])
        path = cache_path(options, f"{kinds[0]} {os.path.abspath(name)}")
        with Store(path) as store:
            read_file(store, kinds[0], name, options)
            yield store
    else:
        path = cache_path(options, "sacct")
        with Store(path) as store:
            update(store, options)
            yield store


def cache_path(options, key):
    if options.no_cache:
        return None
    base = Path(options.cache) if options.cache else folder()
    return base / (
        hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:24] + ".sqlite"
    )


# ---- files ---------------------------------------------------------------------------------------
def read_file(store, kind, name, options):
    """Fills the store from a file, unless it holds that very file already."""
    try:
        with open(name, "rb") as stream:
            info = os.fstat(stream.fileno())
            identity = [
                kind,
                info.st_size,
                info.st_mtime_ns,
                info.st_ino,
                options.timezone,
                options.map,
                options.delimiter,
            ]
            if stat.S_ISREG(info.st_mode) and store.get("identity") == identity:
                for line in store.get("left") or ():
                    note("read", line)
                return
            left = sacct_text.Left()
            with store.change(), progress(info.st_size, name) as advance:
                store.clear()
                names = store.names()
                batches = readers(kind, stream, name, names, left, options, advance)
                span = Span()
                rows = store.add(span.watch(zoned(batches, options.timezone)))
                store.put_names(names)
                if not rows:
                    raise complain("read", f"{name} has no jobs", "a header alone", "jobs")
                twice = store.forget_duplicates()
                lines = [f"{name}: {line} left out" for line in left.lines()]
                if twice:
                    lines.append(f"{name}: {twice:,} jobs stood there twice; the last is kept")
                store.put("left", lines)
                store.put("read", span.last)
                store.put("origin", os.path.basename(name))
                store.put("zone", "UTC" if options.timezone else "")
                store.put("identity", identity)
    except FileNotFoundError:
        raise complain("read", "there is no such file", repr(name), "a dump") from None
    except (OSError, EOFError) as error:
        raise complain("read", f"cannot read {name}", error, "a file that may be read") from None
    for line in lines:
        note("read", line)


def readers(kind, stream, name, names, left, options, advance):
    """The batches of an open file."""
    packed = stream.peek(2)[:2] == b"\x1f\x8b"
    source = gzip.open(stream) if packed else stream
    if kind == "dump":

        def blocks():
            while block := source.read(sacct_text.BLOCK):
                advance(stream.tell())
                yield block

        return sacct_text.read(blocks(), name, names, left)
    # A line of an endless file without newlines would be read whole: the wrapper limits it.
    text = lines_of(source, name, advance, stream)
    if kind == "swf":
        return adapters.read_swf(text, name, names, left)
    return adapters.read_csv(text, name, names, left, options.map or "", options.delimiter)


def lines_of(source, name, advance, stream):
    """Lines of text, none of them endless."""
    buffered = io.BufferedReader(source) if not hasattr(source, "readline") else source
    number = 0
    while line := buffered.readline(sacct_text.LONGEST_LINE):
        number += 1
        if len(line) == sacct_text.LONGEST_LINE:
            raise complain(
                "read",
                f"{name}, line {number}: the line has no end",
                f"{len(line):,} bytes",
                "lines of jobs",
            )
        if number % 10_000 == 0:
            advance(stream.tell())
        yield line.decode(errors="replace")


class Span:
    """The latest time in what is read."""

    def __init__(self):
        self.last = 0

    def watch(self, batches):
        for batch in batches:
            for name in ("submit", "start", "end"):
                if len(batch[name]):
                    self.last = max(self.last, int(batch[name].max()))
            yield batch


def zoned(batches, zone):
    """Turns local times of a zone into UTC; without a zone they stay as they are."""
    if zone is None:
        yield from batches
        return
    try:
        where = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise complain(
            "read", "no such time zone", repr(zone), "a name such as Europe/Berlin", 2
        ) from None
    for batch in batches:
        for name in TIMES:
            times = batch[name].astype(np.int64)
            # Offsets change at full quarters of an hour.
            quarters, which = np.unique(times // 900, return_inverse=True)
            offsets = [
                int(
                    datetime.fromtimestamp(q * 900, UTC)
                    .replace(tzinfo=where)
                    .utcoffset()
                    .total_seconds()
                )
                for q in quarters.tolist()
            ]
            times = np.where(times > 0, times - np.array(offsets, np.int64)[which], 0)
            batch[name] = np.maximum(times, 0).astype(np.uint32)
        yield batch


@contextmanager
def progress(total, name):
    """Yields a function of the bytes read so far; shows a bar at a terminal for large files."""
    if total < 50e6 or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda done: bar.update(task, completed=done)


# ---- sacct ---------------------------------------------------------------------------------------
def update(store, options):
    """Reads from sacct what the store lacks: the days before it, and what changed since."""
    now = int(time.time())
    since = parse_time(options.since, now) if options.since else now - DEFAULT_DAYS * DAY
    left = sacct_text.Left()
    with store.change():
        first, last = store.get("first"), store.get("read")
        if first is None:
            spans = [(since, now)]
        else:
            spans = [(last - OVERLAP, now)]
            if since < first:
                spans.insert(0, (since, first))
        chunks = [(a, min(a + DAY, end)) for begin, end in spans for a in range(begin, end, DAY)]
        names = store.names()
        with progress_days(len(chunks)) as advance:
            for begin, end in chunks:
                blocks = slurm.stream(live_command(begin, end))
                store.add(sacct_text.read(blocks, "sacct", names, left))
                advance()
        for name in partitions_of_slurm():
            names["partition"].code(name)
        store.put_names(names)
        store.forget_duplicates()
        store.merge_small()
        store.put("first", min(since, first if first is not None else since))
        store.put("read", now)
        store.put("origin", "sacct")
        store.put("zone", "UTC")
    for line in left.lines():
        note("sacct", line + " left out")


def partitions_of_slurm():
    """The partitions that there are, with jobs or without; none where slurmctld is out of reach."""
    try:
        return slurm.run(["sinfo", "-h", "-a", "-o", "%R"]).split()
    except Problem:
        return []


@contextmanager
def progress_days(total):
    """Yields a function to call after each day."""
    if total < 3 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sacct, days", total=total)
        yield lambda: bar.advance(task)
