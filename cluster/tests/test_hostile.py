"""Bad input is one line that says what and where; hostile text stays in its cell."""

import gzip
import os
import subprocess
import sys

import pytest
from conftest import HEADER, job

NAMES = HEADER.replace("|User|", "|JobName|User|")


def named(number, name, **options):
    """A line of a dump with job names."""
    fields = job(number, **options).split("|")
    return "|".join([*fields[:2], name, *fields[2:]])


@pytest.mark.parametrize(
    "lines, where, said",
    [
        ([job(1), job(2, start="01/03/24 12:00")], "line 3", "the column Start"),
        ([job(1), job(2, submit="1 mars 2024")], "line 3", "the column Submit"),
        ([job(1, submit="2024-02-30T00:00:00")], "line 2", "the column Submit"),
        ([job(1, start="2024-03-01 12:00:00")], "line 2", "the column Start"),
        ([job(1, start="12:00:00")], "line 2", "the column Start"),
        ([job(1), "1|medium|ada"], "line 3", "wrong number of columns"),
        ([job(1), job(2) + "|x"], "line 3", "wrong number of columns"),
        ([job(1), "", job(2)], "line 3", "wrong number of columns"),
        ([job(1, limit="two days")], "line 2", "the column Timelimit"),
        ([job(1, mem="plenty")], "line 2", "the column ReqMem"),
        ([job(1, cpus="four")], "line 2", "the column ReqCPUS"),
        ([job(1, tres="gres/gpu=many")], "line 2", "the column"),
        ([job("x1")], "line 2", "the column JobID"),
        ([job(1, start="2024-03-01T12:00:00é")], "line 2", "the column Start"),
    ],
)
def test_one_line_says_what_and_where(cluster, dump, lines, where, said):
    found = cluster("table", "--dump", dump(*lines))
    assert found.code == 1 and found.out == ""
    assert where in found.err and said in found.err and "expected" in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "is empty"),
        (b"\x00\x01\x02" * 100, "is no text"),
        (b"\x7fELF|\xff\xfe\n", "lacks"),
        (b"hello\nworld\n", "the header lacks everything"),
        (f"{HEADER}\n".encode(), "has no jobs"),
        (f"{HEADER}\n{job(1)}\n{job(2)[:40]}".encode(), "the dump ends inside a line"),
        (f"{HEADER}\n{job(1)}".encode(), "the dump ends inside a line"),
        (b"Slurm accounting storage is disabled\n", "sacct printed an error"),
        (b"JobID|Partition\n1|x\n", "the header lacks Submit, Start, State, ReqCPUS, Timelimit"),
        (b"a" * 3_000_000, "the line has no end"),
        (b"\x1f\x8b\x08broken", "cannot read"),
        (gzip.compress(f"{HEADER}\n{job(1)}\n".encode())[:-9], "cannot read"),
    ],
)
def test_files_that_are_no_dump(cluster, tmp_path, content, said):
    file = tmp_path / "x"
    file.write_bytes(content)
    found = cluster("table", "--dump", file)
    assert found.code == 1 and found.out == "" and said in found.err
    assert found.err.count("\n") == 1


def test_files_that_cannot_be_read(cluster, tmp_path):
    for name, said in (("nosuch", "there is no such file"), ("", "cannot read")):
        found = cluster("table", "--dump", f"{tmp_path}/{name}")
        assert found.code == 1 and said in found.err and found.err.count("\n") == 1


def test_a_packed_dump_and_one_with_a_separator_at_the_end(cluster, tmp_path):
    text = f"{HEADER}\n{job(1)}\n"
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "b").write_text(text.replace("\n", "|\n"))
    for name in ("a.gz", "b"):
        assert "10.0 m (1)" in cluster("table", "--dump", tmp_path / name).out


def test_negative_waits_are_left_out_and_told(cluster, dump):
    file = dump(job(1), job(7, start="2024-03-01T11:00:00"), job(8, eligible="Unknown"))
    found = cluster("table", "--dump", file)
    assert "10.0 m (1)" in found.out
    assert "1 jobs that start before they are eligible and 1 without" in found.err
    assert "job 7, line 3" in found.err


# ---- names that break lines ----------------------------------------------------------------------
def test_separators_and_newlines_in_names(cluster, dump):
    """They belong to the name, which is not read; the jobs count."""
    hostile = [
        "a|b",
        "|||",
        "a\nb",
        "x\n",
        "\n\n",
        "tab\there",
        "\x1b[31mred\x1b]0;title\x07",
        "é\u202e\u2028\x85",
        "'; rm -rf / #",
        "$(id)",
        "a\r",
        "|\n|",
    ]
    file = dump(
        *(named(i, name) for i, name in enumerate(hostile)), named(99, "plain"), header=NAMES
    )
    found = cluster("table", "--dump", file)
    assert found.code == 0
    assert f"10.0 m ({len(hostile) + 1})" in found.out


def test_what_cannot_be_repaired_is_counted(cluster, dump):
    """A name that looks like the end of its line leaves a rest that is no job."""
    rest = "|".join(["x"] * 30)
    file = dump(named(1, "fine"), named(2, f"{rest}\nrest"), named(3, "fine"), header=NAMES)
    found = cluster("table", "--dump", file)
    assert found.code == 0 and "(2)" in found.out and "left out" in found.err


