"""Names of PyTorch's that programs of the runner import, lazy modules, and packages that import
torch themselves; numbers are PyTorch 2.11's or SciPy's.
"""

import importlib.util
import subprocess
import sys

import numpy
import pytest
import scipy.special
from numbus import tensors as torch
from numbus.tensors import autograd_functional as functional

pytestmark = [pytest.mark.numbus]

IMPORTS = """
import torch
import torch.autograd.functional
from torch.autograd import Variable
from torch.autograd.function import Function
from torch.cuda.amp import GradScaler, autocast
from torch.func import hessian, jacfwd, jvp, stack_module_state
from torch.nn.parameter import Parameter, UninitializedParameter
from torch.optim.optimizer import Optimizer
from torch.utils.data.dataset import Dataset
from torch.utils.data.sampler import SubsetRandomSampler

x = Variable(torch.arange(3.0), requires_grad=True)
print(isinstance(x, Variable), isinstance(x, Parameter), torch.relu_(x.detach() - 1).tolist())
value, along = jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))
print(value.tolist(), along.tolist(), hessian(lambda a: (a**3).sum())(torch.ones(2)).tolist())
params, buffers = stack_module_state([torch.nn.Linear(2, 3) for _ in range(4)])
print(tuple(params["weight"].shape), torch.autograd.functional.jacobian(torch.square, x).tolist())
print(torch.fft.rfft(torch.ones(4)).tolist(), torch.conv2d is torch.nn.functional.conv2d)
"""

PACKAGE = """
import torch
from torch import nn


def double(x):
    assert isinstance(x, torch.Tensor)
    return nn.functional.relu(x) * 2


from torch.utils.data import TensorDataset
"""


def _run(text, folder, expected, path=()):
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "numbus", "program.py"], cwd=folder, capture_output=True, text=True,
        env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(map(str, path))}, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == expected


def test_names_that_programs_import(tmp_path):
    _run(IMPORTS, tmp_path, [
        "True False [0.0, 0.0, 1.0]",
        "[0.0, 0.0] [1.0, 1.0] [[6.0, 0.0], [0.0, 6.0]]",
        "(4, 3, 2) [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 4.0]]",
        "[(4+0j), 0j, 0j] True",
    ])  # fmt: skip


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="PyTorch serves packages where it is"
)
def test_installed_packages_get_the_programs_torch(tmp_path):
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "doubling.py").write_text(PACKAGE)
    program = """
import torch
from doubling import TensorDataset, double

x = torch.tensor([-1.0, 2.0], requires_grad=True)
double(x).sum().backward()
print(x.grad.tolist(), TensorDataset is torch.utils.data.TensorDataset)
"""
    numbus = sys.modules["numbus"].__path__[0].rpartition("/")[0]
    _run(program, tmp_path, ["[0.0, 2.0] True"], [installed, numbus])
    # Before the program has imported torch, a package finds that it is not installed.
    program = """
try:
    import doubling
except ModuleNotFoundError as error:
    print(error.name)
"""
    if not any("torch" == name.partition(".")[0] for name in sys.modules):
        _run(program, tmp_path, ["torch"], [installed, numbus])


def test_special_functions_against_scipy():
    x = torch.tensor([0.3, 1.5, 20.0, -0.5, -3.3], dtype=torch.float64, requires_grad=True)
    a = x.detach().cpu().numpy()
    got = x.digamma().detach().cpu().numpy()
    numpy.testing.assert_allclose(got, scipy.special.digamma(a), 1e-12)
    for n in (1, 2, 3):
        y = x.polygamma(n)
        numpy.testing.assert_allclose(
            y.detach().cpu().numpy(), scipy.special.polygamma(n, a), rtol=2e-13, atol=1e-12
        )
        (g,) = torch.autograd.grad(y.sum(), x)
        want = scipy.special.polygamma(n + 1, a)
        numpy.testing.assert_allclose(g.cpu().numpy(), want, 1e-11, 1e-11)
    y = torch.tensor([0.0, 1e-9, 0.3, -0.6, -0.99, 0.999999], dtype=torch.float64)
    y.requires_grad_()
    numpy.testing.assert_allclose(
        y.erfinv().detach().cpu().numpy(), scipy.special.erfinv(y.detach().cpu().numpy()), 1e-13
    )
    assert torch.erfinv(torch.tensor([1.0, -1.0])).tolist() == [numpy.inf, -numpy.inf]


