"""Unmodified notebooks: `python -m numbus notebook.ipynb`, and `%load_ext numbus.runner`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]
ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    "import numpy as np\nx = np.arange(6.0)\nprint(type(x).__module__)",
    "x.sum()",
    "import matplotlib.pyplot as plt\nplt.plot(x, x**2);",
    "timing = %nbtime np.sin(x)\ntiming.samples > 3",
    "from numpy.linalg import norm\nnorm(x[:1])",
]


def notebook(tmp_path, cells):
    made = [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# A title"}]
    for n, source in enumerate(cells):
        made.append({"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": source,
                     "execution_count": None, "outputs": []})  # fmt: skip
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}))
    return path


def run(tmp_path, *arguments, site=""):
    paths = [str(tmp_path)] * bool(site) + [str(ROOT / "python")]
    if site:
        (tmp_path / "sitecustomize.py").write_text(site)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "IPYTHONDIR": str(tmp_path)}
    command = [sys.executable, "-m", "numbus", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)


def test_cells_show_what_they_made(tmp_path):
    pytest.importorskip("IPython")
    pytest.importorskip("nbformat")
    path = notebook(tmp_path, [*CELLS, "def f(a):\n    return a + np.ones(4)\nf(x)", "print('no')"])
    done = run(tmp_path, "--strict", "--output", "done.ipynb", path)
    assert done.returncode == 1 and "return a + np.ones(4)" in done.stderr, done.stderr
    assert "no" not in done.stdout.split() and done.stdout.startswith("numbus.")
    cells = json.loads((tmp_path / "done.ipynb").read_text())["cells"][1:]
    kinds = [[output["output_type"] for output in cell["outputs"]] for cell in cells]
    assert kinds[:3] == [["stream"], ["execute_result"], ["display_data"]]
    assert kinds[3:] == [["stream", "execute_result"], ["execute_result"], ["error"], []]
    assert [cell["execution_count"] for cell in cells] == [1, 2, 3, 4, 5, 6, None]
    assert cells[1]["outputs"][0]["data"]["text/plain"] == ["np.float64(15.0)"]
    assert cells[2]["outputs"][0]["data"]["image/png"].startswith("iVBOR")
    assert cells[3]["outputs"][1]["data"]["text/plain"] == ["True"]
    assert cells[5]["outputs"][0]["ename"] == "ValueError"


def test_as_a_script(tmp_path):
    pytest.importorskip("IPython")
    pytest.importorskip("nbformat")
    path = notebook(tmp_path, [CELLS[0], "import sys\nsys.argv[1:]", "x[2:4]"])
    before = path.read_text()
    done = run(tmp_path, path, "-x", "3")
    assert done.returncode == 0, done.stderr
    assert "Out[2]: ['-x', '3']" in done.stdout and "Out[3]: array([2., 3.])" in done.stdout
    assert path.read_text() == before


def test_messages(tmp_path):
    path = notebook(tmp_path, CELLS)
    for package, module in (("ipython", "IPython"), ("nbformat", "nbformat")):
        done = run(tmp_path, path, site=f"import sys\nsys.modules['{module}'] = None\n")
        text = f"[notebook] a package is missing; got no {module}; expected `pip install {package}`"
        assert done.returncode == 2 and done.stderr.strip() == text
    done = run(tmp_path, "--output", "x.ipynb", "script.py")
    text = "[numbus] --output is of notebooks; got 'script.py'; expected a file to write to and a"
    assert done.returncode == 2 and text in done.stderr
    pytest.importorskip("nbformat")
    path.write_text("no notebook")
    (tmp_path / "sitecustomize.py").unlink()
    done = run(tmp_path, path)
    assert done.returncode == 2 and done.stderr.startswith("[notebook] not a notebook; got ")


def test_extension(tmp_path):
    pytest.importorskip("IPython")
    program = """
import numpy as np, numpy
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.user_ns["np"] = np
shell.run_cell("%load_ext numbus.runner")
shell.run_cell("import numpy; a = np.ones(3); b = numpy.ones(3)")
print(*(type(shell.user_ns[n]).__module__ for n in "ab"))
shell.run_cell("%unload_ext numbus.runner")
shell.run_cell("import numpy; b = numpy.ones(3)")
print(type(shell.user_ns["b"]).__module__)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert done.stdout.split() == ["numbus._core", "numbus._core", "numpy"], done
