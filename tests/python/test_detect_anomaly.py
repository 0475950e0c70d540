"""`detect_anomaly`: the first operation, or derivative of one, that makes NaN is named."""

import numbus as nb
import numpy
import pytest
from numbus import _core, nn
from numbus import tensors as torch

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning"),
]


def _in_place(x):
    x[1:] /= x[1:] - x[1:]
    return x


FORWARD = {
    "sqrt": lambda x: nb.exp(nb.sqrt(x - 2) + 1),
    "subtract": lambda x: (x + nb.inf) - (x + nb.inf),
    "divide": lambda x: _in_place(x - x),
    "log": lambda x: nb.sin(nb.log(x[1:] - 5)).sum(),
}
BACKWARD = {
    "sqrt": lambda x: (nb.sqrt(x * 0) * 0).sum(),
    "power": lambda x: ((x * 0) ** 0.7 * 0).sum(),
}


@pytest.mark.parametrize("name", FORWARD)
def test_operations(name):
    x = nb.array([0.0, 1.0, 2.0])
    with pytest.raises(RuntimeError, match=rf"gave NaN; got {name} at .*anomaly.py:\d+"):
        with nb.detect_anomaly():
            FORWARD[name](x)


def test_powers_that_are_other_operations():
    for _ in range(2):
        with pytest.raises(RuntimeError, match="gave NaN; got sqrt at"), nb.detect_anomaly():
            nb.array([-1.0]) ** 0.5


@pytest.mark.parametrize("name", ["sqrt", "power"])
def test_derivatives(name):
    with pytest.raises(RuntimeError, match=f"derivative is NaN; got the derivative of {name} at"):
        with nb.detect_anomaly():
            nb.grad(BACKWARD[name])(nb.array([1.0, 2.0]))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for block in (torch.autograd.detect_anomaly(), torch.autograd.set_detect_anomaly(True)):
        with pytest.raises(RuntimeError, match=f"derivative is NaN; got the derivative of {name}"):
            with block:
                (((x * 0) ** 0.7) if name == "power" else torch.sqrt(x * 0)).mul(0).sum().backward()
    assert x.grad is None
    with torch.autograd.detect_anomaly(check_nan=False):
        torch.sqrt(x * 0).mul(0).sum().backward()
    assert numpy.isnan(x.grad.cpu().numpy()).all()


def test_nan_that_was_there():
    with nb.detect_anomaly():
        x = nb.array([0.0, nb.nan, 3.0])
        y = nb.where(x > 1, x, nb.nan) + nb.full(3, nb.nan)
        y[x > 1] = x[x > 1] * 2
        x[nb.array([1])] = 5.0
        assert numpy.isnan(y.tolist()).tolist() == [True, True, False]
        assert not nb.isnan(x).any()
    assert numpy.isnan(nb.sqrt(nb.array([-1.0]))).all()  # outside of the block


def test_nets():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    x, y = torch.ones(2, 1, 4, 4), torch.tensor([0, 2])
    with nb.detect_anomaly():
        nn.functional.cross_entropy(net(x), y).backward()
        with pytest.raises(RuntimeError, match="detect_anomaly"):
            nn.functional.cross_entropy(net(x / 0), y)


def test_functions_with_derivatives_of_their_own():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="derivative of Bad at"):
        Bad.apply(x).sum().backward()


@pytest.mark.skipif(
    _core.get_device().startswith("cuda"), reason="a GPU's library raises LinAlgError before"
)
@pytest.mark.parametrize("size", [2, 40])
def test_libraries_on_a_cpu(size):
    a = nb.eye(size)
    a[0, 1] = numpy.inf
    for name, function in {
        "solve": lambda: nb.linalg.solve(a, nb.ones(size)),
        "inv": lambda: nb.linalg.inv(a * 1.0),
    }.items():
        if not numpy.isnan(numpy.asarray(function())).any():
            continue
        with pytest.raises(RuntimeError, match=f"gave NaN; got {name} at"), nb.detect_anomaly():
            function()
    x = nb.ones(size * 64)
    x[3] = numpy.inf
    with pytest.raises(RuntimeError, match=r"gave NaN; got .* at"), nb.detect_anomaly():
        numpy.asarray(nb.fft.rfft(x))
    a[0, 0] = numpy.nan  # an operand that has NaN says nothing of the operation
    with nb.detect_anomaly():
        nb.linalg.solve(a, nb.ones(size))
