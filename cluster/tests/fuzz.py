"""Mutates dumps and feeds them to the readers: nothing but jobs or a Problem may come out, quickly.

python cluster/tests/fuzz.py --dumps 1000000 [--seed 1] [--jobs 2]
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import sys
import time

from numbus_cluster import adapters, sacct_text
from numbus_cluster.errors import Problem
from numbus_cluster.jobs import COLUMNS, KINDS, Classes, Jobs, Names, joined, started, waits
from numbus_cluster.replay import queue_of

SHARE = 5_000  # dumps that a process takes at a time
PATIENCE = 1800.0  # seconds for them
SLOW = 2.0  # seconds of computing: a hang, for a dump of a few lines
HEADER = b"JobID|Partition|User|Submit|Eligible|Start|End|State|ReqCPUS|ReqMem|Timelimit|AllocTRES"
LINES = [
    b"1|medium|ada|2024-03-01T12:00:00|2024-03-01T12:00:00|2024-03-01T12:10:00|2024-03-01T13:00:00"
    b"|COMPLETED|4|8G|02:00:00|billing=4,cpu=4,mem=8G,node=1",
    b"2_[1-9:2%3]|gpu,medium|bob|2024-03-01T12:00:00|Unknown|Unknown|Unknown|PENDING|16|4000Mn"
    b"|UNLIMITED|",
    b"3_7|gpu|eve|2024-02-29T23:59:59|2024-02-29T23:59:59|2024-03-01T00:00:00|Unknown|RUNNING|1K"
    b"|2Gc|1-02:03:04|cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=2.50G,node=2",
    b"4+1|int|x|2024-03-01T12:00:00|2024-03-01T12:00:00|Unknown|2024-03-01T12:30:00"
    b"|CANCELLED by 1000|1|0|Partition_Limit|",
    b"5.batch|int||1709294400|1709294400|1709294460|1709298000|TIMEOUT|1|?|90|cpu=1",
]
NAMED = HEADER.replace(b"|User|", b"|JobName|User|")
SWF = [
    b"; UnixStartTime: 1700000000",
    b"1 0 10 100 4 -1 -1 4 3600 -1 1 3 1 -1 2 -1 -1 -1",
    b"2 50 -1 0 8 -1 2048 8 7200 4096 5 4 1 -1 1 -1 -1 -1",
    b"3 60 5 30 1 -1 -1 1 60 -1 0 4 1 -1 1 -1 -1 -1",
]
CSV = [
    b"queue,submitted,begun,finished,cores,walltime,who",
    b'medium,2024-03-01 12:00:00,2024-03-01T12:10:00,2024-03-01T13:00:00,4,02:00:00,"a, b"',
    b'gpu,1709294400,1709294460,1709298000,8,1-00:00:00,"x\ny"',
    b"int,2024-03-01T12:00:00Z,,,1,30,",
]
MAP = (
    "Partition=queue,Submit=submitted,Start=begun,End=finished,ReqCPUS=cores,Timelimit=walltime,"
    "User=who"
)
PIECES = [
    b"|",
    b"||",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\x1b[2J",
    b"\t",
    b",",
    b'"',
    b";",
    b"-1",
    b"-",
    b"0",
    b"99999999999999999999",
    b"1e308",
    b"nan",
    b"inf",
    b"Unknown",
    b"None",
    b"2024-02-30T00:00:00",
    b"1969-12-31T23:59:59",
    b"9999-12-31T23:59:59",
    b"UNLIMITED",
    b"4294967295",
    b"4294967296",
    b"0-00:00:00",
    b"99999-23:59:59",
    b"16Gn",
    b"_[",
    b"]",
    b"+",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\x0b",
    b"\x1c",
    "é٣".encode(),
    b" ",
    b"",
    b"=",
    b"%",
    b"=",
]


def mutated(rng, lines):
    """Some bytes that were a dump of these lines."""
    lines = [
        rng.choice(lines[1:]) if i and rng.random() < 0.3 else line for i, line in enumerate(lines)
    ]
    data = bytearray(b"\n".join(lines) + b"\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8, 30))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.choice(PIECES)
        elif kind == 2:
            del data[at : at + rng.choice((1, 1, 2, 5, 40))]
        elif kind == 3:
            data[at:at] = data[at : at + rng.randrange(1, 60)]
        elif kind == 4:
            other = rng.randrange(len(data) + 1)
            data[at:at] = data[other : other + rng.randrange(1, 40)]
        else:  # a whole field becomes something else
            sign = next(c for c in (b"|", b",", b" ") if c in lines[-1])
            start = data.rfind(sign, 0, at) + 1
            end = data.find(sign, at)
            data[start : end if end >= 0 else len(data)] = rng.choice(PIECES)
    if rng.random() < 0.1:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def check(batches, names):
    """What comes out is whole: every column of one length and type, and it can be worked with."""
    parts = [Jobs(batch, names) for batch in batches]
    for part in parts:
        assert {name: column.dtype.str[1:] for name, column in part.columns.items()} == COLUMNS
        assert len({len(column) for column in part.columns.values()}) == 1
        for kind in KINDS:
            assert all(0 <= code < len(names[kind].texts) for code in part[kind].tolist())
    jobs = joined(parts, names)
    if len(jobs):
        waits(jobs)[started(jobs)]
        for by in ("cpu", "memory", "gpu"):
            sizes = Classes(by).sizes(jobs)
            assert (sizes >= 0).all()
        queue_of(jobs)
    return len(jobs)


def feed(kind, data):
    """Reads some bytes; returns the number of jobs, or -1 for a Problem in one line."""
    names, left = {name: Names() for name in KINDS}, sacct_text.Left()
    try:
        if kind == "sacct":
            middle = len(data) // 3
            blocks = [data[:middle], data[middle:]]
            return check(sacct_text.read(blocks, "dump", names, left), names)
        text = io.StringIO(data.decode(errors="replace"), newline="")
        if kind == "swf":
            return check(adapters.read_swf(text, "trace", names, left), names)
        return check(adapters.read_csv(text, "table", names, left, MAP), names)
    except Problem as problem:
        assert "\n" not in str(problem) and str(problem).isprintable(), repr(str(problem))
        return -1


CORPORA = {
    "sacct": [HEADER, *LINES],
    "named": [
        NAMED,
        *(b"|".join([*line.split(b"|")[:2], b"a name", *line.split(b"|")[2:]]) for line in LINES),
    ],
    "swf": SWF,
    "csv": CSV,
}


def run(dumps, seed=1, first=0):
    """{kind: [dumps, read, refused]} of the dumps from `first` on. What a reader raises is raised
    with the seed and the number that find it again.
    """
    counts = {kind: [0, 0, 0] for kind in CORPORA}
    kinds = ("sacct", "sacct", "sacct", "named", "named", "swf", "csv")
    for number in range(first, first + dumps):
        rng = random.Random(seed * 1_000_003 + number)
        kind = kinds[number % len(kinds)]
        data = mutated(rng, CORPORA[kind])
        began = time.process_time()
        try:
            found = feed("sacct" if kind == "named" else kind, data)
        except Exception as error:
            raise AssertionError(f"seed {seed}, dump {number} ({kind}): {data!r}") from error
        assert time.process_time() - began < SLOW, f"seed {seed}, dump {number} hangs: {data!r}"
        counts[kind][0] += 1
        counts[kind][1 if found >= 0 else 2] += 1
    return counts


def part(arguments):
    return run(*arguments)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--dumps", type=int, default=1_000_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1, help="processes that work at the same time")
    options = p.parse_args()
    began = time.monotonic()
    total = {kind: [0, 0, 0] for kind in CORPORA}
    parts = [
        (min(SHARE, options.dumps - first), options.seed, first)
        for first in range(0, options.dumps, SHARE)
    ]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        done = pool.imap(part, parts)
        for dumps, _, first in parts:
            # A process that the system kills, or that hangs outside Python, gives no answer.
            for kind, counts in done.next(timeout=PATIENCE).items():
                total[kind] = [a + b for a, b in zip(total[kind], counts)]
            print(f"{first + dumps:,} after {time.monotonic() - began:.0f} s", flush=True)
    for kind, (dumps, read, refused) in total.items():
        print(f"{kind}: {dumps:,} dumps, {read:,} read, {refused:,} refused in one line")
    print(f"no crash, no hang in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
