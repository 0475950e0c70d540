"""Calls that are alike or only look so, with CPython and with loops that compile themselves.

    python tests/loops/alike.py [--first SEED] [--programs N] [--calls N]

Compares what alike_calls.py prints. Ends with 1 where it differs.
"""

import argparse
import subprocess
import sys
from pathlib import Path

PROGRAM = str(Path(__file__).with_name("alike_calls.py"))


def printed(options, seed, calls):
    done = subprocess.run(
        [sys.executable, *options, PROGRAM, str(seed), str(calls)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.splitlines() or [done.stderr[-500:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--programs", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200)
    args = parser.parse_args()
    failed = 0
    for seed in range(args.first, args.first + args.programs):
        plain, ours = (printed(options, seed, args.calls) for options in ([], ["-m", "numbus"]))
        if plain != ours:
            failed += 1
            pairs = zip(plain, ours, strict=False)
            first = next(((p, o) for p, o in pairs if p != o), (len(plain), len(ours)))
            print(f"seed {seed} differs: {first[0]}\n    with loops: {first[1]}")
    print(f"{args.programs} programs from {args.first}: {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
