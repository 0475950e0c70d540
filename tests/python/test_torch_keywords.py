"""PyTorch's names of parameters: methods and functions take them as PyTorch's own do."""

import numbus.compat.torch as torch
import numpy
import pytest
from numbus import nn

x = torch.arange(12.0).reshape(3, 4) + 1
n = torch.arange(12).reshape(3, 4)
v = torch.arange(4.0)
m = torch.eye(4) * 2 + 0.1

# By name, and by place as the rest of the tests have it.
CALLS = """
x.flip(dims=(1,)) ; x.flip(1)
x.permute(dims=(1, 0)) ; x.permute(1, 0)
x.view(size=(4, 3)) ; x.view(4, 3)
x.view(dtype=torch.int32) ; x.view(torch.int32)
x.reshape(shape=(4, 3)) ; x.reshape(4, 3)
v.expand(size=(2, 4)) ; v.expand(2, 4)
x.repeat(repeats=(2, 1)) ; x.repeat(2, 1)
v.tile(dims=(2,)) ; v.tile(2)
x.swapaxes(axis0=0, axis1=1) ; x.swapaxes(0, 1)
x.clone().transpose_(dim0=0, dim1=1) ; x.T
x.tensor_split(sections=2, dim=1)[0] ; x.tensor_split(2, dim=1)[0]
x.vsplit(indices=(1,))[1] ; x[1:]
x.max(other=x.flip(0)) ; torch.maximum(x, x.flip(0))
torch.min(x, other=x.flip(0)) ; torch.minimum(x, x.flip(0))
torch.diag_embed(x, dim1=0, dim2=2) ; torch.diag_embed(x).permute(1, 0, 2)
torch.diag_embed(v, offset=-1, dim1=1, dim2=0) ; torch.diag_embed(v, offset=-1).T
x.pow(exponent=2) ; x**2
torch.pow(self=2.0, exponent=v) ; 2.0**v
x.clone().pow_(exponent=2) ; x**2
torch.float_power(x, exponent=2) ; x.double() ** 2
torch.heaviside(input=x - 3, values=torch.tensor(0.5)) ; torch.heaviside(x - 3, torch.tensor(0.5))
x.clone().xlogy_(other=x) ; x.xlogy(x)
v.clone().addmv_(mat=m, vec=v) ; torch.addmv(v, m, v)
m[None].clone().baddbmm_(batch1=m[None], batch2=m[None]) ; torch.baddbmm(m[None], m[None], m[None])
torch.inner(input=v, other=v) ; torch.tensor(14.0)
torch.full_like(input=x, fill_value=3) ; x * 0 + 3
torch.zeros(size=(2, 2)) ; torch.zeros(2, 2)
x.new_ones(size=(2, 2)) ; torch.ones(2, 2)
torch.rand(size=(2, 2)) * 0 ; torch.zeros(2, 2)
torch.randint(high=1, size=(3,)) ; torch.zeros(3).long()
x.clone().random_(to=1) ; x * 0
torch.triangular_solve(input=x.T, A=m)[0] ; torch.triangular_solve(x.T, m)[0]
torch.dropout(input=x, p=0.0, train=True) ; x
torch.embedding(weight=x, indices=n[0, :2]) ; x[:2]
torch.asarray(obj=[1.0, 2.0], dtype=torch.float64) ; torch.tensor([1.0, 2.0]).double()
torch.frombuffer(b"abcd", dtype=torch.uint8, count=2, offset=1) ; torch.tensor([98, 99]).byte()
x.hardshrink(lambd=3.0) ; torch.hardshrink(x, 3.0)
torch.stack(torch.unravel_index(n, (3, 4))) ; torch.stack([n // 4, n % 4])
"""  # fmt: skip


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_names_of_parameters(line):
    named, plain = [eval(part) for part in line.split(" ; ")]
    assert named.dtype == plain.dtype
    numpy.testing.assert_array_equal(named.numpy(force=True), plain.numpy(force=True))


