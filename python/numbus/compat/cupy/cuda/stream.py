"""cupy.cuda.stream: streams and events, over those of numbus.cuda."""

import threading

import numbus.cuda
from numbus import _core

from ..._missing import getter

__name__ = "cupy.cuda.stream"

_current = threading.local()


def _recorded(stream=None):
    """Hands recorded work to the device, so that what comes next runs after it.

    stream: where it comes next. Array operations go to the default stream whichever is current, so
    that a stream which has been current waits for them.
    """
    if not _core.is_default_gpu():
        _core.synchronize()
        return
    _core.flush("event")
    if stream is not None and stream._stream != 0 and stream._current:
        point = numbus.cuda.event(timing=False)
        point.record(0)
        point.wait(stream._stream)


class Event:
    """A point in a stream's work."""

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        if interprocess:
            raise NotImplementedError(
                "[Event] no events of other processes; got interprocess=True; expected False"
            )
        self._event = numbus.cuda.event(timing=not disable_timing)
        self._timing, self._seen = not disable_timing, False

    def record(self, stream=None):
        """Marks this point: after all work so far of the stream, the current one by default."""
        stream = get_current_stream() if stream is None else stream
        _recorded(stream if isinstance(stream, _Stream) else None)
        self._event.record(getattr(stream, "_stream", 0))
        self._seen = True

    @property
    def done(self):
        """Whether the work before it is done."""
        return not self._seen or self._event.query()

    def synchronize(self):
        """Waits for it."""
        if self._seen:
            self._event.synchronize()

    @property
    def ptr(self):
        """The object's number; no handle of CUDA's."""
        return id(self._event)


class _Stream:
    """What streams of all kinds can."""

    _stream = 0
    _current = False  # whether it has been the current one

    def synchronize(self):
        """Waits for the work of the stream."""
        if self._stream == 0:
            numbus.cuda.synchronize()
        else:
            _recorded(self)
            self._stream.synchronize()

    def record(self, event=None):
        """Records an event, a new one by default, and returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Lets work of this stream from now on wait for the event."""
        _recorded()
        event._event.wait(self._stream)

    def add_callback(self, callback, arg):
        """Calls callback(stream, error, arg) when the work so far is done."""
        self.synchronize()
        callback(self, 0, arg)

    def launch_host_func(self, callback, arg):
        """Calls callback(arg) when the work so far is done."""
        self.synchronize()
        callback(arg)

    @property
    def done(self):
        """Whether the work so far is done."""
        _recorded()
        own = numbus.cuda.default_stream() if isinstance(self._stream, int) else self._stream
        return own.done

    def use(self):
        """Makes it the current stream of this thread."""
        _current.stream, self._current = self, True
        return self

    def __enter__(self):
        stack = _current.__dict__.setdefault("stack", [])
        enter = getattr(type(self._stream), "__enter__", None)
        if enter is not None:
            enter(self._stream)
        stack.append(get_current_stream())
        return self.use()

    def __exit__(self, *error):
        _current.stream = _current.stack.pop()
        leave = getattr(type(self._stream), "__exit__", None)
        if leave is not None:
            leave(self._stream, *error)

    def begin_capture(self, mode=None):
        """Graphs are not served yet."""
        raise NotImplementedError(
            "[Stream] graphs cannot be captured yet; got begin_capture(); expected plain launches"
        )

    def is_capturing(self):
        """False: graphs are not served yet."""
        return False

    @property
    def ptr(self):
        """The stream's number; 0 for the null stream."""
        return int(self._stream)

    def __cuda_stream__(self):
        """(0, handle): how other libraries, and kernels, take the stream."""
        return 0, self.ptr

    def __eq__(self, other):
        return isinstance(other, _Stream) and (
            self is other or (self.null and getattr(other, "null", False) is True)
        )

    def __hash__(self):
        return id(self)


class Stream(_Stream):
    """A queue of work. null=True, or Stream.null: the default one."""

    def __init__(self, null=False, non_blocking=False, ptds=False, priority=None):
        self.__dict__["null"] = bool(null)
        default = null or ptds
        self._stream = 0 if default else numbus.cuda.Stream(bool(non_blocking), priority or 0)
        self.device_id = int(_core.get_device().partition(":")[2] or 0)

    def __repr__(self):
        return f"<Stream {'null' if self.null else self.ptr} (device {self.device_id})>"


class ExternalStream(_Stream):
    """Another library's stream, by its address."""

    null = False

    def __init__(self, ptr, device_id=-1):
        self._stream = numbus.cuda.external_stream(ptr)
        self._ptr, self.device_id = ptr, device_id

    @property
    def ptr(self):
        """The address."""
        return self._ptr


# Instances hide the class's attribute by their own, which says whether they are the null stream.
Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


def get_current_stream(device_id=-1):
    """The stream that work of this thread goes to."""
    return getattr(_current, "stream", Stream.null)


def get_elapsed_time(start_event, end_event):
    """Milliseconds between two recorded events.

    Raises ValueError where one is not recorded, or made with disable_timing.
    """
    for event in (start_event, end_event):
        if not event._seen or not event._timing:
            raise ValueError(
                "[get_elapsed_time] an event without a time; got one that "
                + ("has timing disabled" if event._seen else "has not been recorded")
                + "; expected recorded events that take the time"
            )
    end_event.synchronize()
    return numbus.cuda.event_elapsed_time(start_event._event, end_event._event)


__getattr__ = getter(__name__)
