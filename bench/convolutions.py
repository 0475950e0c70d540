"""Convolutions of small nets on a GPU, and derivatives: cuDNN beside our own kernels.

    python bench/convolutions.py [--batches 64,1024] [--tf32]

Prints microseconds a call of groups of 30 that are waited for, by whatever is chosen for the shape
and by our own kernels wherever these can be used, and the largest difference of the two results in
units of the largest one, which must be rounding alone.
"""

import argparse
import functools
import time

import numbus
import numpy
from numbus import _core
from numbus.core.libraries import offer

SHAPES = [(1, 32, 28, 0), (32, 64, 26, 0), (3, 32, 32, 1), (32, 64, 16, 1), (64, 64, 8, 1)]
GROUP, ROUNDS, TOLERANCE = 30, 7, {False: 3e-5, True: 3e-3}


def microseconds(call):
    for _ in range(3):
        results = [call() for _ in range(GROUP)]
        numbus.synchronize()
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        results = [call() for _ in range(GROUP)]
        numbus.synchronize()
        best = min(best, time.perf_counter() - begun)
    return 1e6 * best / GROUP, results[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", default="64,1024")
    parser.add_argument("--tf32", action="store_true")
    args = parser.parse_args()
    numbus.set_float32_matmul_precision("high" if args.tf32 else "highest")
    offer("cudnn")
    rng = numpy.random.default_rng(0)
    for batch in map(int, args.batches.split(",")):
        for channels, results, extent, padding in SHAPES:
            out = extent + 2 * padding - 2
            shapes = {
                "image": (batch, channels, extent, extent),
                "weights": (results, channels, 3, 3),
                "result": (batch, results, out, out),
            }
            given = {
                name: numbus.array(rng.standard_normal(shape, dtype="f4")).to_device("cuda")
                for name, shape in shapes.items()
            }
            for kind, (a, b, made) in enumerate(
                [("image", "weights", "result"), ("result", "weights", "image"),
                 ("image", "result", "weights")]
            ):  # fmt: skip
                found = []
                for own in (False, True):
                    _core.set_grid_convolutions(own)

                    call = functools.partial(
                        _core.convolve, kind, given[a], given[b], shapes[made], (1, 1),
                        (padding, padding), (1, 1), 1,
                    )  # fmt: skip
                    found.append(microseconds(call))
                _core.set_grid_convolutions(False)
                (chosen, x), (own, y) = found
                x, y = x.to_numpy().astype("f8"), y.to_numpy().astype("f8")
                apart = abs(x - y).max() / abs(x).max()
                assert apart < TOLERANCE[args.tf32], apart
                name = f"{channels} -> {results}, {extent}^2, {batch}"
                print(f"{name:24} {'FIW'[kind]} {chosen:7.1f} {own:7.1f} us; {apart:.0e}")


if __name__ == "__main__":
    main()
