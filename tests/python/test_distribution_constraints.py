"""torch.distributions.constraints, the transforms to them, and divergences of other pairs."""

import math

import numbus.compat.torch as torch
import numpy
import pytest
from numbus.compat.torch import distributions as d
from numbus.compat.torch.distributions import constraints as c

u = torch.tensor([0.3, -1.2, 2.0]).double()
square = torch.tensor([[1.0, 2.0], [0.5, -1.0]]).double()


@pytest.mark.parametrize(
    "constraint",
    [
        c.real, c.positive, c.nonnegative, c.unit_interval, c.interval(-2.0, 3.0),
        c.half_open_interval(1.0, 2.0), c.greater_than(4.0), c.greater_than_eq(-1.0),
        c.less_than(2.0), c.simplex, c.corr_cholesky, c.independent(c.positive, 1), c.real_vector,
        c.cat([c.positive, c.less_than(0.0)], -1, [1, 2]), c.stack([c.positive] * 3, -1),
    ],
    ids=str,
)  # fmt: skip
def test_transforms_give_what_a_constraint_asks_for(constraint):
    f = d.biject_to(constraint)
    made = f(u)
    assert constraint.check(made).all() and f.bijective
    numpy.testing.assert_allclose(f.inv(made).numpy(), u.numpy(), rtol=1e-6)
    assert f.inv.domain is f.codomain
    if f.event_dim == 0:
        (slope,) = torch.autograd.grad(f(v := u.clone().requires_grad_()).sum(), v)
        found = f.log_abs_det_jacobian(u, made)
        numpy.testing.assert_allclose(found.numpy(), slope.abs().log().numpy(), atol=1e-12)


def test_matrices():
    for constraint in (c.lower_cholesky, c.positive_definite):
        f = d.transform_to(constraint)
        made = f(square)
        assert constraint.check(made) and constraint.event_dim == 2 and not f.bijective
        lower = torch.tril(square)
        numpy.testing.assert_allclose(f.inv(made).numpy(), lower.numpy(), atol=1e-9)
    assert not c.positive_definite.check(-torch.eye(2)) and not c.symmetric.check(square)
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        d.transform_to(c.boolean)
    f, size = d.biject_to(c.corr_cholesky), 3
    jacobian = torch.autograd.functional.jacobian(f, u)
    below = jacobian[*torch.tril_indices(size, size, -1)]
    exact = torch.linalg.slogdet(below).logabsdet
    numpy.testing.assert_allclose(f.log_abs_det_jacobian(u, f(u)), exact, rtol=1e-9)


def test_supports():
    for made, text, inside, outside in (
        (d.Normal(0.0, 1.0), "Real()", -3.0, math.nan),
        (d.Gamma(1.0, 1.0), "GreaterThanEq(lower_bound=0.0)", 0.5, -1.0),
        (d.Beta(1.0, 2.0), "Interval(lower_bound=0.0, upper_bound=1.0)", 0.5, 2.0),
        (d.Bernoulli(0.5), "Boolean()", 1.0, 0.3),
        (d.Poisson(1.0), "IntegerGreaterThan(lower_bound=0)", 2.0, 0.5),
        (d.Categorical(torch.ones(3)), "IntegerInterval(lower_bound=0, upper_bound=2)", 2, 3),
        (d.Pareto(1.0, 1.0), "GreaterThanEq(lower_bound=1.0)", 1.5, 0.5),
        (d.LogNormal(0.0, 1.0), "GreaterThan(lower_bound=0.0)", 1.5, -0.5),
    ):
        assert str(made.support) == text
        inside, outside = torch.tensor(inside), torch.tensor(outside)
        assert made.support.check(inside) and not made.support.check(outside)
        made.log_prob(inside)
        with pytest.raises(ValueError):
            made.log_prob(outside)
    one = d.Independent(d.Normal(torch.zeros(2), 1.0), 1)
    assert str(one.support) == "IndependentConstraint(Real(), 1)" and one.support.event_dim == 1
    assert d.Normal.arg_constraints["scale"] is c.positive
    with pytest.raises(ValueError):
        d.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))
    with pytest.raises(ValueError):
        d.RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(2)).log_prob(u[:2].float().abs())


class Mine(d.Distribution):
    """A program's own distribution."""

    arg_constraints = {"a": c.positive, "b": c.real}  # noqa: RUF012
    support = c.positive

    def __init__(self, a, b, validate_args=None):
        self.a, self.b = d.utils.broadcast_all(a, b)
        super().__init__(self.a.shape, validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -value * self.a


def test_distributions_of_programs():
    mine = Mine(1.0, torch.tensor([1.0, 2.0]))
    assert mine.log_prob(torch.tensor(2.0)).tolist() == [-2, -2]
    assert str(mine) == "Mine(a: torch.Size([2]), b: torch.Size([2]))"
    for wrong in (lambda: Mine(-1.0, 0.0), lambda: mine.log_prob(torch.tensor(-2.0))):
        with pytest.raises(ValueError):
            wrong()


def test_divergences_of_other_pairs():
    """The divergence is the integral of p log(p / q), here by the trapezoidal rule."""
    two = torch.tensor([2.0]).double()
    for p, q in (
        (d.Beta(two, 3 * two), d.Normal(0.3, two)),
        (d.Gamma(two, two), d.Exponential(two / 3)),
        (d.Exponential(two), d.Gumbel(two / 5, two)),
        (d.Uniform(two / 20, two / 3), d.Beta(two, two)),
        (d.Normal(two / 3, two / 5), d.Laplace(0.0, two)),
        (d.Pareto(two / 4, 4 * two), d.Gamma(two, two)),
        (d.Uniform(two / 2, two), d.Pareto(two / 4, two)),
        (d.Laplace(two, two / 9), d.Normal(two, two)),
    ):
        x = torch.linspace(-6, 12, 600_001, dtype=torch.float64) + 1e-6
        x = x[p.support.check(x)]
        log = p.log_prob(x)
        inside = log > -40
        x, log = x[inside], log[inside]
        exact = torch.trapezoid(log.exp() * (log - q.log_prob(x)), x)
        numpy.testing.assert_allclose(d.kl_divergence(p, q).item(), exact, rtol=3e-4)
    assert d.kl_divergence(d.Normal(0.0, 1.0), d.Gamma(1.0, 1.0)) == math.inf
    assert d.kl_divergence(d.Uniform(0.0, 1.0), d.Pareto(0.5, 1.0)) == math.inf
    m = d.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2))
    assert abs(d.kl_divergence(m, d.MultivariateNormal(m.loc, m.covariance_matrix))) < 1e-6
