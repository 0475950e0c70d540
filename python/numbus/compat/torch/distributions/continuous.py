"""Distributions of real numbers."""

import math
from typing import ClassVar

import numpy

from .... import tensors
from ....core.errors import message
from ....tensors import random, tensor_function
from ....tensors.autograd import Function, once_differentiable
from ..._gamma import gamma_slope
from ..special import gammainc
from . import constraints
from .distribution import POSITIVE, POSITIVES, REAL, Distribution, positive, real, together, unit

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _uniform(shape, like):
    """Numbers within (0, 1) without its limits."""
    tiny = tensors.finfo(like.dtype).tiny
    return tensors.rand(tuple(shape), dtype=like.dtype, device=like.device).clamp(min=tiny)


class _Located(Distribution):
    """Distributions of a location and a scale."""

    support = constraints.real
    has_rsample = True
    arg_constraints: ClassVar = {"loc": REAL, "scale": POSITIVE}

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def _standard(self, value):
        self._check(value, real, "real numbers")
        return (value - self.loc) / self.scale


class Normal(_Located):
    """Normal distributions of means `loc` and standard deviations `scale`."""

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale**2)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        drawn = tensors.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + drawn * self.scale

    def log_prob(self, value):
        """The logarithm of the density."""
        return -(self._standard(value) ** 2) / 2 - self.scale.log() - _HALF_LOG_2PI

    def entropy(self):
        """The entropy in nats."""
        return 0.5 + _HALF_LOG_2PI + self.scale.log()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, real, "real numbers")
        return 0.5 * (1 + (self._standard(value) / math.sqrt(2)).erf())

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)


class LogNormal(_Located):
    """Distributions of exp(x) of normal x."""

    support = constraints.positive
    mean = property(lambda self: (self.loc + self.scale**2 / 2).exp())
    mode = property(lambda self: (self.loc - self.scale**2).exp())

    @property
    def variance(self):
        """The variance."""
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return Normal(self.loc, self.scale, False).rsample(sample_shape).exp()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, positive, "numbers above 0")
        return Normal(self.loc, self.scale, False).cdf(value.log())

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return Normal(self.loc, self.scale, False).icdf(value).exp()

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, positive, "numbers above 0")
        x = value.log()
        return Normal(self.loc, self.scale, False).log_prob(x) - x

    def entropy(self):
        """The entropy in nats."""
        return 0.5 + _HALF_LOG_2PI + self.scale.log() + self.loc


class Laplace(_Located):
    """Laplace's distributions."""

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale**2)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        u = _uniform(self._extended_shape(sample_shape), self.loc) * 2 - 1
        tiny = tensors.finfo(self.loc.dtype).eps
        return self.loc - self.scale * u.sign() * (-u.abs()).clamp(min=tiny - 1).log1p()

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        off = value - 0.5
        return self.loc - self.scale * off.sign() * (-2 * off.abs()).log1p()

    def log_prob(self, value):
        """The logarithm of the density."""
        return -(2 * self.scale).log() - self._standard(value).abs()

    def entropy(self):
        """The entropy in nats."""
        return 1 + (2 * self.scale).log()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, real, "real numbers")
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()


class Gumbel(_Located):
    """Gumbel's distributions."""

    mean = property(lambda self: self.loc + self.scale * 0.5772156649015329)
    mode = property(lambda self: self.loc)
    variance = property(lambda self: (math.pi * self.scale) ** 2 / 6)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        u = _uniform(self._extended_shape(sample_shape), self.loc)
        high = 1 - tensors.finfo(self.loc.dtype).eps
        return self.loc - self.scale * (-u.clamp(max=high).log()).log()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        return (-(-self._standard(value)).exp()).exp()

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return self.loc - self.scale * (-value.log()).log()

    def log_prob(self, value):
        """The logarithm of the density."""
        z = -self._standard(value)
        return z - z.exp() - self.scale.log()

    def entropy(self):
        """The entropy in nats."""
        return self.scale.log() + 1.5772156649015329


class Cauchy(_Located):
    """Cauchy's distributions."""

    mode = property(lambda self: self.loc)
    mean = property(lambda self: tensors.full_like(self.loc, math.nan))
    variance = property(lambda self: tensors.full_like(self.loc, math.inf))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        u = _uniform(self._extended_shape(sample_shape), self.loc)
        return self.loc + self.scale * (math.pi * (u - 0.5)).tan()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        return self._standard(value).atan() / math.pi + 0.5

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return self.loc + self.scale * (math.pi * (value - 0.5)).tan()

    def log_prob(self, value):
        """The logarithm of the density."""
        return -math.log(math.pi) - self.scale.log() - (self._standard(value) ** 2).log1p()

    def entropy(self):
        """The entropy in nats."""
        return math.log(4 * math.pi) + self.scale.log()


