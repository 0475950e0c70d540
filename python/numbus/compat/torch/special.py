"""torch.special."""

from ...tensors import erf, erfc, exp2, expm1, log1p, log_softmax, logit, softmax  # noqa: F401
from ...tensors import lgamma as gammaln  # noqa: F401
from ...tensors import sigmoid as expit  # noqa: F401
from .._missing import missing as _missing


def __getattr__(name):
    return _missing("torch.special", name)
