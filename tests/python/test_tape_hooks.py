"""What hooks of tensors see, keep and return in a backward pass: what PyTorch gives."""

import gc

import numbus.tensors as torch
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus]


@pytest.fixture(autouse=True)
def no_circles():  # of tensors and the hooks that name them
    yield
    gc.collect()


def pair(*values):
    return torch.tensor(values, requires_grad=True)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("way", ["backward", "inputs", "grad", "middle", "after"])
def test_hooks_record_only_what_is_asked_for(way, create_graph):
    y, w, seen = pair(1.0, 2.0), pair(3.0, 4.0), []
    product = y * w

    def hook(g):
        seen.append(torch.is_grad_enabled())
        return g * y

    if way == "after":
        y.register_post_accumulate_grad_hook(lambda p: seen.append(torch.is_grad_enabled()))
    else:
        (product if way == "middle" else y).register_hook(hook)
    loss = (product * product).sum()
    if way == "grad":
        (g,) = torch.autograd.grad(loss, [y], create_graph=create_graph)
    else:
        loss.backward(create_graph=create_graph, inputs=[y] if way == "inputs" else None)
        g = y.grad
    assert g.tolist() == ([18, 64] if way == "after" else [18, 128])
    assert g.requires_grad == create_graph and seen == [create_graph]
    assert torch.is_grad_enabled()
    y.grad = None  # else the derivative's graph, its hook and the tensor hold each other


def test_steps_in_hooks_after_accumulation():
    y = pair(1.0, 2.0)
    y.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.25))
    (y * y).sum().backward()
    assert y.tolist() == [0.5, 1.0] and y.requires_grad


def test_hooks_that_record_by_themselves():
    y = pair(1.0, 2.0)

    def hook(g):
        with torch.enable_grad():
            return g * y

    y.register_hook(hook)
    (y * y).sum().backward()
    assert y.grad.tolist() == [2, 8] and not y.grad.requires_grad


@pytest.mark.parametrize("leaf", [True, False])
def test_what_hooks_keep_stays_as_it_is(leaf):
    y, kept = pair(1.0, 2.0), []
    if leaf:
        y.register_hook(kept.append)
    for _ in range(2):
        z = y * 1
        if not leaf:
            z.register_hook(kept.append)
        (z * z).sum().backward()
    assert y.grad.tolist() == [4, 8]
    y.grad.zero_()
    assert [g.tolist() for g in kept] == [[2, 4], [2, 4]]


def test_what_hooks_return_stays_as_it_is():
    u = torch.tensor([9.0, 9.0])
    a, b = pair(1.0, 2.0), pair(1.0, 2.0)
    for t in (a, b):
        t.register_hook(lambda g: u)
    for _ in range(2):
        (a + b).sum().backward()
    a.grad.mul_(2)
    assert a.grad.tolist() == [36, 36] and b.grad.tolist() == [18, 18] and u.tolist() == [9, 9]
    y = pair(1.0, 2.0)
    y.register_hook(lambda g: y)
    (y * y).sum().backward()
    y.grad.zero_()
    assert y.tolist() == [1, 2]


def test_products_of_tensors_and_arrays():
    t, a = torch.arange(4).reshape(2, 2), np.arange(4.0).reshape(2, 2)
    for array in (a, a[0], a.astype("f4"), a.astype("i8")):
        for dtype in (torch.int64, torch.float32, torch.complex64):
            found = t.to(dtype) @ array
            want = t.to(dtype).cpu().numpy() @ array
            assert found.tolist() == want.tolist() and found.cpu().numpy().dtype == want.dtype
    x = torch.ones(2, 2)
    x @= a
    assert x.tolist() == [[2, 4], [2, 4]]
    with pytest.raises(RuntimeError, match="requires a gradient"):
        torch.ones(2, 2, requires_grad=True) @ a
    with pytest.raises(ValueError):
        t @ np.ones((3, 2))
    with pytest.raises(TypeError):
        t @ [[1, 2], [3, 4]]


def test_types_of_differences():
    coordinates = torch.tensor([0.0, 1.0, 3.0, 4.0, 6.0])
    for name, plain, spaced in (
        ("int64", "float32", "float32"), ("int32", "float32", "float32"),
        ("float16", "float16", "float32"), ("float64", "float64", "float64"),
        ("complex64", "complex64", "complex64"),
    ):  # fmt: skip
        x = torch.arange(5).to(getattr(torch, name))
        (g,) = torch.gradient(x)
        assert g.dtype is getattr(torch, plain) and g.tolist() == [1] * 5
        (g,) = torch.gradient(x, spacing=(coordinates,))
        assert g.dtype is getattr(torch, spaced)
    for name in ("uint8", "bool"):
        with pytest.raises(RuntimeError, match="without a sign"):
            torch.gradient(torch.arange(5).to(getattr(torch, name)))
