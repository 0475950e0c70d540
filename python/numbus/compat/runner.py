"""Runs a script as `python script.py` would, with Numbus for NumPy in the user's own modules."""

import importlib
import os
import sys

from .. import _late, loops
from . import loader, spawn
from .rewrite import compile_user

USAGE = """usage: python -m numbus [--report] [--strict] [--no-loops] script.py [arguments …]
       python -m numbus [--report] [--strict] [--output done.ipynb] notebook.ipynb [arguments …]
       python -m numbus [--report] [--strict] -c code [arguments …]
       python -m numbus info
       python -m numbus bench [--help]
       python -m numbus advise [--help]
       python -m numbus cluster [--help]

--report   at exit, names what NumPy had to do, with lines and counts, and Numbus' own counters
--strict   makes such a fallback an error
--no-loops leaves hot loops of Python's to CPython (docs/loops.md)
--output   writes a notebook with what its cells showed, pictures too
info       devices, versions, libraries
bench      measures this machine: devices, other libraries (pip install numbus-bench)
advise     when a GPU pays, for this machine or for a script
cluster    waiting times of a Slurm cluster (pip install numbus-cluster)"""

_OPTIONS = ("--report", "--strict", "--loops", "--no-loops", "--output")

# Commands with a module of their own; each has main(arguments) -> exit code.
COMMANDS = {
    "bench": "numbus_bench.command",
    "advise": "numbus.measure.advise",
    "cluster": "numbus_cluster.cli",
}

# Packages that are not in the wheel of Numbus, and what brings them.
DISTRIBUTIONS = {"numbus_bench": "numbus-bench", "numbus_cluster": "numbus-cluster"}


def main(arguments):
    """The command line; returns the exit code."""
    report, strict, output, compiles = False, False, None, loops.are_wanted()
    while arguments and arguments[0] in _OPTIONS:
        option, *arguments = arguments
        report |= option == "--report"
        strict |= option == "--strict"
        if option in ("--loops", "--no-loops"):
            compiles = option == "--loops"
        if option == "--output":
            output, *arguments = arguments or [None]
            if output is None or not (arguments and arguments[0].endswith(".ipynb")):
                print(
                    "[numbus] --output is of notebooks; got "
                    f"{arguments[0] if arguments else 'nothing'!r}; expected a file to write to "
                    "and a notebook",
                    file=sys.stderr,
                )
                return 2
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments == ["info"]:
        from .info import text

        print(text())
        return 0
    if arguments[0] in COMMANDS:
        try:
            module = importlib.import_module(COMMANDS[arguments[0]])
        except ModuleNotFoundError as error:
            package = COMMANDS[arguments[0]].partition(".")[0]
            if package not in DISTRIBUTIONS or (error.name or "").partition(".")[0] != package:
                raise
            print(
                f"[numbus] the command {arguments[0]!r} is a distribution of its own; got no "
                f"module {package}; expected it after `pip install {DISTRIBUTIONS[package]}`",
                file=sys.stderr,
            )
            return 2
        return module.main(arguments[1:])
    if arguments[0] == "-c":
        if len(arguments) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        source, file, sys.argv = arguments[1], "<string>", ["-c", *arguments[2:]]
        folder = ""
        import linecache

        # Tracebacks show its lines, and kernels are compiled from them.
        lines = source.splitlines(keepends=True)
        linecache.cache[file] = len(source), None, lines, file
    else:
        file = arguments[0]
        try:
            with open(file, "rb") as stream:
                source = stream.read()
        except OSError as error:
            print(
                f"[numbus] cannot open the script; got {file!r}: {error.strerror}; "
                f"expected a Python file{_instead(file)}",
                file=sys.stderr,
            )
            return 2
        sys.argv = list(arguments)
        file = os.path.abspath(file)  # as Python names it in tracebacks and warnings
        folder = os.path.dirname(file)
    if not sys.flags.safe_path:
        sys.path[0] = folder
        _late.note_folder(folder)
    install()
    if strict:
        _late.when_loaded(_be_strict)
    if compiles:
        loops.install(report)
    _late.freeze()  # a script's collections look at its own objects, not at ours
    try:
        if file.endswith(".ipynb"):
            return _notebook(file, output)
        return run(source, file)
    finally:
        if report:
            print_report()


