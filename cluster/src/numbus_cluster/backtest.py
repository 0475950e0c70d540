"""`backtest`: what the forecasts would have been worth, each made from what was known by then."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from . import output, sources
from .errors import complain
from .jobs import Classes, Jobs, partitions_asked
from .replay import LEVEL, NEVER, queue_of
from .text import printable

__all__ = ["Score", "backtest", "run"]

LEVELS = (0.5, 0.9, LEVEL)
WEEK = 7 * 86400
COLUMNS = (
    "id",
    "line",
    "partition",
    "user",
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


@dataclass
class Predictions:
    """Of one queue, arrays over the jobs that were predicted: wait (NaN where the job went away
    earlier than a bound, so that nobody knows), bounds and estimates by level, and the rivals'
    predicted waits by name. censored: waits that are only known to be longer.
    """

    wait: np.ndarray
    censored: np.ndarray
    eligible: np.ndarray
    bounds: dict
    estimates: dict
    rivals: dict = field(default_factory=dict)
    restarts: int = 0


def predictions(queue, window=None, last=None, estimate=None, partition=None):
    """Predictions of a Queue.

    last: how many jobs, the latest; estimate: Slurm's own estimates of the start (seconds since
    1970, 0 without), in the queue's order. partition: the Queue of the whole partition.
    """
    n = len(queue.eligible)
    # Forecasts begin when the fewest waits that give a bound are known.
    starts = np.sort(queue.start)
    ready = starts[queue.fewest - 1] if n >= queue.fewest else NEVER
    first = int(np.searchsorted(queue.eligible, ready, side="right"))
    if last is not None:
        first = max(first, n - last)
    found = list(queue.run(first, n, LEVELS))
    index = np.array([i for i, _ in found], np.int64)
    eligible, start, gone = queue.eligible[index], queue.start[index], queue.gone[index]
    # A job that went away, or is still pending, has waited at least so long.
    until = np.minimum(gone, moment_of(queue))
    has_started = start < NEVER
    wait = np.where(has_started, start, np.maximum(until, eligible)) - eligible
    out = Predictions(
        wait.astype(float),
        ~has_started,
        eligible,
        {q: np.array([f.bounds[q] for _, f in found]) for q in LEVELS},
        {q: np.array([f.estimates[q] for _, f in found]) for q in LEVELS},
        restarts=len(queue.restarts),
    )
    out.rivals["mean of last week"], out.rivals["last wait"] = baselines(queue, eligible)
    if partition is not None:
        out.rivals["last wait in partition"] = baselines(partition, eligible)[1]
    if estimate is not None and (estimate > 0).any():
        guess = estimate[index].astype(float)
        out.rivals["Slurm"] = np.where(guess > 0, np.maximum(guess - eligible, 0), np.nan)
    return out


def moment_of(queue):
    """The last moment of which a queue knows."""
    known = queue.start[queue.start < NEVER]
    return max(int(queue.eligible[-1]), int(known.max()) if len(known) else 0)


def baselines(queue, moments):
    """(mean wait of the jobs that started in the week before, wait of the last that started) at
    each moment; NaN without one.
    """
    has_started = queue.start < NEVER
    start = queue.start[has_started]
    wait = (start - queue.eligible[has_started]).astype(float)
    rank = np.argsort(start, kind="stable")
    start, wait = start[rank], wait[rank]
    sums = np.concatenate([[0.0], np.cumsum(wait)])
    end = np.searchsorted(start, moments, side="right")
    begin = np.searchsorted(start, moments - WEEK, side="right")
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (sums[end] - sums[begin]) / (end - begin)
    last = np.where(end > 0, wait[np.maximum(end - 1, 0)], np.nan) if len(wait) else mean
    return mean, last


# ---- scores --------------------------------------------------------------------------------------
@dataclass
class Score:
    """How good predictions were: shares from 0 to 1, times in seconds; NaN where nothing counts.

    coverage: by level, of the bounds that are finite; pinball: by level; error: median absolute;
    within: (1 minute, 10 minutes).
    """

    jobs: int
    coverage: dict
    unbounded: int
    pinball: dict
    error: float
    within: tuple


def coverage(wait, censored, bound):
    """The share of waits within finite bounds, of those of which that is known: a job that went
    away, or still waits, counts from the moment when it has waited longer than its bound.
    """
    finite = np.isfinite(bound)
    known = finite & (~censored | (wait > bound))
    return float(np.mean(wait[known] <= bound[known])) if known.any() else math.nan


def pinball(wait, prediction, q):
    """The mean quantile loss (R. Koenker and G. Bassett, Econometrica 46, 1978)."""
    difference = wait - prediction
    return float(np.mean(np.maximum(q * difference, (q - 1) * difference)))


def score(p, prediction=None, bounds=None):
    """The Score of a prediction of waits: for the median; `bounds` by level where there are."""
    point = p.estimates[0.5] if prediction is None else prediction
    bounds = bounds if bounds is not None else dict.fromkeys(LEVELS, point)
    use = ~p.censored & np.isfinite(point)
    for bound in bounds.values():
        use &= np.isfinite(bound)
    wait = p.wait[use]
    if not len(wait):
        nothing = dict.fromkeys(LEVELS, math.nan)
        return Score(0, nothing, 0, nothing, math.nan, (math.nan, math.nan))
    error = np.abs(wait - point[use])
    return Score(
        len(wait),
        {q: coverage(p.wait, p.censored, b) for q, b in bounds.items()},
        int(np.isinf(bounds[LEVEL]).sum()),
        {q: pinball(wait, b[use], q) for q, b in bounds.items()},
        float(np.median(error)),
        tuple(float(np.mean(error <= 60 * m)) for m in (1, 10)),
    )


def together(parts):
    """Predictions of several queues as one."""
    rivals = [
        name
        for name in ("mean of last week", "last wait", "last wait in partition", "Slurm")
        if any(name in p.rivals for p in parts)
    ]

    def joined(get):
        return np.concatenate([get(p) for p in parts])

    return Predictions(
        joined(lambda p: p.wait),
        joined(lambda p: p.censored),
        joined(lambda p: p.eligible),
        {q: joined(lambda p, q=q: p.bounds[q]) for q in LEVELS},
        {q: joined(lambda p, q=q: p.estimates[q]) for q in LEVELS},
        {
            name: joined(lambda p, name=name: p.rivals.get(name, np.full(len(p.wait), np.nan)))
            for name in rivals
        },
        sum(p.restarts for p in parts),
    )


def backtest(jobs, codes, classes, begin="eligible", last=None, window=None):
    """{partition: Predictions of all its size classes}, of Jobs with the columns COLUMNS."""
    out = {}
    size_class = classes.of(jobs)
    options = {} if window is None else {"window": window}
    for code in codes:
        here = jobs["partition"] == code
        if not here.any():
            continue
        whole = queue_of(jobs.where(here), begin)
        parts = []
        for i in range(len(classes.edges) + 1):
            rows = jobs.where(here & (size_class == i))
            queue = queue_of(rows, begin, **options)
            if len(queue.eligible) <= queue.fewest:
                continue
            share = None if last is None else max(1, round(last * len(rows) / len(jobs)))
            estimate = rows.time("estimate")[queue.rows]
            parts.append(predictions(queue, last=share, estimate=estimate, partition=whole))
        if parts:
            out[jobs.text("partition", code)] = together(parts)
    return out


def run(options):
    """The command."""
    classes = Classes.parse(
        options.edges, "memory" if options.memory else "gpu" if options.gpu else "cpu"
    )
    with sources.opened(options) as store:
        names = store.names()
        codes = partitions_asked(Jobs({}, names), options.partitions)
        since = sources.parse_time(options.since, store.get("read")) if options.since else 0

        def keep(part):
            return np.isin(part["partition"], codes) & (part["submit"] >= since)

        jobs = store.load("backtest", COLUMNS, keep)
    found = backtest(jobs, codes, classes, options.begin, options.last, options.window)
    if not found:
        raise complain(
            "backtest",
            "no partition has enough jobs in a size class",
            f"{len(jobs):,} jobs",
            "60 started jobs in a class",
        )
    if len(found) > 1:
        found["all"] = together(list(found.values()))
    lines = rows_of(found)
    if options.format == "json":
        output.json_text({"rows": [dict(zip(lines[0], line)) for line in lines[1:]]})
    else:
        total = next(reversed(found.values()))
        kept = (
            "no change of regime was seen"
            if not total.restarts
            else (f"restarts of windows after changes: {total.restarts}")
        )
        output.table(
            f"# each job predicted from what was known when it became {options.begin}; {kept}",
            lines,
        )
    return 0


def rows_of(found):
    """The lines of the result."""
    lines = [
        [
            "partition",
            "prediction",
            "jobs",
            "50 % bound covers",
            "90 % bound covers",
            "95 % bound covers",
            "no bound",
            "pinball 50 %",
            "pinball 90 %",
            "pinball 95 %",
            "median error",
            "within 1 m",
            "within 10 m",
        ]
    ]
    for name, p in found.items():
        kinds = [("bound", score(p, None, p.bounds)), ("estimate", score(p, None, p.estimates))]
        kinds += [(rival, score(p, values)) for rival, values in p.rivals.items()]
        for kind, s in kinds:
            lines.append(
                [
                    printable(name),
                    kind,
                    str(s.jobs),
                    *(percent(s.coverage[q]) if kind == "bound" else "" for q in LEVELS),
                    str(s.unbounded) if kind == "bound" else "",
                    *(seconds(s.pinball[q]) for q in LEVELS),
                    *(
                        [seconds(s.error), percent(s.within[0]), percent(s.within[1])]
                        if kind != "bound"
                        else ["", "", ""]
                    ),
                ]
            )
    return lines


def percent(value):
    return "NA" if math.isnan(value) else f"{100 * value:.1f} %"


def seconds(value):
    return "NA" if math.isnan(value) else f"{value:.0f} s"
