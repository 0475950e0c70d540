"""numbus.optim against 20 steps of PyTorch's optimizers, and its schedules' rates
(tests/pytorch/record.py)."""

import numpy as np
import pytest
from nn_check import TOLERANCE, close

nb = pytest.importorskip("numbus")
from inputs import load  # noqa: E402
from numbus import optim, tensors  # noqa: E402
from optim_cases import (  # noqa: E402
    CASES,
    EPOCHS,
    METRICS,
    PLATEAUS,
    SCHEDULES,
    STATES,
    STEPS,
    gradients,
    start,
)

pytestmark = pytest.mark.numbus
RECORDED = load("optim.npz")
schedulers = optim.lr_scheduler


def stepped(optimizer, params, name, dtype, steps):
    for step in steps:
        for key, g in gradients(name, step, dtype).items():
            if key in params:
                params[key].grad = tensors.tensor(g)
        optimizer.step()


def begun(name, dtype):
    return {k: tensors.tensor(a, requires_grad=True) for k, a in start(name, dtype).items()}


def compared(name, params, optimizer, dtype):
    limit = max(TOLERANCE[dtype], 1e-10) * (1 if dtype == "float64" else 10)
    for key, p in params.items():
        close(p.detach(), RECORDED[f"{name} {key}"], limit, f"{name} {key}")
        for state in STATES:
            kept = optimizer.state[p].get(state)
            what = f"{name} {key} {state}"
            assert (what in RECORDED) == (kept is not None), what
            if kept is not None:
                close(kept, RECORDED[what], limit, what)


@pytest.mark.parametrize("name", list(CASES))
def test_twenty_steps(name):
    kind, words, dtype = CASES[name]
    params = begun(name, dtype)
    optimizer = getattr(optim, kind)(params.values(), **words)
    stepped(optimizer, params, name, dtype, range(STEPS))
    compared(name, params, optimizer, dtype)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("float64")])
