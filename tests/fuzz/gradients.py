"""Programs of the array fuzzer, differentiated: the derivative along a random direction of all
their data, against differences of NumPy's results.

    python tests/fuzz/gradients.py --programs 1000 --first 0
    python tests/fuzz/gradients.py --print 17             the program of a seed, and its derivatives

A program has no verdict where NumPy's differences depend on their step (kinks, jumps, sums that
cancel) or are lost in short floats, where a derivative is infinite (a square root of zero) or read
as a number, and where it uses an operation without a derivative, or one that is not yet there.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
PACKAGE = Path(os.environ.get("NUMBUS_TEST_PACKAGE", HERE.parents[1] / "python"))
if any((PACKAGE / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(PACKAGE))

import program  # noqa: E402
from functions import functions_for  # noqa: E402
from grammar import Features, generate  # noqa: E402

STEP = 2.0**-16


def direction(shape, offset):
    """Which way data moves: of one size, so that none stays where it is."""
    n = int(np.prod(shape, dtype=int))
    v = np.random.default_rng(offset + n).uniform(0.5, 1.5, n)
    return (v * np.where(np.arange(n) % 3 == 0, -1, 1)).reshape(shape)


class Run:
    """One run of a program's text with its floating-point data moved by `shift`."""

    def __init__(self, xp, shift):
        self.xp, self.shift = xp, shift
        self.total = None
        self.short = False  # floats of which differences say nothing

    def rnd(self, offset, shape, dtype, lo=-2.0, hi=2.0):
        base = program.rnd(offset, shape, dtype, lo, hi)
        if base.dtype.kind not in "fc":
            return base
        way = direction(base.shape, offset).astype(base.dtype)
        moved = self.xp.array(base) + self.shift * self.xp.array(way)
        return moved.astype(base.dtype)

    def obs(self, x):
        if not hasattr(x, "dtype") or x.dtype.kind not in "fc":
            return
        self.short = self.short or x.dtype.char in "efF"
        parts = [x.real, x.imag] if x.dtype.kind == "c" else [x]
        for k, part in enumerate(parts):
            weights = np.cos(np.arange(part.size) + k).reshape(part.shape)
            found = (part * self.xp.array(weights)).sum()
            self.total = found if self.total is None else self.total + found

    def value(self, code):
        names = {
            "xp": self.xp, "np": np, "fn": functions_for(self.xp), "rnd": self.rnd, "obs": self.obs,
            "err": program.error_class, "flush": lambda: None,
        }  # fmt: skip
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(code, names)
            for name in [n for n in names if n not in program.HELPERS and n[0] != "_"]:
                if not callable(names[name]):
                    self.obs(names[name])
        return self.total


def by_numpy(code):
    """The derivative by differences of fourth order, and by how much it is unsure; None: no
    verdict.
    """

    short = []

    def at(shift):
        run = Run(np, shift)
        total = run.value(code)
        short.append(run.short)
        return 0.0 if total is None else float(total)

    def slope(h):
        return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)

    first, second, third = slope(STEP), slope(STEP / 2.7), slope(STEP * 3.1)
    size = max(abs(at(0.0)), 1.0)
    unsure = max(abs(first - second), abs(first - third)) + size * 1e-9
    if any(short) or not np.isfinite([first, second, third]).all():
        return None
    if unsure > 1e-4 * max(abs(first), size):
        return None
    return first, unsure


def by_gradient(code, nb):
    x = nb.array(0.0)

    def loss(shift):
        total = Run(nb, shift).value(code)
        return nb.array(0.0) if total is None else total

    return float(nb.grad(loss)(x))


def check(seed, nb, statements):
    """What became of a program: a word, and a sentence where it differs."""
    features = Features(
        dtypes=("float64", "float64", "complex128", "int64", "bool"),
        big=False, export=False, errors=False, statements=statements,
    )  # fmt: skip
    code = program.compile_text(generate(seed, features).text)
    try:
        want = by_numpy(code)
    except Exception:  # it depends on values that were moved
        want = None
    if want is None:
        return "no verdict", ""
    try:
        got = by_gradient(code, nb)
    except NotImplementedError as error:
        return "not yet", str(error).split(";")[1].strip().split(" at ")[0]
    except ValueError as error:
        if "has no derivative" in str(error):
            return "no derivative", str(error).split(";")[1].strip().split(" at ")[0]
        return "error", f"{type(error).__name__}: {error}"
    except TypeError as error:
        if "read by code that has no derivative" in str(error):
            return "read as a number", ""
        return "error", f"TypeError: {error}"
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    first, unsure = want
    if not np.isfinite(got):
        return "infinite", ""
    if abs(got - first) <= 20 * unsure + 1e-6 * max(1.0, abs(first)):
        return "equal", ""
    return "differs", f"{got!r} and {first!r} ± {unsure:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--statements", type=int, default=10)
    parser.add_argument("--print", type=int)
    args = parser.parse_args()
    import numbus as nb

    if args.print is not None:
        features = Features(
            dtypes=("float64", "float64", "complex128", "int64", "bool"),
            big=False, export=False, errors=False, statements=args.statements,
        )  # fmt: skip
        print(generate(args.print, features).text)
        print(check(args.print, nb, args.statements))
        return 0
    words, details = Counter(), Counter()
    for seed in range(args.first, args.first + args.programs):
        word, detail = check(seed, nb, args.statements)
        words[word] += 1
        if word in ("differs", "error"):
            print(f"seed {seed}: {word}: {detail}", flush=True)
        elif detail:
            details[f"{word}: {detail}"] += 1
    print(dict(words))
    for detail, count in details.most_common(30):
        print(f"  {count:5} {detail}")
    return 1 if words["differs"] or words["error"] else 0


if __name__ == "__main__":
    sys.exit(main())
