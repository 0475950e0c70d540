"""Numbers as people read them."""

from __future__ import annotations

import math
import re

__all__ = ["about", "bytes_text", "count", "digits", "power", "rate", "seconds", "tick", "times"]

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def power(exponent):
    """10⁶ for 6."""
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def digits(x, most=3):
    """Three significant digits, without an exponent."""
    if x == 0 or not math.isfinite(x):
        return f"{x:g}"
    decimals = max(0, most - 1 - math.floor(math.log10(abs(x)) + 1e-9))
    return f"{x:,.{min(decimals, 6)}f}"


def _scaled(x, units):
    for unit, factor in units:
        if abs(x) >= factor * 0.9995:
            return f"{digits(x / factor)} {unit}"
    unit, factor = units[-1]
    return f"{digits(x / factor)} {unit}"


def seconds(t):
    """12.3 ms"""
    return _scaled(t, (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)))


def rate(x, unit):
    """1.23 TB/s for unit 'B/s'."""
    prefixes = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
    return _scaled(x, [(prefix + unit, factor) for prefix, factor in prefixes])


def bytes_text(x):
    """800 MB"""
    return rate(x, "B")


def rounded(x, most=2):
    """The number with `most` significant digits."""
    return round(x, most - 1 - math.floor(math.log10(abs(x)))) if x else 0.0


def times(x):
    """0.34×, 3.4×, 34×, 344×, 3,440×"""
    return f"{digits(rounded(x, 3) if x >= 100 else x, 2)}×"


def about(x):
    """A size known to two digits: 1,600"""
    return f"{rounded(x):,.0f}"


def tick(text):
    """A label of an axis: 10 ms for 10.0 ms."""
    return re.sub(r"[.]0+(?=\D|$)", "", text)


def count(x):
    """1,234; 10⁸ where it is a large power of ten."""
    if x >= 1e5 and math.log10(x) % 1 == 0:
        return power(round(math.log10(x)))
    return f"{x:,.0f}"
