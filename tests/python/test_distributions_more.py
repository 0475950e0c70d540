"""torch.distributions: cdf, icdf, modes, lists of values and divergences, against SciPy."""

import math

import numpy
import pytest
import scipy.integrate as integrate
import scipy.stats as stats
from numbus import tensors as torch
from numbus.compat.torch import distributions as d

A, B = numpy.array([0.3, 0.7, 1.4]), numpy.array([1.2, 0.5, 2.0])
a, b = torch.from_numpy(A), torch.from_numpy(B)
P = numpy.array([0.2, 0.3, 0.5])
p = torch.from_numpy(P)

INVERTIBLE = {
    "LogNormal": (d.LogNormal(a, b), stats.lognorm(B, scale=numpy.exp(A))),
    "Laplace": (d.Laplace(a, b), stats.laplace(A, B)),
    "Gumbel": (d.Gumbel(a, b), stats.gumbel_r(A, B)),
    "Cauchy": (d.Cauchy(a, b), stats.cauchy(A, B)),
    "HalfNormal": (d.HalfNormal(b), stats.halfnorm(0, B)),
    "HalfCauchy": (d.HalfCauchy(b), stats.halfcauchy(0, B)),
    "Weibull": (d.Weibull(a, b), stats.weibull_min(B, scale=A)),
    "Pareto": (d.Pareto(a, b), stats.pareto(B, scale=A)),
}


@pytest.mark.parametrize("name", sorted(INVERTIBLE))
def test_cdf_and_icdf_are_scipys(name):
    made, oracle = INVERTIBLE[name]
    x = made.icdf(p)
    numpy.testing.assert_allclose(x.cpu().numpy(), oracle.ppf(P), rtol=1e-9)
    numpy.testing.assert_allclose(made.cdf(x).cpu().numpy(), P, rtol=1e-9)


def test_distribution_functions_of_gammas():
    whole = d.Gamma(a * 0 + 1, b).cdf(a)  # of the shape 1: exponential numbers
    assert torch.allclose(whole, 1 - (-a * b).exp())
    assert torch.allclose(d.Chi2(b * 0 + 2).cdf(a), 1 - (-a / 2).exp())
    assert torch.allclose(d.InverseGamma(a * 0 + 1, b).cdf(a), (-b / a).exp())


def test_modes():
    over = d.Gamma(a + 1, b).mode.cpu().numpy()
    numpy.testing.assert_allclose(over, A / B)
    assert d.Gamma(a * 0 + 0.5, b).mode.tolist() == [0, 0, 0]
    numpy.testing.assert_allclose(d.Beta(a + 1, b + 1).mode.cpu().numpy(), A / (A + B))
    assert d.Dirichlet(p).mode.tolist() == [1, 0, 0]  # PyTorch's of concentrations below 1
    assert d.Binomial(4, p).mode.tolist() == [1, 1, 2]
    assert d.Binomial(4, p * 0 + 1).mode.tolist() == [4, 4, 4]
    assert d.Poisson(a + b).mode.tolist() == [1, 1, 3]
    assert d.OneHotCategorical(p).mode.tolist() == [0, 0, 1]
    assert all(math.isnan(x) for x in d.Uniform(a, a + b).mode.tolist())
    assert d.HalfCauchy(b).mean.tolist() == [math.inf] * 3
    with pytest.raises(NotImplementedError, match="no mode"):
        _ = d.Multinomial(4, p).mode


def test_lists_of_values_and_entropies_by_them():
    assert d.Bernoulli(p).enumerate_support().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert d.Bernoulli(p).enumerate_support(False).shape == (2, 1)
    assert d.Categorical(p).enumerate_support().tolist() == [0, 1, 2]
    assert d.OneHotCategorical(p).enumerate_support().tolist() == numpy.eye(3).tolist()
    assert d.Binomial(4, p).enumerate_support().shape == (5, 3)
    assert d.Independent(d.Bernoulli(p), 0).has_enumerate_support
    assert not d.Independent(d.Bernoulli(p), 1).has_enumerate_support
    assert not d.Normal(a, b).has_enumerate_support
    with pytest.raises(NotImplementedError, match="total_count differs"):
        d.Binomial(torch.tensor([1.0, 2.0, 3.0]), p).entropy()
    expected = stats.binom(4, P).entropy()
    numpy.testing.assert_allclose(d.Binomial(4, p).entropy().cpu().numpy(), expected)
    found = d.Multinomial(4, p).entropy().item()
    numpy.testing.assert_allclose(found, stats.multinomial(4, P).entropy())


