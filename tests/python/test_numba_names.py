"""Each of Numba's names compiles and agrees with CPython, or is refused for a reason."""

import pathlib

import numba_names
import pytest

EVERY = numba_names.everything()
KEYS = [f"{of} {name}" for (of, name), action in EVERY.items() if action is not None]


@pytest.mark.parametrize("key", KEYS)
def test_name(key):
    EVERY[tuple(key.split(" ", 1))]()


def test_totals_are_those_of_the_page():
    page = pathlib.Path(__file__).parents[2] / "docs" / "from-numba.md"
    if not page.exists():
        pytest.skip("the pages are not here")
    text = page.read_text("utf-8")
    for line in numba_names.table():
        assert line in text
    for (_, name), reason in numba_names.refused().items():
        assert reason in text, (name, reason)
