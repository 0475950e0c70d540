"""Whole programs: plain NumPy code under CPython and under `python -m numbus`, side by side.

    python bench/programs/run.py                            every program, every size
    python bench/programs/run.py --only lu,heat --sizes small,middle --json out.json
    python bench/programs/run.py --numpy --only lu          NumPy's times only: to choose sizes
    python bench/programs/run.py --quick                    small sizes, once: a test of the runner

README.md in this folder says how the numbers are taken and read.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import pickle
import re
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench" / "src")]

from numbus_bench import machine  # noqa: E402
from numbus_bench.timing import compare, spread  # noqa: E402
from report import CLASSES, HEADS, SIZES, cells, closing, line, markdown, means  # noqa: E402

OURS = ("run", "report", "worker")  # the files of this folder that are no programs
RTOL = 1e-12
SETTINGS = ("NUMBUS_", "OPENBLAS_", "OMP_", "MKL_")  # variables that go into the report


def programs() -> dict[str, str]:
    """The class of each program by name, from its docstring; in the order of the classes."""
    found = {}
    for file in sorted(HERE.glob("*.py")):
        if file.stem in OURS:
            continue
        text = ast.get_docstring(ast.parse(file.read_text())) or ""
        named = re.search(r"^Class: (\w+)[.]$", text, re.MULTILINE)
        if named is None or named[1] not in CLASSES:
            raise SystemExit(
                f"[programs] a program has no class; got {file.name}; expected a line "
                f"'Class: NAME.' in its docstring, NAME one of {', '.join(CLASSES)}"
            )
        found[file.stem] = named[1]
    return dict(sorted(found.items(), key=lambda item: CLASSES.index(item[1])))


class Failed(Exception):
    """A process that ended, or took too long."""


class Worker:
    """A program in a fresh process, which waits for orders between them."""

    @classmethod
    def compile_modules(cls):
        """Compiles all of Numbus's modules, as pip does when it installs them. A folder of its own
        (PYTHONPYCACHEPREFIX) would hide the byte code of the standard library.
        """
        modules = [sys.executable, "-m", "compileall", "-q", str(ROOT / "python")]
        subprocess.run(modules, env=cls.with_byte_code(), check=True)

    @staticmethod
    def with_byte_code():
        hidden = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
        return {name: value for name, value in os.environ.items() if name not in hidden}

    def __init__(self, name, size, library, limit, environment=None):
        runner = ["-m", "numbus"] if library == "numbus" else []
        command = [sys.executable, *runner, str(HERE / "worker.py"), name, size]
        paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
        env = {**self.with_byte_code(), "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
        env.update(environment or {})
        self.limit = limit
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command + (["--njit"] if library == "numba" else []), env=env, text=True, cwd=HERE,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip
        try:
            self.first = self._answer()["first"]
        except Failed:
            self.close()
            raise

    def _answer(self):
        late = threading.Timer(self.limit, self.process.kill)
        late.start()
        line = self.process.stdout.readline()
        expired = not late.is_alive()
        late.cancel()
        if line:
            return json.loads(line)
        if expired:
            raise Failed(f"more than {self.limit:.0f} s")
        self.process.wait()
        self.errors.seek(0)
        last = ([line for line in self.errors.read().split("\n") if line.strip()] or ["?"])[-1]
        raise Failed(f"status {self.process.returncode}: {last}")

    def order(self, text):
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says how the process ended
        return self._answer()

    def samples(self, duration):
        return self.order(f"samples {duration}")

    def result(self):
        """The latest result, as a list of NumPy's arrays."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "result"
            self.order(f"save {file}")
            return pickle.loads(file.read_bytes())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def tolerance_of(name) -> float:
    """What floats of a program may differ by, of their greatest magnitude."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text()))
    named = re.search(r"^Tolerance: ([0-9e.-]+)[,.]", text, re.MULTILINE)
    return float(named[1]) if named else RTOL


def differs(got, want, what, tolerance=RTOL) -> str:
    """How a result differs from NumPy's; "" where it does not."""
    for g, w in zip(got, want):
        if g.dtype != w.dtype:
            return f"{what}: dtype {g.dtype}, NumPy {w.dtype}"
    wrong = compare(got, want, tolerance)
    return f"{what}: {wrong}" if wrong else ""


def one_round(name, size, args, found):
    """Adds the times of one round to `found`; raises Failed where a result is wrong."""
    tolerance = tolerance_of(name)
    with tempfile.TemporaryDirectory() as cache:
        env = {"NUMBUS_CACHE_DIR": cache}
        if args.device:
            env["NUMBUS_DEVICE"] = args.device
        with Worker(name, size, "numpy", args.timeout) as numpy:
            found["numpy_first"].append(numpy.first)
            want = numpy.result()
            if args.numpy:
                found["numpy"].append(numpy.samples(args.seconds))
                return
            with Worker(name, size, "numbus", args.timeout, env) as cold:
                found["first"].append(cold.first)
                wrong = differs(cold.result(), want, "first call", tolerance)
                if wrong:
                    raise Failed(f"WRONG, {wrong}")
            with Worker(name, size, "numbus", args.timeout, env) as numbus:
                found["second"].append(numbus.first)
                for _ in range(args.blocks):
                    found["numpy"].append(numpy.samples(args.seconds / args.blocks))
                    found["numbus"].append(numbus.samples(args.seconds / args.blocks))
                if compare(numpy.result(), want, 0.0):
                    raise Failed("the program does not repeat its own result with NumPy")
                wrong = differs(numbus.result(), want, "repeated call", tolerance)
                if wrong:
                    raise Failed(f"WRONG, {wrong}")


