"""What the array fuzzer and the generator of programs do alike: seeds in worker processes, failures
made small, reported and kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from slots import drive


class Suite:
    """One kind of random program. One that dies or hangs costs no other one."""

    version: int  # of the grammar
    modes: tuple
    suffix: str  # of files of programs
    fresh = 1 << 62  # programs after which a worker makes way for a new process
    budget, apart = (
        300,
        120,
    )  # candidates while shrinking, in a worker and in processes of their own

    def __init__(self, file, doc):
        self.file, self.doc = str(Path(file).resolve()), doc
        self.folder = Path(self.file).parent

    # ---- what each kind says of itself -----------------------------------------------------------
    def text(self, args, seed: int) -> str:
        """The program of a seed."""
        raise NotImplementedError

    def checker(self, args):
        """An object with check_text(text, note) and the counters that counts() reads."""
        raise NotImplementedError

    def category(self, failure: str) -> str:
        raise NotImplementedError

    def minimise(self, text: str, fails, budget: int) -> str:
        raise NotImplementedError

    def counts(self, checker) -> dict:
        return dict(checker.unsupported)

    def add_options(self, parser):
        """Options of this kind alone."""

    def same_options(self, args) -> list[str]:
        """The options with which a program is run in a process of its own."""
        return []

    def key(self, args) -> list[str]:
        """What a seed means apart from the grammar's version."""
        return []

    def comment(self, failure: str, text: str) -> str:
        """A file of a program that failed."""
        raise NotImplementedError

    def print_totals(self, args, totals):
        raise NotImplementedError

    # ---- workers ---------------------------------------------------------------------------------
    def worker(self, args, first: int, stop: int, step: int, status, results):
        """Checks seeds first, first+step, … below stop; status = (seed, mode, programs done)."""
        checker = self.checker(args)

        def note(mode):
            status[1] = args.modes.index(mode)

        last = ("done", 0, "", "")
        for seed in range(first, stop, step):
            if status[2] >= self.fresh:
                last = ("paused", seed, "", "")
                break
            status[0] = seed
            try:
                text = self.text(args, seed)
            except Exception as e:
                results.put(("failure", seed, f"generator: {type(e).__name__}: {e}", ""))
                continue
            failure = checker.check_text(text, note)
            if failure:
                if args.minimise:
                    status[3] = int(time.monotonic())
                    text = self.smallest(text, failure, checker.check_text, args.budget)
                    failure = checker.check_text(text) or f"{failure} (only after other programs)"
                results.put(("failure", seed, failure, text))
            status[2] += 1
            status[3] = int(time.monotonic())
        results.put(("unsupported", 0, "", self.counts(checker)))
        results.put(last)

    def smallest(self, text: str, failure: str, check, budget: int) -> str:
        """The minimised program that still fails in the same way."""
        kind = self.category(failure)
        return self.minimise(text, lambda t: self.category(check(t)) == kind, budget)

    def fails_apart(self, args, text: str) -> str:
        """Run program text in a process of its own; "" when it passes."""
        command = [sys.executable, self.file, "--text", "-", "--modes", ",".join(args.modes)]
        try:
            done = subprocess.run(
                [*command, *self.same_options(args)],
                input=text,
                capture_output=True,
                text=True,
                timeout=args.timeout,
            )
        except subprocess.TimeoutExpired:
            return "hangs"
        if done.returncode < 0 or done.returncode > 1:
            return f"dies with status {done.returncode}: {(done.stderr.strip() or ' ')[-200:]}"
        return done.stdout.strip() if done.returncode else ""

    def crashed(self, args, seed: int, mode: str, how: str) -> tuple[str, str]:
        text = self.text(args, seed)
        failure = self.fails_apart(args, text)
        if not failure:
            return f"[{mode}] worker {how} (only after other programs)", text
        if args.minimise:
            text = self.smallest(text, failure, lambda t: self.fails_apart(args, t), self.apart)
            failure = self.fails_apart(args, text) or failure
        return f"[{mode}] {failure}", text

    # ---- what is found ---------------------------------------------------------------------------
    def report(self, args, seed: int, failure: str, text: str):
        key = "".join(f", {part}" for part in self.key(args))
        print(f"\n=== seed {seed} (grammar {self.version}{key}): {failure}")
        print(text, flush=True)
        if args.save:
            kept = [str(self.version), *self.key(args), str(seed)]
            regressions = self.folder / "regressions"
            regressions.mkdir(exist_ok=True)
            path = regressions / f"g{'_'.join(kept)}{self.suffix}"
            path.write_text(self.comment(failure.splitlines()[0], text))
            with (self.folder / "failed_seeds.txt").open("a") as f:
                f.write(" ".join(kept) + "\n")

    def run_many(self, args) -> int:
        self.checker(args)  # what cannot be imported fails here, not as a death of each worker
        totals = drive(args, self.worker, self.crashed, self.report, self.category)
        totals.print_kinds()
        self.print_totals(args, totals)
        return 1 if totals.failures else 0

    def run_one(self, args) -> int:
        if args.text is not None:
            text = sys.stdin.read() if args.text == "-" else Path(args.text).read_text()
        else:
            text = self.text(args, args.replay)
        checker = self.checker(args)
        failure = checker.check_text(text)
        if failure and args.replay is not None:
            if args.minimise:
                text = self.smallest(text, failure, checker.check_text, 2 * args.budget)
            self.report(args, args.replay, checker.check_text(text) or failure, text)
        else:
            print(failure or f"no difference {self.counts(checker) or ''}")
        return 1 if failure else 0

    def main(self, argv=None) -> int:
        p = argparse.ArgumentParser(
            description=self.doc, formatter_class=argparse.RawTextHelpFormatter
        )
        p.add_argument("--programs", type=int, default=1000)
        p.add_argument("--seed", type=int, default=0, help="the first seed")
        p.add_argument("--modes", default=",".join(self.modes))
        p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
        p.add_argument("--replay", type=int, metavar="SEED")
        p.add_argument("--print", type=int, metavar="SEED")
        p.add_argument("--text", metavar="FILE", help="run program text (- is standard input)")
        p.add_argument("--timeout", type=float, default=120.0, help="seconds one program may take")
        p.add_argument("--max-failures", type=int, default=20)
        p.add_argument("--budget", type=int, default=self.budget, help="candidates while shrinking")
        p.add_argument("--no-minimise", dest="minimise", action="store_false")
        p.add_argument(
            "--save", action="store_true", help="keep failures in failed_seeds.txt, regressions/"
        )
        self.add_options(p)
        args = p.parse_args(argv)
        args.modes = tuple(args.modes.split(","))
        if args.print is not None:
            print(self.text(args, args.print))
            return 0
        return self.run_many(args) if args.replay is args.text is None else self.run_one(args)
