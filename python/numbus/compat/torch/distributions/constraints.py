"""torch.distributions.constraints: which numbers a parameter or a value may be."""

import functools

from .... import tensors
from ....core.errors import message


class Constraint:
    """A region of tensors; `event_dim` dimensions at the end belong to one value."""

    is_discrete = False
    event_dim = 0
    expected = "another value"  # in messages

    def check(self, value):
        """Whether each value lies inside."""
        raise NotImplementedError(
            message("Constraint", "no check()", type(self).__name__, "a class that has one")
        )

    def __iter__(self):
        return iter((self.check, self.expected))

    def __repr__(self):
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """The values of another parameter decide."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._discrete, self._dims = is_discrete, event_dim
        super().__init__()

    def _told(self, name, value):
        if value is NotImplemented:
            raise NotImplementedError(
                message("dependent", f"{name} is not known before", name, "one that was given")
            )
        return value

    is_discrete = property(lambda self: self._told("is_discrete", self._discrete))
    event_dim = property(lambda self: self._told("event_dim", self._dims))

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with other properties."""
        return _Dependent(
            is_discrete=self._discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._dims if event_dim is NotImplemented else event_dim,
        )

    def check(self, x):
        """Raises: nothing is known of other parameters here."""
        raise ValueError(
            message("dependent", "a constraint that depends on other parameters", "check()",
                    "that of a distribution")
        )  # fmt: skip


def is_dependent(constraint):
    """Whether the values of other parameters decide."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        property.__init__(self, fn)
        self._discrete, self._dims = is_discrete, event_dim

    def __call__(self, fn):
        """The decorator of a method."""
        return _DependentProperty(fn, is_discrete=self._discrete, event_dim=self._dims)


class _IndependentConstraint(Constraint):
    """The last dimensions of values of another constraint belong together."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(
        lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims
    )
    expected = property(lambda self: self.base_constraint.expected)

    def check(self, value):
        """Whether each group of values lies inside."""
        inside, n = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if inside.dim() < n:
            raise ValueError(
                message("independent", "too few dimensions", tuple(value.shape), self.event_dim)
            )
        return inside.flatten(inside.dim() - n).all(-1) if n else inside

    def __repr__(self):
        base = repr(self.base_constraint)
        return f"IndependentConstraint({base}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What the components of a mixture may be."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value):
        """Whether each value lies inside for all components."""
        n = self.event_dim
        inside = self.base_constraint.check(value.unsqueeze(-1 - n))
        return inside.flatten(inside.dim() - n).all(-1) if n else inside.all(-1)

    def __repr__(self):
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Boolean(Constraint):
    is_discrete = True
    expected = "0 or 1"

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1
    expected = "ones among zeros"

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Limited(Constraint):
    """Numbers with limits, which are given in the order of `_names`."""

    _names = ("lower_bound", "upper_bound")

    def __init__(self, *limits, **named):
        limits = (*limits, *[named.pop(name) for name in self._names[len(limits) :]])
        if named or len(limits) != len(self._names):
            raise TypeError(
                message(type(self).__name__, "other arguments", (limits, named), self._names)
            )
        for name, x in zip(self._names, limits, strict=True):
            setattr(self, name, x)

    expected = property(lambda self: f"numbers of {self!r}")

    def __repr__(self):
        limits = [f"{name}={getattr(self, name)}" for name in self._names]
        return f"{type(self).__name__.lstrip('_')}({', '.join(limits)})"


class _IntegerInterval(_Limited):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Limited):
    is_discrete = True
    _names = ("upper_bound",)

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Limited):
    is_discrete = True
    _names = ("lower_bound",)

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    expected = "real numbers"

    def check(self, value):
        return value == value


class _GreaterThan(_Limited):
    _names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Limited):
    _names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Limited):
    _names = ("upper_bound",)

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Limited):
    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Limited):
    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    event_dim = 1
    expected = "numbers from 0 on with the sum 1"

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    expected = property(lambda self: f"numbers from 0 on with a sum of {self.upper_bound}")

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value):
        slack = tensors.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = tensors.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= slack).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        square = value.shape[-2] == value.shape[-1]
        return tensors.full(value.shape[:-2], square, dtype=tensors.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value):
        square = super().check(value)
        if not square.all():
            return square
        return tensors.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        inside = super().check(value)
        return tensors.linalg.eigvalsh(value).ge(0).all(-1) if inside.all() else inside


class _PositiveDefinite(_Symmetric):
    expected = "a positive definite matrix"

    def check(self, value):
        inside = super().check(value)
        return tensors.linalg.cholesky_ex(value).info.eq(0) if inside.all() else inside


class _Several(Constraint):
    def __init__(self, cseq, dim):
        self.cseq, self.dim = list(cseq), dim

    is_discrete = property(lambda self: any([c.is_discrete for c in self.cseq]))


class _Cat(_Several):
    """Constraints of parts along a dimension."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    event_dim = property(lambda self: max([c.event_dim for c in self.cseq]))

    def check(self, value):
        found, start = [], 0
        for constraint, n in zip(self.cseq, self.lengths, strict=True):
            found.append(constraint.check(value.narrow(self.dim, start, n)))
            start += n
        return tensors.cat(found, self.dim)


class _Stack(_Several):
    """Constraints of the slices along a dimension."""

    @property
    def event_dim(self):
        n = max([c.event_dim for c in self.cseq])
        return n + 1 if self.dim + n < 0 else n

    def check(self, value):
        parts = [value.select(self.dim, k) for k in range(value.size(self.dim))]
        found = [c.check(v) for c, v in zip(self.cseq, parts, strict=True)]
        return tensors.stack(found, self.dim)


dependent, dependent_property = _Dependent(), _DependentProperty
independent = _IndependentConstraint
boolean, one_hot = _Boolean(), _OneHot()
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval, half_open_interval = _Interval, _HalfOpenInterval
simplex = _Simplex()
lower_triangular, lower_cholesky = _LowerTriangular(), _LowerCholesky()
corr_cholesky = _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
cat, stack = _Cat, _Stack

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


def of_support(function, is_discrete=False, event_dim=0):
    """`support` of a distribution whose parameters decide."""
    return functools.partial(_DependentProperty, is_discrete=is_discrete, event_dim=event_dim)(
        function
    )
