"""torch.cuda: GPUs, their memory, streams as far as one queue of work goes."""

import contextlib
import importlib
import types

from ... import _core
from ... import cuda as _cuda
from ... import tensors as _tensors
from ...tensors.random import Generator, default_generator
from .._missing import EXPECTED as _EXPECTED
from .._missing import missing as _missing


def manual_seed(seed):
    """Begins the streams of random numbers of the GPUs."""
    default_generator.seed_devices(seed)


def seed():
    """Begins streams of random numbers of the GPUs that nobody knows."""
    manual_seed(Generator().initial_seed())


manual_seed_all, seed_all = manual_seed, seed


def is_available():
    """Whether an NVIDIA GPU can be used."""
    return bool(_cuda.is_available())


def is_bf16_supported(including_emulation=True):
    """Whether there is a GPU, which serves tensors of bfloat16; without emulation, whether it has
    instructions for them (compute capability 8.0).
    """
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def device_count():
    """The number of GPUs."""
    return _cuda.device_count() if is_available() else 0


def current_device():
    """The number of the GPU that 'cuda' stands for."""
    return _core.current_gpu()


def set_device(device):
    """Has 'cuda' stand for a GPU from here on: before work on the one that it stood for.

    Raises RuntimeError for a GPU that is not there or cannot be used.
    """
    number = _tensors.device(device).index
    if number is not None:
        _core.set_current_gpu(number)


def synchronize(device=None):
    """Waits until the GPU has done its work."""
    if is_available():
        _cuda.synchronize()


def _known(device):
    number = None if device is None else _tensors.device(device).index
    return _cuda.list_devices()[_core.current_gpu() if number is None else number]


def get_device_name(device=None):
    """The name of a GPU."""
    name = _known(device).name
    return name.decode() if isinstance(name, bytes) else name


def get_device_capability(device=None):
    """The compute capability of a GPU, two numbers."""
    return tuple(_known(device).compute_capability)


def memory_allocated(device=None):
    """The bytes that arrays take on the GPU; 0 without one."""
    return _stats(device)["used_bytes"]


def memory_reserved(device=None):
    """The bytes that are held on the GPU; 0 without one."""
    known = _stats(device)
    return known["used_bytes"] + known["pooled_bytes"]


def _number(device):
    number = None if device is None else _tensors.device(device).index
    return _core.current_gpu() if number is None else number


def _stats(device):
    if not is_available():
        return {"used_bytes": 0, "pooled_bytes": 0, "peak_bytes": 0}
    return _cuda.memory_stats(_number(device))


def max_memory_allocated(device=None):
    """The most bytes that arrays have taken on the GPU at a time; 0 without one.

    Counted from the start, or from `reset_peak_memory_stats`.
    """
    return _stats(device)["peak_bytes"]


def reset_peak_memory_stats(device=None):
    """Has `max_memory_allocated` begin anew from what is used now."""
    if is_available():
        _cuda.reset_peak(_number(device))


reset_max_memory_allocated = reset_peak_memory_stats


def memory_stats(device=None):
    """The pool's figures by PyTorch's names, as far as it counts them; empty without a GPU."""
    if not is_available():
        return {}
    known = _stats(device)
    return {
        "allocated_bytes.all.current": known["used_bytes"],
        "allocated_bytes.all.peak": known["peak_bytes"],
        "reserved_bytes.all.current": known["used_bytes"] + known["pooled_bytes"],
    }


def memory_summary(device=None, abbreviated=False):
    """The pool's figures as text; abbreviated: of what is allocated alone."""
    known = memory_stats(device).items()
    return "\n".join(
        [f"{name}: {n:,}" for name, n in known if "allocated" in name or not abbreviated]
    )


def mem_get_info(device=None):
    """The bytes of the GPU that are free, and all of them."""
    _known(device)
    return tuple(_cuda.current_context().get_memory_info())


def get_device_properties(device=None):
    """A GPU's name, compute capability (major, minor), memory and multiprocessors."""
    known = _known(device)
    major, minor = known.compute_capability
    return types.SimpleNamespace(
        name=get_device_name(device), major=int(major), minor=int(minor),
        total_memory=int(mem_get_info(device)[1]),
        multi_processor_count=int(known.MULTIPROCESSOR_COUNT),
    )  # fmt: skip


