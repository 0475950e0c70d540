"""jax.random: numbers that a key determines, the same bits as JAX's default generator."""

# ruff: noqa: F401 – names for users
from .._missing import missing as _missing
from ._distributions import (
    ball,
    beta,
    binomial,
    cauchy,
    chisquare,
    dirichlet,
    double_sided_maxwell,
    f,
    gamma,
    generalized_normal,
    geometric,
    loggamma,
    logistic,
    lognormal,
    maxwell,
    multinomial,
    orthogonal,
    pareto,
    poisson,
    rayleigh,
    t,
    triangular,
    wald,
    weibull_min,
)
from ._random import (
    Keys,
    PRNGKey,
    bernoulli,
    bits,
    categorical,
    choice,
    clone,
    exponential,
    fold_in,
    gumbel,
    key,
    key_data,
    key_impl,
    laplace,
    multivariate_normal,
    normal,
    permutation,
    rademacher,
    randint,
    split,
    truncated_normal,
    uniform,
    wrap_key_data,
)

__name__ = "jax.random"


def __getattr__(name):
    return _missing("jax.random", name)