def test_one_name_of_two():
    for wrong in (
        lambda: x.view(4, 3, size=(4, 3)), lambda: x.hsplit(2, sections=2),
        lambda: x.tensor_split(), lambda: torch.pow(x), lambda: x.xlogy_(others=x),
        lambda: torch.kl_div(x, x, "mean"),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()


def test_orders_of_torch_and_of_functional_differ():
    w, b = torch.arange(4.0), torch.ones(4)
    mean, var = torch.zeros(4), torch.ones(4) * 4
    made = torch.batch_norm(x, w, b, mean, var, False, 0.1, 0.0, True)
    numpy.testing.assert_allclose(made.numpy(force=True), (x / 2 * w + b).numpy(force=True))
    z = x.reshape(1, 4, 3)
    made = torch.instance_norm(z, w, b, mean, var, False, 0.1, 0.0, True)
    wanted = (z / 2 * w[:, None] + b[:, None]).tolist()
    numpy.testing.assert_allclose(made.tolist(), wanted)
    made = torch.binary_cross_entropy_with_logits(x, x * 0, None, v, 0)
    assert made.shape == x.shape


@pytest.mark.cpu
def test_memory_of_others():
    t = torch.zeros(2)
    held = t.set_(torch.ones(3))
    assert held is t and t.tolist() == [1, 1, 1]
    a = numpy.zeros(3, "f4")
    torch.asarray(a)[0] = 5
    torch.asarray(a, copy=True)[1] = 5
    assert a.tolist() == [5, 0, 0]
    with pytest.raises(ValueError, match="a copy is needed"):
        torch.asarray([1, 2], copy=False)


class Merged(nn.Linear):
    """Adds what it has learnt to the weights, by `data`, outside of no_grad()."""

    def __init__(self):
        super().__init__(3, 2, bias=False)
        self.a = nn.Parameter(torch.ones(2, 1))
        self.b = nn.Parameter(torch.ones(1, 3))
        self.weight.requires_grad = False
        self.weight.data.fill_(1)


def test_writes_to_data_are_not_recorded():
    if str(torch.zeros(1).device) == "fenced":
        pytest.skip("tensors that require gradients do not share memory there")
    net = Merged()
    net.weight.data += net.a @ net.b
    assert net.weight.tolist() == [[2, 2, 2]] * 2 and not net.weight.requires_grad
    net.weight.requires_grad = True
    net.weight.data -= net.a @ net.b
    net.weight.data = net.weight.data * net.a
    net.weight.data[0] = net.b[0] * 3
    net.weight.data.mul_(net.b)
    assert net.weight.is_leaf and net.weight.tolist() == [[3, 3, 3], [1, 1, 1]]
    net(torch.ones(3)).sum().backward()
    assert net.weight.grad.tolist() == [[1, 1, 1]] * 2 and net.a.grad is None
    t = torch.zeros(2)
    t.data += net.a[:, 0]
    assert t.tolist() == [1, 1] and not t.requires_grad


def test_what_was_written_to_through_data_has_no_derivative():
    net = Merged()
    part = net.weight.detach()
    part += net.a @ net.b
    for use in (lambda: part * 2, lambda: part.requires_grad, lambda: part[0]):
        with pytest.raises(NotImplementedError, match="a detached tensor was made to depend"):
            use()
    with torch.no_grad():
        assert (part * 2).tolist() == [[4, 4, 4]] * 2


def test_names_of_nodes():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    a = x.clone().requires_grad_()
    for made, name in (
        (Twice.apply(a), "TwiceBackward"), (a.sum(), "SumBackward0"), (a.sum(0), "SumBackward1"),
        (a.max(), "MaxBackward1"), (a[n[0, :2]], "IndexBackward0"), (a[0], "SelectBackward0"),
        (a.double(), "ToCopyBackward0"), (a.T, "PermuteBackward0"),
    ):  # fmt: skip
        assert type(made.grad_fn).__name__ == name and f"grad_fn=<{name}>" in str(made)


def test_modules_that_programs_import():
    lines = """
    import torch.backends.cudnn as cudnn
    from torch.nn.modules.module import _addindent
    from torch.nn.modules.transformer import _get_clones
    from torch.nn.common_types import _size_2_t
    from torch.nn.utils.stateless import functional_call
    from torch.nn.utils.spectral_norm import spectral_norm
    from torch.optim.adamw import AdamW
    from torch.autograd.grad_mode import no_grad
    from torch.autograd import gradgradcheck
    from torch.cuda.amp import custom_fwd, custom_bwd
    from torch.functional import einsum
    from torch.utils.data._utils.collate import default_collate
    from torch.distributions.kumaraswamy import Kumaraswamy
    from torch.distributions.constraint_registry import transform_to
    from torch.distributions.utils import broadcast_all
    from torch import layout
    """
    from numbus.compat import rewrite

    space = {}
    for line in lines.strip().splitlines():
        exec(rewrite.rewrite_text(line.strip()), space)
    space["cudnn"].benchmark = True
    assert rewrite.original("numbus.optim") == "torch.optim"
    assert rewrite.original("numbus.compat.torch.fft") == "torch.fft"


def test_gradgradcheck_and_names_of_older_programs():
    z = torch.tensor([0.3, 0.5]).double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda a: (a**3 * a.sum(), a.exp()), (z,))
    w = torch.ones(2, 2).double()
    assert w.new(2, 3).zero_().shape == (2, 3) and w.new([1, 2]).dtype == torch.float64
    q = torch.tensor([0.04, 0.26, -9.0], requires_grad=True)
    made = torch.fake_quantize_per_tensor_affine(q, 0.1, 0, -5, 5)
    made.sum().backward()
    numpy.testing.assert_allclose(made.tolist(), [0, 0.3, -0.5], rtol=1e-6)
    assert q.grad.tolist() == [1, 1, 0]
    u, s, v = torch.pca_lowrank(x, q=2)
    low = x - x.mean(0)
    numpy.testing.assert_allclose((u * s @ v.T).numpy(force=True), low.numpy(force=True), atol=1e-4)