def is_initialized():
    """Whether a GPU can be used."""
    return is_available()


def init():
    """The GPU begins by itself when it is used."""


def ipc_collect():
    """Nothing is kept for other processes."""


def get_rng_state(device="cuda"):
    """The state of the random numbers of the GPUs, which have one."""
    _tensors.device(device)
    return default_generator.state_of_devices()


def set_rng_state(new_state, device="cuda"):
    """Sets it to what `get_rng_state` gave."""
    _tensors.device(device)
    default_generator.set_state_of_devices(new_state)


def get_rng_state_all():
    """The state for each GPU."""
    return [get_rng_state()] * device_count()


def set_rng_state_all(new_states):
    """Sets it to what `get_rng_state_all` gave."""
    for state in new_states:
        set_rng_state(state)


class nvtx:
    """Marks for NVIDIA's profilers, which are not made."""

    _open = 0

    @staticmethod
    def range_push(msg):
        """Begins a part of a name; how many are open around it."""
        nvtx._open += 1
        return nvtx._open - 1

    @staticmethod
    def range_pop():
        """Ends the last part; how many are still open."""
        nvtx._open -= 1
        return nvtx._open

    @staticmethod
    def mark(msg):
        """A point of a name."""

    @staticmethod
    @contextlib.contextmanager
    def range(msg):
        """A block of a name."""
        nvtx.range_push(msg)
        try:
            yield
        finally:
            nvtx.range_pop()


OutOfMemoryError = MemoryError


def empty_cache():
    """Gives idle memory of the GPU back."""
    if is_available():
        _cuda.trim(_core.current_gpu())


class Stream:
    """A queue of work on a GPU; all tensors share one, so that nothing has to be ordered."""

    def __init__(self, device=None, priority=0):
        self.device, self.priority = device, priority

    def synchronize(self):
        """Waits until the work is done."""
        synchronize()

    def wait_stream(self, stream):
        """Work is in order anyway."""

    def wait_event(self, event):
        """Work is in order anyway."""

    def record_event(self, event=None):
        """Notes the present point of the queue."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self):
        """Whether the work is done; it is waited for."""
        synchronize()
        return True


class Event:
    """A point in the queue of work."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self.enable_timing, self.blocking, self.interprocess = enable_timing, blocking, interprocess
        self._event = _cuda.event(timing=True) if is_available() else None

    def record(self, stream=None):
        """Notes the present point."""
        if self._event is not None:
            from ... import _core

            _core.flush()
            self._event.record()
        self._stream = stream

    def synchronize(self):
        """Waits until the work before it is done."""
        if self._event is not None:
            self._event.synchronize()

    def wait(self, stream=None):
        """Work is in order anyway."""

    def query(self):
        """Whether the work before it is done."""
        return self._event is None or bool(self._event.query())

    def elapsed_time(self, end_event):
        """Milliseconds from this point to another one."""
        return float(_cuda.event_elapsed_time(self._event, end_event._event))


_stream = Stream()


def current_stream(device=None):
    """The queue of work."""
    return _stream


default_stream = current_stream


@contextlib.contextmanager
def stream(stream):
    """A block whose work goes into the queue."""
    yield stream


@contextlib.contextmanager
def device(device):
    """A block in which 'cuda' stands for a GPU."""
    set_device(device)
    yield


_INSTEAD = {
    "max_memory_reserved": "max_memory_allocated(); of what the pool holds there is no peak",
    "memory_snapshot": "memory_stats()",
    "utilization": "nvidia-smi",
    "CUDAGraph": "torch.compile of the step, which is replayed as a graph",
    "graph": "torch.compile of the step, which is replayed as a graph",
    "make_graphed_callables": "torch.compile of the step, which is replayed as a graph",
}


def __getattr__(name):
    if name == "amp":
        return importlib.import_module("numbus.compat.torch._cuda_amp")
    return _missing("torch.cuda", name, _INSTEAD.get(name, _EXPECTED))
