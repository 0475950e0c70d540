"""torch.func: what its results depend on besides their arguments."""

import pytest
from numbus import nn, optim
from numbus import tensors as torch
from numbus.compat.torch import func

pytestmark = [pytest.mark.numbus]


def _net():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.1 - 0.2 * k)
    return net


POINTS = torch.linspace(-1, 1, 6).reshape(3, 2)


def _value(net, x):
    return net(x).squeeze()


def _by_hand(net, points, order):
    """First or second derivatives at points, by autograd.grad."""
    rows = []
    for k in range(len(points)):
        x = points[k].clone().requires_grad_()
        (g,) = torch.autograd.grad(_value(net, x), [x], create_graph=True)
        if order == 2:
            g = torch.stack(
                [torch.autograd.grad(g[n], [x], create_graph=True)[0] for n in range(2)]
            )
        rows.append(g)
    return torch.stack(rows)


CASES = {
    "grad": (1, lambda f: lambda xs: torch.stack([func.grad(f)(x) for x in xs])),
    "value": (1, lambda f: lambda xs: torch.stack([func.grad_and_value(f)(x)[0] for x in xs])),
    "vmap of grad": (1, lambda f: func.vmap(func.grad(f))),
    "jacrev": (1, lambda f: func.vmap(func.jacrev(f))),
    "jacfwd": (1, lambda f: func.vmap(func.jacfwd(f))),
    "vjp": (1, lambda f: func.vmap(lambda x: func.vjp(f, x)[1](torch.tensor(1.0))[0])),
    "jvp": (1, lambda f: func.vmap(lambda x: torch.stack(
        [func.jvp(f, (x,), (e,))[1] for e in torch.eye(2)]))),
    "hessian": (2, lambda f: func.vmap(func.hessian(f))),
    "jacfwd of jacrev": (2, lambda f: func.vmap(func.jacfwd(func.jacrev(f)))),
    "grad of grad": (2, lambda f: func.vmap(lambda x: torch.stack(
        [func.grad(lambda x, n=n: func.grad(f)(x)[n])(x) for n in range(2)]))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_depend_on_parameters(name):
    order, made = CASES[name]
    net, other = _net(), _net()
    found = made(lambda x: _value(net, x))(POINTS)
    wanted = _by_hand(other, POINTS, order)
    assert found.requires_grad and torch.allclose(found, wanted, atol=1e-6)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    for p, q in zip(net.parameters(), other.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        assert p.grad is None or torch.allclose(p.grad, q.grad, atol=1e-5)
    with torch.no_grad():
        assert not made(lambda x: _value(net, x))(POINTS).requires_grad
    for p in net.parameters():
        p.requires_grad_(False)
    assert not made(lambda x: _value(net, x))(POINTS).requires_grad


def test_what_is_constant_comes_out_so():
    net, x = _net(), torch.tensor([0.5, 2.0])
    weight = net[0].weight
    assert not func.grad(lambda x: (weight.detach() @ x).sin().sum())(x).requires_grad
    found, (value, aux) = func.grad_and_value(lambda x: ((x**3).sum(), net(x)), has_aux=True)(x)
    assert not found.requires_grad and not value.requires_grad and aux.requires_grad
    found, value = func.grad_and_value(lambda x: (x**3).sum() + weight.sum())(x)
    assert not found.requires_grad and value.requires_grad
    params = {name: p.detach() for name, p in net.named_parameters()}
    made = func.grad(lambda p: func.functional_call(net, p, (x,)).sum())(params)
    assert not any(g.requires_grad for g in made.values())
    made = func.grad(lambda p: func.functional_call(net, p, (x,)).sum())(
        dict(net.named_parameters())
    )
    assert made["0.weight"].requires_grad and not made["2.bias"].requires_grad


def test_functions_around_closures():
    w, three = torch.tensor(2.0), torch.tensor(3.0)
    inner = [func.grad, func.jacrev, func.jacfwd]
    for by in inner:
        for around in inner:
            assert around(lambda w: by(lambda x: w * x * x)(three))(w).item() == 6  # noqa: B023
        assert func.jvp(lambda w: by(lambda x: w * x * x)(three), (w,), (w,))[1].item() == 12  # noqa: B023


def test_a_derivative_by_a_result_has_derivatives():
    w = torch.tensor([2.0], requires_grad=True)
    for between in (lambda x: x.clone(), lambda x: x * 1, lambda x: x):
        x = torch.tensor([3.0], requires_grad=True)
        z = between(x)
        (g,) = torch.autograd.grad((w * z**3).sum(), [z], create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), [x], create_graph=True)
        (third,) = torch.autograd.grad(h.sum(), [x], create_graph=True)
        (by_w,) = torch.autograd.grad(h.sum(), [w])
        assert h.item() == 36 and third.item() == 12 and by_w.item() == 18
        kept = []
        z = between(x)
        z.register_hook(kept.append)
        (w * z**3).sum().backward(create_graph=True)
        (twice,) = torch.autograd.grad(x.grad.sum(), [w])
        assert kept[0].item() == 54 and twice.item() == 27


def test_a_net_of_derivatives_trains():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = optim.Adam(net.parameters(), 1e-2)
    points = torch.linspace(0, 1, 16).reshape(16, 1)
    losses = []
    for _ in range(60):
        opt.zero_grad()
        u_x = func.vmap(func.grad(lambda x: _value(net, x)))(points)
        loss = ((u_x - 1) ** 2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]


@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequences_in_segments(segments):
    from numbus.compat.torch.utils.checkpoint import checkpoint_sequential

    torch.manual_seed(0)
    net = nn.Sequential(*[part for _ in range(3) for part in (nn.Linear(3, 3), nn.Tanh())])
    x = torch.ones(2, 3, requires_grad=True)
    plain = net(x)
    wanted = torch.autograd.grad(plain.sum(), [x, *net.parameters()])
    found = checkpoint_sequential(net, segments, x, use_reentrant=False)
    assert torch.equal(found, plain)
    found.sum().backward()
    for t, g in zip([x, *net.parameters()], wanted, strict=True):
        assert torch.allclose(t.grad, g)
    with pytest.raises(ValueError, match="segments"):
        checkpoint_sequential(net, 7, x)


X = torch.arange(3.0)
C = torch.ones(2)
TREE = {"w": torch.arange(2.0), "b": torch.tensor([3.0])}
NOTHING, SQUARE = [[0.0] * 3] * 2, [[0.0] * 3] * 3
# What PyTorch 2.15 gives.
WHOLE = {
    "grad of a constant": (lambda: func.grad(lambda x: C.sum())(X), [0.0] * 3),
    "jacrev of a constant": (lambda: func.jacrev(lambda x: C * 2)(X), NOTHING),
    "jacfwd of a constant": (lambda: func.jacfwd(lambda x: C * 2)(X), NOTHING),
    "hessian of what is linear": (lambda: func.hessian(lambda x: (x * 2).sum())(X), SQUARE),
    "jacrev of nothing": (lambda: func.jacrev(lambda x: x[:0])(X), []),
    "jacrev of trees": (
        lambda: func.jacrev(lambda p: (p["w"] * p["b"], {"c": p["b"]}))(TREE),
        ({"w": [[3.0, 0.0], [0.0, 3.0]], "b": [[0.0], [1.0]]},
         {"c": {"w": [[0.0, 0.0]], "b": [[1.0]]}}),
    ),
    "jacrev by two": (
        lambda: func.jacrev(lambda a, b: a * b[0], argnums=(0, 1))(C, C * 3),
        ([[3.0, 0.0], [0.0, 3.0]], [[1.0, 0.0], [1.0, 0.0]]),
    ),
    "hessian by two": (
        lambda: func.hessian(lambda a, b: (a * b * b).sum(), argnums=(0, 1))(C, C * 3),
        (([[0.0] * 2] * 2, [[6.0, 0.0], [0.0, 6.0]]),
         ([[6.0, 0.0], [0.0, 6.0]], [[2.0, 0.0], [0.0, 2.0]])),
    ),
    "jacrev with more": (
        lambda: func.jacrev(lambda x: (x[:1] * 2, x), has_aux=True)(X),
        ([[2.0, 0.0, 0.0]], [0.0, 1.0, 2.0]),
    ),
    "vjp of trees": (
        lambda: func.vjp(lambda p, q: {"u": p["w"] * q, "v": p["b"]}, TREE, torch.tensor(2.0))[1](
            {"u": torch.ones(2), "v": torch.ones(1)}
        ),
        ({"w": [2.0, 2.0], "b": [1.0]}, 1.0),
    ),
    "vjp of a constant": (lambda: func.vjp(lambda x: C * 2, X)[1](C), ([0.0] * 3,)),
    "vjp of one of two": (lambda: func.vjp(lambda x: (C, x * x), X)[1]((C, X)), ([0.0, 2.0, 8.0],)),
    "vjp with more": (lambda: func.vjp(lambda x: (x, [x * 2, 5]), X, has_aux=True)[2],
                      [[0.0, 2.0, 4.0], 5]),
    "jvp of a constant": (lambda: func.jvp(lambda x: C, (X,), (X,)), ([1.0] * 2, [0.0] * 2)),
    "jvp with more": (lambda: func.jvp(lambda x: (x * 2, C), (X,), (X,), has_aux=True),
                      ([0.0, 2.0, 4.0], [0.0, 2.0, 4.0], [1.0, 1.0])),
    "linearize": (lambda: func.linearize(lambda x: x * x, X)[1](C[:1] * torch.ones(3)),
                  [0.0, 2.0, 4.0]),
    "vmap of hessian": (
        lambda: func.vmap(func.hessian(lambda x: (x**3).sum()))(X.reshape(3, 1)),
        [[[0.0]], [[6.0]], [[12.0]]],
    ),
}  # fmt: skip


def listed(tree):
    if torch.is_tensor(tree):
        return tree.tolist()
    if isinstance(tree, dict):
        return {key: listed(value) for key, value in tree.items()}
    return type(tree)(map(listed, tree)) if isinstance(tree, (tuple, list)) else tree


@pytest.mark.parametrize("case", WHOLE)
def test_trees_and_what_does_not_depend(case):
    find, want = WHOLE[case]
    found = find()
    assert listed(found) == want


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: func.grad(lambda x: 3.0)(X), RuntimeError),
        (lambda: func.grad(lambda x: x)(X), RuntimeError),
        (lambda: func.grad(lambda x: x.sum(), argnums=1)(X), RuntimeError),
        (lambda: func.grad(lambda x: [x.sum(), 1], has_aux=True)(X), RuntimeError),
        (lambda: func.jacrev(lambda x: x, argnums=(0, 0))(X), RuntimeError),
        (lambda: func.jacrev(lambda x: x, chunk_size=0)(X), ValueError),
        (lambda: func.jacrev(lambda x: x.argmax())(X), RuntimeError),
        (lambda: func.jacrev(lambda x: x)(X + 1j), RuntimeError),
        (lambda: func.vjp(lambda x: x > 1, X), RuntimeError),
        (lambda: func.vjp(lambda x: x, X)[1](C), RuntimeError),
        (lambda: func.vjp(lambda x: (x, x), X)[1](X), RuntimeError),
        (lambda: func.jvp(lambda x: x, X, X), RuntimeError),
        (lambda: func.jvp(lambda x: x, (X,), (C,)), RuntimeError),
        (lambda: func.jvp(lambda x: C, (X,), (X,), strict=True), RuntimeError),
    ],
)
def test_wrong_arguments(call, kind):
    with pytest.raises(kind, match=r"^\["):
        call()
