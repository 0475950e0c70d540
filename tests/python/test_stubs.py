"""The type stubs are those of the package, mypy takes programs as users write them and finds their
mistakes, and the API reference can be made.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
ROOT = Path(__file__).resolve().parents[2]
PINNED = re.search(r"^numpy==(\S+)", (ROOT / "requirements-dev.txt").read_text(), re.M)[1]
needs_numpy = pytest.mark.skipif(
    numpy.__version__ != PINNED, reason=f"signatures are those of NumPy {PINNED}"
)
PROGRAM = """
import numbus as nb
import numbus.linalg as la
from numbus import njit, prange


def heat(n: int) -> nb.ndarray:
    p = nb.zeros((n, n), dtype=nb.float64)
    p[0] = 1.0
    for _ in range(10):
        q = p.copy()
        q[1:-1, 1:-1] = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1])
        if float(la.norm(q - p)) < 1e-3:
            break
        p = q
    return p


@njit
def total(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s


a = nb.sin(heat(5)).sum(axis=0)
print(total(a), nb.percentile(a, 50, method="linear"), nb.fft.fftfreq(8, d=0.5).shape[0])
rng = nb.random.default_rng(3)
print(rng.normal(size=3), nb.add.reduce(a), nb.pi, a.T @ a, nb.maximum(a, 0, out=a))
with nb.device("cpu"):
    b = nb.arange(3).reshape(3, 1)
    c, d = nb.broadcast_arrays(b, a)[0], nb.where(b > 1, b, 0)
    b += 2 * c
launches: int = nb.stats()["launches"]
"""
MISTAKES = {
    "nb.zeros(3, dtypo=float)": "call-arg",
    "nb.no_such_function(3)": "attr-defined",
    'nb.percentile(nb.ones(3), 50, method="lineal")': "arg-type",
    "nb.ones(3).no_such()": "attr-defined",
    "nb.sort(nb.ones(3), ascending=True)": "call-arg",
    "x: int = nb.zeros(3)": "assignment",
    "nb.sin()": "call-arg",
    "nb.linalg.invert(nb.eye(3))": "attr-defined",
}


@needs_numpy
def test_stubs_are_the_packages():
    command = [sys.executable, str(ROOT / "tools/stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text("\n".join(["import numbus as nb", *MISTAKES]))
    package = ROOT / "python" / "numbus"
    files = ["good.py", "bad.py", *(str(f) for f in package.rglob("*.pyi"))]
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), *files]
    env = {"MYPYPATH": str(package.parent), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env)
    found = re.findall(r"^(\S+):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    wanted = [("bad.py", str(n + 2), code) for n, code in enumerate(MISTAKES.values())]
    assert found == wanted, done.stdout + done.stderr


def test_reference():
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/reference.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = ROOT / "build/site/api"
    for page, name in (("operations", "sin"), ("quantiles", "percentile"), ("linalg", "svd")):
        text = (site / f"{page}.html").read_text()
        assert f'<h3 id="{name}">' in text and "class='headerlink'" not in text
    assert "method: Literal[" in (site / "quantiles.html").read_text()
