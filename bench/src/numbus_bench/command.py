"""`python -m numbus bench`: what the devices of this machine bring, beside other libraries."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from . import suites
from .errors import BenchError, complain
from .libraries import PEERS, engines, installed

UNITS = {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9}
QUICK_BUDGET = 60.0


class Parser(argparse.ArgumentParser):
    """Errors like those of the rest of the library."""

    def error(self, text):
        raise BenchError(f"[bench] {text}; see `python -m numbus bench --help`")


def parser():
    p = Parser(
        prog="python -m numbus bench",
        description="Measures Numbus on this machine's devices, other libraries beside it. Every "
        "result is compared with NumPy's before it is timed.",
        epilog=f"suites: {', '.join(suites.SUITES)} (default: all), or a file of your own: see "
        "docs/benchmarking.md",
    )
    p.add_argument("suites", nargs="*", metavar="suite", help="what to measure")
    p.add_argument("--device", metavar="NAMES", help="cpu, cuda or both with a comma (default: all "
                   "that can be used)")  # fmt: skip
    p.add_argument("--peers", metavar="NAMES", help=f"of {', '.join(PEERS)}, with commas; or none "
                   "(default: all that are installed)")  # fmt: skip
    p.add_argument("--size", metavar="LIMIT", help="leave out what is larger: 8MB for arrays, 2048 "
                   "for sizes that are numbers, or both with a comma")  # fmt: skip
    p.add_argument("--budget", metavar="SECONDS", type=float, help="time for everything: fewer "
                   "repeats, then fewer cases (default: 300)")  # fmt: skip
    p.add_argument("--quick", action="store_true", help="small sizes: a test that takes seconds")
    p.add_argument("--out", metavar="FOLDER", default="report", help="where index.html, "
                   "bench.json and speedup.svg go (default: report)")  # fmt: skip
    p.add_argument("--compare", metavar="FILE", help="a bench.json of before: show what changed")
    p.add_argument("--list", action="store_true", help="show suites, devices and libraries")
    return p


def chosen_suites(names):
    """The suites asked for, in the order of the table."""
    for name in names:
        if name.endswith(".py"):
            if not Path(name).is_file():
                raise complain("cannot open the suite", repr(name), "a Python file")
            try:
                module = suites.load(str(Path(name).resolve()))
            except Exception as error:
                raise complain("the suite cannot be loaded", f"{type(error).__name__}: {error}",
                               "TITLE, ABOUT and cases(quick)") from error  # fmt: skip
            for needed in ("TITLE", "ABOUT", "cases"):
                if not hasattr(module, needed):
                    raise complain(f"the suite has no {needed}", repr(name),
                                   "TITLE, ABOUT and cases(quick)")  # fmt: skip
        elif name not in suites.SUITES:
            raise complain("no such suite", repr(name), f"of {', '.join(suites.SUITES)}, or a file")
    if not names:
        return list(suites.SUITES)
    own = [str(Path(n).resolve()) for n in names if n.endswith(".py")]
    return [s for s in suites.SUITES if s in names] + list(dict.fromkeys(own))


def chosen_devices(text):
    """The devices asked for; those that can be used where none were."""
    from numbus import cuda

    if text is None:
        return ["cpu", "cuda"] if cuda.is_available() else ["cpu"]
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in ("cpu", "cuda"):
            raise complain("no such device", repr(name), "cpu or cuda")
    if "cuda" in names and not cuda.is_available():
        raise complain("no GPU can be used", repr(cuda.reason()), "a usable GPU, or --device cpu")
    return list(dict.fromkeys(names))


def chosen_peers(text):
    """The libraries asked for; those that are installed where none were."""
    if text is None:
        return [name for name in PEERS if installed(name)]
    names = [name.strip() for name in text.split(",")]
    if names == ["none"]:
        return []
    for name in names:
        if name not in PEERS:
            raise complain("no such peer", repr(name), f"of {', '.join(PEERS)}, or none")
        if not installed(name):
            raise complain("a peer is not installed", repr(name), f"pip install {PEERS[name][2]}")
    return [name for name in PEERS if name in names]


def chosen_size(text):
    """case -> whether it is small enough; None without a limit."""
    if text is None:
        return None
    nbytes = number = None
    for part in text.split(","):
        found = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)", part.strip().lower())
        try:
            value = float(found[1])
            factor = UNITS[found[2]] if found[2] else None
        except (TypeError, KeyError, ValueError):
            raise complain("not a size", repr(part), "a number, or bytes: 8MB, 2GB") from None
        if factor is None:
            number = value
        else:
            nbytes = value * factor

    def small(case):
        in_bytes = case.size.endswith("B")
        if in_bytes:
            return nbytes is None or case.n <= nbytes * 1.05
        if number is not None and case.n > number:
            return False
        return nbytes is None or case.input_bytes <= nbytes * 1.05

    return small


def listing(peers):
    """What can be asked for."""
    lines = ["suites"]
    for name in suites.SUITES:
        module = suites.load(name)
        lines.append(f"  {name:12} {module.TITLE} ({len(list(module.cases()))} cases)")
    lines += ["devices", f"  {', '.join(chosen_devices(None))}", "libraries"]
    for name, (title, devices, pip) in PEERS.items():
        state = f"installed: {', '.join(devices)}" if name in peers else f"pip install {pip}"
        lines.append(f"  {name:12} {title}, {state}")
    return "\n".join(lines)


def check_folder(name):
    """The folder for the report, made now: a mistake should not cost the whole run."""
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        raise complain("cannot write the report", f"{name!r}: {error.strerror}",
                       "a folder") from None  # fmt: skip
    return folder


def main(arguments):
    """The command line; returns the exit code: 0, 1 where a result was wrong, 2 for a mistake."""
    try:
        return run(parser().parse_args(arguments))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("[bench] interrupted; no report was written", file=sys.stderr)
        return 130


def run(args):
    """Measures and writes the report."""
    from . import compare, page, table
    from .progress import Progress
    from .session import Session

    if args.list:
        print(listing(chosen_peers(None)))
        return 0
    names = chosen_suites(args.suites)
    devices, peers = chosen_devices(args.device), chosen_peers(args.peers)
    if args.budget is not None and not args.budget > 0:
        raise complain("the budget must be positive", args.budget, "seconds")
    before = compare.read(args.compare) if args.compare else None
    folder = check_folder(args.out)
    budget = args.budget or (QUICK_BUDGET if args.quick else 300.0)
    session = Session(
        names, devices, engines(devices, peers), quick=args.quick, budget=budget,
        largest=chosen_size(args.size), seconds=0.02 if args.quick else 0.3,
        longest=0.5 if args.quick else 1.5,
    )  # fmt: skip
    empty = [name for name, cases in session.plan if not cases]
    if len(empty) == len(names) or (args.suites and empty):
        raise complain(f"--size leaves nothing of {', '.join(empty)}", args.size, "a larger size")
    session.plan = [(name, cases) for name, cases in session.plan if cases]
    session.progress = progress = Progress(session.steps())

    def announce(suite, report):
        progress.clear()
        print(table.suite(suite, report, session.engines), flush=True)

    report = session.run(announce)
    progress.clear()
    from .summary import summarise

    summarise(report)
    if before is not None:
        report["compared"] = compare.changes(before, report)
        print(compare.text(report["compared"]))
    (folder / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
    page.write(report, folder)
    print(table.closing(report, folder))
    wrong = any("wrong" in r for s in report["suites"] for c in s["cases"]
                for r in c["results"].values())  # fmt: skip
    return 1 if wrong else 0
