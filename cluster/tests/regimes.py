"""How the 95 % bound covers after a change of regime, on sixteen traces for each kind of change.

    python cluster/tests/regimes.py [--traces 16] [--each]

Waits are log-normal (median six minutes, σ = 1) and independent; jobs of the class arrive every 16
minutes on average; in the middle of the trace waits become 3, 1/3, 8 or 1/8 times as long, or stay.
Then traces without a change whose waits resemble the one before (coefficient 0.5 or 0.8), and a
dense one, with 250 jobs waiting at a time.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from numbus_cluster import backtest, trace
from numbus_cluster.replay import NEVER, Queue

SIX, LONG = ({"int": (1.0, (minutes,) * 4, 0)} for minutes in (6.0, 360.0))
SPANS = ((0, 100), (100, 200), (100, 1500))
FACTORS = (3.0, 1 / 3, 8.0, 1 / 8, 1.0)
STEADY = {  # traces without a change
    "correlated 0.5": {"memory": 0.5, "days": 60},
    "correlated 0.8": {"memory": 0.8, "days": 60},
    "dense": {"partitions": LONG, "days": 12},
    "dense, correlated 0.6": {"memory": 0.6, "partitions": LONG, "days": 12},
}


def queue_of(made):
    """The Queue of one class of a Trace."""
    rows = made.size_class == 0
    submit, wait, gone = made.submit[rows], made.wait[rows], made.cancelled[rows]
    start, end = np.where(gone, NEVER, submit + wait), np.where(gone, submit + wait // 2, NEVER)
    return Queue(submit, start, end)


def changed(factor, seed):
    """(coverage in each of SPANS after the change, of all, pinball loss, restarts)."""
    made = trace.generate(
        12_000,
        seed=seed,
        partitions=SIX,
        daily=False,
        days=60,
        regimes=((0.0, 1.0), (0.5, factor)),
    )
    queue = queue_of(made)
    found = backtest.predictions(queue)
    change = int(np.searchsorted(found.eligible, trace.BEGIN + 30 * 86400))
    parts = [slice(change + first, change + last) for first, last in SPANS]
    covered = [
        backtest.coverage(found.wait[p], found.censored[p], found.bounds[0.95][p]) for p in parts
    ]
    whole = backtest.score(found, None, found.bounds)
    return [*covered, whole.coverage[0.95], whole.pinball[0.95], len(queue.restarts)]


def steady(options, seed):
    """(coverage, pinball loss, restarts) of a trace without a change."""
    queue = queue_of(trace.generate(12_000, seed=seed, **{"partitions": SIX, **options}))
    found = backtest.predictions(queue)
    whole = backtest.score(found, None, found.bounds)
    return [whole.coverage[0.95], whole.pinball[0.95], len(queue.restarts)]


def percent(values):
    """The mean of shares, the smallest and the largest."""
    values = 100 * np.array(values)
    return f"{values.mean():.1f} % ({values.min():.1f} to {values.max():.1f})"


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--traces", type=int, default=16, metavar="N")
    p.add_argument("--each", action="store_true", help="print each trace, too")
    options = p.parse_args()
    seeds = range(1, options.traces + 1)
    spans = [f"jobs {first} to {last}" for first, last in SPANS]
    print("waits", *spans, "below 93 %", "all", "pinball 95 %", "restarts a trace", sep="\t")
    for factor in FACTORS:
        rows = [changed(factor, seed) for seed in seeds]
        if options.each:
            for seed, row in zip(seeds, rows):
                print(f"× {factor:.3g}", seed, *(f"{v:.3f}" for v in row), sep="\t")
        columns = list(zip(*rows))
        late = sum(share < 0.93 for share in columns[1])
        print(
            f"× {factor:.3g}",
            *map(percent, columns[:3]),
            f"{late} of {len(rows)}",
            percent(columns[3]),
            f"{np.mean(columns[4]):.1f} s",
            f"{np.mean(columns[5]):.2f}",
            sep="\t",
            flush=True,
        )
    for name, made in STEADY.items():
        columns = list(zip(*(steady(made, seed) for seed in seeds)))
        assert not any(map(math.isnan, columns[0]))
        print(
            name,
            *[""] * 4,
            percent(columns[0]),
            f"{np.mean(columns[1]):.1f} s",
            f"{np.mean(columns[2]):.2f}",
            sep="\t",
            flush=True,
        )


if __name__ == "__main__":
    main()
