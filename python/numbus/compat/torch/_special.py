"""Functions of torch.special that tensors do not have: scaled Bessel functions, tails of the normal
distribution.
"""

import numpy as np

import numbus as nb

from ...core.errors import message
from ...tensors import tensor_function
from ...tensors._arrays import as_dtype, floating
from ...tensors.autograd import Function
from ...tensors.special_functions import _bessel_1
from .. import _special as _shared

__all__ = ["erfcx", "gammainc", "gammaincc", "i0e", "i1", "i1e", "log_ndtr", "ndtri"]


def _made(name, function, doc):
    def body(input):
        a = floating(input)
        return as_dtype(function(as_dtype(a, np.dtype("f8"))), a.dtype)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = doc
    return tensor_function(body)


erfcx = _made("erfcx", _shared.erfcx, "exp(x²) erfc(x), which does not underflow.")
i0e = _made("i0e", _shared.i0e, "exp(-|x|) times the modified Bessel function of order 0.")
i1 = _made("i1", _bessel_1, "The modified Bessel function of order 1.")
i1e = _made("i1e", _shared.i1e, "exp(-|x|) times the modified Bessel function of order 1.")
log_ndtr = _made("log_ndtr", _shared.log_ndtr, "The logarithm of a normal probability.")
ndtri = _made("ndtri", _shared.ndtri, "The value up to which normal numbers have a probability.")


def _incomplete(name, function, sign, doc):
    @tensor_function
    def values(a, x):
        t = np.result_type(a.dtype, x.dtype)
        a, x = (as_dtype(nb.stop_gradient(v), np.dtype("f8")) for v in (a, x))
        return as_dtype(nb.asarray(function(a, x)), t)

    class Incomplete(Function):
        @staticmethod
        def forward(ctx, a, x):
            ctx.save_for_backward(a, x)
            return values(a, x)

        @staticmethod
        def backward(ctx, g):
            a, x = ctx.saved_tensors
            if ctx.needs_input_grad[0]:
                raise NotImplementedError(
                    message(name, "the derivative by the first argument is not there",
                            "an argument that requires a gradient", "input.detach()")
                )  # fmt: skip
            density = ((a - 1) * x.log() - x - a.lgamma()).exp()
            return None, _to_size(sign * g * density, x.shape)

    def incomplete(input, other):
        return Incomplete.apply(input, other)

    incomplete.__name__ = incomplete.__qualname__ = name
    incomplete.__doc__ = doc
    return incomplete


def _to_size(g, shape):
    """A gradient summed over the dimensions along which an operand was broadcast."""
    return g.sum_to_size(shape) if g.shape != shape else g


gammainc = _incomplete(
    "gammainc", _shared.lower_gamma, 1,
    "The regularised lower incomplete gamma function P(input, other).",
)  # fmt: skip
gammaincc = _incomplete(
    "gammaincc", _shared.upper_gamma, -1,
    "The regularised upper incomplete gamma function Q(input, other).",
)  # fmt: skip
