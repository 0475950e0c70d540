"""`timeit` as a user's module sees it: synchronised clocks, and Numbus for the NumPy that snippets
import.
"""

import timeit as _real

from . import clock
from .rewrite import rewrite_text

default_timer = clock.perf_counter
default_number, default_repeat = _real.default_number, _real.default_repeat
main = _real.main
__all__ = ["Timer", "default_timer", "repeat", "timeit"]


def _ours(code):
    return rewrite_text(code) if isinstance(code, str) else code


class Timer(_real.Timer):
    """timeit.Timer on the synchronised clock."""

    def __init__(self, stmt="pass", setup="pass", timer=default_timer, globals=None):
        super().__init__(_ours(stmt), _ours(setup), timer, globals)


def timeit(stmt="pass", setup="pass", timer=default_timer, number=default_number, globals=None):
    """Seconds that `number` executions of `stmt` take."""
    return Timer(stmt, setup, timer, globals).timeit(number)


def repeat(
    stmt="pass",
    setup="pass",
    timer=default_timer,
    repeat=default_repeat,
    number=default_number,
    globals=None,
):
    """`timeit` several times over: a list of seconds."""
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)


def __getattr__(name):
    return getattr(_real, name)
