"""`nb.benchmark` and IPython's `%nbtime`: what a call takes, and what it takes it for."""

from __future__ import annotations

import gc
import math
import statistics
import time
from dataclasses import dataclass

from .. import _core
from ..core import inspection as _inspect
from ..core.errors import message

__all__ = ["Timing", "benchmark", "load_ipython_extension", "measure"]

LEAST, MOST = 7, 10_000  # samples
SHORTEST = 0.02  # seconds that they take together
WARM_UPS = 10  # calls at most, until one compiles nothing


@dataclass(frozen=True)
class Timing:
    """What one call of a function takes. Times are in seconds; counts are those of one call, and
    None where they are not counted.

    name: the function's. samples: the number of calls timed. median, low, high: of those, low and
    high the quartiles. precision: half the 95 % confidence interval of the median, relative to it;
    stable: whether that came down to what was asked for. first: the first call, which compiles;
    compile: its compilation. kernel: kernels at work; transfer: copies between host and device.
    launches, bytes_moved (read and written by kernels), flops (operations of kernels on elements),
    bytes_to_device, bytes_to_host. fallbacks: calls that NumPy answers, whose work is in no count.
    """

    name: str
    samples: int
    median: float
    low: float
    high: float
    precision: float
    stable: bool
    first: float
    compile: float | None
    kernel: float | None
    transfer: float | None
    launches: float | None
    bytes_moved: float | None
    flops: float | None
    bytes_to_device: float | None
    bytes_to_host: float | None
    fallbacks: float | None

    @property
    def bandwidth(self):
        """Bytes per second that the kernels moved, over the whole call; None if not counted."""
        return None if self.bytes_moved is None else self.bytes_moved / self.median

    @property
    def flop_rate(self):
        """Operations on elements per second, over the whole call; None if not counted."""
        return None if self.flops is None else self.flops / self.median

    @property
    def rest(self):
        """Seconds of a call that are neither kernels nor transfers: Python, recording, launching,
        waiting. None if those are not counted.
        """
        if self.kernel is None or self.transfer is None:
            return None
        return max(0.0, self.median - self.kernel - self.transfer)

    def __repr__(self):
        return f"<{self.name}: {seconds(self.median)} ± {100 * self.precision:.1f} %>"

    def __str__(self):
        spread = f"median of {self.samples}, ±{100 * self.precision:.1f} %"
        if not self.stable:
            spread += ", not stable"
        copies = [
            f"{amount(count, 'B')} {where}"
            for count, where in (
                (self.bytes_to_device, "to the device"),
                (self.bytes_to_host, "back"),
            )
            if count
        ]
        lines = [
            f"{self.name}: {seconds(self.median)} a call ({spread}; "
            f"{seconds(self.low)} to {seconds(self.high)})",
            f"  first call  {seconds(self.first)}, compiling {seconds(self.compile)}",
            f"  kernels     {seconds(self.kernel)}, {amount(self.launches, 'launches')}",
            f"  transfers   {seconds(self.transfer)}" + "".join(f", {copy}" for copy in copies),
            f"  the rest    {seconds(self.rest)} (Python, recording, launching, waiting)",
            f"  bandwidth   {amount(self.bandwidth, 'B/s')}, {amount(self.bytes_moved, 'B')} moved",
            f"  rate        {amount(self.flop_rate, 'flop/s')}, {amount(self.flops, 'flop')}",
        ]
        if self.fallbacks:
            lines.append(f"  fallbacks   {self.fallbacks:g} calls of NumPy, not in these counts")
        return "\n".join(lines)


def seconds(value):
    """A time in the unit that suits it."""
    if value is None:
        return "not counted"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"