@pytest.mark.parametrize("kind", ["parameters", "closure", "nested", "result", "several"])
def test_checkpoints_give_what_is_used_otherwise_its_gradient(kind):
    from numbus.compat.torch.utils.checkpoint import checkpoint

    net = nn.Linear(4, 4)
    w = torch.ones(4, requires_grad=True)

    def again(function, *args):
        return checkpoint(function, *args, use_reentrant=False)

    def run(call, given):
        if kind == "parameters":
            made = call(net, given)
        elif kind == "closure":
            made = call(lambda a: a * w + net(w * a) * w, given)
        elif kind == "nested":
            made = call(lambda a: call(net, net(a)).tanh() * w, given)
        elif kind == "result":
            half = net(w) * 0.5
            made = call(lambda a: half * a, given) + half
        else:
            one, two = call(lambda a, k: (net(a), w * k), given, 3)
            made = one * two
        return (made**2).sum()

    for given in (x.detach(), x.clone().requires_grad_()):
        leaves = [*net.parameters(), w] + ([given] if given.requires_grad else [])
        calls = []

        def hook(g, calls=calls):
            calls.append(g)
            return g * 2

        handle = w.register_hook(hook)
        plain = torch.autograd.grad(run(lambda f, *a: f(*a), given), leaves, allow_unused=True)
        count = len(calls)
        for asked in (True, False):
            loss = run(again, given)
            if asked:
                found = torch.autograd.grad(loss, leaves, allow_unused=True)
            else:
                loss.backward()
                found = [t.grad for t in leaves]
            for a, b in zip(found, plain, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    numpy.testing.assert_allclose(a.tolist(), b.tolist(), rtol=1e-4, atol=1e-4)
            for t in leaves:
                t.grad = None
        assert len(calls) == 3 * count
        handle.remove()


def test_reentrant_checkpoints_of_constants_warn():
    from numbus.compat.torch.utils.checkpoint import checkpoint

    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        made = checkpoint(nn.Linear(4, 4), x, use_reentrant=True)
    assert not made.requires_grad
    with torch.no_grad():
        assert not checkpoint(nn.Linear(4, 4), x, use_reentrant=False).requires_grad


def test_real_parts_and_older_states():
    z = torch.tensor([3 + 4j, -1j])
    assert torch.real(z).tolist() == [3, 0] and torch.real(x) is x
    norm = nn.BatchNorm1d(3)
    old = {k: v for k, v in norm.state_dict().items() if "num_batches" not in k}
    norm.load_state_dict(old)
    new = norm.state_dict()
    del new["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        norm.load_state_dict(new)


def test_functional_calls_replace_tied_weights_under_all_names():
    from numbus.compat.torch.func import functional_call

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.e, self.h = nn.Embedding(3, 2), nn.Linear(2, 3, bias=False)
            self.h.weight = self.e.weight
            self.e.weight.data.fill_(1)

        def forward(self, i):
            return self.h(self.e(i))

    net, i, w = Tied(), torch.tensor([0, 2]), torch.full((3, 2), 2.0)
    for name in ("e.weight", "h.weight"):
        assert functional_call(net, {name: w}, i).tolist() == [[8] * 3] * 2
        assert functional_call(net, {name: w}, i, tie_weights=False).tolist() == [[4] * 3] * 2
        functional_call(net, {name: w}, i, strict=True)
    with pytest.raises(ValueError, match="different values"):
        functional_call(net, {"e.weight": w, "h.weight": w * 2}, i)
    for wrong in ({}, {"e.weight": w, "other": w}):
        with pytest.raises(RuntimeError, match="missing"):
            functional_call(net, wrong, i, strict=True)
    assert net.h.weight is net.e.weight and net(i).tolist() == [[2] * 3] * 2


class Renamed(nn.Module):
    """Keeps more than its tensors, and takes states in which a name was another one."""

    def __init__(self):
        super().__init__()
        self.w, self.count = nn.Parameter(torch.ones(2)), 1

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = torch.tensor(3.0)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        if prefix + "weight" in state_dict:
            state_dict[prefix + "w"] = state_dict.pop(prefix + "weight") * 2
        state_dict.pop(prefix + "scale", None)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class ByItself(nn.Module):
    """Loads without its base class."""

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self.value = state_dict[prefix + "value"]


def test_what_programs_save_and_load_themselves():
    net = nn.Sequential(Renamed(), ByItself())
    net[0].count = 7
    state = net.state_dict()
    assert list(state) == ["0.w", "0._extra_state", "0.scale"]
    state["0.weight"] = state.pop("0.w") * 2
    state["1.value"] = 5
    other = nn.Sequential(Renamed(), ByItself())
    other.load_state_dict(state)
    assert other[0].w.tolist() == [4, 4] and other[0].count == 7 and other[1].value == 5
    with pytest.raises(RuntimeError, match="_extra_state"):
        Renamed().load_state_dict({"w": torch.ones(2)})
    with pytest.raises(RuntimeError, match="Unexpected"):
        nn.Linear(1, 1).load_state_dict({**nn.Linear(1, 1).state_dict(), "x": torch.ones(1)})
    net._register_state_dict_hook(lambda module, made, prefix, local: {"all": made})
    assert list(net.state_dict()) == ["all"]
    with pytest.raises(NotImplementedError, match="__torch_function__"):
        type("Asked", (torch.Tensor,), {"__torch_function__": None})([1.0])
    assert len(2 * nn.Sequential(nn.ReLU(), nn.Tanh())) == 4


def test_writes_that_a_detached_tensor_may_depend_on():
    p, w = torch.ones(3, 2, requires_grad=True), torch.ones(3, 2, requires_grad=True)
    for at in (0, slice(2)):
        d = p.detach()
        with pytest.raises(NotImplementedError, match="a detached tensor was made to depend"):
            d[at].add_(w[at])
        assert not (d * 2).requires_grad and d.sum() == 6
    d = p.detach()
    with pytest.raises(RuntimeError):
        d.add_(torch.ones(5, requires_grad=True))
    assert not (d + 1).requires_grad


def test_containers_of_classes_with_arguments_of_their_own():
    class Net(torch.nn.Sequential):
        def __init__(self):
            super().__init__(torch.nn.Linear(2, 2))

    net = Net()
    assert len(net * 3) == 3 and len(net + net) == 2 and type(net * 2) is torch.nn.Sequential
    net *= 3
    assert len(net) == 3 and type(net) is Net
    net.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="a hook has a result"):
        net.state_dict()


def test_derivatives_by_variances_that_are_too_small():
    v = torch.tensor([1e-9, 1.0], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    torch.nn.functional.gaussian_nll_loss(x, torch.zeros(2).double(), v).backward()
    assert v.grad.tolist() == pytest.approx([-2.5e11, -0.75], rel=1e-4)
