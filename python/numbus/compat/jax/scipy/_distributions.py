"""The distributions of jax.scipy.stats: densities and probabilities by formulas."""

import math
import types

import numbus as nb

from ....core.errors import message
from ....functions import special
from .._array import Array, as_array, cast, made
from .._functions import silent
from .._special import (
    BODIES,
    F8,
    betaln,
    log_ndtr,
    ndtri,
    operands,
    xlog1py,
    xlogy,
)

_LOG_2_PI = math.log(2 * math.pi)


def _function(name, body):
    """A function of x and parameters in float64 as one of JAX's arrays; defaults are numbers."""

    def function(*args, **keywords):
        given = _bound(name, body, args, keywords)
        values, t, weak = operands(name, *given)
        found = body(*[cast(a, F8) for a in values])
        return Array(cast(as_array(found), t), weak)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = body.__doc__ or f"`{name}` of the distribution."
    return silent(function)


def _bound(name, body, args, keywords):
    body = getattr(body, "arguments_of", body)
    body = getattr(body, "arguments_of", body)
    code = body.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = dict(zip(reversed(names), reversed(body.__defaults__ or ())))
    if len(args) > len(names):
        raise TypeError(f"{name}() takes {len(names)} positional arguments, got {len(args)}")
    found = dict(zip(names, args))
    for key, value in keywords.items():
        if key not in names or key in found:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        found[key] = value
    missing = [key for key in names if key not in found and key not in defaults]
    if missing:
        raise TypeError(f"{name}() missing required arguments: {', '.join(missing)}")
    return [found.get(key, defaults.get(key)) for key in names]


def _distribution(name, doc, **bodies):
    """A module of functions; those that follow from others are added."""
    if "logpdf" in bodies and "pdf" not in bodies:
        bodies["pdf"] = _after(nb.exp, bodies["logpdf"])
    if "logpmf" in bodies and "pmf" not in bodies:
        bodies["pmf"] = _after(nb.exp, bodies["logpmf"])
    if "cdf" in bodies and "logcdf" not in bodies:
        bodies["logcdf"] = _after(nb.log, bodies["cdf"])
    if "cdf" in bodies and "sf" not in bodies:
        bodies["sf"] = _after(lambda v: 1 - v, bodies["cdf"])
    if "sf" in bodies and "logsf" not in bodies:
        bodies["logsf"] = _after(nb.log, bodies["sf"])
    module = types.ModuleType(f"jax.scipy.stats.{name}", doc)
    for key, body in bodies.items():
        setattr(module, key, _function(key, body))
    return module


def _after(f, body):
    """`f` of what the body gives, whose arguments it has."""

    def both(*args):
        return f(body(*args))

    both.arguments_of = body
    return both


def _where(inside, found, other):
    return nb.where(inside, found, other)


def _norm_logpdf(x, loc=0, scale=1):
    return -0.5 * (nb.square((x - loc) / scale) + _LOG_2_PI) - nb.log(scale)


def _norm_cdf(x, loc=0, scale=1):
    return special.ndtr((x - loc) / scale)


def _norm_logcdf(x, loc=0, scale=1):
    return log_ndtr((x - loc) / scale)


def _norm_sf(x, loc=0, scale=1):
    return special.ndtr((loc - x) / scale)


def _norm_logsf(x, loc=0, scale=1):
    return log_ndtr((loc - x) / scale)


def _norm_ppf(q, loc=0, scale=1):
    return ndtri(q) * scale + loc


def _norm_isf(q, loc=0, scale=1):
    return loc - ndtri(q) * scale


def _uniform_logpdf(x, loc=0, scale=1):
    inside = nb.logical_and(x >= loc, x <= loc + scale)
    return _where(inside, -nb.log(scale) + 0 * x, -math.inf)


def _uniform_cdf(x, loc=0, scale=1):
    return nb.clip((x - loc) / scale, 0.0, 1.0)


def _uniform_ppf(q, loc=0, scale=1):
    inside = nb.logical_and(q >= 0, q <= 1)
    return _where(inside, q * scale + loc, math.nan)


def _expon_logpdf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y < 0, -math.inf, -y - nb.log(scale))


def _expon_cdf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y < 0, 0.0, -nb.expm1(-y))


