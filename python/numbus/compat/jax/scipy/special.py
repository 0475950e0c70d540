"""jax.scipy.special: element by element, for JAX's arrays."""

from ..._missing import missing as _missing
from ..lax import _special, erf_inv
from ..nn import log_softmax, logsumexp, softmax  # noqa: F401

__name__ = "jax.scipy.special"
erfinv = erf_inv
_NAMES = frozenset("entr erf erfc expit gamma gammaln logit ndtr".split())


def __getattr__(name):
    if name not in _NAMES:
        return _missing("jax.scipy.special", name)
    globals()[name] = _special(name)
    return globals()[name]
