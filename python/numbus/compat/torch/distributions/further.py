"""Distributions that fewer programs use."""

import math
from typing import ClassVar

import numpy

from .... import tensors
from ....core.errors import message
from ....nn import functional as F
from ....tensors import random
from .continuous import _gamma
from .distribution import POSITIVE, REAL, Distribution, together, whole


class InverseGamma(Distribution):
    """Distributions of 1 / x of gamma x; samples are constants."""

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

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        shape = tuple(self._extended_shape(sample_shape))
        return self.rate.detach() / _gamma(self.concentration, shape)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: x > 0, "numbers above 0")
        c, r = self.concentration, self.rate
        return c * r.log() - (c + 1) * value.log() - r / value - c.lgamma()

    def entropy(self):
        """The entropy in nats."""
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()


class NegativeBinomial(Distribution):
    """How many trials succeed, each with `probs`, before `total_count` have failed."""

    arg_constraints: ClassVar = {
        "total_count": (lambda x: x >= 0, "numbers from 0 on"),
        "_given_probs": (lambda x: (x >= 0) & (x < 1), "numbers from 0 on below 1"),
        "_given_logits": REAL,
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
