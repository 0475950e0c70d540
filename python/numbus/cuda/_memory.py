"""Whether there is a GPU, why not, and its memory."""

from .. import _core

__all__ = [
    "device_count",
    "is_available",
    "memory_stats",
    "reason",
    "reset_peak",
    "set_limit",
    "synchronize",
    "trim",
    "used_bytes",
]


def is_available():
    """Whether a GPU can be used. The first call loads the driver."""
    return _core.cuda_available()


def reason():
    """Why no GPU can be used; an empty string where one can."""
    return "" if is_available() else _core.cuda_reason()


def device_count():
    """The number of GPUs; 0 where none can be used."""
    return _core.cuda_count() if is_available() else 0


def _name(device):
    """'cuda:1' for 1, and for what already is a name, that name."""
    return f"cuda:{device}" if isinstance(device, int) else str(device)


def memory_stats(device=0):
    """A dict of used_bytes, pooled_bytes, peak_bytes, limit and spilled_bytes of a device.

    device: a number, or a name such as "cuda:0".
    used_bytes are those of arrays and pending work, pooled_bytes are kept for the next ones, and
    spilled_bytes those of arrays that wait in the host's memory until they are used.
    """
    return _core.memory_stats(_name(device))


def reset_peak(device=0):
    """Has peak_bytes of `memory_stats` begin anew from what is used now."""
    _core.reset_peak(_name(device))


def used_bytes(device=0):
    """The bytes that arrays and pending work hold."""
    return memory_stats(device)["used_bytes"]


def set_limit(nbytes, device=0):
    """Bounds the memory that Numbus takes on a device; 0 is the whole of it.

    On a GPU the arrays that were used least recently wait in the host's memory where the bound is
    reached, and come back when they are used. Those whose address others have stay. MemoryError
    where that is not enough.
    """
    _core.set_memory_limit(_name(device), int(nbytes))


def trim(device=0):
    """Gives pooled memory that nobody uses back to the system, all of it and at once."""
    _core.trim(_name(device))


def synchronize():
    """Runs all pending work and waits for it."""
    _core.synchronize()
