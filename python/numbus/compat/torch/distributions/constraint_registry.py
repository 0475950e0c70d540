"""torch.distributions.constraint_registry: transforms from all numbers to those of a constraint."""

from . import constraints
from .shaped import (
    CatTransform,
    CorrCholeskyTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    StackTransform,
    identity_transform,
)
from .transformed import AffineTransform, ComposeTransform, ExpTransform, SigmoidTransform
from .vectors import SoftmaxTransform, StickBreakingTransform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions that make a transform for a constraint, by the classes of constraints."""

    def __init__(self):
        self._makers = {}

    def register(self, constraint, factory=None):
        """Adds a function, which may be decorated so, for a class of constraints or that of one."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got"
                f" {constraint}"
            )
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint):
        """The transform for a constraint. NotImplementedError where none is known."""
        make = self._makers.get(type(constraint))
        if make is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return make(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _of_both(kind, make=None):
    if make is None:
        return lambda make: _of_both(kind, make)
    biject_to.register(kind, make)
    return transform_to.register(kind, make)


_of_both(constraints.real, lambda c: identity_transform)
_of_both(constraints.simplex, lambda c: SoftmaxTransform())
biject_to.register(constraints.simplex, lambda c: StickBreakingTransform())
transform_to.register(constraints.lower_cholesky, lambda c: LowerCholeskyTransform())
for _matrices in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_matrices, lambda c: PositiveDefiniteTransform())
_of_both(constraints.corr_cholesky, lambda c: CorrCholeskyTransform())


@_of_both(constraints.greater_than)
@_of_both(constraints.greater_than_eq)
def _above(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


@_of_both(constraints.less_than)
def _below(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


@_of_both(constraints.interval)
@_of_both(constraints.half_open_interval)
def _between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and low == 0 and isinstance(high, (int, float)) and high == 1:
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _of_parts(registry):
    """Registers those that are made of the transforms of other constraints."""

    @registry.register(constraints.independent)
    def _independent(c):
        return IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def _cat(c):
        return CatTransform([registry(each) for each in c.cseq], c.dim, c.lengths)

    @registry.register(constraints.stack)
    def _stack(c):
        return StackTransform([registry(each) for each in c.cseq], c.dim)


_of_parts(biject_to)
_of_parts(transform_to)
