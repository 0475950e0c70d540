"""Worker processes for seeds: one that dies or hangs costs one program, and goes on after it."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter


class Results:
    """The end of a pipe into which a worker puts what it finds.

    A pipe rather than a queue: where a worker dies in the middle of a message, its reader gets the
    end of the file, and waits for no rest.
    """

    def __init__(self, connection):
        self.connection = connection

    def put(self, item):
        self.connection.send(item)


class Slot:
    """One worker process and the seeds it is responsible for.

    `worker(args, first, stop, step, status, results)` keeps in `status` (seed, index of the mode,
    programs done, time of the last one) and puts (kind, seed, failure, text) into `results`; kinds
    are failure, unsupported (text: a Counter), paused (seed: where a fresh process goes on), done.
    """

    def __init__(self, context, worker, args, first, stop, step):
        self.context, self.worker, self.args = context, worker, args
        self.stop, self.step = stop, step
        self.done = 0
        self.kept: list = []  # what is to be given by drain() once more
        self.start(first)

    def start(self, first: int):
        self.status = self.context.Array("q", [first, 0, 0, int(time.monotonic())], lock=False)
        self.reader, writer = self.context.Pipe(duplex=False)
        self.process = self.context.Process(
            target=self.worker,
            args=(self.args, first, self.stop, self.step, self.status, Results(writer)),
            daemon=True,
        )
        self.process.start()
        writer.close()
        self.finished = first >= self.stop

    def drain(self) -> list:
        out, self.kept = self.kept, []
        while True:
            try:
                if not self.reader.poll(0.01):
                    return out
                item = self.reader.recv()
            except (EOFError, OSError):
                return out
            if item[0] == "paused":
                self.done += self.status[2]
                self.process.join()
                self.start(item[1])
                return out
            self.finished |= item[0] == "done"
            out.append(item)

    def programs(self) -> int:
        return self.done + self.status[2]

    def stuck(self) -> bool:
        return time.monotonic() - self.status[3] > self.args.timeout

    def restart(self) -> tuple[int, str]:
        """Go on after the program that killed the worker; returns (seed, mode)."""
        seed, mode = self.status[0], self.args.modes[self.status[1]]
        self.done += self.status[2] + 1
        self.start(seed + self.step)
        return seed, mode


class Totals:
    """What all workers found."""

    def __init__(self):
        self.programs = self.failures = 0
        self.seconds = 0.0
        self.unsupported: Counter[str] = Counter()
        self.kinds: dict[str, list] = {}

    def print_kinds(self):
        for kind, found in sorted(self.kinds.items(), key=lambda item: -len(item[1])):
            seeds = ", ".join(str(seed) for _, seed in sorted(found)[:6])
            print(f"{len(found)} × {kind}: seeds {seeds}")


def drive(args, worker, crashed, report, category) -> Totals:
    """Runs seeds args.seed … in args.jobs processes until all are done or too many failed.

    crashed(args, seed, mode, how) gives (failure, text) for a program that killed a worker;
    report(args, seed, failure, text) shows a failure; category(failure) says which belong together.
    """
    context = multiprocessing.get_context("spawn")
    stop = args.seed + args.programs
    jobs = max(1, min(args.jobs, args.programs))
    slots = [Slot(context, worker, args, args.seed + j, stop, jobs) for j in range(jobs)]
    totals = Totals()
    start = last = time.monotonic()

    def failed(seed, failure, text):
        totals.failures += 1
        report(args, seed, failure, text)
        totals.kinds.setdefault(category(failure), []).append((len(text), seed))

    while not all(s.finished for s in slots) and totals.failures < args.max_failures:
        for slot in slots:
            for kind, seed, failure, text in slot.drain():
                if kind == "unsupported":
                    totals.unsupported.update(text)
                elif kind == "failure":
                    failed(seed, failure, text)
            if slot.finished:
                continue
            dead, stuck = not slot.process.is_alive(), slot.stuck()
            if dead and (left := slot.drain()):
                slot.kept = left
                continue
            if dead or stuck:
                how = f"died with status {slot.process.exitcode}" if dead else "hung"
                if stuck and not dead:
                    slot.process.kill()
                seed, mode = slot.restart()
                failed(seed, *crashed(args, seed, mode, how))
        time.sleep(0.02)
        if time.monotonic() - last > 15:
            last = time.monotonic()
            n = sum(s.programs() for s in slots)
            print(
                f"{n} programs, {n / (last - start):.0f}/s, {totals.failures} failures", flush=True
            )
    for slot in slots:
        if not slot.finished:
            slot.process.kill()
    totals.programs = sum(s.programs() for s in slots)
    totals.seconds = time.monotonic() - start
    return totals
