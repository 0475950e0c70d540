"""`advise`: which partition ends a job first: its wait there, and its run on that device."""

from __future__ import annotations

import math
import os
import sys
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass

from . import fields, live_queue, output
from .errors import complain, note
from .forecast import asked_job, forecasts, load, shown
from .jobs import Classes
from .text import clock, duration, printable

__all__ = ["Choice", "break_even", "decide", "needed_speedup", "run"]

LEVELS = (0.5, 0.9)
SIZES = {"float32": 4, "float64": 8}


def needed_speedup(wait_cpu, wait_gpu, cpu_time):
    """The speed-up from which a GPU ends first; infinite where it never does (the stop-loss).

    The CPU ends after wait_cpu + cpu_time, the GPU after wait_gpu + cpu_time / f (all in seconds).
    """
    if wait_gpu - wait_cpu >= cpu_time:
        return math.inf
    return cpu_time / (cpu_time + wait_cpu - wait_gpu)


def break_even(size, seconds_per_byte, cpu_rate, gpu_rate):
    """Operations for each value of `size` bytes that crosses the link, above which a GPU is faster,
    f > s / (B · (1/Rc − 1/Rg)). seconds_per_byte: 1/B, summed over the ways. Infinite where the
    GPU's rate is no higher.
    """
    if gpu_rate <= cpu_rate:
        return math.inf
    return size * seconds_per_byte / (1 / cpu_rate - 1 / gpu_rate)


@dataclass(frozen=True)
class Rates:
    """Of a device: operations and bytes of memory a second; source: measured, stated, assumed."""

    name: str
    rate: float
    bandwidth: float
    source: str


@dataclass
class Choice:
    """What a partition would bring: seconds; wait and its bound at 50 % and 90 %; infinite where
    the data say nothing.
    """

    partition: str
    device: str
    size_class: str
    wait: float
    wait_most: float
    run: float

    @property
    def end(self):
        return self.wait + self.run

    @property
    def end_most(self):
        return self.wait_most + self.run


# ---- rates and run times -------------------------------------------------------------------------
def machine(options):
    """(cpu Rates, gpu Rates, (bytes a second to the GPU, back), source of the link), measured by
    Numbus where it is there and not stated. None where nothing is known.
    """
    stated = [
        options.cpu_rate,
        options.cpu_bandwidth,
        options.gpu_rate,
        options.gpu_bandwidth,
        options.link,
    ]
    if all(stated):
        return (
            Rates("CPU", *stated[:2], "stated"),
            Rates("GPU", *stated[2:4], "stated"),
            (options.link, options.link),
            "stated",
        )
    try:
        from numbus.measure import advise as measured
    except ImportError:
        return None
    cpu, gpu, link = measured.machine(measured.parser().parse_args(words_of(options)))
    return (
        Rates(cpu.name, cpu.rate, cpu.bandwidth, cpu.source),
        Rates(gpu.name, gpu.rate, gpu.bandwidth, gpu.source),
        (link.to, link.back),
        link.source,
    )


def words_of(options):
    """What `numbus advise` has to be told: the rates that are stated; it measures the others."""
    words = ["--quick", "--dtype", options.dtype]
    for name in ("cpu_rate", "cpu_bandwidth", "gpu_rate", "gpu_bandwidth", "link"):
        value = getattr(options, name)
        words += [f"--{name.replace('_', '-')}", repr(float(value))] if value else []
    return words


def run_times(options, devices):
    """(seconds on the CPU, seconds on the GPU or None where nobody knows, how it was found)."""
    if options.script:
        return script_times(options)
    if options.flops is not None or options.bytes is not None:
        if devices is None:
            raise complain(
                "advise",
                "the rates of the devices are not known",
                "no Numbus to measure them",
                "--cpu-rate, --cpu-bandwidth, --gpu-rate, --gpu-bandwidth and --link",
                2,
            )
        cpu, gpu, link, _ = devices
        flops, moved, copied = options.flops or 0.0, options.bytes or 0.0, options.transfer or 0.0
        # The roofline: S. Williams, A. Waterman and D. Patterson, Comm. ACM 52 (2009).
        there = max(flops / gpu.rate, moved / gpu.bandwidth) + copied / link[0]
        return max(flops / cpu.rate, moved / cpu.bandwidth), there, "predicted from flops and bytes"
    cpu_time = seconds_of(options.cpu_time, "--cpu-time") or seconds_of(options.time, "--time")
    if cpu_time is None:
        raise complain(
            "advise",
            "the run time on a CPU is not stated",
            "nothing",
            "--cpu-time, --time, --flops and --bytes, or --script",
            2,
        )
    gpu_time = seconds_of(options.gpu_time, "--gpu-time")
    if gpu_time is None and options.speedup:
        gpu_time = cpu_time / options.speedup
    return cpu_time, gpu_time, "stated"


