"""Leaves in memory that other tensors have, too: each is told apart. Values are PyTorch 2.11's."""

import os

import numpy
import pytest
from numbus import nn, optim
from numbus import tensors as torch

pytestmark = [pytest.mark.numbus]
HOST = os.environ.get("NUMBUS_DEVICE", "cpu") == "cpu"  # other memory is not shared with NumPy


@pytest.mark.parametrize(
    "part",
    [
        lambda b: b.view(2, 3), lambda b: b[1:4], lambda b: b.reshape(3, 2).T, lambda b: b[::2],
        lambda b: b.unsqueeze(0), lambda b: b.detach(), lambda b: b.data, lambda b: b[3],
        lambda b: b.chunk(2)[1], lambda b: nn.Parameter(b),
        lambda b: torch.from_numpy(b.numpy()) if HOST else b.view(6),
    ],
)  # fmt: skip
def test_what_it_is_a_part_of(part):
    b = torch.arange(6.0)
    later = b.view(6)
    s = part(b).requires_grad_()
    assert s.is_leaf and s.requires_grad and not b.requires_grad and not later.requires_grad
    assert not (b * 2).requires_grad and not b.view(3, 2).requires_grad
    (s.sum() * b.sum() + 3 * later.sum()).backward()
    assert s.grad.reshape(-1).tolist() == [15.0] * s.numel()
    assert b.grad is None and later.grad is None
    b[:] = 7  # they share their elements
    assert s.reshape(-1).tolist() == [7] * s.numel()
    with torch.no_grad():
        s.mul_(2)
    assert b.tolist().count(14) == s.numel()


def test_leaves_beside_each_other():
    b = torch.ones(2, 3)
    s, t = b[0].requires_grad_(), b[1].requires_grad_()
    descent = optim.SGD([s, t], lr=1.0)
    (s * t * 2).sum().backward()
    assert s.grad.tolist() == t.grad.tolist() == [2, 2, 2]
    descent.step()
    assert b.tolist() == [[-1, -1, -1]] * 2 and not b.requires_grad
    columns = torch.ones(3, 2)
    x, y = columns[:, 0].requires_grad_(), columns[:, 1].requires_grad_()
    (x * y * torch.arange(3.0)).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [0, 1, 2]
    columns.fill_(4)
    assert x.tolist() == y.tolist() == [4, 4, 4]


def test_leaves_over_each_other():
    b = torch.ones(4)
    s, t = b[:3].requires_grad_(), b[1:].requires_grad_()
    (s * 2 + t * 3).sum().backward()
    assert s.grad.tolist() == [2, 2, 2] and t.grad.tolist() == [3, 3, 3]
    one = torch.ones(1).expand(3).requires_grad_()
    (one * torch.arange(3.0)).sum().backward()
    assert one.grad.tolist() == [0, 1, 2]


def test_rows_in_a_loop():
    found = []
    for row in torch.arange(6.0).reshape(2, 3):
        row.requires_grad_()
        (row**2).sum().backward()
        found.append(row.grad.tolist())
    assert found == [[0, 2, 4], [6, 8, 10]]


def test_memory_of_numpy():
    a = numpy.ones(4, numpy.float32)
    s = torch.from_numpy(a).requires_grad_()
    t, u = torch.from_numpy(a), torch.as_tensor(a)
    (s * t * u).sum().backward()
    assert s.grad.tolist() == [1] * 4 and not (t * u).requires_grad


def test_writes_through_data():
    p = torch.ones(4, requires_grad=True)
    p.data.view(-1)[0] = 5
    p.detach().view(2, 2)[1, 1] = 7
    p.data[1:3].fill_(3).mul_(2)
    assert p.tolist() == [5, 6, 6, 7]
    layer = nn.Linear(3, 2)
    layer.weight.data[0, :].fill_(2)
    layer.weight.data[1].copy_(torch.arange(3.0))
    layer.weight.data.t()[0, 0] = 9
    if HOST:
        layer.weight.data[1:].numpy()[0, 0] = 8
    else:
        layer.weight.data[1:][0, 0] = 8
    assert layer.weight.tolist() == [[9, 2, 2], [8, 1, 2]]
    q = layer.bias.data.view(1, 2)
    with torch.no_grad():
        layer.bias.fill_(1)
    assert q.tolist() == [[1, 1]] and not q.requires_grad
    y = layer(torch.ones(1, 3))
    y.detach().view(-1)[0] = 100
    assert y[0, 0].item() == 100 and y.requires_grad


def test_parameters_in_one_vector():
    net = nn.Linear(3, 2)
    flat = torch.cat([p.data.view(-1) for p in net.parameters()])
    flat.zero_()
    start = 0
    for p in net.parameters():
        p.data = flat[start : start + p.numel()].view_as(p)
        start += p.numel()
    flat += 1
    net(torch.ones(1, 3)).sum().backward()
    assert [p.grad.tolist() for p in net.parameters()] == [[[1, 1, 1]] * 2, [1, 1]]
    flat -= 0.5
    assert [p.tolist() for p in net.parameters()] == [[[0.5] * 3] * 2, [0.5, 0.5]]
    optim.SGD(net.parameters(), lr=0.5).step()
    assert flat.tolist() == [0] * 8


def test_constants_beside_what_is_recorded():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y.detach()
    (z.view(3, 1) * y.view(1, 3)).sum().backward()
    assert x.grad.tolist() == [12, 12, 12]
    b = torch.ones(3)
    b[:2].requires_grad_().requires_grad_(False)
    q = torch.ones(3, requires_grad=True)
    b.mul_(q)
    b.sum().backward()
    assert q.grad.tolist() == [1, 1, 1] and b.requires_grad
