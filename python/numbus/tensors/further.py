"""Less frequent functions and methods, under PyTorch's names."""

import math

import numpy

import numbus as nb

from ..core.errors import message
from . import _dtypes
from ._arrays import as_dtype, axis_of, floating
from ._functions import in_place, method, named_results, tensor_function
from ._tensor import Tensor
from .indexing import takes_source
from .products import outer
from .random import rand
from .rearranging import scatter_reduce
from .special_functions import mvlgamma, polygamma

__all__ = [
    "addr", "adjoint", "arccosh", "arcsinh", "arctanh", "conj_physical", "detach", "fill", "frexp",
    "ger", "gradient", "histogram", "index_reduce", "narrow_copy", "renorm", "unsafe_chunk",
    "unsafe_split",
]  # fmt: skip

_FREXP = named_results("frexp", ["mantissa", "exponent"])
_HISTOGRAM = named_results("histogram", ["hist", "bin_edges"])


def _called(name, doc):
    """The function of a method of that name."""

    def function(input, *args, **keywords):
        return getattr(input, name)(*args, **keywords)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


adjoint = _called("adjoint", "The conjugate of matrices with rows and columns exchanged.")
detach = _called("detach", "The tensor as a constant, of the same memory.")
unsafe_chunk = _called("chunk", "As `chunk`.")
unsafe_split = _called("split", "As `split`.")
arccosh = _called("acosh", "The inverse hyperbolic cosine.")
arcsinh = _called("asinh", "The inverse hyperbolic sine.")
arctanh = _called("atanh", "The inverse hyperbolic tangent.")
conj_physical = _called("conj", "The conjugate.")
Tensor.unsafe_chunk, Tensor.unsafe_split = unsafe_chunk, unsafe_split
ger = Tensor.ger = outer
for _name, _known in (
    ("arccos", "acos"), ("arcsin", "asin"), ("arctan", "atan"), ("arccosh", "acosh"),
    ("arcsinh", "asinh"), ("arctanh", "atanh"), ("absolute", "abs"),
):  # fmt: skip
    setattr(Tensor, _name, getattr(Tensor, _known))
    setattr(Tensor, _name + "_", getattr(Tensor, _known + "_"))


def fill(input, value):
    """A tensor like another one, of one number."""
    return input.clone().fill_(value)


@method()
@tensor_function
def narrow_copy(input, dim, start, length):
    """A copy of `length` slices along a dimension."""
    k = axis_of("narrow_copy", dim, input.ndim)
    n = input.shape[k]
    start = start + n if start < 0 else start
    if not 0 <= start <= start + length <= n:
        raise RuntimeError(
            message("narrow_copy", "slices beyond the dimension", f"{start} to {start + length}",
                    f"0 to {n}")
        )  # fmt: skip
    return input[(slice(None),) * k + (slice(start, start + length),)].copy()


@method()
@tensor_function
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """beta * input + alpha * the outer product of two lines."""
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise RuntimeError(
            message("addr", "not two lines", f"{vec1.ndim} and {vec2.ndim} dimensions", "1")
        )
    product = vec1[:, None] * vec2[None, :]
    product = product if alpha == 1 else product * alpha
    if beta == 0:  # then the input counts for nothing, NaN neither
        return product
    return (input if beta == 1 else input * beta) + product


