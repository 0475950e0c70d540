"""nn.utils.prune and parametrizations.orthogonal; the numbers are PyTorch 2.15's."""

import numpy
import pytest
from numbus import nn
from numbus import tensors as torch
from numbus.nn.utils import prune
from numbus.nn.utils.parametrizations import orthogonal


def filled(module):
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.sin(torch.arange(p.numel()).float() * 1.7 + 0.3).reshape(p.shape))
    return module


def test_methods_one_after_the_other():
    l = filled(nn.Linear(4, 3))
    whole = l.weight.detach().clone()
    assert prune.l1_unstructured(l, "weight", 0.4) is l
    assert list(l.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert prune.is_pruned(l) and prune.is_pruned(nn.Sequential(l))
    assert torch.equal(l.weight, whole * l.weight_mask) and int(l.weight_mask.sum()) == 7
    assert (whole * l.weight_mask).abs().sum() > (whole * (1 - l.weight_mask)).abs().sum()
    prune.ln_structured(l, "weight", 1, 2, 0)
    assert sorted(l.weight_mask.sum(1).tolist())[0] == 0
    prune.random_unstructured(l, "weight", 2)
    ((hook, _keywords),) = l._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 3
    l(torch.ones(2, 4)).sum().backward()
    assert torch.equal(l.weight_orig.grad, 2 * l.weight_mask)
    with torch.no_grad():
        l.weight_orig.mul_(2)
    expected = torch.ones(1, 4) @ (2 * whole * l.weight_mask).T + l.bias
    assert torch.allclose(l(torch.ones(1, 4)), expected)
    prune.remove(l, "weight")
    assert sorted(l.state_dict()) == ["bias", "weight"] and not prune.is_pruned(l)
    assert torch.allclose(l(torch.ones(1, 4)), expected)


def test_several_parameters_and_channels():
    s = filled(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    prune.custom_from_mask(s[0], "bias", torch.tensor([1, 0, 1, 0]))
    pairs = [(s[0], "weight"), (s[2], "weight"), (s[0], "bias")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.3)
    left = sum(int(getattr(m, n + "_mask").sum()) for m, n in pairs)
    assert left == 22 - round(22 * 0.3) and s[0].bias_mask[1] == 0
    c = filled(nn.Conv2d(2, 4, 3))
    prune.ln_structured(c, "weight", 0.5, 1, 1)
    assert sorted((c.weight_mask.sum((0, 2, 3))).tolist()) == [0, 36]
    prune.random_structured(c, "weight", 0.5, 0)
    assert int(c.weight_mask.sum()) == 18
    prune.identity(c, "bias")
    assert torch.equal(c.bias, c.bias_orig)


def test_what_is_refused():
    l = nn.Linear(4, 3)
    for amount in (1.5, -1, 13):
        with pytest.raises(ValueError, match="amount"):
            prune.l1_unstructured(l, "weight", amount)
    with pytest.raises(TypeError, match="amount"):
        prune.l1_unstructured(l, "weight", "a")
    with pytest.raises(ValueError, match="not pruned"):
        prune.remove(l, "weight")
    with pytest.raises(ValueError, match="channels"):
        prune.ln_structured(l, "bias", 1, 2, 0)
    assert sorted(l.state_dict()) == ["bias", "weight"] and not prune.is_pruned(l)


@pytest.mark.parametrize("way", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("n, k", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal(way, n, k):
    l = orthogonal(nn.Linear(k, n, bias=False), "weight", way)
    assert list(l.state_dict()) == [
        "parametrizations.weight.original", "parametrizations.weight.0.base"
    ]  # fmt: skip
    for _ in range(2):
        w = l.weight
        gram = w.mT @ w if n >= k else w @ w.mT
        numpy.testing.assert_allclose(gram.tolist(), numpy.eye(min(n, k)), atol=2e-6)
        (w**2 * torch.arange(n * k).reshape(n, k)).sum().backward()
        with torch.no_grad():
            p = l.parametrizations.weight.original
            p -= 0.1 * p.grad
            p.grad = None


def test_values_of_orthogonal():
    l = orthogonal(nn.Linear(3, 4, bias=False))
    with torch.no_grad():
        l.parametrizations.weight[0].base.copy_(torch.eye(4))
        p = l.parametrizations.weight.original
        p.copy_(torch.sin(torch.arange(12).float()).reshape(4, 3))
        p.fill_diagonal_(1)
    w = l.weight
    (w**2 * torch.arange(12).reshape(4, 3)).sum().backward()
    for got, expected in ((w, WEIGHT), (p.grad, SLOPES)):
        numpy.testing.assert_allclose(got.detach().tolist(), expected, atol=2e-4)


def test_names_of_grad_fn():
    x = torch.ones(2, 2, requires_grad=True)
    for made, name in ((x + 1, "AddBackward0"), (x * 2, "MulBackward0"), (x @ x, "MmBackward0")):
        assert type(made.grad_fn).__name__ == made.grad_fn.name() == name


WEIGHT = [
    [-0.5775, -0.7096, -0.3852],
    [-0.2226, -0.2578, 0.5755],
    [0.4408, -0.5623, 0.5214],
    [-0.6501, 0.3374, 0.4986],
]
SLOPES = [
    [0.0, 0.0, 0.0],
    [-0.9212, 0.0, 0.0],
    [0.2398, 1.8961, 0.0],
    [-0.0979, 3.4322, -4.5127],
]
