"""Reads what `sacct --parsable2` prints, as a stream: blocks of bytes in, columns of jobs out."""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager

import numpy as np

from .columns import PAD, Bad, Texts
from .errors import complain
from .jobs import build, find_columns, numbers

__all__ = ["Left", "read"]

BLOCK = 1 << 20  # bytes: the columns of a batch fit into the caches of a core
LONGEST_LINE = 1 << 20
# Columns whose text is the users' own: it may hold separators and newlines, which sacct does not
# escape.
FREE = {
    "jobname",
    "comment",
    "admincomment",
    "systemcomment",
    "submitline",
    "workdir",
    "wckey",
    "constraints",
    "extra",
    "reason",
    "failednode",
    "container",
}
LONGEST_JOIN = 100  # lines of one job name


class Left:
    """Counts lines that were left out, and remembers the first of each kind."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, line, number=1):
        total, first = self.kinds.get(kind, (0, line))
        self.kinds[kind] = total + number, min(first, line)

    def lines(self):
        return [
            f"{n:,} {kind} (the first in line {first})" for kind, (n, first) in self.kinds.items()
        ]


@contextmanager
def no_collection():
    """Python's search for cycles costs more than the parsing where millions of texts are made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read(blocks, origin, names, left=None):
    """Yields dicts of columns (jobs.COLUMNS). Raises Problem with the line that is at fault.

    blocks: an iterable of bytes; origin: what to call them in messages; names: Names by kind,
    which grow; left: a Left that counts what was left out.
    """
    with no_collection():
        yield from _Reader(origin, names, left or Left()).read(blocks)


