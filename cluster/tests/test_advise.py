"""`advise`, `submit` and `start` on dumps: the formulas, the choice, the script, mistakes."""

import json
import math
import shlex
import subprocess
import sys

import numpy as np
import pytest
from conftest import LARGE_JOB, job
from numbus_cluster import submit
from numbus_cluster.advise import break_even, needed_speedup

STATED = "--cpu-rate 50G --cpu-bandwidth 40G --gpu-rate 10T --gpu-bandwidth 2T --link 12G".split()


def test_stop_loss_is_where_both_end_together():
    rng = np.random.default_rng(1)
    for wait_cpu, wait_gpu, cpu_time in rng.uniform(1, 1e5, (500, 3)):
        need = needed_speedup(wait_cpu, wait_gpu, cpu_time)
        end = wait_cpu + cpu_time
        if math.isinf(need):
            assert wait_gpu + cpu_time / 1e12 >= end * (1 - 1e-9)
        else:
            assert wait_gpu + cpu_time / need == pytest.approx(end)
    assert needed_speedup(0, 100, 100) == math.inf and needed_speedup(100, 0, 100) == 0.5


def test_break_even_is_numbus():
    numbus = pytest.importorskip(
        "numbus.measure.advise", reason="Numbus is not built here", exc_type=ImportError
    )
    for size, link, cpu, gpu in ((8, 1 / 12e9, 5e10, 1e13), (4, 2 / 64e9, 1e11, 1e10)):
        assert break_even(size, link, cpu, gpu) == numbus.break_even(size, link, cpu, gpu)


def test_break_even():
    assert break_even(8, 1 / 12e9, 50e9, 10e12) == pytest.approx(33.5, abs=0.05)
    assert break_even(8, 2 / 12e9, 50e9, 10e12) == pytest.approx(67.0, abs=0.05)
    assert break_even(8, 1e-10, 50e9, 50e9) == math.inf


def test_the_first_to_end_comes_first(answer, sample, tmp_path):
    picture = tmp_path / "a.svg"
    found = answer("advise", "--dump", sample[0], *LARGE_JOB, "--plot", picture)
    rows = {row["partition"]: row for row in found["rows"]}
    assert found["rows"][0]["partition"] == "gpu" and rows["gpu"]["run"] == 1800
    assert rows["medium"]["class"] == "<64 CPUh" and rows["gpu"]["class"] == "<16 CPUh"
    for row in rows.values():
        assert row["end"] == row["wait"] + row["run"] <= row["end_bound"]
    need = needed_speedup(rows["medium"]["wait"], rows["gpu"]["wait"], 6 * 3600)
    assert found["needed_speedup"]["gpu"] == pytest.approx(need)
    assert "stop-loss" in picture.read_text()


def test_a_gpu_that_never_wins(answer, sample):
    """Half a minute of work does not pay for a longer queue."""
    job = "-p int,gpu --cpus 1 --cpu-time 00:00:30 --speedup 1000".split()
    found = answer("advise", "--dump", sample[0], *job)
    assert found["rows"][0]["partition"] == "int" and found["needed_speedup"] == {"gpu": None}
    assert any("never wins" in line for line in found["said"])


def test_roofline_and_break_even(answer, sample):
    job = "-p medium,gpu --cpus 4 --flops 9e14 --bytes 1e12 --transfer 1.2e11 --break-even".split()
    found = answer("advise", "--dump", sample[0], *job, *STATED)
    runs = {row["device"]: row["run"] for row in found["rows"]}
    assert runs == {"CPU": pytest.approx(9e14 / 50e9), "GPU": pytest.approx(90 + 10)}
    assert "33.5 operations a value one way, 67.0 both ways" in found["said"][-1]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--cpus", "2"], "the run time on a CPU is not stated"),
        (["--time", "1:00:00", "--speedup", "0"], "--speedup cannot be"),
        (["--cpu-time", "soon"], "--cpu-time is no time"),
        (["--time", "60", "--gpu-partitions", "nosuch"], "--gpu-partitions names no partition"),
        (["--time", "60", "-p", "gpu"], "nothing can be compared"),
        (["--script", "nosuch.py"], "cannot"),
        (["--flops", "many"], "not a number"),
    ],
)
def test_mistakes(cluster, sample, arguments, said):
    found = cluster("advise", "--dump", sample[0], *arguments)
    assert found.code in (1, 2) and said in found.err and found.err.count("\n") == 1


# ---- scripts -------------------------------------------------------------------------------------
SCRIPT = """
import os
import numbus
import numpy as np

print("printed by the script")
os.system("echo printed by a child")
x = numbus.asarray(np.linspace(0.0, 1.0, 300_000))
y = x
for _ in range(8):
    y = y * x + 1.0
print(float(y.sum()))
"""


def run_of_script(tmp_path, sample, text, *arguments):
    """`advise --script` in a process of its own, since it runs the script in its own."""
    pytest.importorskip("numbus", reason="Numbus is not built here", exc_type=ImportError)
    script = tmp_path / "work.py"
    script.write_text(text)
    words = ["-p", "medium,gpu", "--cpus", "4", "--script", str(script), *arguments]
    return subprocess.run(
        [sys.executable, "-m", "numbus_cluster", "advise", "--dump", sample[0], *words],
        capture_output=True,
        text=True,
    )


def test_a_script_is_profiled(tmp_path, sample):
    """What it prints stays out of the answer, which says what was measured and what assumed."""
    done = run_of_script(tmp_path, sample, SCRIPT, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["device"] for row in found["rows"]} == {"CPU", "GPU"}
    assert all(0 < row["run"] < 100 for row in found["rows"])
    assert "of one run of the script here" in found["how"]
    for line in ("printed by the script", "printed by a child"):
        assert line in done.stderr