def with_numba(name, size, args) -> dict:
    """The median of Numba's warm calls, or why there is none."""
    try:
        with Worker(name, size, "numba", args.timeout) as numba:
            return {"median": statistics.median(numba.samples(args.seconds))}
    except Failed as reason:
        return {"n/a": str(reason)}


def measure(name, kind, size, args) -> dict:
    """Everything about one program at one size."""
    found = {"numpy": [], "numbus": [], "numpy_first": [], "first": [], "second": []}
    out = {"program": name, "class": kind, "size": size}
    try:
        for _ in range(args.rounds):
            one_round(name, size, args, found)
    except Failed as reason:
        return {**out, "error": str(reason)}
    for library in ("numpy", "numbus"):
        if found[library]:
            out[library] = spread([t for block in found[library] for t in block])
    out["numpy"]["first"] = statistics.median(found["numpy_first"])
    if args.numpy:
        return out
    blocks = [
        statistics.median(a) / statistics.median(b) for a, b in zip(found["numpy"], found["numbus"])
    ]
    out["warm"] = out["numpy"]["median"] / out["numbus"]["median"]
    out["warm_blocks"] = [min(blocks), max(blocks)]
    out["least"] = out["numpy"]["min"] / out["numbus"]["min"]
    for call in ("first", "second"):
        out["numbus"][call] = statistics.median(found[call])
        out[call] = out["numpy"]["first"] / out["numbus"][call]
    if args.numba:
        out["numba"] = with_numba(name, size, args)
    return out


def chosen(args) -> list[tuple[str, str, str]]:
    """(program, class, size) of what is to be measured."""
    known = programs()
    names = args.only.split(",") if args.only else list(known)
    sizes = args.sizes.split(",") if args.sizes else ["small"] if args.quick else list(SIZES)
    for what, got, expected in (("program", names, known), ("size", sizes, SIZES)):
        for value in got:
            if value not in expected:
                raise SystemExit(
                    f"[programs] no such {what}; got {value!r}; expected one of "
                    f"{', '.join(expected)}"
                )
    return [(name, known[name], size) for size in sizes for name in names]


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--only", help="names of programs, with commas")
    p.add_argument("--sizes", help=f"of {','.join(SIZES)}; default: all")
    p.add_argument("--json", help="also write the results here")
    p.add_argument("--markdown", help="also write the tables of docs/performance.md here")
    p.add_argument("--quick", action="store_true", help="small sizes, one round of short blocks")
    p.add_argument("--rounds", type=int, default=3, help="fresh processes of each kind")
    p.add_argument("--blocks", type=int, default=4, help="alternating blocks a round")
    p.add_argument("--seconds", type=float, default=0.4, help="of warm calls a library and round")
    p.add_argument("--timeout", type=float, default=120.0, help="seconds for one answer")
    p.add_argument("--numba", action="store_true", help="also @njit of the same source")
    p.add_argument("--numpy", action="store_true", help="NumPy alone")
    p.add_argument("--device", help="NUMBUS_DEVICE of the measured processes")
    args = p.parse_args(argv)
    if args.quick:
        args.rounds, args.blocks, args.seconds = 1, 2, 0.05
    todo = chosen(args)
    report = {
        "date": datetime.datetime.now().isoformat(timespec="seconds"),
        "command": " ".join(["bench/programs/run.py", *(sys.argv[1:] if argv is None else argv)]),
        "machine": machine.describe((args.device or "").startswith("cuda")),
        "numpy": np.__version__,
        "environment": {k: v for k, v in os.environ.items() if k.startswith(SETTINGS)},
        "load_before": os.getloadavg(),
    }
    print(f"{report['date']}  {report['machine']['processor']}, "
          f"{report['machine']['processors']} cores, load {report['load_before'][0]:.1f}, "
          f"NumPy {np.__version__}\n")  # fmt: skip
    print(line(HEADS))
    rows = []
    Worker.compile_modules()
    for name, kind, size in todo:
        rows.append(measure(name, kind, size, args))
        print(line(cells(rows[-1])), flush=True)
        report.update(load_after=os.getloadavg(), results=rows, means=means(rows))
        if args.json:  # after each: what ends a long run early takes nothing with it
            Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
    print(closing(rows))
    if args.markdown:
        Path(args.markdown).write_text(markdown(rows))
    return 1 if any("error" in r for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