def test_products_with_hessians():
    def f(x, y):
        return (x**2 * y).sum()

    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    table = functional.hessian(f, (x, y))
    assert table[0][0].tolist() == [[6, 0], [0, 8]] and table[1][1].tolist() == [[0, 0], [0, 0]]
    value, made = functional.hvp(f, (x, y), (torch.ones(2), torch.zeros(2)))
    assert value.item() == 19 and [m.tolist() for m in made] == [[6, 8], [2, 4]]
    value, made = functional.jvp(lambda x: x * x, x, torch.tensor([1.0, 0.0]))
    assert made.tolist() == [2, 0] and not made.requires_grad
    with pytest.raises(RuntimeError, match="does not depend"):
        functional.jacobian(lambda x: torch.ones(2), x, strict=True)


def test_lazy_modules_are_known_to_optimizers_made_before():
    from numbus import nn, optim

    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    optimizer = optim.SGD(net.parameters(), lr=0.5)
    with pytest.raises(RuntimeError, match="no shape yet"):
        print(net[0].weight.shape)
    x = torch.arange(50.0).reshape(2, 1, 5, 5) / 25
    net(x)
    assert [type(m).__name__ for m in net] == ["Conv2d", "BatchNorm2d", "Flatten", "Linear"]
    before = net[3].weight.detach().clone()
    net(x).square().sum().backward()
    optimizer.step()
    assert not torch.equal(before, net[3].weight)
    other = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    other.load_state_dict(net.state_dict())
    assert torch.equal(net.eval()(x), other.eval()(x))


def test_extremes_so_far_have_derivatives():
    x = torch.tensor([1.0, 3.0, 2.0, 3.0, numpy.nan, 4.0], requires_grad=True)
    values, index = torch.cummax(x, 0)
    assert index.tolist() == [0, 1, 1, 3, 4, 4]
    values[:4].sum().backward()
    assert x.grad.tolist() == [1, 2, 0, 1, 0, 0]


def test_empty_and_zero():
    """What depends on a tensor without elements can be differentiated; a norm has no NaN at 0."""
    x = torch.ones(3, requires_grad=True)
    none = x[x > 5]
    total = none.exp().sum() + torch.cat([none, none]).sum() + (x * 2).sum()
    total.backward()
    assert x.grad.tolist() == [2, 2, 2]
    none = torch.zeros(0, 3, requires_grad=True)
    w = torch.ones(3, 2, requires_grad=True)
    assert (none @ w).requires_grad and none.sum().requires_grad
    (none @ w).sum().backward()
    for norm in (lambda x: x.norm(), lambda x: x.norm(3), torch.linalg.norm):
        x = torch.zeros(4, requires_grad=True)
        norm(x).backward()
        assert x.grad.tolist() == [0, 0, 0, 0]


def test_numbers_have_a_dimension_to_reduce():
    e = torch.tensor(2.5)
    for name in ("sum", "prod", "mean", "amax", "amin", "logsumexp", "nansum", "count_nonzero"):
        assert getattr(e, name)(0).shape == ()
        with pytest.raises(IndexError):
            getattr(e, name)(1)
    assert torch.quantile(e, 0.5, dim=0).item() == 2.5
    assert torch.nonzero(e, as_tuple=True)[0].tolist() == [0]
    a = torch.tensor(1.0).scatter_add(0, torch.tensor(0), torch.tensor(2.0))
    assert a.item() == 3


