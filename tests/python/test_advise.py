"""python -m numbus advise: the break-even, the prediction for a script, mistakes."""

import contextlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from numbus.measure import advise, limits
from numbus.measure.advise import Device, Link, break_even, main, predict

pytestmark = pytest.mark.numbus
ROOT = Path(__file__).resolve().parents[2]
# Everything stated: nothing has to be measured.
STATED = "--cpu-rate 50G --cpu-bandwidth 40G --gpu-rate 10T --gpu-bandwidth 2T --link 12G".split()


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    """As on a machine without a GPU, where the tests do not say otherwise."""
    monkeypatch.setattr(advise._core, "cuda_available", lambda: False)


def times(f, n, size, link_seconds, cpu, gpu):
    """(CPU, GPU) seconds of n values with f operations each: what the formula is derived from."""
    return n * f / cpu, n * size * link_seconds + n * f / gpu


@pytest.mark.parametrize("size, link, cpu, gpu", [
    (8, 1 / 12e9, 50e9, 10e12), (4, 1 / 64e9, 190e9, 51e12), (8, 2 / 25e9, 1e9, 2e9),
])  # fmt: skip
def test_break_even(size, link, cpu, gpu):
    f = break_even(size, link, cpu, gpu)
    here, there = times(f, 1000, size, link, cpu, gpu)
    assert here == pytest.approx(there)
    for factor, pays in ((1.01, True), (0.99, False)):
        here, there = times(f * factor, 1000, size, link, cpu, gpu)
        assert (there < here) == pays


def test_a_slower_gpu_never_pays():
    assert break_even(8, 1e-10, 50e9, 50e9) == break_even(8, 1e-10, 50e9, 1e9) == math.inf


def test_predict():
    work = {"bytes_moved": 1e9, "flops": 5e9, "launches": 100}
    work |= {"bytes_to_device": 1e8, "bytes_to_host": 2e8}
    cpu = Device("CPU", "stated", 50e9, 40e9, 1e-6)
    gpu = Device("GPU", "stated", 10e12, 2e12, 4e-6)
    here, there = predict(work, cpu), predict(work, gpu, Link(10e9, 20e9, "stated"))
    assert here["total"] == pytest.approx(max(1e9 / 40e9, 5e9 / 50e9) + 100e-6)
    assert there["total"] == pytest.approx(1e9 / 2e12 + 400e-6 + 0.01 + 0.01)
    assert here["transfers"] == 0 and there["memory"] == pytest.approx(5e-4)
    nothing = dict.fromkeys(work)
    assert predict(nothing, cpu)["total"] == 0


def test_stated_rates(capsys):
    assert main(STATED) == 0
    out = capsys.readouterr().out
    assert "33.5   if values go one way" in out and "67.0   if values go both ways" in out
    # 2n³ / R of the CPU against 24 n² / B + 2n³ / R of the GPU
    assert re.search(r"pays from n = 51 on", out) and "50 times as fast" in out
    assert out.count("(stated)") == 3


def test_dtype_and_the_assumed_card(capsys):
    found = {}
    for dtype in ("float32", "float64"):
        assert main(["--dtype", dtype, "--cpu-rate", "100G", "--cpu-bandwidth", "40G"]) == 0
        out = capsys.readouterr().out
        assert "NVIDIA H200" in out and out.count("(assumed)") == 2
        found[dtype] = float(re.search(r"([\d.]+)   if values go one way", out)[1])
    assert found["float32"] == pytest.approx(found["float64"] / 2, rel=0.05)
    want = break_even(8, 1 / advise.CARD["link"], 100e9, advise.CARD["rate"]["float64"])
    assert found["float64"] == pytest.approx(want, abs=0.05)


def test_never(capsys):
    assert main([*STATED, "--gpu-rate", "20G"]) == 0
    assert "never pays" in capsys.readouterr().out


def test_measured_cpu(capsys):
    assert main(["--quick"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if "CPU  " in x)
    assert "(measured)" in line and re.search(r"[\d.]+ [GT]flop/s +[\d.]+ [GT]B/s", line)


def test_measured_gpu(monkeypatch, capsys):
    """What is measured of a GPU is what is used; a stated link replaces the measured one."""
    measured = limits.Limits(
        "cuda:0", 2e12, 2e12, {"float32": 2e13, "float64": 1e13}, {"to": 12e9, "from": 6e9}
    )
    monkeypatch.setattr(advise._core, "cuda_available", lambda: True)
    monkeypatch.setattr(advise._core, "cuda_properties", lambda: {"name": "Some GPU"})
    monkeypatch.setattr(limits, "measure", lambda device, quick: measured)
    monkeypatch.setattr(advise, "latency", lambda device: 5e-6)
    monkeypatch.setattr(advise, "choose_device", lambda name: contextlib.nullcontext())
    cpu = STATED[:4]
    assert main(cpu) == 0
    out = capsys.readouterr().out
    assert "Some GPU" in out and "12 GB/s to the GPU, 6 GB/s back   (measured)" in out
    assert "33.5   if values go one way" in out and "100.5   if values go both ways" in out
    assert main([*cpu, "--link", "24G"]) == 0
    assert "24 GB/s to the GPU, 24 GB/s back   (stated)" in capsys.readouterr().out


SCRIPT = """
import sys
import numpy as np
x = np.ones(1_000_000)
for k in range(int(sys.argv[1])):
    x = np.sqrt(x * 1.5 + k)
    print(float(x[0]) > 0)
"""


def command(tmp_path, script, *arguments, options=STATED):
    """The finished command on a script text, in a process of its own."""
    (tmp_path / "script.py").write_text(script)
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "NUMBUS_DEVICE": "cpu"}
    line = [sys.executable, "-m", "numbus", "advise", *options, str(tmp_path / "script.py")]
    return subprocess.run([*line, *arguments], capture_output=True, text=True, env=env, timeout=120)


