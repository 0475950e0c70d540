"""Runs a program compiled, in each mode, and says how it differs from the oracle's outcome."""

from __future__ import annotations

import re
from collections import Counter

from . import mutants, oracle
from .oracle import NoVerdict, Outcome

MODES = ("njit", "cuda")


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

    def check_text(self, text: str, note=None) -> str:
        """The first difference as text, or "" where there is none (or no verdict)."""
        try:
            want = oracle.expected(text)
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
            if problem:
                return f"[{mode}] {problem}"
            self.verdicts[mode] += 1
        return ""

    def run_njit(self, text, want) -> Outcome:
        space = oracle.load(text)
        got = oracle.outcome(self.njit(space["f"]), space["arguments"]())
        return self.judged(got, want)

    def judged(self, got: Outcome, want) -> Outcome:
        if isinstance(got.error, self.UnsupportedError):
            raise got.error
        if isinstance(got.error, self.CompileError) and isinstance(want.outcome.error, TypeError):
            got.error = want.outcome.error  # found earlier than CPython finds it
        return got

    def run_cuda(self, text, want) -> Outcome:
        raise Skip


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
