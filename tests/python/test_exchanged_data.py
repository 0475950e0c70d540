"""Leaves that are given other memory by `.data =` while the tape still has derivatives by what they
had: these are theirs, as they were when they were read.
"""

import gc

import numbus.tensors as torch
import pytest
from numbus import _core, nn, optim
from numbus.tensors import _tensor, autograd

pytestmark = [pytest.mark.numbus]


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    gc.collect()
    _core.tape_drop_circles()
    _tensor.forget_former()
    assert not _tensor._former


def leaf(*values):
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_other_elements_before_backward():
    x = leaf(1, 2, 3)
    y = x * 2
    x.data = torch.zeros(3)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and x.tolist() == [0, 0, 0]
    x = leaf(0, 0)
    y = x * 1
    x.data = torch.ones(2)
    (y * x).sum().backward()
    assert x.grad.tolist() == [1, 1]
    (x * x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_elements_that_come_back():
    x = leaf(1, 2)
    y, before = x * x, x.data
    x.data = torch.ones(2) * 5
    z = x * x
    x.data = before
    (y + z + x).sum().backward()
    assert x.tolist() == [1, 2] and before.tolist() == [1, 2]
    assert x.grad.tolist() == [13, 15]


def test_several_in_turn():
    x = leaf(1, 2)
    y = (x * x).sum()
    x.data = torch.zeros(2)
    x.data = torch.ones(2) * 7
    z = (x * x).sum()
    x.data = torch.ones(2)
    autograd.backward([y, z])
    assert x.grad.tolist() == [16, 18]


def test_second_derivatives():
    x = leaf(1, 2)
    y = x * x
    x.data = torch.ones(2) * 5
    (g,) = autograd.grad((y * x).sum(), x, create_graph=True)
    assert g.tolist() == [11, 24]
    assert autograd.grad(g.sum(), x)[0].tolist() == [14, 18]


def test_views_and_hooks():
    x = leaf(1, 2, 3, 4)
    calls = []
    x.register_hook(lambda g: calls.append(1) or g * 10)
    v = x.view(2, 2)
    x.data = torch.zeros(4)
    ((v * v).sum() + x.sum()).backward()
    assert x.grad.tolist() == [30, 50, 70, 90] and len(calls) == 1


def test_weights_that_are_clamped_before_backward():
    net = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        net.weight.fill_(2.0)
    descent = optim.SGD(net.parameters(), 0.125)
    for _ in range(2):
        y = net(torch.ones(1, 2)).sum()
        net.weight.data = net.weight.data.clamp(-1, 1)
        descent.zero_grad()
        y.backward()
        descent.step()
    assert net.weight.tolist() == [[0.75, 0.75], [0.75, 0.75]]


def test_other_shapes_and_dtypes():
    x = leaf(1, 2)
    y = (x * 2).sum()
    x.data = torch.zeros(2, dtype=torch.float64)
    y.backward()
    assert x.grad.tolist() == [2, 2] and x.grad.dtype == torch.float64
    y = (x * 2).sum()
    x.data = torch.zeros(3)
    with pytest.raises(RuntimeError, match="another shape"):
        y.backward()
