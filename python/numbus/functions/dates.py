"""Business days, and dates that are none: array code over the days since 1970-01-01 that NumPy's
dates hold.
"""

import numpy

from ..core.errors import message
from ..core.operands import store, to_ndarray
from ..core.ufuncs import UFUNCS
from . import names as np

__all__ = ["busday_count", "busday_offset", "is_busday", "isnat"]

_DAY = numpy.dtype("datetime64[D]")
_NAT = numpy.iinfo(numpy.int64).min
_ROLLS = """raise nat forward following backward preceding modifiedfollowing
    modifiedpreceding""".split()


def isnat(x, /, out=None, **kwargs):
    """Where dates, or their differences, are none ("not a time"): bool.

    kwargs: those of ufuncs. Raises TypeError for what is neither dates nor differences.
    """
    dates = numpy.asarray(x)
    if dates.dtype.kind not in "mM":
        raise TypeError(message("isnat", "no dates", dates.dtype, "datetime64 or timedelta64"))
    ticks = dates.astype(dates.dtype.newbyteorder("="), copy=False).view(numpy.int64)
    return UFUNCS["equal"](to_ndarray(ticks), _NAT, out=out, **kwargs)


def is_busday(dates, weekmask="1111100", holidays=None, busdaycal=None, out=None):
    """Whether each date is a business day, bool: a day of the week that `weekmask` has, and none of
    the holidays. busdaycal: a numpy.busdaycalendar with both. "Not a time" is none.
    """
    week = _Week("is_busday", weekmask, holidays, busdaycal)
    days = _days("is_busday", dates)
    result = np.logical_and(week.holds(days), days != _NAT)
    return result if out is None else store("is_busday", np.asarray(result), out)


def busday_count(begindates, enddates, weekmask="1111100", holidays=(), busdaycal=None, out=None):
    """The business days from the first date up to the second one, which does not count: int64; less
    than zero where the second one is earlier, and then counts itself and the first does not.

    Arguments as of is_busday(). Raises ValueError for dates that are none.
    """
    week = _Week("busday_count", weekmask, holidays, busdaycal)
    first, last = _days("busday_count", begindates), _days("busday_count", enddates)
    if bool(np.any(first == _NAT)) or bool(np.any(last == _NAT)):
        raise ValueError(message("busday_count", "a date that is none", "NaT", "dates"))
    back = last < first
    count = week.before(last + back) - week.before(first + back)
    return count if out is None else store("busday_count", np.asarray(count), out)


def busday_offset(
    dates, offsets, roll="raise", weekmask="1111100", holidays=None, busdaycal=None, out=None
):
    """The business days so many business days after the dates: NumPy's dates, which only it holds.

    roll: what becomes of other dates first: raise (ValueError), nat, forward or following, backward
    or preceding, modifiedfollowing and modifiedpreceding, which turn round where the month would
    change. Other arguments as of is_busday(). Raises TypeError for arrays of offsets that are no
    integers.
    """
    op = "busday_offset"
    if roll not in _ROLLS:
        raise ValueError(message(op, "unknown roll", repr(roll), ", ".join(_ROLLS)))
    week = _Week(op, weekmask, holidays, busdaycal)
    days = _days(op, dates)
    # As NumPy, which makes integers of the numbers in lists.
    held = hasattr(offsets, "dtype")
    by = numpy.asarray(offsets) if held else numpy.asarray(offsets, numpy.int64)
    if not numpy.can_cast(by.dtype, numpy.int64, "safe"):
        raise TypeError(message(op, "offsets are no integers", by.dtype, "int64"))
    none = days == _NAT
    days = np.where(none, 0, days)
    start = np.asarray(_rolled(op, week, days, none, roll))
    found = week.day(week.before(start) + to_ndarray(by.astype(numpy.int64)))
    if roll == "nat":
        none = np.logical_or(none, np.logical_not(week.holds(days)))
    result = numpy.asarray(np.where(none, _NAT, found)).view(_DAY)
    if out is None:
        return result[()]
    if not isinstance(out, numpy.ndarray) or out.dtype.kind != "M":
        raise TypeError(message(op, "out holds no dates", type(out).__name__, "NumPy's array"))
    if out.shape != result.shape:
        raise ValueError(message(op, "wrong shape of out", out.shape, result.shape))
    out[...] = result
    return out


def _rolled(op, week, days, none, roll):
    """Each day as a business day."""
    if roll == "raise":
        if bool(np.any(none)) or not bool(np.all(week.holds(days))):
            raise ValueError(message(op, "no business day", "one of these dates", "roll=…"))
        return days
    later = week.day(week.before(days))
    earlier = week.day(week.before(days + 1) - 1)
    if roll == "modifiedfollowing":
        return np.where(_month(later) == _month(days), later, earlier)
    if roll == "modifiedpreceding":
        return np.where(_month(earlier) == _month(days), earlier, later)
    return earlier if roll in ("backward", "preceding") else later


def _month(days):
    """A number of each month, by the cycle of 400 years that begins on the first of a March."""
    since = days + 719468
    cycle = since // 146097
    day = since - cycle * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day = day - (365 * year + year // 4 - year // 100)
    return (cycle * 400 + year) * 12 + (5 * day + 2) // 153


def _days(op, dates):
    """Dates as int64: days since 1970-01-01."""
    found = numpy.asarray(dates)
    if found.dtype.kind != "M":
        found = numpy.asarray(dates, _DAY)
    if not numpy.can_cast(found.dtype, _DAY, "safe"):
        raise TypeError(message(op, "dates of another unit", found.dtype, _DAY))
    return to_ndarray(found.astype(_DAY).view(numpy.int64))


class _Week:
    """Which days are business days; those before a day, and the day that so many are before."""

    def __init__(self, op, weekmask, holidays, busdaycal):
        if busdaycal is None:
            busdaycal = numpy.busdaycalendar(weekmask, () if holidays is None else holidays)
        elif holidays or weekmask != "1111100":
            raise ValueError(message(op, "a calendar and days", "both", "busdaycal alone"))
        mask = busdaycal.weekmask
        self._mask = to_ndarray(mask.copy())
        self._count = int(mask.sum())
        self._prefix = to_ndarray(numpy.concatenate([[0], numpy.cumsum(mask)])[:7])
        self._weekday = to_ndarray(numpy.flatnonzero(mask))
        self._holidays = to_ndarray(busdaycal.holidays.view(numpy.int64).copy())
        order = numpy.arange(len(busdaycal.holidays))
        self._held = self._of_week(self._holidays) - to_ndarray(order)  # before each holiday

    def holds(self, days):
        return np.logical_and(
            self._mask[(days + 3) % 7], np.logical_not(np.isin(days, self._holidays))
        )

    def _of_week(self, days):
        """How many days of the week's before each are none of the mask's, from some Monday on."""
        since = days + 3  # 1970-01-01 was a Thursday
        return since // 7 * self._count + self._prefix[since % 7]

    def before(self, days):
        """The number of each day's first business day at or after it."""
        return self._of_week(days) - np.searchsorted(self._holidays, days, "left")

    def day(self, number):
        """The business day of each number."""
        number = number + np.searchsorted(self._held, number, "right")
        return number // self._count * 7 + self._weekday[number % self._count] - 3
