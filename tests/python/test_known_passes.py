"""Backward passes that are recorded again for a tape like one that was passed before: the same
gradients as on the host, whatever the program changes from one step to the next."""

import os
import random

import numbus as nb
import numpy as np
import pytest
from numbus import _core, nn, optim
from numbus import tensors as torch
from numbus.nn import functional as F

APART = "cuda" if os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda") else "fenced"


def answers_of(program):
    """What a program gives, as arrays of NumPy, and how many passes asked no rule."""
    before = _core.known_passes()
    return [np.asarray(x.cpu().numpy()) for x in program()], _core.known_passes() - before


def check(program, known=None):
    """program(device) gives tensors: the same on the host and apart from it."""
    want, none = answers_of(lambda: program("cpu"))
    got, answers = answers_of(lambda: program(APART))
    assert none == 0
    assert known is None or answers == known
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6)


def leaf(device, *shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape, dtype="f4")
    return torch.from_numpy(values).to(device).requires_grad_()


def test_equal_steps_ask_no_rule_from_the_third_on():
    def program(device):
        torch.manual_seed(3)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)
        )
        rng = np.random.default_rng(0)
        for p in net.parameters():
            p.data.copy_(torch.from_numpy(rng.standard_normal(tuple(p.shape), dtype="f4")))
        net = net.to(device)
        x = torch.from_numpy(rng.standard_normal((6, 1, 8, 8), dtype="f4")).to(device)
        t = torch.from_numpy(np.arange(6) % 5).to(device)
        step = optim.Adam(net.parameters(), lr=0.01)
        seen = []
        for _ in range(6):
            step.zero_grad()
            loss = F.cross_entropy(net(x), t)
            loss.backward()
            seen += [loss.detach().clone(), *(p.grad.clone() for p in net.parameters())]
            step.step()
        return seen

    check(program, known=4)


def test_what_waits_on_another_device_is_none_of_it():
    kept = (leaf("cpu", 4).exp() * leaf("cpu", 4, seed=1)).sum()

    def program(device):
        a, b = leaf(device, 5), leaf(device, 5, seed=1)
        seen = []
        for _ in range(8):
            a.grad = b.grad = None
            (torch.exp(a) * b).sum().backward()
            seen += [a.grad, b.grad]
        return seen

    check(program)
    assert answers_of(lambda: program(APART))[1] >= 3
    kept.backward()


def test_models_of_one_architecture_have_their_passes_in_common():
    def program(device):
        seen = []
        for seed in range(8):
            torch.manual_seed(seed)
            net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).to(device)
            x = leaf(device, 5, 4, seed=seed).detach()
            for _ in range(3):
                net.zero_grad()
                (net(x) ** 2).sum().backward()
            seen += [p.grad for p in net.parameters()]
        return seen

    check(program)
    assert answers_of(lambda: program(APART))[1] >= 18


def test_what_requires_a_gradient_may_change():
    def program(device):
        a, b = leaf(device, 5), leaf(device, 5, seed=1)
        seen = []
        for k in range(12):
            b.requires_grad_(k % 4 < 2)
            a.grad = b.grad = None
            (torch.exp(a) * b).sum().backward()
            seen += [a.grad] + ([b.grad] if b.grad is not None else [])
        return seen

    check(program)


def test_numbers_and_extents_may_change():
    def program(device):
        seen = []
        for k in range(12):
            a = leaf(device, 3 + k % 3, seed=k)
            ((a * (1.5 + k % 2)) ** 2).sum().backward()
            seen.append(a.grad)
        return seen

    check(program)


def test_leaves_are_told_apart():
    """The same memory with one leaf, several, or none; the leaf's own hooks; other leaves."""

    def program(device):
        a, b = leaf(device, 4), leaf(device, 4, seed=1)
        seen, handle = [], None
        for k in range(12):
            x, y = (a, b) if k % 3 else (b, a)
            if k == 5:
                handle = a.register_hook(lambda g: g * 3)
            if k == 9:
                handle.remove()
            x.grad = y.grad = None
            (torch.sin(x) * y.detach() if k % 2 else torch.sin(x) * y).sum().backward()
            seen += [t.grad for t in (a, b) if t.grad is not None]
        return seen

    check(program)


def test_saved_values_that_are_overwritten():
    def program(device):
        a = leaf(device, 6)
        seen = []
        for _ in range(5):
            a.grad = None
            x = a * 2
            y = torch.exp(x)
            z = y.sum()
            x += 1  # exp keeps its result, not x
            z.backward()
            seen.append(a.grad)
            a.grad = None
            w = torch.from_numpy(np.arange(6, dtype="f4")).to(device)
            p = (a * w).sum()
            w.data[...] = 7  # seen by nobody: the derivative has the values as they were
            q = p * 2
            q.backward()
            seen.append(a.grad)
        return seen

    check(program)


