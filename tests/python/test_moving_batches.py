"""Loops whose batches lie elsewhere each time: parts of one array, and arrays of their own."""

import numbus as nb
import numpy as np
import pytest
from numbus import _core, nn, optim
from numbus import tensors as torch

STEPS = 96


def on_gpu():
    return nb.asarray([1.0]).device.startswith("cuda")


def net(kind):
    rng = np.random.default_rng(0)
    if kind == "linear":
        model = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 4))
    else:
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 2 * 2, 4))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape), dtype="f4") * 0.3))
    return model


def data(kind):
    rng = np.random.default_rng(1)
    shape = (48,) if kind == "linear" else (3, 4, 4)
    x = rng.standard_normal((16 * STEPS + 8, *shape), dtype="f4")
    return x, rng.standard_normal((16 * STEPS + 8, 4), dtype="f4")


def train(kind, device, batches, compiled=False):
    model = net(kind).to(device)
    optimizer = optim.SGD(model.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = nb.compile(step)
    x, y = (torch.from_numpy(v).to(device) for v in data(kind))
    if batches == "parts":
        parts = [(x[k : k + 16], y[k : k + 16]) for k in range(0, 16 * STEPS, 16)]
    elif batches == "odd parts":  # addresses of all alignments of an element
        starts = [16 * k + k % 8 for k in range(STEPS)]
        parts = [(x[k : k + 16], y[k : k + 16]) for k in starts]
    else:
        parts = [(x[k : k + 16].clone(), y[k : k + 16].clone()) for k in range(0, 16 * STEPS, 16)]
    losses, replays = [], []
    for a, b in parts:
        before = _core.stats()["replays"]
        losses.append(step(a, b).item())
        replays.append(_core.stats()["replays"] - before)
    return losses, replays


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("batches", ["parts", "odd parts", "arrays"])
@pytest.mark.parametrize("kind", ["linear", "convolution"])
def test_losses(kind, batches, compiled):
    want, _ = train(kind, "cpu", batches)
    device = "cuda" if on_gpu() else nb.asarray([1.0]).device
    got, replays = train(kind, device, batches, compiled)
    np.testing.assert_allclose(got, want, rtol=2e-4)
    if on_gpu():
        # pytest's checks leave some steps out.
        assert sum(replays[-16:]) >= 7, replays
