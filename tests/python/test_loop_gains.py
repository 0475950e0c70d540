"""Whether an entry into compiled code pays, by what entries before have cost."""

import math
import sys
import types

import pytest
from numbus.loops import gains, run


def loop(**known):
    known = {
        "per_item": 1e-6,
        "seconds": 0.1,
        "items": 100_000,
        "executions": 0,
        "entries": 0,
    } | known
    return types.SimpleNamespace(
        is_alike=False, guesses=True, least=1e-3, per_estimate=1.0, of_time=0.0, **known
    )


def test_what_is_left_of_loops():
    assert gains.expected(loop(), range(0, 2000, 2)) == 1000 * 1e-6
    items = iter([0.5] * 100)
    next(items)
    assert gains.expected(loop(), items) == 99 * 1e-6
    assert gains.expected(loop(per_item=1.0), range(10)) == 10 * 1e-6  # others ran meanwhile
    assert gains.expected(loop(executions=50), None) == 0.1 / 50
    assert gains.expected(loop(executions=50, entries=40), None) == 0.1 / 10
    assert gains.expected(loop(executions=1, entries=7), None) == 0.1


def test_entries_that_cost_more_than_they_give():
    this = loop()
    assert 0.8e-2 < gains.budget(this, 1e-2) < 1e-2
    gains.note(this, 1e-2, 5e-4, 2e-4, 2e-4)
    assert this.least == 1e-3
    assert 0.8e-2 < gains.budget(this, 1e-2) < 1e-2
    # Lists that lie all over the memory take five times what is estimated.
    gains.note(this, 1e-2, 2e-2, 2e-2, 4e-3)
    assert this.least > 1e-2
    assert gains.budget(this, 2e-2) < 4e-3 * 2.5
    for _ in range(5):  # so does what loops make
        gains.note(this, 1e-2, 2e-2, 1e-2, 0.0)
    assert gains.budget(this, 1.0) == 0


def test_a_refusal_holds_for_what_is_shorter():
    this = loop()
    gains.note_refused(this, 5e-3)
    assert 5e-3 < this.least < 1e-2
    before = this.least
    gains.note_refused(this, 1e-3)
    assert this.least == before


def test_lists_are_not_looked_at_while_one_that_grows_is_empty(monkeypatch):
    class LookedError(Exception):
        pass

    def look(*args, **keywords):
        raise LookedError

    monkeypatch.setattr(run, "Held", look)
    monkeypatch.setattr(run, "_may_enter", lambda: True)
    monkeypatch.setattr(run.State, "after", None)
    this = loop(appended={"small", "large", "made"}, made_names={"made"}, yields=False, outer=None)
    this.most_per_item = math.inf
    small, large, made = [0.5], [], []
    assert run._wanted(this, sys._getframe()) is False
    large.append(1.5)
    with pytest.raises(LookedError):
        run._wanted(this, sys._getframe())
    assert (small, made) == ([0.5], [])
