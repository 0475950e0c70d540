"""What every message about a mistake in a compiled function has to be like."""

import re

import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError


def told(function, arguments, words):
    """Fails unless the error has these words, at most 12 lines, and its mark where the line's
    comment says, after a ^.
    """
    with pytest.raises(CompileError) as e:
        njit(parallel=True)(function)(*arguments)
    text = str(e.value)
    lines = text.split("\n")
    assert text.startswith("[jit] "), text
    assert len(lines) <= 12, text
    for word in words:
        assert word in text, text
    # The mark stands under what the source's comment names.
    marks = [k for k, line in enumerate(lines) if re.fullmatch(r" *\^+", line)]
    assert len(marks) == 1, text
    source, mark = lines[marks[0] - 1], lines[marks[0]]
    place = re.search(r"\^(.+)$", source)
    if place:
        assert source[mark.index("^") :].startswith(place[1]), text
    if "not yet" in text:
        assert isinstance(e.value, UnsupportedError)
