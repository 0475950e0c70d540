"""Averages of parameters and their schedule, beside formulas and what PyTorch 2.11 gives."""

import itertools
import math

import numbus.tensors as torch
import numpy as np
import pytest
from numbus import nn, optim
from numbus.optim import swa_utils


def _net(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def _arrays(net, buffers=False):
    found = [*net.parameters(), *(net.buffers() if buffers else ())]
    return [t.detach().cpu().numpy().astype(float) for t in found]


WAYS = {
    "plain": ({}, None),
    "swa": ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, None),
    "swa one": ({"avg_fn": swa_utils.get_swa_avg_fn()}, None),
    "ema": ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}, 0.9),
    "ema one": ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, 0.75),
    "own": ({"avg_fn": lambda a, p, n: a + (p - a) / (n + 1)}, None),
}


@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_averages(way, buffers):
    keywords, decay = WAYS[way]
    averaged = swa_utils.AveragedModel(_net(0), use_buffers=buffers, **keywords)
    wanted = None
    for k in range(4):
        net = _net(k + 1)
        for b in net.buffers():
            if b.is_floating_point():
                b.copy_(torch.rand(b.shape))
        now = _arrays(net)
        if wanted is None:
            wanted = now
        elif decay is None:
            wanted = [a + (b - a) / (k + 1) for a, b in zip(wanted, now, strict=True)]
        else:
            wanted = [decay * a + (1 - decay) * b for a, b in zip(wanted, now, strict=True)]
        averaged.update_parameters(net)
    for got, w in zip(_arrays(averaged.module), wanted, strict=True):
        np.testing.assert_allclose(got, w, rtol=2e-6, atol=1e-6)
    last = [b.cpu().numpy() for b in net.buffers()]
    own = [b.cpu().numpy() for b in averaged.module.buffers()]
    same = all(np.array_equal(a, b) for a, b in zip(own, last, strict=True))
    assert same == (not buffers)
    assert int(averaged.n_averaged) == 4
    assert list(averaged.state_dict())[:2] == ["n_averaged", "module.0.weight"]
    again = swa_utils.AveragedModel(_net(9), use_buffers=buffers, **keywords)
    again.load_state_dict(averaged.state_dict())
    for a, b in zip(_arrays(again, True), _arrays(averaged, True), strict=True):
        assert np.array_equal(a, b)
    x = torch.rand(5, 3)
    assert torch.equal(again.eval()(x), averaged.eval()(x))
    assert all(p.requires_grad for p in averaged.parameters())


def test_refused():
    with pytest.raises(AssertionError, match="two ways"):
        swa_utils.AveragedModel(_net(0), avg_fn=max, multi_avg_fn=max)
    for make in (swa_utils.get_ema_multi_avg_fn, swa_utils.get_ema_avg_fn):
        with pytest.raises(ValueError, match="decay"):
            make(1.5)
    o = optim.SGD(_net(0).parameters(), lr=1.0)
    for keywords in (
        {"swa_lr": [0.1, 0.2]}, {"swa_lr": 0.1, "anneal_strategy": "square"},
        {"swa_lr": 0.1, "anneal_epochs": -1}, {"swa_lr": 0.1, "anneal_epochs": 1.5},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="SWALR"):
            swa_utils.SWALR(o, **keywords)


@pytest.mark.parametrize("strategy, epochs", [*itertools.product(["cos", "linear"], [0, 1, 4])])
def test_rates(strategy, epochs):
    first, second = _net(0), _net(1)
    o = optim.SGD([{"params": first.parameters(), "lr": 0.5}, {"params": second.parameters()}],
                  lr=0.02)  # fmt: skip
    schedule = swa_utils.SWALR(o, [0.05, 0.1], epochs, strategy)
    for k in range(7):
        t = min(1.0, max(k, epochs == 0) / max(1, epochs))
        share = t if strategy == "linear" else (1 - math.cos(math.pi * t)) / 2
        wanted = [a + (b - a) * share for a, b in ((0.5, 0.05), (0.02, 0.1))]
        assert [g["lr"] for g in o.param_groups] == pytest.approx(wanted)
        o.step()
        schedule.step()


def test_update_bn():
    net = _net(3)
    net.eval()
    net[1].momentum = 0.3
    batches = [torch.rand(6, 3) + k for k in range(5)]
    swa_utils.update_bn([(x, None) for x in batches], net)
    inside = [net[0](x).detach().cpu().numpy().astype(float) for x in batches]
    mean = np.mean([x.mean(0) for x in inside], axis=0)
    var = np.mean([x.var(0, ddof=1) for x in inside], axis=0)
    np.testing.assert_allclose(net[1].running_mean.cpu().numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(net[1].running_var.cpu().numpy(), var, rtol=1e-4)
    assert net[1].momentum == 0.3
    assert not net.training and not net[1].training
    swa_utils.update_bn(iter([]), nn.Linear(2, 2))  # without such layers nothing is asked


def test_a_training():
    torch.manual_seed(0)
    net = nn.Linear(2, 1)
    o = optim.SGD(net.parameters(), lr=0.1)
    schedule = swa_utils.SWALR(o, swa_lr=0.02, anneal_epochs=2)
    averaged = swa_utils.AveragedModel(net)
    x = torch.rand(64, 2)
    y = x @ torch.tensor([[1.0], [-2.0]]) + 0.5
    for epoch in range(200):
        o.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        o.step()
        if epoch > 100:
            averaged.update_parameters(net)
            schedule.step()
    assert float(((averaged(x) - y) ** 2).mean()) < 0.1
