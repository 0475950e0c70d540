"""numbus.fft as nodes of the plan: a CPU has the loops of NumPy's pocketfft, a GPU cuFFT."""

import functools
import math
import warnings

import numpy

from . import _core
from .core import derivatives
from .core.dtypes import kind_of
from .core.errors import ForeignDtype, many_axes, message, no_flags, one_axis, one_int
from .core.host import runs_on_host
from .core.interrupts import MANY, interruptible
from .core.operands import library, store, to_ndarray
from .core.quick import few, makes
from .functions.creation import zeros_like
from .functions.ranges import arange
from .functions.repeating import roll

__all__ = list(numpy.fft.__all__)
__path__ = []  # modules in it are mirrors of NumPy's (core/fallback.py)

# Elements of an operand at rest that NumPy's call transforms sooner than a node would.
_FEW = 1 << 14
_RANK = 3  # axes of one plan of cuFFT, at most


def _has_loops():
    """Whether the core does transforms on a CPU, by what NumPy 2 has loaded."""
    try:
        from numpy.fft import _pocketfft_umath as loops
    except ImportError:
        return False
    names = ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft")
    ufuncs = [getattr(loops, name, None) for name in names]
    return all(type(u) is numpy.ufunc for u in ufuncs) and _core.take_fft_loops(*ufuncs)


_LOOPS = _has_loops()


def _is_node(x):
    """Whether transforms of `x` on a CPU are nodes: NumPy does other types, and what is empty."""
    return _LOOPS and x.dtype.char not in "eEgG" and x.dtype.kind in "biufc" and x.size > 0


def _run(x, axes, inverse, dtype, last, how):
    """The transform over `axes`, of which the last becomes `last` long. how: on a CPU, scale
    and precision as in _core.fft().
    """
    order = [d for d in range(x.ndim) if d not in axes] + axes
    if x._device.startswith("cuda"):
        from .core.libraries import offer

        offer("cufft")
        _core.require_library("cufft")
    result = _core.fft(x.transpose(tuple(order)), len(axes), inverse, dtype, last, *how)
    return result.transpose(tuple(numpy.argsort(order).tolist()))


def _complex(x, axes, inverse, how=()):
    """Complex to complex over any axes. One point is its own transform."""
    axes = sorted([d for d in axes if x.shape[d] > 1])
    while axes:
        group = axes[-_RANK:]
        x = _run(x, group, inverse, x.dtype, x.shape[group[-1]], how)
        axes = axes[:-_RANK]
    return x


