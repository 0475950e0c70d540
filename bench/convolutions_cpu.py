"""Convolutions on a CPU, forward and with both derivatives, beside another library.

    python bench/convolutions_cpu.py --save ours.npz
    python bench/convolutions_cpu.py --tensors torch --against ours.npz

Prints the processor time of a call (the best of 15, one thread where NUMBUS_NUM_THREADS and
OPENBLAS_NUM_THREADS are 1; PyTorch is given one). The second call compares results, and prints how
many times as fast the first library was.
"""

import argparse
import time

import numpy

# Shape of the input and of the weights; keywords.
CASES = {
    "MNIST 1 -> 32, 3 x 3": ((64, 1, 28, 28), (32, 1, 3, 3), {}),
    "MNIST 32 -> 64, 3 x 3": ((64, 32, 26, 26), (64, 32, 3, 3), {}),
    "64 -> 64, 3 x 3, 56": ((4, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    "128 -> 256, stride 2": ((4, 128, 28, 28), (256, 128, 3, 3), {"padding": 1, "stride": 2}),
    "256 -> 256, 14": ((4, 256, 14, 14), (256, 256, 3, 3), {"padding": 1}),
    "256 -> 512, 1 x 1": ((4, 256, 14, 14), (512, 256, 1, 1), {}),
    "3 -> 64, 7 x 7, stride 2": ((2, 3, 224, 224), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
    "depthwise, 128": ((4, 128, 28, 28), (128, 1, 3, 3), {"padding": 1, "groups": 128}),
    "4 groups, 128": ((4, 128, 28, 28), (128, 32, 3, 3), {"padding": 1, "groups": 4}),
    "dilation 2, 64": ((4, 64, 28, 28), (64, 64, 3, 3), {"padding": 2, "dilation": 2}),
    "8 -> 8, 16, one image": ((1, 8, 16, 16), (8, 8, 3, 3), {"padding": 1}),
}


def load(name):
    """(the library, its functions of nets, what waits until work is done)"""
    if name == "torch":
        import torch

        torch.set_num_threads(1)
        return torch, torch.nn.functional, lambda: None
    import numbus
    from numbus import tensors
    from numbus.nn import functional

    return tensors, functional, numbus.synchronize


def best(call):
    for _ in range(3):
        call()
    times = []
    for _ in range(15):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tensors", choices=["numbus", "torch"], default="numbus")
    parser.add_argument("--save", help="a file for times and results")
    parser.add_argument("--against", help="such a file of the other library")
    args = parser.parse_args()
    torch, functional, wait = load(args.tensors)
    other = numpy.load(args.against) if args.against else None
    rng, kept = numpy.random.default_rng(0), {}
    for name, (xs, ws, keywords) in CASES.items():
        x, w = (torch.from_numpy(rng.standard_normal(s).astype("f4")) for s in (xs, ws))
        leaves = [t.clone().requires_grad_() for t in (x, w)]

        def forward(x=x, w=w, keywords=keywords):
            y = functional.conv2d(x, w, **keywords)
            wait()
            return y

        def both(leaves=leaves, keywords=keywords):
            for t in leaves:
                t.grad = None
            functional.conv2d(*leaves, **keywords).sum().backward()
            wait()

        times = [best(forward), best(both)]
        results = [forward(), *(t.grad for t in leaves)]
        kept[name] = numpy.array(times)
        for k, r in enumerate(results):
            kept[f"{name}, result {k}"] = r.numpy()
        text = f"{name:28}" + "".join(f"{1e3 * t:10.3f} ms" for t in times)
        if other is not None:
            for k in range(3):
                a, b = kept[f"{name}, result {k}"], other[f"{name}, result {k}"]
                assert abs(a - b).max() <= 1e-4 * abs(a).max(), (name, k)
            text += "".join(f"{t / o:8.2f}" for t, o in zip(times, other[name], strict=True))
        print(text, flush=True)
    if args.save:
        numpy.savez(args.save, **kept)


if __name__ == "__main__":
    main()
