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

import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[0] = str(HERE.parent)
sys.path.insert(1, str(HERE.parent / "fuzz"))
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))

from runner import Suite  # noqa: E402

from programs.check import MODES, Checker, category  # noqa: E402
from programs.grow import GRAMMAR_VERSION, generate  # noqa: E402
from programs.minimise import minimise  # noqa: E402


class Programs(Suite):
    version, modes, suffix = GRAMMAR_VERSION, MODES, ".py"
    fresh = 1500
    budget, apart = 250, 60
    category = staticmethod(category)
    minimise = staticmethod(minimise)

    def text(self, args, seed):
        return generate(seed).text

    def checker(self, args):
        return Checker(args.modes, args.mutant)

    def counts(self, checker):
        verdicts = Counter({f"verdict {k}": n for k, n in checker.verdicts.items()})
        return dict(checker.unsupported + verdicts)

    def add_options(self, parser):
        parser.add_argument("--mutant", default="", help="break a rule of the compiler on purpose")

    def same_options(self, args):
        return ["--mutant", args.mutant]

    def comment(self, failure, text):
        return f'"""{failure}"""\n{text}'

    def print_totals(self, args, totals):
        verdicts = {k: n for k, n in totals.unsupported.items() if k.startswith("verdict ")}
        for message, count in totals.unsupported.most_common():
            if message not in verdicts:
                print(f"not yet, {count} programs: {message}")
        print("; ".join(f"{k.removeprefix('verdict ')}: {n}" for k, n in sorted(verdicts.items())))
        print(
            f"{totals.programs} programs (seeds {args.seed}…{args.seed + args.programs - 1}, "
            f"grammar {self.version}) in modes {', '.join(args.modes)}: {totals.failures} "
            f"failures, {totals.seconds:.0f} s"
        )


if __name__ == "__main__":
    sys.exit(Programs(__file__, __doc__).main())