def seconds_of(text, option):
    if text is None:
        return None
    try:
        value = fields.limit(text)
    except ValueError:
        value = 0
    if not 0 < value < fields.UNLIMITED:
        raise complain(
            "advise", f"{option} is no time", repr(text), "1-02:03:04, 4:00:00 or minutes", 2
        )
    return float(value)


def script_times(options):
    """Run times of a script, profiled by `numbus advise` in this process."""
    try:
        from numbus.measure import advise as measured
    except ImportError:
        raise complain(
            "advise",
            "a script cannot be profiled",
            "no module numbus",
            "Numbus in this environment, or --flops and --bytes",
            2,
        ) from None
    if not os.path.isfile(options.script):
        raise complain("advise", "cannot open the script", repr(options.script), "a Python file", 2)
    with printing_to_stderr():
        work, code = measured.run(options.script, [])
    if code:
        raise complain("advise", "the script failed", f"exit status {code}", "a script that runs")
    cpu, gpu, link = measured.machine(measured.parser().parse_args(words_of(options)))
    here = measured.predict(work, cpu)["total"]
    there = measured.predict(work, gpu, link)["total"]
    # Python and what Numbus did not see take as long on either device.
    counted = work["kernel"] or here
    rest = max(0.0, work["wall"] - (work["compile"] or 0.0) - counted)
    if not work["launches"]:
        note("advise", "the script ran nothing on Numbus: its time is the same with a GPU")
    on_gpu = work["device"].startswith("cuda")
    how = (
        f"of one run of the script here, on the {'GPU' if on_gpu else 'CPU'}; predicted for the "
        f"{f'CPU ({cpu.source})' if on_gpu else f'GPU ({printable(gpu.name)}, {gpu.source})'}"
    )
    if on_gpu:
        return rest + here, rest + counted, how
    return rest + counted, rest + there, how


