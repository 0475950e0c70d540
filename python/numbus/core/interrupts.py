"""Ctrl-C for compiled code, where the core's handler of SIGINT stays before Python's, and for long
calls of NumPy's functions.

The core chains itself to the handler that it finds when it is imported. `signal.signal` puts
Python's handler back, and asking the system before each call would cost half a microsecond, so the
core is told.
"""

import _signal
import contextvars
import functools
import threading

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


MANY = 1 << 20  # elements with which transforms and random numbers take some milliseconds


def interruptible(function, is_long):
    """`function`, which Ctrl-C does not wait for where `is_long(args, kwargs)`.

    It must not write to its operands, but to `out`, in which case it is waited for. A long call of
    the main thread runs in a thread of its own; interrupted, it goes on to its end there, and its
    result is dropped.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        if (
            not is_long(args, kwargs)
            or kwargs.get("out") is not None
            or threading.current_thread() is not threading.main_thread()
        ):
            return function(*args, **kwargs)
        return _apart(function, args, kwargs)

    return call


def _apart(function, args, kwargs):
    ended = threading.Lock()
    ended.acquire()
    outcome = []
    context = contextvars.copy_context()  # np.errstate is part of it

    def work():
        try:
            outcome.append(context.run(function, *args, **kwargs))
        except BaseException as error:
            outcome.extend([None, error])
        finally:
            ended.release()

    try:
        threading.Thread(target=work, name="numbus-long-call").start()
    except RuntimeError:  # no thread to be had
        return function(*args, **kwargs)
    ended.acquire()
    if len(outcome) > 1:
        raise outcome.pop()
    return outcome[0]
