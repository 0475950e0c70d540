"""Derivatives where a formula has none, and where elements tie: what PyTorch 2.11 gives."""

import math

import pytest
from numbus import tensors as torch

pytestmark = [pytest.mark.numbus]

NAN = math.nan
ROWS = [[1.0, 1.0, 2.0], [3.0, 3.0, 3.0]]
CASES = [
    (lambda x: x.std(), [2.0] * 4, [0] * 4),
    (lambda x: x.std(unbiased=False), [3.0], [0]),
    (lambda x: x.std(1), ROWS, [-0.2887, -0.2887, 0.5774, 0, 0, 0]),
    (lambda x: sum(torch.std_mean(x)), [2.0] * 4, [0.25] * 4),
    (lambda x: x.std(), [1.0, NAN], [NAN, NAN]),
    (lambda x: x.std(), [1.0, 2.0, 4.0], [-0.4364, -0.1091, 0.5455]),
    (lambda x: torch.atan2(x, x), [0.0], [0]),
    (lambda x: torch.atan2(x, torch.tensor([0.0, -0.0, 0.0, 2.0])), [0.0, 0.0, -0.0, 1.0],
     [0, 0, 0, 0.4]),
    (lambda x: torch.atan2(torch.tensor([[0.0, 1.0], [0.0, 2.0]]), x), [0.0, 0.0], [0, -1.5]),
    (lambda x: x.median(), [1.0] * 3, [1 / 3] * 3),
    (lambda x: x.median(), [3.0, 1.0, 1.0, 2.0], [0, 0.5, 0.5, 0]),
    (lambda x: x.median(), ROWS, [0, 0, 1, 0, 0, 0]),
    (lambda x: x.median(), [1.0, NAN, NAN], [0, 0.5, 0.5]),
    (lambda x: x.nanmedian(), [1.0, NAN, 1.0, 2.0], [0.5, 0, 0.5, 0]),
    (lambda x: x.max(), [1.0, 1.0], [0.5, 0.5]),
    (lambda x: x.norm(), [0.0, 0.0], [0, 0]),
    (lambda x: torch.angle(x), [0.0, -1.0], [0, 0]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CASES)))
def test_slopes(case):
    f, values, wanted = CASES[case]
    # On some devices what a call recorded is recorded again, with and without derivatives.
    for needs in (False, True, True, False, True):
        x = torch.tensor(values, requires_grad=needs)
        y = f(x)
        with torch.no_grad():
            assert torch.equal(torch.nan_to_num(y.detach()), torch.nan_to_num(f(x)))
        if needs:
            y.sum().backward()
            found = x.grad.reshape(-1)
            wanted_ = torch.tensor(wanted, dtype=torch.float32)
            assert torch.allclose(found, wanted_, atol=1e-4, equal_nan=True), found
