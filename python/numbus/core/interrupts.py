"""Ctrl-C for compiled code: the core's handler of SIGINT stays before Python's.

The core chains itself to the handler that it finds when it is imported. `signal.signal` puts
Python's handler back, and asking the system before each call would cost half a microsecond, so the
core is told.
"""

import _signal
import functools

from .. import _core

_set_handler = _signal.signal


@functools.wraps(_set_handler)
def _signal_and_chain(signalnum, handler, /):
    before = _set_handler(signalnum, handler)
    if signalnum == _signal.SIGINT:
        _core.chain_interrupts()
    return before


def install():
    """Makes `signal.signal(SIGINT, …)` keep the core's handler in the chain."""
    if not hasattr(_signal.signal, "__wrapped__"):
        _signal.signal = _signal_and_chain
