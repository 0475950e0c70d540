"""jax.image: pictures, and other arrays, in another size."""

import enum
import math

import numpy

import numbus as nb

from ...core.dtypes import kind_of
from ...core.errors import message
from .._missing import missing as _missing
from . import _dtypes
from ._array import Array, as_array, cast, made
from ._functions import check_precision, expect_arrays

__name__ = "jax.image"


class ResizeMethod(enum.Enum):
    """How elements between elements are found."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4

    @staticmethod
    def from_string(s):
        """The method of a name."""
        if s not in _METHODS:
            raise ValueError(f'Unknown resize method "{s}"')
        return _METHODS[s]


_METHODS = {
    "nearest": ResizeMethod.NEAREST, "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
}  # fmt: skip


def _triangle(x):
    return numpy.maximum(0, 1 - numpy.abs(x))


def _cubic(x):
    """Keys's kernel with a of -0.5."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return numpy.where(x >= 2, 0, numpy.where(x >= 1, far, near))


def _lanczos(radius):
    def kernel(x):
        y = numpy.sinc(x) * numpy.sinc(x / radius)
        return numpy.where(x > radius, 0, y)

    return kernel


_KERNELS = {
    ResizeMethod.LINEAR: _triangle, ResizeMethod.CUBIC: _cubic,
    ResizeMethod.LANCZOS3: _lanczos(3.0), ResizeMethod.LANCZOS5: _lanczos(5.0),
}  # fmt: skip


def _weights(n, m, scale, translation, kernel, antialias):
    """The parts of `n` elements in each of `m`, as columns of a matrix."""
    inverse = 1 / scale
    wide = max(inverse, 1.0) if antialias else 1.0
    at = (numpy.arange(m) + 0.5) * inverse - translation * inverse - 0.5
    found = kernel(numpy.abs(at[None, :] - numpy.arange(n)[:, None]) / wide)
    total = found.sum(axis=0, keepdims=True)
    some = numpy.abs(total) > 1000 * float(numpy.finfo("f4").eps)
    found = numpy.where(some, found / numpy.where(total != 0, total, 1), 0)
    return numpy.where((at >= -0.5) & (at <= n - 0.5), found, 0)


def _applied(x, axes, scales, translations, sizes, kernel, antialias):
    t = x.dtype if kind_of(x.dtype) in "fc" else _dtypes.canonical("f8")
    a = cast(x._a, t)
    real = numpy.dtype("f8") if t.itemsize == 8 and t.kind == "f" else numpy.dtype("f4")
    for k, scale, translation, m in zip(axes, scales, translations, sizes, strict=True):
        w = _weights(a.shape[k], m, scale, translation, kernel, antialias).astype(real)
        a = nb.moveaxis(nb.tensordot(a, nb.array(w).astype(t), axes=([k], [0])), -1, k)
    return Array(cast(as_array(a), t))


def resize(image, shape, method, antialias=True, precision="highest"):
    """The array in another shape; `antialias`: smaller ones of means of what they cover."""
    expect_arrays("resize", image)
    check_precision("jax.image.resize", precision)
    x = made(image)
    sizes = tuple([int(n) for n in shape])
    if len(sizes) != x.ndim:
        raise ValueError(
            f"shape must have length equal to the number of dimensions of x;  {sizes} vs {x.shape}"
        )
    how = ResizeMethod.from_string(method) if isinstance(method, str) else method
    axes = [k for k in range(x.ndim) if sizes[k] != x.shape[k]]
    if how is ResizeMethod.NEAREST:
        a = x._a
        for k in axes:
            at = numpy.floor((numpy.arange(sizes[k]) + 0.5) * x.shape[k] / sizes[k])
            a = nb.take(a, nb.array(at.astype("i8")), axis=k)
        return Array(as_array(a))
    scales = [sizes[k] / x.shape[k] for k in axes]
    return _applied(x, axes, scales, [0.0] * len(axes), [sizes[k] for k in axes], _KERNELS[how],
                    antialias)  # fmt: skip


def scale_and_translate(image, shape, spatial_dims, scale, translation, method, antialias=True,
                        precision="highest"):  # fmt: skip
    """The array scaled and moved along some axes, in another shape: 0 where nothing is."""
    expect_arrays("scale_and_translate", image)
    check_precision("jax.image.scale_and_translate", precision)
    x = made(image)
    how = ResizeMethod.from_string(method) if isinstance(method, str) else method
    if how is ResizeMethod.NEAREST:
        raise ValueError("Nearest neighbor resampling is not currently supported for "
                         "scale_and_translate.")  # fmt: skip
    axes = [k % x.ndim for k in spatial_dims]
    values = [[float(v) for v in numpy.asarray(made(part))] for part in (scale, translation)]
    if any(math.isnan(v) or len(part) != len(axes) for part in values for v in part):
        raise ValueError(
            message("scale_and_translate", "scales and translations", values, f"{len(axes)} each")
        )
    return _applied(x, axes, *values, [shape[k] for k in axes], _KERNELS[how], antialias)


def __getattr__(name):
    return _missing("jax.image", name)
