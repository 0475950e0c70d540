"""What distributions share: shapes, samples, checks of parameters and values."""

import copy
import math
from typing import ClassVar

from .... import tensors
from ....core.errors import message
from ....tensors import Size, no_grad
from . import constraints


def together(*values):
    """Parameters as tensors of one shape; numbers take the dtype of the tensors."""
    known = [x for x in values if tensors.is_tensor(x)]
    if known:
        given = [x if tensors.is_tensor(x) else tensors.tensor(x, dtype=known[0].dtype)
                 for x in values]  # fmt: skip
    else:
        given = [tensors.tensor(float(x)) for x in values]
    return tensors.broadcast_tensors(*given)


class Distribution:
    """Distributions of `event_shape`, `batch_shape` of them."""

    has_rsample = False
    has_enumerate_support = False
    _checks = __debug__
    _checks_itself = False  # whether its own constructor looks at the parameters
    arg_constraints: ClassVar = {}  # of parameters by their names

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(tuple(batch_shape)), Size(tuple(event_shape))
        self._validate_args = self._checks if validate_args is None else validate_args
        if self._validate_args and not self._checks_itself:
            for name, constraint in self.arg_constraints.items():
                if constraints.is_dependent(constraint):
                    continue
                holds, expected = constraint
                value = self._parameter_named(name)
                if tensors.is_tensor(value) and not bool(holds(value.detach()).all()):
                    raise ValueError(
                        message(type(self).__name__, f"parameter {name} is out of range",
                                value.detach().tolist(), expected)
                    )  # fmt: skip

    def _parameter_named(self, name):
        """A parameter that was given, or None."""
        return self.__dict__.get(name)

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters and values are checked from now on."""
        Distribution._checks = bool(value)

    @property
    def batch_shape(self):
        """The shape of the parameters' batch."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one sample."""
        return self._event_shape

    @property
    def support(self):
        """The constraint of values."""
        raise self._lacks("support")

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def _lacks(self, name):
        return NotImplementedError(
            message(type(self).__name__, f"no {name}", name, "what the distribution has")
        )

    @property
    def mean(self):
        """The mean."""
        raise self._lacks("mean")

    @property
    def variance(self):
        """The variance."""
        raise self._lacks("variance")

    @property
    def mode(self):
        """The likeliest value."""
        raise self._lacks("mode")

    def enumerate_support(self, expand=True):
        """All values, along the first dimension."""
        raise self._lacks("enumerate_support")

    def _enumerated(self, values, expand):
        """Numbers that every distribution of the batch takes, along a new first dimension."""
        n = len(self._batch_shape)
        values = values.reshape(-1, *[1] * n)
        return values.expand(-1, *self._batch_shape) if expand else values

    def _extended_shape(self, sample_shape=()):
        return Size(tuple(sample_shape)) + self._batch_shape + self._event_shape

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        """`sample((n,))`."""
        return self.sample((n,))

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        raise NotImplementedError(
            message(type(self).__name__, "no samples with derivatives", tuple(sample_shape),
                    "sample()")
        )  # fmt: skip

    def log_prob(self, value):
        """The logarithm of the probability, or of its density."""
        raise NotImplementedError(message(type(self).__name__, "no log_prob", value, "another"))

    def cdf(self, value):
        """The probability of numbers up to a value."""
        raise NotImplementedError(message(type(self).__name__, "no cdf yet", value, "log_prob"))

    def icdf(self, value):
        """The value up to which numbers have a probability."""
        raise NotImplementedError(message(type(self).__name__, "no icdf yet", value, "log_prob"))

    def entropy(self):
        """The entropy in nats."""
        raise NotImplementedError(
            message(type(self).__name__, "no entropy yet", "entropy()", "log_prob")
        )

    def perplexity(self):
        """exp(entropy)."""
        return self.entropy().exp()

    def expand(self, batch_shape, _instance=None):
        """The same distributions, more of them."""
        shape, n = tuple(batch_shape), len(self._batch_shape)
        made = copy.copy(self) if _instance is None else _instance
        for name, value in self.__dict__.items():
            if name == "temperature":  # broadcasts to the batch and has no shape of its own there
                made.__dict__[name] = value
            elif tensors.is_tensor(value) and value.ndim >= n:
                made.__dict__[name] = value.expand(*shape, *value.shape[n:])
            elif isinstance(value, Distribution):
                made.__dict__[name] = value.expand((*shape, *value.batch_shape[n:]))
            else:
                made.__dict__[name] = value
        made._batch_shape = Size(shape)
        return made

    def _check(self, value, holds, expected):
        if not self._validate_args:
            return
        if not tensors.is_tensor(value):
            raise ValueError(
                message(type(self).__name__, "the value is no tensor", type(value).__name__,
                        "a Tensor")
            )  # fmt: skip
        of_sample = len(self._event_shape)
        if of_sample and value.shape[-of_sample:] != self._event_shape:
            raise ValueError(
                message(type(self).__name__, "a value of another shape", tuple(value.shape),
                        f"{tuple(self._event_shape)} at the end")
            )  # fmt: skip
        whole = tuple(self._batch_shape) + tuple(self._event_shape)
        for n, m in zip(reversed(value.shape), reversed(whole), strict=False):
            if n != m and 1 not in (n, m):
                raise ValueError(
                    message(type(self).__name__, "a value that does not broadcast to the batch",
                            tuple(value.shape), whole)
                )  # fmt: skip
        if not bool(holds(value.detach()).all()):
            raise ValueError(
                message(type(self).__name__, "a value out of range", value.detach().tolist(),
                        expected)
            )  # fmt: skip

    def _validate_sample(self, value):
        """Raises ValueError for values outside of the support, or of a shape that does not fit."""
        holds, expected = self.support
        self._check(value, holds, expected)

    def _get_checked_instance(self, cls, _instance=None):
        """An object for `expand` of a class that has no constructor of its own."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                message(type(self).__name__, "no expand() beside its own __init__()", cls.__name__,
                        "an expand() of its own")
            )  # fmt: skip
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _shown(self):
        """The names of what the text of a distribution shows: parameters that it keeps."""
        return self.arg_constraints

    def __repr__(self):
        parts = []
        for name in self._shown():
            value = self._parameter_named(name)
            if not tensors.is_tensor(value):
                continue
            text = str(value.item()) if value.numel() == 1 else str(value.size())
            parts.append(f"{name}: {value if value.numel() == 1 and value.ndim == 0 else text}")
        return f"{type(self).__name__}({', '.join(parts)})"


def positive(x):
    """Whether numbers are above 0."""
    return x > 0


def real(x):
    """Whether numbers are no NaN."""
    return x == x


def unit(x):
    """Whether numbers are probabilities."""
    return (x >= 0) & (x <= 1)


def whole(x):
    """Whether numbers are whole and not negative."""
    return (x >= 0) & (x == x.floor()) & (x < math.inf)


REAL, POSITIVE, UNIT = constraints.real, constraints.positive, constraints.unit_interval
POSITIVES = constraints.independent(POSITIVE, 1)


class Independent(Distribution):
    """Takes the last dimensions of a batch as those of one sample."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        base, n = base_distribution, reinterpreted_batch_ndims
        if n > len(base.batch_shape):
            raise ValueError(
                message("Independent", "more dimensions than the batch has", n,
                        f"at most {len(base.batch_shape)}")
            )  # fmt: skip
        self.base_dist, self.reinterpreted_batch_ndims = base, n
        self.has_rsample = base.has_rsample
        split = len(base.batch_shape) - n
        super().__init__(
            base.batch_shape[:split], base.batch_shape[split:] + base.event_shape, validate_args
        )

    @constraints.dependent_property
    def support(self):
        """That of the distributions, with so many dimensions more."""
        n = self.reinterpreted_batch_ndims
        base = self.base_dist.support
        return constraints.independent(base, n) if n else base

    mean = property(lambda self: self.base_dist.mean)
    variance = property(lambda self: self.base_dist.variance)
    mode = property(lambda self: self.base_dist.mode)

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        return self.base_dist.rsample(sample_shape)

    @property
    def has_enumerate_support(self):
        """Whether values can be listed: where no dimension of the batch is taken."""
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    def enumerate_support(self, expand=True):
        """All values, along the first dimension."""
        if self.reinterpreted_batch_ndims:
            raise self._lacks("enumerate_support")
        return self.base_dist.enumerate_support(expand)

    def _summed(self, x):
        n = self.reinterpreted_batch_ndims
        return x.sum(tuple(range(-n, 0))) if n else x

    def log_prob(self, value):
        """The logarithm of the density of whole samples."""
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self):
        """The entropy in nats."""
        return self._summed(self.base_dist.entropy())

    def __repr__(self):
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
