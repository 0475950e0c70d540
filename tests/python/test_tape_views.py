"""Hooks and gradients of views of results, tensors that share memory, `out=` of views: what PyTorch
gives.
"""

import numbus.tensors as torch
import numpy as np
import pytest
from numbus import _core, nn, optim

pytestmark = [pytest.mark.numbus]


def line(*shape):
    n = 1
    for extent in shape:
        n *= extent
    return (torch.arange(float(n)).reshape(shape) + 1).requires_grad_()


def test_views_that_are_alone():
    w = line(4)
    y = (w * 2)[:2]
    calls = []
    y.register_hook(lambda g: calls.append(1) or g * 10)
    y.register_hook(lambda g: calls.append(2))
    y.retain_grad()
    z = y[:1]
    ((y * 2).sum() + z.sum()).backward()
    assert y.grad.tolist() == [30, 20] and w.grad.tolist() == [60, 40, 0, 0]
    assert calls == [1, 2]
    w = line(4)
    u = (w * 2).unsqueeze(0)
    u.retain_grad()
    v = u.squeeze(0)
    (v * v).sum().backward()
    assert u.grad.tolist() == [[4, 8, 12, 16]]
    w = line(4)
    y = (w * 2).view(2, 2)
    y.register_hook(lambda g: g * 2)
    y.data.mul_(3)  # the hook leaves the memory as it is
    assert y.tolist() == [[6, 12], [18, 24]]
    assert torch.autograd.grad((y * y).sum(), y)[0].tolist() == [[24, 48], [72, 96]]


VIEWS = [lambda x: x[:2], lambda x: x.view(2, 2), lambda x: x.T, lambda x: x.chunk(2)[0]]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("of_leaf", [False, True])
def test_views_are_told_apart(view, of_leaf):
    w = line(4)
    x = w if of_leaf else w * 2
    y, others = view(x), view(x)
    total = (y * 3).sum() + (others * 5).sum() + (x * 7).sum() + (view(y.T)[0] * 11).sum()
    part = torch.autograd.grad(total, y, retain_graph=True)[0]
    whole = torch.autograd.grad(total, x, retain_graph=True)[0]
    y.retain_grad()  # after it was used
    seen = []
    others.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    total.backward()
    assert torch.equal(y.grad, part) and part.sum() == 3 * y.numel() + 11 * view(y.T)[0].numel()
    assert whole.sum() == part.sum() + 5 * others.numel() + 28
    assert seen[0].unique().tolist() == [5]
    assert w.grad.sum() == (whole.sum() + 5 * others.numel()) * (1 if of_leaf else 2)


def test_views_of_views_and_their_hooks():
    x = line(4)
    v = x.view(2, 2)
    v.register_hook(lambda g: g * 2)
    w = v[0]
    w.register_hook(lambda g: g * 3)
    ((w * w).sum() + v.sum() + x.sum()).backward()
    assert x.grad.tolist() == [15, 27, 3, 3]
    x = line(4)
    v = x.view(2, 2)
    w = v[0]
    total = (w * w).sum() + v.sum()
    found = torch.autograd.grad(total, [w, v, x])
    assert [g.tolist() for g in found] == [[2, 4], [[3, 5], [1, 1]], [3, 5, 1, 1]]


def test_functions_that_read_views():
    lin = nn.Linear(4, 4)
    x = torch.arange(8.0).reshape(2, 4).requires_grad_()
    for read in (
        lambda v: lin(v).relu().sum(),
        lambda v: torch.softmax(v, -1).square().sum(),
        lambda v: (v + torch.ones(3, 1, 4)).prod(),
        lambda v: v[:, [0, 0, 3]].sum() + v[v > 0].sum(),
        lambda v: torch.einsum("ij,kj->", v, v),
        lambda v: torch.cat([v, v * 2]).sort(0)[0][1].sum() + torch.stack([v, v])[1].mean(),
        lambda v: nn.functional.conv1d(v[None], torch.ones(2, 1, 3)).sum(),
        lambda v: torch.linalg.norm(v @ v.T + 1),
        lambda v: torch.cumsum(v, 1).max() + v.std(),
    ):
        v = x[:1]
        alone = x[:1].detach().clone().requires_grad_()
        want = torch.autograd.grad(read(alone), alone)[0]
        mixed = read(v) + read(x[1:]) + x.square().sum()
        (found,) = torch.autograd.grad(mixed, v)
        assert torch.allclose(found, want)


