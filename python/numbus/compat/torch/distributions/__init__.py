"""torch.distributions: random numbers, logarithms of probabilities and entropies of tensors.

Random numbers are those of `manual_seed`, not PyTorch's. Samples by `rsample` are differentiated by
the parameters where a formula makes them of numbers that do not depend on these.
"""

from ..._missing import missing as _missing
from ...rewrite import OF_DISTRIBUTIONS
from . import constraint_registry, constraints, utils  # noqa: F401
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Beta,
    Cauchy,
    Chi2,
    Dirichlet,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution, Independent
from .divergence import kl_divergence, register_kl

from . import divergence_pairs  # noqa: F401, isort: skip
from .further import (
    FisherSnedecor,
    InverseGamma,
    Kumaraswamy,
    NegativeBinomial,
    RelaxedBernoulli,
)
from .shaped import (
    AbsTransform,
    CatTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    StackTransform,
    identity_transform,
)
from .transformed import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    HalfCauchy,
    MixtureSameFamily,
    Pareto,
    PowerTransform,
    RelaxedOneHotCategorical,
    SigmoidTransform,
    StudentT,
    TanhTransform,
    Transform,
    TransformedDistribution,
    Weibull,
)
from .vectors import (
    LogisticNormal,
    LowRankMultivariateNormal,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    VonMises,
)

__all__ = [
    "AbsTransform", "AffineTransform", "Bernoulli", "Beta", "Binomial", "CatTransform",
    "Categorical", "Cauchy", "Chi2", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "Dirichlet", "Distribution", "ExpTransform", "Exponential",
    "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "IndependentTransform", "InverseGamma", "Kumaraswamy", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "LowerCholeskyTransform", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "PositiveDefiniteTransform",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "StudentT", "TanhTransform", "Transform", "TransformedDistribution",
    "Uniform", "VonMises", "Weibull", "biject_to", "constraints", "identity_transform",
    "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip


def __getattr__(name):
    if name in OF_DISTRIBUTIONS:
        # PyTorch has a module for each distribution.
        import sys

        return sys.modules[__name__]
    return _missing("torch.distributions", name)
