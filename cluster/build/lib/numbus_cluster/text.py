"""Numbers and names as text: durations, and names that cannot break a table or a terminal."""

from __future__ import annotations

import datetime
import math

__all__ = ["clock", "duration", "printable"]


def printable(text, limit=64):
    """The text with everything that is not printable as \\x escapes, cut to `limit` characters.

    Tabs, newlines, escape sequences and marks that reorder a line cannot leave their cell.
    """
    safe = "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def duration(seconds):
    """Seconds as '12.0 s', '8.2 m' or '14.6 h'; NA where there is none, ∞ without a bound."""
    if seconds is None or math.isnan(seconds):
        return "NA"
    if math.isinf(seconds):
        return "∞"
    # The limits are those of the rounded numbers, so that nothing reads 60.0 s or 60.0 m.
    if abs(seconds) < 59.95:
        return f"{seconds:.1f} s"
    if abs(seconds) / 60 < 59.95:
        return f"{seconds / 60:.1f} m"
    return f"{seconds / 3600:.1f} h"


def clock(epoch, zone="UTC"):
    """Seconds since 1970 as '2024-02-29 13:05 UTC'."""
    if epoch is None:
        return "unknown"
    moment = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M}" + f" {zone}" * bool(zone)