def _expon_sf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y < 0, 1.0, nb.exp(-y))


def _expon_logsf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y < 0, 0.0, -y)


def _expon_ppf(q, loc=0, scale=1):
    return loc - scale * nb.log1p(-q)


def _laplace_logpdf(x, loc=0, scale=1):
    return -nb.abs(x - loc) / scale - nb.log(2 * scale)


def _laplace_cdf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y <= 0, 0.5 * nb.exp(nb.minimum(y, 0)), 1 - 0.5 * nb.exp(-nb.maximum(y, 0)))


def _logistic_logpdf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return -y - 2 * nb.logaddexp(0.0, -y) - nb.log(scale)


def _logistic_cdf(x, loc=0, scale=1):
    return special.expit((x - loc) / scale)


def _logistic_sf(x, loc=0, scale=1):
    return special.expit((loc - x) / scale)


def _logistic_ppf(q, loc=0, scale=1):
    return special.logit(q) * scale + loc


def _logistic_isf(q, loc=0, scale=1):
    return loc - special.logit(q) * scale


def _cauchy_logpdf(x, loc=0, scale=1):
    return -nb.log(math.pi * scale) - nb.log1p(nb.square((x - loc) / scale))


def _cauchy_cdf(x, loc=0, scale=1):
    return 0.5 + nb.arctan((x - loc) / scale) / math.pi


def _cauchy_ppf(q, loc=0, scale=1):
    return nb.tan(math.pi * (q - 0.5)) * scale + loc


def _gamma_logpdf(x, a, loc=0, scale=1):
    y = (x - loc) / scale
    found = xlogy(a - 1, y) - y - special.gammaln(a) - nb.log(scale)
    return _where(y < 0, -math.inf, found)


def _gamma_cdf(x, a, loc=0, scale=1):
    y = (x - loc) / scale
    return BODIES["gammainc"](a, nb.clip(y, 0, math.inf))


def _gamma_sf(x, a, loc=0, scale=1):
    y = (x - loc) / scale
    return BODIES["gammaincc"](a, nb.clip(y, 0, math.inf))


def _beta_logpdf(x, a, b, loc=0, scale=1):
    y = (x - loc) / scale
    found = xlogy(a - 1, y) + xlog1py(b - 1, -y)
    found = found - betaln(a, b) - nb.log(scale)
    return _where(nb.logical_or(y > 1, y < 0), -math.inf, found)


def _beta_cdf(x, a, b, loc=0, scale=1):
    y = nb.clip((x - loc) / scale, 0, 1)
    return BODIES["betainc"](a, b, y)


def _chi2_logpdf(x, df, loc=0, scale=1):
    y = (x - loc) / scale
    half = df / 2
    found = xlogy(half - 1, y) - y / 2 - half * math.log(2) - special.gammaln(half)
    return _where(y < 0, -math.inf, found - nb.log(scale))


def _chi2_cdf(x, df, loc=0, scale=1):
    y = (x - loc) / scale
    return BODIES["gammainc"](df / 2, nb.clip(y / 2, 0, math.inf))


def _chi2_sf(x, df, loc=0, scale=1):
    y = (x - loc) / scale
    return BODIES["gammaincc"](df / 2, nb.clip(y / 2, 0, math.inf))


def _t_logpdf(x, df, loc=0, scale=1):
    y = (x - loc) / scale
    part = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
    return (
        part
        - 0.5 * nb.log(math.pi * df)
        - nb.log(scale)
        - (df + 1) / 2 * nb.log1p(nb.square(y) / df)
    )


def _pareto_logpdf(x, b, loc=0, scale=1):
    y = (x - loc) / scale
    return _where(y < 1, -math.inf, nb.log(b / scale) - (b + 1) * nb.log(y))


def _pareto_cdf(x, b, loc=0, scale=1):
    y = nb.maximum((x - loc) / scale, 1.0)
    return -nb.expm1(-b * nb.log(y))


def _is_whole(k):
    return nb.floor(k) == k


def _bernoulli_logpmf(k, p, loc=0):
    x = k - loc
    found = xlogy(x, p) + xlog1py(1 - x, -p)
    return _where(nb.logical_or(x == 0, x == 1), found, -math.inf)