def test_script(tmp_path):
    done = command(tmp_path, SCRIPT, "5")
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert out.startswith("True\n" * 5) and "script.py, run on cpu" in out
    # Five passes that write a million float64, and read them where they do not fill them.
    moved = float(re.search(r"([\d.]+) MB moved", out)[1])
    assert 72 <= moved <= 88
    predicted = re.search(r"predicted +([\d.]+) (\S+) +([\d.]+) (\S+)", out)
    unit = {"s": 1, "ms": 1e-3, "µs": 1e-6}
    here = float(predicted[1]) * unit[predicted[2]]
    assert here == pytest.approx(moved * 1e6 / 40e9, rel=0.2)
    took = re.search(r"measured +([\d.]+) (\S+)", out)
    wall = re.search(r"run on cpu: ([\d.]+) (\S+),", out)
    assert 0 < float(took[1]) * unit[took[2]] < float(wall[1]) * unit[wall[2]]
    assert re.search(r"GPU is faster, [\d.]+ times", out)


def test_script_that_does_nothing(tmp_path):
    done = command(tmp_path, "print('hello')\n")
    assert done.returncode == 0 and "No work of Numbus was seen" in done.stdout


@pytest.mark.parametrize("script, code", [
    ("raise ValueError('mine')", 1), ("import sys; sys.exit(7)", 7),
    ("import sys; sys.exit('no')", 1),
])  # fmt: skip
def test_script_that_fails(tmp_path, script, code):
    done = command(tmp_path, script)
    assert done.returncode == code and f"ends with code {code}" in done.stderr
    assert "what the devices can do" not in done.stdout
    assert ("mine" in done.stderr) == ("mine" in script)


def test_script_that_exits_well(tmp_path):
    done = command(tmp_path, "import sys, numpy as np; np.ones(9).sum().item(); sys.exit()")
    assert done.returncode == 0 and "predicted" in done.stdout


def test_counted_script():
    """With all counters: measured beside predicted, and the rest of the run."""
    work = {"wall": 2.0, "compile": 0.5, "kernel": 1.0, "transfer": 0.25, "launches": 10}
    work |= {"bytes_moved": 4e10, "flops": 1e9, "bytes_to_device": 12e9, "bytes_to_host": 0}
    work |= {"fallbacks": 3, "device": "cuda:0", "user_launches": 4}
    cpu = Device("CPU", "stated", 50e9, 40e9, 1e-6)
    gpu = Device("Some GPU", "stated", 10e12, 2e12, 4e-6)
    text = advise.script_text("x.py", work, cpu, gpu, Link(12e9, 12e9, "stated"))
    assert re.search(r"measured +– +1.25 s", text)
    assert re.search(r"transfers +0 s +1 s", text) and re.search(r"predicted +1 s +1.02 s", text)
    assert "takes 250 ms on either" in text and "3 calls went to NumPy" in text
    assert "4 launches were of the script's own kernels" in text
    assert "CPU is faster, 1.0 times" in text and "not counted" not in text


@pytest.mark.parametrize("arguments, says", [
    (["nosuch.py"], r"cannot open the script; got 'nosuch.py'; expected a Python file"),
    (["--link", "fast"], r"not a rate; got 'fast'; expected a positive number"),
    (["--gpu-rate", "-3"], "--gpu-rate"),
    (["--cpu-rate", "0"], "not a rate; got '0'"),
    (["--cpu-rate", "1e400"], "not a rate"),
    (["--dtype", "int8"], "int8"),
    (["--speed"], "--speed"),
])  # fmt: skip
def test_mistakes(arguments, says, capsys):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert err.startswith("[advise] ") and re.search(says, err) and "expected" in err
    assert not out and err.count("expected") == 1


def test_help(capsys):
    assert main(["--help"]) == 0
    assert "--gpu-bandwidth" in capsys.readouterr().out


@pytest.mark.parametrize("text, value", [
    ("62T", 62e12), ("4.2e12", 4.2e12), ("190G", 190e9), ("3", 3.0), ("1.5k", 1500.0),
])  # fmt: skip
def test_rate(text, value):
    assert advise.rate(text) == pytest.approx(value)
