"""Jobs as columns: names and types, texts to numbers, waits, sizes and size classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .columns import Bad, Cached, Texts
from .errors import Problem, complain
from .fields import UNLIMITED, count, job_ids, limit, memory, moments, tres

__all__ = ["COLUMNS", "KINDS", "Classes", "Jobs", "Names", "build", "started", "waits"]

# Times are seconds since 1970 (0: unknown), limits seconds, memory megabytes of the whole job.
COLUMNS = {
    "id": "u4",
    "task": "i4",
    "component": "i2",
    "tasks": "i4",
    "partition": "i4",
    "user": "i4",
    "qos": "i4",
    "state": "i4",
    "submit": "u4",
    "eligible": "u4",
    "start": "u4",
    "end": "u4",
    "estimate": "u4",
    "cpus": "i4",
    "nodes": "i4",
    "gpus": "i2",
    "memory": "f4",
    "limit": "i4",
    "line": "u4",
}
KINDS = ("partition", "user", "qos", "state")
# Columns by the names that sacct and a mapping may use; the first that is there is taken.
SOURCES = {
    "id": ("JobID", "JobIDRaw"),
    "partition": ("Partition",),
    "user": ("User",),
    "qos": ("QOS",),
    "state": ("State",),
    "submit": ("Submit",),
    "eligible": ("Eligible",),
    "start": ("Start",),
    "end": ("End",),
    "estimate": ("Estimate",),
    "cpus": ("ReqCPUS", "AllocCPUS", "NCPUS"),
    "nodes": ("NNodes", "ReqNodes", "AllocNodes"),
    "memory": ("ReqMem",),
    "limit": ("Timelimit", "TimelimitRaw"),
    "alloc": ("AllocTRES",),
    "req": ("ReqTRES",),
    "gpus": ("GPUs",),
}
NEEDED = ("id", "partition", "submit", "start", "state", "cpus", "limit")
MOST_NAMES, MOST_TEXT = 250_000, 1 << 23  # names of a kind, and characters of them
LIMITS, MEMORIES, TRES, COUNTS = Cached(limit), Cached(memory), Cached(tres), Cached(count)


class Names:
    """The texts of one kind (partitions, users …), numbered."""

    def __init__(self, texts=()):
        self.texts = list(texts)
        self.codes = {text: code for code, text in enumerate(self.texts)}
        self.held = sum(map(len, self.texts))  # characters
        self.found = None

    def code(self, text):
        code = self.codes.get(text)
        if code is None:
            self.held += len(text)
            if len(self.texts) >= MOST_NAMES or self.held > MOST_TEXT:
                raise complain(
                    "read",
                    "too many different names",
                    f"more than {len(self.texts):,} of {self.held:,} characters",
                    f"partitions, users, QOS and states of a cluster: at most {MOST_NAMES:,} each "
                    f"and {MOST_TEXT:,} characters",
                )
            code = self.codes[text] = len(self.texts)
            self.texts.append(text)
        return code

    def all(self, values, cut=str):
        """The numbers of all values. cut: what of a value is the name, the same at each call."""
        if self.found is None:
            self.found = Cached(lambda text: self.code(cut(text)))
        return self.found.all(values, "a name", np.int32)


@dataclass
class Jobs:
    """Rows of jobs; columns: arrays by name (those that were asked for), names: Names by kind.

    read: when the data were read or, for a file, the latest time in it (seconds since 1970).
    """

    columns: dict
    names: dict = field(default_factory=dict)
    read: int = 0
    origin: str = ""

    def __getitem__(self, name):
        return self.columns[name]

    def __len__(self):
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def where(self, mask):
        """The rows of a mask or an array of indices."""
        rows = {name: column[mask] for name, column in self.columns.items()}
        return Jobs(rows, self.names, self.read, self.origin)

    def time(self, name):
        """A column of times as int64, so that differences have a sign."""
        return self.columns[name].astype(np.int64)

    def code(self, kind, text):
        """The number of a name; -1 where no job has it."""
        return self.names[kind].codes.get(text, -1)

    def text(self, kind, code):
        return self.names[kind].texts[code]


def joined(parts, names, read=0, origin=""):
    """Jobs of several parts, one after the other."""
    parts = list(parts)
    if not parts:
        columns = {name: np.empty(0, kind) for name, kind in COLUMNS.items()}
    else:
        columns = {k: np.concatenate([p.columns[k] for p in parts]) for k in parts[0].columns}
    return Jobs(columns, names, read, origin)


def find_columns(header):
    """Where the columns stand, {our name: index}, from the names in a header. Raises KeyError
    with what is missing.
    """
    places = {}
    for index, name in enumerate(header):
        # sacct prints a format such as JobID%20 without its width, a mapping may not.
        places.setdefault(name.strip().partition("%")[0].lower(), index)
    found = {}
    for ours, theirs in SOURCES.items():
        for name in theirs:
            if name.lower() in places:
                found[ours] = places[name.lower()]
                break
    missing = [SOURCES[name][0] for name in NEEDED if name not in found]
    if missing:
        raise KeyError(", ".join(missing))
    return found


def build(columns, names, lines):
    """A dict of COLUMNS from texts by our names. Steps are left out. Raises Bad with .column set to
    the name of the column.

    lines: the line number of each row. names: Names by kind, which grow.
    """
    out, step = numbers(columns)
    n = len(step)
    for kind in KINDS:
        if kind in columns:
            out[kind] = names[kind].all(columns[kind], short if kind == "state" else str)
        else:
            out[kind] = np.full(n, names[kind].code(""))
    out["line"] = np.asarray(lines, np.uint32)
    if step.any():
        out = {name: column[~step] for name, column in out.items()}
    return {name: out[name].astype(kind, copy=False) for name, kind in COLUMNS.items()}


def numbers(columns):
    """(the columns of COLUMNS that are numbers, a mask of the rows that are steps). Raises Bad."""
    columns = {name: Texts.of(texts) for name, texts in columns.items()}
    at = "id"
    try:
        n = len(columns["id"])
        number, task, component, tasks, step = job_ids(columns["id"])
        out = {"id": number, "task": task, "component": component, "tasks": tasks}
        for at in ("submit", "eligible", "start", "end", "estimate"):
            out[at] = moments(columns[at]) if at in columns else np.zeros(n, np.uint32)
        if "eligible" not in columns:
            out["eligible"] = out["submit"]
        at = "limit"
        out[at] = LIMITS.all(columns[at], "a time limit such as 1-02:03:04", np.int32)
        for at in ("cpus", "nodes"):
            out[at] = COUNTS.all(columns[at], "a number") if at in columns else np.zeros(n)
        said = np.zeros((4, n))
        for at in ("req", "alloc"):
            if at in columns:
                new = TRES.all(columns[at], "TRES such as cpu=4,mem=16G,node=1,gres/gpu=1").T
                said = np.where(new > 0, new, said)
        gpus, megabytes, cpus, nodes = said
        at = "gpus"
        if at in columns:
            gpus = np.minimum(COUNTS.all(columns[at], "a number"), 2**15 - 1)
        out["gpus"] = gpus
        out["cpus"] = np.where(out["cpus"] > 0, out["cpus"], cpus)
        out["nodes"] = np.where(out["nodes"] > 0, out["nodes"], nodes)
        at = "memory"
        out[at] = megabytes
        if at in columns:
            amount, per = MEMORIES.all(columns[at], "memory such as 16G, 4000Mn or 2Gc").T
            factor = np.choose(
                per.astype(int), (1, np.maximum(out["nodes"], 1), np.maximum(out["cpus"], 1))
            )
            # ReqMem=0 asks for all memory of the nodes; what that is stands in the TRES.
            out[at] = np.where(amount > 0, amount * factor, megabytes)
    except Bad as bad:
        bad.column = SOURCES[at][0]
        raise
    return out, step


def short(state):
    """A state without what follows it: 'CANCELLED' of 'CANCELLED by 1000'."""
    return state.split(" ", 1)[0].rstrip("+")


def started(jobs):
    """A mask of the jobs that have started."""
    return jobs["start"] > 0


def waits(jobs, begin="eligible"):
    """Seconds from `begin` ('eligible' or 'submit') to the start, as int64; only of started jobs
    with a known begin.
    """
    return jobs.time("start") - jobs.time(begin)


# ---- sizes ---------------------------------------------------------------------------------------
UNITS = {"cpu": "CPUh", "memory": "GBh", "gpu": "GPUh"}


@dataclass(frozen=True)
class Classes:
    """Size classes: what is multiplied with the requested hours, and the edges between them."""

    by: str = "cpu"
    edges: tuple = (4.0, 16.0, 64.0)

    @classmethod
    def parse(cls, text, by):
        """From 'first,factor[,bins]'; three edges, so four classes, where bins is not said."""
        parts = text.split(",")
        try:
            if len(parts) not in (2, 3):
                raise ValueError
            first, factor = float(parts[0]), float(parts[1])
            bins = int(parts[2]) if len(parts) == 3 else 4
            if not (0 < first < 1e12 and 1 < factor <= 1e6 and 2 <= bins <= 40):
                raise ValueError
        except ValueError:
            raise complain(
                "table",
                "-it are no edges",
                repr(text),
                "first,factor[,bins] with a positive first edge, a factor above 1 and 2 to 40 bins",
                2,
            ) from None
        return cls(by, tuple(first * factor**i for i in range(bins - 1)))

    @property
    def labels(self):
        unit = UNITS[self.by]
        return [f"<{edge:g} {unit}" for edge in self.edges] + [f">{self.edges[-1]:g} {unit}"]

    def sizes(self, jobs):
        """What each job asks for, in hours of CPU, GB or GPU. Without a time limit it is infinite,
        so that the job stands in the last class.
        """
        hours = jobs["limit"] / 3600.0
        hours = np.where((jobs["limit"] < 0) | (jobs["limit"] >= UNLIMITED), np.inf, hours)
        if self.by == "cpu":
            amount = np.maximum(jobs["cpus"], 1)
        elif self.by == "gpu":
            amount = jobs["gpus"]
        else:
            amount = jobs["memory"].astype(np.float64) / 1024
        return np.where(amount > 0, amount * np.where(amount > 0, hours, 0.0), 0.0)

    def of(self, jobs):
        """The class of each job: the number of edges that its size reaches."""
        return np.searchsorted(self.edges, self.sizes(jobs), side="right")

    def index(self, size):
        """The class of one size in hours."""
        return int(np.searchsorted(self.edges, size, side="right"))


def partitions_asked(jobs, text):
    """Codes of the partitions in 'a,b'; of all that have jobs without a text. An unknown one is a
    Problem that lists those that exist.
    """
    known = [name for name in jobs.names["partition"].texts if name and "," not in name]
    if text is None:
        return [jobs.code("partition", name) for name in sorted(known)]
    asked = [name.strip() for name in text.split(",") if name.strip()]
    if not asked or any(name not in known for name in asked):
        from .text import printable

        listing = "\n".join(printable(name) for name in sorted(known))
        raise Problem(f"error - please call_sacct_for existing partition(s)\n{listing}")
    return [jobs.code("partition", name) for name in dict.fromkeys(asked)]
