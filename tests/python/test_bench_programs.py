"""The whole programs of `bench/programs`: results under Numbus, and what their runner says.

Every program runs at its small size in this process, compiled as a user's module is by
`python -m numbus`, and is compared with NumPy as the runner compares it.
"""

import ast
import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "bench" / "programs"
pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(not PROGRAMS.is_dir(), reason="not in a checkout"),
]


def module(name):
    """A file of the folder as a module of plain Python, not found by other programs' imports."""
    spec = importlib.util.spec_from_file_location(f"bench_programs_{name}", PROGRAMS / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def rewritten(name):
    """A program as `python -m numbus` compiles it."""
    from numbus.compat.rewrite import compile_user

    file = PROGRAMS / f"{name}.py"
    found = types.ModuleType(name)
    found.__file__ = str(file)
    exec(compile_user(file.read_bytes(), str(file)), found.__dict__)
    return found


RUN = module("run") if PROGRAMS.is_dir() else None
KINDS = RUN.programs() if RUN else {}


def parts(result):
    arrays = result if isinstance(result, tuple) else (result,)
    return [x.to_numpy() if hasattr(x, "to_numpy") else np.asarray(x) for x in arrays]


@pytest.mark.parametrize("name", KINDS)
def test_program(name):
    import numbus as nb

    plain, ours = module(name), rewritten(name)
    assert ours.np is nb
    want = parts(plain.run(*plain.setup(plain.SIZES["small"], np.random.default_rng(1))))
    inputs = ours.setup(ours.SIZES["small"], nb.random.default_rng(1))
    for call in ("first call", "second call"):
        assert RUN.differs(parts(ours.run(*inputs)), want, call, RUN.tolerance_of(name)) == ""


def test_suite_is_what_its_readme_promises():
    loops = [name for name, kind in KINDS.items() if kind == "loops"]
    assert len(KINDS) >= 40
    assert 3 * len(loops) <= len(KINDS)
    assert set(KINDS.values()) == set(RUN.CLASSES)
    for name in KINDS:
        tree = ast.parse((PROGRAMS / f"{name}.py").read_text())
        imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
        assert [ast.unparse(n) for n in imports] == ["import numpy as np"], name
        defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
        assert {"setup", "run"} <= defined, name
        assert "\nMethod: " in ast.get_docstring(tree), name
        assert list(module(name).SIZES) == list(RUN.SIZES), name


def test_differs():
    x = np.linspace(0.0, 1.0, 5)
    assert RUN.differs([x, x > 0.5], [x * (1 + 1e-13), x > 0.5], "call") == ""
    assert RUN.differs([x * (1 + 1e-11)], [x], "call").startswith("call: differs by 1e-11")
    wrong = RUN.differs([np.array([1, 3])], [np.array([1, 2])], "call")
    assert wrong == "call: differs in 1 of 2 whole numbers"
    assert RUN.differs([x.astype("f")], [x], "call") == "call: dtype float32, NumPy float64"
    assert RUN.differs([x], [x, x], "call") == "call: 1 results, NumPy 2"


def run(*arguments):
    command = [sys.executable, str(PROGRAMS / "run.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def test_runner_measures_and_stores(tmp_path):
    file = tmp_path / "out.json"
    table = tmp_path / "out.md"
    done = run("--quick", "--only", "sieve,lu", "--json", file, "--markdown", table)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(file.read_text())
    assert [(r["program"], r["class"]) for r in report["results"]] == [
        ("sieve", "small"),
        ("lu", "loops"),
    ]
    for r in report["results"]:
        assert r["warm"] == r["numpy"]["median"] / r["numbus"]["median"] > 0
        assert r["least"] == r["numpy"]["min"] / r["numbus"]["min"] > 0
        assert r["first"] == r["numpy"]["first"] / r["numbus"]["first"] > 0
        assert r["second"] == r["numpy"]["first"] / r["numbus"]["second"] > 0
        assert r["warm_blocks"][0] <= r["warm_blocks"][1]
    means = {m["group"]: m for m in report["means"]}
    assert set(means) == {"loops", "small", "no loops", "all"}
    speedups = [r["warm"] for r in report["results"]]
    assert means["all"]["warm"] == pytest.approx(np.sqrt(np.prod(speedups)))
    assert "| small | all | 2 |" in table.read_text() and "\n| lu | loops | " in table.read_text()
    assert "Geometric means" in done.stdout and "Failed: 0" in done.stdout


def test_runner_names_what_it_does_not_know():
    done = run("--only", "lu,nothing")
    assert done.returncode == 1
    assert "[programs] no such program; got 'nothing'; expected one of" in done.stderr
    done = run("--sizes", "tiny")
    assert "[programs] no such size; got 'tiny'; expected one of small," in done.stderr


def test_wrong_result_is_a_failure(tmp_path, monkeypatch, capsys):
    """A program whose two results differ (here: it looks who runs it) is reported, not left out."""
    for name in ("worker.py", "lu.py"):
        (tmp_path / name).write_text((PROGRAMS / name).read_text())
    lie = "import numpy as np\n\nSHIFT = 1e-9 if 'numbus' in np.__name__ else 0.0\n"
    text = (tmp_path / "lu.py").read_text().replace("import numpy as np\n", lie)
    (tmp_path / "lu.py").write_text(text.replace("    return lu\n", "    return lu + SHIFT\n"))
    (tmp_path / "broken.py").write_text(
        '"""Ends.\n\nClass: small.\n"""\nSIZES = {"small": 1}\n\n\ndef setup(size, rng):\n'
        "    raise ValueError('no inputs')\n"
    )
    monkeypatch.setattr(RUN, "HERE", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "bench" / "src"))
    assert RUN.main(["--quick"]) == 1
    out = capsys.readouterr().out
    assert "lu, small: WRONG, first call: differs by 1e-09" in out
    assert "broken, small: status 1: ValueError: no inputs" in out
    (tmp_path / "lu.py").write_text('"""No class."""\n')
    with pytest.raises(SystemExit, match=r"a program has no class; got lu.py"):
        RUN.programs()
