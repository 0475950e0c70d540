"""`python -m numbus advise`: when a GPU pays, on this machine or for a script."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from dataclasses import dataclass

from .. import _core
from ..core.devices import device as choose_device
from .timer import amount, counters, difference, seconds

__all__ = ["Device", "Link", "break_even", "main", "predict"]

BYTES = {"float32": 4, "float64": 8}

# What stands in for a GPU that is not there. Memory and products (cuBLAS) as measured on one, see
# docs/performance.md, and so is the launch; the link is the data sheet's PCIe 5.0 x16, a direction.
CARD = {
    "name": "NVIDIA H200",
    "rate": {"float32": 51e12, "float64": 62e12},
    "bandwidth": 4.2e12,
    "latency": 4e-6,
    "link": 64e9,
}


@dataclass(frozen=True)
class Device:
    """What a device can do: operations and bytes of memory per second, and the seconds from one
    launch to the next. source: 'measured' or 'stated'.
    """

    name: str
    source: str
    rate: float
    bandwidth: float
    latency: float


@dataclass(frozen=True)
class Link:
    """Bytes per second from the host to the GPU, and back."""

    to: float
    back: float
    source: str


def break_even(size, seconds_per_byte, cpu_rate, gpu_rate):
    """The flops for each transferred value of `size` bytes above which the GPU is faster.

    seconds_per_byte: of the link, summed over the ways that the value goes. Infinite where the
    GPU's rate is no higher.
    """
    if gpu_rate <= cpu_rate:
        return math.inf
    return size * seconds_per_byte / (1 / cpu_rate - 1 / gpu_rate)


def predict(work, device, link=None):
    """The seconds that the work should take on a device: a dict of its parts and their 'total'.

    work: a dict of bytes_moved, flops, launches, bytes_to_device and bytes_to_host; None counts as
    nothing. Kernels take the larger one of 'memory' and 'arithmetic'; 'launches' and 'transfers'
    add to that. link: between host and device; None for a CPU, which transfers nothing.
    """
    count = {key: value or 0 for key, value in work.items()}
    parts = {
        "memory": count["bytes_moved"] / device.bandwidth,
        "arithmetic": count["flops"] / device.rate,
        "launches": count["launches"] * device.latency,
        "transfers": 0.0,
    }
    if link is not None:
        parts["transfers"] = count["bytes_to_device"] / link.to + count["bytes_to_host"] / link.back
    kernels = max(parts["memory"], parts["arithmetic"])
    parts["total"] = kernels + parts["launches"] + parts["transfers"]
    return parts


# ---- the command line ----------------------------------------------------------------------------
class Refused(Exception):
    """A mistake on the command line; the text says which."""


class Parser(argparse.ArgumentParser):
    """Raises its complaints, in this package's wording."""

    def error(self, text):
        raise Refused(f"[advise] {text}" + "; expected what --help says" * ("expected" not in text))


def rate(text):
    """'62T', '190G' or '4.2e12' as a number."""
    match = re.fullmatch(r"([\d.]+(?:e[+-]?\d+)?)([kMGTP]?)", text)
    try:
        value = float(match[1]) * 1000.0 ** " kMGTP".index(match[2] or " ")
    except (TypeError, ValueError):
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(
            f"not a rate; got {text!r}; expected a positive number such as 62T, 190G or 4.2e12"
        )
    return value


def parser():
    """The options of the command."""
    p = Parser(
        prog="python -m numbus advise",
        usage="%(prog)s [options] [script.py [arguments …]]",
        description="When a GPU pays: on this machine, or for a script, which is run for it.",
        epilog="What is stated is not measured. Without a GPU, one of the kind "
        f"{CARD['name']} is assumed for what is not stated.",
    )
    p.add_argument("--dtype", choices=BYTES, default="float64", help="(default: %(default)s)")
    p.add_argument("--quick", action="store_true", help="measure less exactly, in a second or two")
    for device in ("cpu", "gpu"):
        p.add_argument(f"--{device}-rate", type=rate, metavar="FLOPS", help="operations per second")
        p.add_argument(
            f"--{device}-bandwidth", type=rate, metavar="BYTES", help="of memory, per second"
        )
    p.add_argument("--link", type=rate, metavar="BYTES", help="of the link, each way, per second")
    p.add_argument("script", nargs="?", help="a Python program; its own options follow it")
    p.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return p