def _bernoulli_cdf(k, p):
    found = _where(k < 0, 0.0, _where(k < 1, 1 - p, 1.0))
    return _where(nb.logical_or(nb.logical_or(p < 0, p > 1), nb.isnan(k)), math.nan, found)


def _bernoulli_ppf(q, p):
    found = _where(q <= 1 - p, 0.0, 1.0)
    wrong = nb.logical_or(nb.logical_or(p < 0, p > 1), nb.logical_or(q < 0, q > 1))
    return _where(wrong, math.nan, found)


def _binom_logpmf(k, n, p, loc=0):
    y = k - loc
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    found = ways + xlogy(y, p) + xlog1py(n - y, -p)
    return _where(nb.logical_or(y < 0, y > n), -math.inf, found)


def _poisson_logpmf(k, mu, loc=0):
    x = k - loc
    found = xlogy(x, mu) - special.gammaln(x + 1) - mu
    return _where(nb.logical_or(x < 0, nb.logical_not(_is_whole(k))), -math.inf, found)


def _poisson_cdf(k, mu, loc=0):
    x = k - loc
    found = BODIES["gammaincc"](nb.maximum(nb.floor(x) + 1, 1.0), mu)
    return _where(x < 0, 0.0, found)


def _geom_logpmf(k, p, loc=0):
    x = k - loc
    return _where(x <= 0, -math.inf, xlog1py(x - 1, -p) + nb.log(p))


def _nbinom_logpmf(k, n, p, loc=0):
    y = k - loc
    ways = special.gammaln(y + n) - special.gammaln(n) - special.gammaln(y + 1)
    found = ways + n * nb.log(p) + xlog1py(y, -p)
    return _where(y < 0, -math.inf, found)


def _gumbel_logpdf(x, loc=0, scale=1):
    y = (x - loc) / scale
    return -(y + nb.exp(-y)) - nb.log(scale)


def _gumbel_cdf(x, loc=0, scale=1):
    return nb.exp(-nb.exp(-(x - loc) / scale))


def _gumbel_ppf(q, loc=0, scale=1):
    return loc - scale * nb.log(-nb.log(q))


_KNOWN = {
    "norm": {"logpdf": _norm_logpdf, "cdf": _norm_cdf, "logcdf": _norm_logcdf, "sf": _norm_sf,
             "logsf": _norm_logsf, "ppf": _norm_ppf, "isf": _norm_isf},
    "uniform": {"logpdf": _uniform_logpdf, "cdf": _uniform_cdf, "ppf": _uniform_ppf},
    "expon": {"logpdf": _expon_logpdf, "cdf": _expon_cdf, "sf": _expon_sf, "logsf": _expon_logsf,
              "ppf": _expon_ppf},
    "laplace": {"logpdf": _laplace_logpdf, "cdf": _laplace_cdf},
    "logistic": {"logpdf": _logistic_logpdf, "cdf": _logistic_cdf, "sf": _logistic_sf,
                 "ppf": _logistic_ppf, "isf": _logistic_isf},
    "cauchy": {"logpdf": _cauchy_logpdf, "cdf": _cauchy_cdf, "ppf": _cauchy_ppf},
    "gamma": {"logpdf": _gamma_logpdf, "cdf": _gamma_cdf, "sf": _gamma_sf},
    "beta": {"logpdf": _beta_logpdf, "cdf": _beta_cdf},
    "chi2": {"logpdf": _chi2_logpdf, "cdf": _chi2_cdf, "sf": _chi2_sf},
    "t": {"logpdf": _t_logpdf}, "pareto": {"logpdf": _pareto_logpdf, "cdf": _pareto_cdf},
    "bernoulli": {"logpmf": _bernoulli_logpmf, "cdf": _bernoulli_cdf, "ppf": _bernoulli_ppf},
    "binom": {"logpmf": _binom_logpmf},
    "poisson": {"logpmf": _poisson_logpmf, "cdf": _poisson_cdf},
    "geom": {"logpmf": _geom_logpmf}, "nbinom": {"logpmf": _nbinom_logpmf},
    "gumbel_r": {"logpdf": _gumbel_logpdf, "cdf": _gumbel_cdf, "ppf": _gumbel_ppf},
}  # fmt: skip