@contextmanager
def printing_to_stderr():
    """What a script prints, by itself or from a library, does not stand among the answers."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


# ---- the choice ----------------------------------------------------------------------------------
def choices(options, jobs, codes, now, times, gpu_names):
    """A Choice for each partition on which the run time is known, the first to end first."""
    cpu_time, gpu_time, _ = times
    classes, asked = Classes.parse(options.edges, "cpu"), asked_job(options, "advise")
    cpus = asked.cpus or 1
    limit = asked.limit or cpu_time
    out = []
    for code in codes:
        name = jobs.text("partition", code)
        device = "GPU" if name in gpu_names else "CPU"
        if device == "GPU" and gpu_time is None:
            continue
        run = gpu_time if device == "GPU" else cpu_time
        # A job that runs shorter asks for less time.
        hours = limit * (run / cpu_time) / 3600
        ((size_class, found),) = forecasts(
            jobs, code, classes, cpus * hours, now, LEVELS, options.confidence, options.begin
        )
        out.append(Choice(name, device, size_class, found.estimates[0.5], found.bounds[0.9], run))
    return sorted(out, key=lambda c: (math.isinf(c.end), c.end, c.end_most, c.partition))


def has_gpus(options, jobs, codes):
    """The names of the partitions that have GPUs: as stated, as Slurm says, or as jobs had."""
    known = {jobs.text("partition", code) for code in codes}
    if options.gpu_partitions is not None:
        names = set(filter(None, options.gpu_partitions.split(",")))
        if names - known:
            raise complain(
                "advise",
                "--gpu-partitions names no partition of the data",
                ",".join(sorted(names - known)),
                ", ".join(sorted(known)),
                2,
            )
        return names
    found = {
        jobs.text("partition", code)
        for code in codes
        if (jobs["gpus"][jobs["partition"] == code] > 0).any()
    }
    if not (options.dump or options.swf or options.csv):
        found |= live_queue.gpu_partitions()
    return found & known


def decide(options):
    """([Choice …], times, devices, (jobs, now, zone, names of GPU partitions)) of the options."""
    if not 0.5 <= options.confidence < 1:
        raise complain("advise", "no such confidence", options.confidence, "0.5 to 0.999", 2)
    if options.speedup is not None and not 0 < options.speedup < math.inf:
        raise complain("advise", "--speedup cannot be", options.speedup, "a positive number", 2)
    wanted = options.flops is not None or options.bytes is not None or options.break_even
    devices = machine(options) if wanted else None
    times = run_times(options, devices)
    jobs, codes, now, zone = load(options)
    gpu_names = has_gpus(options, jobs, codes)
    found = choices(options, jobs, codes, now, times, gpu_names)
    if not found:
        raise complain(
            "advise",
            "nothing can be compared",
            "GPU partitions alone, and no run time on a GPU",
            "--speedup or --gpu-time",
            2,
        )
    return found, times, devices, (jobs, codes, now, zone, gpu_names)


def run(options):
    """The command."""
    found, times, devices, (jobs, codes, now, zone, gpu_names) = decide(options)
    cpu_best = next((c for c in found if c.device == "CPU" and math.isfinite(c.wait)), None)
    gpu_wait = gpu_waits(options, jobs, codes, now, times, gpu_names)
    said = verdict(found, cpu_best, gpu_wait, times)
    said += break_even_lines(options, devices)
    if options.plot:
        from . import plots

        if cpu_best is None or not gpu_wait:
            raise complain(
                "advise",
                "there is nothing to draw",
                "no waits of both devices",
                "a CPU and a GPU partition with jobs",
            )
        plots.save(plots.finishing(cpu_best, gpu_wait, times[0], times[1]), options.plot)
    if options.format == "json":
        output.json_text(
            {
                "now": now,
                "unit": "s",
                "how": times[2],
                "said": said,
                "needed_speedup": {
                    name: none(needed_speedup(cpu_best.wait, wait, times[0]))
                    for name, wait in gpu_wait.items()
                }
                if cpu_best
                else {},
                "rows": [
                    {
                        "partition": c.partition,
                        "device": c.device,
                        "class": c.size_class,
                        "wait": none(c.wait),
                        "wait_bound": none(c.wait_most),
                        "run": c.run,
                        "end": none(c.end),
                        "end_bound": none(c.end_most),
                    }
                    for c in found
                ],
            }
        )
        return 0
    lines = [
        [
            "partition",
            "device",
            "class",
            "wait (50 %)",
            "wait (90 %) at most",
            "run",
            "ends in",
            "at most",
        ]
    ]
    for c in found:
        lines.append(
            [
                printable(c.partition),
                c.device,
                c.size_class,
                shown(c.wait),
                shown(c.wait_most),
                duration(c.run),
                shown(c.end),
                shown(c.end_most),
            ]
        )
    output.table(
        f"# submitted at {clock(now, zone)}; run times {times[2]}; “at most” with "
        f"{100 * options.confidence:g} % confidence",
        lines,
    )
    print(*said, sep="\n")
    return 0


def none(value):
    return value if math.isfinite(value) else None


def gpu_waits(options, jobs, codes, now, times, gpu_names):
    """{GPU partition: median wait}, of jobs of the size that this one has on a CPU where its run
    time on a GPU is not known.
    """
    cpu_time, gpu_time, how = times
    there = choices(
        options,
        jobs,
        [c for c in codes if jobs.text("partition", c) in gpu_names],
        now,
        (cpu_time, gpu_time or cpu_time, how),
        gpu_names,
    )
    return {c.partition: c.wait for c in there if math.isfinite(c.wait)}


def verdict(found, cpu_best, gpu_wait, times):
    """Sentences: which partition ends first, and the stop-loss of each GPU partition."""
    cpu_time, gpu_time, _ = times
    best = found[0]
    out = []
    if math.isinf(best.end):
        out.append("No partition has enough jobs of this kind to say when it would end.")
    else:
        out.append(
            f"{printable(best.partition)} ends first: half of such jobs in {duration(best.end)}."
        )
    for name, wait in sorted(gpu_wait.items()):
        if cpu_best is None:
            continue
        need = needed_speedup(cpu_best.wait, wait, cpu_time)
        against = f"{printable(name)} against {printable(cpu_best.partition)}"
        if math.isinf(need):
            out.append(
                f"Stop-loss: {against} never wins, its wait is {duration(wait)}, and "
                f"{duration(cpu_best.wait + cpu_time)} after submission the CPU is done."
            )
        else:
            brought = f", it has {cpu_time / gpu_time:.1f}" if gpu_time else ""
            out.append(f"Stop-loss: {against} needs a speed-up above {need:.2f}{brought}.")
    return out


def break_even_lines(options, devices):
    """When a value that crosses the link pays, on this machine's devices."""
    if devices is None:
        if options.break_even:
            note("advise", "no rates: Numbus is not there, and not all of them are stated")
        return []
    cpu, gpu, link, source = devices
    size = SIZES[options.dtype]
    one, both = (
        break_even(size, way, cpu.rate, gpu.rate)
        for way in (1 / link[0], 1 / link[0] + 1 / link[1])
    )
    if math.isinf(one):
        return [f"Break-even: {gpu.name} computes no faster than {cpu.name}: it never pays."]
    return [
        f"Break-even ({options.dtype}, {cpu.name} {cpu.source}, {gpu.name} {gpu.source}, link "
        f"{source}): {one:.1f} operations a value one way, {both:.1f} both ways."
    ]