def test_the_rates_that_are_stated_hold_for_a_script(tmp_path, sample):
    rates = ["--gpu-rate", "1k", "--gpu-bandwidth", "1k", "--link", "1k"]
    done = run_of_script(tmp_path, sample, SCRIPT, "--format", "json", *rates)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    runs = {row["device"]: row["run"] for row in found["rows"]}
    assert runs["GPU"] > 1000 > runs["CPU"] or "on the GPU" in found["how"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("raise RuntimeError('on purpose')", "the script failed; got exit status 1"),
        ("import sys; sys.exit(3)", "the script failed; got exit status 3"),
    ],
)
def test_a_script_that_fails(tmp_path, sample, text, said):
    done = run_of_script(tmp_path, sample, text)
    assert done.returncode == 1 and done.stdout == "" and said in done.stderr


def test_a_script_without_numbus(tmp_path, sample):
    done = run_of_script(tmp_path, sample, "print(sum(range(1000)))")
    assert done.returncode == 0, done.stderr
    assert "ran nothing on Numbus" in done.stderr


# ---- submit --------------------------------------------------------------------------------------
def test_submit_writes_a_script_and_three_lines(cluster, sample, tmp_path):
    words = ["python", "my script.py", "$HOME; rm -rf x", "a\nb", "`id`", "--x='y'"]
    arguments = ["--dump", sample[0], *LARGE_JOB, "--mem", "16G", "--name", "test"]
    found = cluster("submit", *arguments, "--", *words)
    assert found.code == 0 and len(found.err.splitlines()) == 3
    head, _, rest = found.out.partition("\nset -eu\n")
    assert "#SBATCH --partition=gpu\n" in head and "#SBATCH --gres=gpu:1\n" in head
    assert "#SBATCH --time=0-01:00:00\n" in head and "#SBATCH --mem=16G\n" in head
    # The shell itself takes each word as it was.
    assert shlex.split(rest) == words
    done = subprocess.run(
        ["bash", "-c", rest.replace("python", "printf '%s\\0'", 1)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\0")[:-1] == words[1:]
    file = tmp_path / "job.sh"
    assert cluster("submit", *arguments, "--out", file, "--", *words).out == ""
    assert file.read_text() == found.out
    again = cluster("submit", *arguments, "--out", file, "--", *words)
    assert again.code == 1 and "cannot write" in again.err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--time", "60"], "there is no command"),
        (["--time", "60", "--name", "a\n#SBATCH --uid=0", "--", "x"], "--name cannot be written"),
        (["--time", "60", "--account", "a b", "--", "x"], "--account cannot be written"),
    ],
)
def test_submit_mistakes(cluster, sample, arguments, said):
    found = cluster("submit", "--dump", sample[0], *arguments)
    assert found.code in (1, 2) and said in found.err and found.out == ""


def test_a_hostile_partition_name_stays_out_of_the_script():
    choice = type("C", (), {"partition": "x\nrm -rf /", "device": "CPU"})
    options = type(
        "O", (), {"name": "job", "cpus": 1, "mem": None, "account": None, "words": ["x"]}
    )
    with pytest.raises(Exception, match="cannot be written"):
        submit.batch_script(choice, options, 60)


@pytest.mark.parametrize(
    "seconds, text", [(1, "0-00:01:00"), (3600, "0-01:00:00"), (90061, "1-01:02:00")]
)
def test_timelimit(seconds, text):
    assert submit.timelimit(seconds) == text


# ---- start ---------------------------------------------------------------------------------------
def test_start_uses_what_users_really_need(cluster, dump):
    """Ada runs a tenth of her limit, Bob all of it: the queue after Ada's job moves on sooner."""

    def hour(n, minute=0):
        return f"2024-03-{1 + n // 24:02d}T{n % 24:02d}:{minute:02d}:00"

    for user, expected in (("ada", 6 * 60), ("bob", 60 * 60)):
        lines = [
            job(i, submit=hour(i), start=hour(i), end=hour(i, 6), limit="01:00:00")
            for i in range(20)
        ]
        lines += [
            job(
                100 + i,
                user="bob",
                submit=hour(i, 10),
                start=hour(i, 10),
                end=hour(i, 59),
                limit="00:49:00",
            )
            for i in range(20)
        ]
        lines += [
            job(
                900,
                user=user,
                submit=hour(40),
                start=hour(40),
                end="Unknown",
                state="RUNNING",
                limit="01:00:00",
            ),
            job(
                901,
                user="eve",
                submit=hour(40),
                start="Unknown",
                end="Unknown",
                state="PENDING",
                tres="",
            ),
        ]
        file = dump(*lines, name=f"{user}.txt")
        found = cluster("start", "--dump", file, "--format", "json")
        (row,) = json.loads(found.out)["rows"]
        wait = row["start"] - json.loads(found.out)["now"]
        assert row["job"] == "901" and wait == pytest.approx(expected, abs=1)


def test_start_lists_and_filters(cluster, sample):
    found = cluster("start", "--dump", sample[0])
    lines = found.out.splitlines()
    assert found.code == 0 and lines[1].startswith("job\tpartition\tuser\tstarts in")
    one = lines[-1].split("\t")[0]
    assert len(cluster("start", "--dump", sample[0], "--job", one).out.splitlines()) == 3
    assert cluster("start", "--dump", sample[0], "--job", "1").code == 1
