"""When each kernel of one training step of bench/train.py runs on a GPU.

    python bench/step_trace.py [--net mlp|mnist|cifar] [--batch N] [--tf32] [--tensors numbus|torch]

Prints the start (µs after the step's first kernel), the duration (µs) and the name of each kernel
and copy of a compiled step, how many others run at its start, and how long the step takes in all.
PyTorch's profiler (CUPTI) sees the kernels of every library in the process; it is needed, and it
makes steps slower than bench/train.py finds them.
"""

import argparse

import train
from torch.profiler import ProfilerActivity, profile

STEPS = 6


def kernels(step, wait):
    """(start, duration, name) of what the GPU does in some steps, in nanoseconds, by start."""
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(STEPS):
            step()
        wait()
    events = seen.profiler.kineto_results.events()
    gpu = [e for e in events if e.device_type().name == "CUDA"]
    return sorted((e.start_ns(), e.duration_ns(), e.name()) for e in gpu)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--net", default="mnist", choices=train.NETS)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--tensors", default="numbus", choices=["numbus", "torch"])
    args = parser.parse_args()
    step, wait = train.prepare(args.tensors, args.net, args.batch, "cuda", args.tf32)
    step = __import__(args.tensors).compile(step)
    for _ in range(20):
        step().item()
    found = kernels(step, wait)
    each = len(found) // STEPS
    print(f"{len(found)} kernels and copies in {STEPS} steps")
    one = found[(STEPS - 2) * each : (STEPS - 1) * each]  # one of the last, all of it
    begin, last = one[0][0], 0
    busy = 0
    for k, (start, took, name) in enumerate(one):
        beside = sum(s + t > start for s, t, _ in one[:k])
        busy += max(0, start + took - max(start, last))
        last = max(last, start + took)
        print(f"{(start - begin) / 1e3:8.1f} {took / 1e3:7.1f} {beside:2d}  {name[:90]}")
    print(f"{(last - begin) / 1e3:.1f} us in all, {busy / 1e3:.1f} of them busy")


if __name__ == "__main__":
    main()