def test_integers_where_numbers_are_given():
    """PyTorch takes the whole parts."""
    assert torch.arange(0.5, 3.7, dtype=torch.int64).tolist() == [0, 1, 2]
    assert torch.linspace(-2, 3, 4, dtype=torch.int64).tolist() == [-2, 0, 1, 3]
    x = torch.ones(2, dtype=torch.int64)
    assert torch.addmv(x, torch.ones(2, 2, dtype=torch.int64), x, beta=0.2, alpha=1.6).tolist() == [
        2, 2,
    ]  # fmt: skip
    assert torch.angle(x).dtype == torch.float32
    assert torch.conj(x == 1).dtype == torch.bool


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 1, 3, 2, 4), (3, 4)])
def test_indices_along_any_of_many_dimensions(shape):
    """A gather of the core takes three arrays of indices; NumPy is the oracle."""
    rng = numpy.random.default_rng(5)
    for layout in range(2):
        values = rng.normal(size=shape)
        for dim in range(len(shape)):
            index = rng.integers(0, shape[dim], shape)
            x = torch.from_numpy(numpy.asarray(values, order="CF"[layout])).requires_grad_()
            k = torch.from_numpy(index)
            made = {
                "gather": (x.gather(dim, k), numpy.take_along_axis(values, index, dim)),
                "max": (x.max(dim).values, values.max(dim)),
                "sort": (x.sort(dim).values, numpy.sort(values, dim)),
                "topk": (x.topk(1, dim).values, values.max(dim, keepdims=True)),
                "cummax": (x.cummax(dim).values, numpy.maximum.accumulate(values, dim)),
            }
            made["take"] = torch.take_along_dim(x, k, dim), made["gather"][1]
            added = numpy.zeros(shape)
            where = list(numpy.indices(shape))
            where[dim] = index
            numpy.add.at(added, tuple(where), values)
            made["scatter_add"] = torch.zeros(shape).double().scatter_add(dim, k, x), added
            for name, (ours, expected) in made.items():
                assert numpy.array_equal(ours.detach().cpu().numpy(), expected) or (
                    name == "scatter_add" and numpy.allclose(ours.detach().cpu().numpy(), expected)
                ), name
                (g,) = torch.autograd.grad(ours.sum(), x)
                assert g.sum().item() == expected.size if name != "scatter_add" else x.numel(), name
        for wrong in (-1, 99):
            with pytest.raises((IndexError, RuntimeError)):
                torch.from_numpy(values).gather(1, k * 0 + wrong).sum().item()


def test_weights_that_are_made_of_others():
    from numbus import nn, optim
    from numbus.nn.utils import (
        parametrizations,
        parametrize,
        remove_weight_norm,
        spectral_norm,
        weight_norm,
    )

    x = torch.ones(4, 3)
    for norm in (weight_norm, spectral_norm, parametrizations.weight_norm,
                 parametrizations.spectral_norm):  # fmt: skip
        m = norm(nn.Linear(3, 5))
        optimizer = optim.SGD(m.parameters(), 0.01)
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = (m(x) - 1).square().sum()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0]
        if "spectral" in norm.__name__:
            for _ in range(30):
                m(x)
            assert abs(torch.linalg.svdvals(m.weight.detach())[0].item() - 1) < 1e-3
    m = weight_norm(nn.Linear(3, 5))
    before = m(x)
    assert sorted(m.state_dict()) == ["bias", "weight_g", "weight_v"]
    remove_weight_norm(m)
    assert sorted(m.state_dict()) == ["bias", "weight"] and torch.allclose(m(x), before)

    class Symmetric(nn.Module):
        def forward(self, a):
            return a.triu() + a.triu(1).T

    m = nn.Linear(3, 3)
    given = m.weight
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert m.parametrizations.weight.original is given and torch.equal(m.weight, m.weight.T)
    assert [n for n, _ in m.named_parameters()] == ["bias", "parametrizations.weight.original"]
    with parametrize.cached():
        assert m.weight is m.weight
    parametrize.remove_parametrizations(m, "weight")
    assert type(m) is nn.Linear and m.weight is given and torch.equal(given, given.T)


def test_numpys_names_of_dimensions():
    """`axis` and `keepdims` are PyTorch's names, too."""
    x = torch.arange(24.0).reshape(2, 3, 4)
    for name in ("sum", "mean", "std", "amax", "argmax", "logsumexp", "prod"):
        plain = getattr(torch, name)(x, dim=1, keepdim=True)
        assert torch.equal(getattr(torch, name)(x, axis=1, keepdims=True), plain), name
        assert torch.equal(getattr(x, name)(axis=1, keepdims=True), plain), name
    assert torch.cat([x, x], axis=1).shape == (2, 6, 4)
    assert x.max(axis=2, keepdims=True).values.shape == (2, 3, 1)
    assert torch.mode(x, axis=0).values.shape == torch.cummax(x[0], axis=0).values.shape
    with pytest.raises(TypeError):
        x.sum(axes=1)


