"""A run: one process for each library and device, every case checked against NumPy, then timed."""

from __future__ import annotations

import datetime
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from . import machine, suites
from .libraries import Engine
from .text import digits

__all__ = ["SCHEMA", "VERSION", "Session"]

SCHEMA, VERSION = "numbus-bench", 1
SLOWEST = 10.0  # seconds
# Where the packages stand that the processes import, whatever made them importable here.
HOMES = [str(Path(find_spec(name).origin).parents[1]) for name in ("numbus", "numbus_bench")]


class Process:
    """A worker that is started when it is first asked."""

    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder
        self.process = None
        self.version = self.unavailable = None

    def start(self):
        """Starts the process; `unavailable` says why it could not."""
        env = {**os.environ}
        path = [*HOMES, env.get("PYTHONPATH", "")]
        env.update(
            PYTHONPATH=os.pathsep.join(filter(None, path)),
            NUMBUS_DEVICE=self.engine.device,
            # Threads that wait for work must not take the processors from those that work.
            OMP_WAIT_POLICY="passive",
            XLA_PYTHON_CLIENT_PREALLOCATE="false",
            JAX_PLATFORMS="cuda" if self.engine.device == "cuda" else "cpu",
            # First calls compile: nothing is left over from earlier runs.
            NUMBUS_CACHE_DIR=str(Path(self.folder) / "kernels"),
            CUPY_CACHE_DIR=str(Path(self.folder) / "cupy"),
        )
        self.log = open(Path(self.folder) / f"{self.engine.id.replace(':', '-')}.log", "a+")
        command = [sys.executable, "-m", "numbus_bench.worker", self.engine.program,
                   self.engine.device]  # fmt: skip
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            cwd=self.folder, text=True,
        )  # fmt: skip
        hello = self.read(120.0)
        self.version = hello.get("version")
        self.unavailable = hello.get("unavailable") or hello.get("error")

    def read(self, timeout):
        """The next answer, or an error where the process ends or takes longer."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            ready = selector.select(timeout)
        line = self.process.stdout.readline() if ready else None
        if line:
            return json.loads(line)
        if line is None:
            self.stop()
            return {"error": f"took more than {timeout:.0f} s"}
        status = self.process.wait()
        self.log.seek(0)
        last = ([l for l in self.log.read().split("\n") if l.strip()] or ["no message"])[-1]
        self.stop()
        return {"error": f"the process ended with status {status}: {last}"[:300]}

    def ask(self, timeout, **request):
        """One request and its answer."""
        if self.process is None and not self.unavailable:
            self.start()
        if self.unavailable:
            return {"skipped": self.unavailable}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read() says how it ended
        return self.read(timeout)

    def stop(self):
        """Ends the process; the next request starts a new one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.log.close()
            self.process = None