class _Reader:
    """The state of one stream."""

    def __init__(self, origin, names, left):
        self.origin, self.names, self.left = origin, names, left
        self.header = self.header_line = self.places = None
        self.number = 0  # of the last line that was taken
        self.open = None  # [line number, text, lines] of a record whose name holds a newline

    def fail(self, line, wrong, got, expected):
        return complain("sacct", f"{self.origin}, line {line}: {wrong}", got, expected)

    def read(self, blocks):
        rest = b""
        for block in blocks:
            if b"\0" in block:
                raise complain(
                    "sacct",
                    f"{self.origin} is no text",
                    "a zero byte",
                    "what sacct --parsable2 printed",
                )
            whole, newline, rest_of_block = block.rpartition(b"\n")
            if newline:
                yield from self.batch(rest + whole)
                rest = rest_of_block
            else:
                rest += block
            if len(rest) > LONGEST_LINE:
                raise self.fail(
                    self.number + 1, "the line has no end", f"{len(rest):,} bytes", "lines of jobs"
                )
        if rest:
            raise self.fail(
                self.number + 1,
                "the dump ends inside a line",
                rest[-40:].decode(errors="replace"),
                "a newline at the end, which sacct writes: is the dump whole?",
            )
        if self.header is None:
            raise complain(
                "sacct",
                f"{self.origin} is empty",
                "no line",
                "the header that sacct --parsable2 prints",
            )
        self.close_open()

    def take_header(self, line):
        """The first line."""
        fields = line.split("|")
        if fields and fields[-1] == "":  # --parsable ends its lines with a separator
            fields = fields[:-1]
            self.width = len(fields) + 1
        else:
            self.width = len(fields)
        try:
            if len(fields) < 2:
                raise KeyError("everything")
            self.places = find_columns(fields)
        except KeyError as error:
            if re.search(r"error|disabled|denied|slurmdbd", line):
                raise self.fail(
                    1, "sacct printed an error, not jobs", repr(line), "a dump of jobs"
                ) from None
            raise self.fail(
                1,
                f"the header lacks {error.args[0]}",
                repr(line),
                "the names of columns as sacct --parsable2 prints them, with | between",
            ) from None
        self.header, self.header_line = fields, line
        free = [i for i, name in enumerate(fields) if name.partition("%")[0].lower() in FREE]
        self.free = (free[0], free[-1]) if free else None

    def batch(self, data):
        """The columns of some lines, or nothing."""
        start = self.number + 1
        self.number += 1 + data.count(b"\n")
        if self.header is None:
            header, newline, data = data.partition(b"\n")
            self.take_header(header.decode(errors="replace"))
            if not newline:
                return
            start += 1
        columns = None if self.open or self.header_line.encode() in data else self.even(data)
        if columns:
            yield self.columns(columns, range(start, self.number + 1))
            return
        # Not splitlines: names may hold the other separators that it knows.
        lines = data.decode(errors="replace").split("\n")
        rows = [line.split("|") for line in lines]
        places = range(start, start + len(rows))
        if self.open or set(map(len, rows)) != {self.width} or self.header_line in lines:
            rows, places = self.repaired(lines, rows, start)
        if rows:
            yield self.columns(self.picked(rows), places)

    def even(self, data):
        """Texts by our names, where each line has as many columns as the header; else None."""
        data += b"\n"
        chars = np.frombuffer(data, np.uint8)
        ends = chars == ord("\n")
        lines = np.count_nonzero(ends)
        ends |= chars == ord("|")
        ends = np.flatnonzero(ends)
        if len(ends) != lines * self.width:
            return None
        ends = np.ascontiguousarray(ends.reshape(lines, self.width).T)
        if not (chars[ends[-1]] == ord("\n")).all():
            return None
        data += PAD
        found = {}
        for name, place in self.places.items():
            if place:
                begin = ends[place - 1] + 1
            else:
                begin = np.concatenate([[0], ends[-1][:-1] + 1])
            found[name] = Texts(data, begin, ends[place] - begin)
        return found

    def picked(self, rows):
        """Texts by our names from rows of the right width."""
        columns = list(zip(*rows))
        return {name: Texts.of(columns[i]) for name, i in self.places.items()}

    def columns(self, texts, places):
        """The numbers of texts by our names; places: the line of each row."""
        try:
            return build(texts, self.names, places)
        except Bad as bad:
            raise self.fail(
                places[bad.index],
                f"the column {bad.column} cannot be read",
                repr(bad.value),
                bad.expected,
            ) from None

    # ---- lines with another number of columns ----------------------------------------------------
    def repaired(self, lines, rows, start):
        """Rows of the right width. Surplus separators and newlines belong to the users' text, if
        the dump has a column of such; what stays unclear is left out and counted.
        """
        out, places = [], []
        jobs = self.which_parse(rows) if self.free else None

        def emit(fields, place):
            row = self.fitted(fields)
            if row is None or not self.parses(row):
                self.left.add("lines that a job's name has broken", place)
            else:
                out.append(row)
                places.append(place)

        for index, (line, fields) in enumerate(zip(lines, rows)):
            place = start + index
            if line == self.header_line:
                self.close_open()
                continue
            if len(fields) == self.width and (not self.free or not self.open or jobs[index]):
                self.close_open()
                if not self.free or jobs[index]:
                    out.append(fields)
                    places.append(place)
                else:
                    emit(fields, place)
            elif not self.free:
                raise self.fail(
                    place,
                    "wrong number of columns",
                    f"{len(fields)}: {line[:60]!r}",
                    f"the {self.width} of the header",
                )
            elif self.open:
                self.open[1] += "\n" + line
                self.open[2] += 1
                fields = self.open[1].split("|")
                if len(fields) >= self.width:
                    place = self.open[0]
                    self.open = None
                    emit(fields, place)
                elif self.open[2] > LONGEST_JOIN:
                    self.close_open()
            elif len(fields) > self.width:
                emit(fields, place)
            else:
                self.open = [place, line, 1]
        return out, places

    def which_parse(self, rows):
        """A mask of the rows that have the right width and are jobs."""
        found = np.zeros(len(rows), bool)
        parts = [np.array([i for i, row in enumerate(rows) if len(row) == self.width], np.intp)]
        while parts:
            part = parts.pop()
            if not len(part):
                continue
            try:
                numbers(self.picked([rows[i] for i in part]))
                found[part] = True
            except Bad as bad:
                rest = np.delete(part, bad.index)
                parts += np.array_split(rest, 2)
        return found

    def fitted(self, fields):
        """A row of the right width from one that has as many or more fields: the columns before
        the users' text are counted from the left, those after it from the right.
        """
        surplus = len(fields) - self.width
        first, last = self.free
        if any(first < place < last for place in self.places.values()) and surplus:
            return None
        return fields[:first] + [""] * (last - first + 1) + fields[last + 1 + surplus :]

    def parses(self, row):
        """Whether the row is a job."""
        return bool(self.which_parse([row])[0])

    def close_open(self):
        if self.open:
            self.left.add("lines that a job's name has broken", self.open[0])
            self.open = None