def test_places_between_the_elements_of_a_picture():
    """The identity reads the picture; half an element further, means of neighbours."""
    from numbus.nn import functional as F

    x = torch.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    same = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]])
    for corners in (False, True):
        grid = F.affine_grid(same, x.shape, align_corners=corners)
        assert torch.allclose(F.grid_sample(x, grid, align_corners=corners), x)
    moved = torch.tensor([[[1.0, 0, 0.25], [0, 1, 0]]])
    grid = F.affine_grid(moved, x.shape, align_corners=False)
    y = F.grid_sample(x, grid, align_corners=False)
    assert torch.allclose(y[..., :3], (x[..., :3] + x[..., 1:]) / 2)
    assert torch.allclose(y[..., 3], x[..., 3] / 2)
    y = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
    assert torch.allclose(y[..., 3], x[..., 3])
    y.sum().backward()
    assert torch.allclose(x.grad[0, 0, 0], torch.tensor([0.5, 1.0, 1.0, 1.5]))
    drawn = F.gumbel_softmax(torch.zeros(5, 3), hard=True)
    assert drawn.sum(1).tolist() == [1.0] * 5 and set(drawn.ravel().tolist()) == {0.0, 1.0}


def test_derivatives_that_are_numbers():
    """Of operands without axes, whose derivatives are computed as numbers."""
    for name, slope in (("erf", 0.41510749), ("erfc", -0.41510749), ("lgamma", -0.57721566)):
        x = torch.tensor(1.0, requires_grad=True)
        getattr(x, name)().backward()
        assert abs(x.grad.item() - slope) < 1e-6


def test_modules_of_torch_are_its_own():
    from numbus.compat import torch as served

    for name in ("special", "fft", "random", "hub"):
        assert getattr(served, name).__name__.startswith("numbus.compat.torch")
    assert isinstance(served.special.expit(torch.ones(2)), torch.Tensor)


def test_quantiles_beside_infinity():
    x = torch.tensor([1.0, float("nan"), 3.0, float("inf")])
    assert torch.nanquantile(x, 0.5).item() == 3
    assert torch.nanquantile(x, torch.tensor([0.25, 0.6])).tolist() == [2, float("inf")]
    assert torch.quantile(torch.tensor([1.0, 2.0, float("inf")]), 0.5).item() == 2
    assert torch.quantile(x, 0.5).isnan().item()
    m = torch.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], requires_grad=True)
    q = torch.quantile(m, torch.tensor([0.25, 0.5]), dim=1)
    assert q.tolist() == [[1.5, 4.5], [2, 5]] and q.dtype == torch.float32
    q.sum().backward()
    assert m.grad.tolist() == [[0, 0.5, 1.5], [0, 1.5, 0.5]]


def test_types_that_pytorch_keeps():
    assert isinstance(torch.tril_indices(2, 3), torch.Tensor)
    assert torch.triu_indices(2, 2, dtype=torch.int32).dtype == torch.int32
    whole = torch.ones(2, dtype=torch.int64)
    assert torch.kron(torch.ones(2), whole).dtype == torch.float32
    assert torch.bincount(whole, weights=torch.ones(2)).dtype == torch.float32
    assert torch.cdist(torch.ones(2, 3), torch.eye(3)[:2], p=0).tolist() == [[2, 2], [2, 2]]


def test_numbers_of_numpy_in_lists_keep_their_types():
    d, f, h, i = numpy.float64(1), numpy.float32(1), numpy.float16(1), numpy.int32(1)
    for items, wanted in (
        ([d, 2], "float64"), ([2, d], "float64"), ([f, 2], "float32"), ([f, d], "float64"),
        ([h, 1], "float16"), ([h, 1.0], "float32"), ([i, f], "float32"), ([i, 1.0], "float32"),
        ([d, 1j], "complex128"), ([numpy.complex64(1), d], "complex128"), ([1, 2.0], "float32"),
        ([[1, d], [f, 2]], "float64"), ((d, 1), "float64"), ([numpy.ones(1)] * 2, "float64"),
        ([torch.tensor(1.0), 1.0], "float32"), ([], "float32"),
    ):  # fmt: skip
        for make in (torch.tensor, torch.as_tensor):
            assert make(items).dtype is getattr(torch, wanted), items
    assert torch.tensor([d, 2], dtype=torch.float16).dtype is torch.float16
