"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

from typing import Any

from numpy.typing import DTypeLike
from . import ndarray
from numpy.random import BitGenerator as BitGenerator
from numpy.random import MT19937 as MT19937
from numpy.random import PCG64 as PCG64
from numpy.random import PCG64DXSM as PCG64DXSM
from numpy.random import Philox as Philox
from numpy.random import SFC64 as SFC64
from numpy.random import SeedSequence as SeedSequence
Generator: Any
RandomState: Any
def beta(*args: Any, **kwargs: Any) -> Any:
    """beta(a, b, size=None)"""
def binomial(*args: Any, **kwargs: Any) -> Any:
    """binomial(n, p, size=None)"""
def bytes(*args: Any, **kwargs: Any) -> Any:
    """bytes(length)"""
def chisquare(*args: Any, **kwargs: Any) -> Any:
    """chisquare(df, size=None)"""
def choice(*args: Any, **kwargs: Any) -> Any:
    """choice(a, size=None, replace=True, p=None)"""
def default_rng(seed: Any = None) -> Any:
    """A Generator for a seed (int, ints, SeedSequence, BitGenerator or Generator)."""
def dirichlet(*args: Any, **kwargs: Any) -> Any:
    """dirichlet(alpha, size=None)"""
def exponential(*args: Any, **kwargs: Any) -> Any:
    """exponential(scale=1.0, size=None)"""
def f(*args: Any, **kwargs: Any) -> Any:
    """f(dfnum, dfden, size=None)"""
def gamma(*args: Any, **kwargs: Any) -> Any:
    """gamma(shape, scale=1.0, size=None)"""
def geometric(*args: Any, **kwargs: Any) -> Any:
    """geometric(p, size=None)"""
def get_state(*args: Any, **kwargs: Any) -> Any:
    """get_state(legacy=True)"""
def gumbel(*args: Any, **kwargs: Any) -> Any:
    """gumbel(loc=0.0, scale=1.0, size=None)"""
def hypergeometric(*args: Any, **kwargs: Any) -> Any:
    """hypergeometric(ngood, nbad, nsample, size=None)"""
def laplace(*args: Any, **kwargs: Any) -> Any:
    """laplace(loc=0.0, scale=1.0, size=None)"""
def logistic(*args: Any, **kwargs: Any) -> Any:
    """logistic(loc=0.0, scale=1.0, size=None)"""
def lognormal(*args: Any, **kwargs: Any) -> Any:
    """lognormal(mean=0.0, sigma=1.0, size=None)"""
def logseries(*args: Any, **kwargs: Any) -> Any:
    """logseries(p, size=None)"""
def multinomial(*args: Any, **kwargs: Any) -> Any:
    """multinomial(n, pvals, size=None)"""
def multivariate_normal(*args: Any, **kwargs: Any) -> Any:
    """multivariate_normal(mean, cov, size=None, check_valid='warn', tol=1e-8)"""
def negative_binomial(*args: Any, **kwargs: Any) -> Any:
    """negative_binomial(n, p, size=None)"""
def noncentral_chisquare(*args: Any, **kwargs: Any) -> Any:
    """noncentral_chisquare(df, nonc, size=None)"""
def noncentral_f(*args: Any, **kwargs: Any) -> Any:
    """noncentral_f(dfnum, dfden, nonc, size=None)"""
def normal(*args: Any, **kwargs: Any) -> Any:
    """normal(loc=0.0, scale=1.0, size=None)"""
def pareto(*args: Any, **kwargs: Any) -> Any:
    """pareto(a, size=None)"""
def permutation(*args: Any, **kwargs: Any) -> Any:
    """permutation(x)"""
def poisson(*args: Any, **kwargs: Any) -> Any:
    """poisson(lam=1.0, size=None)"""
def power(*args: Any, **kwargs: Any) -> Any:
    """power(a, size=None)"""
def rand(*args: Any, **kwargs: Any) -> Any:
    """rand(d0, d1, ..., dn)"""
def randint(*args: Any, **kwargs: Any) -> Any:
    """randint(low, high=None, size=None, dtype=int)"""
def randn(*args: Any, **kwargs: Any) -> Any:
    """randn(d0, d1, ..., dn)"""
def random(*args: Any, **kwargs: Any) -> Any:
    """random(size=None)"""
def random_integers(*args: Any, **kwargs: Any) -> Any:
    """random_integers(low, high=None, size=None)"""
def random_sample(*args: Any, **kwargs: Any) -> Any:
    """random_sample(size=None)"""
def ranf(*args: Any, **kwargs: Any) -> Any:
    """This is an alias of `random_sample`. See `random_sample`  for the complete
    documentation."""
def rayleigh(*args: Any, **kwargs: Any) -> Any:
    """rayleigh(scale=1.0, size=None)"""
def sample(*args: Any, **kwargs: Any) -> Any:
    """This is an alias of `random_sample`. See `random_sample`  for the complete
    documentation."""
def seed(*args: Any, **kwargs: Any) -> Any:
    """seed(seed=None)"""
def set_state(*args: Any, **kwargs: Any) -> Any:
    """set_state(state)"""
def shuffle(*args: Any, **kwargs: Any) -> Any:
    """shuffle(x)"""
def standard_cauchy(*args: Any, **kwargs: Any) -> Any:
    """standard_cauchy(size=None)"""
def standard_exponential(*args: Any, **kwargs: Any) -> Any:
    """standard_exponential(size=None)"""
def standard_gamma(*args: Any, **kwargs: Any) -> Any:
    """standard_gamma(shape, size=None)"""
def standard_normal(*args: Any, **kwargs: Any) -> Any:
    """standard_normal(size=None)"""
def standard_t(*args: Any, **kwargs: Any) -> Any:
    """standard_t(df, size=None)"""
def triangular(*args: Any, **kwargs: Any) -> Any:
    """triangular(left, mode, right, size=None)"""
def uniform(*args: Any, **kwargs: Any) -> Any:
    """uniform(low=0.0, high=1.0, size=None)"""
def vonmises(*args: Any, **kwargs: Any) -> Any:
    """vonmises(mu, kappa, size=None)"""
def wald(*args: Any, **kwargs: Any) -> Any:
    """wald(mean, scale, size=None)"""
def weibull(*args: Any, **kwargs: Any) -> Any:
    """weibull(a, size=None)"""
def zipf(*args: Any, **kwargs: Any) -> Any:
    """zipf(a, size=None)"""
