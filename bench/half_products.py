"""Products of float16 and bfloat16 on a GPU by Numbus and PyTorch: how far results are from exact
ones, and how long they take.

    python bench/half_products.py [--quick]

Needs an NVIDIA GPU; PyTorch is compared with where it is installed. Results of Numbus have to lie
within one rounding of the exact ones, and sums in float32.
"""

import argparse
import statistics
import sys
import time

import ml_dtypes
import numbus as nb
import numpy as np

try:
    import torch
except ImportError:
    torch = None

TYPES = {"float16": np.dtype("f2"), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def cases(quick):
    n, m = (512, 128) if quick else (4096, 512)
    return {
        f"{n}³": ((n, n), (n, n), None),
        f"{n}³, second transposed": ((n, n), (n, n), "t"),
        f"64 times {m}³": ((64, m, m), (64, m, m), None),
        f"linear, 1024 × {n} → {n}, bias": ((1024, n), (n, n), "bias"),
    }


def median_ms(call, wait):
    """Of 5 rounds of 20 calls."""
    for _ in range(3):
        call()
    wait()
    rounds = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(20):
            call()
        wait()
        rounds.append(1e3 * (time.perf_counter() - begun) / 20)
    return statistics.median(rounds)


def call_of(how, a, b, bias):
    if how == "t":
        return lambda: a @ (b.T if b.ndim == 2 else b.swapaxes(-1, -2))
    if how == "bias":
        return lambda: a @ b.T + bias
    return lambda: a @ b


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small extents")
    args = parser.parse_args()
    if not nb.cuda.is_available():
        print("needs an NVIDIA GPU; there is none here: nothing was measured")
        return 0
    gpu = torch is not None and torch.cuda.is_available()
    print(f"{nb.cuda.get_current_device().name}; PyTorch: {torch.__version__ if gpu else 'none'}")
    failed = False
    random = np.random.default_rng(1)
    with nb.device("cuda"):
        for name, kind in TYPES.items():
            for what, (of_a, of_b, how) in cases(args.quick).items():
                a, b = (random.standard_normal(s).astype("f4").astype(kind) for s in (of_a, of_b))
                bias = random.standard_normal(of_b[-2]).astype("f4").astype(kind)
                ours = call_of(how, nb.array(a), nb.array(b), nb.array(bias))
                y = ours().to_numpy()
                # The first rows exactly, of the first matrix.
                first = (slice(0, 16),) if a.ndim == 2 else (0, slice(0, 16))
                rows, matrix = a[first].astype("f8"), (b if b.ndim == 2 else b[0]).astype("f8")
                exact = rows @ (matrix.T if how in ("t", "bias") else matrix)
                size = np.abs(rows) @ np.abs(matrix.T if how in ("t", "bias") else matrix)
                eps = float(ml_dtypes.finfo(kind).eps)
                allowed = 0.51 * eps * np.abs(exact) + 2e-6 * size + 1e-30
                if how == "bias":
                    exact = exact.astype("f4").astype(kind).astype("f8") + bias.astype("f8")
                    allowed += 0.51 * eps * np.abs(exact) + eps * size / np.sqrt(a.shape[-1])
                worst = float(np.max(np.abs(y[first].astype("f8") - exact) / allowed))
                failed |= not worst <= 1
                ms = median_ms(ours, nb.cuda.synchronize)
                flops = 2 * np.prod(of_a, dtype="f8") * of_b[-1]
                text = f"{name:9} {what:32} {ms:8.3f} ms {flops / ms / 1e9:7.1f} Tflop/s"
                if gpu:
                    words = getattr(torch, name)
                    x, w, c = (
                        torch.tensor(v.astype("f4")).to("cuda").to(words) for v in (a, b, bias)
                    )
                    if how == "bias":
                        peer = lambda: torch.nn.functional.linear(x, w, c)  # noqa: B023, E731
                    else:
                        peer = call_of(how, x, w, c)
                    theirs = peer().float().cpu().numpy()
                    apart = float(np.max(np.abs(theirs - y.astype("f4"))) / np.max(np.abs(theirs)))
                    failed |= not apart <= 8 * eps
                    other = median_ms(peer, torch.cuda.synchronize)
                    text += f"; PyTorch {other:8.3f} ms; results {apart / eps:.2f} ε apart"
                print(f"{text}; error {worst:.2f} of what is allowed")
    print("NOT as they should be" if failed else "all results are as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