def test_names_cannot_leave_their_cell(cluster, dump):
    """Partitions and users come from Slurm's own tables, yet nothing relies on that."""
    nasty = "p\x1b[2J\tq\x07\u202e"
    file = dump(job(1, partition=nasty), job(2, partition="=cmd()"), job(3, partition="$x$"))
    for extra in ([], ["--format", "csv"], ["--format", "json"]):
        out = cluster("table", "--dump", file, *extra).out
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
    lines = cluster("table", "--dump", file).out.splitlines()
    assert all(line.count("\t") == 4 for line in lines[1:])
    found = cluster("table", "--dump", file, "-p", "nosuch")
    assert "\x1b" not in found.err and len(found.err.splitlines()) == 4
    picture = file.with_suffix(".svg")
    assert cluster("table", "--dump", file, "--plot", picture).code == 0
    assert "\x1b" not in picture.read_text()


# ---- sacct ---------------------------------------------------------------------------------------
@pytest.fixture
def sacct(tmp_path, monkeypatch):
    """sacct(script) puts a program of that name in front of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def write(script, name="sacct"):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("SACCT_FORMAT", "Reserved")
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    return write


@pytest.mark.parametrize(
    "script, said",
    [
        ("echo Slurm accounting storage is disabled >&2; exit 1", "accounting is switched off"),
        ("echo 'sacct: error: Access/permission denied' >&2; exit 1", "permission denied"),
        ("echo 'sacct: error: Connection refused' >&2; exit 1", "Slurm does not answer"),
        (
            "echo 'sacct: fatal: Could not establish a configuration source' >&2; exit 1",
            "this machine belongs to no Slurm cluster",
        ),
        ("exit 3", "sacct failed; got 'exit status 3'"),
        ("echo 'sacct: error: strange' >&2", "sacct failed"),
        ("echo nonsense", "sacct, line 1: the header lacks"),
        ("head -c 100 /dev/zero", "is no text"),
        ("printf 'JobID|Part'", "the dump ends inside a line"),
        ("kill -9 $$", "sacct failed"),
    ],
)
def test_sacct_that_fails(cluster, sacct, script, said):
    sacct(script)
    found = cluster("table")
    assert found.code == 1 and said in found.err and found.err.count("\n") == 1


def test_no_sacct(cluster, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = cluster("table")
    assert found.code == 1 and "there is no program sacct" in found.err and "--dump" in found.err


def test_how_sacct_is_called_and_that_it_is_asked_for_the_new_alone(cluster, sacct, tmp_path):
    """Each day once; later only since the last time; what has changed replaces the old."""
    log = tmp_path / "log"
    first = job(5, start="Unknown", end="Unknown", state="PENDING")
    later = job(5, start="2024-03-01T12:30:00")
    sacct(
        f'echo "$TZ $SLURM_TIME_FORMAT $SACCT_FORMAT $*" >>{log}\necho "{HEADER}"\n'
        f'if [ -e {tmp_path}/later ]; then echo "{later}"; else echo "{job(1)}"\n'
        f'echo "{first}"; fi'
    )
    assert "10.0 m (1)" in cluster("table", "--since", "2024-01-01").out
    calls = log.read_text().splitlines()
    assert len(calls) > 60
    for call in calls:
        assert call.startswith("UTC standard  --allusers --parsable2 --allocations --duplicates -o")
        assert "Reserved" not in call and "Planned" not in call and "JobName" not in call
    log.unlink()
    (tmp_path / "later").touch()
    assert "20.0 m (2)" in cluster("table", "--since", "2024-01-01").out
    assert len(log.read_text().splitlines()) == 1


# ---- the cache -----------------------------------------------------------------------------------
def test_cache_follows_the_file(cluster, dump, tmp_path):
    file = dump(job(1))
    assert "(1)" in cluster("table", "--dump", file).out
    dump(job(1), job(2))
    assert "(2)" in cluster("table", "--dump", file).out
    (store,) = (tmp_path / "cache").iterdir()
    assert store.stat().st_mode & 0o777 == 0o600
    for damage in (b"", b"not a database at all" * 100, store.read_bytes()[: -(4096 * 3)]):
        store.write_bytes(damage)
        found = cluster("table", "--dump", file)
        assert "(2)" in found.out or (found.code == 1 and "cache" in found.err)
        assert found.err.count("\n") <= 1
    store.unlink()
    assert "(2)" in cluster("table", "--dump", file, "--no-cache").out
    assert not list((tmp_path / "cache").iterdir())


def test_a_cache_that_cannot_be_written(cluster, dump, monkeypatch):
    monkeypatch.setenv("NUMBUS_CLUSTER_CACHE", "/dev/null/x")
    found = cluster("table", "--dump", dump(job(1)))
    assert found.code == 1 and "--no-cache" in found.err and found.err.count("\n") == 1


def test_jobs_that_stand_twice(cluster, dump):
    """Overlapping days of a dump: the last line of a job and submission counts, headers are no
    jobs.
    """
    file = dump(
        job(1, start="Unknown", end="Unknown"),
        job(2),
        HEADER,
        job(1),
        job(2),
        job(2, submit="2024-03-01T12:05:00"),
    )
    found = cluster("table", "--dump", file)
    assert "(3)" in found.out and "2 jobs stood there twice" in found.err


def test_memory_stays_bounded(tmp_path):
    """The memory of reading 65 MB stays below what their texts alone would take in Python."""
    if not os.path.exists("/proc/self/status"):  # ru_maxrss counts what the parent had, too
        pytest.skip("needs /proc/self/status")
    line = job(1).encode()
    file = tmp_path / "large"
    with open(file, "wb") as stream:
        stream.write(HEADER.encode() + b"\n")
        for i in range(500_000 // 20):
            block = b"".join(
                line.replace(b"1|", b"%d|" % (20 * i + j), 1) + b"\n" for j in range(20)
            )
            stream.write(block)
    code = (
        "import sys; from numbus_cluster.cli import main; code = main(sys.argv[1:]);"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "table", "--dump", file],
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    assert "(500000)" in done.stdout
    assert int(done.stdout.splitlines()[-1]) < 250_000  # kilobytes
