"""What tests of loops that compile themselves share."""

import _thread
import sys
import textwrap

import numpy as np
import pytest
from numbus import loops
from numbus.loops import background, kept
from numbus.loops import run as runtime

from .run import differences


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Rewritten modules find what they call; loops are compiled in execute() only."""
    loops.install()
    runtime.configure(False)
    monkeypatch.setattr(background, "RAISES", True)
    monkeypatch.setattr(kept, "made_by", [None])  # each is compiled
    # Threads and timers of the tests' runner.
    monkeypatch.setattr(runtime, "_idle", _thread._count())
    monkeypatch.setattr(runtime, "_SIGNALS", [])
    sys.set_int_max_str_digits(0)
    yield
    runtime.configure(False)


def check(text, after=1, library=np, entered=None):
    """The loops of a script, which does the same plain and compiled; entered: whether any was."""
    found, made = differences(textwrap.dedent(text), after, library)
    assert not found, found
    if entered is not None:
        assert bool(sum(loop.entries for loop in made)) is entered, [m.why for m in made]
    return made
