"""`table`: goldens, classings that agree, NumPy as the oracle of its statistics, options."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import HERE, job
from numbus_cluster.text import duration


def cells(out):
    """The lines after the title, split."""
    return [line.split("\t") for line in out.splitlines()[1:]]


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("cpu", ["-p", "medium,gpu,int", "-it", "4,4"]),
        ("memory", ["-p", "medium,gpu", "-it", "8,8,5", "-m"]),
        ("gpu", ["-g", "--stat", "p90"]),
        ("user", ["--user", "user0", "--stat", "median", "--since", "5d"]),
        ("json", ["-p", "int", "--format", "json"]),
        ("csv", ["--format", "csv"]),
    ],
)
def test_goldens(cluster, sample, name, arguments):
    """tests/goldens holds what the command prints; write it anew by deleting a file."""
    found = cluster("table", "--dump", sample[0], *arguments)
    assert found.code == 0 and found.err == ""
    golden = HERE / "goldens" / f"table-{name}.txt"
    if not golden.exists():
        golden.write_text(found.out)
    assert found.out == golden.read_text()


def test_statistics_are_numpys(cluster, sample):
    """Mean, median and 90 % of each cell, against the trace that the dump was made of."""
    trace = sample[1]
    started = ~trace.cancelled & (trace.submit + trace.wait <= trace.end)
    rows = json.loads(cluster("table", "--dump", sample[0], "--format", "json").out)["rows"]
    assert len(rows) == 12
    for row in rows:
        index = [0.0, 4.0, 16.0, 64.0].index(row["from"])
        mask = started & (trace.partition == row["partition"]) & (trace.size_class == index)
        waits = trace.wait[mask]
        assert row["jobs"] == len(waits)
        assert row["mean"] == pytest.approx(waits.mean(), abs=2e-3)
        for key, q in (("p10", 0.1), ("median", 0.5), ("p90", 0.9)):
            assert row[key] == pytest.approx(np.quantile(waits, q), abs=2e-3)


def test_totals_agree_between_the_classings(cluster, sample):
    totals = []
    for extra in ([], ["-m"], ["-g"], ["-it", "1,2,9"], ["-m", "-it", "0.5,3"]):
        found = cells(cluster("table", "--dump", sample[0], *extra).out)[1:]
        totals.append(
            {row[0]: sum(int(n) for n in re.findall(r"\((\d+)\)", " ".join(row))) for row in found}
        )
    assert all(t == totals[0] for t in totals) and min(totals[0].values()) > 1000


def test_totals_agree_without_memory_limit_or_gpus(cluster, dump):
    """Jobs that state nothing still stand in one class of each classing."""
    file = dump(
        job(1, limit="UNLIMITED"),
        job(2, limit="Partition_Limit", mem="0", tres=""),
        job(3, cpus=0, mem=""),
        job(4, tres="cpu=1,gres/gpu:a100=2", limit="1-00:00:00"),
    )
    for extra in ([], ["-m"], ["-g"]):
        row = cells(cluster("table", "--dump", file, *extra).out)[1]
        assert sum(int(n) for n in re.findall(r"\((\d+)\)", " ".join(row))) == 4


def test_classes_and_units(cluster, dump):
    file = dump(
        job(1, cpus=1, limit="03:59:59", start="2024-03-01T12:00:12"),
        job(2, cpus=1, limit="04:00:00", start="2024-03-01T12:08:12"),
        job(3, cpus=64, limit="01:00:00", start="2024-03-02T02:36:00"),
    )
    found = cells(cluster("table", "--dump", file, "-p", "medium", "-it", "4,4").out)
    assert found == [
        ["partition", "<4 CPUh", "<16 CPUh", "<64 CPUh", ">64 CPUh"],
        ["medium", "12.0 s (1)", "8.2 m (1)", "NA", "14.6 h (1)"],
    ]
    title = cluster("table", "--dump", file).out.splitlines()[0]
    assert "data of 2024-03-02 02:36" in title and "3 jobs" in title


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1.0 m"),
        (492, "8.2 m"),
        (3596.9, "59.9 m"),
        (3597.1, "1.0 h"),
        (52560, "14.6 h"),
        (1e6, "277.8 h"),
        (float("nan"), "NA"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_a_partition_that_does_not_exist(cluster, dump):
    file = dump(job(1), job(2, "gpu"), job(3, "a,b", start="Unknown", end="Unknown"))
    for asked in ("nosuch", "medium,nosuch", "", "a,b"):
        found = cluster("table", "--dump", file, "-p", asked)
        assert found.code == 1 and found.out == ""
        assert found.err.splitlines() == [
            "error - please call_sacct_for existing partition(s)",
            "gpu",
            "medium",
        ]


def test_which_jobs_count(cluster, dump):
    """Pending and cancelled jobs have no wait; steps are no jobs; parts of arrays, of heterogeneous
    jobs and each run of a requeued one are.
    """
    file = dump(
        job(1),
        job("1.batch"),
        job("1.0"),
        job("2_7"),
        job("3+0"),
        job("3+1"),
        job("4_[1-9%2]", start="Unknown", end="Unknown", state="PENDING"),
        job(5, start="Unknown", state="CANCELLED by 1000"),
        job(6, state="REQUEUED"),
        job(6, submit="2024-03-01T12:30:00", start="2024-03-01T12:40:00"),
    )
    found = cluster("table", "--dump", file)
    assert cells(found.out)[1] == ["medium", "NA", "10.0 m (6)", "NA", "NA"] and not found.err


def test_wait_from(cluster, dump):
    file = dump(job(1, eligible="2024-03-01T12:08:00"))
    assert "2.0 m" in cluster("table", "--dump", file).out
    assert "10.0 m" in cluster("table", "--dump", file, "--wait-from", "submit").out


def test_plot_is_a_picture_and_the_same_each_time(cluster, sample, tmp_path):
    for name in ("a.svg", "b.svg"):
        assert cluster("table", "--dump", sample[0], "--plot", tmp_path / name).code == 0
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text() and "10 m" in text and "&gt;64 CPUh" in text
    found = cluster("table", "--dump", sample[0], "--plot", tmp_path / "a.doc")
    assert found.code == 2 and "no such kind of picture" in found.err


def test_csv_is_read_back(cluster, sample):
    rows = list(
        csv.DictReader(io.StringIO(cluster("table", "--dump", sample[0], "--format", "csv").out))
    )
    assert len(rows) == 12 and float(rows[0]["mean_s"]) > 0


def test_as_a_program(sample, tmp_path):
    """Modules that only a picture or a forecast needs do not slow the table down."""
    code = (
        "import sys; from numbus_cluster.cli import main; main(sys.argv[1:]);"
        "print(sorted({'scipy', 'matplotlib', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "table", "--dump", sample[0], "-p", "int"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    head = subprocess.run(
        f"{sys.executable} -m numbus_cluster sample --jobs 9000 | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert head.returncode == 0 and head.stderr == ""
