"""Quantiles of waits and distribution-free upper bounds for them, with censored waits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

__all__ = ["fewest", "order", "orders", "quantiles", "rank", "summary", "survival", "upper_bounds"]


@lru_cache(64)
def orders(most, q, confidence):
    """k[n] for n = 0 … most: the smallest k with P(Bin(n, q) < k) ≥ confidence, n + 1 where there
    is none. The k-th smallest of n independent waits is then at least their q-quantile with that
    confidence, whatever their distribution.

    The order-statistic bound: W. R. Thompson, Ann. Math. Stat. 7 (1936); G. J. Hahn and W. Q.
    Meeker, Statistical Intervals (1991), section 5.2. For queues: J. Brevik, D. Nurmi and
    R. Wolski, Predicting bounds on queuing delay for batch-scheduled parallel machines, PPoPP 2006.
    """
    from scipy.special import bdtr

    n = np.arange(most + 1)
    out = n + 1
    # P(Bin(n, q) < k) grows with k: bisection for all n at once.
    low, high = np.zeros(most + 1, np.int64), n.copy()
    possible = bdtr(n - 1.0, n, q) >= confidence
    possible[0] = False
    while (low + 1 < high).any():
        middle = (low + high) // 2
        enough = bdtr(np.maximum(middle - 1.0, 0.0), n, q) >= confidence
        enough &= middle >= 1
        move = low + 1 < high
        high = np.where(move & enough, middle, high)
        low = np.where(move & ~enough, middle, low)
    out[possible] = high[possible]
    out.setflags(write=False)
    return out


def order(n, q, confidence):
    """k of `orders` for one n."""
    return int(orders(n, q, confidence)[n])


@lru_cache(64)
def fewest(q, confidence):
    """The smallest number of waits that gives a bound: 59 for q = confidence = 0.95."""
    most = 64
    while True:
        found = np.flatnonzero(orders(most, q, confidence) <= np.arange(most + 1))
        if len(found):
            return int(found[0])
        most *= 4


def survival(waits, observed):
    """(sorted waits, which of them were observed, share still waiting before each, number at risk).

    The product-limit estimate of E. L. Kaplan and P. Meier, J. Am. Stat. Assoc. 53 (1958): a job
    that has not started, or went away unstarted, has waited at least so long. waits: seconds;
    observed: false where they are censored. Of equal times the observed ones come first.
    """
    joined = np.concatenate([waits[observed], waits[~observed]])
    rank = np.argsort(joined, kind="stable")
    waits, observed = joined[rank], rank < np.count_nonzero(observed)
    risk = np.arange(len(waits), 0, -1)
    after = np.cumprod(1.0 - observed / risk)
    return waits, observed, np.concatenate([[1.0], after[:-1]]), risk


def summary(waits, observed, levels, confidence):
    """({level: estimate}, {level: upper bound}, curve) of the quantiles of waits; infinite where
    the waits are too few, or censoring hides them. curve: sorted waits, and the share of jobs that
    have started by each.

    The estimates are those of the product limit. Without censored waits the bounds are the order
    statistics of `orders`. With them the share that has started by a wait is the product-limit
    estimate, and n is its effective number at risk, r / S (R. Peto et al., Brit. J. Cancer 35
    (1977), 1-39, appendix 3), which is n again where nothing is censored.
    """
    if not len(waits):
        nothing = np.zeros(0)
        infinite = dict.fromkeys(levels, np.inf)
        return infinite, dict(infinite), (nothing, nothing)
    waits, observed, before, risk = survival(waits, observed)
    started = 1.0 - before * (1.0 - observed / risk)
    effective = np.divide(risk, before, out=np.zeros(len(waits)), where=before > 0)
    n = np.minimum((effective + 1e-6).astype(np.int64), len(waits))
    estimates, bounds = {}, {}
    for q in levels:
        estimates[q] = first(waits, observed & (started >= q - 1e-9))
        k = orders(rounded(len(waits)), q, confidence)[n]
        bounds[q] = first(waits, observed & (k <= n) & (started * n >= k - 1e-6))
    return estimates, bounds, (waits, started)


def rank(curve, wait, ties=0.5):
    """The share of jobs that have started by a wait, from 0 to 1, by the curve of `summary`; of the
    jobs that waited exactly so long it counts the share `ties`.
    """
    waits, started = curve
    below, to = (int(np.searchsorted(waits, wait, side)) for side in ("left", "right"))
    low, high = (started[i - 1] if i else 0.0 for i in (below, to))
    return float(low + ties * (high - low))


def quantiles(waits, observed, levels):
    """The estimates of `summary`, as a list."""
    return list(summary(waits, observed, tuple(levels), 0.5)[0].values())


def upper_bounds(waits, observed, levels, confidence):
    """The bounds of `summary`, as a list."""
    return list(summary(waits, observed, tuple(levels), confidence)[1].values())


def rounded(n):
    """A size of the table of `orders` that many n share."""
    return max(1024, 1 << (int(n) - 1).bit_length())


def first(waits, mask):
    index = int(np.argmax(mask)) if len(mask) else 0
    return float(waits[index]) if len(mask) and mask[index] else np.inf
