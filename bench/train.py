"""Steps of training small nets: forward, backward and Adam, in a plain loop without decorators.

    python bench/train.py [--device cpu|cuda] [--net mlp|mnist|cifar|transformer]
                          [--batch N] [--steps N] [--tensors numbus|torch] [--item]
                          [--compile] [--tf32] [--dropout P] [--loader]

The batch lies on the device. With `--tensors torch` the same program runs with PyTorch; both start
from the same weights and data, and the losses of the first steps are printed for comparison
(`--losses FILE` writes them as JSON). Prints milliseconds a step (median of five rounds) and the
part of it in which the host was busy. `--item` reads the loss in each step. `--compile` has
`numbus.compile` or `torch.compile` make the step. `--tf32` allows TF32, which neither library
uses otherwise. `--dropout` puts a dropout before each linear layer but the first; the losses of the
two libraries then differ, as their random numbers do. `--loader` takes each batch from a DataLoader
that shuffles 100 batches in the host's memory, and copies it to the device.
"""

import argparse
import importlib
import itertools
import json
import time

import numpy


def load(name):
    """(torch-like module, nn, functional, optim, synchronise)"""
    if name == "torch":
        import torch
        import torch.nn.functional as functional
        from torch import nn, optim

        return torch, nn, functional, optim, torch.cuda.synchronize
    import numbus
    from numbus import nn, optim, tensors
    from numbus.nn import functional

    return tensors, nn, functional, optim, numbus.cuda.synchronize


def mlp(nn):
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


def mnist(nn):
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def cifar(nn):
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def transformer(nn):
    layer = nn.TransformerEncoderLayer(
        64, 4, 256, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    return nn.Sequential(
        nn.Embedding(64, 64), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        nn.LayerNorm(64), nn.Linear(64, 64), nn.Flatten(0, 1),
    )  # fmt: skip


def set_tf32(name, allowed):
    library = __import__(name)
    library.set_float32_matmul_precision("high" if allowed else "highest")
    if name == "torch":
        library.backends.cudnn.allow_tf32 = allowed


# What an example is: an image, or (one extent) a line of words.
NETS = {
    "mlp": (mlp, (1, 28, 28)), "mnist": (mnist, (1, 28, 28)), "cifar": (cifar, (3, 32, 32)),
    "transformer": (transformer, (32,)),
}  # fmt: skip


def examples(rng, shape, count):
    """Images and their classes, or lines of words and for each word a class."""
    if len(shape) > 1:
        return rng.standard_normal((count, *shape), dtype="f4"), rng.integers(0, 10, count)
    return rng.integers(0, 64, (count, *shape)), rng.integers(0, 64, count * shape[0])


def with_dropout(nn, model, p):
    """The layers, with a dropout before each linear one but the first layer."""
    layers = []
    for layer in model:
        if isinstance(layer, nn.Linear) and len(layers) > 1:
            layers.append(nn.Dropout(p))
        layers.append(layer)
    return nn.Sequential(*layers)


def prepare(name, net, batch, device, tf32=False, dropout=0):
    """A function that takes one step and returns the loss, and what waits for the device."""
    torch, nn, functional, optim, wait = load(name)
    set_tf32(name, tf32)
    build, shape = NETS[net]
    rng = numpy.random.default_rng(0)
    model = build(nn)
    if dropout:
        model = with_dropout(nn, model, dropout)
        torch.manual_seed(0)
    with torch.no_grad():
        for p in model.parameters():
            w = numpy.zeros(tuple(p.shape))
            if p.ndim > 1:
                w = rng.uniform(-1, 1, w.shape) / numpy.sqrt(numpy.prod(w.shape[1:]))
            p.copy_(torch.from_numpy(w.astype("f4")))
        for layer in model.modules():
            if isinstance(layer, nn.LayerNorm):
                layer.weight.fill_(1)
    model = model.to(device)
    x, y = (torch.from_numpy(a).to(device) for a in examples(rng, shape, batch))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)

    def step(x=x, y=y):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, (wait if device != "cpu" else lambda: None)


def with_loader(name, step, net, batch, device):
    """A function that takes the step with the next batch of a DataLoader, without end."""
    library = importlib.import_module("torch" if name == "torch" else "numbus.compat.torch")
    data = library.utils.data
    rng = numpy.random.default_rng(1)
    shape = (100 * batch, *NETS[net][1])
    x = library.from_numpy(rng.standard_normal(shape, dtype="f4"))
    y = library.from_numpy(rng.integers(0, 10, len(x)))
    loader = data.DataLoader(data.TensorDataset(x, y), batch, shuffle=True)
    batches = (pair for _ in itertools.count() for pair in loader)

    def next_step():
        some, targets = next(batches)
        return step(some.to(device), targets.to(device))

    return next_step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--net", default="mlp", choices=NETS)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--tensors", default="numbus", choices=["numbus", "torch"])
    parser.add_argument("--item", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--dropout", type=float, default=0)
    parser.add_argument("--losses")
    parser.add_argument("--loader", action="store_true")
    args = parser.parse_args()
    began = time.perf_counter()
    step, wait = prepare(args.tensors, args.net, args.batch, args.device, args.tf32, args.dropout)
    if args.compile:
        step = __import__(args.tensors).compile(step)
    if args.loader:
        step = with_loader(args.tensors, step, args.net, args.batch, args.device)
    losses = []
    for k in range(20):
        loss = step()
        losses.append(loss.item())
        if k == 0:
            first = time.perf_counter() - began
    if args.losses:
        with open(args.losses, "w") as file:
            json.dump(losses, file)
    rounds = []
    for _ in range(5):
        wait()
        start = time.perf_counter()
        for _ in range(args.steps):
            loss = step()
            if args.item:
                loss.item()
        busy = time.perf_counter() - start
        last = loss.item()
        wait()
        rounds.append((time.perf_counter() - start, busy))
    total, busy = sorted(rounds)[2]
    print(
        f"{args.tensors} {args.net} batch {args.batch} {args.device}: "
        f"{1e3 * total / args.steps:.3f} ms a step, host {1e3 * busy / args.steps:.3f}; "
        f"first step {first:.2f} s; losses {losses[0]:.5f} {losses[9]:.5f} {losses[19]:.5f}, "
        f"at the end {last:.5f}"
    )
    if args.tensors == "numbus":
        from numbus import _core

        stats = _core.stats()
        print(
            f"  {stats['flushes']} flushes, {stats['replays']} of them replayed, "
            f"{stats['captures']} graphs"
        )


if __name__ == "__main__":
    main()
