"""cupyx.time: the older name of the benchmark."""

from .._missing import getter
from .profiler import benchmark

__name__ = "cupyx.time"
__path__ = []  # so that Python asks us what `from … import` does not find


def repeat(func, args=(), kwargs=None, n_repeat=10000, **options):
    """cupyx.profiler.benchmark."""
    return benchmark(func, args, kwargs, n_repeat, **options)


__getattr__ = getter(__name__)
