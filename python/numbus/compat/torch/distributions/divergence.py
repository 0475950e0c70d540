"""Kullback and Leibler's divergence of pairs of distributions."""

import math

from .... import tensors
from ....core.errors import message
from ....nn import functional as F
from .continuous import (
    Beta,
    Cauchy,
    Dirichlet,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Independent
from .transformed import Pareto

_TABLE = {}


def register_kl(type_p, type_q):
    """Has a function give the divergence of a pair of classes: a decorator."""

    def decorate(function):
        _TABLE[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p, q):
    """The divergence of p from q: the expected log p - log q. NotImplementedError for others."""
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            if (first, second) in _TABLE:
                return _TABLE[first, second](p, q)
    raise NotImplementedError(
        message("kl_divergence", "no formula for the pair", f"{type(p).__name__},"
                f" {type(q).__name__}", "a pair that register_kl knows")
    )  # fmt: skip


@register_kl(Normal, Normal)
def _normals(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - ratio.log())


# The same function of the numbers of both changes no divergence.
register_kl(LogNormal, LogNormal)(_normals)


@register_kl(Cauchy, Cauchy)
def _cauchys(p, q):
    """Chyzak and Nielsen, A closed-form formula for the divergence between Cauchy (2019)."""
    both = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return (both / (4 * p.scale * q.scale)).log()


@register_kl(Gumbel, Gumbel)
def _gumbels(p, q):
    euler, ratio = 0.5772156649015329, p.scale / q.scale
    far = (p.loc - q.loc) / q.scale
    expected = (-far + (1 + ratio).lgamma()).exp()
    return -ratio.log() + far + euler * (ratio - 1) + expected - 1


@register_kl(Pareto, Pareto)
def _paretos(p, q):
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return tensors.where(p.scale < q.scale, math.inf, found)


@register_kl(Geometric, Geometric)
def _geometrics(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p, q):
    a = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    a = tensors.where(p.probs == 0, 0.0, tensors.where(q.probs == 0, math.inf, a))
    b = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    b = tensors.where(p.probs == 1, 0.0, tensors.where(q.probs == 1, math.inf, b))
    return a + b


@register_kl(Binomial, Binomial)
def _binomials(p, q):
    n, other = p.total_count, q.total_count
    if bool((n < other).any()):
        raise NotImplementedError(
            message("kl_divergence", "q counts more than p", other.tolist(), n.tolist())
        )
    found = tensors.where(n == 0, 0.0, n * _bernoullis(p, q))
    return tensors.where(n > other, math.inf, found)


@register_kl(Categorical, Categorical)
def _categoricals(p, q):
    t = p.probs * (p.logits - q.logits)
    t = tensors.where(q.probs == 0, math.inf, t)
    return tensors.where(p.probs == 0, 0.0, t).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p, q):
    return _categoricals(p._categorical, q._categorical)


@register_kl(Exponential, Exponential)
def _exponentials(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplaces(p, q):
    ratio = p.scale / q.scale
    far = (p.loc - q.loc).abs()
    return -ratio.log() + far / q.scale + ratio * (-far / p.scale).exp() - 1


@register_kl(Poisson, Poisson)
def _poissons(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniforms(p, q):
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return tensors.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Gamma, Gamma)
def _gammas(p, q):
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
        + (q.rate - p.rate) * (a / p.rate)
    )  # fmt: skip


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p, q):
    a, b = p.concentration, q.concentration
    total, other = a.sum(-1), b.sum(-1)
    first = total.lgamma() - other.lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return first + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _betas(p, q):
    return _dirichlets(p._dirichlet, q._dirichlet)


@register_kl(MultivariateNormal, MultivariateNormal)
def _vectors(p, q):
    n = p.event_shape[0]
    half = q._half_log_det() - p._half_log_det()
    ratio = tensors.linalg.solve(q._factor, p._factor)
    d = tensors.linalg.solve(q._factor, (q.loc - p.loc).unsqueeze(-1))
    return half + 0.5 * ((ratio**2).sum((-2, -1)) + (d**2).sum((-2, -1)) - n)


@register_kl(Independent, Independent)
def _independents(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            message("kl_divergence", "other numbers of dimensions", p.reinterpreted_batch_ndims,
                    q.reinterpreted_batch_ndims)
        )  # fmt: skip
    return p._summed(kl_divergence(p.base_dist, q.base_dist))
