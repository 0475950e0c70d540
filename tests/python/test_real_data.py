"""What nets learn from the real MNIST and CIFAR-10.

NUMBUS_TEST_DATA names a folder that holds MNIST/raw and cifar-10-batches-bin.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
DATA = pathlib.Path(os.environ.get("NUMBUS_TEST_DATA", ""))
pytestmark = [pytest.mark.numbus, pytest.mark.timeout(3600)]

# Example, what it reads, epochs, and how much of the test set is to be right (%).
LEARNT = [
    ("mnist_cnn.py", "MNIST/raw", 2, 98.0),
    ("cifar_cnn.py", "cifar-10-batches-bin", 10, 70.0),
]


@pytest.mark.parametrize("script, files, epochs, wanted", LEARNT)
def test_what_is_learnt(script, files, epochs, wanted, tmp_path):
    if not os.environ.get("NUMBUS_TEST_DATA") or not (DATA / files).is_dir():
        pytest.skip(f"needs {files} in a folder that NUMBUS_TEST_DATA names")
    done = subprocess.run(
        [sys.executable, "-m", "numbus", EXAMPLES / script, "--data", DATA, "--epochs",
         str(epochs), "--picture", ""],
        capture_output=True, text=True, cwd=tmp_path, timeout=3500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    right, count = re.search(r"right: ([\d.]+) % of (\d+)", done.stdout).groups()
    assert int(count) == 10_000, "the files are not those of the whole data set"
    assert float(right) >= wanted, done.stdout
