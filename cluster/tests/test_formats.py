"""SWF, CSV with a mapping, time zones, and the texts of Slurm's columns."""

import zoneinfo
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from conftest import job
from numbus_cluster import fields
from numbus_cluster.fields import UNLIMITED

SWF = """; Version: 2.2
; UnixStartTime: 1700000000
; MaxProcs: 128
1 0 600 3600 4 -1 -1 4 7200 -1 1 3 1 -1 2 -1 -1 -1
2 50 60 30 8 -1 2048 16 7200 4096 1 4 1 -1 1 -1 -1 -1
3 60 500 -1 1 -1 -1 1 60 -1 5 4 1 -1 1 -1 -1 -1
4 70 -1 -1 1 -1 -1 1 60 -1 -1 4 1 -1 1 -1 -1 -1
5 80 120 10 1 -1 -1 1 -1 -1 0 4 1 -1 1 -1 -1 -1
6 80 1 10 1 -1 -1 1 60 -1 2 4 1 -1 1 -1 -1 -1
"""


def test_swf(cluster, tmp_path):
    file = tmp_path / "trace.swf"
    file.write_text(SWF)
    found = cluster("table", "--swf", file)
    lines = [line.split("\t") for line in found.out.splitlines()[1:]]
    assert lines[1] == ["q1", "NA", "NA", "1.0 m (1)", "2.0 m (1)"]
    assert lines[2] == ["q2", "NA", "10.0 m (1)", "NA", "NA"]
    assert "1 parts of checkpointed jobs (the first in line 9)" in found.err
    assert "2023-11-14" in found.out


@pytest.mark.parametrize(
    "text, said",
    [
        ("1 2 3\n", "line 1: not a job"),
        (SWF + "7 x 3\n", "line 10: not a job"),
        ("; only comments\n", "has no jobs"),
        (SWF + "1 nan" + " 1" * 16 + "\n", "line 10: not a job"),
        ("1 99999999999" + " 1" * 16 + "\n", "a time after the year 2106"),
        ("\0\0", "is no text"),
    ],
)
def test_swf_mistakes(cluster, tmp_path, text, said):
    file = tmp_path / "trace.swf"
    file.write_text(text)
    found = cluster("table", "--swf", file)
    assert found.code == 1 and said in found.err and found.err.count("\n") == 1


CSV = """queue;sent;begun;finished;cores;walltime;who
medium;2024-03-01 12:00:00;2024-03-01T12:10:00;;4;02:00:00;"a; b"
gpu;1709294400;1709294460;1709298000;8;1-00:00:00;"x
y"
"""
MAP = "Partition=queue,Submit=sent,Start=begun,End=finished,ReqCPUS=cores,Timelimit=walltime"


def test_csv(cluster, tmp_path):
    file = tmp_path / "jobs.csv"
    file.write_text(CSV)
    found = cluster("table", "--csv", file, "--map", MAP, "--delimiter", ";")
    assert [line.split("\t") for line in found.out.splitlines()[2:]] == [
        ["gpu", "NA", "NA", "NA", "1.0 m (1)"],
        ["medium", "NA", "10.0 m (1)", "NA", "NA"],
    ]
    assert "jobs.csv" in found.out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--map", "Partition:queue"], "--map cannot be read"),
        (["--map", "Nonsense=queue"], "--map cannot be read"),
        (["--map", "Partition=nosuch"], "has no column nosuch"),
        (["--map", "Partition=queue"], "lacks Submit, Start, ReqCPUS, Timelimit"),
        (["--map", MAP.replace("cores", "who")], "line 2: the column ReqCPUS"),
        (["--swf", "x"], "more than one source"),
    ],
)
def test_csv_mistakes(cluster, tmp_path, arguments, said):
    file = tmp_path / "jobs.csv"
    file.write_text(CSV)
    found = cluster("table", "--csv", file, "--delimiter", ";", *arguments)
    assert found.code in (1, 2) and said in found.err and found.err.count("\n") == 1


def test_estimates_of_slurm_are_compared(cluster, tmp_path):
    """A column Estimate, from squeue --start at the time, stands beside the other predictions."""
    rng = np.random.default_rng(1)
    lines = ["Partition,Submit,Start,Timelimit,ReqCPUS,Estimate"]
    for i in range(200):
        submit, wait = 1_700_000_000 + 600 * i, int(rng.integers(60, 600))
        lines.append(f"p,{submit},{submit + wait},60,1,{submit + 293 * wait}")
    file = tmp_path / "jobs.csv"
    file.write_text("\n".join(lines) + "\n")
    found = cluster("backtest", "--csv", file)
    assert found.code == 0 and "\tSlurm\t" in found.out