def _from_real(x, axes, dtype, how=()):
    """Real to complex over the last of `axes`, then on over the others."""
    *others, last = axes
    if x.shape[last] == 1:
        return _complex(x.astype(dtype), others, False)
    others = [d for d in others if x.shape[d] > 1]
    group = sorted(others)[1 - _RANK :] + [last]
    x = _run(x, group, False, dtype, x.shape[last] // 2 + 1, how)
    return _complex(x, [d for d in others if d not in group], False)


def _to_real(x, axes, dtype, points, how=()):
    """Complex to complex over the first of `axes`, then to `points` real values along the last."""
    *others, last = axes
    x = _complex(x, others, True)
    if points == 1:
        return x.real.copy()  # dense, as NumPy makes it
    return _run(x, [last], True, dtype, points, how)


def _fit(x, axes, extents):
    """`x` cut, or filled up with zeros, to `extents` along `axes`."""
    shape = list(x.shape)
    for axis, extent in zip(axes, extents):
        shape[axis] = extent
    shape = tuple(shape)
    if shape == x.shape:
        return x
    both = tuple([slice(0, min(n, m)) for n, m in zip(x.shape, shape)])
    if all([n >= m for n, m in zip(x.shape, shape)]):
        return x[both]
    filled = zeros_like(x, shape=shape)
    filled[both] = x[both]
    return filled


def _scale(op, norm, points, inverse):
    """What a transform of that many points is multiplied by."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(
            message(op, "unknown norm", repr(norm), "'backward', 'ortho', 'forward' or None")
        )
    if norm == "ortho":
        return 1 / math.sqrt(points)
    return 1 / points if inverse == (norm != "forward") else 1


def _points(op, n):
    # NumPy's transforms of real data take True for 1, the others refuse it.
    n = one_int(op, "number of points", int(n) if op == "rfft" and n is True else no_flags(op, n))
    if n < 1:
        raise ValueError(message(op, "no points to transform", n, "1 or more along each axis"))
    return n


def _transform(op, x, s, axes, norm, inverse, real=None):
    """The transform of `s` points along `axes`; real: 'in', 'out' or neither."""
    points = [_points(op, n) for n in s]
    scale = _scale(op, norm, math.prod(points), inverse)
    axes = [one_axis(op, axis, x.ndim) for axis in axes]
    if real == "in" and x.dtype.kind == "c":
        raise TypeError(message(op, "complex operand", x.dtype, "real numbers"))
    if not axes:
        if real:
            raise IndexError(message(op, "no axes", axes, "one or more for real numbers"))
        return x.copy()
    on_host = runs_on_host(x)
    if len(set(axes)) < len(axes) or (on_host and len(axes) > 1):
        return _one_by_one(op, x, points, axes, norm, inverse, real)
    single = x.dtype.char in "eEfF"  # "E" is bfloat16
    how = ()
    if on_host:  # scaled by the core, as NumPy does
        by = 0 if scale == 1 else 2 if norm == "ortho" else 1
        # NumPy has no loop for these, and takes that of float64.
        wide = single and (by == 0 or x.dtype.char != ("f" if real == "in" else "F"))
        how, scale = (by, wide), 1
    number, pair = (numpy.dtype(c) for c in ("fF" if single else "dD"))
    extents = list(points)
    if real == "out":
        extents[-1] = points[-1] // 2 + 1
    y = _fit(x, axes, extents).astype(number if real == "in" else pair, copy=False)
    if real == "in":
        y = _from_real(y, axes, pair, how)
    elif real == "out":
        y = _to_real(y, axes, number, points[-1], how)
    else:
        y = _complex(y, axes, inverse, how)
    if scale != 1:
        y = y * scale
    if real == "out" and x.dtype.char == "e" and len(axes) == 1:
        y = y.astype("e")  # NumPy's one transform that stays with half floats
    return y.copy() if x._storage == y._storage else y


def _one_by_one(op, x, points, axes, norm, inverse, real):
    """Repeated axes, in NumPy's order."""
    last = len(axes) - 1
    steps = list(zip(points, axes, [real if k == last else None for k in range(last + 1)]))
    for n, axis, kind in steps if real == "out" else steps[::-1]:
        x = _transform(op, x, [n], [axis], norm, inverse, kind)
    return x


def _along(x, n, axis, default):
    """The extents and axes of a transform along one axis."""
    axis = one_axis("fft", axis, x.ndim)
    return [default(x.shape[axis]) if n is None else n], [axis]


def _over(x, s, axes, real):
    """Those of one over several axes."""
    if s is not None and (axes is None or None in s):
        what = "axes is None where s is given" if axes is None else "None in s"
        text = message("fft", f"{what}, which NumPy 2.0 has deprecated", (s, axes), "ints in both")
        warnings.warn(text, DeprecationWarning, stacklevel=4)
    if axes is None:
        axes = range(x.ndim) if s is None else range(-len(s), 0)
    axes = [one_axis("fft", axis, x.ndim) for axis in axes]
    whole = [x.shape[axis] for axis in axes]
    if s is None:
        s = [None] * len(axes)
    if len(s) != len(axes):
        raise ValueError(
            message("fft", "extents and axes differ in number", (len(s), len(axes)), "as many")
        )
    points = [m if n in (-1, None) else n for n, m in zip(s, whole)]
    if real == "out" and points and s[-1] is None:
        points[-1] = (whole[-1] - 1) * 2
    return points, axes


def _swapped(norm):
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def _one_axis(name, inverse, real=None):
    extent = (lambda n: (n - 1) * 2) if real == "out" else (lambda n: n)

    def run(x, n=None, axis=-1, norm=None):
        return _transform(name, x, *_along(x, n, axis, extent), norm, inverse, real)

    return run


def _several_axes(name, inverse, real=None, axes=None):
    default = axes

    def run(x, s=None, axes=default, norm=None):
        return _transform(name, x, *_over(x, s, axes, real), norm, inverse, real)

    return run


def _hfft(x, n=None, axis=-1, norm=None):
    return _irfft(x.conj(), n, axis, _swapped(norm))


def _ihfft(x, n=None, axis=-1, norm=None):
    return _rfft(x, n, axis, _swapped(norm)).conj()


_rfft, _irfft = _one_axis("rfft", False, "in"), _one_axis("irfft", True, "out")

# What the core does; else it is NumPy's function of that name.
_TRANSFORMS = {
    "fft": _one_axis("fft", False),
    "ifft": _one_axis("ifft", True),
    "rfft": _rfft,
    "irfft": _irfft,
    "hfft": _hfft,
    "ihfft": _ihfft,
    "fftn": _several_axes("fftn", False),
    "ifftn": _several_axes("ifftn", True),
    "rfftn": _several_axes("rfftn", False, "in"),
    "irfftn": _several_axes("irfftn", True, "out"),
    "fft2": _several_axes("fft2", False, axes=(-2, -1)),
    "ifft2": _several_axes("ifft2", True, axes=(-2, -1)),
    "rfft2": _several_axes("rfft2", False, "in", axes=(-2, -1)),
    "irfft2": _several_axes("irfft2", True, "out", axes=(-2, -1)),
}


def _is_long(args, kwargs):
    """Whether a transform takes some milliseconds; `n` may ask for more points than there are."""
    points = [n for n in (*args[1:], *kwargs.values()) if isinstance(n, int)]
    return max([getattr(args[0], "size", 0), *points]) >= MANY


def _with_a_coefficient(function):
    """NumPy's transform to real numbers, which reads a first coefficient even where there is none:
    there it is given a zero.
    """

    @functools.wraps(function)
    def call(a, n=None, axis=-1, norm=None, out=None):
        if n is not None and numpy.size(a) == 0:
            a = _filled(a, axis)
        return function(a, n, axis, norm, out)

    return call


def _with_a_coefficient_of_several(function, default):
    """The same of a transform over several axes, whose last one it is about."""

    @functools.wraps(function)
    def call(a, s=None, axes=default, norm=None, out=None):
        if s is not None and numpy.size(a) == 0 and len(s) and s[-1] not in (None, -1):
            a = _filled(a, -1 if axes is None else axes[-1])
        return function(a, s, axes, norm, out)

    return call


def _filled(a, axis):
    """An array without elements; with one zero along an axis that has none."""
    a = numpy.asarray(a)
    if not isinstance(axis, (int, numpy.integer)) or not -a.ndim <= axis < a.ndim:
        return a
    shape = list(a.shape)
    shape[axis] = max(shape[axis], 1)
    return numpy.zeros(shape, a.dtype)


def _original(name):
    """NumPy's function; with its results in `out` where it leaves that as it was."""
    function = getattr(numpy.fft, name)
    if name in ("irfft", "hfft"):
        function = _with_a_coefficient(function)
    elif name in ("irfftn", "irfft2"):
        function = _with_a_coefficient_of_several(function, (-2, -1) if name == "irfft2" else None)
    if name not in ("hfft", "ifft2", "irfft2"):
        return function

    @functools.wraps(function)
    def stored(*args, **kwargs):
        out = kwargs.pop("out", None)
        if len(args) > 4:
            *args, out = args
        result = function(*args, **kwargs)
        return result if out is None else store(name, result, out)

    return stored


def _widens(a, out):
    """Whether NumPy's results are more precise than those of the operand's type: it has loops that
    compute in float64 write them to `out`, and rounds nothing.
    """
    return a.dtype.char in "fF" and out is not None and getattr(out, "dtype", None) in ("d", "D")


def _make(name):
    original, run = _original(name), _TRANSFORMS[name]
    apart = interruptible(original, _is_long)

    @functools.wraps(original)
    def wrapper(a, *args, out=None, **kwargs):
        if len(args) > 3:  # out, by its position
            *args, out = args
        try:
            a = to_ndarray(a)
        except ForeignDtype:
            pass
        else:
            if derivatives.watched((a,)):
                result = derivatives.apply("fft." + name, wrapper, (a, *args), kwargs)
                return result if out is None else store(name, result, out)
            if _core.placing():
                from .core import placing  # not at start-up

                a = placing.transforms(a)
            if not runs_on_host(a) or (_is_node(a) and not _widens(a, out)):
                result = run(a, *args, **kwargs)
                if derivatives.looked_at[0]:
                    derivatives.require_numbers(name, [a], result)
                return result if out is None else store(name, result, out)
        found = library(apart, (a, *args), {**kwargs, "out": out})
        return derivatives.require_numbers(name, [a], found) if derivatives.looked_at[0] else found

    made = _core.composed(few(original, most=_FEW)(wrapper))
    _core.let_tell(made)  # its nodes warn as NumPy's loops do
    return made


for _name in _TRANSFORMS:
    globals()[_name] = _make(_name)
del _name


@_core.composed
def fftshift(x, axes=None):
    """`x` with the zero frequency moved to the middle of `axes` (int, tuple, None: all)."""
    return _shift("fftshift", x, axes, lambda n: n // 2)


@_core.composed
def ifftshift(x, axes=None):
    """The inverse of fftshift()."""
    return _shift("ifftshift", x, axes, lambda n: -(n // 2))


def _shift(op, x, axes, by):
    try:
        x = to_ndarray(x)
    except ForeignDtype:
        return library(getattr(numpy.fft, op), (x, axes), {})
    axes = many_axes(op, axes, x.ndim, allow_duplicate=True)
    return roll(x, tuple([by(x.shape[axis]) for axis in axes]), axes)


def _step(op, n, d):
    if not isinstance(n, (int, numpy.integer)):
        raise ValueError(message(op, "not a number of points", repr(n), "an integer"))
    return 1.0 / (n * d)


@_core.composed
@makes(numpy.fft.fftfreq)
def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the `n` results of fft() for samples `d` apart.

    dtype: of the result, a float; None: float64. Raises ValueError where n is no integer, TypeError
    for other dtypes.
    """
    step = _step("fftfreq", n, d)
    if isinstance(n, bool):
        raise TypeError(message("fftfreq", "not a number of points", repr(n), "an integer"))
    if n < 0:
        raise ValueError(message("fftfreq", "not a number of points", n, "0 or more"))
    return _floats(
        "fftfreq", ifftshift(arange(-(n // 2), (n + 1) // 2, device=device)) * step, dtype
    )


@_core.composed
@makes(numpy.fft.rfftfreq)
def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the n // 2 + 1 results of rfft() for samples `d` apart.

    dtype: of the result, a float; None: float64. Raises ValueError where n is no integer, TypeError
    for other dtypes.
    """
    step = _step("rfftfreq", n, d)
    return _floats("rfftfreq", arange(n // 2 + 1, device=device) * step, dtype)


def _floats(op, values, dtype):
    if dtype is None:
        return values
    dtype = numpy.dtype(dtype)
    if kind_of(dtype) != "f":
        raise TypeError(message(op, "dtype of frequencies", dtype, "a dtype of floats"))
    return values.astype(dtype)
