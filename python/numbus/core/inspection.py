"""To see inside: what was fused into which kernel, and how much work was done."""

from .. import _core
from . import compiling
from .errors import message

__all__ = ["device_info", "explain", "stats", "synchronize"]


class Explanation(str):
    """A text that shows itself as it is at the prompt."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def explain(target, *args, ir=False, **kwargs):
    """How work is run: for each flush its reason and its kernels; for each kernel its shape, the
    bytes it moves, how it ran, the operations fused into it, their Python lines, and the values
    that never left its registers; which compiled functions were run by Python, and why; and which
    loops of the script ran compiled (docs/loops.md).

    target: a function, which is called with `args` and `kwargs`: all that runs meanwhile is
    described, and what it leaves pending; or an array, whose pending work is run and described.
    With `ir=True` each kernel's IR follows it, and of a loop the function in the kernel language
    that it has become. Raises TypeError for anything else.
    """
    if not callable(target) and not isinstance(target, (_core.ndarray, _core.generic)):
        raise TypeError(
            message("explain", "nothing to run", type(target).__name__, "a function or an array")
        )
    if callable(target):
        _core.synchronize()
        _core.explain_begin(ir)
        left = compiling.Told(ir)
        compiling.explained.append(left)
        try:
            result = target(*args, **kwargs)
            _core.flush("the function has returned")
        except BaseException:
            _core.explain_end()
            raise
        finally:
            compiling.explained.pop()
        del result
        return Explanation("".join(line + "\n" for line in left) + _core.explain_end())
    _core.explain_begin(ir)
    _core.flush("explain()")
    return Explanation(_core.explain_end())


def stats():
    """A dict of counters: instructions, flushes, plan_hits, compiles, launches, contracted_bytes,
    fallbacks, bytes_to_device and bytes_to_host (copied over the link; 0 on a CPU)…
    """
    return _core.stats()


def device_info():
    """A dict about the devices: the default one, processor, vector width, memory in use."""
    return _core.device_info()


def synchronize():
    """Runs all pending work and waits for it."""
    _core.synchronize()
