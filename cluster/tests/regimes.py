"""How the 95 % bound covers after a change of regime, on eight traces for each kind of change.

    python cluster/tests/regimes.py

Waits are log-normal (median six minutes, σ = 1) and independent; jobs of the class arrive every 16
minutes on average; in the middle of the trace waits become 8, 1/8 or 3 times as long.
"""

from __future__ import annotations

import numpy as np
from numbus_cluster import backtest, trace
from numbus_cluster.replay import NEVER, Queue

ONE = {"int": (1.0, (6.0, 6.0, 6.0, 6.0), 0)}
SPANS = ((0, 100), (100, 200), (100, 1500), (500, 2500))


def main():
    print("factor", "seed", *(f"jobs {a} to {b}" for a, b in SPANS), "restarts", "all", sep="\t")
    for factor in (8, 0.125, 3):
        for seed in range(1, 9):
            made = trace.generate(
                12_000,
                seed=seed,
                partitions=ONE,
                daily=False,
                days=60,
                regimes=((0.0, 1.0), (0.5, factor)),
            )
            rows = made.size_class == 0
            submit, wait, gone = made.submit[rows], made.wait[rows], made.cancelled[rows]
            queue = Queue(
                submit,
                np.where(gone, NEVER, submit + wait),
                np.where(gone, submit + wait // 2, NEVER),
            )
            found = backtest.predictions(queue)
            change = int(np.searchsorted(found.eligible, trace.BEGIN + 30 * 86400))
            covered = []
            for first, last in SPANS:
                part = slice(change + first, change + last)
                covered.append(
                    backtest.coverage(
                        found.wait[part], found.censored[part], found.bounds[0.95][part]
                    )
                )
            whole = backtest.score(found, None, found.bounds).coverage[0.95]
            print(
                factor,
                seed,
                *(f"{100 * c:.1f} %" for c in covered),
                len(queue.restarts),
                f"{100 * whole:.1f} %",
                sep="\t",
                flush=True,
            )


if __name__ == "__main__":
    main()
