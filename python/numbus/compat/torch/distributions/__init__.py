"""torch.distributions: random numbers, logarithms of probabilities and entropies of tensors.

Random numbers are those of `manual_seed`, not PyTorch's. Samples by `rsample` are differentiated by
the parameters where a formula makes them of numbers that do not depend on these.
"""

from ..._missing import missing as _missing
from ...rewrite import OF_DISTRIBUTIONS
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
    Poisson,
)
from .distribution import Distribution, Independent
from .divergence import kl_divergence, register_kl
from .further import (
    FisherSnedecor,
    InverseGamma,
    Kumaraswamy,
    NegativeBinomial,
    RelaxedBernoulli,
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
    "AffineTransform", "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2",
    "ComposeTransform", "Dirichlet", "Distribution", "ExpTransform", "Exponential",
    "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "Pareto", "Poisson",
    "PowerTransform", "RelaxedBernoulli", "RelaxedOneHotCategorical", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StickBreakingTransform", "StudentT", "TanhTransform",
    "Transform", "TransformedDistribution", "Uniform", "VonMises", "Weibull",
    "kl_divergence", "register_kl",
]  # fmt: skip


def __getattr__(name):
    if name in OF_DISTRIBUTIONS:
        # PyTorch has a module for each distribution.
        import sys

        return sys.modules[__name__]
    return _missing("torch.distributions", name)
