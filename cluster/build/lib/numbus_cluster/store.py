"""The cache: columns of jobs as blocks of NumPy arrays in one SQLite file for each source."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .errors import complain
from .jobs import COLUMNS, KINDS, Jobs, Names, joined

__all__ = ["Store", "folder"]

VERSION = 3  # of the layout, and of what the readers make of a source
SEGMENT = 1 << 18  # rows
MOST_KEYS = 1 << 22  # that are compared at a time
SCHEMA = """
create table meta (key text primary key, value text) without rowid;
create table name (kind text, code integer, text text, primary key (kind, code)) without rowid;
create table segment (id integer primary key, rows integer, first integer, last integer);
create table cell (segment integer, name text, data blob, primary key (segment, name));
"""


def folder():
    """Where the files of the cache stand."""
    if os.environ.get("NUMBUS_CLUSTER_CACHE"):
        return Path(os.environ["NUMBUS_CLUSTER_CACHE"])
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "numbus-cluster"


class Store:
    """A cache file, or a database in memory with path None. Use as a context."""

    def __init__(self, path):
        self.path = path
        try:
            if path is None:
                self.db = sqlite3.connect(":memory:", isolation_level=None)
            else:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                # Accounting may be private: nobody else reads the file.
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
                self.db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self.db.execute("pragma synchronous = off")
            self.db.execute("pragma temp_store = memory")
            self.prepare()
        except (OSError, sqlite3.Error) as error:
            raise self.failure(error) from None

    def failure(self, error):
        return complain(
            "cache",
            f"cannot use {self.path}",
            error,
            "a writable folder, in NUMBUS_CLUSTER_CACHE, or --no-cache",
        )

    def prepare(self):
        """Makes the tables; empties a file of another version."""
        try:
            version = self.db.execute("pragma user_version").fetchone()[0]
        except sqlite3.DatabaseError:  # not a database: an interrupted copy, or somebody's file
            if self.path is None or self.path.suffix != ".sqlite":
                raise
            self.db.close()
            self.path.unlink()
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self.db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            version = 0
        if version != VERSION:
            with self.change():
                for name in ("meta", "name", "segment", "cell"):
                    self.db.execute(f"drop table if exists {name}")
                for statement in SCHEMA.split(";"):
                    self.db.execute(statement)
                self.db.execute(f"pragma user_version = {VERSION}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.db.close()

    @contextmanager
    def change(self):
        """A transaction: all of it or nothing, and one process at a time."""
        try:
            self.db.execute("begin immediate")
            try:
                yield
            except BaseException:
                self.db.execute("rollback")
                raise
            self.db.execute("commit")
        except sqlite3.Error as error:
            raise self.failure(error) from None

    # ---- what is known of the source -------------------------------------------------------------
    def get(self, key):
        row = self.db.execute("select value from meta where key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key, value):
        self.db.execute("insert or replace into meta values (?, ?)", (key, json.dumps(value)))

    def clear(self):
        for name in ("meta", "name", "segment", "cell"):
            self.db.execute(f"delete from {name}")

    def names(self):
        """Names by kind."""
        found = {kind: [] for kind in KINDS}
        for kind, text in self.db.execute("select kind, text from name order by kind, code"):
            found[kind].append(text)
        return {kind: Names(texts) for kind, texts in found.items()}

    def put_names(self, names):
        for kind in KINDS:
            known = self.db.execute("select count(*) from name where kind = ?", (kind,)).fetchone()
            texts = enumerate(names[kind].texts[known[0] :], known[0])
            self.db.executemany(
                "insert into name values (?, ?, ?)", ((kind, code, text) for code, text in texts)
            )

    # ---- rows ------------------------------------------------------------------------------------
    def add(self, batches):
        """Appends dicts of columns, in segments of bounded size; returns the number of rows."""
        waiting, rows, total = [], 0, 0
        for batch in batches:
            waiting.append(batch)
            rows += len(batch["id"])
            if rows >= SEGMENT:
                self.write(merged(waiting))
                total += rows
                waiting, rows = [], 0
        if rows:
            self.write(merged(waiting))
        return total + rows

    def write(self, columns, segment=None):
        """Writes a segment, in place of an older one where its number is given."""
        rows = len(columns["id"])
        if segment is not None:
            self.db.execute("delete from cell where segment = ?", (segment,))
            self.db.execute("delete from segment where id = ?", (segment,))
        if not rows:
            return
        submit = columns["submit"]
        segment = self.db.execute(
            "insert into segment values (?, ?, ?, ?)",
            (segment, rows, int(submit.min()), int(submit.max())),
        ).lastrowid
        for name, column in columns.items():
            # A column of one value is stored as that value.
            if rows > 1 and (column == column[0]).all():
                column = column[:1]
            self.db.execute(
                "insert into cell values (?, ?, ?)",
                (segment, name, np.ascontiguousarray(column).data),
            )

    def segments(self):
        """(number, rows) of the segments, the oldest first."""
        return self.db.execute("select id, rows from segment order by id").fetchall()

    def column(self, segment, rows, name):
        try:
            data = self.db.execute(
                "select data from cell where segment = ? and name = ?", (segment, name)
            ).fetchone()[0]
            column = np.frombuffer(data, COLUMNS[name])
            return column if len(column) == rows else np.broadcast_to(column, (rows,))
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise self.failure(f"the file is damaged ({error}); remove it") from None

    def batches(self, columns=None):
        """Yields the columns that are asked for, a segment at a time."""
        for segment, rows in self.segments():
            yield {name: self.column(segment, rows, name) for name in columns or COLUMNS}

    def load(self, columns=None, keep=None):
        """All rows as Jobs, or those for which keep(Jobs) is true, a segment at a time."""
        names = self.names()
        parts = (Jobs(batch, names) for batch in self.batches(columns))
        if keep is not None:
            parts = (part.where(keep(part)) for part in parts)
        return joined(parts, names, self.get("read") or 0, self.get("origin") or "")

    # ---- duplicates ------------------------------------------------------------------------------
    def forget_duplicates(self):
        """Of rows with equal number, task, component and submission only the last is kept: a job
        that was read twice, with what became of it. A requeued job has another submission.
        Returns the number of rows that went.
        """
        total = sum(rows for _, rows in self.segments())
        passes = -(-total // MOST_KEYS) or 1
        gone = 0
        for part in range(passes):
            gone += self.forget_in(part, passes)
        return gone

    def forget_in(self, part, passes):
        """The same for the jobs whose number leaves `part` when it is divided by `passes`."""
        hashes, wheres = [], []
        for segment, rows in self.segments():
            keys = [self.column(segment, rows, k) for k in ("id", "task", "component", "submit")]
            rows_here = np.arange(rows)
            if passes > 1:
                mask = keys[0] % passes == part
                rows_here, keys = rows_here[mask], [k[mask] for k in keys]
            hashes.append(mixed(*keys))
            wheres.append((segment, rows_here))
        if not hashes:
            return 0
        hashed = np.concatenate(hashes)
        ordered = np.sort(hashed)
        twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(twice):
            return 0
        # Hashes may agree by chance: the last row of each key is found from the key itself.
        last, suspects = {}, []
        for (segment, rows_here), hashed in zip(wheres, hashes):
            found = rows_here[np.isin(hashed, twice)]
            count = dict(self.segments())[segment]
            keys = [
                self.column(segment, count, k)[found].tolist()
                for k in ("id", "task", "component", "submit")
            ]
            for row, key in zip(found.tolist(), zip(*keys)):
                last[key] = segment, row
                suspects.append((segment, row, key))
        dead = {}
        for segment, row, key in suspects:
            if last[key] != (segment, row):
                dead.setdefault(segment, []).append(row)
        counts = dict(self.segments())
        for segment, rows in dead.items():
            keep = np.ones(counts[segment], bool)
            keep[rows] = False
            columns = {k: self.column(segment, counts[segment], k)[keep] for k in COLUMNS}
            self.write(columns, segment)
        return sum(map(len, dead.values()))

    def merge_small(self):
        """Joins segments of many small readings."""
        small = [(s, rows) for s, rows in self.segments() if rows < SEGMENT // 8]
        if len(small) < 16:
            return
        parts = [{k: self.column(s, rows, k) for k in COLUMNS} for s, rows in small]
        for segment, _ in small:
            self.write({"id": np.empty(0)}, segment)
        self.add(parts)


def merged(batches):
    """One dict of columns from several."""
    if len(batches) == 1:
        return batches[0]
    return {k: np.concatenate([b[k] for b in batches]) for k in batches[0]}


def mixed(*columns):
    """A 64-bit hash of each row (the finaliser of MurmurHash3, by A. Appleby, public domain)."""
    out = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        out ^= column.astype(np.int64).astype(np.uint64)
        out *= np.uint64(0xFF51AFD7ED558CCD)
        out ^= out >> np.uint64(33)
        out *= np.uint64(0xC4CEB9FE1A85EC53)
        out ^= out >> np.uint64(29)
    return out
