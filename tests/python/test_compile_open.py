"""`torch.compile`, and `nb.compile` of functions whose results are differentiated outside: the
derivatives are those of the plain function, bit by bit, and what cannot be captured is run by
Python. The device has memory that the host cannot read, as a GPU has.
"""

import copy
import gc
import pickle
import warnings

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import _core, nn, optim, tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.nn import optimized  # noqa: E402
from numbus.tensors import no_grad  # noqa: E402
from numbus.tensors.autocasting import autocast  # noqa: E402
from random_compiled import difference  # noqa: E402

pytestmark = pytest.mark.cpu
CALLS = 6


def fenced(a):
    return tensors.from_numpy(np.array(a, dtype="f4")).to("fenced")


def numpy_of(t):
    return t.detach().to("cpu").numpy()


def drawn(*shape, seed=0):
    return fenced(np.random.default_rng(seed).standard_normal(shape))


def net():
    tensors.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).to("fenced")


def gradients(f, model, calls=CALLS):
    """The gradients of the parameters after each of some calls."""
    found = []
    for k in range(calls):
        model.zero_grad()
        f(drawn(5, 4, seed=k)).square().sum().backward()
        found += [numpy_of(p.grad) for p in model.parameters()]
    return found


def check_alike(f, compiled, model):
    for a, b in zip(gradients(f, model), gradients(compiled, model), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.filterwarnings("ignore")
def test_sample_of_random_nets(seed, late):
    before = nb.seterr(all="ignore")
    _core.set_late_checks(late)
    try:
        assert difference(seed, outside=True)[0] is None
    finally:
        _core.set_late_checks(False)
        nb.seterr(**before)


def test_a_module():
    model = net()
    compiled = optimized.compile(model)
    check_alike(model, compiled, model)
    assert compiled._compiled.answers == CALLS - 3
    assert list(compiled.state_dict()) == ["_orig_mod." + name for name in model.state_dict()]
    assert type(compiled).__name__ == "OptimizedModule"
    compiled.eval()
    assert not model.training and not compiled.training and not model[1].training
    compiled.train()
    assert model.training
    compiled.extra = 3
    assert model.extra == 3
    del compiled.extra
    assert not hasattr(model, "extra")
    with pytest.raises(AttributeError):
        compiled.nothing  # noqa: B018


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_a_module(copied):
    if copied is not copy.deepcopy and nn.Parameter.__module__.startswith("torch"):
        pytest.skip("another test of this process has given classes PyTorch's names")
    model = net()
    compiled = optimized.compile(model)
    gradients(compiled, model)
    other = copied(compiled).to("fenced")
    assert other._orig_mod is not model
    check_alike(other._orig_mod, other, other._orig_mod)
    assert compiled._compiled.answers == CALLS - 3


def test_results_have_the_names_and_settings_of_the_plain_ones():
    w = fenced([1.0, 2.0]).requires_grad_()

    def f(x):
        y = x * w
        return {"y": y, "sum": y.sum(), "detached": y.detach(), "plain": x * 2, "n": 3}

    compiled = optimized.compile(f)
    for k in range(CALLS):
        x = drawn(2, seed=k)
        one, other = f(x), compiled(x)
        assert list(one) == list(other)
        for name in ("y", "sum", "detached", "plain"):
            a, b = one[name], other[name]
            assert (a.requires_grad, a.is_leaf) == (b.requires_grad, b.is_leaf), name
            assert type(a.grad_fn) is type(b.grad_fn)
            np.testing.assert_array_equal(numpy_of(a), numpy_of(b))
        with pytest.raises(RuntimeError):
            (other["detached"] * 2).sum().backward()
    assert compiled.answers == CALLS - 3


def test_derivatives_by_arguments():
    compiled = optimized.compile(lambda x, y: (x.sin() * y).sum())
    for k in range(CALLS):
        x = drawn(3, seed=k).requires_grad_()
        y = (drawn(3, seed=k + 50).requires_grad_() * 2).exp()
        y.retain_grad()
        compiled(x, y).backward()
        np.testing.assert_allclose(numpy_of(x.grad), numpy_of(x.cos() * y), rtol=1e-6)
        np.testing.assert_allclose(numpy_of(y.grad), numpy_of(x.sin()), rtol=1e-6)
    assert compiled.answers == CALLS - 3


def test_arguments_that_are_differentiated_or_not_are_other_calls():
    compiled = optimized.compile(lambda x: x * x)
    for k in range(2 * CALLS):
        x = fenced([1.0, 3.0])
        if k % 2:
            x.requires_grad_()
        made = compiled(x)
        assert made.requires_grad == bool(k % 2)
        if k % 2:
            made.sum().backward()
            np.testing.assert_array_equal(numpy_of(x.grad), [2.0, 6.0])
            detached = compiled(x.detach())
            assert not detached.requires_grad


def test_second_derivatives():
    compiled = optimized.compile(lambda x: (x**3).sum())
    for _ in range(CALLS):
        x = fenced([1.0, 2.0]).requires_grad_()
        (g,) = tensors.autograd.grad(compiled(x), x, create_graph=True)
        g.sum().backward()
        np.testing.assert_allclose(numpy_of(x.grad), [6.0, 12.0], rtol=1e-6)
    assert compiled.answers == CALLS - 3


def test_grad_modes_are_other_calls():
    model = net()
    compiled = optimized.compile(model)
    for _ in range(CALLS):
        made = compiled(drawn(5, 4))
        assert made.requires_grad
        del made  # the tape keeps its operands until then, and Python would be asked
        with no_grad():
            made = compiled(drawn(5, 4))
        assert not made.requires_grad
    assert compiled._compiled.answers == 2 * (CALLS - 3)


def test_hooks_see_the_derivatives():
    model = net()
    compiled = optimized.compile(model)
    seen = []
    model[0].weight.register_hook(lambda g: seen.append(numpy_of(g)))
    gradients(compiled, model)
    assert len(seen) == CALLS
    compiled.register_forward_hook(lambda module, args, result: result * 2)
    twice = numpy_of(compiled(drawn(5, 4)))
    np.testing.assert_array_equal(twice, numpy_of(model(drawn(5, 4)) * 2))


def registered(x, w):
    y = x * w
    y.register_hook(lambda g: g * 2)
    return y.sum()


def retained(x, w):
    y = x * w
    y.retain_grad()
    return y.sum()


def penalty(x, w):
    x = x.detach().requires_grad_()
    (g,) = tensors.autograd.grad((x * w).sum(), x, create_graph=True)
    return (g * g).sum()


class Doubled(tensors.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * 2


def functions(x, w):
    return Doubled.apply(x * w).sum()


def reads(x, w):
    return (x * w).sum() * 2 if (x * w).sum().item() > 0 else (x * w).sum()


def removes(x, w):
    w.grad = None
    return (x * w).sum()


def disabled(x, w):
    return optimized.compiler.disable(lambda a: a * w)(x).sum()


@pytest.mark.parametrize(
    "f",
    [registered, retained, penalty, functions, reads, removes, disabled],
    ids=lambda f: f.__name__,
)
def test_what_is_left_to_python(f):
    compiled, broken = optimized.compile(f), optimized.compile(f, fullgraph=True)
    w, other = fenced([1.0, 2.0]).requires_grad_(), fenced([1.0, 2.0]).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(8):
            x = drawn(2, seed=k)
            f(x, w).backward()
            compiled(x, other).backward()
            np.testing.assert_array_equal(numpy_of(w.grad), numpy_of(other.grad))
    assert compiled.answers == 0
    assert compiled.reasons
    told = str(nb.explain(compiled, drawn(2), other))
    assert f"{f.__name__} is run by Python: {compiled.reasons[0]}" in told
    with pytest.raises(RuntimeError, match=r"\[torch.compile\] .* fullgraph=False"):
        for k in range(8):
            broken(drawn(2, seed=k), w).backward()
    for _ in range(3):
        (drawn(2) * w).sum().backward()
        with pytest.raises(RuntimeError, match="cannot be captured as a whole"):
            broken(drawn(2), w)


def test_states_in_place():
    """A buffer that is changed without a derivative is changed at each call."""
    state = fenced([0.0])
    w = fenced([2.0]).requires_grad_()

    def f(x):
        with no_grad():
            state.mul_(0.5).add_(x)
        return (x * w * state).sum()

    compiled = optimized.compile(f)
    expected, answers = 0.0, []
    for k in range(CALLS):
        w.grad = None
        compiled(fenced([k + 1.0])).backward()
        expected = expected * 0.5 + k + 1
        answers.append((float(numpy_of(state)[0]), float(numpy_of(w.grad)[0])))
        assert answers[-1] == (expected, (k + 1) * expected)
    assert compiled.answers == CALLS - 3


def test_autocast_around_it_is_read():
    model = net()
    compiled = optimized.compile(model)
    for k in range(2 * CALLS):
        with autocast("cuda" if k % 2 else "cpu", dtype=tensors.bfloat16):
            a, b = model(drawn(5, 4)), compiled(drawn(5, 4))
        assert a.dtype == b.dtype
        assert compiled(drawn(5, 4)).dtype == tensors.float32


def test_nothing_is_left_on_the_tape():
    model = net()
    compiled = optimized.compile(model)
    gradients(compiled, model)
    gc.collect()
    before = _core.tape_length()
    for k in range(CALLS):
        made = compiled(drawn(5, 4, seed=k))
    del made
    gc.collect()
    assert _core.tape_length() == before


def test_a_second_backward_is_refused_as_without_it():
    model = net()
    compiled = optimized.compile(model)
    for _ in range(CALLS):
        loss = compiled(drawn(5, 4)).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="let go"):
            loss.backward()


def test_whole_steps():
    runs = []
    for compiles in (False, True):
        model = net()
        steps = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x, y, model=model, steps=steps):
            steps.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            steps.step()
            return loss

        step = optimized.compile(step, mode="reduce-overhead") if compiles else step
        losses = [step(drawn(5, 4, seed=k), drawn(5, 2, seed=9)).item() for k in range(8)]
        runs.append(losses)
        if compiles:
            assert step.answers == 5
    assert runs[0] == runs[1]


