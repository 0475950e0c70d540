"""The cache: columns of jobs as blocks of NumPy arrays in one SQLite file for each source."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .errors import complain, note
from .jobs import COLUMNS, KINDS, Jobs, Names, joined
from .text import clock

__all__ = ["Store", "folder", "scratch"]

VERSION = 3  # of the layout, and of what the readers make of a source
SEGMENT = 1 << 18  # rows
MOST_ROWS = 1_000_000  # that are loaded together
MOST_KEYS = 1 << 21  # that are compared at a time
KEY = ("id", "task", "component", "submit")  # rows that agree in these are one job read twice
ROOM = "a folder in TMPDIR with free space, some 80 bytes a job"
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


@contextmanager
def scratch():
    """An open file without a name for what does not fit into memory; it goes with the context."""
    # The folders that SQLite takes for its own temporary files, in its order: /tmp may be memory.
    folders = [os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR")] + ["/var/tmp"]
    usable = (f for f in folders if f and os.path.isdir(f) and os.access(f, os.W_OK | os.X_OK))
    try:
        with tempfile.TemporaryFile(dir=next(usable, None)) as file:
            yield file
    except OSError as error:
        raise complain("cache", "no room for a temporary file", error, ROOM) from None


class Store:
    """A cache file or, with path None, a file of SQLite's own that nobody else sees and that goes
    with the process; what is small stays in SQLite's memory. Use as a context.
    """

    def __init__(self, path):
        self.path = path
        try:
            if path is None:
                self.db = sqlite3.connect("", isolation_level=None)
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
        if self.path is None:
            return complain("cache", "cannot use a temporary file", error, ROOM)
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

    def load(self, op, columns, keep=None, now=None):
        """Rows as Jobs in the order of reading, those for which keep(Jobs) is true. Where they are
        more than MOST_ROWS, the latest that were submitted by `now` (seconds since 1970) stay, and
        a line tells so in the name of the command `op`. columns: 'submit' is one of them.
        """
        names = self.names()
        read = self.get("read") or 0
        now = read if now is None else now
        parts, total, pruned = [], 0, False
        for batch in self.batches(columns):
            part = Jobs(batch, names)
            parts.append(part.where(keep(part)) if keep else part)
            total += len(parts[-1])
            if total > 2 * MOST_ROWS:
                parts, pruned = [latest(joined(parts, names), now)], True
                total = len(parts[0])
        jobs = joined(parts, names)
        if pruned or total > MOST_ROWS:
            jobs = latest(jobs, now)
            since = clock(jobs["submit"].min() if len(jobs) else now, self.get("zone"))
            note(op, f"jobs before {since} are not looked at: {len(jobs):,} were submitted later")
        return Jobs(jobs.columns, names, read, self.get("origin") or "")

    # ---- duplicates ------------------------------------------------------------------------------
    def forget_duplicates(self):
        """Of rows with equal number, task, component and submission only the last is kept: a job
        that was read twice, with what became of it. A requeued job has another submission.
        Returns the number of rows that went.

        Memory is bounded for any number of jobs and of duplicates: hashes are sorted by segment
        and written to a file, and read back by ranges of hashes, at most about MOST_KEYS at a
        time. Where two hashes agree, the keys themselves decide.
        """
        segments = self.segments()
        dead = {}  # segment: bits of the rows that go
        with scratch() as file:
            for where, rows in self.equal_hashes(file, segments):
                for index, old in self.superseded(where, rows, segments):
                    bits = np.zeros(segments[index][1], bool)
                    bits[old] = True
                    dead[index] = np.packbits(bits) | dead.get(index, np.uint8(0))
        gone = 0
        for index, bits in dead.items():
            segment, rows = segments[index]
            keep = np.unpackbits(bits, count=rows) == 0
            self.write({k: self.column(segment, rows, k)[keep] for k in COLUMNS}, segment)
            gone += rows - int(np.count_nonzero(keep))
        return gone

    def equal_hashes(self, file, segments):
        """Yields (indices into segments, rows there) of rows whose hash another row has, too; all
        rows of one hash together.
        """
        total = sum(rows for _, rows in segments)
        parts = max(1, -(-total // MOST_KEYS))
        # The low bits of a hash make room for the row, so that one sort serves both.
        bits = np.uint64(max((rows for _, rows in segments), default=1).bit_length())
        edges = [(part << 64) // parts for part in range(1, parts)]
        runs = []
        for segment, rows in segments:
            hashed = mixed(*(self.column(segment, rows, k) for k in KEY))
            run = np.sort(hashed >> bits << bits | np.arange(rows, dtype=np.uint64))
            inner = np.searchsorted(run >> bits, np.array(edges, np.uint64) >> bits)
            runs.append((file.tell(), [0, *inner.tolist(), rows]))
            file.write(run)
        for part in range(parts):
            found = []
            for offset, ends in runs:
                file.seek(offset + 8 * ends[part])
                found.append(np.frombuffer(file.read(8 * (ends[part + 1] - ends[part])), np.uint64))
            together = np.concatenate(found) if found else np.zeros(0, np.uint64)
            hashed = np.sort(together >> bits)
            twice = hashed[1:][hashed[1:] == hashed[:-1]]
            if not len(twice):
                continue
            hashed = together >> bits
            place = np.minimum(np.searchsorted(twice, hashed), len(twice) - 1)
            mask = twice[place] == hashed
            where = np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in found])
            rows = together[mask] & (np.uint64(1) << bits) - np.uint64(1)
            yield where[mask], rows.astype(np.int32)

    def superseded(self, where, rows, segments):
        """Yields (index into segments, rows) of those rows whose key a later row has, too; rows
        that agree in a hash by chance stay.
        """
        # In the order of reading, which the sort by keys keeps.
        rank = np.lexsort((rows, where))
        where, rows = where[rank], rows[rank]
        numbers, first = np.unique(where, return_index=True)
        spans = list(zip(numbers.tolist(), first.tolist(), [*first[1:].tolist(), len(where)]))
        keys = []
        for name in KEY:
            key = np.empty(len(rows), COLUMNS[name])
            for number, begin, end in spans:
                key[begin:end] = self.column(*segments[number], name)[rows[begin:end]]
            keys.append(key)
        rank = np.lexsort(keys)
        same = np.ones(max(len(rank) - 1, 0), bool)
        for key in keys:
            ordered = key[rank]
            same &= ordered[1:] == ordered[:-1]
        old = np.zeros(len(rows), bool)
        old[rank[:-1][same]] = True
        for number, begin, end in spans:
            if old[begin:end].any():
                yield number, rows[begin:end][old[begin:end]]

    def merge_small(self):
        """Joins segments of many small readings."""
        small = [(s, rows) for s, rows in self.segments() if rows < SEGMENT // 8]
        if len(small) < 16:
            return

        def taken():
            for segment, rows in small:
                part = {k: self.column(segment, rows, k) for k in COLUMNS}
                self.write({"id": np.empty(0)}, segment)
                yield part

        self.add(taken())


def latest(jobs, now):
    """The MOST_ROWS of Jobs that were submitted last by `now`, in the order in which they stand;
    of equal submissions those that stand last.
    """
    jobs = jobs.where(jobs["submit"] <= now)
    rank = np.argsort(jobs["submit"], kind="stable")
    return jobs.where(np.sort(rank[-MOST_ROWS:]))


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
