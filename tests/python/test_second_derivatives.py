"""Second derivatives on the tape of work that is entered as one piece: of libraries, of functions
with slopes and of functions with derivatives of their own, against differences of the first ones.
"""

import gc

import numbus.tensors as torch
import pytest
from numbus import _core
from numbus.compat import torch as names
from numbus.nn import functional
from numbus.tensors import autograd, linalg

pytestmark = [pytest.mark.numbus]


class Exp(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class ExpAndTwice(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y, x * 2

    @staticmethod
    def backward(ctx, g, h):
        return g * ctx.y + 2 * h


def changed_later(x):
    a = x * 1
    b = linalg.inv(a)
    y = b * 1
    a.mul_(0)
    b.mul_(0)
    return y


def gelu_changed_later(x):
    a = x * 1
    y = functional.gelu(a) * 1
    a.mul_(0)
    return y


def complex_of(x):
    return torch.complex(x, x.T * x)


CASES = {
    "inv": linalg.inv,
    "changed later": changed_later,
    "inv of complex": lambda x: linalg.inv(complex_of(x)).abs(),
    "cholesky": lambda x: linalg.cholesky(x @ x.T),
    "cholesky of complex": lambda x: linalg.cholesky(complex_of(x) @ complex_of(x).mH).abs(),
    "det": linalg.det,
    "slogdet": lambda x: linalg.slogdet(x)[1],
    "solve": lambda x: linalg.solve(x, x[0] * x[1]),
    "eigh": lambda x: linalg.eigh(x + x.T)[0],
    "eigvalsh": lambda x: linalg.eigvalsh(x + x.T),
    "svd": lambda x: linalg.svd(x)[1],
    "svdvals": linalg.svdvals,
    "pinv": linalg.pinv,
    "qr": lambda x: linalg.qr(x)[1],
    "fft": lambda x: names.fft.fft(x).abs(),
    "rfft": lambda x: names.fft.rfft(x * x).abs(),
    "irfft": lambda x: names.fft.irfft(torch.complex(x * x, x)),
    "lgamma": torch.lgamma,
    "erfc": names.special.erfc,
    "abs": lambda x: (x - 1).abs() ** 3,
    "norm": lambda x: x.norm() ** 3 + (x - 1).norm(1, dim=1) ** 2 + x.norm(3),
    "remainder": lambda x: (x * x) % 1.7,
    "fmod": lambda x: torch.fmod(x * x, x + 1),
    "huber": lambda x: functional.huber_loss(x, x.T * 2, "none", 0.3),
    "distances": lambda x: torch.cdist(x, x.T + 5),
    "gelu": functional.gelu,
    "binary cross entropy": lambda x: functional.binary_cross_entropy(x.sigmoid(), x * x / 10),
    "erfinv": lambda x: torch.erfinv(x / 4),
    "digamma": torch.digamma,
    "polygamma": lambda x: torch.polygamma(2, x),
    "i0": torch.i0,
    "unpooled": lambda x: functional.max_unpool1d(
        *functional.max_pool1d(x[None], 2, return_indices=True), 2
    )[0],
    "scattered extremes": lambda x: torch.scatter_reduce(
        x, 1, torch.tensor([[0, 1], [1, 1]]), x * x, "amax"
    ),
    "scattered products": lambda x: torch.scatter_reduce(
        x, 0, torch.tensor([[0, 1], [1, 1]]), x * x, "prod"
    ),
    "changed after gelu": gelu_changed_later,
    "saved result": Exp.apply,
    "saved result of another": lambda x: Exp.apply(Exp.apply(x * 0.3) * x),
    "kept result": lambda x: sum(ExpAndTwice.apply(x)),
}


def first(f, x, create):
    y = (f(x) ** 2 * x[0, 1]).sum()
    (g,) = autograd.grad(y, x, create_graph=create)
    return g  # the tape keeps what the derivative needs when the value has gone


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives(name):
    f = CASES[name]
    start = torch.tensor([[2.0, 0.5], [0.3, 3.0]], dtype=torch.float64)
    along = torch.tensor([[0.3, -0.7], [0.2, 0.5]], dtype=torch.float64)
    x = start.clone().requires_grad_()
    (found,) = autograd.grad((first(f, x, True) * along).sum(), x)
    step = 1e-5
    sides = [
        first(f, (start + sign * step * along).requires_grad_(), False) for sign in (1.0, -1.0)
    ]
    expected = (sides[0] - sides[1]) / (2 * step)
    scale = 1 + float(expected.abs().max())
    assert float((found - expected).abs().max()) < 1e-6 * scale, (found, expected)
    del x, found, sides
    gc.collect()
    _core.tape_drop_circles()
    assert _core.tape_length() == 0, _core.tape_text()


def test_product_with_the_second_derivatives_of_an_inverse():
    a = torch.tensor([[2.0]], dtype=torch.float64, requires_grad=True)
    (x,) = autograd.grad(linalg.inv(a).pow(2).sum(), a, create_graph=True)
    (h,) = autograd.grad(x.sum(), a)
    assert h.item() == pytest.approx(0.375)
    _, product = names.autograd.functional.hvp(
        lambda a: linalg.inv(a).sum(), a.detach(), torch.ones(1, 1, dtype=torch.float64)
    )
    assert product.item() == pytest.approx(0.25)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("targets", [[0, 2, 1, 2], [2, 2, 0, 2], [2, 2, 2, 2]])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2)])
def test_cross_entropy_of_classes(shape, targets, reduction):
    """By its own derivative, and where weights of one have its steps differentiated."""
    found = []
    for weight in None, torch.ones(3, dtype=torch.float64):
        torch.manual_seed(2)
        x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
        t = torch.tensor(targets).reshape(shape[0], *shape[2:])
        loss = functional.cross_entropy(x, t, weight, ignore_index=2, reduction=reduction)
        (g,) = torch.autograd.grad(loss, x, torch.rand(loss.shape).double(), create_graph=True)
        (h,) = torch.autograd.grad((g * torch.randn(*shape).double()).sum(), x, create_graph=True)
        (third,) = torch.autograd.grad((h**2).sum(), x)
        found.append((loss, g, h, third))
    for ours, stepwise in zip(*found, strict=True):
        if not stepwise.isnan().any():  # of a mean of nothing
            assert torch.allclose(ours, stepwise, atol=1e-12)
    assert not any(a.isnan().any() for a in found[0][1:])
