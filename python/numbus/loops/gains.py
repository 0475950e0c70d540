"""What entries into compiled code have cost, against what CPython takes for the same iterations."""

import math

_SHARE = 0.9  # of CPython's time, which an entry may be expected to take
_MOST_RATE = 50.0
_NEW = 0.5  # weight of the last entry
_MORE = 1.25  # times what did not pay, from which a loop is looked at again


def per_item(this):
    """Seconds of an iteration in CPython. One measurement may hold a time in which other processes
    ran.
    """
    if not this.items:  # it has not run yet
        return this.per_item
    return min(this.per_item, this.seconds / this.items)


def expected(this, rest):
    """Seconds that CPython may take for what is left of a loop; where no end is in sight, those
    that it has taken each time.
    """
    if type(rest) is range:
        return len(rest) * per_item(this)
    if type(rest) is _list_iterator:
        return rest.__length_hint__() * per_item(this)
    return this.seconds / max(this.executions - this.entries, 1)


def budget(this, seconds):
    """The seconds, by the estimates of Held, that copies for an entry may take."""
    return max(seconds * (_SHARE - min(this.of_time, _SHARE)) / this.per_estimate, 0.0)


def note_refused(this, seconds):
    """Notes that an entry would not have paid."""
    this.least = max(this.least, _MORE * seconds)


def note(this, seconds, took, copied, estimate):
    """Notes an entry that has taken the place of these seconds of CPython's: it took so long in
    all, of which `copied` were no iterations, for which Held had an estimate.
    """
    if not 0 < seconds < math.inf:
        return
    if estimate * 10 < copied:
        # What was copied is what the loop has made.
        this.of_time = _mean(this.of_time, took / seconds)
    else:
        rate = min(max(copied / estimate, 1.0), _MOST_RATE)
        this.per_estimate = _mean(this.per_estimate, rate)
        this.of_time = _mean(this.of_time, (took - copied) / seconds)
    if took > seconds:
        note_refused(this, seconds)


def _mean(before, now):
    return before + _NEW * (now - before)


_list_iterator = type(iter([]))
