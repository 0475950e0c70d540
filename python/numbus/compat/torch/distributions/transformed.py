"""Distributions of functions of random numbers, mixtures, and distributions made by these."""

import copy
import math
from typing import ClassVar

from .... import tensors
from ....core.errors import message
from ....nn import functional
from . import constraints
from .continuous import Chi2, Exponential, Gumbel, Uniform
from .discrete import Categorical
from .distribution import POSITIVE, REAL, Distribution, Independent, real, together


class Transform:
    """An invertible function of tensors; `event_dim` dimensions at the end belong together."""

    event_dim = 0
    bijective = True
    domain = codomain = constraints.real

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._last = None if cache_size else False

    def __call__(self, x):
        if self._last and self._last[0] is x:
            return self._last[1]
        y = self._call(x)
        if self._last is not False:
            self._last = x, y
        return y

    def _inv_call(self, y):
        if self._last and self._last[1] is y:
            return self._last[0]
        return self._inverse(y)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the derivative's magnitude, or of the determinant's."""
        raise NotImplementedError(
            message(type(self).__name__, "no log_abs_det_jacobian()", tuple(x.shape),
                    "a transform with an inverse")
        )  # fmt: skip

    @property
    def inv(self):
        """The inverse."""
        return _Inverse(self)

    @property
    def sign(self):
        """1 where the function rises, -1 where it falls."""
        raise NotImplementedError(
            message(type(self).__name__, "no sign", "sign", "a function of numbers that rises")
        )

    def with_cache(self, cache_size=1):
        """The transform, which keeps its last argument and result for a `cache_size` of 1."""
        made = copy.copy(self)
        Transform.__init__(made, cache_size)
        return made

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        return shape

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        return shape

    def __repr__(self):
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform):
        super().__init__()
        self._forward = transform
        self.event_dim = transform.event_dim
        self.domain, self.codomain = transform.codomain, transform.domain
        self.bijective = transform.bijective

    sign = property(lambda self: self._forward.sign)

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        return self._forward.forward_shape(shape)

    def __repr__(self):
        return f"_InverseTransform({self._forward!r})"

    def _call(self, x):
        return self._forward._inv_call(x)

    def _inverse(self, y):
        return self._forward(y)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the derivative's magnitude."""
        return -self._forward.log_abs_det_jacobian(y, x)

    @property
    def inv(self):
        """The function itself."""
        return self._forward


class ExpTransform(Transform):
    """exp(x)."""

    codomain = constraints.positive
    sign = 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        return x


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x)), off the limits 0 and 1."""

    codomain = constraints.unit_interval
    sign = 1

    def _call(self, x):
        limits = tensors.finfo(x.dtype)
        return tensors.sigmoid(x).clamp(limits.tiny, 1 - limits.eps)

    def _inverse(self, y):
        limits = tensors.finfo(y.dtype)
        y = y.clamp(limits.tiny, 1 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        return -functional.softplus(-x) - functional.softplus(x)


class TanhTransform(Transform):
    """tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)
    sign = 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return tensors.atanh(y)

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        return 2.0 * (math.log(2.0) - x - functional.softplus(-2.0 * x))


class AffineTransform(Transform):
    """loc + scale * x."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self):
        """1 where the function rises, -1 where it falls."""
        scale = self.scale
        return scale.sign() if tensors.is_tensor(scale) else int(scale > 0) - int(scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        if tensors.is_tensor(self.scale):
            found = self.scale.abs().log().expand(x.shape)
        else:
            found = tensors.full_like(x, math.log(abs(self.scale)))
        n = self.event_dim
        return found.sum(tuple(range(-n, 0))) if n else found


class PowerTransform(Transform):
    """x to an exponent."""

    domain = codomain = constraints.positive
    sign = property(lambda self: self.exponent.sign())

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        (self.exponent,) = together(exponent)

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the derivative's magnitude."""
        return (self.exponent * y / x).abs().log()


