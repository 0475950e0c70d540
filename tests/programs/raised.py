"""Errors of programs: what they say, and whether the program itself raised them."""

from __future__ import annotations

import numpy as np


def raised_by_program(error) -> bool:
    """Whether a raise or assert of the program's own raised it, whose text has to be the same."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_code.co_filename != "<oracle>":
        return False
    return message_of(error).startswith(("own ", "('own ")) or isinstance(error, AssertionError)


def is_unset(error) -> bool:
    """Whether a name of the program's was read that had no value."""
    return isinstance(error, NameError) and "not associated with a value" in str(error)


def class_of(error) -> str:
    """The class of an error: where a name has no value, the oracle's lambdas see it from within."""
    return "NameError" if is_unset(error) else type(error).__name__


def message_of(error) -> str:
    """What an error says; NumPy's numbers in it come out as Python's, as those in results do."""
    if error is None:
        return ""
    args = tuple(a.item() if isinstance(a, np.generic) else a for a in error.args)
    return str(args[0] if len(args) == 1 else args) if args else ""