def test_gradients_add_up_and_graphs_are_kept():
    def program(device):
        a = leaf(device, 3, 4)
        seen = []
        for k in range(9):
            loss = torch.tanh(a @ a.T).mean()
            loss.backward(retain_graph=k % 3 == 1)
            if k % 3 == 1:
                loss.backward()
            with pytest.raises(RuntimeError, match="let go"):
                loss.backward()
            seen.append(a.grad.clone())
        return seen

    check(program)


def test_what_else_is_on_the_tape():
    """Results of other nets, which are differentiated later, or not at all."""

    def program(device):
        a, b = leaf(device, 4), leaf(device, 4, seed=2)
        seen, kept = [], []
        for k in range(10):
            a.grad = b.grad = None
            other = torch.cos(b).sum()
            if k % 4 == 3:
                kept.append(other)
            (a * a).sum().backward()
            other.backward()
            seen += [a.grad, b.grad]
        return seen

    check(program)


def test_errors_of_passes_that_are_known():
    """The memory of what a pass reads has been let go."""
    for device in ("cpu", APART):
        a = leaf(device, 4)
        for _ in range(4):
            x = torch.exp(a)
            (x * 2).sum().backward()
            with pytest.raises(RuntimeError, match="let go"):
                (x * 2).sum().backward()


@pytest.mark.parametrize("seed", range(40))
def test_random_steps(seed):
    """Expressions of few leaves, one after another, each drawn from a few."""

    def program(device):
        draw = random.Random(seed)
        leaves = [leaf(device, 4, 4, seed=k) for k in range(3)]
        unary = [
            torch.tanh,
            torch.exp,
            torch.relu,
            lambda x: x.T,
            lambda x: x[1:3].sum(0, keepdim=True) + x,
            lambda x: x.reshape(2, 8).reshape(4, 4),
            lambda x: x.detach(),
        ]
        binary = [torch.mul, torch.add, torch.matmul, torch.maximum, torch.sub]
        plans = []
        for _ in range(3):
            plan = []
            for _ in range(draw.randint(1, 7)):
                if draw.random() < 0.5:
                    plan.append((draw.randrange(7), draw.randrange(9), None))
                else:
                    plan.append((draw.randrange(5), draw.randrange(9), draw.randrange(9)))
            plans.append(plan)
        seen = []
        for _ in range(14):
            values = list(leaves)
            for f, x, y in draw.choice(plans):
                x = values[x % len(values)]
                made = unary[f](x) if y is None else binary[f](x, values[y % len(values)])
                values.append(made / 4)
            if draw.random() < 0.2:
                draw.choice(leaves).requires_grad_(False)
            if draw.random() < 0.7:
                for t in leaves:
                    t.grad = None
            loss = (values[-1] * values[-1]).mean()
            if loss.requires_grad:
                loss.backward()
            for t in leaves:
                t.requires_grad_()
            seen += [t.grad.clone() for t in leaves if t.grad is not None]
            with torch.no_grad():
                for t in leaves:
                    if t.grad is not None:
                        t -= 0.01 * t.grad
        return seen

    check(program)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("wrong", [5, -1])
def test_a_wrong_index_of_an_embedding_spoils_its_step_alone(late, wrong):
    def gradients(bad):
        table = nn.Embedding(5, 3)
        table.weight.data.copy_(torch.from_numpy(np.arange(15, dtype="f4").reshape(5, 3)))
        table = table.to(APART)
        seen = []
        for step in range(6):
            at = np.array([0, 4, 4, 1, 2, 4])
            at[2] = wrong if bad and step == 3 else 4
            table.weight.grad = None
            y = table(torch.from_numpy(at).to(APART))
            (y * y).sum().backward()
            try:
                seen.append(table.weight.grad.cpu().numpy().tolist())
            except IndexError as error:
                seen.append(str(error).partition(";")[0])
        return seen

    _core.set_late_checks(late)
    try:
        right, found = gradients(False), gradients(True)
        if late and APART == "fenced":  # the rows that were looked up are read by nobody
            with pytest.raises(IndexError, match="out of bounds"):
                nb.synchronize()
    finally:
        _core.set_late_checks(False)
    assert "out of bounds" in found[3]
    assert found[:3] == right[:3] and found[4:] == right[4:]
