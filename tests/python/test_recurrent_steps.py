"""Recurrent layers with their own derivative: cells called step by step are the oracle."""

import numbus as nb
import numpy as np
import pytest
from numbus import nn
from numbus import tensors as T

pytestmark = pytest.mark.numbus
KINDS = {"RNN": (nn.RNN, nn.RNNCell, {}), "relu": (nn.RNN, nn.RNNCell, {"nonlinearity": "relu"}),
         "GRU": (nn.GRU, nn.GRUCell, {}), "LSTM": (nn.LSTM, nn.LSTMCell, {})}  # fmt: skip


def _pair(kind, bias):
    """A layer and a cell with the same weights."""
    layer_of, cell_of, options = KINDS[kind]
    layer = layer_of(3, 4, bias=bias, **options).double()
    cell = cell_of(3, 4, bias=bias, **options).double()
    random = np.random.default_rng(0)
    with T.no_grad():
        for p, q in zip(layer.parameters(), cell.parameters(), strict=True):
            p.copy_(T.tensor(random.normal(size=tuple(p.shape)) * 0.7))
            q.copy_(p)
    return layer, cell


def _given(kind, seed=1):
    random = np.random.default_rng(seed)
    x = T.tensor(random.normal(size=(6, 2, 3))).requires_grad_()
    states = [T.tensor(random.normal(size=(1, 2, 4))).requires_grad_() for _ in range(2)]
    return x, states[: 2 if kind == "LSTM" else 1]


def _by_layer(kind, layer, x, states):
    y, last = layer(x, tuple(states) if kind == "LSTM" else states[0])
    return y, list(last) if kind == "LSTM" else [last]


def _by_cell(kind, cell, x, states):
    state, found = [s[0] for s in states], []
    for t in range(x.shape[0]):
        after = cell(x[t], tuple(state) if kind == "LSTM" else state[0])
        state = list(after) if kind == "LSTM" else [after]
        found.append(state[0])
    return T.stack(found), [s[None] for s in state]


def _loss(y, last):
    total = (y * y.detach().cos()).sum() + (y**3).sum()
    return total + sum((s * (k + 2)).sin().sum() for k, s in enumerate(last))


def _derivatives(kind, net, by, seconds):
    x, states = _given(kind)
    y, last = by(kind, net, x, states)
    of = [x, *states, *net.parameters()]
    loss = _loss(y, last)
    found = [y.detach(), *[s.detach() for s in last]]
    if not seconds:
        loss.backward()
        return [*found, *[t.grad for t in of]]
    firsts = T.autograd.grad(loss, of, create_graph=True)
    return [*found, *T.autograd.grad(sum((g**2).sum() for g in firsts), of)]


@pytest.mark.parametrize("seconds", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind, bias, seconds):
    layer, cell = _pair(kind, bias)
    found = _derivatives(kind, layer, _by_layer, seconds)
    expected = _derivatives(kind, cell, _by_cell, seconds)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.cpu().numpy(), b.cpu().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_sequences_of_several_lengths(kind):
    """Each gives what it gives alone, in both directions and with derivatives."""
    layer_of, _, options = KINDS[kind]
    layer = layer_of(3, 4, num_layers=2, bidirectional=True, **options).double()
    lengths, random = [5, 3, 1], np.random.default_rng(3)
    parts = [T.tensor(random.normal(size=(n, 3))).requires_grad_() for n in lengths]
    packed = nn.utils.rnn.pack_sequence(parts)
    y, last = layer(packed)
    y, _ = nn.utils.rnn.pad_packed_sequence(y)
    last = last if kind == "LSTM" else (last,)
    (sum((s**2).sum() for s in last) + (y**3).sum()).backward()
    found = [p.grad for p in parts]
    weights = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    for k, n in enumerate(lengths):
        alone = parts[k].detach().clone().requires_grad_()
        z, ends = layer(alone[:, None])
        ends = ends if kind == "LSTM" else (ends,)
        one, other = y[:n, k].detach().cpu(), z[:, 0].detach().cpu()
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        (sum((s**2).sum() for s in ends) + (z**3).sum()).backward()
        np.testing.assert_allclose(found[k].cpu(), alone.grad.cpu(), rtol=1e-9, atol=1e-11)
    for a, p in zip(weights, layer.parameters(), strict=True):
        np.testing.assert_allclose(a.cpu(), p.grad.cpu(), rtol=1e-9, atol=1e-11)


def test_large_values():
    """No warning, no NaN: gates are 0 or 1 there."""
    layer = nn.LSTM(2, 3)
    x = (T.ones(4, 2, 2) * 1e4).requires_grad_()
    with nb.errstate(over="raise", divide="raise", invalid="raise"):
        y, _ = layer(-x)
        y.sum().backward()
    assert np.isfinite(y.detach().cpu().numpy()).all() and np.isfinite(x.grad.cpu().numpy()).all()
