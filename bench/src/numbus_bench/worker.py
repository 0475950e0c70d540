"""One library on one device in a process of its own: reads cases to measure, writes what it found.

Requests and answers are lines of JSON. The parent is session.py.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time

import numpy as np

from . import suites
from .libraries import Library
from .timing import compare, sample_of, samples, spread


class Worker:
    """A library and the inputs that it holds."""

    def __init__(self, library, device):
        self.library = Library(library, device)
        self.kept = (None, None)
        self.suite = None
        self.firsts = {}

    def begin(self, suite):
        """Lets go of what the programs of another suite hold."""
        if suite != self.suite:
            self.suite = suite
            self.library.programs.clear()
            self.kept = (None, None)
            self.library.free()

    def inputs(self, case, quick):
        """The sets of inputs of a case, on the device; those of the case before where they are the
        same.
        """
        key = (case.data, case.stays, case.sets(quick)) if case.data else None
        if key is None or key != self.kept[0]:
            self.kept = (None, None)
            self.library.free()
            put = dict if case.stays else self.library.put
            self.kept = (key, [put(case.make(i)) for i in range(case.sets(quick))])
            self.library.wait()
        return self.kept[1]

    def reference(self, case, file, quick):
        """Stores samples of NumPy's results."""
        inputs = self.inputs(case, quick)[0] if case.data and not case.stays else case.make(0)
        start = time.perf_counter()
        result = case.expected(inputs)
        self.firsts[case.name] = time.perf_counter() - start
        parts = result if isinstance(result, (tuple, list)) else (result,)
        np.savez(file, *[sample_of(np.asarray(part)) for part in parts])
        return {}

    def measure(self, case, file, seconds, most, longest, quick=False):
        """Checks a case against the stored reference, then times it."""
        library = self.library
        program = library.program(case)
        if program is None:
            return {"skipped": "no program for this library"}
        start = time.perf_counter()
        inputs = self.inputs(case, quick)
        library.wait()
        setup = time.perf_counter() - start
        if library.name == "numpy" and case.reference is None and case.name in self.firsts:
            out = {"first": self.firsts.pop(case.name), "setup": setup}  # it is the reference
            return {**out, **self.times(case, program, inputs, seconds, most, longest)}
        start = time.perf_counter()
        result = library.wait(program(**inputs[0]))
        out = {"first": (time.perf_counter() - start) / case.calls, "setup": setup}
        if case.see is not None:
            result = case.see(library.xp, result)
        parts = result if isinstance(result, (tuple, list)) else (result,)
        got = [sample_of(library.host(part)) for part in parts]
        del result, parts
        with np.load(file) as stored:
            wrong = compare(got, [stored[name] for name in stored.files], case.rtol)
        if wrong:
            return {**out, "wrong": wrong}
        return {**out, **self.times(case, program, inputs, seconds, most, longest)}

    def times(self, case, program, inputs, seconds, most, longest):
        """Median and spread of a program that has run once."""
        wait = self.library.wait
        times = samples(self.repeated(program, inputs), wait, 0, 1, 1)
        if times[0] < 0.05:
            # The first run after the check may still pay for something new.
            again = samples(self.repeated(program, inputs), wait, 0, 1, 1)[0]
            # Many short runs make one sample, so that the clock and the loop do not count.
            number = int(min(1000, max(1, 2e-4 / max(again, 1e-7))))
            times = samples(self.repeated(program, inputs, number), wait, seconds, 3, most)
            times = [t / number for t in times]
        elif times[0] < longest:  # where even one run is slow, it is enough
            times += samples(self.repeated(program, inputs), wait, seconds - times[0], 2, most)
        return spread([t / case.calls for t in times])

    def repeated(self, program, inputs, number=1):
        """`number` runs, on the next set of inputs each time, each waited for."""
        wait = self.library.wait if self.library.waits() else None
        several = itertools.cycle(inputs)

        def run():
            for _ in range(number):
                result = program(**next(several))
                if wait is not None:
                    wait(result)
            return result

        return run


def answer(worker, request):
    """What one request asks for, as a dict."""
    if request["do"] == "limits":
        from numbus.measure.limits import measure

        return measure(request["device"], request["quick"]).as_dict()
    worker.begin(request["suite"])
    case = suites.find(request["suite"], request["case"], request["quick"])
    if request["do"] == "reference":
        return worker.reference(case, request["file"], request["quick"])
    names = ("file", "seconds", "most", "longest", "quick")
    found = worker.measure(case, *[request[name] for name in names])
    if not case.data:  # no other case has these inputs: others may need the memory
        worker.kept = (None, None)
        worker.library.free()
    return found


def main(library, device):
    """Serves requests until the input ends."""
    # What libraries print must not get between the answers.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(found):
        channel.write(json.dumps(found) + "\n")
        channel.flush()

    try:
        worker = Worker(library, device)
    except Exception as error:  # whatever hinders the library: the run goes on without it
        reply({"unavailable": f"{type(error).__name__}: {error}".split("\n")[0]})
        return
    reply({"version": worker.library.version()})
    for line in sys.stdin:
        try:
            found = answer(worker, json.loads(line))
        except Exception as error:  # a failure of a library is a result
            worker.kept = (None, None)
            text = str(error).strip().split("\n")[0]
            found = {"error": f"{type(error).__name__}: {text}"[:300]}
        reply(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