def test_options():
    f = lambda x: x * 2  # noqa: E731
    assert optimized.compile(f, disable=True) is f
    assert optimized.compile(f, backend="eager") is f
    assert isinstance(optimized.compile(mode="max-autotune")(f), nb.core.compiling.Compiled)
    assert isinstance(
        optimized.compile(f, options={"max_autotune": True}, dynamic=True), type(nb.compile(f))
    )
    for wrong, error in (
        ({"mode": "fast"}, RuntimeError), ({"backend": "mine"}, RuntimeError),
        ({"mode": "default", "options": {}}, RuntimeError), ({"dynamic": 3.5}, TypeError),
        ({"backend": lambda graph, inputs: graph}, NotImplementedError),
        ({"options": {"max_fusion": 3}}, NotImplementedError),
    ):  # fmt: skip
        with pytest.raises(error, match=r"torch\.compile"):
            optimized.compile(f, **wrong)
    with pytest.raises(TypeError, match="nothing to call"):
        optimized.compile(3)


def test_the_host_works_by_python():
    compiled = optimized.compile(nn.Linear(2, 1), fullgraph=True)
    for _ in range(CALLS):
        compiled(tensors.ones(3, 2)).sum().backward()
    assert compiled._compiled.answers == 0


@pytest.mark.parametrize("seed", [11373, 11428])
def test_results_stay_where_the_user_put_them(seed, by_cost):
    """Where devices are chosen by cost, what is made of an array on a named device is there, too:
    random numbers for it are drawn from that device's states.
    """
    by_cost(64)
    assert difference(seed, "fenced", True)[0] is None
    compiled = nb.compile(lambda x: x * 2)
    with no_grad():
        made = [compiled(drawn(3, seed=k)) for k in range(CALLS)]
    assert compiled.answers > 1
    assert {str((t + 1).device) for t in made} == {str(drawn(3).device)}
