"""Transforms of groups of numbers: matrices, other shapes, several transforms beside each other."""

import math

from .... import tensors
from ....core.errors import message
from ....nn import functional
from . import constraints
from .transformed import ComposeTransform, Transform, _summed
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class IndependentTransform(Transform):
    """A transform whose last dimensions belong together."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform = base_transform
        self.reinterpreted_batch_ndims = n = reinterpreted_batch_ndims
        self.event_dim = base_transform.event_dim + n
        self.domain = constraints.independent(base_transform.domain, n)
        self.codomain = constraints.independent(base_transform.codomain, n)
        self.bijective = base_transform.bijective

    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x):
        if x.dim() < self.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the determinant's magnitude."""
        each = self.base_transform.log_abs_det_jacobian(x, y)
        return _summed(each, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last dimensions in another shape."""

    def __init__(self, in_shape, out_shape, cache_size=0):
        self.in_shape, self.out_shape = tensors.Size(in_shape), tensors.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                message("ReshapeTransform", "the shapes have different numbers of elements",
                        (self.in_shape, self.out_shape), "equal numbers")
            )  # fmt: skip
        super().__init__(cache_size)
        self.event_dim = max(len(self.in_shape), len(self.out_shape))
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _batch(self, shape, own):
        if tuple(shape[len(shape) - len(own) :]) != tuple(own):
            raise ValueError(message("ReshapeTransform", "another shape", tuple(shape), own))
        return tuple(shape[: len(shape) - len(own)])

    def _call(self, x):
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y):
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x, _y):
        """Zeros."""
        return x.new_zeros(self._batch(x.shape, self.in_shape))

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        return self._batch(shape, self.in_shape) + tuple(self.out_shape)

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        return self._batch(shape, self.out_shape) + tuple(self.in_shape)


class AbsTransform(Transform):
    """The magnitude; the inverse is the number itself."""

    codomain = constraints.positive
    bijective = False

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class LowerCholeskyTransform(Transform):
    """Matrices as lower triangles with a positive diagonal."""

    event_dim = 2
    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky
    bijective = False

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices as positive definite ones, by their Cholesky factors."""

    event_dim = 2
    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite
    bijective = False

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(tensors.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors as Cholesky factors of matrices of correlations: each row has the length 1, and each
    element takes a part, tanh(x), of what those before it have left of that.
    """

    event_dim = 2
    domain, codomain = constraints.real_vector, constraints.corr_cholesky

    def _call(self, x):
        part = x.tanh()
        eps = tensors.finfo(x.dtype).eps
        part = vec_to_tril_matrix(part.clamp(-1 + eps, 1 - eps), diag=-1)
        left = (1 - part**2).sqrt().cumprod(-1)
        part = part + tensors.eye(part.shape[-1], dtype=x.dtype, device=x.device)
        return part * functional.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - (y * y).cumsum(-1)
        left = functional.pad(left[..., :-1], [1, 0], value=1)
        part = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (part.log1p() - (-part).log1p()) / 2

    def log_abs_det_jacobian(self, x, y):
        """The logarithm of the determinant's magnitude."""
        left = 1 - (y * y).cumsum(-1)
        rows = tril_matrix_to_vec(left, diag=-2).log().sum(-1) / 2
        return rows - 2 * (x + functional.softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape):
        """The shape of results for one of arguments."""
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape):
        """The shape of arguments for one of results."""
        n = shape[-1]
        return (*shape[:-2], n * (n - 1) // 2)


class CumulativeDistributionTransform(Transform):
    """Numbers as their probabilities by a distribution."""

    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, _y):
        """The logarithm of the density."""
        return self.distribution.log_prob(x)


class _Several(Transform):
    def __init__(self, tseq, dim, cache_size):
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.bijective = all([t.bijective for t in self.transforms])

    def _each(self, f, *values):
        pieces = zip(self.transforms, *[self._parts(v) for v in values], strict=True)
        return [f(*each) for each in pieces]

    def _call(self, x):
        return self._joined(self._each(lambda t, x: t(x), x))

    def _inverse(self, y):
        return self._joined(self._each(lambda t, y: t._inv_call(y), y))


class CatTransform(_Several):
    """Transforms of parts of so many elements along a dimension."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.event_dim = max([t.event_dim for t in self.transforms])
        self.domain = constraints.cat([t.domain for t in self.transforms], dim, self.lengths)
        self.codomain = constraints.cat([t.codomain for t in self.transforms], dim, self.lengths)

    def _parts(self, x):
        return x.split(self.lengths, self.dim)

    def _joined(self, parts):
        return tensors.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        """The logarithms of the determinants' magnitudes."""
        found = self._each(
            lambda t, x, y: _summed(t.log_abs_det_jacobian(x, y), self.event_dim - t.event_dim),
            x, y,
        )  # fmt: skip
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return tensors.cat(found, dim) if dim < 0 else sum(found)


class StackTransform(_Several):
    """Transforms of the slices along a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.domain = constraints.stack([t.domain for t in self.transforms], dim)
        self.codomain = constraints.stack([t.codomain for t in self.transforms], dim)

    def _parts(self, x):
        return x.unbind(self.dim)

    def _joined(self, parts):
        return tensors.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        """The logarithms of the derivatives' magnitudes."""
        return self._joined(self._each(lambda t, x, y: t.log_abs_det_jacobian(x, y), x, y))


identity_transform = ComposeTransform([])
