"""A line on a terminal's standard error that says how far a run is."""

from __future__ import annotations

import shutil
import sys
import time


class Progress:
    """`step(text)` for each of `total` steps; nothing is written unless `stream` is a terminal."""

    def __init__(self, total, stream=None):
        self.total = max(1, total)
        self.done = 0
        self.stream = sys.stderr if stream is None else stream
        self.shown = bool(getattr(self.stream, "isatty", lambda: False)())
        self.start = time.monotonic()

    def step(self, text):
        """Says what is being done, the step after those before."""
        if self.shown:
            share = self.done / self.total
            bar = ("█" * round(24 * share)).ljust(24, "░")
            passed = time.monotonic() - self.start
            line = f"{bar} {100 * share:3.0f} %  {passed:3.0f} s  {text}"
            width = shutil.get_terminal_size().columns - 1
            self.stream.write("\r\x1b[2K" + line[:width])
            self.stream.flush()
        self.done += 1

    def clear(self):
        """Takes the line away, for other output."""
        if self.shown:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()
