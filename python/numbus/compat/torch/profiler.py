"""torch.profiler and torch.autograd.profiler: what names parts of a program; nothing measures."""

import contextlib

from .._missing import missing as _missing


class record_function(contextlib.ContextDecorator):
    """A block, or a function, that has a name for profilers, of which there is none here."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return None


_INSTEAD = (
    "`python -m cProfile`, or time.perf_counter() around torch.cuda.synchronize(); on a GPU"
    " NVIDIA's nsys, and NUMBUS_TIME_DRIVER=1 for the host's time in the driver"
)


def __getattr__(name):
    return _missing("torch.profiler", name, _INSTEAD)
