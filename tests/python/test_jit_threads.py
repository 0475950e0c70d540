"""set_num_threads limits the threads of prange, in Python and in compiled functions."""

import os
import subprocess
import sys

SCRIPT = """
import threading
import numpy as np
from numba import get_num_threads, get_thread_id, njit, prange, set_num_threads

@njit(parallel=True)
def who(n):
    ids = np.empty(n, np.int64)
    for i in prange(n):
        s = 0.0
        for k in range(20_000):
            s += np.sqrt(k + i)
        ids[i] = get_thread_id() + (s < 0)
    return ids

@njit(parallel=True)
def limited(n, count):
    before = get_num_threads()
    set_num_threads(count)
    inside = get_num_threads()
    ids = np.empty(n, np.int64)
    for i in prange(n):
        ids[i] = get_thread_id()
    set_num_threads(before)
    return inside, ids

assert get_num_threads() == 4 and get_thread_id() == 0
seen = set()
for _ in range(200):
    seen |= set(who(256).tolist())
assert seen <= {0, 1, 2, 3} and len(seen) > 1, seen
for count in (1, 2, 3):
    set_num_threads(count)
    assert get_num_threads() == count
    seen = set()
    for _ in range(200):
        seen |= set(who(256).tolist())
    assert seen <= set(range(count)), seen
    assert count == 1 or len(seen) > 1, seen
other = []
thread = threading.Thread(target=lambda: other.append(get_num_threads()))
thread.start(); thread.join()
assert other == [4]
inside, ids = limited(1000, 1)
assert inside == 1 and not ids.any() and get_num_threads() == 3
for wrong in (0, 5, -1):
    for f in (set_num_threads, lambda n: limited(8, n)):
        try:
            f(wrong)
        except ValueError as error:
            assert "so many threads are not there" in str(error) and str(wrong) in str(error)
        else:
            raise AssertionError(wrong)
try:
    limited(8, 2.0)
except TypeError as error:
    assert "not a number of threads" in str(error), error
else:
    raise AssertionError("no error")
print("fine")
"""


def test_limits(tmp_path):
    path = tmp_path / "limits.py"
    path.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "numbus", str(path)],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "NUMBUS_NUM_THREADS": "4"},
    )  # fmt: skip
    assert done.stdout == "fine\n", done.stderr
