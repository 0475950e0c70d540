"""Batches of pictures that worker processes make, copied to a GPU: with and without copies that are
begun before the program asks for them.

    python bench/loader.py [--workers 8] [--batch 64] [--side 224] [--work MS]

Each step copies a batch of float32 pictures to the GPU, computes with it for about MS milliseconds
(products of matrices), and reads a number. Prints milliseconds a step, median of five rounds of 40.
"""

import argparse
import time

import numbus as nb
import numpy
from numbus import tensors
from numbus.data import DataLoader, Dataset, loader


class Pictures(Dataset):
    """Pictures whose making costs little more than their memory."""

    def __init__(self, count, side):
        self.count = count
        self.some = numpy.random.default_rng(0).standard_normal((3, side, side), dtype="f4")

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        return self.some, k


def rounds(batches, work, steps=40):
    """Milliseconds a step, and a sum of what was computed."""
    side = tensors.randn(4096, 4096, device="cuda")
    times, check = [], 0.0
    for _ in range(5):
        nb.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps):
            x, k = next(batches)
            x, k = x.to("cuda"), k.to("cuda")
            y = side
            for _ in range(work):
                y = y @ side * 1e-2
            check += (x[0, 0, 0, 0] * 0 + y[0, 0] * 0 + k[0]).item()
        times.append(1e3 * (time.perf_counter() - start) / steps)
    return sorted(times)[2], check


def main():
    """Compares the two."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--work", type=int, default=2)
    args = parser.parse_args()
    pictures = Pictures(args.batch * 230, args.side)
    checks = []
    for ahead in (True, False, True, False):
        if not ahead:
            kept, loader._Moves.look = loader._Moves.look, lambda self: None
        batches = iter(DataLoader(pictures, args.batch, num_workers=args.workers))
        ms, check = rounds(batches, args.work)
        checks.append(check)
        if not ahead:
            loader._Moves.look = kept
        print(f"{'copied ahead' if ahead else 'copied when asked'}: {ms:.2f} ms a step")
        del batches
    assert len(set(checks)) == 1, checks


if __name__ == "__main__":
    main()
