"""Prices and deltas of European options.

Class: fused.
Method: Black and Scholes, 1973; the normal distribution by Abramowitz and Stegun 26.2.17.
"""

import numpy as np

SIZES = {"small": 25000, "middle": 800000, "large": 10000000}


def setup(n, rng):
    return rng.uniform(10, 100, n), rng.uniform(10, 100, n), rng.uniform(0.2, 3.0, n)


def normal(x):
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    tail = tail * np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)
    return np.where(x > 0.0, 1.0 - tail, tail)


def run(spot, strike, years):
    rate, sigma = 0.03, 0.25
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    delta = normal(d1)
    discount = strike * np.exp(-rate * years)
    call = spot * delta - discount * normal(d1 - root)
    return call, call - spot + discount, delta
