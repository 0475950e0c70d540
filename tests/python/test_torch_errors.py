"""Mistakes that PyTorch says by RuntimeError: they are caught as that and as what NumPy raises."""

import pickle
import traceback

import pytest
from numbus import nn
from numbus import tensors as torch
from numbus.nn import functional as F

pytestmark = [pytest.mark.numbus]

ones, zeros, at = torch.ones, torch.zeros, torch.tensor
MISTAKES = {
    "linear": lambda: nn.Linear(3, 2)(ones(1, 4)),
    "plus": lambda: ones(3) + ones(4),
    "add": lambda: torch.add(ones(3), ones(4)),
    "add_": lambda: ones(3).add_(ones(4)),
    "greater": lambda: ones(3) > ones(4),
    "matmul": lambda: ones(2, 3) @ ones(2, 3),
    "conv": lambda: nn.Conv2d(3, 4, 3)(ones(1, 2, 8, 8)),
    "lstm": lambda: nn.LSTM(3, 4)(ones(5, 2, 2)),
    "gru state": lambda: nn.GRU(3, 4)(ones(5, 2, 3), zeros(1, 3, 4)),
    "cell": lambda: nn.LSTMCell(3, 4)(ones(5, 2)),
    "batch norm": lambda: nn.BatchNorm1d(3)(ones(2, 4)),
    "nested": lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))(ones(1, 3)),
    "setitem": lambda: zeros(3).__setitem__(slice(None), ones(4)),
    "cat": lambda: torch.cat([ones(2, 3), ones(2, 4)]),
    "stack": lambda: torch.stack([ones(2), ones(3)]),
    "expand": lambda: ones(2, 3).expand(3, 3),
    "view": lambda: ones(3).view(2),
    "where": lambda: torch.where(at([True, False]), ones(3), ones(2)),
    "mse": lambda: F.mse_loss(ones(3), ones(4)),
    "chunk": lambda: ones(3).chunk(0),
    "recorded": lambda: ones(3, requires_grad=True) * ones(4),
    "narrow": lambda: ones(3).narrow(0, 2, 5),
    "narrow from the end": lambda: ones(3).narrow(0, -1, 2),
    "tril": lambda: torch.tril(ones(3)),
    "outer": lambda: torch.outer(ones(3, 2), ones(4)),
    "arange": lambda: torch.arange(0, 5, -1),
    "no step": lambda: torch.arange(0, 5, 0),
}

INDICES = {  # scatter_ and take tell of them when results are read, by an IndexError alone
    "gather": lambda: zeros(3).gather(0, at([4])).tolist(),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_runtime_errors(name):
    with pytest.raises(RuntimeError) as caught:
        MISTAKES[name]()
    assert "; got " in str(caught.value) and type(caught.value).__name__ == "RuntimeError"


@pytest.mark.parametrize("name", INDICES)
def test_indices_are_both(name):
    if torch.ones(1).device.type != "cpu":
        pytest.skip("indices are looked at when results are read")
    for kind in (RuntimeError, IndexError):
        with pytest.raises(kind, match=r"out of (bounds|range)"):
            INDICES[name]()


def test_what_is_known_of_an_error_stays():
    with pytest.raises(ValueError) as caught:
        ones(3) + ones(4)
    assert isinstance(caught.value, RuntimeError)
    lines = "".join(traceback.format_exception(caught.value))
    assert "ones(3) + ones(4)" in lines and "\nRuntimeError: [add] operands" in lines
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
    with pytest.raises(ValueError) as caught:
        nn.Sequential(nn.Linear(3, 4), nn.LSTM(5, 2))(ones(1, 3))
    assert "in layer '1': LSTM(5, 2)" in caught.value.__notes__[0]


def test_errors_of_users_stay_as_they_are():
    class Net(nn.Module):
        def forward(self, x):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        Net()(ones(2))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    "p, y", [(1.5, 1.0), (-0.1, 0.0), (float("nan"), 1.0), (0.5, 1.5), (0.5, float("nan"))]
)
def test_probabilities(p, y):
    if torch.ones(1).device.type != "cpu":
        pytest.skip("elements are not looked at there")
    for needs in (False, True):
        with pytest.raises(RuntimeError, match="probabilities"):
            F.binary_cross_entropy(at([p], requires_grad=needs), at([y]))
    assert F.binary_cross_entropy(at([0.0, 1.0]), at([0.0, 1.0])).item() == 0
