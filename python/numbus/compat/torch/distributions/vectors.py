"""Transforms of vectors, logistic normal numbers, normal vectors of low rank, directions."""

import math
from typing import ClassVar

import numpy

from .... import tensors
from ....core.errors import message
from ....nn import functional
from ....tensors import random
from ..special import i0e, i1e
from . import constraints
from .continuous import Normal
from .distribution import POSITIVE, POSITIVES, REAL, Distribution, real, together
from .transformed import Transform, TransformedDistribution


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    codomain = constraints.positive
    sign = 1

    def _call(self, x):
        return functional.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the derivative's magnitude."""
        return -functional.softplus(-x)


class SoftmaxTransform(Transform):
    """exp(x) over its sum; the inverse is the logarithm."""

    event_dim = 1
    bijective = False
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """Vectors as positive numbers that sum up to 1, one more of them: each takes a part of what
    those before it have left.
    """

    event_dim = 1
    domain, codomain = constraints.real_vector, constraints.simplex

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        return (*shape[:-1], shape[-1] - 1)

    @staticmethod
    def _offset(x):
        n = x.shape[-1]
        left = tensors.arange(n, 0, -1, dtype=x.dtype, device=x.device)
        return left.log()

    def _call(self, x):
        part = (x - self._offset(x)).sigmoid()
        left = (1 - part).cumprod(-1)
        return functional.pad(part, [0, 1], value=1.0) * functional.pad(left, [1, 0], value=1.0)

    def _inverse(self, y):
        part = y[..., :-1]
        left = (1 - part.cumsum(-1)).clamp(min=tensors.finfo(y.dtype).tiny)
        return part.log() - left.log() + self._offset(part)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the determinant's magnitude."""
        x = x - self._offset(x)
        return (-x + functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)


class LogisticNormal(TransformedDistribution):
    """Distributions of normal vectors after `StickBreakingTransform`."""

    support = constraints.simplex
    arg_constraints: ClassVar = {"loc": REAL, "scale": POSITIVE}

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, StickBreakingTransform(), validate_args)
        self._event_shape = tensors.Size((base.batch_shape[-1] + 1,))

    def expand(self, batch_shape, _instance=None):
        """The same distributions, more of them."""
        shape = (*batch_shape, self.loc.shape[-1])
        return LogisticNormal(self.loc.expand(shape), self.scale.expand(shape), False)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, lambda x: (x >= 0) & ((x.sum(-1, True) - 1).abs() < 1e-6),
                    "numbers that sum up to 1")  # fmt: skip
        return super().log_prob(value)


class LowRankMultivariateNormal(Distribution):
    """Normal distributions of vectors of the covariance F Fᵀ + diag(d), of few columns F."""

    support = constraints.real_vector
    has_rsample = True
    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(REAL, 2),
        "cov_diag": POSITIVES,
    }

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        op = "LowRankMultivariateNormal"
        if loc.ndim < 1 or cov_factor.ndim < 2 or cov_diag.ndim < 1:
            raise ValueError(
                message(op, "too few dimensions", (loc.ndim, cov_factor.ndim, cov_diag.ndim),
                        "1, 2, 1 and more")
            )  # fmt: skip
        n = loc.shape[-1]
        if cov_factor.shape[-2] != n or cov_diag.shape[-1] != n:
            raise ValueError(
                message(op, "sizes", (n, cov_factor.shape, cov_diag.shape), "(n,), (n, r), (n,)")
            )
        batch = tensors.broadcast_shapes(
            tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1])
        )
        self.loc, self.cov_diag = loc.expand(*batch, n), cov_diag.expand(*batch, n)
        self.cov_factor = cov_factor.expand(*batch, *cov_factor.shape[-2:])
        super().__init__(batch, (n,), validate_args)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: (self.cov_factor**2).sum(-1) + self.cov_diag)

    @property
    def covariance_matrix(self):
        """The covariances."""
        return self.cov_factor @ self.cov_factor.mT + tensors.diag_embed(self.cov_diag)

    precision_matrix = property(lambda self: tensors.linalg.inv(self.covariance_matrix))
    scale_tril = property(lambda self: tensors.linalg.cholesky(self.covariance_matrix))

    def _small(self):
        """F over the roots of d, and Cholesky's factor of 1 + FᵀF of that (Woodbury)."""
        f = self.cov_factor / self.cov_diag.sqrt().unsqueeze(-1)
        one = tensors.eye(f.shape[-1], dtype=f.dtype, device=f.device)
        return f, tensors.linalg.cholesky(one + f.mT @ f)

    def _log_det(self, factor):
        return 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def rsample(self, sample_shape=()):
        """Random numbers that depend on the parameters."""
        shape = tuple(self._extended_shape(sample_shape))
        kept = {"dtype": self.loc.dtype, "device": self.loc.device}
        few = tensors.randn((*shape[:-1], self.cov_factor.shape[-1], 1), **kept)
        own = tensors.randn(shape, **kept) * self.cov_diag.sqrt()
        return self.loc + (self.cov_factor @ few).squeeze(-1) + own

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, real, "real numbers")
        f, factor = self._small()
        x = (value - self.loc) / self.cov_diag.sqrt()
        inner = tensors.linalg.solve_triangular(factor, f.mT @ x.unsqueeze(-1), upper=False)
        square = (x**2).sum(-1) - (inner.squeeze(-1) ** 2).sum(-1)
        n = self.loc.shape[-1]
        return -0.5 * (n * math.log(2 * math.pi) + self._log_det(factor) + square)

    def entropy(self):
        """The entropy in nats."""
        n = self.loc.shape[-1]
        return 0.5 * (n * (1 + math.log(2 * math.pi)) + self._log_det(self._small()[1]))


class VonMises(Distribution):
    """Distributions of angles around `loc`; samples are constants, drawn by the host."""

    support = constraints.real
    arg_constraints: ClassVar = {"loc": REAL, "concentration": POSITIVE}

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = together(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """The circular variance, 1 - I1 / I0."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape=()):
        """Random numbers, constants."""
        shape, c = tuple(self._extended_shape(sample_shape)), self.loc.detach()
        loc, kappa = (
            numpy.broadcast_to(t.detach().cpu().numpy().astype("f8"), shape)
            for t in (self.loc, self.concentration)
        )
        drawn = numpy.asarray(random.rng().vonmises(loc, kappa)).reshape(shape)
        return tensors.from_numpy(drawn).to(c.dtype).to(c.device)

    def log_prob(self, value):
        """The logarithm of the density."""
        self._check(value, real, "real numbers")
        k = self.concentration
        return k * ((value - self.loc).cos() - 1) - math.log(2 * math.pi) - i0e(k).log()
