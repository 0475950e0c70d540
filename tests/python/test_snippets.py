"""Short programs such as tutorials and exercises of NumPy have, in tests/snippets: on Numbus they
print what they print with NumPy, letter by letter (sums of many numbers are rounded there).
"""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.numbus]
FOLDER = pathlib.Path(__file__).parents[1] / "snippets"


def _printed(command, file):
    done = subprocess.run(
        [*command, str(file)], capture_output=True, text=True, check=False, timeout=110,
        env=dict(os.environ, NUMBUS_DEVICE=os.environ.get("NUMBUS_DEVICE", "cpu")),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_prints_what_it_does_with_numpy(file):
    plain = _printed([sys.executable], file)
    assert _printed([sys.executable, "-m", "numbus"], file) == plain