def main(arguments):
    """The command; returns the exit code: 2 for mistakes, the script's where that fails."""
    try:
        options = parser().parse_args(arguments)
        if options.script and not os.path.isfile(options.script):
            raise Refused(
                f"[advise] cannot open the script; got {options.script!r}; expected a Python file"
            )
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    except SystemExit as done:  # --help
        return done.code or 0
    work = None
    if options.script:
        work, code = run(options.script, options.arguments)
        if code:
            print(f"[advise] the script ends with code {code}: nothing to advise", file=sys.stderr)
            return code
    cpu, gpu, link = machine(options)
    print(limits_text(cpu, gpu, link, options.dtype))
    print()
    if work:
        print(script_text(os.path.basename(options.script), work, cpu, gpu, link))
    else:
        print(break_even_text(cpu, gpu, link, options.dtype))
    return 0


# ---- measuring -----------------------------------------------------------------------------------
def machine(options):
    """(cpu, gpu, link): measured, but for what is stated or, without a GPU, assumed."""
    cpu = device_of("cpu", "CPU", options.cpu_rate, options.cpu_bandwidth, None, options)[0]
    if _core.cuda_available():
        with choose_device("cuda"):
            name = str(_core.cuda_properties()["name"])
        gpu, limits = device_of(
            "cuda", name, options.gpu_rate, options.gpu_bandwidth, options.link, options
        )
        if options.link or limits is None:
            link = Link(options.link, options.link, "stated")
        else:
            ways = limits.link_bytes_per_s
            link = Link(ways["to"], ways["from"], "measured")
        return cpu, gpu, link
    stated = options.gpu_rate and options.gpu_bandwidth
    gpu = Device(
        "GPU" if stated else CARD["name"],
        "stated" if stated else "assumed",
        options.gpu_rate or CARD["rate"][options.dtype],
        options.gpu_bandwidth or CARD["bandwidth"],
        CARD["latency"],
    )
    way = options.link or CARD["link"]
    return cpu, gpu, Link(way, way, "stated" if options.link else "assumed")


def device_of(device, name, flops, bandwidth, link, options):
    """(the Device, its Limits or None): measures it, unless all is stated."""
    limits = None
    if not (flops and bandwidth and (link or device == "cpu")):
        from .limits import measure

        limits = measure(device, options.quick)
    stated = (
        "stated" if flops and bandwidth else "partly stated" if flops or bandwidth else "measured"
    )
    measured = flops or limits.flops[options.dtype], bandwidth or limits.copy_bytes_per_s
    return Device(name, stated, *measured, latency(device)), limits


def latency(device):
    """Seconds from one launch of a small kernel to the next."""
    with choose_device(device):
        x = _core.full((16,), 1.0, "float64")
        best = math.inf
        for _ in range(7):
            _core.synchronize()
            start = time.perf_counter()
            for _ in range(100):
                x + 1.0
                _core.flush("advise measures a launch")
            _core.synchronize()
            best = min(best, (time.perf_counter() - start) / 100)
    return best


def run(script, arguments):
    """Runs the script as `python -m numbus` does: (what it took and was counted, its exit code)."""
    from ..compat import runner

    _core.synchronize()
    before, start = counters(), time.perf_counter()
    own = _core.stats().get("user_launches", 0)
    _core.time_kernels(True)
    try:
        code = runner.main([script, *arguments])
    except SystemExit as done:
        code = 0 if done.code is None else done.code if isinstance(done.code, int) else 1
        if isinstance(done.code, str):
            print(done.code, file=sys.stderr)
    finally:
        _core.synchronize()
        _core.time_kernels(False)
    wall, after = time.perf_counter() - start, counters()
    work = {key: difference(before, after, key) for key in before}
    work["wall"], work["device"] = wall, _core.get_device()
    work["user_launches"] = _core.stats().get("user_launches", 0) - own
    return work, code