def _be_strict():
    from ..core import fallback

    fallback.state.strict = True


def _notebook(file, output):
    notebook = importlib.import_module("numbus.compat.notebook")  # which needs IPython
    try:
        return notebook.run(file, output)
    except (ModuleNotFoundError, ValueError) as error:
        if not str(error).startswith("[notebook]"):
            raise
        print(error, file=sys.stderr)
        return 2


def _instead(word):
    """What a word that is no file may stand for: an option or a command, misspelt or not."""
    import difflib  # only after a mistake

    options, commands = (
        (*_OPTIONS, "--help", "-c"),
        ("info", *COMMANDS),
    )
    if word.startswith("-"):
        return f", or one of the options {', '.join(options)}"
    near = difflib.get_close_matches(word, commands, 1)
    return f", or the command {near[0]!r}" if near else ""


def install():
    """Makes user modules get Numbus, in this process and in those that multiprocessing spawns."""
    loader.install()
    _late.when_loaded(_be_numpy)
    spawn.install()


def _be_numpy():
    """Tells the package that a program has it for NumPy."""
    import numpy

    from ..core import fallback

    fallback.state.is_user = loader.is_user_file
    # Scripts ask `numpy.__version__` which names and rules they may use: those are NumPy's.
    package = sys.modules[__package__.partition(".")[0]]
    package.__version__, package.version = numpy.__version__, numpy.version


def run(source, file):
    """Executes the source as `__main__`; returns the exit code. Errors print as Python
    prints them.
    """
    module = loader.new_main(file)
    sys.modules["__main__"] = module
    try:
        code = compile_user(source, file)
        _late.note_start()
        exec(code, module.__dict__)
        if _late.is_loaded():
            sys.modules["numbus._core"].synchronize()
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and not loader.is_user_file(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        if trace is not None or isinstance(error, SyntaxError):
            error.__traceback__ = trace
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def print_report():
    """Writes the fallbacks and the counters to standard error."""
    from .. import _core
    from ..core import fallback

    sys.stdout.flush()
    lines = fallback.report_lines()
    print(
        "numbus: fallbacks to NumPy:" if lines else "numbus: no fallbacks to NumPy", file=sys.stderr
    )
    for line in lines:
        print(line, file=sys.stderr)
    if loops.is_enabled():
        print(
            "numbus: loops:", *(loops.report_lines() or ["      none"]), sep="\n", file=sys.stderr
        )
    stats = _core.stats()
    print(
        f"numbus: {stats['launches']} kernels run; {stats['compiles']} compiled and "
        f"{stats['disk_hits']} from the cache on disk, in {stats['compile_ms']:.1f} ms; "
        f"{stats['bytes_moved'] / 1e6:,.1f} MB moved, {stats['contracted_bytes'] / 1e6:,.1f} MB of "
        "results between never stored",
        file=sys.stderr,
    )
    if _core.placing():
        print(
            f"numbus: devices chosen by cost: {stats['bytes_to_device'] / 1e6:,.1f} MB copied to a "
            f"GPU and {stats['bytes_to_host'] / 1e6:,.1f} MB back; work that ran there, by its "
            "first line:",
            file=sys.stderr,
        )
        far = sorted(_core.far_windows(), key=lambda line: -line[2])
        for file, line, windows in far[:10] or [("", 0, 0)]:
            print(f"      {file}:{line}  {windows}×" if windows else "      none", file=sys.stderr)
    counters = [f"{k} {round(v, 3) if isinstance(v, float) else v}" for k, v in stats.items()]
    print(f"numbus: {', '.join(counters)}", file=sys.stderr)
