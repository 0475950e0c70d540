"""Streams and events: what runs beside what, and when it is done.

Work in different streams overlaps where it uses different memory; where it uses the same, it keeps
the order in which the program asked for it, without the program having to say so.
"""

import asyncio
import contextlib
import queue
import threading

from .. import _core

__all__ = [
    "Event",
    "Stream",
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
]


class Handle(int):
    """The driver's number for a stream or event; `.value` is that number, too."""

    @property
    def value(self):
        return int(self)


class Stream:
    """A queue of work: kernels and copies in it run in order, beside those in other streams.

    non_blocking: not ordered with other libraries' work in the legacy default stream. priority: a
    lower number goes first; a GPU takes what is nearest in its range. Without a GPU everything is
    done when a call returns.
    """

    def __init__(self, non_blocking=False, priority=0):
        self._core = _core.make_stream(bool(non_blocking), int(priority))
        self.non_blocking = bool(non_blocking)
        self._callbacks = None

    @classmethod
    def _around(cls, core):
        made = cls.__new__(cls)
        made._core, made.non_blocking, made._callbacks = core, False, None
        return made

    @property
    def handle(self):
        """The driver's stream; 0 is the default one."""
        return Handle(self._core.handle)

    @property
    def priority(self):
        """Its priority, as the GPU has taken it."""
        return self._core.priority

    @property
    def done(self):
        """Whether all its work is done."""
        return self._core.done()

    def query(self):
        """Whether all its work is done."""
        return self._core.done()

    def synchronize(self):
        """Waits for its work, and raises what its kernels have noted."""
        self._core.synchronize()

    def record(self, event=None):
        """An event after the work so far: the one given, or a new one."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Work given to the stream from now on waits for the event."""
        self._core.wait_event(event._core)

    @contextlib.contextmanager
    def auto_synchronize(self):
        """Synchronises at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback, arg=None):
        """Calls callback(stream, status, arg) when the work so far is done; status is 0.

        Returns at once. The call comes from a thread of its own; without a GPU it is made here.
        """
        if not _core.is_default_gpu():
            callback(self, 0, arg)
            return
        if self._callbacks is None:
            self._callbacks = queue.SimpleQueue()
            threading.Thread(target=_call, args=(self._callbacks,), daemon=True).start()
        point = Event(timing=False)
        point.record(self)
        self._callbacks.put((point, callback, self, arg))

    def async_done(self):
        """A future that is done when the work so far is; its result is the stream."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish(stream, _status, _arg):
            with contextlib.suppress(RuntimeError):  # the loop is gone, and with it who waits
                loop.call_soon_threadsafe(
                    lambda: None if future.cancelled() else future.set_result(stream)
                )

        self.add_callback(finish)
        return future

    def __del__(self):
        if getattr(self, "_callbacks", None) is not None:
            self._callbacks.put(None)

    def __int__(self):
        return self._core.handle

    __index__ = __int__

    def __cuda_stream__(self):
        """(0, handle): how other libraries take the stream."""
        return 0, self._core.handle

    def __repr__(self):
        return f"<stream {self._core.number} on {self._core.device}>"


def _call(items):
    """Waits for points in a stream and makes the calls that belong to them."""
    while True:
        item = items.get()
        if item is None:
            return
        point, callback, stream, arg = item
        status = 0
        try:
            point._core.wait()
        except RuntimeError:
            status = 1
        callback(stream, status, arg)
        del item, point, callback, stream, arg


def core_stream(stream, op="stream"):
    """What _core takes for a stream argument: None is the default stream."""
    if stream is None or stream is False:
        return None
    if isinstance(stream, Stream):
        return stream._core
    if isinstance(stream, int) and stream == 0:
        return None
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _, handle = protocol() if callable(protocol) else protocol
        return external_stream(handle)._core
    raise TypeError(
        f"[{op}] not a stream; got {stream!r} of type {type(stream).__name__}; expected "
        "cuda.stream(), or 0 for the default stream"
    )


def stream():
    """A new stream."""
    return Stream()


def external_stream(ptr):
    """Another library's stream, given by its handle; it has to live as long as it is used here."""
    try:
        handle = ptr.__index__()
    except AttributeError:
        raise TypeError(
            f"[external_stream] not a handle; got {ptr!r}; expected an integer"
        ) from None
    # 0, 1 and 2 are the driver's default streams, which the default stream is ordered with.
    if handle in (0, 1, 2):
        return default_stream()
    return Stream._around(_core.make_stream(False, 0, handle))


def default_stream():
    """The stream of all work that names none, array operations among it."""
    return Stream._around(_core.main_stream())


legacy_default_stream = per_thread_default_stream = default_stream


class Event:
    """A point in a stream. timing: whether the time between two can be asked for."""

    def __init__(self, timing=True):
        self._core = _core.make_event(bool(timing))

    def record(self, stream=0):
        """Marks this point of the stream: after all its work so far."""
        self._core.record(core_stream(stream, "event"))

    def query(self):
        """Whether all work before it is done."""
        return self._core.query()

    @property
    def done(self):
        """Whether all work before it is done."""
        return self._core.query()

    def wait(self, stream=0):
        """Work given to the stream from now on waits for it."""
        core = core_stream(stream, "event")
        (core or _core.main_stream()).wait_event(self._core)

    def synchronize(self):
        """Waits for it, and raises what kernels before it in its stream have noted."""
        self._core.synchronize()

    def elapsed_time(self, evtend):
        """Milliseconds from this event to another one; both have happened."""
        return evtend._core.elapsed_since(self._core)

    @property
    def handle(self):
        """The driver's event."""
        return Handle(self._core.handle)


def event(timing=True):
    """An event."""
    return Event(timing)


def event_elapsed_time(evtstart, evtend):
    """Milliseconds between two events that have happened."""
    return evtstart.elapsed_time(evtend)
