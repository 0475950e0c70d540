"""`python -m numbus bench`: what is measured, what is written, and what happens to mistakes."""

import io
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.numbus
ROOT = Path(__file__).resolve().parents[2]
DEVICES = ["cpu", "cuda"] if os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda") else ["cpu"]


def bench(folder, *arguments, code=0):
    """Runs the command in a folder; returns the finished process."""
    path = [str(ROOT / "python"), str(ROOT / "bench" / "src")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    env.pop("NUMBUS_DEVICE", None)
    done = subprocess.run([sys.executable, "-m", "numbus", "bench", *arguments], cwd=folder,
                          env=env, capture_output=True, text=True, timeout=280)  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


def results(report):
    """(suite, case, engine, result) of every measurement."""
    for suite in report["suites"]:
        for case in suite["cases"]:
            for engine, result in case["results"].items():
                yield suite["name"], case, engine, result


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All suites with NumPy beside: (folder, output, report)."""
    folder = tmp_path_factory.mktemp("bench")
    done = bench(folder, "--quick", "--device", ",".join(DEVICES), "--peers", "numpy",
                 "--budget", "120")  # fmt: skip
    return folder, done, json.loads((folder / "report" / "bench.json").read_text())


def test_every_suite_is_measured(whole):
    from numbus_bench.suites import SUITES

    _, _, report = whole
    assert (report["schema"], report["version"]) == ("numbus-bench", 1)
    assert [s["name"] for s in report["suites"]] == list(SUITES)
    assert report["machine"]["processors"] >= 1 and report["machine"]["processor"]
    assert {e["id"] for e in report["engines"]} == {
        "numpy:cpu", *[f"numbus:{device}" for device in DEVICES]
    }  # fmt: skip
    assert all(e["version"] for e in report["engines"])
    for suite, case, engine, r in results(report):
        assert "median" in r, (suite, case["name"], engine, r)
        assert 0 < r["min"] <= r["low"] <= r["median"] <= r["high"], (case["name"], engine, r)
        assert r["first"] > 0 and r["samples"] >= 1
    for device in DEVICES:
        limits = report["limits"][device]
        assert limits["copy_bytes_per_s"] > 1e8 and limits["flops"]["float64"] > 1e7
        assert (limits["link_bytes_per_s"] is None) == (device == "cpu")


def test_every_suite_names_its_work(whole):
    for suite, case, _, _ in results(whole[2]):
        assert case["operation"] and case["size"] and case["n"] > 0
        if suite != "latency":
            assert case["bytes"] > 0


def test_headline_is_the_geometric_mean(whole):
    from numbus_bench.summary import speedup

    report = whole[2]
    for found in report["headline"]:
        values = [speedup(case, suite, found["engine"]) for suite in report["suites"]
                  for case in suite["cases"] if case["headline"]]  # fmt: skip
        assert found["workloads"] == found["of"] == len(values) > 10
        assert math.isclose(found["mean"], np.exp(np.log(values).mean()))
        assert found["least"]["value"] == min(values) and found["slower"] == sum(
            v < 1 for v in values)  # fmt: skip
    assert {h["engine"] for h in report["headline"]} == {f"numbus:{d}" for d in DEVICES}


def test_output_on_a_pipe(whole):
    folder, done, _ = whole
    assert "On this machine Numbus is" in done.stdout and "3×3 stencil" in done.stdout
    assert "a quick run: sizes are far too small" in done.stdout
    assert done.stderr == ""  # the progress bar is for terminals
    assert sorted(f.name for f in (folder / "report").iterdir()) == [
        "bench.json", "index.html", "speedup.svg"]  # fmt: skip


def test_programs_of_other_libraries(tmp_path):
    """What was written by hand for each library that is here gives NumPy's results."""
    from numbus_bench.libraries import PEERS, installed

    peers = [name for name in PEERS if name != "numpy" and installed(name)]
    if not peers:
        pytest.skip("no other library is installed")
    bench(tmp_path, "arrays", "sin", "crossover", "mandelbrot", "heat", "latency", "--quick",
          "--device", ",".join(DEVICES), "--peers", ",".join(peers), "--budget", "200",
          "--size", "1MB")  # fmt: skip
    report = json.loads((tmp_path / "report" / "bench.json").read_text())
    usable = {e["id"] for e in report["engines"] if "unavailable" not in e}
    for suite, case, engine, r in results(report):
        if engine in usable:
            assert "median" in r, (suite, case["name"], engine, r)
    assert {engine for *_, engine, r in results(report) if "median" in r} == usable


def test_the_suite_of_the_documentation(tmp_path):
    page = ROOT / "docs" / "benchmarking.md"
    if not page.exists():
        pytest.skip("the documentation is not here")
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "energy.py").write_text(code)
    bench(tmp_path, "energy.py", "--quick", "--peers", "numpy", "--device", "cpu")
    report = json.loads((tmp_path / "report" / "bench.json").read_text())
    assert [r["samples"] >= 3 for *_, r in results(report)] == [True, True]