class Session:
    """What to run, and the report it grows into.

    budget: seconds for everything; each suite gets its share of what is left when it begins, fewer
    repeats make a case cheaper, and what does not fit is left out and named. longest: seconds
    beyond which one run is enough. Where one run would take longer than SLOWEST, it is left out.
    """

    def __init__(self, names, devices, engines, *, quick=False, budget=300.0, largest=None,
                 seconds=0.3, longest=1.5, progress=None):  # fmt: skip
        self.names, self.devices, self.engines = names, devices, engines
        self.quick, self.budget, self.largest = quick, budget, largest
        self.seconds, self.longest, self.progress = seconds, longest, progress
        self.begin = time.monotonic()
        # (engine, operation): work, seconds of a run, of set-up for a byte of inputs, of compiling
        self.spent = {}
        self.plan = [(name, self.chosen(name)) for name in names]

    def chosen(self, name):
        """The cases of a suite that are not larger than asked for."""
        cases = list(suites.load(name).cases(self.quick))
        return [c for c in cases if self.largest is None or self.largest(c)]

    def steps(self):
        """How many steps progress counts."""
        return len(self.devices) + sum(len(c) * len(self.engines) for _, c in self.plan)

    def left(self):
        """Seconds left of the budget."""
        return self.budget - (time.monotonic() - self.begin)

    def run(self, announce=lambda suite, report: None):
        """Measures everything; returns the report. `announce` gets each suite as it ends."""
        with tempfile.TemporaryDirectory(prefix="numbus-bench-") as folder:
            workers = {e.id: Process(e, folder) for e in self.engines}
            self.numpy = workers.get("numpy:cpu") or Process(Engine("numpy", "cpu"), folder)
            try:
                return self.measure(workers, folder, announce)
            finally:
                for worker in [*workers.values(), self.numpy]:
                    worker.stop()

    def measure(self, workers, folder, announce):
        report = {
            "schema": SCHEMA, "version": VERSION,
            "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "machine": machine.describe("cuda" in self.devices),
            "options": {"quick": self.quick, "budget_seconds": self.budget,
                        "devices": list(self.devices)},
            "limits": {}, "engines": [], "suites": [],
        }  # fmt: skip
        for device in self.devices:
            self.say(f"the limits of {device}")
            found = workers[f"numbus:{device}"].ask(120.0, do="limits", device=device,
                                                    quick=self.quick)  # fmt: skip
            report["limits"][device] = found
        weights = [getattr(suites.load(name), "BUDGET", 1.0) for name, _ in self.plan]
        for number, (name, cases) in enumerate(self.plan):
            share = weights[number] / sum(weights[number:])
            end = time.monotonic() + max(0.0, self.left()) * share
            suite = self.suite(name, cases, workers, folder, end)
            report["suites"].append(suite)
            announce(suite, report)
        for engine in self.engines:
            worker = workers[engine.id]
            entry = {"id": engine.id, "label": engine.label, "library": engine.library,
                     "device": engine.device, "version": worker.version}  # fmt: skip
            if worker.unavailable:
                entry["unavailable"] = worker.unavailable
            report["engines"].append(entry)
        report["seconds"] = round(time.monotonic() - self.begin, 1)
        return report

    def say(self, text):
        if self.progress is not None:
            self.progress.step(text)

    def suite(self, name, cases, workers, folder, end):
        """Measures the cases of one suite until `end`."""
        module = suites.load(name)
        out = {"name": Path(name).stem, "title": module.TITLE, "about": module.ABOUT, "cases": []}
        curves, parts = getattr(module, "CURVES", None), getattr(module, "PARTS", None)
        if curves:
            out["curves"] = [list(c) for c in curves]
        if parts:
            out["parts"] = {k: list(v) for k, v in parts.items()}
        for number, case in enumerate(cases):
            entry = {k: getattr(case, k) for k in
                     ("name", "operation", "size", "n", "dtype", "bytes", "flops", "reads_only",
                      "link", "headline", "baseline")}  # fmt: skip
            entry["results"] = {}
            file = str(Path(folder) / "reference.npz")
            share = (end - time.monotonic()) / (len(cases) - number)
            missing = self.cannot(case, end)
            if not missing:
                found = self.numpy.ask(60.0 + max(0.0, self.left()), do="reference", suite=name,
                                       case=case.name, file=file, quick=self.quick)  # fmt: skip
                if found:
                    missing = f"no reference: {found.get('error') or found}"
            able = [e for e in self.engines if self.has(e, case)]
            for engine in self.engines:
                self.say(f"{name}: {case.name}, {engine.label}")
                if engine not in able:
                    continue
                result = {"skipped": missing} if missing else self.too_slow(engine, case, end)
                if not result:
                    seconds = min(self.seconds, max(0.0, 0.5 * share / len(able)))
                    result = self.one(workers[engine.id], name, case, file, seconds)
                entry["results"][engine.id] = result
            out["cases"].append(entry)
        return out

    def has(self, engine, case):
        """Whether the engine has a program for the case."""
        names = (engine.id, engine.program)
        if any(name in case.programs for name in names):
            return True
        return case.code is not None and engine.program in ("numpy", "numbus", "cupy")

    def cannot(self, case, end):
        """Why no engine can run a case; "" where they can."""
        memory = machine.available_memory()
        # The reference, one library's data and what others hold.
        if memory is not None and 2.0 * case.memory > memory:
            return f"needs {2 * case.memory / 1e9:.0f} GB of memory, {memory / 1e9:.0f} GB are free"
        if time.monotonic() > end:
            return "the time budget is spent"
        return ""

    def too_slow(self, engine, case, end):
        """A result that says so where, by a smaller case of its kind, it would take too long."""
        before = self.spent.get((engine.id, case.operation))
        if before is None:
            return None
        work, once, setup, compiling = before
        factor = max(1.0, max(case.flops, case.bytes) / work)
        if once * factor > SLOWEST:
            return {"skipped": f"one run would take about {digits(once * factor, 2)} s"}
        setup *= case.sets(self.quick) * case.input_bytes
        if compiling + setup + 3 * once * factor > max(0.0, end - time.monotonic()):
            return {"skipped": "does not fit into the time budget"}
        return None

    def one(self, worker, suite, case, file, seconds):
        """One engine on one case."""
        result = worker.ask(
            60.0 + max(0.0, self.left()), do="measure", suite=suite, case=case.name, file=file,
            seconds=seconds, most=50, longest=self.longest, quick=self.quick,
        )  # fmt: skip
        if "median" in result:
            once, first = result["median"] * case.calls, result["first"] * case.calls
            work = max(case.flops, case.bytes, 1.0)
            setup = result["setup"] / max(1.0, case.sets(self.quick) * case.input_bytes)
            self.spent[worker.engine.id, case.operation] = work, once, setup, max(0, first - once)
        result.pop("setup", None)
        return result
