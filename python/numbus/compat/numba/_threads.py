"""Numba's functions about threads.

Threads are as many as there are cores, or NUMBUS_NUM_THREADS; results do not depend on them.
"""

import contextlib
import os
import threading

_local = threading.local()
if "NUMBA_NUM_THREADS" in os.environ:
    # Read when the first threads start.
    os.environ.setdefault("NUMBUS_NUM_THREADS", os.environ["NUMBA_NUM_THREADS"])


def available():
    """The number of threads that there are."""
    asked = os.environ.get("NUMBUS_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else len(os.sched_getaffinity(0))


def get_num_threads():
    """The number of threads that was asked for: all by default."""
    return getattr(_local, "count", None) or available()


def set_num_threads(n):
    """Takes a number of threads and gives it back by get_num_threads; all threads go on working.

    Raises TypeError for what is no integer, ValueError beyond the threads that there are.
    """
    if not hasattr(n, "__index__"):
        raise TypeError(f"[set_num_threads] not a number of threads; got {n!r}; expected an int")
    if not 1 <= n <= available():
        raise ValueError(
            f"[set_num_threads] so many threads are not there; got {n}; expected 1 to {available()}"
        )
    _local.count = int(n)


def get_thread_id():
    """0: outside of compiled functions there is one thread."""
    return 0


def threading_layer():
    """The name of the threads' library: Numbus's own."""
    return "numbus"


def set_parallel_chunksize(n):
    """Takes a size of portions and gives back the one before; portions are chosen by Numbus."""
    before, _local.chunk = get_parallel_chunksize(), int(n)
    return before


def get_parallel_chunksize():
    """The size of portions that was asked for; 0 by default."""
    return getattr(_local, "chunk", 0)


@contextlib.contextmanager
def parallel_chunksize(n):
    """set_parallel_chunksize while a block lasts."""
    before = set_parallel_chunksize(n)
    try:
        yield
    finally:
        set_parallel_chunksize(before)
