"""Further scans, sets and statistics of tensors under PyTorch's names."""

import builtins

import numbus as nb

from ..core.dtypes import kind_of
from ..core.errors import message
from ._arrays import array, as_dtype, axis_of, floating
from ._functions import method, tensor_function
from ._tensor import Tensor
from .reductions import _PAIRS, quantiles

__all__ = [
    "corrcoef", "cov", "cummax", "cummin", "cumulative_trapezoid", "isin", "logcumsumexp",
    "logdet", "mode", "msort", "nanmedian", "nanquantile", "trapezoid", "trapz",
    "unique_consecutive", "vander", "vdot",
]  # fmt: skip


def _scan_of_extremes(op):
    def found(input, dim):
        if input.ndim == 0:
            return input, nb.zeros((), dtype="i8")
        k = axis_of(op, dim, input.ndim)
        accumulate = (nb.maximum if op == "cummax" else nb.minimum).accumulate
        values = accumulate(nb.stop_gradient(input), axis=k)
        shape = [1] * input.ndim
        shape[k] = input.shape[k]
        steps = nb.reshape(nb.arange(input.shape[k]), shape)
        here = input == values
        if kind_of(input.dtype) == "f":
            here = here | nb.isnan(input)  # a number that is none stays, at its last index
        index = nb.maximum.accumulate(nb.where(here, steps, 0), axis=k)
        return nb.take_along_axis(input, index, axis=k), index

    def pair(input, dim):
        return _PAIRS[op](*found(input, dim))

    pair.__name__ = pair.__qualname__ = op
    pair.__doc__ = f"The {'largest' if op == 'cummax' else 'smallest'} so far, and its index."
    pair = tensor_function(pair)
    setattr(Tensor, op, pair)
    return pair


cummax = _scan_of_extremes("cummax")
cummin = _scan_of_extremes("cummin")


@method()
@tensor_function
def logcumsumexp(input, dim):
    """The logarithm of the sums of exponentials so far."""
    if input.ndim == 0:
        return +input
    k = axis_of("logcumsumexp", dim, input.ndim)
    parts = []
    best = None
    for j in builtins.range(input.shape[k]):
        x = input[(slice(None),) * k + (slice(j, j + 1),)]
        best = x if best is None else nb.logaddexp(best, x)
        parts.append(best)
    return nb.concatenate(parts, axis=k) if parts else input.copy()


@tensor_function
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether each element is among the others."""
    return nb.isin(elements, test_elements, assume_unique=assume_unique, invert=invert)


@method("unique_consecutive")
@tensor_function
def _unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    a = nb.reshape(input, (-1,)) if dim is None else nb.moveaxis(input, dim, 0)
    n = a.shape[0]
    rows = nb.reshape(a, (n, -1))
    new = nb.ones((n,), dtype=builtins.bool)
    if n > 1:
        new[1:] = nb.any(rows[1:] != rows[:-1], axis=1)
    first = nb.nonzero(new)[0]
    values = a[first] if dim is None else nb.moveaxis(a[first], 0, dim)
    found = [values]
    if return_inverse:
        inverse = nb.cumsum(new.astype("i8")) - 1
        found.append(nb.reshape(inverse, input.shape) if dim is None else inverse)
    if return_counts:
        found.append(nb.diff(nb.concatenate([first, nb.asarray([n])])))
    return tuple(found) if len(found) > 1 else values


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements that differ from the one before; also numbers of groups, and sizes."""
    return _unique_consecutive(input, return_inverse, return_counts, dim)


Tensor.unique_consecutive = unique_consecutive


@method()
@tensor_function
def mode(input, dim=-1, keepdim=False):
    """The most frequent element along a dimension, the smallest of several, and an index of it."""
    return _PAIRS["mode"](*_mode_of(input, dim, keepdim))


def _mode_of(a, dim, keepdim):
    if a.ndim == 0:
        return a, nb.zeros((), dtype="i8")
    k = axis_of("mode", dim, a.ndim)
    a = nb.moveaxis(a, k, -1)
    fixed = nb.stop_gradient(a)
    counts = nb.sum(fixed[..., :, None] == fixed[..., None, :], axis=-1)
    most = counts == nb.max(counts, axis=-1, keepdims=True)
    order = nb.argsort(fixed, axis=-1, stable=True)
    ranked = nb.take_along_axis(most, order, axis=-1)
    place = nb.argmax(ranked, axis=-1, keepdims=True)
    value = nb.take_along_axis(fixed, nb.take_along_axis(order, place, axis=-1), axis=-1)
    same = fixed == value
    last = same.shape[-1] - 1 - nb.argmax(same[..., ::-1], axis=-1, keepdims=True)
    made = nb.take_along_axis(a, last, axis=-1)
    if keepdim:
        return nb.moveaxis(made, -1, k), nb.moveaxis(last, -1, k)
    return made[..., 0], last[..., 0]


