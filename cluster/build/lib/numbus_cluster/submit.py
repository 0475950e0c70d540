"""`submit`: the batch script for the partition that ends first, and three lines that say why."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys

from . import advise, slurm
from .errors import complain
from .text import duration, printable

__all__ = ["batch_script", "reasons", "run"]

# What may stand in a line of #SBATCH without quotes or surprises.
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}")


def safe(text, what):
    """The text, if it can only be a name."""
    if not SAFE.fullmatch(text):
        raise complain(
            "submit",
            f"{what} cannot be written into a script",
            repr(text),
            "letters, digits and . _ + -",
        )
    return text


def timelimit(seconds):
    """Seconds as days-hours:minutes:seconds, full minutes, which is how Slurm counts."""
    minutes = max(1, math.ceil(seconds / 60))
    days, rest = divmod(minutes, 1440)
    return f"{days}-{rest // 60:02d}:{rest % 60:02d}:00"


def batch_script(choice, options, limit):
    """The text of the script."""
    name = safe(options.name, "--name")
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={name}",
        f"#SBATCH --partition={safe(choice.partition, 'the partition')}",
        f"#SBATCH --cpus-per-task={options.cpus or 1}",
        f"#SBATCH --time={timelimit(limit)}",
    ]
    if options.mem:
        lines.append(f"#SBATCH --mem={safe(options.mem, '--mem')}")
    if choice.device == "GPU":
        lines.append(f"#SBATCH --gres=gpu:{options.gpus or 1}")
    if options.account:
        lines.append(f"#SBATCH --account={safe(options.account, '--account')}")
    lines += [f"#SBATCH --output={name}-%j.out", "", "set -eu", command(options.words)]
    return "\n".join(lines) + "\n"


def command(words):
    """The command, quoted so that the shell takes every word as it is."""
    if not words:
        raise complain(
            "submit",
            "there is no command",
            "nothing",
            "it after the options: … -- python script.py",
            2,
        )
    if any("\0" in word for word in words):
        raise complain("submit", "the command holds a zero byte", "\\0", "text", 2)
    return shlex.join(words)


def reasons(found, times):
    """Three lines: what was chosen, beside what, and how sure that is."""
    best = found[0]
    rival = next((c for c in found[1:] if math.isfinite(c.end)), None)
    first = (
        f"{printable(best.partition)} ({best.device}): half of such jobs wait "
        f"{duration(best.wait)} at most; with a run of {duration(best.run)} ({times[2]}) the "
        f"job ends in {duration(best.end)}."
    )
    second = (
        "No other partition can be compared."
        if rival is None
        else f"Next best is {printable(rival.partition)} ({rival.device}), which ends in "
        f"{duration(rival.end)}: {duration(rival.wait)} of wait, {duration(rival.run)} of run."
    )
    if math.isfinite(best.end_most):
        third = (
            f"Of ten such jobs nine end in {duration(best.end_most)} or less; the wait's "
            f"bound comes from jobs of the class {best.size_class}."
        )
    else:
        third = "There are too few jobs of this kind to bound the wait."
    return [first, second, third]


def run(options):
    """The command."""
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    options.words = words
    command(words)
    found, times, _, _ = advise.decide(options)
    best = found[0]
    if math.isinf(best.end):
        raise complain(
            "submit",
            "no partition can be chosen",
            "too few jobs of this kind",
            "-p with one partition, or more history (--since)",
        )
    asked = advise.seconds_of(options.time, "--time")
    # A limit of the user's own holds for a CPU; what runs shorter on a GPU asks for less, but never
    # for less than twice its expected run.
    limit = (asked or 1.5 * times[0]) * (best.run / times[0])
    limit = max(limit, 2 * best.run if best.device == "GPU" else 0, 60)
    text = batch_script(best, options, limit)
    print(*reasons(found, times), sep="\n", file=sys.stderr)
    if options.out:
        try:
            # Nothing that is there already is overwritten.
            with open(os.open(options.out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o755), "w") as f:
                f.write(text)
        except OSError as error:
            raise complain(
                "submit", f"cannot write {options.out}", error.strerror, "the name of a new file"
            ) from None
    elif options.dry_run:
        print(text, end="")
    if not options.dry_run:
        print(slurm.run(["sbatch", "--parsable"], text).strip())
    return 0
