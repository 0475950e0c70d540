"""torch.special."""

# ruff: noqa: F401
from ...functions import special as _special
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
from ...tensors import tensor_function as _tensor_function
from ...tensors._arrays import as_dtype as _as_dtype
from ...tensors._arrays import floating as _floating
from .._missing import missing as _missing
from ._special import erfcx, gammainc, gammaincc, i0e, i1, i1e, log_ndtr, ndtri


def _made(name, doc):
    function = getattr(_special, name)

    def body(*operands):
        if len(operands) == 1:
            a = _floating(operands[0])
            return _as_dtype(function(a), a.dtype)
        x, y = (_floating(v) if hasattr(v, "dtype") else v for v in operands)
        t = x.dtype if hasattr(x, "dtype") else y.dtype
        return _as_dtype(function(x, y), t)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    return _tensor_function(body)


entr = _made("entr", "-x log(x); 0 for 0, minus infinity below.")
ndtr = _made("ndtr", "The normal distribution's probability of values up to x.")
xlog1py = _made("xlog1py", "x * log1p(y); 0 where x is 0 and y no NaN.")


def __getattr__(name):
    return _missing("torch.special", name)