def test_time_zone(cluster, dump):
    """A wait over the night when clocks go forward is an hour shorter than they show."""
    file = dump(job(1, submit="2024-03-31T01:30:00", start="2024-03-31T03:30:00"))
    assert "2.0 h (1)" in cluster("table", "--dump", file).out
    berlin = cluster("table", "--dump", file, "--timezone", "Europe/Berlin").out
    assert "1.0 h (1)" in berlin and "2024-03-31 01:30 UTC" in berlin
    wrong = cluster("table", "--dump", file, "--timezone", "Mars/Olympus")
    assert wrong.code == 2 and "no such time zone" in wrong.err


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/St_Johns", "Pacific/Chatham"])
def test_time_zones_are_pythons(zone):
    from numbus_cluster.sources import TIMES, zoned

    rng = np.random.default_rng(2)
    local = rng.integers(1_600_000_000, 1_800_000_000, 500).astype(np.uint32)
    (batch,) = zoned([dict.fromkeys(TIMES, local)], zone)
    for value, found in zip(local.tolist(), batch["start"].tolist()):
        moment = datetime(1970, 1, 1) + timedelta(seconds=value)
        assert found == moment.replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp()


# ---- columns -------------------------------------------------------------------------------------
def test_moments_are_pythons():
    rng = np.random.default_rng(3)
    seconds = np.concatenate([rng.integers(1, 2**32 - 1, 3000), [1, 951782400, 2**32 - 1]])
    texts = [datetime.fromtimestamp(int(s), UTC).strftime("%Y-%m-%dT%H:%M:%S") for s in seconds]
    assert fields.moments(texts).tolist() == seconds.tolist()
    assert fields.moments([]).tolist() == []
    assert fields.moments(["Unknown", "None", "", "N/A"]).tolist() == [0, 0, 0, 0]
    assert fields.moments(["Unknown", texts[0], "12"]).tolist() == [0, seconds[0], 12]


@pytest.mark.parametrize(
    "text",
    [
        "now",
        "today",
        "2024-01",
        "2024-01-01",
        "2024-01-01T00:00",
        "2024-13-01T00:00:00",
        "NaT",
        "2024-01-01T24:00:00",
        "2024-01-01T00:00:60",
        "01/02/24 03:04",
        "Mar 01 12:00",
        "-1",
        "4294967296",
        "2024-01-01T00:00:0x",
        "1969-12-31T23:59:59",
        "2106-02-07T06:28:16",
        "２０２４-01-01T00:00:00",
    ],
)
def test_what_is_no_moment(text):
    """NumPy alone would take some of these, 'now' and 'today' among them."""
    for values in ([text], ["2024-01-01T00:00:00", text], ["Unknown", text]):
        with pytest.raises(fields.Bad) as bad:
            fields.moments(values)
        assert bad.value.index == len(values) - 1


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("1-02:03:04", 93784),
        ("00:30:00", 1800),
        ("30", 1800),
        ("30:15", 1815),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("365-00:00:00", 31536000),
        ("UNLIMITED", UNLIMITED),
        ("", -1),
        ("Partition_Limit", -1),
        ("99999-00:00:00", UNLIMITED - 1),
        ("00:10:00.5", 600),
    ],
)
def test_limits(text, seconds):
    assert fields.limit(text) == seconds


@pytest.mark.parametrize(
    "text, megabytes, per",
    [
        ("16G", 16384, 0),
        ("4000Mn", 4000, 1),
        ("2Gc", 2048, 2),
        ("0n", 0, 1),
        ("512", 512, 0),
        ("1.50T", 1572864, 0),
        ("1024K", 1, 0),
        ("", 0, 0),
        ("?", 0, 0),
        ("2.50Gn", 2560, 1),
    ],
)
def test_memory(text, megabytes, per):
    assert fields.memory(text) == (megabytes, per)


def test_memory_of_old_dumps_counts_nodes_and_cpus(cluster, dump):
    """ReqMem=4Gn on two nodes are 8 GB, 4Gc with four CPUs 16, 0 is what was allocated."""
    header = "JobID|Partition|Submit|Start|State|ReqCPUS|NNodes|ReqMem|Timelimit|AllocTRES"
    times = "2024-03-01T12:00:00|2024-03-01T12:10:00|COMPLETED"
    file = dump(
        f"1|p|{times}|4|2|4Gn|01:00:00|",
        f"2|p|{times}|4|1|4Gc|01:00:00|",
        f"3|p|{times}|4|1|0n|01:00:00|mem=40G",
        header=header,
    )
    lines = cluster("table", "--dump", file, "-m", "-it", "8,2,4").out.splitlines()
    assert lines[2].split("\t")[1:] == ["NA", "10.0 m (1)", "10.0 m (1)", "10.0 m (1)"]


@pytest.mark.parametrize(
    "text, gpus",
    [
        ("cpu=4,gres/gpu=2,mem=1G", 2),
        ("gres/gpu:a100=1,gres/gpu:v100=2", 3),
        ("", 0),
        ("cpu=1,gres/gpu:a100=2,gres/gpu=2", 2),
        ("gres/gpumem=80G", 0),
    ],
)
def test_gpus(text, gpus):
    assert fields.tres(text)[0] == gpus


@pytest.mark.parametrize(
    "text, size",
    [
        ("1-9", 9),
        ("0-9:3", 4),
        ("5", 1),
        ("1,3,7-8%2", 4),
        ("", 1),
        ("9-1", 1),
        ("0-99999999", 2**22),
    ],
)
def test_array_sizes(text, size):
    assert fields.array_size(text) == size
