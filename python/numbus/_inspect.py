"""To see inside: what was fused into which kernel, and how much work was done."""

from . import _core

__all__ = ["device_info", "explain", "stats", "synchronize"]


class Explanation(str):
    """A text that shows itself as it is at the prompt."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def explain(target, *args, **kwargs):
    """How work is run: kernels, what was fused into each, bytes moved, flush reasons, Python lines.

    target: an array (its pending work is run and described) or a function, which is called with
    `args` and `kwargs`; what it leaves pending is run and described.
    """
    if callable(target):
        _core.synchronize()
        result = target(*args, **kwargs)
        _core.flush()
        del result
    else:
        _core.flush()
    return Explanation(_core.explain())


def stats():
    """A dict of counters: instructions, flushes, plan_hits, compiles, launches, contracted_bytes,
    fallbacks…
    """
    return _core.stats()


def device_info():
    """A dict about the devices: the default one, processor, vector width, memory in use."""
    return _core.device_info()


def synchronize():
    """Runs all pending work and waits for it."""
    _core.synchronize()
