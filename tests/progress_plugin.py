"""Writes what failed, and the seconds that each file took, while a long run of pytest goes on.

`-p progress_plugin` with NUMBUS_TEST_PROGRESS naming the file. With pytest-xdist the process that
distributes the tests writes it.
"""

import collections
import os
import time

STEP = 1000  # reports between two writes
DISTRIBUTED = "PYTEST_XDIST_WORKER" in os.environ  # another process counts and writes

started = time.monotonic()
seconds, tests, outcomes = collections.Counter(), collections.Counter(), collections.Counter()
failures = []


def pytest_runtest_logreport(report):
    if DISTRIBUTED:
        return
    file = report.nodeid.split("::")[0]
    seconds[file] += report.duration
    if report.when == "call" or report.skipped or report.failed:
        tests[file] += 1
        outcomes[report.outcome] += 1
    if report.failed:
        told = " | ".join(str(report.longrepr).splitlines()[-6:])
        failures.append(f"{report.nodeid} ({report.when}): {told}")
    if sum(outcomes.values()) % STEP == 0 or report.failed:
        write()


def pytest_sessionfinish(session):
    if not DISTRIBUTED:
        write()


def write():
    with open(os.environ["NUMBUS_TEST_PROGRESS"], "w") as out:
        took = time.monotonic() - started
        print(f"{took:.0f} s: {', '.join(f'{n} {o}' for o, n in outcomes.items())}", file=out)
        for failure in failures:
            print("FAILED", failure, file=out)
        for file, spent in seconds.most_common():
            print(f"{spent:8.1f} s {tests[file]:6d} {file}", file=out)
