"""Programs such as tutorials print, in tests/tutorials, each run as it is in an empty folder."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.numbus]
FOLDER = pathlib.Path(__file__).parents[1] / "tutorials"

# The last line that each prints.
PRINTS = {
    "torch_compile": "torch.Size([10, 10])",
    "torch_ddp": "done",
    "torch_dp": "outside: torch.Size([10, 5]) torch.Size([10, 2])",
    "torch_mnist": "saved",
    "torch_png": "learnt",
}


def test_all_are_run():
    assert {file.stem for file in FOLDER.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_program(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "numbus", str(FOLDER / f"{name}.py")], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=110,
        env=dict(os.environ, NUMBUS_DEVICE="cpu"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == PRINTS[name]
