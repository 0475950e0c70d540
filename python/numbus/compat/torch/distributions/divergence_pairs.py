"""Divergences of pairs of distributions of different kinds.

The divergence of p from q is the expected value of -log q, less the entropy of p. That of -log q is
made of expected values of x, log x and exp(-x) here.
"""

import math

from .... import tensors
from .continuous import (
    Beta,
    Exponential,
    Gamma,
    Gumbel,
    Laplace,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete import Bernoulli, Binomial, Poisson
from .divergence import kl_divergence, register_kl
from .transformed import Pareto
from .vectors import LowRankMultivariateNormal

_EULER = 0.57721566490153286060651209008240243


def _mean_log(p):
    """The expected value of log x."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Exponential):
        return -_EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low, high):
    return (tensors.xlogy(high, high) - tensors.xlogy(low, low)) / (high - low) - 1


def _mean_decay(p, width):
    """The expected value of exp(-x / width)."""
    if isinstance(p, Normal):
        return (-p.loc / width + 0.5 * (p.scale / width) ** 2).exp()
    if isinstance(p, Gamma):
        return (-p.concentration * (1 / (p.rate * width)).log1p()).exp()
    if isinstance(p, Exponential):
        return p.rate / (p.rate + 1 / width)
    return width * ((-p.low / width).exp() - (-p.high / width).exp()) / (p.high - p.low)


def _infinite(found, outside):
    """Infinite where p has values `outside` of those of q."""
    return tensors.where(outside, math.inf, found)


def _least(p):
    """The least value of p."""
    if isinstance(p, Uniform):
        return p.low
    return p.scale if isinstance(p, Pareto) else tensors.zeros_like(p.mean)


def _from_normal(p, q):
    spread = p.variance + (p.mean - q.loc) ** 2
    return (2 * math.pi * q.scale**2).log() / 2 + spread / (2 * q.scale**2) - p.entropy()


def _from_exponential(p, q):
    found = q.rate * p.mean - q.rate.log() - p.entropy()
    return _infinite(found, _least(p) < 0)


def _from_gamma(p, q):
    a = q.concentration
    found = a.lgamma() - a * q.rate.log() - (a - 1) * _mean_log(p) + q.rate * p.mean - p.entropy()
    return _infinite(found, _least(p) < 0)


def _from_gumbel(p, q):
    far = (p.mean - q.loc) / q.scale
    near = (q.loc / q.scale).exp() * _mean_decay(p, q.scale)
    return q.scale.log() + far + near - p.entropy()


def _from_pareto(p, q):
    found = (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return _infinite(found, _least(p) < q.scale)


for _p in (Beta, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):
    register_kl(_p, Normal)(_from_normal)
for _p in (Beta, Gamma, Pareto, Uniform):
    register_kl(_p, Exponential)(_from_exponential)
for _p in (Beta, Exponential, Pareto, Uniform):
    register_kl(_p, Gamma)(_from_gamma)
for _p in (Exponential, Gamma, Normal, Uniform):
    register_kl(_p, Gumbel)(_from_gumbel)
register_kl(Uniform, Pareto)(_from_pareto)


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    d = (p.loc - q.loc) / p.scale
    far = math.sqrt(2 / math.pi) * (-(d**2) / 2).exp() + d * (d / math.sqrt(2)).erf()
    return (2 * q.scale).log() + p.scale * far / q.scale - p.entropy()


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    found = (q.high - q.low).log() - p.entropy()
    return _infinite(found, (q.low > 0) | (q.high < 1))


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    logs = (a - 1) * _mean_log(p) + (b - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    found = a.lgamma() + b.lgamma() - (a + b).lgamma() - logs - p.entropy()
    return _infinite(found, (p.low < 0) | (p.high > 1))


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return q.rate - p.probs * q.rate.log() - p.entropy()


def _always_infinite(p, _q):
    return tensors.full_like(tensors.as_tensor(p.mean), math.inf)


for _p, _others in (
    (Beta, (Pareto,)),
    (Exponential, (Beta, Pareto, Uniform)),
    (Gamma, (Beta, Pareto, Uniform)),
    (Gumbel, (Beta, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, (Beta, Exponential, Gamma, Pareto, Uniform)),
    (Normal, (Beta, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, (Beta, Uniform)),
    (Poisson, (Bernoulli, Binomial)),
):
    for _q in _others:
        register_kl(_p, _q)(_always_infinite)


def _whole(p):
    """A normal vector of low rank by its whole matrix."""
    if isinstance(p, LowRankMultivariateNormal):
        return MultivariateNormal(p.loc, p.covariance_matrix, validate_args=False)
    return p


def _vectors_of_low_rank(p, q):
    return kl_divergence(_whole(p), _whole(q))


for _p, _q in (
    (LowRankMultivariateNormal, LowRankMultivariateNormal),
    (LowRankMultivariateNormal, MultivariateNormal),
    (MultivariateNormal, LowRankMultivariateNormal),
):
    register_kl(_p, _q)(_vectors_of_low_rank)
