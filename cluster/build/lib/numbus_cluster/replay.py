"""One queue through time: what was known at each moment, and bounds from that alone."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from .bounds import fewest, summary

__all__ = ["NEVER", "Forecast", "Queue", "queue_of"]

NEVER = 1 << 40  # a start that has not come
WINDOW = 1000  # started jobs
LEVEL, CONFIDENCE = 0.95, 0.95  # of the bound whose misses show a change
ALARM = 1e-3  # how improbable the run of misses must be
PRIOR, LONGEST_RUN = 10.0, 6
LOW, LOW_RUN = 0.25, 8  # a run of waits below the lower quartile shows a change for the better


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
        self.events = []  # heap of (moment, index, outcome)
        self.runs = {"miss": [0, 0], "low": [0, 0]}  # length, index of the first
        # Counted with a half-life, for how often a miss follows a miss.
        self.misses = self.pairs = 0.0
        self.before = False

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
        waits, observed = self.known(index, moment)
        estimates, bounds = summary(waits, observed, levels, confidence)
        begun = int(observed.sum())
        return Forecast(estimates, bounds, begun, len(waits) - begun, self.changed_at)

    # ---- changes ---------------------------------------------------------------------------------
    def expect(self, index, forecast):
        """Notes what was forecast for the job `index`, and when that will have shown."""
        eligible, start = int(self.eligible[index]), int(self.start[index])
        bound = forecast.bounds[LEVEL]
        if math.isinf(bound):
            return
        due = eligible + int(bound)
        if start <= due:
            quarter = forecast.estimates.get(LOW, 0.0)
            low = math.isfinite(quarter) and start - eligible < quarter
            heapq.heappush(self.events, (start, index, "low" if low else "hit"))
        elif self.gone[index] > due:
            heapq.heappush(self.events, (due + 1, index, "miss"))

    def advance(self, moment):
        """Takes note of what has shown by a moment; restarts the window after a run of misses."""
        while self.events and self.events[0][0] <= moment:
            when, index, outcome = heapq.heappop(self.events)
            miss = outcome == "miss"
            self.misses = self.misses * 0.999 + self.before
            self.pairs = self.pairs * 0.999 + (miss and self.before)
            self.before = miss
            for kind, run in self.runs.items():
                if outcome != kind:
                    run[0] = 0
                    continue
                run[0] += 1
                if run[0] == 1:
                    run[1] = index
            if self.runs["miss"][0] >= self.longest_run():
                self.change("miss", when)
            elif self.runs["low"][0] >= LOW_RUN:
                self.change("low", when)

    def longest_run(self):
        """How many misses one after the other are no chance: (1 − q) p^(r − 1) ≤ ALARM with p the
        share of misses that follow a miss, after Brevik, Nurmi and Wolski, who tabulate r by the
        waits' autocorrelation.
        """
        # The prior weight keeps the misses of a change from passing for dependence.
        follow = max((self.pairs + PRIOR * (1 - LEVEL)) / (self.misses + PRIOR), 1 - LEVEL)
        run = 1 + math.ceil(math.log(ALARM / (1 - LEVEL)) / math.log(min(follow, 0.9)))
        return min(run, LONGEST_RUN)

    def change(self, kind, when):
        first = self.runs[kind][1]
        for run in self.runs.values():
            run[0] = 0
        if self.restart:
            self.changed = max(self.changed, first)
            self.changed_at = when
            self.restarts.append(when)

    def run(self, first, last, levels=(0.5, 0.9, LEVEL), confidence=CONFIDENCE, every=1):
        """Yields (index, Forecast at the moment when it became eligible) of the jobs first … last.

        every: a new forecast is made for each so many jobs; those between share it.
        """
        asked = tuple(dict.fromkeys((*levels, LEVEL, LOW)))
        found = None
        for index in range(first, last):
            moment = int(self.eligible[index])
            self.advance(moment)
            if found is None or (index - first) % every == 0:
                found = self.forecast(index, moment, asked, confidence)
            self.expect(index, found)
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
