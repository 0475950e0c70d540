"""The command line: `numbus-cluster`, `python -m numbus_cluster` and `python -m numbus cluster`."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys

from . import __version__
from .errors import Problem

__all__ = ["main"]


class Parser(argparse.ArgumentParser):
    """Errors like those of the rest of the package."""

    def error(self, text):
        name = self.prog.split()[-1]
        raise Problem(f"[{name}] {text}; expected what --help says", 2)


def source_options(p):
    """Options that say where the jobs come from."""
    g = p.add_argument_group("data", "Slurm's sacct is asked where no file is given")
    g.add_argument("--dump", metavar="FILE", help="what sacct --parsable2 printed (also .gz)")
    g.add_argument("--swf", metavar="FILE", help="Standard Workload Format (also .gz)")
    g.add_argument("--csv", metavar="FILE", help="a CSV file with a header")
    g.add_argument("--map", metavar="MAP", help="columns of --csv: Partition=queue,Submit=t0,…")
    g.add_argument("--delimiter", default=",", metavar="C", help="of --csv (default: a comma)")
    g.add_argument("--timezone", metavar="ZONE", help="of the times in the file, Europe/Berlin")
    g.add_argument("--since", metavar="TIME", help="jobs submitted since 30d, 12h or 2024-03-01")
    g.add_argument("--now", metavar="TIME", help="as if it were this time (default: of the data)")
    g.add_argument(
        "--wait-from",
        dest="begin",
        choices=("eligible", "submit"),
        default="eligible",
        help="where the wait begins (default: %(default)s)",
    )
    g.add_argument("--cache", metavar="FOLDER", help="(default: ~/.cache/numbus-cluster)")
    g.add_argument("--no-cache", action="store_true", help="keep nothing after the command")


def class_options(p):
    """Options that say what the size classes are."""
    p.add_argument(
        "-it",
        dest="edges",
        default="4,4",
        metavar="FIRST,FACTOR[,BINS]",
        help="edges of the size classes (default: %(default)s, so 4, 16, 64)",
    )
    by = p.add_mutually_exclusive_group()
    by.add_argument("-m", dest="memory", action="store_true", help="classes of memory, GB·hours")
    by.add_argument("-g", dest="gpu", action="store_true", help="classes of GPU hours")


def table_options(p):
    p.add_argument("-p", dest="partitions", metavar="NAMES", help="with commas (default: all)")
    class_options(p)
    p.add_argument(
        "--stat",
        choices=("mean", "median", "p90"),
        default="mean",
        help="what the cells show (default: %(default)s)",
    )
    p.add_argument("--user", metavar="NAME", help="jobs of this user")
    p.add_argument("--qos", metavar="NAME", help="jobs of this QOS")
    p.add_argument("--format", choices=("table", "json", "csv"), default="table")
    p.add_argument("--plot", metavar="FILE", help="waits by size class as .svg, .png or .pdf")
    source_options(p)


def job_options(p):
    """Options that describe a job."""
    g = p.add_argument_group("job")
    g.add_argument("--cpus", type=int, metavar="N", help="processors")
    g.add_argument("--time", metavar="LIMIT", help="as of sbatch: 1-02:03:04, 4:00:00 or minutes")
    g.add_argument("--mem", metavar="SIZE", help="memory of the whole job, 16G")
    g.add_argument("--gpus", type=int, metavar="N", help="GPUs")


def forecast_options(p):
    p.add_argument("-p", dest="partitions", metavar="NAMES", help="with commas (default: all)")
    class_options(p)
    p.add_argument(
        "--size", type=float, metavar="HOURS", help="the job's size in the classes' unit"
    )
    p.add_argument("--quantiles", default="50,90", metavar="PERCENT", help="(default: %(default)s)")
    p.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    p.add_argument("--format", choices=("table", "json"), default="table")
    p.add_argument("--plot", metavar="FILE", help="fan chart of the first partition, next 24 hours")
    job_options(p)
    source_options(p)


def start_options(p):
    p.add_argument("-p", dest="partitions", metavar="NAMES", help="with commas (default: all)")
    p.add_argument("--user", metavar="NAME", help="jobs of this user")
    p.add_argument("--job", metavar="ID", help="this job, with the tasks of its array")
    p.add_argument("--format", choices=("table", "json"), default="table")
    source_options(p)


def rate(text):
    """'62T', '190G' or '4.2e12' as a number."""
    found = re.fullmatch(r"(\d+\.?\d*(?:e[+-]?\d{1,3})?)([kMGTP]?)", text, re.ASCII)
    value = float(found[1]) * 1000.0 ** " kMGTP".index(found[2] or " ") if found else 0.0
    if not 0 < value < 1e300:
        raise argparse.ArgumentTypeError(
            f"not a number; got {text!r}; expected 62T, 190G or 4.2e12"
        )
    return value


def work_options(p):
    """Options that say how long the job runs on each device."""
    p.add_argument("-p", dest="partitions", metavar="NAMES", help="with commas (default: all)")
    p.add_argument(
        "-it",
        dest="edges",
        default="4,4",
        metavar="FIRST,FACTOR[,BINS]",
        help="edges of the size classes in CPU hours (default: %(default)s)",
    )
    job_options(p)
    g = p.add_argument_group("run time", "on a CPU --time is taken where nothing else says it")
    g.add_argument("--cpu-time", metavar="TIME", help="on the CPUs asked for, as --time")
    g.add_argument("--gpu-time", metavar="TIME", help="on a GPU")
    g.add_argument("--speedup", type=float, metavar="F", help="of a GPU over those CPUs")
    g.add_argument("--flops", type=rate, metavar="N", help="operations of the job, 3e15 or 3P")
    g.add_argument("--bytes", type=rate, metavar="N", help="that it moves in memory")
    g.add_argument("--transfer", type=rate, metavar="N", help="bytes that cross the link to a GPU")
    g.add_argument("--script", metavar="FILE", help="a script, which numbus advise profiles")
    g.add_argument("--dtype", choices=("float32", "float64"), default="float64")
    g.add_argument("--break-even", action="store_true", help="show from where on a GPU pays")
    for device in ("cpu", "gpu"):
        g.add_argument(f"--{device}-rate", type=rate, metavar="FLOPS", help="operations a second")
        g.add_argument(f"--{device}-bandwidth", type=rate, metavar="BYTES", help="of its memory")
    g.add_argument("--link", type=rate, metavar="BYTES", help="between them, a second, each way")
    p.add_argument("--gpu-partitions", metavar="NAMES", help="(default: where jobs have GPUs)")
    p.add_argument("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    source_options(p)


def advise_options(p):
    work_options(p)
    p.add_argument("--format", choices=("table", "json"), default="table")
    p.add_argument("--plot", metavar="FILE", help="finishing times against the speed-up")


def submit_options(p):
    work_options(p)
    p.add_argument("--name", default="job", help="of the job (default: %(default)s)")
    p.add_argument("--account", metavar="NAME", help="to be charged")
    p.add_argument("--out", metavar="FILE", help="write the script here, not to the terminal")
    p.add_argument(
        "--dry-run",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write the script only; --no-dry-run gives it to sbatch",
    )
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="-- command …")


def backtest_options(p):
    p.add_argument("-p", dest="partitions", metavar="NAMES", help="with commas (default: all)")
    class_options(p)
    p.add_argument(
        "--last",
        type=int,
        default=20_000,
        metavar="JOBS",
        help="how many jobs to predict, the latest (default: %(default)s)",
    )
    p.add_argument(
        "--window",
        type=int,
        default=1000,
        metavar="JOBS",
        help="how many waits a bound rests on (default: %(default)s)",
    )
    p.add_argument("--format", choices=("table", "json"), default="table")
    source_options(p)


def sample_options(p):
    p.add_argument("--jobs", type=int, default=20_000, metavar="N", help="(default: %(default)s)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="(default: %(default)s)")
    p.add_argument("--change", type=float, metavar="FACTOR", help="waits change by it at 60 %%")
    p.add_argument(
        "--memory",
        type=float,
        default=0.0,
        metavar="R",
        help="correlation of one wait with the next (default: %(default)s)",
    )


# name: (module, what it does, its options)
COMMANDS = {
    "table": ("table", "waiting times for each partition and size class", table_options),
    "forecast": ("forecast", "how long a job waits that is submitted now", forecast_options),
    "start": ("start", "when the jobs of the present queue will start", start_options),
    "advise": ("advise", "which partition ends a job first", advise_options),
    "submit": ("submit", "write the batch script for that partition", submit_options),
    "backtest": ("backtest", "what the forecasts would have been worth", backtest_options),
    "sample": ("trace", "the accounting of a made-up cluster, to try the rest", sample_options),
}


def parser(prog):
    p = Parser(
        prog=prog,
        description="Which partition finishes a job first, and how long is the "
        "wait: a queue tool for Slurm.",
    )
    p.add_argument("--version", action="version", version=f"numbus-cluster {__version__}")
    sub = p.add_subparsers(dest="command", metavar="command", required=True)
    for name, (_, about, options) in COMMANDS.items():
        options(sub.add_parser(name, help=about, description=about[0].upper() + about[1:] + "."))
    return p


def main(arguments=None, prog="numbus-cluster"):
    """The command line; returns the exit status: 1 for data and machine, 2 for mistakes."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser(prog).parse_args(arguments)
        module = importlib.import_module(f"numbus_cluster.{COMMANDS[options.command][0]}")
        code = module.run(options)
        sys.stdout.flush()
        return code
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.code
    except SystemExit as done:  # --help, --version
        return done.code or 0
    except KeyboardInterrupt:
        print("[cluster] interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
