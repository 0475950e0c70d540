"""Writes results: tab-separated where a program reads them, aligned at a terminal, or JSON."""

from __future__ import annotations

import json
import sys

__all__ = ["json_text", "table"]


def table(title, lines, file=None):
    """A title line, then lines of cells, the first of which are headings. Cells are printable."""
    file = file or sys.stdout
    if not file.isatty():
        print(title, *("\t".join(cells) for cells in lines), sep="\n", file=file)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, heading in enumerate(lines[0]):
        shown.add_column(Text(heading), justify="left" if i == 0 else "right")
    for cells in lines[1:]:
        # Text, not str: a name in brackets is no markup.
        shown.add_row(*(Text(cell) for cell in cells))
    console = Console(file=file)
    console.print(Text(title))
    console.print(shown)


def json_text(value):
    """Prints a value; JSON escapes what a terminal would obey."""
    print(json.dumps(value, indent=1, allow_nan=False))
