"""jax.scipy.special: element by element, for JAX's arrays."""

from ..._missing import missing as _missing
from .._special import BODIES as _BODIES
from .._special import made_of, multigammaln, polygamma  # noqa: F401
from ..lax import _special, erf_inv
from ..nn import log_softmax, logsumexp, softmax  # noqa: F401

__name__ = "jax.scipy.special"
erfinv = erf_inv
_NAMES = frozenset("erf erfc expit gamma gammaln logit ndtr".split())


def __getattr__(name):
    if name in _BODIES:
        globals()[name] = made_of(name)
        return globals()[name]
    if name not in _NAMES:
        return _missing("jax.scipy.special", name)
    globals()[name] = _special(name)
    return globals()[name]