class HalfNormal(Distribution):
    """Distributions of |x| of normal x around 0."""

    def _shown(self):
        return ()

    support = constraints.nonnegative
    has_rsample = True
    arg_constraints: ClassVar = {"scale": POSITIVE}

    def __init__(self, scale, validate_args=None):
        (self.scale,) = together(scale)
        super().__init__(self.scale.shape, (), validate_args)

    mode = property(lambda self: tensors.zeros_like(self.scale))
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale**2 * (1 - 2 / math.pi))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return Normal(self.scale * 0, self.scale, False).rsample(sample_shape).abs()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        return 2 * Normal(self.scale * 0, self.scale, False).cdf(value) - 1

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return Normal(self.scale * 0, self.scale, False).icdf((value + 1) / 2)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        found = Normal(self.scale * 0, self.scale, False).log_prob(value) + math.log(2)
        return tensors.where(value >= 0, found, -math.inf)

    def entropy(self):
        """The entropy in nats."""
        return Normal(self.scale * 0, self.scale, False).entropy() - math.log(2)


class Uniform(Distribution):
    """Numbers from `low` up to `high`, all as probable."""

    _checks_itself = True

    @property
    def arg_constraints(self):
        """Each limit's, by the other one."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @constraints.dependent_property
    def support(self):
        """The constraint of values."""
        return constraints.interval(self.low, self.high)

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = together(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError(
                message("Uniform", "low is not below high", self.low.tolist(), self.high.tolist())
            )

    mode = property(lambda self: math.nan * self.high)  # no number is likelier
    mean = property(lambda self: (self.low + self.high) / 2)
    variance = property(lambda self: (self.high - self.low) ** 2 / 12)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        u = tensors.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: (x >= self.low) & (x <= self.high), "within the limits")
        inside = (value >= self.low) & (value < self.high)
        return tensors.where(inside, -(self.high - self.low).log(), -math.inf)

    def entropy(self):
        """The entropy in nats."""
        return (self.high - self.low).log()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, lambda x: (x >= self.low) & (x <= self.high), "within the limits")
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return value * (self.high - self.low) + self.low


class Exponential(Distribution):
    """Exponential distributions of a rate."""

    support = constraints.nonnegative
    has_rsample = True
    arg_constraints: ClassVar = {"rate": POSITIVE}

    def __init__(self, rate, validate_args=None):
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    mode = property(lambda self: tensors.zeros_like(self.rate))
    mean = property(lambda self: 1 / self.rate)
    stddev = property(lambda self: 1 / self.rate)
    variance = property(lambda self: self.rate**-2)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return -_uniform(self._extended_shape(sample_shape), self.rate).log() / self.rate

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        return self.rate.log() - self.rate * value

    def entropy(self):
        """The entropy in nats."""
        return 1 - self.rate.log()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        return -(-self.rate * value).expm1()

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return -(-value).log1p() / self.rate


class Gamma(Distribution):
    """Gamma distributions."""

    support = constraints.nonnegative
    has_rsample = True

    arg_constraints: ClassVar = {"concentration": POSITIVE, "rate": POSITIVE}

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = together(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    mean = property(lambda self: self.concentration / self.rate)
    variance = property(lambda self: self.concentration / self.rate**2)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        return _gamma(self.concentration, shape) / self.rate

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        c, r = self.concentration, self.rate
        return c * r.log() + (c - 1) * value.log() - r * value - c.lgamma()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        return gammainc(self.concentration, self.rate * value)

    def entropy(self):
        """The entropy in nats."""
        c = self.concentration
        return c - self.rate.log() + c.lgamma() + (1 - c) * c.digamma()


class _Followed(Function):
    """Gamma numbers of rate 1 as results of their parameters, by the implicit derivative."""

    @staticmethod
    def forward(ctx, concentration, drawn):
        ctx.save_for_backward(concentration, drawn)
        return drawn.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        c, drawn = (t.double() for t in ctx.saved_tensors)
        return (g * _slope(c, drawn.log(), (c + 1).digamma()) * drawn).to(g.dtype), None


_slope = tensor_function(lambda c, x, psi: gamma_slope(c, x, psi))


def _gamma(concentration, shape):
    """Gamma numbers of rate 1, drawn by the host, with derivatives by the concentration."""
    c = concentration.detach()
    a = c.cpu().numpy().astype("f8")
    drawn = numpy.asarray(random.rng().standard_gamma(numpy.broadcast_to(a, shape)))
    made = tensors.from_numpy(drawn.reshape(shape)).to(c.dtype).to(c.device)
    made = made.clamp(min=tensors.finfo(c.dtype).tiny)
    if not (concentration.requires_grad and tensors.is_grad_enabled()):
        return made
    return _Followed.apply(concentration.expand(shape), made)


class Chi2(Gamma):
    """Chi-squared distributions of `df` degrees of freedom."""

    def _shown(self):
        return ()

    arg_constraints: ClassVar = {"df": POSITIVE}

    def __init__(self, df, validate_args=None):
        (self.df,) = together(df)
        super().__init__(0.5 * self.df, self.df * 0 + 0.5, validate_args)


class Dirichlet(Distribution):
    """Dirichlet's distributions."""

    support = constraints.simplex
    has_rsample = True

    arg_constraints: ClassVar = {"concentration": POSITIVES}

    def __init__(self, concentration, validate_args=None):
        if concentration.ndim < 1:
            raise ValueError(message("Dirichlet", "a number", concentration.ndim, "1 dimension"))
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    @property
    def mean(self):
        """The mean."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """The likeliest value; where all concentrations are below 1, PyTorch's: the first one."""
        over = (self.concentration - 1).clamp(min=0)
        first = tensors.zeros_like(over)
        first[..., 0] = 1
        unbounded = (self.concentration < 1).all(-1, True)
        return tensors.where(unbounded, first, over / over.sum(-1, True))

    @property
    def variance(self):
        """The variance."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        drawn = _gamma(self.concentration, tuple(self._extended_shape(sample_shape)))
        return drawn / drawn.sum(-1, True)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: (x >= 0) & ((x.sum(-1, True) - 1).abs() < 1e-6),
                    "numbers that sum up to 1")  # fmt: skip
        c = self.concentration
        found = tensors.xlogy(c - 1, value).sum(-1)
        return found + c.sum(-1).lgamma() - c.lgamma().sum(-1)

    def entropy(self):
        """The entropy in nats."""
        c = self.concentration
        n, total = c.shape[-1], c.sum(-1)
        return (
            c.lgamma().sum(-1) - total.lgamma() - (n - total) * total.digamma()
            - ((c - 1) * c.digamma()).sum(-1)
        )  # fmt: skip


class Beta(Distribution):
    """Beta distributions."""

    def _shown(self):
        return ()

    support = constraints.unit_interval
    has_rsample = True

    arg_constraints: ClassVar = {"concentration1": POSITIVE, "concentration0": POSITIVE}

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    @property
    def _dirichlet(self):
        both = tensors.stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, self._validate_args)

    mean = property(lambda self: self._dirichlet.mean[..., 0])
    mode = property(lambda self: self._dirichlet.mode[..., 0])
    variance = property(lambda self: self._dirichlet.variance[..., 0])

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, unit, "numbers from 0 to 1")
        return self._dirichlet.log_prob(tensors.stack([value, 1 - value], -1))

    def entropy(self):
        """The entropy in nats."""
        return self._dirichlet.entropy()


class MultivariateNormal(Distribution):
    """Normal distributions of vectors; one of the three matrices is given."""

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    _checks_itself = True
    support = constraints.real_vector
    has_rsample = True

    def _parameter_named(self, name):
        return getattr(self, name) if name in ("loc", self._matrix) else None

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None,
                 validate_args=None):  # fmt: skip
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError(
                message("MultivariateNormal", "not one matrix", len(given),
                        "one of covariance_matrix, precision_matrix and scale_tril")
            )  # fmt: skip
        if loc.ndim < 1:
            raise ValueError(message("MultivariateNormal", "loc is a number", loc.ndim, "1"))
        matrix = given[0]
        self._matrix = "covariance_matrix" if matrix is covariance_matrix else (
            "precision_matrix" if matrix is precision_matrix else "scale_tril"
        )  # fmt: skip
        batch = tensors.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        self.loc = loc.expand(*batch, loc.shape[-1])
        if scale_tril is not None:
            factor = scale_tril
        else:
            if precision_matrix is not None:
                matrix = tensors.linalg.inv(precision_matrix)
            try:
                factor = tensors.linalg.cholesky(matrix)
            except Exception as error:
                raise ValueError(
                    message("MultivariateNormal", "the matrix is not positive definite",
                            tuple(matrix.shape), "a positive definite one")
                ) from error  # fmt: skip
        self._factor = factor.expand(*batch, *factor.shape[-2:])
        super().__init__(batch, loc.shape[-1:], validate_args)

    mean = mode = property(lambda self: self.loc)
    scale_tril = property(lambda self: self._factor)
    covariance_matrix = property(lambda self: self._factor @ self._factor.mT)
    precision_matrix = property(lambda self: tensors.linalg.inv(self.covariance_matrix))
    variance = property(lambda self: (self._factor**2).sum(-1))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        drawn = tensors.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self._factor @ drawn.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self):
        return self._factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, real, "real numbers")
        d = (value - self.loc).unsqueeze(-1)
        z = tensors.linalg.solve(self._factor.expand(*d.shape[:-2], *self._factor.shape[-2:]), d)
        square = (z.squeeze(-1) ** 2).sum(-1)
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + square) - self._half_log_det()

    def entropy(self):
        """The entropy in nats."""
        n = self._event_shape[0]
        return 0.5 * n * (1 + math.log(2 * math.pi)) + self._half_log_det()