@tensor_function
def _gradient(input, spacing, axes, order):
    if input.dtype.kind == "b" or input.dtype == numpy.uint8:
        raise RuntimeError(message("gradient", "numbers without a sign", input.dtype, "floats"))
    coordinates = [x for x in spacing if getattr(x, "ndim", 0)]
    t = _dtypes.common([floating(x) for x in (input, *coordinates)])
    input = as_dtype(input, t)
    found = nb.gradient(input, *spacing, axis=tuple(axes), edge_order=order)
    return tuple(found) if isinstance(found, (list, tuple)) else (found,)


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The derivatives along dimensions by central differences of second order, as a tuple.

    spacing: the distance of elements, one for each dimension, or lines of coordinates.
    """
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    several = isinstance(spacing, (tuple, list))
    spacing = list(spacing) if several else [spacing] * len(dims)
    if len(spacing) != len(dims):
        raise RuntimeError(
            message("gradient", "not a spacing for each dimension", len(spacing), len(dims))
        )
    return _gradient(input, spacing, dims, edge_order)


@method()
@tensor_function
def renorm(input, p, dim, maxnorm):
    """The slices along a dimension, those of a larger p-norm scaled down to `maxnorm`."""
    k = axis_of("renorm", dim, input.ndim)
    from .reductions import norm

    rest = tuple(j for j in range(input.ndim) if j != k)
    sizes = norm.on_arrays(input, p, rest, True)
    one = sizes.dtype.type(1)
    return input * nb.where(sizes > maxnorm, maxnorm / (sizes + 1e-7), one)


@tensor_function
def frexp(input):
    """Mantissas from 0.5 to 1 and exponents of 2."""
    mantissa, exponent = nb.frexp(floating(input))
    return _FREXP(mantissa, as_dtype(exponent, numpy.dtype("i4")))


Tensor.frexp = frexp


@tensor_function
def histogram(input, bins, *, range=None, weight=None, density=False):
    """Counts of elements in bins, or sums of their weights, and the edges of the bins."""
    a = nb.reshape(input, (-1,))
    edges = bins if not hasattr(bins, "item") else nb.asarray(bins)
    w = None if weight is None else nb.reshape(weight, (-1,))
    hist, edges = nb.histogram(a, edges, range=range, weights=w, density=density)
    return _HISTOGRAM(as_dtype(hist, input.dtype), as_dtype(edges, input.dtype))


Tensor.histogram = histogram


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy, reduced with the slices of `source` at indices along a dimension."""
    names = ("prod", "mean", "amax", "amin")
    if reduce not in names:
        raise RuntimeError(message("index_reduce", "not a reduction", reduce, ", ".join(names)))
    takes_source("index_reduce", input, source)
    shape = [1] * source.dim()
    shape[dim] = -1
    wide = index.reshape(shape).expand(source.shape)
    return scatter_reduce(input, dim, wide, source, reduce, include_self=include_self)


def _index_reduce(self, dim, index, source, reduce, *, include_self=True):
    """`index_reduce` in place."""
    made = index_reduce(self, dim, index, source, reduce, include_self=include_self)
    return self.copy_(made)


Tensor.index_reduce, Tensor.index_reduce_ = index_reduce, _index_reduce


def _addr(self, vec1, vec2, *, beta=1, alpha=1):
    """`addr` in place."""
    return self.copy_(addr(self, vec1, vec2, beta=beta, alpha=alpha))


def _renorm(self, p, dim, maxnorm):
    """`renorm` in place."""
    return self.copy_(renorm(self, p, dim, maxnorm))


def _log_normal(self, mean=1, std=2, *, generator=None):
    """Numbers whose logarithms are normal. In place."""
    if std <= 0:
        raise RuntimeError(message("log_normal_", "std", std, "a positive number"))
    return self.normal_(mean, std, generator=generator).exp_()


def _cauchy(self, median=0, sigma=1, *, generator=None):
    """Numbers of Cauchy's distribution. In place."""
    if sigma <= 0:
        raise RuntimeError(message("cauchy_", "sigma", sigma, "a positive number"))
    drawn = self.uniform_(0, 1, generator=generator)
    return drawn.sub_(0.5).mul_(math.pi).tan_().mul_(sigma).add_(median)


def _geometric(self, p, *, generator=None):
    """Numbers of trials up to the first success. In place."""
    if not 0 < p < 1:
        raise RuntimeError(message("geometric_", "p", p, "between 0 and 1"))
    drawn = rand(self.shape, generator=generator, device=self.device)
    return self.copy_((-drawn).log1p_().div_(math.log1p(-p)).ceil_().clamp_(min=1))


Tensor.addr_, Tensor.renorm_ = _addr, _renorm
Tensor.log_normal_, Tensor.cauchy_, Tensor.geometric_ = _log_normal, _cauchy, _geometric


@in_place
def _mvlgamma(a, p):
    """`mvlgamma` in place."""
    a[...] = mvlgamma.on_arrays(a, p)


@in_place
def _polygamma(a, n):
    """`polygamma` in place."""
    a[...] = polygamma.on_arrays(n, a)


Tensor.mvlgamma_, Tensor.polygamma_ = _mvlgamma, _polygamma
Tensor.is_pinned = lambda self, device=None: False
