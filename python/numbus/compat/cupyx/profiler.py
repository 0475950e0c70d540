"""cupyx.profiler: benchmark, and the marks for profilers."""

import contextlib
import math
import time

import numpy

from numbus import _core

from .._missing import getter
from ..cupy.cuda.device import Device, get_device_id
from ..cupy.cuda.stream import Event, get_elapsed_time

__name__ = "cupyx.profiler"
__path__ = []  # so that Python asks us what `from … import` does not find


class _PerfCaseResult:
    """The times of a benchmark, in seconds.

    cpu_times: 1-d, how long each call took to return. gpu_times: (devices, calls), from the begin
    of a call to the end of its work.
    """

    def __init__(self, name, ts, devices):
        if ts.ndim != 2 or ts.shape[0] != len(devices) + 1 or ts.shape[1] < 1:
            raise ValueError(
                f"[benchmark] the times do not fit the devices; got {ts.shape}; expected "
                f"({len(devices) + 1}, 1 or more)"
            )
        self.name, self._ts, self._devices = name, ts, devices

    @property
    def cpu_times(self):
        return self._ts[0]

    @property
    def gpu_times(self):
        return self._ts[1:]

    @staticmethod
    def _line(device, times):
        us = times * 1e6
        text = f"    {device}: {us.mean():9.03f} us"
        if us.size > 1:
            text += f"   +/- {us.std():6.03f} (min: {us.min():9.03f} / max: {us.max():9.03f}) us"
        return text

    def to_str(self, show_gpu=False):
        """'name   :    CPU:  … us   +/- … (min: … / max: …) us     GPU-0: …'."""
        parts = [self._line("CPU", self.cpu_times)]
        if show_gpu:
            pairs = zip(self._devices, self.gpu_times, strict=True)
            parts += [self._line(f"GPU-{d}", t) for d, t in pairs]
        return f"{self.name:<20s}:{' '.join(parts)}"

    def __str__(self):
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func,
    args=(),
    kwargs=None,
    n_repeat=10000,
    *,
    name=None,
    n_warmup=10,
    max_duration=math.inf,
    devices=None,
):
    """Times func(*args, **kwargs): n_warmup calls, then at most n_repeat in max_duration seconds.

    name: what the result is called, the function's name by default. devices: whose times are
    taken, the one in use by default. Work that a call has recorded is run before its end is
    marked. Without a GPU the second time is the CPU's, which stands in for one. Raises TypeError
    and ValueError for wrong arguments.
    """
    kwargs = {} if kwargs is None else kwargs
    if not callable(func):
        raise TypeError(f"[benchmark] func cannot be called; got {func!r}; expected a function")
    if not isinstance(args, tuple):
        raise TypeError(
            f"[benchmark] args is no tuple; got {type(args).__name__}; expected such as (x,)"
        )
    if not isinstance(kwargs, dict):
        raise TypeError(
            f"[benchmark] kwargs is no dict; got {type(kwargs).__name__}; expected such as {{}}"
        )
    for what, value in (("n_repeat", n_repeat), ("n_warmup", n_warmup)):
        if not isinstance(value, int):
            raise TypeError(
                f"[benchmark] {what} is no integer; got {value!r}; expected such as 100"
            )
    if n_repeat < 1 or n_warmup < 0:
        raise ValueError(
            f"[benchmark] wrong numbers of calls; got n_repeat={n_repeat}, n_warmup={n_warmup}; "
            "expected n_repeat of 1 or more and n_warmup of 0 or more"
        )
    name = name or getattr(func, "__name__", type(func).__name__)
    devices = (get_device_id(),) if devices is None else tuple(int(d) for d in devices)
    for d in devices:
        with Device(d):
            pass
    for _ in range(n_warmup):
        func(*args, **kwargs)
    _synchronize(devices)
    cpu, gpu = [], [[] for _ in devices]
    spent = 0.0
    for _ in range(n_repeat):
        begins = [_mark(d) for d in devices]
        start = time.perf_counter()
        func(*args, **kwargs)
        cpu.append(time.perf_counter() - start)
        ends = [_mark(d) for d in devices]
        for times, begin, end in zip(gpu, begins, ends, strict=True):
            times.append(get_elapsed_time(begin, end) * 1e-3)
        _synchronize(devices)
        spent += time.perf_counter() - start
        if spent > max_duration:
            break
    return _PerfCaseResult(name, numpy.asarray([cpu, *gpu], dtype=numpy.float64), devices)


def _mark(device):
    with Device(device):
        event = Event()
        event.record()
    return event


def _synchronize(devices):
    for d in devices:
        with Device(d) as device:
            device.synchronize()
    _core.check_faults()


class time_range(contextlib.ContextDecorator):
    """A named range for profilers, as a block or a decorator: does nothing."""

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        self.message, self.sync = message, sync

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.sync:
            _synchronize((get_device_id(),))


class profile(contextlib.ContextDecorator):
    """A part of the program that profilers look at: does nothing."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        pass


__getattr__ = getter(__name__)
