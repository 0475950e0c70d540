"""torch.special."""

# ruff: noqa: F401
from ...tensors import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    polygamma,
    psi,
    round,
    sinc,
    softmax,
    xlogy,
)
from ...tensors import lgamma as gammaln
from ...tensors import mvlgamma as multigammaln
from ...tensors import sigmoid as expit
from .._missing import missing as _missing


def __getattr__(name):
    return _missing("torch.special", name)