SUITE = """
from numbus_bench.cases import Case, fill

TITLE, ABOUT = "Mine", "A suite of my own."

def code(xp, x):
    return xp.sqrt(x) + 1

def wrong():
    return lambda x: x * 0 + 3

def broken():
    raise RuntimeError("no such luck")

def dead():
    import os
    return lambda x: os._exit(3)

def cases(quick=False):
    for name, programs in (("good", {}), ("off", {"numbus": wrong}), ("broken", {"numbus": broken}),
                           ("dead", {"numbus": dead}), ("last", {})):
        yield Case(name, name, "1 kB", 1000, lambda i: {"x": fill(125, seed=i)}, bytes=2000.0,
                   code=code, programs=programs, headline=True)
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A suite of the user's own in which Numbus is made to fail in several ways."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(SUITE)
    done = bench(folder, "mine.py", "--quick", "--device", "cpu", "--peers", "numpy", "--out",
                 "here", code=1)  # fmt: skip
    return folder, done, json.loads((folder / "here" / "bench.json").read_text())


def test_wrong_results_are_not_timed(own):
    folder, done, report = own
    (suite,) = report["suites"]
    found = {case["name"]: case["results"] for case in suite["cases"]}
    assert "median" in found["good"]["numbus:cpu"] and "median" in found["off"]["numpy:cpu"]
    off = found["off"]["numbus:cpu"]
    assert "differs by" in off["wrong"] and "median" not in off
    assert "WRONG: differs by" in done.stdout
    assert "differs by" in (folder / "here" / "index.html").read_text()
    (headline,) = report["headline"]
    assert (headline["workloads"], headline["of"]) == (2, 5)


def test_failures_of_a_library_are_results(own):
    found = {case["name"]: case["results"]["numbus:cpu"] for case in own[2]["suites"][0]["cases"]}
    assert found["broken"]["error"] == "RuntimeError: no such luck"
    assert "ended with status 3" in found["dead"]["error"]
    assert "median" in found["last"], "a new process takes over"


def test_compare(own, tmp_path):
    from numbus_bench import compare

    _, _, report = own
    old = json.loads(json.dumps(report))
    same = compare.changes(old, report)
    assert same["changes"] == [] and same["unchanged"] > 0 and same["same_machine"]
    for _, case, engine, r in results(old):
        if case["name"] == "good" and engine == "numbus:cpu":
            for key in ("median", "low", "high", "min"):
                r[key] *= 10
        if case["name"] == "off" and engine == "numbus:cpu":
            r.update(median=1.0, low=0.9, high=1.1)
    changed = compare.changes(old, report)["changes"]
    assert [(c["case"], c["engine"]) for c in changed] == [
        ("off", "numbus:cpu"), ("good", "numbus:cpu")]  # fmt: skip
    assert changed[0]["now"] is None and math.isclose(changed[1]["speedup"], 10)
    assert "10× faster" in compare.text(compare.changes(old, report))
    (tmp_path / "old.json").write_text(json.dumps(old))
    (tmp_path / "mine.py").write_text(SUITE)
    done = bench(tmp_path, "mine.py", "--quick", "--device", "cpu", "--peers", "numpy",
                 "--compare", "old.json", code=1)  # fmt: skip
    assert "Compared with" in done.stdout and "now differs by" in done.stdout
    assert "What changed since" in (tmp_path / "report" / "index.html").read_text()


def test_budget_is_kept_and_said(tmp_path):
    bench(tmp_path, "matmul", "--quick", "--peers", "numpy", "--device", "cpu", "--budget", "1e-3")
    report = json.loads((tmp_path / "report" / "bench.json").read_text())
    assert {r.get("skipped") for *_, r in results(report)} == {"the time budget is spent"}
    assert report["headline"] == []
    assert "nothing to compare with" in (tmp_path / "report" / "index.html").read_text()


def test_slow_cases_are_left_out():
    from numbus_bench.cases import Case
    from numbus_bench.libraries import Engine
    from numbus_bench.session import Session

    engine = Engine("numpy", "cpu")
    session = Session(
        [],
        ["cpu"],
        [engine],
    )
    case = Case("c", "matmul", "8192²", 8192, None, bytes=1.0, flops=1e12)
    end = float("inf")
    assert session.too_slow(engine, case, end) is None
    session.spent[engine.id, "matmul"] = (1e11, 1.0, 0.1, 0.0)
    assert session.too_slow(engine, case, end) is None  # ten seconds just
    session.spent[engine.id, "matmul"] = (1e10, 1.0, 0.1, 0.0)
    assert session.too_slow(engine, case, end) == {"skipped": "one run would take about 100 s"}


def test_size_leaves_out_the_larger(tmp_path):
    bench(tmp_path, "matmul", "--quick", "--peers", "none", "--device", "cpu", "--size", "64,50kB")
    report = json.loads((tmp_path / "report" / "bench.json").read_text())
    assert [c["name"] for s in report["suites"] for c in s["cases"]] == ["square 64"]
    assert report["headline"] == []


def test_list_and_help(tmp_path):
    done = bench(tmp_path, "--list")
    assert "crossover" in done.stdout and "NumPy, installed: cpu" in done.stdout
    done = bench(tmp_path, "--help")
    assert "--budget SECONDS" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments, message", [
    (["nosuch"], "[bench] no such suite; got 'nosuch'; expected of arrays, matmul"),
    (["no.py"], "[bench] cannot open the suite; got 'no.py'; expected a Python file"),
    (["bad.py"], "[bench] the suite cannot be loaded; got ZeroDivisionError: division by zero"),
    (["empty.py"], "[bench] the suite has no TITLE; got 'empty.py'"),
    (["--device", "tpu"], "[bench] no such device; got 'tpu'; expected cpu or cuda"),
    (["--peers", "matlab"], "[bench] no such peer; got 'matlab'; expected of numpy"),
    (["--size", "huge"], "[bench] not a size; got 'huge'; expected a number, or bytes: 8MB, 2GB"),
    (["--size", "8XB"], "[bench] not a size; got '8XB'"),
    (["matmul", "--size", "4"], "[bench] --size leaves nothing of matmul; got 4; expected"),
    (["--budget", "0"], "[bench] the budget must be positive; got 0.0; expected seconds"),
    (["--budget", "soon"], "[bench] argument --budget: invalid float value: 'soon'; see"),
    (["--nosuch"], "[bench] unrecognized arguments: --nosuch; see"),
    (["--compare", "no.json"], "[bench] cannot open the run to compare with; got 'no.json'"),
    (["--compare", "bad.py"], "[bench] the run to compare with is not JSON; got 'bad.py'"),
    (["--compare", "other.json"], "[bench] the run to compare with is no report; got 'other.json'"),
    (["--compare", "next.json"], "[bench] the report has another version; got 2; expected 1"),
    (["--out", "bad.py"], "[bench] cannot write the report; got 'bad.py': File exists"),
])  # fmt: skip
def test_mistakes(tmp_path, monkeypatch, capsys, arguments, message):
    """Errors are found before anything is measured."""
    from numbus_bench import command, suites

    suites.load.cache_clear()
    (tmp_path / "bad.py").write_text("1 / 0")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "next.json").write_text('{"schema": "numbus-bench", "version": 2}')
    monkeypatch.chdir(tmp_path)
    assert command.main([*arguments, "--quick"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(message), err
    assert err.count("\n") == 1


def test_peer_that_is_not_installed(monkeypatch, capsys):
    from numbus_bench import command

    monkeypatch.setattr(command, "installed", lambda name: False)
    assert command.main(["--peers", "jax"]) == 2
    assert capsys.readouterr().err == (
        "[bench] a peer is not installed; got 'jax'; expected pip install jax\n")  # fmt: skip


@pytest.mark.skipif("cuda" in DEVICES, reason="there is a GPU")
def test_gpu_that_is_not_there(capsys):
    from numbus import cuda
    from numbus_bench import command

    if cuda.is_available():
        pytest.skip("there is a GPU")
    assert command.main(["--device", "cuda"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("[bench] no GPU can be used; got") and "or --device cpu" in err


# ---- the pieces ----------------------------------------------------------------------------------
SIZES = [10, 100, 1000, 10000]


@pytest.mark.parametrize("fast, kind, n", [
    ([500, 500, 500, 500], "crossing", 500),
    ([1000, 1, 10000, 1], "crossing", 10**3.2),
    ([0.1, 0.1, 0.1, 0.1], "always", None),
    ([8, 80, 80, 8e6], "never", None),
    ([8, 80, 800, 10.1e3], "level", None),
])  # fmt: skip
def test_crossing(fast, kind, n):
    """The other one takes as many seconds as the size."""
    from numbus_bench.summary import crossing

    found = crossing([(s, float(s)) for s in SIZES], list(zip(SIZES, fast)))
    assert found["kind"] == kind and found.get("n") == (n and pytest.approx(n))


def test_beside_the_fastest_other_library():
    from numbus_bench.summary import beside

    def case(**medians):
        results = {k.replace("_", ":"): {"median": v} for k, v in medians.items()}
        return {"headline": True, "results": results}

    def mean(*cases):
        return beside({"suites": [{"cases": cases}]}, "numbus:cpu")

    assert mean(case(numbus_cpu=1.0, numpy_cpu=5.0)) is None
    found = mean(
        case(numbus_cpu=1.0, numpy_cpu=5.0, jax_cpu=2.0, cupy_cuda=0.1),
        case(numbus_cpu=1.0, numpy_cpu=8.0),
        case(numpy_cpu=5.0, jax_cpu=2.0),
    )
    assert found == {"mean": pytest.approx(4.0), "workloads": 2,
                     "libraries": ["jax:cpu", "numpy:cpu"]}  # fmt: skip


def test_crossing_without_common_sizes():
    from numbus_bench.summary import crossing

    assert crossing([(1, 1.0)], [(2, 1.0)]) == {"kind": "unknown"}


def test_compare_of_samples():
    from numbus_bench.timing import compare

    x = np.linspace(0, 1, 5)
    assert compare([x], [x], 0.0) == ""
    assert compare([x + 1e-9], [x], 1e-6) == ""
    assert compare([x + 1e-3], [x], 1e-6).startswith("differs by 0.001")
    assert compare([x * np.nan], [x], 1e-6).startswith("differs by nan")
    assert compare([x[:3]], [x], 1.0) == "shape (3,), NumPy (5,)"
    assert compare([], [x], 1.0) == "0 results, NumPy 1"
    n = np.array([1, 2, 10**18])
    assert compare([n + 1], [n], 1.0) == "differs in 3 of 3 whole numbers"
    assert compare([n > 1], [n > 1], 0.0) == ""
    assert compare([n > 1], [n > 2], 1.0) == "differs in 1 of 3 whole numbers"


def test_limits():
    from numbus.measure.limits import Limits, measure

    found = measure("cpu", quick=True)
    assert found.device == "cpu" and found.link_bytes_per_s is None
    assert found.read_bytes_per_s >= found.copy_bytes_per_s > 1e8
    assert min(found.flops.values()) > 1e7
    made = Limits("cpu", 1e9, 2e9, {"float32": 4e9, "float64": 2e9})
    assert made.shortest(1e9) == 1.0 and made.shortest(1e9, reads_only=True) == 0.5
    assert made.shortest(1e9, 8e9) == 4.0 and made.shortest(1e9, 8e9, "float32") == 2.0


def test_inputs_exceed_caches():
    """Where a rate of memory is claimed, sets of inputs taken in turn are larger than caches."""
    from numbus_bench import suites
    from numbus_bench.cases import ROTATION

    for name in ("arrays", "sin"):
        for case in suites.load(name).cases():
            if case.rotate:
                assert case.sets() * case.input_bytes >= min(ROTATION, 64 * case.input_bytes)
                assert case.input_bytes < 1e8 or case.sets() <= 4
    case = next(suites.load("arrays").cases(True))
    x, y = case.make(0)["a"], case.make(1)["a"]
    assert not np.array_equal(x, y)


def test_the_benchmark_is_a_distribution_of_its_own():
    """Users who import Numbus get none of it; its wheel has all that the pages need."""
    if not (ROOT / "bench" / "pyproject.toml").exists():
        pytest.skip("the sources are not here")
    settings = tomllib.loads((ROOT / "bench" / "pyproject.toml").read_text())["tool"]["setuptools"]
    home = ROOT / "bench" / settings["packages"]["find"]["where"][0] / "numbus_bench"
    kept = {f for pattern in settings["package-data"]["numbus_bench"] for f in home.glob(pattern)}
    assert kept == {f for f in home.rglob("*") if f.is_file() and not f.suffix.startswith(".py")}
    assert {f.name for f in kept} == {"chart.css", "page.css", "page.js"}
    for file in (ROOT / "python" / "numbus").rglob("*.py"):
        assert "import numbus_bench" not in file.read_text("utf-8")


def test_measuring_needs_no_benchmark(tmp_path):
    """`nb.benchmark` and `advise` are in the wheel of Numbus."""
    code = """import sys