def test_second_derivatives_by_views():
    points = torch.tensor([[0.1, 0.2], [0.3, 0.4]]).requires_grad_()
    x, y = points[:, 0:1], points[:, 1:2]
    u = (x**3 * y).sum() + torch.tanh(torch.cat([x, y], 1)).sum()
    (u_x,) = torch.autograd.grad(u, x, create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
    (u_xy,) = torch.autograd.grad(u_x.sum(), y)
    t = torch.tanh(x)
    assert torch.allclose(u_x, 3 * x**2 * y + 1 - t**2)
    assert torch.allclose(u_xx, 6 * x * y - 2 * t * (1 - t**2))
    assert torch.allclose(u_xy, 3 * x**2)


def test_hooks_of_views_live_as_long_as_they_are_needed():
    w, seen = line(4), []

    def part(k):
        v = w[:2]
        v.register_hook(lambda g: seen.append(k) or g * 2)
        return (v * 3).sum()  # the tensor itself goes

    kept = w[2:]  # used again and again
    kept.register_hook(lambda g: seen.append("kept"))
    for k in range(200):
        (part(k) + kept.sum()).backward()
        w[:1], w[1:]  # views that nobody uses
    assert seen.count("kept") == 200 and [k for k in seen if k != "kept"] == list(range(200))
    assert w.grad.tolist() == [1200, 1200, 200, 200]


def test_what_cannot_be_told_apart():
    w = line(4)
    y = w[:, None].expand(4, 3)  # of which elements are shown more than once
    with pytest.raises(NotImplementedError, match="not yet told apart"):
        torch.autograd.grad((y * 3).sum(), y)
    x = w * 2
    y = x[:2]
    x.mul_(3)
    for ask in (y.retain_grad, lambda: y.register_hook(lambda g: None)):
        with pytest.raises(NotImplementedError, match="changed in place later"):
            ask()
    x = w * 2
    y = x[:2]
    total = (y * y).sum()
    y.retain_grad()
    x.mul_(3)
    with pytest.raises(NotImplementedError, match="changed in place later"):
        total.backward()


def test_hooks_are_called_on_the_way_alone():
    def made():
        x = line(3)
        h = x * 2
        y = h * 3
        h.retain_grad()
        return x, h, y, (y * y).sum()

    x, h, y, z = made()
    torch.autograd.grad(z, y, retain_graph=True)
    assert h.grad is None
    torch.autograd.grad(z, x)
    assert h.grad.tolist() == [36, 72, 108]
    x, h, y, z = made()
    z.backward(inputs=[y])
    assert h.grad is None and x.grad is None and y.grad.tolist() == [12, 24, 36]
    x, h, y, z = made()
    other = line(3)
    torch.autograd.grad((other * h).sum() + z, other)
    assert h.grad is None
    x = line(4)
    v = x[:2]
    ((v * v).sum() + x.sum()).backward(inputs=[v])
    assert v.grad.tolist() == [2, 4] and x.grad is None


def test_derivatives_lie_in_memory_of_their_own():
    x = line(3)
    a, b = x * 2, x * 3
    a.retain_grad()
    b.retain_grad()
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1, 1, 1] and x.grad.tolist() == [5, 5, 5]
    x = line(4)
    a, b = x[:2], x[2:]
    one, two = torch.autograd.grad((a + b).sum(), [a, b])
    one.add_(5)
    assert two.tolist() == [1, 1]


def test_changes_after_retain_grad():
    x = line(2) * 2
    x.retain_grad()
    x.mul_(3)
    with pytest.raises(NotImplementedError, match="changed in place after"):
        x.sum().backward()


def test_parameters_that_share_memory():
    a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    if _core.get_device() == "fenced":
        with pytest.raises(NotImplementedError, match="cannot share memory yet"):
            b.weight.data = a.weight.data
        return
    b.weight.data = a.weight.data
    with torch.no_grad():
        a.weight.fill_(1.0)
        b.weight[0, 0] = 5.0
    x = torch.ones(1, 2)
    (a(x) + 2 * b(x)).sum().backward()
    assert a.weight.grad.tolist() == [[1, 1], [1, 1]]
    assert b.weight.grad.tolist() == [[2, 2], [2, 2]]
    optim.SGD([a.weight, b.weight], 0.5).step()
    assert a.weight.tolist() == b.weight.tolist() == [[3.5, -0.5], [-0.5, -0.5]]


