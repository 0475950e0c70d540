"""SciPy and scikit-learn on Numbus's arrays, by a sample of their own installed tests.

array_api_plugin.py says how to run more of them. Scikit-learn is no requirement of development: its
own dispatch calls the names that SciPy's tests call, too, and it brings 60 MB; where it is
installed, its tests run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
HERE = Path(__file__).parent
SCIPY = ["cluster.tests.test_vq"]


def run(tmp_path, modules, *options):
    """The number of tests of these modules that passed; fails where one failed."""
    paths = [str(HERE), str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "array_api_plugin"),
            *("-p", "no:cacheprovider", "-n", "0", *options, "--pyargs", *modules),
        ],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return int(re.search(r"(\d+) passed", done.stdout)[1])


def test_scipy(tmp_path):
    pytest.importorskip("scipy.conftest")
    modules = [f"scipy.{module}" for module in SCIPY]
    assert run(tmp_path, modules, "-m", "array_api_backends") > 20


def test_sklearn(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    assert run(tmp_path, ["sklearn.utils.tests.test_stats"], "-k", "array_api") > 5
