"""`type(x)` in user modules: NumPy's types for arrays and numbers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """import numpy as np
from numpy.random import default_rng
x = np.arange(5.0)
assert type(x) is np.ndarray and type(x) == np.ndarray and type(x) in (list, np.ndarray), type(x)
assert type(x.sum()) is np.float64 and type(x[0]) is np.float64
assert type((x * 2 + 1).sum()) is np.float64
assert type(np.arange(3).sum()) is np.int64 and type(x > 1) is np.ndarray
assert type((x > 1)[0]) is np.bool_
assert type(np.float32(1) + np.ones(3, "f4")[1]) is np.float32
assert {np.ndarray: 1}[type(x)] == 1 and {type(x): 2}[np.ndarray] == 2
assert isinstance(x, type(x)) and issubclass(type(x), np.ndarray) and type(x).__name__ == "ndarray"
assert type(1) is int and type(type) is type and type(x.tolist()) is list
class A: pass
assert type(A()) is A and type("B", (A,), {}).__name__ == "B"
def f(type): return type(3)
assert f(str) == "3" and f(lambda v: v + 1) == 4
big = np.ones(100000)
assert type(big.mean()) is np.float64 and type(big.reshape(10, -1)) is np.ndarray
class S(np.ndarray): pass
assert type(np.ones(3).view(S)) is S
assert type(*[3]) is int
assert type(np.lib.stride_tricks.sliding_window_view(x, 2)) is np.ndarray
rng = default_rng(1); assert type(rng.normal()) is float and type(rng.normal(size=3)) is np.ndarray
import other
assert other.kind(x) is np.ndarray and other.kind(x.sum()) is np.float64
try:
    type(x, 3)
except TypeError as error:
    assert "type() takes 1 or 3 arguments" in str(error)
print("ok")
"""


@pytest.mark.parametrize("runner", [[], ["-m", "numbus"]])
def test_types_of_arrays_and_numbers(tmp_path, runner):
    """A module that imports nothing of NumPy's has them, too."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "other.py").write_text("def kind(x):\n    return type(x)\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, *runner, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.stdout == "ok\n", done.stdout + done.stderr


def test_errors_name_the_line(tmp_path):
    (tmp_path / "script.py").write_text(
        "import numpy\n\n\ndef f(type):\n    return type(3)\n\nf(1)\n"
    )
    command = [sys.executable, "-m", "numbus", str(tmp_path / "script.py")]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert 'script.py", line 5, in f' in done.stderr
    assert "TypeError: 'int' object is not callable" in done.stderr
