"""The disk cache of compiled functions: what makes one be compiled again, and what does not."""

import os
import subprocess
import sys

import pytest

MAIN = """
import sys
import numpy as np
from numbus import njit
from other import helper
SCALE = {scale}
TABLE = np.array({table})
{comment}
@njit
def f(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += helper(x[i]) * SCALE + TABLE[1]
    return s
print(f(np.arange(5.0)))
"""
OTHER = """
def helper(v):
    return v * {factor}
def unused(v):
    return {unused}
"""


@pytest.fixture
def run(tmp_path):
    def go(scale=2, table="[1.0, 2.0]", factor=3, comment="", unused=1):
        (tmp_path / "main.py").write_text(MAIN.format(scale=scale, table=table, comment=comment))
        (tmp_path / "other.py").write_text(OTHER.format(factor=factor, unused=unused))
        env = dict(
            os.environ, NUMBUS_CACHE_DIR=str(tmp_path / "cache"), PYTHONDONTWRITEBYTECODE="1"
        )
        done = subprocess.run(
            [sys.executable, tmp_path / "main.py"],
            env=env,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        entries = sum(len(files) for _, _, files in os.walk(tmp_path / "cache"))
        return float(done.stdout), entries

    return go


def test_what_recompiles(run):
    value, first = run()
    assert value == 10 * 3 * 2 + 5 * 2
    assert run() == (value, first)
    # Comments, lines that move and functions that nobody calls change nothing.
    assert run(comment="# one\n# two\n", unused=2) == (value, first)
    value, second = run(factor=4)
    assert value == 10 * 4 * 2 + 5 * 2 and second == first + 1
    value, third = run(scale=5)
    assert value == 10 * 3 * 5 + 5 * 2 and third == second + 1
    value, fourth = run(table="[1.0, 7.0]")
    assert value == 10 * 3 * 2 + 5 * 7 and fourth == third + 1
    assert run() == (70.0, fourth)


SMALL = """
import time
import numpy as np
from numbus import njit
@njit
def f(x, y):
    for i in range(x.shape[0]):
        y[i] += 2 * x[i]
x, y = np.ones(10), np.ones(10)
start = time.process_time()
f(x, y)
print(time.process_time() - start)
assert (y == 3).all()
"""


def test_code_on_disk_runs_without_the_compiler(tmp_path):
    # Setting up LLVM takes 10 ms of the processor's time, loading the code and the rest 1.5.
    (tmp_path / "small.py").write_text(SMALL)
    env = dict(os.environ, NUMBUS_CACHE_DIR=str(tmp_path / "cache"), NUMBUS_DEVICE="cpu")

    def seconds():
        run = [sys.executable, str(tmp_path / "small.py")]
        return float(subprocess.run(run, env=env, capture_output=True, check=True).stdout)

    first = seconds()
    again = min(seconds() for _ in range(3))
    assert again < 0.008
    assert again < first
