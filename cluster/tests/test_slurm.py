"""A real Slurm: jobs through it, 100,000 jobs of history in its accounting, every command on it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import HERE, LARGE_JOB
from numbus_cluster import live_queue, trace

sys.path.insert(0, str(HERE / "slurm"))
import history

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(400)]
NEEDED = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacct")
JOBS = 112_000  # of which a little more than 100,000 have ended


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The folder of a running cluster; SLURM_CONF says where it is."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        pytest.skip(f"Slurm's packages are not installed here: no {', '.join(missing)}")
    # Sockets have short names.
    folder = Path(f"/tmp/numbus-slurm-{os.getpid()}")
    script = HERE / "slurm" / "cluster.sh"
    done = subprocess.run([script, "start", folder, "600"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before = os.environ.get("SLURM_CONF")
    os.environ["SLURM_CONF"] = f"{folder}/etc/slurm.conf"
    yield folder
    if before is None:
        del os.environ["SLURM_CONF"]
    else:
        os.environ["SLURM_CONF"] = before
    subprocess.run([script, "stop", folder], check=True)


@pytest.fixture(scope="module")
def past(slurm):
    """(Trace, mask of its jobs that are in the accounting, shift of its times)."""
    made = trace.generate(JOBS, seed=11, days=9)
    shift = int(time.time()) - made.end - 600
    ended = history.insert(slurm, made, shift)
    return made, ended, shift


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def call(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sbatch(*words, wrap="sleep 1"):
    """The number of a new job."""
    return call("sbatch", "--parsable", "-o", "/dev/null", "--wrap", wrap, *words).strip()


def await_state(job, states, seconds=30):
    """Waits until a job is in one of the states."""
    for _ in range(seconds * 5):
        text = subprocess.run(
            ["squeue", "-h", "-j", job, "-o", "%T"], capture_output=True, text=True
        ).stdout.split()
        if (text and set(text) <= set(states)) or (not text and "GONE" in states):
            return
        time.sleep(0.2)
    raise AssertionError(f"job {job} is {text}, not {states}")


def test_history_comes_back_through_sacct(cluster, past, cache):
    """100,000 jobs: every cell's number and mean are those of what was inserted."""
    made, ended, _ = past
    assert ended.sum() >= 100_000
    began = time.time()
    found = cluster("table", "--cache", cache, "--format", "json", "--since", "11d")
    first = time.time() - began
    assert found.code == 0 and found.err == ""
    began = time.time()
    assert cluster("table", "--cache", cache, "--format", "json", "--since", "11d").code == 0
    print(f"table of {ended.sum():,} jobs: {first:.1f} s, again {time.time() - began:.1f} s")
    cells = {(r["partition"], r["from"]): r for r in json.loads(found.out)["rows"]}
    total = 0
    for name in ("medium", "gpu", "int"):
        for index, edge in enumerate((0.0, 4.0, 16.0, 64.0)):
            waits = made.wait[ended & (made.partition == name) & (made.size_class == index)]
            row = cells[name, edge]
            assert row["jobs"] == len(waits)
            assert row["mean"] == pytest.approx(np.mean(waits), abs=1e-2)
            total += row["jobs"]
    assert total == ended.sum()
    memory = cluster("table", "--cache", cache, "-m", "-p", "gpu").out
    gpus = cluster("table", "--cache", cache, "-g", "-p", "gpu").out
    for out in (memory, gpus):
        assert sum(int(n) for n in re.findall(r"\((\d+)\)", out.splitlines()[2])) == np.sum(
            ended & (made.partition == "gpu")
        )
    wrong = cluster("table", "--cache", cache, "-p", "nosuch")
    assert wrong.code == 1 and wrong.err.splitlines() == [
        "error - please call_sacct_for existing partition(s)",
        "gpu",
        "int",
        "medium",
    ]


def test_new_jobs_are_seen(answer, past, cache):
    """Jobs that run now: plain, on a GPU, of an array, heterogeneous, cancelled, requeued, with a
    hostile name.
    """
    before = table_jobs(answer, cache)
    plain = sbatch("-p", "int", "-t", "5", "--mem=100")
    gpu = sbatch("-p", "gpu", "--gres=gpu:1", "-t", "5", "--mem=100")
    array = sbatch("-p", "medium", "--array=1-3", "-t", "5", "--mem=100")
    nasty = sbatch("-p", "medium", "-t", "5", "--mem=100", "-J", "a|b\nc\t\x1b[2J")
    het = call(
        "sbatch",
        "--parsable",
        "-o",
        "/dev/null",
        "-p",
        "medium",
        "-t",
        "5",
        "--mem=100",
        "-n1",
        ":",
        "-p",
        "int",
        "-t",
        "5",
        "--mem=100",
        "-n1",
        "--wrap",
        "sleep 1",
    ).strip()
    held = sbatch("-p", "medium", "-H", "-t", "5", "--mem=100")
    call("scancel", held)
    for job in (plain, gpu, array, nasty, het):
        await_state(job, ("GONE", "COMPLETED", "COMPLETING"))
    again = sbatch("-p", "medium", "-t", "5", "--mem=100", wrap="sleep 30")
    await_state(again, ("RUNNING",))
    call("scontrol", "requeue", again)
    time.sleep(1)
    # A plain job and a part of the heterogeneous one; the one on a GPU; three tasks, the nasty
    # name, the other part, and the first run of the requeued job.
    want = {"int": 2, "gpu": 1, "medium": 6}
    for _ in range(100):
        after = table_jobs(answer, cache)
        new = {name: after.get(name, 0) - before.get(name, 0) for name in want}
        if new == want:
            break
        time.sleep(0.3)
    assert new == want
    call("scancel", again)


