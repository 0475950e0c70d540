"""The fuzzer: random programs in NumPy and in Numbus, in every mode.

    python tests/fuzz/run.py --programs 100000            all modes, two jobs
    python tests/fuzz/run.py --print 17                   the program of a seed
    python tests/fuzz/run.py --replay 17                  run it, minimise it if it fails
    python tests/fuzz/run.py --text file.py               run program text from a file
    python tests/fuzz/run.py --subject OverlapOrder       a mutant of NumPy: must be found

A worker that dies or hangs costs one program, which is reported like any other failure.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
if any((ROOT / "python" / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(ROOT / "python"))

from check import Checker, category  # noqa: E402
from grammar import ALL, FIRST, GRAMMAR_VERSION, Features, generate  # noqa: E402
from minimise import minimise  # noqa: E402
from runner import Suite  # noqa: E402


class Arrays(Suite):
    version, suffix = GRAMMAR_VERSION, ".txt"
    modes = (
        "eager",
        "interp",
        "compiled",
        "auto",
        "small",
        "mixed",
        "unplanned",
        "null",
        "spilled",
        "resized",
    )
    category = staticmethod(category)
    minimise = staticmethod(minimise)

    def text(self, args, seed):
        names = {"first": FIRST, "all": ALL}.get(args.dtypes) or tuple(args.dtypes.split(","))
        features = Features(dtypes=names, big=not args.small, statements=args.statements)
        return generate(seed, features).text

    def checker(self, args):
        return Checker(args.modes, args.subject, args.strict)

    def add_options(self, parser):
        parser.add_argument("--dtypes", default="all", help="first, all, or names with commas")
        parser.add_argument("--statements", type=int, default=Features.statements)
        parser.add_argument("--small", action="store_true", help="no arrays above 40,000 elements")
        parser.add_argument("--subject", default="numbus", help="numbus, numpy, or a mutant's name")
        parser.add_argument("--strict", action="store_true", help="what is not known is a failure")

    def same_options(self, args):
        return ["--subject", args.subject]

    def key(self, args):
        return [args.dtypes]

    def comment(self, failure, text):
        return f"# {failure}\n{text}\n"

    def print_totals(self, args, totals):
        for message, count in totals.unsupported.most_common(20):
            print(f"not supported yet, {count} programs: {message}")
        print(
            f"{totals.programs} programs (seeds {args.seed}…{args.seed + args.programs - 1}, "
            f"grammar {self.version}, dtypes {args.dtypes}) in modes {', '.join(args.modes)}: "
            f"{totals.failures} failures, {sum(totals.unsupported.values())} without verdict, "
            f"{totals.seconds:.0f} s"
        )


if __name__ == "__main__":
    sys.exit(Arrays(__file__, __doc__).main())
