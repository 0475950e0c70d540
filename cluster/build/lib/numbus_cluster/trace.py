"""`sample`: a made-up cluster's accounting, with waits of a known distribution."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

__all__ = ["Trace", "generate", "run", "write_sacct"]

BEGIN = 1_704_067_200  # 2024-01-01T00:00:00
COLUMNS = (
    "JobID",
    "Partition",
    "User",
    "QOS",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "State",
    "ReqCPUS",
    "NNodes",
    "ReqMem",
    "Timelimit",
    "ReqTRES",
    "AllocTRES",
)
# partition: (share of the jobs, median wait of each size class in minutes, GPUs of a job at most)
PARTITIONS = {
    "medium": (0.7, (6.0, 35.0, 70.0, 300.0), 0),
    "gpu": (0.2, (12.0, 45.0, 120.0, 500.0), 4),
    "int": (0.1, (0.2, 0.5, 1.5, 4.0), 0),
}
EDGES = (4.0, 16.0, 64.0)
SIZES = (0.45, 0.2, 0.2, 0.15)


@dataclass
class Trace:
    """Arrays over jobs: text columns by sacct's names are made from them by write_sacct."""

    partition: np.ndarray
    user: np.ndarray
    submit: np.ndarray
    wait: np.ndarray
    run: np.ndarray
    cpus: np.ndarray
    limit: np.ndarray
    gpus: np.ndarray
    memory: np.ndarray
    size_class: np.ndarray
    cancelled: np.ndarray
    end: int


def generate(
    jobs=20_000,
    seed=1,
    days=None,
    spread=1.0,
    memory=0.0,
    regimes=((0.0, 1.0),),
    partitions=PARTITIONS,
    cancelled=0.01,
    daily=True,
):
    """A Trace. Its model:

    Jobs arrive by a Poisson process, by day 1.6 times as often as on average if `daily`. A job's
    partition and size class are drawn; its wait is
        median(partition, class) · regime · exp(spread · z),
    with z standard normal, so that waits of a class are log-normal with known quantiles. Within a
    partition and class z is an autoregression with coefficient `memory`, 0 for independent waits.
    regimes: (share of the trace, factor) from there on. A share `cancelled` gives up before its
    start. Users ask for 1.2 to 10 times what they use, each by a ratio of their own.
    """
    rng = np.random.default_rng(seed)
    days = days or jobs / 1000
    span = days * 86400
    grid = np.linspace(0, span, max(2, int(days * 48)))
    rate = 1 + 0.6 * np.sin(2 * np.pi * (grid / 86400 - 0.375)) if daily else np.ones(len(grid))
    cumulated = np.concatenate([[0], np.cumsum((rate[1:] + rate[:-1]) / 2)])
    submit = np.interp(np.sort(rng.random(jobs)) * cumulated[-1], cumulated, grid)
    names = list(partitions)
    shares = np.array([partitions[name][0] for name in names])
    which = rng.choice(len(names), jobs, p=shares / shares.sum())
    size_class = rng.choice(len(SIZES), jobs, p=SIZES)
    z = rng.standard_normal(jobs)
    if memory:
        for code in range(len(names)):
            for size in range(len(SIZES)):
                rows = np.flatnonzero((which == code) & (size_class == size))
                previous = 0.0
                for row in rows:
                    previous = memory * previous + np.sqrt(1 - memory**2) * z[row]
                    z[row] = previous
    median = np.array([partitions[name][1] for name in names])[which, size_class] * 60
    factor = np.ones(jobs)
    for share, value in regimes:
        factor[submit >= share * span] = value
    wait = median * factor * np.exp(spread * z)
    # Sizes: log-uniform within the class; a share of it in CPUs, the rest in hours.
    low = np.array([0.25, *EDGES])[size_class]
    high = np.array([*EDGES, 512.0])[size_class]
    hours = np.exp(rng.uniform(np.log(1.01 * low), np.log(0.999 * high)))
    cpus = 2 ** rng.integers(0, np.array([2, 4, 5, 7])[size_class])
    limit = np.maximum(np.floor(hours / cpus * 60), 1) * 60
    users = max(3, min(60, jobs // 50))
    user = np.minimum(rng.zipf(1.6, jobs) - 1, users - 1)
    ratio = rng.uniform(0.1, 0.85, users)
    run = limit * np.clip(ratio[user] * np.exp(0.25 * rng.standard_normal(jobs)), 0.002, 1.0)
    most = np.array([partitions[name][2] for name in names])[which]
    gpus = np.where(most > 0, rng.integers(1, np.maximum(most, 1) + 1), 0)
    return Trace(
        np.array(names)[which],
        user,
        submit.astype(np.int64) + BEGIN,
        np.floor(wait).astype(np.int64),
        np.ceil(run).astype(np.int64),
        cpus,
        limit.astype(np.int64),
        gpus,
        cpus * 2 ** rng.integers(0, 4, jobs),
        size_class,
        rng.random(jobs) < cancelled,
        BEGIN + int(span),
    )


def write_sacct(trace, file, extra=None):
    """Writes the trace as `sacct --parsable2` would have printed it at its end: what had not
    started by then is pending. extra: {column: texts} to print too.
    """
    start, now = trace.submit + trace.wait, trace.end
    end = start + trace.run
    gone = trace.cancelled & (trace.submit + trace.wait // 2 < now)
    started = ~trace.cancelled & (start <= now)
    ended = started & (end <= now)

    def moments(seconds, known):
        texts = np.datetime_as_string(seconds.astype("M8[s]"))
        return np.where(known, texts, "Unknown").tolist()

    submit = moments(trace.submit, np.ones(len(start), bool))
    starts = moments(start, started)
    ends = moments(np.where(gone, trace.submit + trace.wait // 2, end), ended | gone)
    states = np.select(
        [gone, ended, started], ["CANCELLED by 1000", "COMPLETED", "RUNNING"], "PENDING"
    ).tolist()
    print("|".join((*COLUMNS, *(extra or ()))), file=file)
    for i, (partition, user, cpus, limit, gpus, memory) in enumerate(
        zip(
            trace.partition.tolist(),
            trace.user.tolist(),
            trace.cpus.tolist(),
            trace.limit.tolist(),
            trace.gpus.tolist(),
            trace.memory.tolist(),
        )
    ):
        days, rest = divmod(limit, 86400)
        text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
        tres = f"billing={cpus},cpu={cpus},mem={memory}G,node=1"
        if gpus:
            tres += f",gres/gpu={gpus}"
        fields = [
            str(1000 + i),
            partition,
            f"user{user}",
            "normal",
            submit[i],
            submit[i],
            starts[i],
            ends[i],
            states[i],
            str(cpus),
            "1",
            f"{memory}G",
            f"{days}-{text}" if days else text,
            tres,
            tres if started[i] else "",
            *(texts[i] for texts in (extra or {}).values()),
        ]
        print("|".join(fields), file=file)


def run(options):
    """The command."""
    regimes = ((0.0, 1.0), (0.6, options.change)) if options.change else ((0.0, 1.0),)
    trace = generate(options.jobs, options.seed, memory=options.memory, regimes=regimes)
    write_sacct(trace, sys.stdout)
    return 0