def amount(value, unit):
    """A number with the prefix that suits it."""
    if value is None:
        return "not counted"
    step = min(5, max(0, int(math.log10(value) // 3))) if value >= 1 else 0
    return f"{value / 1000**step:.3g} {('', 'k', 'M', 'G', 'T', 'P')[step]}{unit}"


def benchmark(fn, *args, **kwargs):
    """Times `fn(*args, **kwargs)`, prints the result and returns it as a `Timing`.

    All work that a call records is done before its time is taken. The first call is timed apart,
    further ones follow until they compile nothing; then calls are timed until their median is
    known to 2 %, for about 2 s at most. Errors of the function are its own; TypeError if `fn`
    cannot be called.
    """
    timing = measure(fn, args, kwargs)
    print(timing)
    return timing


def measure(fn, args=(), kwargs=None, *, budget=2.0, precision=0.02, name=None):
    """The `Timing` of `fn(*args, **kwargs)`.

    budget: seconds that the timed calls may take together, though there are never fewer than seven.
    precision: relative, at which the median is stable.
    """
    if not callable(fn):
        raise TypeError(
            message(
                "benchmark", "not a function", type(fn).__name__, "a function and its arguments"
            )
        )
    if kwargs is None:
        kwargs = {}

    def call():
        start = time.perf_counter()
        result = fn(*args, **kwargs)
        _core.synchronize()
        taken = time.perf_counter() - start
        del result  # not part of the time: freeing it
        return taken

    name = name or getattr(fn, "__qualname__", None) or type(fn).__name__
    _core.synchronize()
    before = counters()
    first = call()
    after = counters()
    compiling = difference(before, after, "compile")
    for _ in range(WARM_UPS):
        before, after = after, None
        call()
        after = counters()
        if not difference(before, after, "compile"):
            break
    samples = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        before, spent = counters(), 0.0
        while True:
            samples.append(call())
            spent += samples[-1]
            n = len(samples)
            if n < LEAST or (n & (n - 1) and spent < budget and n < MOST):
                continue  # the median is looked at where their number is a power of two
            median, error = median_of(samples)
            stable = error <= precision * median
            if (stable and spent >= SHORTEST) or spent >= budget or n >= MOST:
                break
        after = counters()
        kernel = kernel_time(call)
    finally:
        if collecting:
            gc.enable()
    quartiles = statistics.quantiles(samples, n=4)
    each = {
        key: None if (total := difference(before, after, key)) is None else total / n
        for key in COUNTED
        if key not in ("compile", "kernel")
    }
    return Timing(
        name=name,
        samples=n,
        median=median,
        low=quartiles[0],
        high=quartiles[2],
        precision=error / median if median else 0.0,
        stable=stable,
        first=first,
        compile=compiling,
        kernel=kernel,
        **each,
    )


def kernel_time(call):
    """The seconds that kernels take in a call: the least of a few, in which each is waited for."""
    _core.time_kernels(True)
    try:
        found = []
        for _ in range(5):
            before = counters()
            call()
            found.append(difference(before, counters(), "kernel"))
        return None if None in found else min(found)
    finally:
        _core.time_kernels(False)


def median_of(samples):
    """The median and half its 95 % confidence interval, from the order of the samples alone."""
    ordered, n = sorted(samples), len(samples)
    # The number of samples below the true median is binomial: n/2 ± 1.96 √n/2.
    reach = 0.98 * math.sqrt(n)
    low = ordered[max(0, math.floor(n / 2 - reach))]
    high = ordered[min(n - 1, math.ceil(n / 2 + reach))]
    return statistics.median(ordered), (high - low) / 2


# A Timing's field: the counter of nb.stats() behind it, and its unit.
COUNTED = {
    "compile": ("compile_ns", 1e-9),
    "kernel": ("kernel_ns", 1e-9),
    "transfer": ("transfer_ns", 1e-9),
    "launches": ("launches", 1),
    "bytes_moved": ("bytes_moved", 1),
    "flops": ("flops", 1),
    "bytes_to_device": ("bytes_to_device", 1),
    "bytes_to_host": ("bytes_to_host", 1),
    "fallbacks": ("fallbacks", 1),
}


def counters():
    """The counters now, in units of a Timing; None for those that the core does not have."""
    stats = _inspect.stats()
    if "compile_ns" not in stats and "compile_ms" in stats:
        stats["compile_ns"] = 1e6 * stats["compile_ms"]
    return {
        key: None if (value := stats.get(counter)) is None else value * unit
        for key, (counter, unit) in COUNTED.items()
    }


def difference(before, after, key):
    """What was counted between two looks at the counters; None where nothing is, or where somebody
    has set them back.
    """
    if before[key] is None or after[key] is None or after[key] < before[key]:
        return None
    return after[key] - before[key]


# ---- IPython -------------------------------------------------------------------------------------
def load_ipython_extension(shell):
    """`%load_ext numbus`: registers the magic `%nbtime`."""
    shell.register_magic_function(
        lambda line, cell=None: nbtime(shell, line, cell), "line_cell", "nbtime"
    )


def nbtime(shell, line, cell=None):
    """`%nbtime statement` times a statement in the user's namespace, as `nb.benchmark` does;
    `%%nbtime setup` times the lines below it after running the setup once. Returns the `Timing`.
    """
    names = shell.user_ns
    source = (line if cell is None else cell).strip()
    if not source:
        raise ValueError(message("%nbtime", "nothing to time", "an empty line", "a statement"))
    if cell is not None and line.strip():
        exec(compile(line.strip(), "<nbtime setup>", "exec"), names)
    try:
        code, run = compile(source, "<nbtime>", "eval"), eval
    except SyntaxError:
        code, run = compile(source, "<nbtime>", "exec"), exec
    first, *more = source.splitlines()
    timing = measure(lambda: run(code, names), name=first + " …" * bool(more))
    print(timing)
    return timing
