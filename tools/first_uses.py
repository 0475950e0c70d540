"""Measures what a GPU and its libraries take when they are used for the first time: the prices of
src/array/first_uses.cpp.

    NUMBUS_DEVICE=cuda python tools/first_uses.py

Each use runs in fresh processes, all but the first of which find a filled disk cache; the medians
are printed in milliseconds.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

USES = {
    "open the GPU": "pass",
    "array operation": "(nb.ones(1 << 20) * 2).sum().item()",
    "matmul (cuBLAS)": "(a @ a).sum().item()",
    "solve (cuSOLVER)": "nb.linalg.solve(a, a).sum().item()",
    "fft (cuFFT)": "nb.fft.fft(a).real.sum().item()",
    "sort": "nb.sort(a.ravel()).sum().item()",
}
PROGRAM = """
import json, sys, time
import numpy
import numbus as nb
start = time.perf_counter()
a = nb.asarray(numpy.random.default_rng(1).random((256, 256)))
a.sum().item()
opened = time.perf_counter()
{use}
done = time.perf_counter()
{use}
again = time.perf_counter()
print(json.dumps([opened - start, done - opened, again - done]))
"""


def main(rounds=5):
    for name, use in USES.items():
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "NUMBUS_CACHE_DIR": cache}
            times = [
                json.loads(
                    subprocess.run(
                        [sys.executable, "-c", PROGRAM.format(use=use)], env=env, check=True,
                        stdout=subprocess.PIPE, text=True,
                    ).stdout
                )
                for _ in range(1 + rounds)
            ]  # fmt: skip
        cold, warm = times[0], [1e3 * statistics.median(t) for t in zip(*times[1:])]
        print(
            f"{name:18} opening {warm[0]:7.1f} ms, first use {warm[1]:7.1f} (without the disk "
            f"cache {1e3 * cold[1]:7.1f}), second use {warm[2]:7.1f}"
        )


if __name__ == "__main__":
    main()