# ---- text ----------------------------------------------------------------------------------------
def limits_text(cpu, gpu, link, dtype):
    """What the devices can do."""
    lines = [f"what the devices can do, in {dtype}:"]
    for d in (cpu, gpu):
        lines.append(
            f"  {d.name:<14}{amount(d.rate, 'flop/s'):>14}{amount(d.bandwidth, 'B/s'):>12}"
            f"{seconds(d.latency):>10} a launch   ({d.source})"
        )
    lines.append(
        f"  {'link':<14}{amount(link.to, 'B/s')} to the GPU, {amount(link.back, 'B/s')} back"
        f"   ({link.source})"
    )
    return "\n".join(lines)


def break_even_text(cpu, gpu, link, dtype):
    """From how many operations a value on the GPU pays."""
    size = BYTES[dtype]
    one, both = (
        break_even(size, way, cpu.rate, gpu.rate)
        for way in (1 / link.to, 1 / link.to + 1 / link.back)
    )
    if math.isinf(one):
        return "The GPU's rate is no higher than the CPU's: for arithmetic it never pays."
    # 2 n³ operations; two matrices go there, one comes back.
    side = math.ceil(break_even(size, 2 / link.to + 1 / link.back, cpu.rate, gpu.rate) / 2)
    memory = gpu.bandwidth / cpu.bandwidth
    return "\n".join(
        [
            "the GPU is faster where a value that crosses the link takes more operations than",
            f"  {one:8.1f}   if values go one way (to the GPU; a sum comes back)",
            f"  {both:8.1f}   if values go both ways",
            f"so that a product of n × n matrices pays from n = {side} on. Data that stay on the",
            f"GPU pay nothing for the link; its memory is {memory:.3g} times as fast as the CPU's.",
        ]
    )


def script_text(name, work, cpu, gpu, link):
    """What a script took, beside what it should take on each device."""
    on_gpu = work["device"].startswith("cuda")
    here, there = predict(work, cpu), predict(work, gpu, link)
    counted = work["kernel"]
    if counted is not None:
        counted += work["transfer"] or 0.0
    cells = ["–", "–"]
    cells[on_gpu] = seconds(counted)
    rows = [(part, seconds(here[part]), seconds(there[part])) for part in here if part != "total"]
    rows += [("predicted", seconds(here["total"]), seconds(there["total"])), ("measured", *cells)]
    lines = [
        f"{name}, run on {work['device']}: {seconds(work['wall'])}, compiling "
        f"{seconds(work['compile'])} of it",
        f"  {work['launches'] or 0:,.0f} launches, {amount(work['bytes_moved'], 'B')} moved by "
        f"kernels, operations: {amount(work['flops'], 'flop')}",
        f"  to the device: {amount(work['bytes_to_device'], 'B')}, "
        f"back: {amount(work['bytes_to_host'], 'B')}",
        "",
        f"  {'':<14}{cpu.name:>14}{gpu.name:>18}",
        *(f"  {what:<14}{left:>14}{right:>18}" for what, left, right in rows),
        "",
    ]
    if counted is not None:
        rest = max(0.0, work["wall"] - (work["compile"] or 0.0) - counted)
        lines.append(f"The rest of the run, Python above all, takes {seconds(rest)} on either.")
    if work["flops"] is None:
        lines.append("Operations are not counted: the arithmetic is missing above.")
    if work["user_launches"]:
        lines.append(
            f"{work['user_launches']:,} launches were of the script's own kernels: their time is "
            "measured, what they move and compute is missing above."
        )
    if work["fallbacks"]:
        lines.append(f"{work['fallbacks']:g} calls went to NumPy and are missing above (--report).")
    if not on_gpu:
        lines.append("On a CPU nothing is copied: what would cross the link is missing above.")
    if not work["launches"] and not work["user_launches"]:
        lines.append("No work of Numbus was seen: a GPU brings this script nothing.")
    else:
        better, ratio = ("GPU", here["total"] / there["total"])
        if ratio < 1:
            better, ratio = "CPU", 1 / ratio
        lines.append(f"By this prediction the {better} is faster, {ratio:.1f} times.")
    return "\n".join(lines)
