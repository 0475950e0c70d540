"""Dumps of any size: what is read in pieces, with files in place of memory, is what NumPy finds in
all jobs at once, and memory does not grow with their number.
"""

import csv
import gzip
import io
import json
import math
import random
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np
import pytest
from numbus_cluster import adapters, columns, jobs, plots, sacct_text, store, table
from numbus_cluster.text import duration

HEADER = (
    "JobID|Partition|JobName|User|QOS|Submit|Eligible|Start|End|State|ReqCPUS|NNodes|ReqMem|"
    "Timelimit|AllocTRES"
)
BEGIN = 1_709_251_200  # 2024-03-01
UNLIMITED = math.inf
NAMES = ["plain", "é\u202e", "a|b", "x\ny", "\n", "tab\there", "||", "\x1b[31m", "x" * 300]
USERS = ["ada", "bob", "é\u4e2d", b"latin\xe9", "tab\tuser"]
STARTED = ["COMPLETED", "RUNNING", "TIMEOUT", "REQUEUED", "NODE_FAIL", "CANCELLED by 1000"]


@pytest.fixture(params=[1, 2])
def pieces(monkeypatch, request):
    """Pieces so small that a short dump has many of each kind; of the other sizes few."""
    if request.param == 1:
        monkeypatch.setattr(sacct_text, "BLOCK", 700)
        monkeypatch.setattr(store, "SEGMENT", 64)
        monkeypatch.setattr(store, "MOST_KEYS", 100)
        monkeypatch.setattr(table, "MOST_BINS", 1 << 7)
        monkeypatch.setattr(table, "BLOCK", 37)
        monkeypatch.setattr(columns, "MOST", 20)


