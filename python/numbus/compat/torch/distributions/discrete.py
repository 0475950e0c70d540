"""Distributions of whole numbers and choices."""

import math
from typing import ClassVar

from .... import tensors
from ....core.errors import message
from ....nn import functional as F
from ....tensors import random
from . import constraints
from .distribution import UNIT, Distribution, together, whole

_CHOICES: dict = {"probs": constraints.simplex, "logits": constraints.real_vector}


def _one_of(op, probs, logits):
    if (probs is None) == (logits is None):
        given = "both" if probs is not None else "neither"
        raise ValueError(message(op, "probs or logits", given, "one of them"))


def _inside(p):
    """Probabilities that have finite logarithms."""
    eps = tensors.finfo(p.dtype).eps
    return p.clamp(eps, 1 - eps)


class _Chances(Distribution):
    """Distributions of a probability, or of its log-odds."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of(type(self).__name__, probs, logits)
        if probs is not None:
            (self.probs,) = together(probs)
        else:
            (self.logits,) = together(logits)
        self._given = "probs" if probs is not None else "logits"
        super().__init__(self._parameter.shape, (), validate_args)

    arg_constraints: ClassVar = {"probs": UNIT, "logits": constraints.real}

    @property
    def _parameter(self):
        return self.__dict__[self._given]

    def __getattr__(self, name):
        if name == "logits" and "probs" in self.__dict__:
            p = _inside(self.probs)
            return p.log() - (-p).log1p()
        if name == "probs" and "logits" in self.__dict__:
            return self.logits.sigmoid()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class Bernoulli(_Chances):
    """1 with a probability, else 0."""

    support = constraints.boolean
    has_enumerate_support = True

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        """The more probable number; NaN where both are."""
        p = self.probs
        return tensors.where(p == 0.5, math.nan, (p > 0.5).to(p.dtype))

    def enumerate_support(self, expand=True):
        """All values, along the first dimension."""
        like = self._parameter
        values = tensors.arange(2, dtype=like.dtype, device=like.device)
        return self._enumerated(values, expand)

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        shape = tuple(self._extended_shape(sample_shape))
        return tensors.bernoulli(self.probs.detach().expand(shape))

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, lambda x: (x == 0) | (x == 1), "0 or 1")
        logits, value = tensors.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        """The entropy in nats."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Geometric(_Chances):
    """How often something fails before it succeeds."""

    support = constraints.nonnegative_integer
    mode = property(lambda self: tensors.zeros_like(self.probs))
    mean = property(lambda self: 1 / self.probs - 1)
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        shape = tuple(self._extended_shape(sample_shape))
        p = self.probs.detach().expand(shape)
        tiny = tensors.finfo(p.dtype).tiny
        u = tensors.rand(shape, dtype=p.dtype, device=p.device).clamp(min=tiny)
        return (u.log() / (-p).log1p()).floor()

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, whole, "whole numbers from 0 on")
        p = self.probs
        # What always succeeds fails no times for sure.
        fails = tensors.where((p == 1) & (value == 0), 0.0, p)
        return value * (-fails).log1p() + p.log()

    def entropy(self):
        """The entropy in nats."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / (
            self.probs
        )


class Binomial(_Chances):
    """How many of `total_count` succeed."""

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        "probs": UNIT,
        "logits": constraints.real,
    }

    @constraints.dependent_property(is_discrete=True)
    def support(self):
        """The constraint of values."""
        return constraints.integer_interval(0, self.total_count)

    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _one_of("Binomial", probs, logits)
        given = probs if probs is not None else logits
        self.total_count, given = together(total_count, given)
        super().__init__(*((given, None) if probs is not None else (None, given)), validate_args)

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @property
    def mode(self):
        """The likeliest number."""
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    def enumerate_support(self, expand=True):
        """All values, along the first dimension; `total_count` has to be the same everywhere."""
        most = int(self.total_count.detach().max())
        if int(self.total_count.detach().min()) != most:
            raise NotImplementedError(
                message("Binomial", "total_count differs within the batch",
                        self.total_count.detach().tolist(), "one total_count")
            )  # fmt: skip
        like = self._parameter
        values = tensors.arange(most + 1, dtype=like.dtype, device=like.device)
        return self._enumerated(values, expand)

    def entropy(self):
        """The entropy in nats, as a sum of all values."""
        logs = self.log_prob(self.enumerate_support(False))
        return -(logs.exp() * logs).sum(0)

    def sample(self, sample_shape=()):
        """Random numbers, constants, drawn by the host."""
        shape = tuple(self._extended_shape(sample_shape))
        p = self.probs.detach()
        return random.binomial(self.total_count.to(p).expand(shape), p)

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, lambda x: whole(x) & (x <= self.total_count), "0 to total_count")
        n, logits = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * logits - n * F.softplus(logits)


class Poisson(Distribution):
    """How often something happens at a rate."""

    support = constraints.nonnegative_integer
    arg_constraints: ClassVar = {"rate": constraints.nonnegative}

    def __init__(self, rate, validate_args=None):
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, (), validate_args)

    mode = property(lambda self: self.rate.floor())
    mean = variance = property(lambda self: self.rate)

    def sample(self, sample_shape=()):
        """Random numbers, constants, drawn by the host."""
        shape = tuple(self._extended_shape(sample_shape))
        return random.poisson(self.rate.detach().expand(shape))

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, whole, "whole numbers from 0 on")
        return tensors.xlogy(value, self.rate) - self.rate - (value + 1).lgamma()


class Categorical(Distribution):
    """A choice of the numbers below the last extent of `probs` or `logits`."""

    arg_constraints: ClassVar = _CHOICES
    _checks_itself = True

    @constraints.dependent_property(is_discrete=True)
    def support(self):
        """The constraint of values."""
        return constraints.integer_interval(0, self._num_events - 1)

    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _one_of("Categorical", probs, logits)
        given = probs if probs is not None else logits
        if given.ndim < 1:
            raise ValueError(message("Categorical", "a number", given.ndim, "1 dimension"))
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            checked = validate_args is None or validate_args
            if checked and not bool((self.probs.detach() >= 0).all()):
                raise ValueError(
                    message("Categorical", "probs are out of range", probs.detach().tolist(),
                            "numbers from 0 on with a sum")
                )  # fmt: skip
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
            checked = validate_args is None or validate_args
            if checked and not bool((self.logits.detach() == self.logits.detach()).all()):
                raise ValueError(
                    message("Categorical", "logits are out of range", logits.detach().tolist(),
                            "real numbers")
                )  # fmt: skip
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], (), validate_args)

    def __getattr__(self, name):
        if name == "logits" and "probs" in self.__dict__:
            return _inside(self.probs).log()
        if name == "probs" and "logits" in self.__dict__:
            return self.logits.softmax(-1)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def param_shape(self):
        """The shape of the parameters."""
        return self.__dict__.get("probs", self.__dict__.get("logits")).shape

    mode = property(lambda self: self.probs.argmax(-1))
    mean = property(lambda self: self.probs[..., 0] * math.nan)
    variance = property(lambda self: self.probs[..., 0] * math.nan)

    def enumerate_support(self, expand=True):
        """All values, along the first dimension."""
        values = tensors.arange(self._num_events, device=self.probs.device)
        return self._enumerated(values, expand)

    def sample(self, sample_shape=()):
        """Random choices."""
        shape = tuple(self._extended_shape(sample_shape))
        n = math.prod(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return tensors.multinomial(rows, n, True).T.reshape(shape)

    def log_prob(self, value):
        """The logarithm of the probability."""
        n = self._num_events
        self._check(value, lambda x: whole(x) & (x < n), f"whole numbers below {n}")
        value = value.long().unsqueeze(-1)
        shape = tensors.broadcast_shapes(tuple(value.shape[:-1]), tuple(self.logits.shape[:-1]))
        table = self.logits.expand(*shape, n)
        return table.gather(-1, value.expand(*shape, 1)).squeeze(-1)

    def entropy(self):
        """The entropy in nats."""
        logits = self.logits.clamp(min=tensors.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


def _one_hot(x):
    return ((x == 0) | (x == 1)) & (x.sum(-1, True) == 1)


class OneHotCategorical(Distribution):
    """`Categorical`, whose choices are ones among zeros."""

    arg_constraints: ClassVar = _CHOICES
    _checks_itself = True
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        known = self._categorical
        super().__init__(known.batch_shape, known.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        """The likeliest choice."""
        n = self._event_shape[0]
        return F.one_hot(self._categorical.mode, n).to(self.probs.dtype)

    def enumerate_support(self, expand=True):
        """All values, along the first dimension."""
        n, p = self._event_shape[0], self.probs
        values = tensors.eye(n, dtype=p.dtype, device=p.device)
        values = values.reshape(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values

    def sample(self, sample_shape=()):
        """Random choices."""
        n = self._event_shape[0]
        return F.one_hot(self._categorical.sample(sample_shape), n).to(self.probs.dtype)

    def log_prob(self, value):
        """The logarithm of the probability."""
        self._check(value, _one_hot, "ones among zeros")
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        """The entropy in nats."""
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical`, whose samples have the derivatives of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        """Random choices that depend on the parameters."""
        p = self.probs
        return self.sample(sample_shape) + (p - p.detach())


class Multinomial(Distribution):
    """How often each of several things is chosen in `total_count` choices."""

    arg_constraints: ClassVar = _CHOICES
    _checks_itself = True

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        """The constraint of values."""
        return constraints.multinomial(self.total_count)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError(
                message("Multinomial", "total_count is no int", type(total_count).__name__,
                        "an int")
            )  # fmt: skip
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args)
        known = self._categorical
        super().__init__(known.batch_shape, known.param_shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        each = self._categorical.sample((self.total_count, *sample_shape))
        return F.one_hot(each, self._event_shape[0]).sum(0).to(self.probs.dtype)

    def entropy(self):
        """The entropy in nats.

        log_prob is log n! - sum(log x_i!) + sum(x_i log p_i), whose expected value needs that of
        log x_i!, and x_i is binomial.
        """
        n, each = self.total_count, Binomial(self.total_count, probs=self.probs)
        counts = each.enumerate_support(False)
        logs = (each.log_prob(counts).exp() * (counts + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - math.lgamma(n + 1) + logs

    def log_prob(self, value):
        """The logarithm of the probability."""
        total = self.total_count
        self._check(value, lambda x: (x >= 0) & (x.sum(-1, True) <= total), f"a sum of {total}")
        logits, value = tensors.broadcast_tensors(self.logits, value)
        # A choice without probability that is not made counts nothing.
        logits = tensors.where((value == 0) & (logits == -math.inf), 0.0, logits)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (logits * value).sum(-1)


__all__ = [
    "Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial",
    "OneHotCategorical", "Poisson",
]  # fmt: skip
