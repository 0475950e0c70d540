"""The one exception of this package: a problem that one line describes."""

from __future__ import annotations

import sys

from .text import printable

__all__ = ["Problem", "complain", "note"]


class Problem(Exception):
    """A problem of the input or of the machine; the text is all there is to say.

    code: the exit status of the command: 1 for data and machine, 2 for the command line.
    """

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


def complain(op, wrong, got, expected, code=1):
    """A Problem in the wording of this package; whatever the input held is made printable."""
    return Problem(f"[{op}] {wrong}; got {printable(str(got), 160)}; expected {expected}", code)


def note(op, text):
    """Tells on standard error what was left out or assumed."""
    print(f"[{op}] {printable(text, 400)}", file=sys.stderr)