# ---- a dump and what is in it --------------------------------------------------------------------
def moment(rng, seconds):
    """A time in one of the ways that sacct writes it."""
    if not seconds:
        return rng.choice(["Unknown", "None", ""])
    if rng.random() < 0.1:  # SLURM_TIME_FORMAT=%s
        return str(seconds)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def limit_text(rng, seconds):
    if seconds == UNLIMITED:
        return rng.choice(["UNLIMITED", "Partition_Limit", "INFINITE"])
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    if not days and seconds % 60 == 0 and rng.random() < 0.2:
        return str(seconds // 60)
    return f"{days}-{clock}" if days else clock


def memory_text(rng, megabytes, cpus, nodes):
    """The memory of the whole job, in all or, as older Slurm says it, per node or CPU."""
    ways = [f"{megabytes}M"]
    if megabytes % 1024 == 0:
        ways.append(f"{megabytes // 1024}G")
    if megabytes % nodes == 0:
        ways.append(f"{megabytes // nodes}Mn")
    if megabytes % cpus == 0:
        ways.append(f"{megabytes // cpus}Mc")
    return rng.choice(ways)


def made_up(rng, number, now):
    """A job as a dict of numbers."""
    submit = BEGIN + rng.randrange(20 * 86400)
    eligible = submit + rng.choice([0, 0, 0, 60, 7200])
    kind = rng.random()
    start = eligible + int(rng.lognormvariate(6, 2.5))
    if kind < 0.02:
        start = eligible - rng.randrange(1, 600)  # accounting that contradicts itself
    if kind > 0.9 or start > now:
        start = 0
    if 0.02 < kind < 0.03:
        eligible = 0
    cpus, nodes = rng.choice([1, 2, 4, 48]), rng.choice([1, 1, 2])
    return {
        "id": rng.choice([str(number), f"{number}_{rng.randrange(9)}", f"{number}+1"]),
        "partition": rng.choice(["medium", "gpu", "int", "p é"]),
        "user": rng.choice(USERS),
        "qos": rng.choice(["normal", "long"]),
        "submit": submit,
        "eligible": eligible,
        "start": start,
        "end": start + 100 if start else 0,
        "state": rng.choice(STARTED) if start else "PENDING",
        "cpus": cpus,
        "nodes": nodes,
        "memory": rng.choice([512, 1024, 4096, 98304]),
        "limit": rng.choice([60, 1800, 3600, 14400, 86400, 93784, UNLIMITED]),
        "gpus": rng.choice([0, 0, 1, 4]),
    }


def line(rng, one, name):
    tres = f"cpu={one['cpus']},node={one['nodes']}"
    if one["gpus"]:
        tres += f",gres/gpu={one['gpus']}"
    user = one["user"]
    fields = [
        one["id"],
        one["partition"],
        name,
        user if isinstance(user, bytes) else user.encode(),
        one["qos"],
        moment(rng, one["submit"]),
        moment(rng, one["eligible"]),
        moment(rng, one["start"]),
        moment(rng, one["end"]),
        one["state"],
        one["cpus"],
        one["nodes"],
        memory_text(rng, one["memory"], one["cpus"], one["nodes"]),
        limit_text(rng, one["limit"]),
        tres,
    ]
    return b"|".join(f if isinstance(f, bytes) else str(f).encode() for f in fields) + b"\n"


def dump_of(path, seed, number, packed=False):
    """Writes a dump; returns (the jobs that count, how many stood there twice, broken lines).

    Among the jobs are: such that are read again with what became of them, requeues (the same
    number, another submission), steps, repeated headers, names with separators and newlines, and
    lines whose rest is no job.
    """
    rng = random.Random(seed)
    now = BEGIN + 15 * 86400
    last, twice, broken, out, known = {}, 0, 0, [], []
    for i in range(number):
        kind = rng.random()
        if known and kind < 0.15:  # read again, some time later
            one = {**rng.choice(known), "state": "COMPLETED"}
            one["start"] = one["start"] or one["submit"] + rng.randrange(5000)
        elif known and kind < 0.25:
            one = {**made_up(rng, i, now), "id": rng.choice(known)["id"]}
        else:
            one = made_up(rng, 1000 + i, now)
        known.append(one)
        key = one["id"], one["submit"]
        twice += key in last
        last[key] = one
        if kind > 0.97:
            out.append(line(rng, {**one, "id": f"{one['id'].split('+')[0]}.batch"}, "step"))
        if kind > 0.99:
            out.append(f"{HEADER}\n".encode())
        if 0.5 < kind < 0.51:
            out.append(line(rng, one, "|".join(["x"] * 40) + "\nrest").partition(b"\n")[0] + b"\n")
            broken += 1
        out.append(line(rng, one, rng.choice(NAMES)))
    data = f"{HEADER}\n".encode() + b"".join(out)
    path.write_bytes(gzip.compress(data) if packed else data)
    return list(last.values()), twice, broken


# ---- what NumPy finds ----------------------------------------------------------------------------
def reference(ones, by="cpu", edges=(4.0, 16.0, 64.0), begin="eligible", since=0, **wanted):
    """({partition: [waits of each class]}, first submission), of the jobs at once."""
    cells, first = {}, []
    partitions = wanted.pop("partitions", None) or sorted({o["partition"] for o in ones})
    for name in partitions:
        cells[name] = [[] for _ in range(len(edges) + 1)]
    for one in ones:
        if any(text(one[k]) != v for k, v in wanted.items()) or one["partition"] not in cells:
            continue
        wait = one["start"] - one[begin]
        if not one["start"] or not one[begin] or wait < 0 or one["submit"] < since:
            continue
        amount = {"cpu": one["cpus"], "memory": one["memory"] / 1024, "gpu": one["gpus"]}[by]
        size = amount * (one["limit"] / 3600) if amount else 0.0
        cells[one["partition"]][sum(size >= edge for edge in edges)].append(wait)
        first.append(one["submit"])
    return {k: [np.array(w, float) for w in v] for k, v in cells.items()}, min(first, default=None)


def text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def statistics(waits):
    """jobs, mean, p10, median, p90."""
    if not len(waits):
        return table.Cell(0, math.nan, math.nan, math.nan, math.nan)
    found = []
    for q in (0.1, 0.5, 0.9):
        place = (len(waits) - 1) * q
        low, high = np.sort(waits)[[math.floor(place), math.ceil(place)]]
        # NumPy rounds the same sum in another order, which shows where a half is to be rounded.
        found.append(low + (high - low) * (place - math.floor(place)))
        assert found[-1] == pytest.approx(np.quantile(waits, q), rel=1e-12)
    return table.Cell(len(waits), waits.mean(), *found)


# arguments of the command, those of `reference`
CASES = [
    ([], {}),
    (["-m"], {"by": "memory"}),
    (["-g"], {"by": "gpu"}),
    (["-it", "1,3,6"], {"edges": (1.0, 3.0, 9.0, 27.0, 81.0)}),
    (["-g", "-it", "2,2,2"], {"by": "gpu", "edges": (2.0,)}),
    (["-p", "int,p é"], {"partitions": ["int", "p é"]}),
    (["--since", "2024-03-08T06:00"], {"since": BEGIN + 7 * 86400 + 6 * 3600}),
    (["--user", "ada"], {"user": "ada"}),
    (["--user", "latin\N{REPLACEMENT CHARACTER}"], {"user": "latin\N{REPLACEMENT CHARACTER}"}),
    (["--qos", "long", "-m"], {"qos": "long", "by": "memory"}),
    (["--wait-from", "submit"], {"begin": "submit"}),
]


@pytest.mark.parametrize("packed", [False, True])
def test_every_option_is_what_numpy_finds(cluster, tmp_path, pieces, packed):
    file = tmp_path / "dump"
    ones, twice, broken = dump_of(file, seed=11 + packed, number=600, packed=packed)
    assert twice > 30 and broken > 1
    for arguments, same in CASES:
        cells, first = reference(ones, **same)
        right = {name: [statistics(w) for w in row] for name, row in cells.items()}
        assert first is not None

        def call(*more, arguments=arguments):
            found = cluster("table", "--dump", file, *arguments, *more)
            assert found.code == 0, found.err
            return found

        found = call("--format", "json", *(["--no-cache"] if packed else []))
        assert f"{twice:,} jobs stood there twice" in found.err
        assert f"{broken:,} lines that a job's name has broken" in found.err
        rows = iter(json.loads(found.out)["rows"])
        for name, cell in ((n, c) for n, row in right.items() for c in row):
            row = next(rows)
            assert (row["partition"], row["jobs"]) == (name, cell.jobs)
            got = [row[k] for k in ("mean", "p10", "median", "p90")]
            numbers = (cell.mean, cell.p10, cell.p50, cell.p90)
            assert got == [None if math.isnan(v) else round(v, 3) for v in numbers]
        assert next(rows, None) is None and json.loads(found.out)["data"]["first"] == first
        for stat, key in (("median", "p50"), ("p90", "p90")):
            lines = [li.split("\t") for li in call("--stat", stat).out.splitlines()[2:]]
            assert lines == [
                [n, *(f"{duration(getattr(c, key))} ({c.jobs})" if c.jobs else "NA" for c in row)]
                for n, row in right.items()
            ]
        rows = list(csv.reader(io.StringIO(call("--format", "csv").out)))[1:]
        assert [row[3:] for row in rows] == [
            ["" if math.isnan(v) else f"{v:.1f}" for v in (c.mean, c.p50, c.p90)]
            for row in right.values()
            for c in row
        ]


def test_the_picture_is_that_of_numpys_numbers(cluster, tmp_path, pieces):
    file, picture, other = tmp_path / "dump", tmp_path / "a.svg", tmp_path / "b.svg"
    ones, _, _ = dump_of(file, seed=3, number=900)
    assert cluster("table", "--dump", file, "--no-cache", "--plot", picture).code == 0
    cells, first = reference(ones)
    right = {name: [statistics(w) for w in row] for name, row in cells.items()}
    data = json.loads(cluster("table", "--dump", file, "--format", "json").out)["data"]
    assert data["first"] == first
    plots.save(plots.waits_by_class(right, jobs.Classes(), data), str(other))
    assert picture.read_text() == other.read_text()


# ---- each of the pieces --------------------------------------------------------------------------
@pytest.mark.parametrize("bins", [2, 64, 1 << 16])
def test_ranks_are_those_of_sorted_waits(monkeypatch, bins):
    """Whatever the waits are, up to the largest, and however few bins there are."""
    monkeypatch.setattr(table, "MOST_BINS", bins)
    rng = np.random.default_rng(bins)
    groups = {
        3: rng.integers(0, 2**32, 500),
        4: np.zeros(7, np.int64),
        9: np.array([2**32 - 1]),
        1000: rng.integers(0, 50, 3000),
    }
    flat = np.concatenate([k << 32 | w for k, w in groups.items()]).astype(np.uint64)
    rng.shuffle(flat)
    keys = np.repeat(list(groups), [len(w) for w in groups.values()])
    ranks = np.concatenate([np.arange(len(w)) for w in groups.values()])
    found = table.ranked(lambda: np.array_split(flat, 7), keys, ranks)
    assert found.tolist() == np.concatenate([np.sort(w) for w in groups.values()]).tolist()


def batches_of(keys, size):
    """Batches of columns whose keys (number, task, component, submit) are given; cpus tell rows
    apart.
    """
    for begin in range(0, len(keys), size):
        part = np.array(keys[begin : begin + size], np.int64).reshape(-1, 4)
        out = {name: np.ones(len(part), kind) for name, kind in jobs.COLUMNS.items()}
        for name, column in zip(store.KEY, part.T):
            out[name] = column.astype(jobs.COLUMNS[name])
        out["cpus"] = np.arange(begin, begin + len(part), dtype=jobs.COLUMNS["cpus"])
        yield out


@pytest.mark.parametrize("hashes", ["good", "equal", "few"])
@pytest.mark.parametrize("many", [30, 2000])
def test_the_last_of_equal_keys_stays(monkeypatch, hashes, many):
    """A dict is the oracle; hashes that agree by chance, even all of them, take no job away."""
    monkeypatch.setattr(store, "SEGMENT", 100)
    monkeypatch.setattr(store, "MOST_KEYS", 150)
    if hashes != "good":
        few = 1 if hashes == "equal" else 5
        monkeypatch.setattr(
            store,
            "mixed",
            lambda *c: (
                sum(k.astype(np.int64) for k in c).astype(np.uint64) % np.uint64(few)
                << np.uint64(61)
            ),
        )
    rng = np.random.default_rng(many)
    kinds = np.stack([rng.integers(0, many, 3000) for _ in store.KEY], axis=1) % (97, 3, 2, 5)
    keys = [tuple(key) for key in kinds.tolist()]
    last = {key: place for place, key in enumerate(keys)}
    with store.Store(None) as found, found.change():
        found.add(batches_of(keys, 40))
        assert found.forget_duplicates() == len(keys) - len(last)
        names = ("cpus", *store.KEY)
        kept = [row for b in found.batches(names) for row in zip(*(b[k].tolist() for k in names))]
        assert kept == sorted((place, *key) for key, place in last.items())
        assert found.forget_duplicates() == 0


def test_small_segments_are_joined(monkeypatch):
    monkeypatch.setattr(store, "SEGMENT", 160)
    keys = [(i, 0, 0, 1) for i in range(400)]
    with store.Store(None) as found, found.change():
        for begin in range(0, 400, 10):
            found.add(batches_of(keys[begin : begin + 10], 10))
        found.merge_small()
        assert [rows for _, rows in found.segments()] == [160, 160, 80]
        assert [k for b in found.batches(["id"]) for k in b["id"].tolist()] == list(range(400))


def test_the_latest_jobs_are_loaded(cluster, tmp_path, monkeypatch):
    """More jobs than fit: the latest stay, as with --since, and a line says so."""
    file = tmp_path / "dump"
    dump_of(file, seed=5, number=2000)
    asked = ("forecast", "--dump", file, "-p", "medium", "--quantiles", "50")
    whole = cluster(*asked)
    monkeypatch.setattr(store, "SEGMENT", 50)
    monkeypatch.setattr(store, "MOST_ROWS", 200)
    found = cluster(*asked, "--no-cache")
    said = [text for text in found.err.splitlines() if text.startswith("[forecast] jobs before")]
    assert found.code == 0 and "are not looked at: 200 were submitted later" in said[0]
    since = said[0].split("before ")[1].split(" are")[0].replace(" ", "T")
    narrow = cluster(*asked, "--no-cache", "--since", since)
    assert found.out == narrow.out != whole.out
    for command in ("backtest", "start", "advise"):
        more = ["--cpus", "4", "--time", "60", "--speedup", "3"] if command == "advise" else []
        found = cluster(command, "--dump", file, *more)
        assert f"[{command}] jobs before" in found.err


@pytest.mark.parametrize("names, held", [(30, 1 << 20), (1000, 40)])
def test_too_many_names(cluster, tmp_path, monkeypatch, names, held):
    monkeypatch.setattr(jobs, "MOST_NAMES", names)
    monkeypatch.setattr(jobs, "MOST_TEXT", held)
    file = tmp_path / "dump"
    rng = random.Random(1)
    ones = [{**made_up(rng, i, BEGIN * 2), "user": f"u{i}"} for i in range(50)]
    file.write_bytes(f"{HEADER}\n".encode() + b"".join(line(rng, o, "x") for o in ones))
    found = cluster("table", "--dump", file)
    assert found.code == 1 and "too many different names" in found.err
    assert found.err.count("\n") == 1


def test_too_many_cells(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "MOST_CELLS", 11)
    file = tmp_path / "dump"
    dump_of(file, seed=1, number=200)
    found = cluster("table", "--dump", file)
    assert found.code == 1 and "too many cells; got 4 partitions of 4 classes" in found.err
    assert cluster("table", "--dump", file, "-p", "gpu,int").code == 0


def test_long_texts_are_not_remembered():
    """What the columns remember of a hostile dump is bounded in size, too."""
    cached = columns.Cached(len)
    for i in range(60):
        values = [f"{i}" + "x" * 100_000, "y" * 50_000 + f"{i}"]
        assert cached.all(values, "a text").tolist() == list(map(len, values))
        assert cached.held <= columns.MOST_TEXT + 200_000


def test_wide_rows_make_short_batches():
    """A CSV file of wide rows, whose 50,000 would fill the memory."""
    names = {kind: jobs.Names() for kind in jobs.KINDS}
    head = "JobID,Partition,Submit,Start,State,ReqCPUS,Timelimit"
    wide = 4000
    rows = (f"{i},p,1,2,COMPLETED,1,1" + "," * wide + "\n" for i in range(5000))
    stream = iter([head + ",x" * wide + "\n", *rows])
    sizes = [len(b["id"]) for b in adapters.read_csv(stream, "x", names, sacct_text.Left())]
    assert sum(sizes) == 5000 and max(sizes) < 2200


def test_no_room_for_temporary_files(cluster, tmp_path, monkeypatch):
    """A full disk is said in one line."""
    file = tmp_path / "dump"
    dump_of(file, seed=1, number=100)

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.tempfile, "TemporaryFile", lambda **_: Full())
    for arguments in (["--no-cache"], ["--stat", "median"]):
        found = cluster("table", "--dump", file, *arguments)
        assert found.code == 1 and found.out == "" and found.err.count("\n") == 1
        assert "[cache] no room for a temporary file" in found.err and "TMPDIR" in found.err