def _multivariate_logpdf(x, mean, cov, allow_singular=None):
    """The logarithm of the density of a normal distribution of several dimensions."""
    if allow_singular is not None:
        raise NotImplementedError("allow_singular argument of multivariate_normal.logpdf")
    (a, m, c), t, weak = operands("logpdf", x, mean, cov)
    if not m.ndim:
        found = _norm_logpdf(a, m, nb.sqrt(c))
        return Array(cast(as_array(found), t), weak)
    n = m.shape[-1]
    if c.shape[-2:] != (n, n):
        raise ValueError("multivariate_normal.logpdf got incompatible shapes")
    lower = nb.linalg.cholesky(c)
    apart = nb.broadcast_to(a - m, nb.broadcast_shapes(a.shape, m.shape, c.shape[:-2] + (n,)))
    y = nb.linalg.solve(lower, as_array(apart)[..., None])[..., 0]
    size = nb.sum(nb.log(nb.diagonal(lower, 0, -2, -1)), axis=-1)
    found = -0.5 * nb.sum(nb.square(y), axis=-1) - n / 2 * _LOG_2_PI - size
    return Array(cast(as_array(found), t))


def _dirichlet_logpdf(x, alpha):
    """The logarithm of the density of Dirichlet's distribution; parts lie along the first axis."""
    (a, alpha), t, _ = operands("logpdf", x, alpha)
    if alpha.ndim != 1:
        raise ValueError(f"`alpha` must be one-dimensional; got alpha.shape={alpha.shape}")
    if a.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            "`x` must have either the same number of entries as `alpha` or one entry fewer; got "
            f"x.shape={a.shape}, alpha.shape={alpha.shape}"
        )
    if a.shape[0] != alpha.shape[0]:
        a = as_array(nb.concatenate([a, 1 - nb.sum(a, axis=0, keepdims=True)]))
    spread = alpha.reshape((-1,) + (1,) * (a.ndim - 1))
    found = nb.sum(xlogy(spread - 1, a), axis=0)
    found = found - (nb.sum(special.gammaln(alpha)) - special.gammaln(nb.sum(alpha)))
    inside = nb.logical_and(nb.all(a > 0, axis=0), nb.abs(nb.sum(a, axis=0) - 1) < 1e-6)
    return Array(cast(as_array(nb.where(inside, found, -math.inf)), t))


def _exponential(function):
    def density(*args, **keywords):
        found = function(*args, **keywords)
        return Array(as_array(nb.exp(found._a)), found.weak_type)

    density.__doc__ = (function.__doc__ or "").replace("The logarithm of the", "The")
    return density


def _multinomial_logpmf(x, n, p):
    """The logarithm of the probability of counts of several kinds."""
    (a, p), t, _ = operands("logpmf", x, p)
    n = made(n)._a
    ways = special.gammaln(n + 1) + nb.sum(xlogy(a, p) - special.gammaln(a + 1), axis=-1)
    return Array(cast(as_array(nb.where(nb.sum(a, axis=-1) == n, ways, -math.inf)), t))


_SEVERAL = {
    "multivariate_normal": ("logpdf", "pdf", _multivariate_logpdf),
    "dirichlet": ("logpdf", "pdf", _dirichlet_logpdf),
    "multinomial": ("logpmf", "pmf", _multinomial_logpmf),
}


def distribution(name):
    """The module of a distribution, or None."""
    if name in _KNOWN:
        return _distribution(name, f"The distribution `{name}`.", **_KNOWN[name])
    if name in _SEVERAL:
        first, second, function = _SEVERAL[name]
        module = types.ModuleType(f"jax.scipy.stats.{name}", f"The distribution `{name}`.")
        setattr(module, first, silent(function))
        setattr(module, second, silent(_exponential(function)))
        return module
    return None


def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    """The standard error of the mean."""
    if nan_policy != "propagate":
        raise NotImplementedError(
            message("jax.scipy.stats.sem", "nan_policy= is not yet available", nan_policy,
                    "'propagate'")
        )  # fmt: skip
    (x,), t, _ = operands("sem", a)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    found = nb.std(x, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(x.shape[axis])
    return Array(cast(as_array(found), t))
