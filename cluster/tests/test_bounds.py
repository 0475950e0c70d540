"""The order-statistic bound and the product-limit estimate, against SciPy and by simulation."""

import numpy as np
import pytest
from numbus_cluster.bounds import fewest, order, orders, quantiles, survival, upper_bounds
from scipy import stats


def test_fewest():
    assert fewest(0.95, 0.95) == 59 and order(59, 0.95, 0.95) == 59 and order(58, 0.95, 0.95) == 59
    assert fewest(0.9, 0.95) == 29 and fewest(0.5, 0.95) == 5


@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_orders_are_scipys(q, confidence):
    """The smallest k with P(Bin(n, q) < k) ≥ c, from SciPy's distribution."""
    found = orders(400, q, confidence)
    for n in range(1, 401, 7):
        below = stats.binom.cdf(np.arange(n), n, q)  # P(Bin < 1), P(Bin < 2), …
        # Where both are equal, as for q = c = ½, rounding decides.
        allowed = {
            next((k for k, p in enumerate(below, 1) if p >= confidence + shift), n + 1)
            for shift in (-1e-12, 1e-12)
        }
        assert found[n] in allowed


@pytest.mark.parametrize("draw", ["lognormal", "pareto", "exponential"])
def test_the_bound_holds_with_its_confidence(draw):
    """Of 2,000 samples, at least about 95 % have a bound above the true quantile."""
    rng = np.random.default_rng(3)
    law = {
        "lognormal": stats.lognorm(1.5),
        "pareto": stats.pareto(1.1),
        "exponential": stats.expon(),
    }[draw]
    for n, q in ((59, 0.95), (200, 0.5), (300, 0.9)):
        waits = law.rvs((2000, n), random_state=rng)
        k = order(n, q, 0.95)
        above = np.mean(np.sort(waits, axis=1)[:, k - 1] >= law.ppf(q))
        exact = stats.binom.cdf(k - 1, n, q)
        assert exact >= 0.95
        assert above == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000) + 1e-9)


def test_without_censoring_bounds_are_order_statistics():
    rng = np.random.default_rng(4)
    for n in (59, 60, 93, 500, 1000):
        waits = rng.integers(0, 400, n).astype(float)  # with ties
        observed = np.ones(n, bool)
        for q, bound in zip(
            (0.5, 0.9, 0.95), upper_bounds(waits, observed, (0.5, 0.9, 0.95), 0.95)
        ):
            assert bound == np.sort(waits)[order(n, q, 0.95) - 1]
        for q, found in zip((0.5, 0.9), quantiles(waits, observed, (0.5, 0.9))):
            assert found == np.quantile(waits, q, method="inverted_cdf")
    few = upper_bounds(np.arange(58.0), np.ones(58, bool), (0.95,), 0.95)
    assert few == [np.inf]


def test_survival_is_scipys():
    """The product-limit estimate against scipy.stats.ecdf, which knows censoring too."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(2, 200))
        waits, observed = rng.integers(0, 60, n).astype(float), rng.random(n) < 0.7
        if not observed.any():
            continue
        found = stats.ecdf(stats.CensoredData.right_censored(waits, ~observed)).sf
        times, seen, before, risk = survival(waits, observed)
        after = before * (1 - seen / risk)
        for time, want in zip(found.quantiles, found.probabilities):
            last = np.flatnonzero(times == time)[-1]
            assert after[last] == pytest.approx(want, abs=1e-12)


def test_censored_waits_raise_the_bound():
    """Jobs that still wait longer than all others must not be taken as short waits."""
    waits, observed = np.arange(1.0, 301.0), np.ones(300, bool)
    plain = upper_bounds(waits, observed, (0.9,), 0.95)[0]
    longer = np.concatenate([waits, np.full(10, 1000.0)])
    censored = np.concatenate([observed, np.zeros(10, bool)])
    assert upper_bounds(longer, censored, (0.9,), 0.95)[0] > plain
    # Those that have only just come say nothing.
    fresh = np.concatenate([waits, np.zeros(1000)])
    censored = np.concatenate([observed, np.zeros(1000, bool)])
    assert upper_bounds(fresh, censored, (0.9,), 0.95)[0] == plain


def test_a_censored_sample_still_holds():
    """Waits cut off by the moment of the forecast: coverage of the true 90 % stays at 95 %."""
    rng = np.random.default_rng(6)
    law, held = stats.lognorm(1.0), 0
    for _ in range(1000):
        waits, age = law.rvs(300, random_state=rng), rng.uniform(0, 12, 300)
        observed = waits <= age
        bound = upper_bounds(np.where(observed, waits, age), observed, (0.9,), 0.95)[0]
        held += bound >= law.ppf(0.9)
    assert held / 1000 >= 0.93