def test_saved_and_loaded_half_way(name):
    kind, words, dtype = CASES[name]
    params = begun(name, dtype)
    first = getattr(optim, kind)(params.values(), **words)
    stepped(first, params, name, dtype, range(STEPS // 2))
    second = getattr(optim, kind)(params.values(), **{**words, "lr": 123.0})
    second.load_state_dict(first.state_dict())
    stepped(second, params, name, dtype, range(STEPS // 2, STEPS))
    compared(name, params, second, dtype)


@pytest.mark.parametrize("rule", ["SGD", "Adam"])
@pytest.mark.parametrize("k", range(len(SCHEDULES)))
def test_schedules(k, rule):
    kind, words = SCHEDULES[k]
    more = {"lr": 0.3, "momentum": 0.9} if rule == "SGD" else {"lr": 0.3}
    optimizer = getattr(optim, rule)([tensors.zeros(1, requires_grad=True)], **more)
    schedule = getattr(schedulers, kind)(optimizer, **words)
    rates, momenta = [], []
    for epoch in range(EPOCHS):
        if epoch == EPOCHS // 2:  # another one goes on from what is saved
            other = getattr(schedulers, kind)(optimizer, **words)
            other.load_state_dict(schedule.state_dict())
            optimizer.param_groups[0]["lr"] = schedule.get_last_lr()[0]
            schedule = other
        group = optimizer.param_groups[0]
        rates.append(group["lr"])
        if epoch != EPOCHS // 2:
            momenta.append(group["betas"][0] if "betas" in group else group["momentum"])
        schedule.step()
    expected = RECORDED[f"schedule {k} {rule}"]
    np.testing.assert_allclose(rates, expected[0], rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(momenta, np.delete(expected[1], EPOCHS // 2), rtol=1e-12)


@pytest.mark.parametrize("k", range(len(PLATEAUS)))
def test_plateaus(k):
    optimizer = optim.SGD([tensors.zeros(1, requires_grad=True)], lr=0.3)
    schedule = schedulers.ReduceLROnPlateau(optimizer, **PLATEAUS[k])
    rates = []
    for metric in METRICS:
        schedule.step(tensors.tensor(metric))
        rates.append(optimizer.param_groups[0]["lr"])
    np.testing.assert_allclose(rates, RECORDED[f"plateau {k}"], rtol=1e-12)


def test_rates_of_lbfgs_that_are_tensors():
    found = []
    for lr in (0.01, tensors.tensor(0.01, dtype=tensors.float64)):
        w = tensors.tensor([3.0, -2.0], dtype=tensors.float64, requires_grad=True)
        method = optim.LBFGS([w], lr=lr)

        def closure(w=w, method=method):
            method.zero_grad()
            loss = (w**4).sum()
            loss.backward()
            return loss

        for _ in range(3):
            method.step(closure)
        assert float(lr) == 0.01
        found.append(w.tolist())
    assert found[0] == found[1]


# How often a step has called its closure after each of four, and where that ends: of PyTorch 2.11.
@pytest.mark.parametrize(("lr", "max_eval", "calls", "end"), [
    (10, 1, [2, 4, 6, 8], [-1.5, 2.0, 0.5]),
    (10, 2, [3, 6, 9, 12], [-1.2972206518974572, -1.601413767263945, 1.4150471995500884]),
    (10, 9, [10, 20, 29, 36], [0.5284163190218027, 0.27884723132727096, 0.07276881233682736]),
    (1, 4, [4, 8, 12, 16], [-0.8438640880820201, 0.7561775699997801, 0.5214693701910239]),
])  # fmt: skip
def test_evaluations_of_line_searches(lr, max_eval, calls, end):
    v = tensors.tensor([-1.5, 2.0, 0.5], dtype=tensors.float64, requires_grad=True)
    method = optim.LBFGS(
        [v], lr=lr, max_iter=7, max_eval=max_eval, line_search_fn="strong_wolfe"
    )  # fmt: skip
    found = [0]

    def closure():
        found[-1] += 1
        method.zero_grad()
        loss = (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum() + tensors.sin(v).sum()
        loss.backward()
        return loss

    for _ in range(4):
        method.step(closure)
        found.append(found[-1])
    assert found[:-1] == calls and method.state[v]["func_evals"] == calls[-1]
    np.testing.assert_allclose(v.tolist(), end, rtol=1e-6)


def test_lbfgs_along_slopes_that_are_small_at_once():
    v = tensors.tensor([1.0, -2.0], dtype=tensors.float64, requires_grad=True)
    method = optim.LBFGS([v])

    def closure():
        method.zero_grad()
        loss = 1e-7 * (v**4).sum()
        loss.backward()
        return loss

    for _ in range(3):
        method.step(closure)
    assert v.tolist() == [1, -2]
    assert method.state[v]["n_iter"] == method.state[v]["func_evals"] == 3


def test_sparse_gradients_are_refused():
    with pytest.raises(NotImplementedError, match="sparse gradients"):
        optim.SparseAdam([tensors.zeros(2, requires_grad=True)])


@pytest.mark.parametrize(("kind", "words", "match"), [
    ("Rprop", {"etas": (1.2, 0.5)}, "invalid eta values"),
    ("Adafactor", {"d": 0.5}, "clipping threshold d"),
    ("Adafactor", {"beta2_decay": 0.1}, "beta2_decay"),
    ("Muon", {"adjust_lr_fn": "other"}, "adjust_lr_fn"),
    ("Muon", {}, "a parameter is no matrix"),
    ("ASGD", {"differentiable": True}, "not yet differentiable"),
])  # fmt: skip
def test_refused_settings(kind, words, match):
    with pytest.raises((ValueError, NotImplementedError), match=match):
        getattr(optim, kind)([tensors.zeros(2, requires_grad=True)], **words)


@pytest.mark.filterwarnings("ignore::numbus.CompileWarning")
@pytest.mark.parametrize("kind", ["ASGD", "Rprop", "Adafactor", "Muon", "Adagrad"])
def test_compiled_steps_count(kind):
    """What a rule computes of the number of the step does not stay that of a captured one."""
    words = {"lr_decay": 1e-9} if kind == "Adagrad" else {}
    found = []
    for made in (nb.compile, lambda step: step):
        w = tensors.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
        optimizer = getattr(optim, kind)([w], lr=1e-3, **words)

        def step(w=w, optimizer=optimizer):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()

        step = made(step)
        for _ in range(30):
            step()
        found.append(w.tolist())
    assert found[0] == found[1]


def test_steps_within_the_backward_pass():
    """An optimizer of each parameter that steps as soon as its gradient is there."""
    w = [tensors.full((2,), float(k), requires_grad=True) for k in (1, 2)]
    rules = {p: optim.SGD([p], lr=0.1) for p in w}

    def move(p):
        rules[p].step()
        rules[p].zero_grad()

    handles = [p.register_post_accumulate_grad_hook(move) for p in w]
    (w[0] * w[1]).sum().backward()
    assert [p.tolist() for p in w] == [pytest.approx([0.8, 0.8]), pytest.approx([1.9, 1.9])]
    assert w[0].grad is None
    handles[0].remove()
    (w[0] * 3).sum().backward()
    assert w[0].grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="no leaf"):
        (w[0] * 2).register_post_accumulate_grad_hook(move)