sys.modules['numbus_bench'] = None
import numbus as nb
from numbus.compat import runner
assert nb.benchmark(nb.sin, nb.ones(10)).median > 0
assert runner.main(['advise', '--help']) == 0
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True,
                          text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_progress():
    from numbus_bench.progress import Progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        progress = Progress(2, stream)
        progress.step("one")
        progress.step("two")
        progress.clear()
    assert pipe.getvalue() == ""
    assert " 50 %" in terminal.getvalue() and "two" in terminal.getvalue()


def test_numbers_as_text():
    from numbus_bench.text import about, count, power, rate, seconds, tick, times

    assert [seconds(t) for t in (2.0, 0.01234, 5e-6, 1.5e-9)] == [
        "2.00 s", "12.3 ms", "5.00 µs", "1.50 ns"]  # fmt: skip
    assert rate(4.2e12, "B/s") == "4.20 TB/s" and power(9) == "10⁹"
    assert [times(x) for x in (0.034, 3.44, 34.4, 344.4, 17869)] == [
        "0.034×", "3.4×", "34×", "344×", "17,900×"]  # fmt: skip
    assert about(1628) == "1,600" and count(1e6) == "10⁶" and count(1500) == "1,500"
    assert tick("10.0 ms") == "10 ms" and tick("1.25 s") == "1.25 s"