class ComposeTransform(Transform):
    """Transforms one after another."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event_dim = max([t.event_dim for t in self.parts], default=0)
        if self.parts:
            first, last = self.parts[0].domain, self.parts[-1].codomain
            self.domain, self.codomain = [
                constraints.independent(c, self.event_dim - c.event_dim)
                if c.event_dim < self.event_dim
                else c
                for c in (first, last)
            ]
        self.bijective = all([t.bijective for t in self.parts])

    @property
    def sign(self):
        """1 where the function rises, -1 where it falls."""
        return math.prod([t.sign for t in self.parts])

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        for t in self.parts:
            shape = t.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        for t in reversed(self.parts):
            shape = t.inverse_shape(shape)
        return shape

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"

    def _call(self, x):
        for t in self.parts:
            x = t(x)
        return x

    def _inverse(self, y):
        for t in reversed(self.parts):
            y = t._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        if not self.parts:
            return tensors.zeros_like(x)
        total = 0
        for t in self.parts:
            after = t(x)
            total = total + _summed(t.log_abs_det_jacobian(x, after), self.event_dim - t.event_dim)
            x = after
        return total


def _summed(x, n):
    return x.sum(tuple(range(-n, 0))) if n else x


class TransformedDistribution(Distribution):
    """The distribution of what transforms make of random numbers."""

    @constraints.dependent_property
    def support(self):
        """The constraint of values."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        n = len(self._event_shape) - last.event_dim
        return constraints.independent(last, n) if n > 0 else last

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all([isinstance(t, Transform) for t in self.transforms]):
            raise ValueError(
                "transforms must be a Transform or list, but was "
                f"{[type(t).__name__ for t in self.transforms]}"
            )
        base = base_distribution
        n = max([0, *[t.event_dim for t in self.transforms]]) - len(base.event_shape)
        if n > 0:
            base = Independent(base, n)
        self.base_dist, self.has_rsample = base, base.has_rsample
        split = len(base.batch_shape)
        shape = base.batch_shape + base.event_shape
        for t in self.transforms:
            shape = t.forward_shape(shape)
        super().__init__(shape[:split], shape[split:], validate_args)

    def _through(self, x):
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        with tensors.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        """The logarithm of the density."""
        n, total, y = len(self._event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t._inv_call(y)
            total = total - _summed(t.log_abs_det_jacobian(x, y), n - t.event_dim)
            y = x
        return total + self.base_dist.log_prob(y)

    def _rising(self):
        """1 for rising functions, -1 for falling ones."""
        sign = 1
        for t in self.transforms:
            if isinstance(t, AffineTransform):
                sign = sign * (t.scale.sign() if tensors.is_tensor(t.scale) else
                               math.copysign(1, t.scale))  # fmt: skip
            elif isinstance(t, PowerTransform):
                sign = sign * t.exponent.sign()
            elif not isinstance(t, (ExpTransform, SigmoidTransform, TanhTransform)):
                raise NotImplementedError(
                    message("TransformedDistribution", "no cdf yet", type(t).__name__, "log_prob")
                )
        return sign

    def cdf(self, value):
        """The probability of numbers up to a value."""
        for t in reversed(self.transforms):
            value = t._inv_call(value)
        return self._rising() * (self.base_dist.cdf(value) - 0.5) + 0.5

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return self._through(self.base_dist.icdf(self._rising() * (value - 0.5) + 0.5))


class MixtureSameFamily(Distribution):
    """Mixtures of the last batch dimension of a distribution, by the weights of another one."""

    @constraints.dependent_property
    def support(self):
        """The constraint of values."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        mixed, parts = mixture_distribution, component_distribution
        if not isinstance(mixed, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if mixed.probs.shape[-1] != parts.batch_shape[-1]:
            raise ValueError(
                message("MixtureSameFamily", "another number of components than weights",
                        parts.batch_shape[-1], mixed.probs.shape[-1])
            )  # fmt: skip
        self.mixture_distribution, self.component_distribution = mixed, parts
        super().__init__(parts.batch_shape[:-1], parts.event_shape, validate_args)

    def _weights(self):
        p = self.mixture_distribution.probs
        return p.reshape(*p.shape, *[1] * len(self._event_shape))

    @property
    def mean(self):
        """The mean."""
        k = -1 - len(self._event_shape)
        return (self._weights() * self.component_distribution.mean).sum(k)

    @property
    def variance(self):
        """The variance."""
        k, p, d = -1 - len(self._event_shape), self._weights(), self.component_distribution
        within = (p * d.variance).sum(k)
        return within + (p * (d.mean - self.mean.unsqueeze(k)) ** 2).sum(k)

    def log_prob(self, value):
        """The logarithm of the density."""
        value = value.unsqueeze(-1 - len(self._event_shape))
        each = self.component_distribution.log_prob(value)
        p = self.mixture_distribution.logits.log_softmax(-1)
        return tensors.logsumexp(each + p, -1)

    def cdf(self, value):
        """The probability of numbers up to a value."""
        found = self.component_distribution.cdf(value.unsqueeze(-1))
        return (found * self.mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        with tensors.no_grad():
            k = len(sample_shape) + len(self._batch_shape)
            which = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            which = which.reshape(*which.shape, 1, *[1] * len(self._event_shape))
            shape = (*drawn.shape[:k], 1, *drawn.shape[k + 1 :])
            return drawn.gather(k, which.expand(shape)).squeeze(k)


class StudentT(Distribution):
    """Student's distributions."""

    support = constraints.real
    has_rsample = True

    arg_constraints: ClassVar = {"df": POSITIVE, "loc": REAL, "scale": POSITIVE}

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = together(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    @property
    def mean(self):
        """The mean; NaN where there is none."""
        return tensors.where(self.df > 1, self.loc, math.nan)

    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """The variance, infinite for df up to 2, NaN up to 1."""
        df = self.df
        found = self.scale**2 * df / (df - 2)
        return tensors.where(df > 2, found, tensors.where(df > 1, math.inf, math.nan))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        x = tensors.randn(shape, dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * x * (self.df / Chi2(self.df).rsample(sample_shape)).sqrt()

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, real, "real numbers")
        y, df = (value - self.loc) / self.scale, self.df
        norm = self.scale.log() + 0.5 * (df.log() + math.log(math.pi))
        norm = norm + (0.5 * df).lgamma() - (0.5 * (df + 1)).lgamma()
        return -0.5 * (df + 1) * (y**2 / df).log1p() - norm

    def entropy(self):
        """The entropy in nats."""
        df = self.df
        beta = (0.5 * df).lgamma() + math.lgamma(0.5) - (0.5 * (df + 1)).lgamma()
        inner = (0.5 * (df + 1)).digamma() - (0.5 * df).digamma()
        return self.scale.log() + 0.5 * (df + 1) * inner + 0.5 * df.log() + beta


class Pareto(TransformedDistribution):
    """Pareto's distributions of a scale and an exponent `alpha`."""

    @constraints.dependent_property
    def support(self):
        """The constraint of values."""
        return constraints.greater_than_eq(self.scale)

    arg_constraints: ClassVar = {"alpha": POSITIVE, "scale": POSITIVE}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = together(scale, alpha)
        base = Exponential(self.alpha, validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    mode = property(lambda self: self.scale)

    @property
    def mean(self):
        """The mean, infinite for alpha up to 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def variance(self):
        """The variance, infinite for alpha up to 2."""
        a = self.alpha.clamp(min=2)
        return self.scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def entropy(self):
        """The entropy in nats."""
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha


class Weibull(TransformedDistribution):
    """Weibull's distributions of a scale and a concentration."""

    support = constraints.positive
    arg_constraints: ClassVar = {"scale": POSITIVE, "concentration": POSITIVE}

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = together(scale, concentration)
        base = Exponential(tensors.ones_like(self.scale), validate_args)
        parts = [PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)]
        super().__init__(base, parts, validate_args)

    mean = property(lambda self: self.scale * (1 + 1 / self.concentration).lgamma().exp())

    @property
    def mode(self):
        """The likeliest number; NaN for concentrations below 1, as in PyTorch."""
        c = self.concentration
        return self.scale * ((c - 1) / c) ** (1 / c)

    @property
    def variance(self):
        """The variance."""
        k = 1 / self.concentration
        return self.scale**2 * ((1 + 2 * k).lgamma().exp() - (2 * (1 + k).lgamma()).exp())

    def entropy(self):
        """The entropy in nats."""
        k = 1 / self.concentration
        return 0.57721566490153286060 * (1 - k) + (self.scale * k).log() + 1


class RelaxedOneHotCategorical(Distribution):
    """Softmax of logits and Gumbel's numbers, by a temperature."""

    def _shown(self):
        return ()

    arg_constraints: ClassVar = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    _checks_itself = True
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        self.temperature = temperature
        shape = self._categorical.logits.shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        logits = self.logits.expand(tuple(self._extended_shape(sample_shape)))
        noise = Gumbel(tensors.zeros_like(logits), tensors.ones_like(logits), False).sample()
        return ((logits + noise) / self.temperature).softmax(-1)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, *constraints.simplex)
        n, t = self._event_shape[0], tensors.as_tensor(self.temperature, dtype=value.dtype)
        score = self.logits - t * value.log()
        score = (score - score.logsumexp(-1, True)).sum(-1)
        return score + math.lgamma(n) + (n - 1) * t.log() - value.log().sum(-1)


class HalfCauchy(Distribution):
    """Magnitudes of Cauchy's numbers of a scale."""

    def _shown(self):
        return ()

    support = constraints.nonnegative
    has_rsample = True
    arg_constraints: ClassVar = {"scale": POSITIVE}

    def __init__(self, scale, validate_args=None):
        (self.scale,) = together(scale)
        super().__init__(self.scale.shape, (), validate_args)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        zero = tensors.zeros_like(self.scale.detach())
        return self.scale * (math.pi / 2 * Uniform(zero, zero + 1, False).sample(
            tuple(sample_shape)).reshape(shape)).tan()  # fmt: skip

    mean = variance = property(lambda self: tensors.full_like(self.scale, math.inf))
    mode = property(lambda self: tensors.zeros_like(self.scale))

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        return self.scale * (math.pi / 2 * value).tan()

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x >= 0, "numbers from 0 on")
        y = value / self.scale
        found = math.log(2 / math.pi) - self.scale.log() - (y**2).log1p()
        return tensors.where(value >= 0, found, -math.inf)

    def cdf(self, value):
        """The probability of numbers up to a value."""
        return (value / self.scale).atan() * (2 / math.pi)

    def entropy(self):
        """The entropy in nats."""
        return math.log(2 * math.pi) + self.scale.log()


__all__ = [
    "AffineTransform", "ComposeTransform", "ExpTransform", "HalfCauchy", "MixtureSameFamily",
    "Pareto", "PowerTransform", "RelaxedOneHotCategorical", "SigmoidTransform", "StudentT",
    "TanhTransform", "Transform", "TransformedDistribution", "Weibull",
]  # fmt: skip
