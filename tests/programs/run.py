"""Random programs of the kernel language, compiled and in CPython.

    python tests/programs/run.py --programs 100000        all modes
    python tests/programs/run.py --print 17               the program of a seed
    python tests/programs/run.py --replay 17              run it, minimise it if it fails
    python tests/programs/run.py --text file.py           run a program from a file
    python tests/programs/run.py --mutant FloorIsTrunc    a broken compile rule: must be found
    NUMBUS_DEVICE=cuda python tests/programs/run.py --modes cuda    kernels on a GPU

A worker that dies or hangs costs one program, which is reported like any other failure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[0] = str(HERE.parent)
sys.path.insert(1, str(HERE.parent / "fuzz"))
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))

from slots import drive  # noqa: E402

from programs.check import MODES, Checker, category  # noqa: E402
from programs.grow import GRAMMAR_VERSION, generate  # noqa: E402
from programs.minimise import minimise  # noqa: E402

FAILED_SEEDS = HERE / "failed_seeds.txt"
REGRESSIONS = HERE / "regressions"
FRESH = 1500  # programs after which a worker makes way for a new process


def worker(args, first: int, stop: int, step: int, status, results):
    """Checks seeds first, first+step, … below stop; status = (seed, mode, programs done)."""
    checker = Checker(args.modes, args.mutant)

    def note(mode):
        status[1] = args.modes.index(mode)

    last = ("done", 0, "", "")
    for seed in range(first, stop, step):
        if status[2] >= FRESH:
            last = ("paused", seed, "", "")
            break
        status[0] = seed
        try:
            text = generate(seed).text
        except Exception as e:
            results.put(("failure", seed, f"generator: {type(e).__name__}: {e}", ""))
            continue
        failure = checker.check_text(text, note)
        if failure:
            if args.minimise:
                status[3] = int(time.monotonic())
                text = smallest(text, failure, checker.check_text, args.budget)
                failure = checker.check_text(text) or f"{failure} (only after other programs)"
            results.put(("failure", seed, failure, text))
        status[2] += 1
        status[3] = int(time.monotonic())
    verdicts = Counter({f"verdict {k}": n for k, n in checker.verdicts.items()})
    results.put(("unsupported", 0, "", dict(checker.unsupported + verdicts)))
    results.put(last)


def smallest(text: str, failure: str, check, budget: int) -> str:
    """The minimised program that still fails in the same way."""
    kind = category(failure)
    return minimise(text, lambda t: category(check(t)) == kind, budget)


def fails_apart(args, text: str) -> str:
    """Run program text in a process of its own; "" when it passes."""
    command = [sys.executable, __file__, "--text", "-", "--modes", ",".join(args.modes)]
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=args.timeout
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode < 0 or done.returncode > 1:
        return f"dies with status {done.returncode}: {(done.stderr.strip() or ' ')[-200:]}"
    return done.stdout.strip() if done.returncode else ""


def crashed(args, seed: int, mode: str, how: str) -> tuple[str, str]:
    text = generate(seed).text
    failure = fails_apart(args, text)
    if not failure:
        return f"[{mode}] worker {how} (only after other programs)", text
    if args.minimise:
        text = smallest(text, failure, lambda t: fails_apart(args, t), 60)
        failure = fails_apart(args, text) or failure
    return f"[{mode}] {failure}", text


def report(args, seed: int, failure: str, text: str):
    print(f"\n=== seed {seed} (grammar {GRAMMAR_VERSION}): {failure}")
    print(text, flush=True)
    if args.save:
        REGRESSIONS.mkdir(exist_ok=True)
        path = REGRESSIONS / f"g{GRAMMAR_VERSION}_{seed}.py"
        path.write_text(f'"""{failure.splitlines()[0]}"""\n{text}')
        with FAILED_SEEDS.open("a") as f:
            f.write(f"{GRAMMAR_VERSION} {seed}\n")


def run_many(args) -> int:
    totals = drive(args, worker, crashed, report, category)
    totals.print_kinds()
    verdicts = {k: n for k, n in totals.unsupported.items() if k.startswith("verdict ")}
    for message, count in totals.unsupported.most_common():
        if message not in verdicts:
            print(f"not yet, {count} programs: {message}")
    print("; ".join(f"{k.removeprefix('verdict ')}: {n}" for k, n in sorted(verdicts.items())))
    print(
        f"{totals.programs} programs (seeds {args.seed}…{args.seed + args.programs - 1}, grammar "
        f"{GRAMMAR_VERSION}) in modes {', '.join(args.modes)}: {totals.failures} failures, "
        f"{totals.seconds:.0f} s"
    )
    return 1 if totals.failures else 0


def run_one(args) -> int:
    if args.text is not None:
        text = sys.stdin.read() if args.text == "-" else Path(args.text).read_text()
    else:
        text = generate(args.replay).text
    checker = Checker(args.modes, args.mutant)
    failure = checker.check_text(text)
    if failure and args.replay is not None:
        small = smallest(text, failure, checker.check_text, 600) if args.minimise else text
        report(args, args.replay, checker.check_text(small) or failure, small)
    else:
        print(failure or f"no difference {dict(checker.unsupported) or dict(checker.verdicts)}")
    return 1 if failure else 0


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--programs", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0, help="the first seed")
    p.add_argument("--modes", default=",".join(MODES))
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--replay", type=int, metavar="SEED")
    p.add_argument("--print", type=int, metavar="SEED")
    p.add_argument("--text", metavar="FILE", help="run program text (- is standard input)")
    p.add_argument("--mutant", default="", help="break a rule of the compiler on purpose")
    p.add_argument("--timeout", type=float, default=120.0, help="seconds one program may take")
    p.add_argument("--max-failures", type=int, default=20)
    p.add_argument("--budget", type=int, default=250, help="candidates while shrinking")
    p.add_argument("--no-minimise", dest="minimise", action="store_false")
    p.add_argument(
        "--save", action="store_true", help="keep failures in failed_seeds.txt, regressions/"
    )
    args = p.parse_args(argv)
    args.modes = tuple(args.modes.split(","))
    if args.print is not None:
        print(generate(args.print).text)
        return 0
    if args.replay is not None or args.text is not None:
        return run_one(args)
    return run_many(args)


if __name__ == "__main__":
    sys.exit(main())