MEMORY = """
import sys, argparse, numpy as np
from numbus_cluster import jobs, store, table
store.MOST_KEYS, table.MOST_BINS = 1 << 18, 1 << 18
rng = np.random.default_rng(1)
def batches(total):
    for begin in range(0, total, 50_000):
        n = 50_000
        out = {name: rng.integers(1, 2**15 - 1, n).astype(kind) for name, kind in
               jobs.COLUMNS.items()}
        out["id"] = (np.arange(begin, begin + n) % (total // 2)).astype("u4")
        for name in ("task", "component", "submit"):
            out[name][:] = 5
        for name in jobs.KINDS:
            out[name][:] = 0
        out["eligible"][:] = 1 << 30
        out["start"] = ((1 << 30) + rng.integers(0, 1 << 31, n)).astype("u4")
        yield out
with store.Store(None) as found:
    with found.change():
        found.add(batches(int(sys.argv[1])))
        found.put_names({kind: jobs.Names(["x"]) for kind in jobs.KINDS})
        found.put("read", 1 << 31)
        gone = found.forget_duplicates()
    options = argparse.Namespace(partitions=None, begin="eligible", user=None, qos=None, since=None)
    cells, data = table.collect(found, options, jobs.Classes(), True)
print(gone, data["jobs"], open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


def test_memory_does_not_grow(tmp_path):
    """Of jobs half of which stand twice, with waits that hardly repeat: nothing is kept of them."""
    try:
        open("/proc/self/status").close()  # ru_maxrss counts what the parent had, too
    except OSError:
        pytest.skip("needs /proc/self/status")
    peaks = []
    for total in (600_000, 3_600_000):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(total)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        gone, left, peak = map(int, done.stdout.split())
        assert gone == left == total // 2
        peaks.append(peak)
    # The further jobs have 170 MB of columns, 24 MB of keys and 12 MB of waits.
    assert peaks[1] - peaks[0] < 20_000 and peaks[1] < 250_000  # kilobytes
