"""Numba's functions about threads, in Python and in compiled functions.

Threads are as many as there are cores, or NUMBUS_NUM_THREADS; results do not depend on them.
"""

import contextlib
import ctypes
import os
import threading

from numbus import _core
from numbus.kernels.extending import overload

_local = threading.local()
if "NUMBA_NUM_THREADS" in os.environ:
    # Read when the first threads start.
    os.environ.setdefault("NUMBUS_NUM_THREADS", os.environ["NUMBA_NUM_THREADS"])


def available():
    """The number of threads that there are."""
    asked = os.environ.get("NUMBUS_NUM_THREADS", "")
    return int(asked) if asked.isdigit() and int(asked) else len(os.sched_getaffinity(0))


def get_num_threads():
    """The number of threads that work of this Python thread may use: all by default."""
    return _core.thread_limit()


def set_num_threads(n):
    """Work of this Python thread uses at most so many threads from here on.

    Raises TypeError for what is no integer, ValueError beyond the threads that there are.
    """
    if not hasattr(n, "__index__"):
        raise TypeError(f"[set_num_threads] not a number of threads; got {n!r}; expected an int")
    if not 1 <= n <= _core.num_threads():
        raise ValueError(
            f"[set_num_threads] so many threads are not there; got {n}; expected 1 to "
            f"{_core.num_threads()}"
        )
    _core.limit_threads(int(n))


def get_thread_id():
    """0: outside of compiled functions there is one thread."""
    return 0


def _native(address, count):
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * count)(address)


def _compiled():
    """The same in compiled functions, where get_thread_id tells the threads of a prange apart."""
    limit, limited, of_call = map(_native, _core.thread_functions(), (1, 0, 0))
    most = _core.num_threads()

    @overload(set_num_threads)
    def set_(n):
        if getattr(n, "dtype", None) is None or n.dtype[0] not in "iu":
            raise TypeError(f"[set_num_threads] not a number of threads; got {n}; expected an int")

        def compiled(n):
            if n < 1 or n > most:
                raise ValueError(
                    f"[set_num_threads] so many threads are not there; got {n}; expected 1 to "
                    f"{most}"
                )
            limit(n)

        return compiled

    @overload(get_num_threads)
    def get():
        return lambda: limited()

    @overload(get_thread_id)
    def which():
        return lambda: of_call()


_compiled()


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
