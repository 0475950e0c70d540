"""One program in a process of its own, for run.py.

    [python | python -m numbus] worker.py NAME SIZE [--njit]

Makes the inputs, times the first call, prints {"first": seconds}, then obeys lines from standard
input: `samples SECONDS` prints the seconds of repeated calls, `save FILE` stores the latest result
as arrays of NumPy's own. This is a user's module: with Numbus, `numpy` is numbus, and reading a
clock waits for what is pending.
"""

import importlib
import json
import pickle
import sys
import time
import types
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from numbus_bench.timing import samples

SEED = 20260101


def load(name, njit=False):
    """The module of a program; with `njit` all its functions but `setup` are compiled by Numba."""
    module = importlib.import_module(name)
    if njit:
        import numba

        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType) and key != "setup":
                setattr(module, key, numba.njit(value))
    return module


def host(result):
    """The parts of a result as arrays of NumPy's own."""
    parts = result if isinstance(result, tuple) else (result,)
    arrays = [np.asarray(part) for part in parts]
    return [a.to_numpy() if hasattr(a, "to_numpy") else a for a in arrays]


def main():
    name, size, *options = sys.argv[1:]
    program = load(name, njit="--njit" in options)
    inputs = program.setup(program.SIZES[size], np.random.default_rng(SEED))
    start = time.perf_counter()
    result = program.run(*inputs)
    print(json.dumps({"first": time.perf_counter() - start}), flush=True)
    for line in sys.stdin:
        order, _, value = line.strip().partition(" ")
        if order == "save":
            result = program.run(*inputs) if result is None else result
            Path(value).write_bytes(pickle.dumps(host(result)))
            answer = None
        else:
            result = None  # a program's memory is its own while it is timed
            # The clock that is read here waits for pending work, so it serves as the wait, too.
            answer = samples(
                lambda: program.run(*inputs), time.perf_counter, float(value), least=1, most=2000
            )
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
