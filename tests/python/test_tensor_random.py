"""Random tensors: moments, limits, and what the same seed or state repeats."""

import itertools

import numbus.tensors as torch
import numpy as np
import pytest
from numbus import _core, nn

DRAWS = {
    "randn": lambda n: torch.randn(n),
    "double": lambda n: torch.randn(n, dtype=torch.float64),
    "normal_": lambda n: torch.empty(n).normal_(),
    "rand": lambda n: torch.rand(n),
    "uniform_": lambda n: torch.empty(n).uniform_(),
    "randint": lambda n: torch.randint(-5, 1000, (n,)),
    "random_": lambda n: torch.zeros(n).random_(3, 100000),
}


@pytest.mark.parametrize("n", [1, 255, 256, 4095, 4097, 40000])
@pytest.mark.parametrize("name", DRAWS)
def test_repeats(name, n):
    draw = DRAWS[name]
    torch.manual_seed(7)
    first, state = draw(n), torch.get_rng_state()
    second = draw(n)
    torch.manual_seed(7)
    assert torch.equal(first, draw(n))
    assert torch.equal(second, draw(n))
    torch.set_rng_state(state)
    assert torch.equal(second, draw(n))
    if n > 1:
        assert not torch.equal(first, second)


def test_normal_moments():
    torch.manual_seed(1)
    for t in (torch.float32, torch.float64):
        a = torch.randn(400, 1000, dtype=t).double().cpu().numpy()
        assert abs(a.mean()) < 0.01
        for power, wanted in ((2, 1), (3, 0), (4, 3)):
            assert abs((a**power).mean() - wanted) < 0.05
        assert np.abs(np.corrcoef(a[:20])[np.triu_indices(20, 1)]).max() < 0.15
    a = torch.empty(100000).normal_(5, 3)
    assert abs(float(a.mean()) - 5) < 0.05
    assert abs(float(a.std()) - 3) < 0.05


@pytest.mark.parametrize(
    "low, high", [(0, 1), (-3, 4), (0, 2**31), (-(2**31), 2**31), (5, 5 + 2**32), (0, 2**33)]
)
def test_whole_numbers(low, high):
    torch.manual_seed(2)
    a = torch.randint(low, high, (100000,)).cpu().numpy()
    assert a.dtype == np.int64
    assert low <= a.min() <= a.max() < high
    counts = np.bincount((a - low) * min(high - low, 7) // (high - low))
    assert counts.min() > 0.9 * counts.max()


def test_whole_numbers_refused():
    for n, (low, high) in itertools.product((10, 10000), ((5, 5), (5, 2))):
        with pytest.raises(RuntimeError):
            torch.randint(low, high, (n,))


def test_poisson_and_binomial_numbers():
    torch.manual_seed(4)
    rates = torch.tensor([[0.0, 1.0, 4.0], [50.0, 1000.0, 0.5]])
    drawn = torch.poisson(rates.expand(20000, 2, 3))
    assert drawn.dtype == torch.float32 and torch.equal(drawn, drawn.round())
    assert torch.allclose(drawn.mean(0), rates, rtol=0.05) and (drawn[:, 0, 0] == 0).all()
    assert torch.allclose(drawn.var(0), rates, rtol=0.1)
    drawn = torch.binomial(torch.full((20000,), 10.0), torch.full((20000,), 0.3))
    assert abs(drawn.mean() - 3) < 0.1 and abs(drawn.var() - 2.1) < 0.15 and drawn.max() <= 10
    first = torch.poisson(rates, generator=torch.Generator().manual_seed(1))
    assert torch.equal(first, torch.poisson(rates, generator=torch.Generator().manual_seed(1)))
    with pytest.raises(RuntimeError, match="negative rates"):
        torch.poisson(-rates)
    if _core.get_device() != "cpu":
        loss = nn.functional.gaussian_nll_loss(rates, rates, -rates, reduction="none")
        assert loss.isnan().tolist() == [[False, True, True], [True, True, True]]
        return
    with pytest.raises(ValueError, match="var has negative"):
        nn.functional.gaussian_nll_loss(rates, rates, -rates)
