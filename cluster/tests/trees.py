"""The experiment with boosted trees: would they forecast better than the bound by counting?

    pip install scikit-learn; python cluster/tests/trees.py

Quantile trees (histogram gradient boosting) learn anew every 2,000 jobs from those whose waits
are known by then, with what is known when a job becomes eligible: its size, limit, hour, user and
class, how much is pending and running, the last waits of its class. They are compared on the same
jobs with the bounds of `backtest`.
"""

from __future__ import annotations

import argparse

import numpy as np
from numbus_cluster import backtest, trace
from numbus_cluster.replay import NEVER, Queue

LEVELS = backtest.LEVELS
EVERY = 2000  # jobs between two trainings
MOST = 20_000  # jobs to learn from


def features(made):
    """(table of what is known of each job when it becomes eligible, starts)."""
    start = np.where(made.cancelled, NEVER, made.submit + made.wait)
    kind = made.size_class + 4 * np.unique(made.partition, return_inverse=True)[1]
    n = len(start)
    columns = [
        made.cpus,
        made.limit,
        made.gpus,
        made.memory,
        made.user,
        kind,
        made.submit // 3600 % 24,
        made.submit // 86400 % 7,
    ]
    pending, running = np.zeros(n), np.zeros(n)
    recent = np.full((n, 3), np.nan)
    for k in np.unique(kind):
        rows = np.flatnonzero(kind == k)
        submit = made.submit[rows]
        begun = np.sort(start[rows])
        ended = np.sort(np.where(start[rows] < NEVER, start[rows] + made.run[rows], NEVER))
        left = np.sort(np.where(made.cancelled[rows], submit + made.wait[rows] // 2, NEVER))
        here = np.searchsorted(begun, submit, side="right")
        pending[rows] = np.arange(len(rows)) - here - np.searchsorted(left, submit, side="right")
        running[rows] = here - np.searchsorted(ended, submit, side="right")
        order = np.argsort(start[rows], kind="stable")
        waits = made.wait[rows][order].astype(float)
        sums = np.concatenate([[0.0], np.cumsum(np.log1p(waits))])
        for column, size in enumerate((1, 10, 100)):
            low = np.maximum(here - size, 0)
            with np.errstate(invalid="ignore"):
                recent[rows, column] = (sums[here] - sums[low]) / (here - low)
    return np.column_stack([*columns, pending, running, recent]), start, kind


def trees(made, table, start, first):
    """Predictions by level for the jobs from `first` on; NaN before."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    out = {q: np.full(len(start), np.nan) for q in LEVELS}
    for begin in range(first, len(start), EVERY):
        part = slice(begin, min(begin + EVERY, len(start)))
        known = np.flatnonzero(start[:begin] <= made.submit[begin])[-MOST:]
        for q in LEVELS:
            model = HistGradientBoostingRegressor(
                loss="quantile", quantile=q, max_iter=100, learning_rate=0.08, random_state=0
            )
            # Waits span four decades: the logarithm keeps quantiles, and trees split it better.
            model.fit(table[known], np.log1p(made.wait[known]))
            out[q][part] = np.expm1(model.predict(table[part]))
    return out


def counted(made, start, kind, first):
    """The bounds and estimates of `backtest` for the same jobs."""
    bounds = {q: np.full(len(start), np.nan) for q in LEVELS}
    estimates = {q: np.full(len(start), np.nan) for q in LEVELS}
    gone = np.where(made.cancelled, made.submit + made.wait // 2, NEVER)
    for k in np.unique(kind):
        rows = np.flatnonzero(kind == k)
        queue = Queue(made.submit[rows], start[rows], gone[rows])
        begin = max(int(np.searchsorted(rows, first)) - 1500, 60)
        for index, found in queue.run(begin, len(rows), LEVELS):
            for q in LEVELS:
                bounds[q][rows[index]] = found.bounds[q]
                estimates[q][rows[index]] = found.estimates[q]
    return bounds, estimates


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--jobs", type=int, default=20_000)
    options = p.parse_args()
    traces = {
        "independent waits": {},
        "correlated (0.7)": {"memory": 0.7},
        "eight times as long from 60 % on": {"regimes": ((0.0, 1.0), (0.6, 8.0))},
    }
    print("trace\tprediction\t95 % covers\tpinball 50 %\t90 %\t95 %")
    for name, keys in traces.items():
        made = trace.generate(options.jobs, seed=5, **keys)
        table, start, kind = features(made)
        first = options.jobs // 2
        learned = trees(made, table, start, first)
        bounds, estimates = counted(made, start, kind, first)
        use = (np.arange(options.jobs) >= first) & (start < NEVER)
        for q in LEVELS:
            use &= np.isfinite(bounds[q]) & np.isfinite(learned[q])
        wait = made.wait[use].astype(float)
        for kind_name, values in (("bound", bounds), ("estimate", estimates), ("trees", learned)):
            covered = np.mean(wait <= values[0.95][use])
            losses = [f"{backtest.pinball(wait, values[q][use], q):.0f} s" for q in LEVELS]
            print(name, kind_name, f"{100 * covered:.1f} %", *losses, sep="\t", flush=True)


if __name__ == "__main__":
    main()