@pytest.mark.parametrize("name", ["LogNormal", "Gumbel", "Cauchy", "HalfNormal", "Pareto"])
def test_divergences_are_the_integrals(name):
    of = {
        "LogNormal": (stats.lognorm(0.7, scale=math.exp(0.3)), stats.lognorm(1.1), (0.3, 0.7)),
        "Gumbel": (stats.gumbel_r(0.3, 0.7), stats.gumbel_r(0.0, 1.1), (0.3, 0.7)),
        "Cauchy": (stats.cauchy(0.3, 0.7), stats.cauchy(0.0, 1.1), (0.3, 0.7)),
        "HalfNormal": (stats.halfnorm(0, 0.7), stats.halfnorm(0, 1.1), (0.7,)),
        "Pareto": (stats.pareto(2.0, scale=1.3), stats.pareto(1.5, scale=1.0), (1.3, 2.0)),
    }
    first, second, of_p = of[name]
    of_q = {"HalfNormal": (1.1,), "Pareto": (1.0, 1.5)}.get(name, (0.0, 1.1))
    made, other = ([torch.tensor(x, dtype=torch.float64) for x in y] for y in (of_p, of_q))
    kind = getattr(d, name)

    def weighed(u):
        x = first.ppf(u)
        return first.logpdf(x) - second.logpdf(x)

    expected = integrate.quad(weighed, 0, 1)[0]
    got = d.kl_divergence(kind(*made), kind(*other)).item()
    assert got == pytest.approx(expected, rel=1e-5)


def test_kumaraswamy_and_fisher():
    made = d.Kumaraswamy(a, b)
    for k in range(3):
        x, y = A[k], B[k]
        first = integrate.quad(lambda u: (1 - (1 - u) ** (1 / y)) ** (1 / x), 0, 1)[0]  # noqa: B023
        assert made.mean[k].item() == pytest.approx(first, rel=1e-6)
    numpy.testing.assert_allclose(made.cdf(made.icdf(p)).cpu().numpy(), P, rtol=1e-9)
    numpy.testing.assert_allclose(
        made.log_prob(p).exp().cpu().numpy(), A * B * P ** (A - 1) * (1 - P**A) ** (B - 1)
    )
    fisher, oracle = d.FisherSnedecor(a, b + 4), stats.f(A, B + 4)
    numpy.testing.assert_allclose(fisher.log_prob(b).cpu().numpy(), oracle.logpdf(B))
    numpy.testing.assert_allclose(fisher.variance.cpu().numpy(), oracle.var())
    assert fisher.sample((2,)).shape == (2, 3)


def test_relaxed_bernoullis_have_the_density_of_their_samples():
    made = d.RelaxedBernoulli(torch.tensor(0.7, dtype=torch.float64), p[:1])
    density = [math.exp(made.log_prob(torch.tensor([x], dtype=torch.float64)).item())
               for x in numpy.linspace(0.0005, 0.9995, 1000)]  # fmt: skip
    assert sum(density) / 1000 == pytest.approx(1, abs=0.02)
    logits = torch.zeros(3, requires_grad=True)
    drawn = d.RelaxedBernoulli(0.5, logits=logits).rsample((4,))
    drawn.sum().backward()
    assert drawn.shape == (4, 3) and bool((logits.grad > 0).all())
    relaxed = d.RelaxedBernoulli(torch.tensor([0.5]), probs=torch.tensor(0.3))
    assert relaxed.expand((2,)).log_prob(torch.tensor([0.2, 0.4])).shape == (2,)


def test_divergence_of_binomials():
    first, second = d.Binomial(4, p), d.Binomial(4, p.flip(0))
    one, two = stats.binom(4, P), stats.binom(4, P[::-1])
    expected = sum(one.pmf(k) * (one.logpmf(k) - two.logpmf(k)) for k in range(5))
    found = d.kl_divergence(first, second).cpu().numpy()
    numpy.testing.assert_allclose(found, expected, atol=1e-12)
    assert d.kl_divergence(first, d.Binomial(3, p)).tolist() == [math.inf] * 3
    with pytest.raises(NotImplementedError, match="q counts more"):
        d.kl_divergence(first, d.Binomial(5, p))
