"""The fuzzer: random programs in NumPy and in Numbus, in every mode.

    python tests/fuzz/run.py --programs 100000            all modes, two jobs
    python tests/fuzz/run.py --print 17                   the program of a seed
    python tests/fuzz/run.py --replay 17                  run it, minimise it if it fails
    python tests/fuzz/run.py --text file.py               run program text from a file
    python tests/fuzz/run.py --subject OverlapOrder       a mutant of NumPy: must be found

A worker that dies or hangs costs one program, which is reported like any other failure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))

from check import Checker, category  # noqa: E402
from grammar import ALL, FIRST, GRAMMAR_VERSION, Features, generate  # noqa: E402
from minimise import minimise  # noqa: E402
from slots import drive  # noqa: E402

MODES = ("eager", "interp", "compiled", "auto", "null", "resized")
FAILED_SEEDS = HERE / "failed_seeds.txt"
REGRESSIONS = HERE / "regressions"


def features_of(args) -> Features:
    names = {"first": FIRST, "all": ALL}.get(args.dtypes) or tuple(args.dtypes.split(","))
    return Features(dtypes=names, big=not args.small, statements=args.statements)


def worker(args, first: int, stop: int, step: int, status, results):
    """Checks seeds first, first+step, … below stop; status = (seed, mode, programs done)."""
    checker = Checker(args.modes, args.subject, args.strict)
    features = features_of(args)

    def note(mode):
        status[1] = args.modes.index(mode)

    for seed in range(first, stop, step):
        status[0] = seed
        try:
            program = generate(seed, features)
        except Exception as e:
            results.put(("failure", seed, f"generator: {type(e).__name__}: {e}", ""))
            continue
        failure = checker.check_text(program.text, note)
        if failure:
            text = program.text
            if args.minimise:
                text = smallest(text, failure, checker.check_text, 300)
                failure = checker.check_text(text) or f"{failure} (only after other programs)"
            results.put(("failure", seed, failure, text))
        status[2] += 1
        status[3] = int(time.monotonic())
    results.put(("unsupported", 0, "", dict(checker.unsupported)))
    results.put(("done", 0, "", ""))


def smallest(text: str, failure: str, check, budget: int) -> str:
    """The minimised program that still fails in the same way."""
    kind = category(failure)
    return minimise(text, lambda t: category(check(t)) == kind, budget)


def fails_apart(args, text: str) -> str:
    """Run program text in a process of its own; "" when it passes."""
    command = [sys.executable, __file__, "--text", "-", "--modes", ",".join(args.modes)]
    command += ["--subject", args.subject]
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=args.timeout
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode < 0 or done.returncode > 1:
        lines = done.stderr.strip().split("\n")
        return f"dies with status {done.returncode}: {lines[-1][:200]}"
    return done.stdout.strip() if done.returncode else ""


def crashed(args, seed: int, mode: str, how: str) -> tuple[str, str]:
    text = generate(seed, features_of(args)).text
    failure = fails_apart(args, text)
    if not failure:
        return f"[{mode}] worker {how} (only after other programs)", text
    if args.minimise:
        text = smallest(text, failure, lambda t: fails_apart(args, t), 120)
        failure = fails_apart(args, text) or failure
    return f"[{mode}] {failure}", text


def report(args, seed: int, failure: str, text: str):
    print(f"\n=== seed {seed} (grammar {GRAMMAR_VERSION}, dtypes {args.dtypes}): {failure}")
    print(text, flush=True)
    if args.save:
        REGRESSIONS.mkdir(exist_ok=True)
        path = REGRESSIONS / f"g{GRAMMAR_VERSION}_{args.dtypes}_{seed}.txt"
        path.write_text(f"# {failure.splitlines()[0]}\n{text}\n")
        with FAILED_SEEDS.open("a") as f:
            f.write(f"{GRAMMAR_VERSION} {args.dtypes} {seed}\n")


def run_many(args) -> int:
    totals = drive(args, worker, crashed, report, category)
    totals.print_kinds()
    for message, count in totals.unsupported.most_common(20):
        print(f"not supported yet, {count} programs: {message}")
    print(
        f"{totals.programs} programs (seeds {args.seed}…{args.seed + args.programs - 1}, grammar "
        f"{GRAMMAR_VERSION}, dtypes {args.dtypes}) in modes {', '.join(args.modes)}: "
        f"{totals.failures} failures, {sum(totals.unsupported.values())} without verdict, "
        f"{totals.seconds:.0f} s"
    )
    return 1 if totals.failures else 0


def run_one(args) -> int:
    if args.text is not None:
        text = sys.stdin.read() if args.text == "-" else Path(args.text).read_text()
    else:
        text = generate(args.replay, features_of(args)).text
    checker = Checker(args.modes, args.subject, args.strict)
    failure = checker.check_text(text)
    if failure and args.replay is not None:
        report(
            args,
            args.replay,
            failure,
            minimise(text, checker.check_text) if args.minimise else text,
        )
    else:
        print(failure or f"no difference {dict(checker.unsupported) or ''}")
    return 1 if failure else 0


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--programs", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0, help="the first seed")
    p.add_argument("--modes", default=",".join(MODES))
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--dtypes", default="all", help="first, all, or names with commas")
    p.add_argument("--statements", type=int, default=Features.statements)
    p.add_argument("--small", action="store_true", help="no arrays above 40,000 elements")
    p.add_argument("--replay", type=int, metavar="SEED")
    p.add_argument("--print", type=int, metavar="SEED")
    p.add_argument("--text", metavar="FILE", help="run program text (- is standard input)")
    p.add_argument("--subject", default="numbus", help="numbus, numpy, or a mutant's name")
    p.add_argument("--strict", action="store_true", help="what is not supported is a failure")
    p.add_argument("--timeout", type=float, default=120.0, help="seconds one program may take")
    p.add_argument("--max-failures", type=int, default=20)
    p.add_argument("--no-minimise", dest="minimise", action="store_false")
    p.add_argument(
        "--save", action="store_true", help="keep failures in failed_seeds.txt, regressions/"
    )
    args = p.parse_args(argv)
    args.modes = args.modes.split(",")
    if args.print is not None:
        print(generate(args.print, features_of(args)).text)
        return 0
    if args.replay is not None or args.text is not None:
        return run_one(args)
    return run_many(args)


if __name__ == "__main__":
    sys.exit(main())