def msort(input):
    """The elements sorted along the first dimension."""
    return input.sort(dim=0)[0]


Tensor.msort = msort


@method()
@tensor_function
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """`quantile` of the elements that are numbers."""
    if input.ndim == 0:
        return quantiles(nb.nanquantile, nb.reshape(input, (1,)), q, 0, False, interpolation)
    return quantiles(nb.nanquantile, input, q, dim, keepdim, interpolation)


def nanmedian(input, dim=None, keepdim=False):
    """`median` of the elements that are numbers; with a dimension also its index."""
    if dim is None:
        flat = input.reshape(-1)
        if input.is_floating_point():
            known = flat[~flat.isnan()]
            flat = known if known.numel() else flat
        return flat.median()
    return _PAIRS["nanmedian"](*_nanmedian_of(input, dim, keepdim))


@tensor_function
def _nanmedian_of(a, dim, keepdim):
    if a.ndim == 0:
        return a, nb.zeros((), dtype="i8")
    k = axis_of("nanmedian", dim, a.ndim)
    fixed = nb.stop_gradient(a)
    order = nb.argsort(fixed, axis=k, stable=True)
    floats = kind_of(a.dtype) == "f"
    known = nb.sum(~nb.isnan(fixed), axis=k, keepdims=True) if floats else (
        nb.full([1 if d == k else n for d, n in enumerate(a.shape)], a.shape[k])
    )  # fmt: skip
    place = nb.maximum((known - 1) // 2, 0)
    index = nb.take_along_axis(order, place, axis=k)
    made = nb.take_along_axis(a, index, axis=k)
    return (made, index) if keepdim else (nb.squeeze(made, k), nb.squeeze(index, k))


Tensor.nanmedian = nanmedian


@method()
@tensor_function
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of rows."""
    a = floating(input)
    x = nb.reshape(a, (1, -1)) if a.ndim < 2 else a
    w = None
    if fweights is not None:
        w = as_dtype(fweights, x.dtype)
    if aweights is not None:
        w = as_dtype(aweights, x.dtype) if w is None else w * aweights
    total = array(x.shape[1], x.dtype) if w is None else nb.sum(w)
    mean = (nb.sum(x, axis=1) if w is None else nb.sum(x * w, axis=1)) / total
    d = x - mean[:, None]
    if w is None or aweights is None:
        norm = total - correction
    else:
        norm = total - correction * nb.sum(w * aweights) / total
    norm = nb.maximum(norm, 0)
    made = (d if w is None else d * w) @ nb.conjugate(d).T / norm
    return made[0, 0] if x.shape[0] == 1 else made


def corrcoef(input):
    """The coefficients of correlation of rows."""
    c = cov(input)
    if c.ndim == 0:
        return c / c
    d = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    return c / d[:, None] / d[None, :]


Tensor.corrcoef = corrcoef


def _widths(y, x, dx, k):
    if x is None:
        return dx
    d = nb.diff(x, axis=-1 if x.ndim == 1 else k)
    if x.ndim == 1:
        shape = [1] * y.ndim
        shape[k] = d.shape[0]
        d = nb.reshape(d, shape)
    return d


@tensor_function
def _areas(y, x, dx, dim):
    k = axis_of("trapezoid", dim, y.ndim)
    y = floating(y)
    x = None if x is None else as_dtype(x, y.dtype) if kind_of(x.dtype) not in "fc" else x
    before, after = [(slice(None),) * k + (s,) for s in (slice(None, -1), slice(1, None))]
    return (y[before] + y[after]) / 2 * _widths(y, x, dx, k), k


def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along a dimension by the trapezoidal rule."""
    areas, k = _areas(y, x, dx, dim)
    return areas.sum(k)


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integrals so far along a dimension by the trapezoidal rule."""
    areas, k = _areas(y, x, dx, dim)
    return areas.cumsum(k)


trapz = trapezoid


@tensor_function
def vander(x, N=None, *, increasing=False):
    """The powers of each element as rows."""
    made = nb.vander(x, N, increasing=increasing)
    return as_dtype(made, x.dtype) if kind_of(x.dtype) in "fc" else made


@method()
@tensor_function
def vdot(input, other):
    """The sum of products of two lines, the first conjugated."""
    if input.ndim != 1 or other.ndim != 1 or input.dtype != other.dtype:
        raise RuntimeError(
            message("vdot", "not two lines of one dtype",
                    f"{input.ndim} and {other.ndim} dimensions, {input.dtype} and {other.dtype}",
                    "1 dimension")
        )  # fmt: skip
    return nb.dot(nb.conjugate(input), other)


def logdet(input):
    """The logarithm of the determinant; NaN where that is negative."""
    from .products import slogdet

    sign, size = slogdet(input)
    return size + sign.log() * 0 if not input.is_complex() else size + sign.log()


Tensor.logdet = logdet
