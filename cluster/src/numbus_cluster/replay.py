"""One queue through time: what was known at each moment, and bounds from that alone."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from .bounds import fewest, rank, summary

__all__ = ["NEVER", "Changes", "Forecast", "Queue", "queue_of"]

NEVER = 1 << 40  # a start that has not come
WINDOW = 1000  # started jobs
LEVEL, CONFIDENCE = 0.95, 0.95  # of the bound that says until when a job is waited for
# Of the test for a change, in standard deviations: the slack that a rank may have, and the sum of
# ranks beyond it that shows a change. Independent waits reach it once in some 180,000 jobs.
SLACK, ALARM = 0.5, 10.0
HALF, PRIOR, MOST_DEPENDENT = 0.999, 100.0, 0.8  # of the correlation of ranks


@dataclass
class Forecast:
    """What is known at a moment: quantiles and bounds in seconds, by level; infinite without one.

    started, pending: how many jobs of each kind they rest on; since: when the window was restarted
    (seconds since 1970), or None.
    """

    estimates: dict
    bounds: dict
    started: int
    pending: int
    since: int | None


class Changes:
    """A test for a change of waits, from the rank of each among the waits that were known when it
    was forecast: a number from 0 to 1, uniform whatever the waits' distribution, while it lasts.

    Two sums run, of how far ranks lie above the middle, and below it; each begins anew where it
    would fall below zero, and the job at which it began is where the change came. E. S. Page,
    Continuous inspection schemes, Biometrika 41 (1954); with ranks, D. McDonald, A cusum procedure
    based on sequential ranks, Naval Research Logistics 37 (1990).
    """

    def __init__(self):
        self.sums = {1: [0.0, 0], -1: [0.0, 0]}  # by direction: the sum, the index where it began
        self.before = self.products = self.squares = 0.0

    def add(self, index, rank):
        """Takes the rank of the next job; returns the index at which a change came, or None."""
        score = (rank - 0.5) * math.sqrt(12)
        self.products = self.products * HALF + score * self.before
        self.squares = self.squares * HALF + score * score
        self.before = score
        # Sums of ranks that resemble the one before vary by this factor more.
        follow = min(max(self.products / (self.squares + PRIOR), 0.0), MOST_DEPENDENT)
        alarm = ALARM * (1 + follow) / (1 - follow)
        for sign, state in self.sums.items():
            if state[0] == 0.0:
                state[1] = index
            state[0] = max(0.0, state[0] + sign * score - SLACK)
            if state[0] >= alarm:
                first = state[1]
                for other in self.sums.values():
                    other[0] = 0.0
                return first
        return None


class Queue:
    """Jobs of one kind in the order in which they became eligible, and a moment that advances.

    eligible, start, gone: seconds since 1970; NEVER where a job has not started, or has not gone
    away unstarted. At a moment only what has happened by then is looked at.
    """

    def __init__(self, eligible, start, gone, window=WINDOW, restart=True):
        rank = np.argsort(eligible, kind="stable")
        self.eligible, self.start, self.gone = eligible[rank], start[rank], gone[rank]
        self.rank = rank
        self.window, self.restart = window, restart
        self.fewest = fewest(LEVEL, CONFIDENCE)
        self.changed = 0  # index of the first job after the last change
        self.changed_at = None
        self.restarts = []  # moments
        self.events = []  # heap of (moment, index, rank)
        self.ranks, self.next = {}, None  # ranks that are known, the first index that is looked for
        self.changes = Changes()

    def known(self, index, moment):
        """The window at a moment, of the jobs before `index`: (waits, observed)."""
        size, wanted = 0, self.window
        span = wanted + 64
        while True:
            low = max(0, index - span)
            has_started = self.start[low:index] <= moment
            size = int(has_started.sum())
            if size >= wanted or low == 0:
                break
            span *= 2
        after = max(self.changed - low, 0)
        since = int(has_started[after:].sum())
        # The jobs since the change, or as many before it as a bound needs.
        wanted = min(wanted, max(since, self.fewest)) if self.changed else wanted
        if size > wanted:
            places = np.flatnonzero(has_started)
            low += int(places[size - wanted])
        part = slice(low, index)
        eligible, start = self.eligible[part], self.start[part]
        observed = start <= moment
        until = np.where(observed, start, np.minimum(self.gone[part], moment))
        return np.maximum(until - eligible, 0).astype(np.float64), observed

    def forecast(self, index, moment, levels=(0.5, 0.9, LEVEL), confidence=CONFIDENCE):
        """The Forecast at a moment for a job that comes after `index` others."""
        return self.look(index, moment, levels, confidence)[0]

    def look(self, index, moment, levels, confidence):
        """(the Forecast, the curve of `summary` that it rests on)."""
        waits, observed = self.known(index, moment)
        estimates, bounds, curve = summary(waits, observed, levels, confidence)
        begun = int(observed.sum())
        return Forecast(estimates, bounds, begun, len(waits) - begun, self.changed_at), curve

    # ---- changes ---------------------------------------------------------------------------------
    def expect(self, index, forecast, curve):
        """Notes what was forecast for the job `index`, and when its wait's rank will have shown: as
        soon as it starts, goes away, or has waited longer than its bound. Of a wait that is only
        known to be longer it is the mean of the ranks above (the scores of R. Peto and J. Peto,
        J. Roy. Stat. Soc. A 135, 1972), so that giving up looks like no change.
        """
        if self.next is None:
            self.next = index
        eligible, start, gone = (int(a[index]) for a in (self.eligible, self.start, self.gone))
        bound = forecast.bounds[LEVEL]
        if math.isinf(bound):
            self.ranks[index] = None
            return
        due = eligible + int(bound)
        if start <= due:
            event = start, index, rank(curve, start - eligible)
        else:
            until = min(due, gone)
            event = until + 1, index, (rank(curve, until - eligible, 1.0) + 1) / 2
        heapq.heappush(self.events, event)

    def advance(self, moment):
        """Takes note of what has shown by a moment; restarts the window where the ranks of waits
        show a change. The jobs are looked at in the order in which they came, as of those that came
        last only the short waits are known.
        """
        while self.events and self.events[0][0] <= moment:
            when, index, self.ranks[index] = heapq.heappop(self.events)
            while self.next in self.ranks:
                index, shown = self.next, self.ranks.pop(self.next)
                self.next += 1
                # What was forecast before a change showed tells nothing of the time after it.
                if shown is None or self.eligible[index] < (self.changed_at or 0):
                    continue
                first = self.changes.add(index, shown)
                if first is not None and self.restart:
                    self.changed, self.changed_at = first, when
                    self.restarts.append(when)

    def run(self, first, last, levels=(0.5, 0.9, LEVEL), confidence=CONFIDENCE, every=1):
        """Yields (index, Forecast at the moment when it became eligible) of the jobs first … last.

        every: a new forecast is made for each so many jobs; those between share it.
        """
        asked = tuple(dict.fromkeys((*levels, LEVEL)))
        found = curve = None
        for index in range(first, last):
            moment = int(self.eligible[index])
            self.advance(moment)
            if found is None or (index - first) % every == 0:
                found, curve = self.look(index, moment, asked, confidence)
            self.expect(index, found, curve)
            yield index, found


def queue_of(jobs, begin="eligible", **options):
    """A Queue of Jobs; those whose times are unknown or contradict each other are left out."""
    eligible, start, end = jobs.time(begin), jobs.time("start"), jobs.time("end")
    keep = (eligible > 0) & ((start == 0) | (start >= eligible))
    eligible, start, end = eligible[keep], start[keep], end[keep]
    gone = np.where((start == 0) & (end > 0), np.maximum(end, eligible), NEVER)
    queue = Queue(eligible, np.where(start > 0, start, NEVER), gone, **options)
    queue.rows = np.flatnonzero(keep)[queue.rank]
    return queue