@pytest.mark.skipif(_core.get_device() == "fenced", reason="leaves cannot share such memory")
def test_exchanged_data():
    a, b = line(3), line(3)
    with torch.no_grad():
        b.mul_(2)
    a.data, b.data = b.data, a.data
    (a * b * b).sum().backward()
    assert a.tolist() == [2, 4, 6] and b.tolist() == [1, 2, 3]
    assert a.grad.tolist() == [1, 4, 9] and b.grad.tolist() == [4, 16, 36]


@pytest.mark.filterwarnings("ignore:.*another shape")
def test_out_of_another_size():
    b = torch.zeros(4)
    v = b[:2]
    torch.add(torch.ones(3), 1, out=v)
    assert b.tolist() == [2, 2, 2, 0] and v.tolist() == [2, 2, 2]
    b = torch.zeros(5)
    v = b[:4]
    torch.add(torch.ones(2, 2), 1, out=b)
    b[0] = 9
    assert b.tolist() == [[9, 9], [2, 2]] and v.tolist() == [9, 9, 2, 2]
    b = torch.zeros(4)
    v = b[:2]
    with pytest.raises(NotImplementedError, match="share its memory"):
        torch.add(torch.ones(8), 1, out=b)
    del v
    torch.add(torch.ones(8), 1, out=b)
    assert b.tolist() == [2] * 8


def test_attributes_that_are_not_there_name_the_line():
    t = torch.ones(2)
    assert not hasattr(t, "to_sparse_csr") and getattr(t, "nothing", 3) == 3
    with pytest.raises(AttributeError, match=r"not yet; got to_mkldnn at .*test_tape_views.py:\d+"):
        t.to_mkldnn()
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        _ = t._nothing


def test_extremes_by_name():
    found = torch.tensor([[1.0, -2.0], [3.0, 0.5]]).aminmax(dim=1)
    assert found.min.tolist() == [-2, 0.5] and found.max.tolist() == [1, 3]


def test_a_detached_tensor_depends_on_what_is_written_to_it():
    x, w = torch.ones(3, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)
    h = torch.tanh(x).detach()  # nobody else has its memory
    h *= w
    h.sum().backward()
    assert x.grad is None and np.allclose(w.grad.tolist(), np.tanh(1.0))
    y = torch.tanh(x)
    h = y.detach()  # y sees what is written
    h *= w
    assert y.tolist() == h.tolist()
    with pytest.raises(NotImplementedError, match=r"detach.*clone"):
        h.sum()


def test_views_made_while_later_entries_go():
    x = line(3)
    first, second = x.exp(), x.exp()
    v = line(4)
    a, b = v[:2], v[2:]
    del second  # the number of its entry is given once more
    del first
    one, two = torch.autograd.grad((a * 2 + b).sum(), [a, b])
    assert one.tolist() == [2, 2] and two.tolist() == [1, 1]


def test_detach_in_place_and_views():
    y = torch.exp(torch.zeros(3, requires_grad=True))
    v = y[None]
    y.detach_()
    with torch.no_grad():
        y.mul_(3)
    assert v.tolist() == [[3, 3, 3]] and not y.requires_grad and v.requires_grad
    with pytest.raises(RuntimeError, match="can't detach views"):
        v.detach_()
    y = torch.exp(torch.zeros(3, requires_grad=True))
    assert not y.detach_().requires_grad and y.is_leaf


def test_flags_and_data_of_results():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="leaf variables"):
        y.requires_grad = True
    assert y.requires_grad_() is y
    with pytest.raises(NotImplementedError, match="not there yet"):
        y.data = x * 3
    assert x.flatten() is x and y.reshape(3, 1).flatten(1, 1).shape == (3, 1)


def test_gradients_that_depend_on_something_stay_so():
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward(create_graph=True)
    x.sum().backward()
    g = x.grad
    assert g.item() == 7 and g.requires_grad
    assert torch.autograd.grad(g, x)[0].item() == 2
