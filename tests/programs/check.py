"""Runs a program compiled, in each mode, and says how it differs from the oracle's outcome."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from . import differences, mutants, one_type, oracle
from .oracle import NoVerdict, Outcome
from .raised import raised_by_program
from .values import leaves

MODES = ("njit", "cuda")


THREADS = 3  # in two blocks of two: one thread has nothing to do
KERNEL = "KERNEL = True"  # how the text of a program for kernels begins
# What e.args raises, at run time, of an error with other arguments than those raised there.
# What says "not yet" as it runs.
LATE = {
    "not yet in compiled functions: what is asked of this exception":
        "e.args of an error of other arguments",
    "which an iteration of a parallel loop reads before": "a name that iterations hand on",
    "a call of a local function that calls itself, before": "a name that recursion reads",
}  # fmt: skip
KINDS = {"bool": np.bool_, "int": np.int64, "float": np.float64, "complex": np.complex128}


class Skip(Exception):
    """This mode says nothing about this program."""


class Checker:
    """Checks programs; counts what the compiler does not know yet, by reason."""

    def __init__(self, modes=MODES, mutant: str = ""):
        import numbus
        from numbus import cuda
        from numbus.kernels._errors import CompileError, UnsupportedError

        mutants.install(mutant)
        self.modes = modes
        self.njit, self.cuda = numbus.njit, cuda
        self.CompileError, self.UnsupportedError = CompileError, UnsupportedError
        self.unsupported: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()

    def check_text(
        self, text: str, note=None, shadows=oracle.SHADOWS, contracts: bool = False
    ) -> str:
        """The first difference as text, or "" where there is none (or no verdict)."""
        try:
            want = oracle.expected(text, shadows, contracts)
        except (NoVerdict, SyntaxError) as error:
            self.verdicts[f"none: {error}"[:60]] += 1
            return ""
        for mode in self.modes:
            if note:
                note(mode)
            try:
                got = getattr(self, "run_" + mode)(text, want)
            except Skip:
                continue
            except self.UnsupportedError as error:
                if not located(str(error)):
                    return f"[{mode}] not yet, but no line: {str(error).splitlines()[0]}"
                self.unsupported[f"[{mode}] " + reason(str(error))] += 1
                self.verdicts["not yet"] += 1
                continue
            problem = oracle.difference(want, got)
            if problem and mode == "cuda" and not contracts:
                return self.check_text(text, note, shadows, contracts=True)
            if problem and want.outcome.inexact and shadows < oracle.MANY_SHADOWS:
                # An error far below the last place of a sum moves it in few shadows of many.
                return self.check_text(text, note, oracle.MANY_SHADOWS, contracts)
            if problem:
                return f"[{mode}] {problem}"
            self.verdicts[mode] += 1
        return ""

    def run_njit(self, text, want) -> Outcome:
        space = oracle.load(text)
        parallel = {"parallel": True} if "prange" in space else {}
        got = oracle.outcome(self.njit(space["f"], **parallel), space["arguments"]())
        return self.judged(got, want)

    def judged(self, got: Outcome, want) -> Outcome:
        if isinstance(got.error, self.UnsupportedError):
            raise got.error
        late = [why for text, why in LATE.items() if text in str(got.error)]
        if type(got.error) is NotImplementedError and late:
            self.verdicts["not yet"] += 1
            self.unsupported[late[0]] += 1
            raise Skip
        if isinstance(got.error, OverflowError) and str(got.error) in want.wrapped:
            self.verdicts["an OverflowError of NumPy's"] += 1
            raise Skip
        if isinstance(got.error, self.CompileError):
            line = re.search(r"<program \d+>:(\d+)", str(got.error))
            if line and int(line[1]) in want.refused:
                self.verdicts["a TypeError while compiling"] += 1
                raise Skip
        if isinstance(got.error, self.CompileError) and one_type.misfits(want.outcome.error):
            got.error = want.outcome.error  # found earlier than CPython finds it
        return got

    def run_cuda(self, text, want) -> Outcome:
        """A grid in which each thread runs the program into elements of its own."""
        if not text.startswith(KERNEL):
            raise Skip
        error = want.outcome.error
        own = error is not None and raised_by_program(error)
        if differences.raised_only_outside_of_kernels(error) and not own:
            raise Skip
        given = oracle.load(text)["arguments"]()
        if any(isinstance(a, np.ndarray) and a.ndim == 0 for a in given):
            raise Skip  # a part of a larger array has at least one axis, or is a number
        outs = [] if error else [o for o in leaves(want.outcome.value) if plain(o)]
        space = oracle.load(text + kernel_text(len(given), outs, given))
        results = [
            np.zeros(THREADS, np.uint64 if kind == "int" and v >= 1 << 63 else KINDS[kind])
            for _, kind, v in outs
        ]
        arguments = [stacked(a) if isinstance(a, np.ndarray) else a for a in given]

        def launch(*arguments):
            self.cuda.jit(space["kernel"])[2, 2](*results, *arguments)
            self.cuda.synchronize()

        got = self.judged(oracle.outcome(launch, tuple(arguments)), want)
        if error or got.error:
            return Outcome(None, got.error, want.outcome.arguments)
        for thread in range(THREADS):
            values = iter([r[thread] for r in results])
            mine = tuple(a[thread] if isinstance(a, np.ndarray) else a for a in arguments)
            got = Outcome(rebuilt(want.outcome.value, values), None, mine)
            if oracle.difference(want, got):
                break
        return got


def plain(leaf) -> bool:
    return leaf[1] in ("bool", "int", "float", "complex")


def kernel_text(count, outs, given) -> str:
    """The source of a kernel around f."""
    results = [f"out{k}" for k in range(len(outs))]
    names = [f"x{k}" for k in range(count)]
    call = ", ".join(
        f"{n}[i]" if isinstance(a, np.ndarray) else n for n, a in zip(names, given, strict=True)
    )
    lines = [
        "from numbus import cuda",
        f"def kernel({', '.join(results + names)}):",
        "    i = cuda.grid(1)",
        f"    if i < {THREADS}:",
        f"        result = f({call})",
    ]
    lines += [f"        {r}[i] = {path}" for r, (path, _, _) in zip(results, outs, strict=True)]
    return "\n\n" + "\n".join(lines) + "\n"


def stacked(a):
    """The array for each thread, with its strides, in one array."""
    low = high = 0
    if a.size:
        reach = [(n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)]
        low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    span = -(-(high - low + a.itemsize) // 16) * 16
    memory = np.zeros(THREADS * span, np.uint8)
    all_ = np.ndarray((THREADS, *a.shape), a.dtype, memory, -low, (span, *a.strides))
    for thread in range(THREADS):
        all_[thread] = a
    all_.flags.writeable = a.flags.writeable
    return all_


def rebuilt(value, numbers):
    """The oracle's value with the numbers of one thread; arrays are compared as arguments."""
    if isinstance(value, (tuple, list)):
        items = [rebuilt(v, numbers) for v in value]
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return next(numbers)
    return value


def located(message: str) -> bool:
    return re.search(r"<program \d+>:\d+", message) is not None


def reason(message: str) -> str:
    """What is missing, without what names it in one program."""
    line = message.split("\n")[0].removeprefix("[jit] ").removeprefix("not yet in compiled ")
    return re.sub(r"'[a-z]\d+'", "'…'", line)[:100]


def category(failure: str) -> str:
    """What failures of one cause share, to tell them apart while shrinking."""
    failure, _, want = failure.partition("want ")
    text = re.sub(r"array\(.*?\)(?=, $|$)", "array", failure.split("\n")[0])
    text = re.sub(r"'[a-zA-Z]+\d+'", "name", text)
    text = re.sub(r"result(\[\d+\])*|argument \d+(\[\d+\])*", "part", text)
    text = re.sub(r"-?\b\d[\d.e+-]*j?|\bnan\b|\binf\b", "#", text)
    want = re.match(r"\w*", want)[0] if failure.startswith("[") else ""
    return re.sub(r"[\[(][-#,. ]*[\])]", "#", text)[:80] + " " + want