def table_jobs(answer, cache):
    """{partition: jobs that started} as `table` says."""
    jobs = {}
    for row in answer("table", "--cache", cache)["rows"]:
        jobs[row["partition"]] = jobs.get(row["partition"], 0) + row["jobs"]
    return jobs


def test_forecast_and_advise(cluster, answer, past, cache, tmp_path):
    job = "-p medium --cpus 2 --time 1:00:00".split()
    found = answer("forecast", "--cache", cache, *job, "--plot", tmp_path / "fan.svg")
    row = found["rows"][0]
    assert row["started"] == 1000 and row["quantiles"][0]["bound"] < 3600
    found = cluster("advise", "--cache", cache, *LARGE_JOB, "--plot", tmp_path / "finish.svg")
    assert found.code == 0 and "gpu ends first" in found.out
    assert {"gpu"} == live_queue.gpu_partitions()


def test_start_beside_slurms_own_estimate(answer, past, cache):
    """A full node and a queue: jobs that ask for an hour and run for seconds. Slurm believes the
    hour, the replay knows the users' history. Then the jobs really start.
    """
    running = sbatch("-p", "int", "-c", "4", "-t", "60", "--mem=100", wrap="sleep 14")
    await_state(running, ("RUNNING",))
    waiting = [
        sbatch("-p", "int", "-c", "4", "-t", "60", "--mem=100", wrap="sleep 1") for _ in range(2)
    ]
    # The backfill scheduler makes Slurm's estimate.
    for _ in range(60):
        rows = answer("start", "--cache", cache, "-p", "int")["rows"]
        found = {r["job"]: r for r in rows}
        if all(found.get(job, {}).get("slurm") for job in waiting):
            break
        time.sleep(0.2)
    assert set(found) == set(waiting)
    for job in waiting:
        await_state(job, ("RUNNING", "COMPLETING", "GONE"))
    time.sleep(2)
    text = call(
        "env", "TZ=UTC", "sacct", "-X", "-n", "-P", "-o", "JobID,Start", "-j", ",".join(waiting)
    )
    real = {
        line.split("|")[0]: np.datetime64(line.split("|")[1]).astype(int) for line in text.split()
    }
    ours = sum(abs(found[job]["start"] - real[job]) for job in waiting)
    slurms = sum(abs(found[job]["slurm"] - real[job]) for job in waiting)
    print(f"errors of the start: replay {ours} s, Slurm {slurms} s")
    assert ours < slurms


def test_submit_end_to_end(cluster, past, cache, tmp_path, monkeypatch):
    """The dry run writes a script; without it Slurm runs the command, its words as they are."""
    monkeypatch.chdir(tmp_path)
    words = ["sh", "-c", 'printf "%s\\n" "$@" >done.txt', "x", "a b", "$HOME", "semi;colon"]
    options = ["--cache", cache, "-p", "int,gpu", "--cpus", "1", "--time", "5", "--mem", "100M"]
    dry = cluster("submit", *options, "--", *words)
    assert dry.code == 0 and len(dry.err.splitlines()) == 3 and dry.out.startswith("#!/bin/bash\n")
    sent = cluster("submit", *options, "--no-dry-run", "--name", "real", "--", *words)
    assert sent.code == 0, sent.err
    await_state(sent.out.strip(), ("GONE", "COMPLETED"))
    assert (tmp_path / "done.txt").read_text() == "a b\n$HOME\nsemi;colon\n"


def test_numbus_forwards(slurm, past, cache):
    """`python -m numbus cluster` is the same command, where Numbus is built."""
    pytest.importorskip("numbus", reason="Numbus is not built here", exc_type=ImportError)
    out = call(sys.executable, "-m", "numbus", "cluster", "table", "--cache", cache, "-p", "int")
    assert out.splitlines()[1] == "partition\t<4 CPUh\t<16 CPUh\t<64 CPUh\t>64 CPUh"


def test_accounting_out_of_reach(cluster, slurm, cache, tmp_path, monkeypatch):
    """Without slurmdbd sacct's complaint comes through, as one line."""
    text = Path(os.environ["SLURM_CONF"]).read_text()
    other = tmp_path / "slurm.conf"
    other.write_text(
        re.sub("AccountingStorageType=.*", "AccountingStorageType=accounting_storage/none", text)
    )
    (tmp_path / "gres.conf").write_text("")
    monkeypatch.setenv("SLURM_CONF", str(other))
    found = cluster("table", "--cache", tmp_path)
    assert found.code == 1 and "accounting is switched off" in found.err
    assert found.err.count("\n") == 1
