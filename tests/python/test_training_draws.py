"""Samples of gamma distributions with derivatives, distributions of vectors, special functions; the
numbers are PyTorch 2.15's.
"""

import pytest
from numbus.compat import torch
from numbus.compat.torch.distributions.continuous import _Followed

pytestmark = pytest.mark.numbus
D = torch.distributions


def f8(*numbers, grad=False):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=grad)


def near(t, *wanted, tolerance=1e-7):
    assert t.reshape(-1).tolist() == pytest.approx(wanted, rel=tolerance, nan_ok=True)


def test_derivatives_of_gamma_numbers():
    c = f8(0.3, 1.0, 2.5, 40.0, grad=True)
    _Followed.apply(c, f8(0.2, 0.7, 4.0, 35.0)).sum().backward()
    near(c.grad, 1.2120, 0.97322, 1.3395, 0.93861, tolerance=1e-4)
    torch.manual_seed(1)
    a, b = f8(0.5, 3.0, grad=True), f8(2.0, 1.0, grad=True)
    D.Gamma(a, b).rsample((2000,)).mean(0).sum().backward()
    near(a.grad, 0.5, 1.0, tolerance=0.15)
    near(b.grad, -0.125, -3.0, tolerance=0.15)
    kin = [D.Beta(a, b), D.Dirichlet(a), D.StudentT(a), D.Chi2(a), D.InverseGamma(a, b),
           D.FisherSnedecor(a, b)]  # fmt: skip
    assert all(d.rsample((2,)).requires_grad and not d.sample().requires_grad for d in kin)
    again = torch.autograd.grad
    with pytest.raises(RuntimeError, match="derivative of a derivative"):
        again(again(D.Gamma(a, b).rsample().sum(), a, create_graph=True)[0].sum(), a)


def test_distributions_of_vectors_and_angles():
    d = D.LogisticNormal(f8(0.1, -0.3), f8(0.5, 2.0))
    near(d.log_prob(f8(0.2, 0.3, 0.5)), 0.4049600004)
    drawn = d.sample((50,))
    assert drawn.shape == (50, 3) and torch.allclose(drawn.sum(-1), torch.ones(50).double())
    factor = f8(1.0, 0.5, -1.0, 2.0, 0.3, 0.1).reshape(3, 2)
    low = D.LowRankMultivariateNormal(f8(0.0, 1.0, 2.0), factor, f8(0.5, 1.0, 2.0))
    full = D.MultivariateNormal(f8(0.0, 1.0, 2.0), low.covariance_matrix)
    x = f8(0.3, -0.7, 1.1)
    near(low.log_prob(x), float(full.log_prob(x)))
    near(low.entropy(), float(full.entropy()))
    assert low.rsample((4,)).shape == (4, 3)
    angle = D.VonMises(f8(0.5), f8(2.0))
    near(angle.log_prob(f8(0.1)), -0.8197486221)
    near(angle.variance, 0.3022253424)
    assert bool((angle.sample((99,)).abs() < 3.15).all())
    near(D.Gamma(f8(2.0), f8(3.0)).cdf(f8(0.5)), 0.4421745996)
    near(D.InverseGamma(f8(2.0), f8(3.0)).cdf(f8(0.5)), 0.0173512652)


def test_special_functions_far_from_zero():
    s = torch.special
    x = f8(-800.0, -2.0, 0.0, 3.0, grad=True)
    near(s.i0e(x), 0.01410694, 0.3085083, 1.0, 0.2430004, tolerance=1e-6)
    near(s.i1e(x), -0.01409812, -0.2152693, 0.0, 0.1968267, tolerance=1e-6)
    near(s.log_ndtr(f8(-40.0, 0.0, 9.0)), -804.6084420138, -0.69314718056, -1.12858841e-19)
    near(s.ndtri(f8(1e-20, 0.5, 0.975, 0.0, 2.0)), -9.262340090, 0.0, 1.959963985,
         float("-inf"), float("nan"))  # fmt: skip
    near(s.erfcx(f8(30.0, -1.0)), 0.0187958888614, 5.00898008076)
    s.log_ndtr(x).sum().backward()
    near(x.grad, 800.00125, 2.3732155, 0.7978846, 0.0044378, tolerance=1e-4)
    y = f8(0.5, 9.0, grad=True)
    (s.gammainc(f8(2.0), y) - 3 * s.gammaincc(f8(2.0), y)).sum().backward()
    near(y.grad, 1.2130613, 0.0044427, tolerance=1e-4)  # four times x exp(-x)
    with pytest.raises(NotImplementedError, match="first argument"):
        s.gammainc(x, f8(1.0)).sum().backward()
