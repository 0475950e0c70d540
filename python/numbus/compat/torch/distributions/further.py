"""Distributions that fewer programs use."""

import math
from typing import ClassVar

import numpy

from .... import tensors
from ....core.errors import message
from ....nn import functional as F
from ....tensors import random
from ..special import gammaincc
from . import constraints
from .continuous import _gamma, _uniform
from .discrete import _Chances
from .distribution import POSITIVE, REAL, Distribution, positive, together, unit, whole


class InverseGamma(Distribution):
    """Distributions of 1 / x of gamma x."""

    def _shown(self):
        return ()

    support = constraints.positive
    has_rsample = True

    arg_constraints: ClassVar = {"concentration": POSITIVE, "rate": POSITIVE}

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = together(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self):
        """The mean, infinite for concentrations up to 1."""
        c = self.concentration
        return tensors.where(c > 1, self.rate / (c - 1), math.inf)

    @property
    def variance(self):
        """The variance, infinite for concentrations up to 2."""
        c = self.concentration
        return tensors.where(c > 2, self.rate**2 / ((c - 1) ** 2 * (c - 2)), math.inf)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        return self.rate / _gamma(self.concentration, shape)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x > 0, "numbers above 0")
        c, r = self.concentration, self.rate
        return c * r.log() - (c + 1) * value.log() - r / value - c.lgamma()

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, positive, "numbers above 0")
        return gammaincc(self.concentration, self.rate / value)

    def entropy(self):
        """The entropy in nats."""
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()


class NegativeBinomial(Distribution):
    """How many trials succeed, each with `probs`, before `total_count` have failed."""

    support = constraints.nonnegative_integer
    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": REAL,
    }

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            given = "both" if probs is not None else "neither"
            raise ValueError(message("NegativeBinomial", "probs or logits", given, "one of them"))
        if probs is not None:
            self.total_count, self.probs = together(total_count, probs)
            self._given_probs = self.probs
            p = self.probs
            eps = tensors.finfo(p.dtype).eps
            p = p.clamp(eps, 1 - eps)
            self.logits = p.log() - (-p).log1p()
        else:
            self.total_count, self.logits = together(total_count, logits)
            self._given_logits = self.logits
            self.probs = self.logits.sigmoid()
        super().__init__(self.logits.shape, (), validate_args)

    def _parameter_named(self, name):
        return self.__dict__.get(name if name == "total_count" else "_given_" + name)

    mean = property(lambda self: self.total_count * self.logits.exp())
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    @property
    def mode(self):
        """The likeliest number."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    def sample(self, sample_shape=()):
        """Random numbers, constants, drawn by the host."""
        shape = tuple(self._extended_shape(sample_shape))
        count = self.total_count.detach()
        scale = self.logits.detach().exp()
        rates = numpy.asarray((_gamma(count, shape) * scale).cpu().numpy(), "f8")
        drawn = numpy.asarray(random.rng().poisson(rates)).reshape(shape)
        return tensors.from_numpy(drawn).to(count.dtype).to(count.device)

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, whole, "whole numbers from 0 on")
        n, z = self.total_count, self.logits
        both = n + value
        ways = both.lgamma() - (value + 1).lgamma() - n.lgamma()
        # Where none has to fail none succeeds, and the logarithms are infinite minus infinite.
        ways = tensors.where(both == 0, tensors.zeros_like(both), ways)
        return ways + n * F.logsigmoid(-z) + value * F.logsigmoid(z)


class RelaxedBernoulli(_Chances):
    """The logistic function of log-odds and logistic noise, by a temperature.

    Maddison, Mnih and Teh, The Concrete Distribution (2017), with its binary density.
    """

    def _shown(self):
        return ()

    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        logits = self.logits
        high = 1 - tensors.finfo(logits.dtype).eps
        u = _uniform(self._extended_shape(sample_shape), logits).clamp(max=high)
        return ((logits + u.log() - (-u).log1p()) / self.temperature).sigmoid()

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, unit, "numbers from 0 to 1")
        limits = tensors.finfo(value.dtype)
        y = value.clamp(limits.tiny, 1 - limits.eps)
        low, high = y.log(), (-y).log1p()
        t = tensors.as_tensor(self.temperature, dtype=value.dtype)
        off = self.logits - t * (low - high)
        return t.log() + off - 2 * F.softplus(off) - low - high


class Kumaraswamy(Distribution):
    """Kumaraswamy's distributions of numbers from 0 to 1, with the cdf 1 - (1 - x**a)**b."""

    support = constraints.unit_interval
    has_rsample = True
    arg_constraints: ClassVar = {"concentration1": POSITIVE, "concentration0": POSITIVE}

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    def _moment(self, n):
        b, k = self.concentration0, 1 + n / self.concentration1
        return b * (k.lgamma() + b.lgamma() - (k + b).lgamma()).exp()

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1) ** 2)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(_uniform(shape, self.concentration1))

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, unit, "numbers from 0 to 1")
        a, b = self.concentration1, self.concentration0
        first, other = tensors.xlogy(a - 1, value), (b - 1) * (-(value**a)).log1p()
        return a.log() + b.log() + first + other

    def cdf(self, value):
        """The probability of numbers up to a value."""
        self._check(value, unit, "numbers from 0 to 1")
        return 1 - (1 - value**self.concentration1) ** self.concentration0

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        left = ((-value).log1p() / self.concentration0).expm1()
        return (-left) ** (1 / self.concentration1)

    def entropy(self):
        """The entropy in nats."""
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + 0.5772156649015329
        return 1 - 1 / b + (1 - 1 / a) * harmonic - a.log() - b.log()


class FisherSnedecor(Distribution):
    """Fisher and Snedecor's distributions of two degrees of freedom."""

    support = constraints.positive
    has_rsample = True

    arg_constraints: ClassVar = {"df1": POSITIVE, "df2": POSITIVE}

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = together(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    @property
    def mean(self):
        """The mean; NaN where there is none."""
        return tensors.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self):
        """The likeliest number; NaN for df1 up to 2, as in PyTorch."""
        m, n = self.df1, self.df2
        return tensors.where(m > 2, (m - 2) / m * n / (n + 2), math.nan)

    @property
    def variance(self):
        """The variance; NaN where there is none."""
        m, n = self.df1, self.df2
        found = 2 * n**2 * (m + n - 2) / (m * (n - 2) ** 2 * (n - 4))
        return tensors.where(n > 4, found, math.nan)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        m, n = self.df1, self.df2
        return _gamma(m / 2, shape) / m / (_gamma(n / 2, shape) / n)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, positive, "numbers above 0")
        m, n, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        norm = (m + n).lgamma() - m.lgamma() - n.lgamma() + m * ratio.log()
        return norm + (m - 1) * value.log() - (m + n) * (ratio * value).log1p()
