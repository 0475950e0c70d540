"""Nets trained for 20 steps: the losses are PyTorch's (tests/pytorch/record.py)."""

import numpy as np
import pytest
from nn_check import close

nb = pytest.importorskip("numbus")
from inputs import load  # noqa: E402
from numbus import nn, optim  # noqa: E402
from numbus import tensors as T  # noqa: E402
from training_cases import CASES, STEPS, data, weight  # noqa: E402

pytestmark = pytest.mark.numbus
RECORDED = load("training.npz")


@pytest.mark.parametrize("name", list(CASES))
def test_losses(name):
    text, _, _, kind, words = CASES[name]
    net = eval(text, {n: getattr(nn, n) for n in nn.__all__}).double()
    with T.no_grad():
        for key, p in net.named_parameters():
            p.copy_(T.tensor(weight(name, key, tuple(p.shape))))
    optimizer = getattr(optim, kind)(net.parameters(), **words)
    losses = []
    for step in range(STEPS):
        x, y = map(T.tensor, data(name, step))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    close(np.array(losses), RECORDED[name], 1e-8, name)
