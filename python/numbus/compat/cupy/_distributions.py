"""Many random numbers of cupy.random: distributions as functions of uniform or normal numbers of
Philox's stream for a key, which devices make in the same bits.
"""

import functools
import importlib
import math

import numpy

import numbus as nb
from numbus import _core
from numbus import random as _random
from numbus.core.streams import MOST

from ...core.dtypes import kind_of

MANY = 20_000  # numbers; fewer are NumPy's bits
_NUMBERS = (int, float, numpy.integer, numpy.floating)
_LARGE = 1e300
_LEAST = 2.0**-54  # in place of 0, of which logarithms have no number


def _uniform(key, n, dtype):
    return _core.draw("philox", [key, 1, 0, 0, 0, 0], n, numpy.dtype(dtype))


def _normal(key, n, dtype):
    return _core.draw("normal", [key, 0], n, numpy.dtype(dtype))


def _positive(u):
    """Exponential numbers of uniform ones."""
    return -nb.log1p(-u)


def _triangular(u, left, mode, right):
    width = right - left
    at = (mode - left) / width
    rising = left + nb.sqrt(u * (width * (mode - left)))
    falling = right - nb.sqrt((1.0 - u) * (width * (right - mode)))
    return nb.where(u <= at, rising, falling)


def _laplace(u, loc, scale):
    return nb.where(
        u < 0.5,
        loc + scale * nb.log(nb.maximum(2.0 * u, _LEAST)),
        loc - scale * nb.log(2.0 * (1.0 - u)),
    )


# Name: default parameters (None: there is none), whether they are possible, numbers of them.
_OF_UNIFORM = {
    "uniform": ((0.0, 1.0), lambda a, b: a <= b, lambda u, a, b: u * (b - a) + a),
    "exponential": ((1.0,), lambda s: s >= 0, lambda u, s: _positive(u) * s),
    "standard_exponential": ((), lambda: True, _positive),
    "laplace": ((0.0, 1.0), lambda m, s: s >= 0, _laplace),
    "logistic": (
        (0.0, 1.0),
        lambda m, s: s >= 0,
        lambda u, m, s: m + s * (nb.log(nb.maximum(u, _LEAST)) - nb.log1p(-u)),
    ),
    "gumbel": (
        (0.0, 1.0),
        lambda m, s: s >= 0,
        lambda u, m, s: m - s * nb.log(_positive(nb.maximum(u, _LEAST))),
    ),
    "rayleigh": ((1.0,), lambda s: s >= 0, lambda u, s: s * nb.sqrt(2.0 * _positive(u))),
    "weibull": ((None,), lambda a: a > 0, lambda u, a: _positive(u) ** (1.0 / a)),
    "pareto": ((None,), lambda a: a > 0, lambda u, a: nb.expm1(_positive(u) / a)),
    "power": ((None,), lambda a: a > 0, lambda u, a: u ** (1.0 / a)),
    "standard_cauchy": ((), lambda: True, lambda u: nb.tan(math.pi * (u - 0.5))),
    "triangular": ((None, None, None), lambda a, c, b: (a <= c) & (c <= b) & (a < b), _triangular),
}
_OF_NORMAL = {
    "normal": ((0.0, 1.0), lambda m, s: s >= 0, lambda z, m, s: m + s * z),
    "lognormal": ((0.0, 1.0), lambda m, s: s >= 0, lambda z, m, s: nb.exp(m + s * z)),
}
_PLAIN = ("random", "random_sample", "ranf", "sample", "rand")
# Those of _rejection.py, which a CPU does no quicker than NumPy.
_TRIED = {
    "standard_gamma", "gamma", "chisquare", "beta", "f", "poisson", "binomial", "negative_binomial",
    "vonmises", "wald", "zipf", "logseries", "hypergeometric", "standard_t", "geometric",
    "noncentral_chisquare", "noncentral_f",
}  # fmt: skip
_ROWS = {"dirichlet", "multinomial"}  # whose numbers are rows, made by _rejection.py, too
_WIDEST = 64  # elements of a row: each is a kernel
NAMES = {*_OF_UNIFORM, *_OF_NORMAL, *_PLAIN, *_TRIED, *_ROWS}


def _extents(size):
    """A size as a tuple, and how many numbers it asks for; 0 where that is NumPy's to say."""
    shape = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not all([isinstance(n, (int, numpy.integer)) and n > 0 for n in shape]):
        return shape, 0
    n = math.prod([int(n) for n in shape])
    return shape, n if n <= MOST else 0


def _given(defaults, args, kwargs, names, possible):
    """The parameters of a call, floats or arrays of a number for each element, its shape and how
    many elements that has; None where they are wrong, or not numbers.
    """
    values = dict(zip(names, args, strict=False))
    if len(args) > len(names) or kwargs.keys() & values.keys() or kwargs.keys() - set(names):
        return None
    values.update(kwargs)
    made = [values.get(n, d) for n, d in zip(names, defaults, strict=False)]
    size = values.get("size")
    arrays = [k for k, v in enumerate(made) if isinstance(v, (list, tuple, *_ARRAYS))]
    if not all([isinstance(v, _NUMBERS) for k, v in enumerate(made) if k not in arrays]):
        return None
    shape, n = ((), 0) if size is None and arrays else _extents(size)
    if arrays:
        made = [_as_array(v) if k in arrays else v for k, v in enumerate(made)]
        if not all([v is not None for v in made]):
            return None
        try:
            extents = numpy.broadcast_shapes(*[made[k].shape for k in arrays])
            shape = extents if size is None else shape
            if numpy.broadcast_shapes(extents, shape) != shape:
                return None
        except ValueError:
            return None
        n = math.prod(shape)
    if not MANY <= n <= MOST:
        return None
    made = [v if k in arrays else float(v) for k, v in enumerate(made)]
    # What NumPy refuses is its own to say; one bool of a device is read for that.
    fine = _all([possible(*made), *[(v > -_LARGE) & (v < _LARGE) for v in made]])
    if not fine:
        return None
    made = [nb.broadcast_to(v, shape).reshape(-1) if k in arrays else v for k, v in enumerate(made)]
    return made, shape, n


_ARRAYS = (numpy.ndarray, nb.ndarray)


def _as_array(x):
    """A parameter of real numbers as an array of float64; None for others."""
    x = x if isinstance(x, _ARRAYS) else numpy.asarray(x)
    if kind_of(x.dtype) not in "iuf" or x.dtype.itemsize > 8:
        return None
    return nb.asarray(x, dtype=numpy.float64)


def _all(conditions):
    plain = all([c for c in conditions if isinstance(c, (bool, numpy.bool))])
    arrays = [nb.all(c) for c in conditions if not isinstance(c, (bool, numpy.bool))]
    return plain and (not arrays or bool(functools.reduce(nb.logical_and, arrays)))


def _tried(name, names, integers, args, kwargs, dtype):
    """The same of distributions that take tries, on a device apart."""
    if not _core.draws_apart(MANY):
        return None
    _rejection = importlib.import_module("numbus.compat.cupy._rejection")

    whole = name in _rejection.WHOLE
    defaults, possible, of = (_rejection.WHOLE if whole else _rejection.REAL)[name]
    given = _given(defaults, args, kwargs, names, possible)
    kind = numpy.dtype((int if whole else float) if dtype is None else dtype)
    if given is None or kind.kind not in ("iuf" if whole else "f") or kind.itemsize > 8:
        return None
    parameters, shape, n = given
    stream = _rejection.Stream(int(integers(0, 1 << 64, dtype=numpy.uint64)), n)
    return of(stream, *parameters).astype(kind).reshape(shape)


def _rows(name, names, integers, args, kwargs, dtype):
    """The same of dirichlet and multinomial."""
    if not _core.draws_apart(MANY) or len(args) > len(names) or kwargs.keys() - set(names):
        return None
    values = dict(zip(names, args, strict=False)) | kwargs
    line = values.get("alpha" if name == "dirichlet" else "pvals")
    if not isinstance(line, (list, tuple, numpy.ndarray, nb.ndarray)):
        return None
    line, count = numpy.asarray(line), values.get("n", 0)
    kind = numpy.dtype((float if name == "dirichlet" else int) if dtype is None else dtype)
    if kind_of(line.dtype) not in "iuf" or line.ndim != 1 or not 1 < line.size <= _WIDEST:
        return None
    shape, n = _extents(values.get("size"))
    if n * line.size < MANY or kind.kind not in ("f" if name == "dirichlet" else "iuf"):
        return None
    possible = line.min() >= 0.1 and line.max() < _LARGE
    if name == "multinomial":  # what NumPy refuses is its own to say
        possible = type(count) is int and 0 <= count < 1e15 and line.min() >= 0
        possible = possible and float(line[:-1].astype(float).sum()) <= 1.0
    if not possible:
        return None
    _rejection = importlib.import_module("numbus.compat.cupy._rejection")
    stream = _rejection.Stream(int(integers(0, 1 << 64, dtype=numpy.uint64)), n)
    line = [float(x) for x in line]
    if name == "dirichlet":
        made = _rejection.dirichlet(stream, line)
    else:
        made = _rejection.multinomial(stream, count, line)
    return made.astype(kind).reshape((*shape, len(line)))


def drawn(name, names, integers, args, kwargs, dtype):
    """The numbers of a call for many, in the dtype; None where NumPy has to draw.

    names: those of the parameters, "size" the last one; integers: draws the key.
    """
    if name in _ROWS:
        return _rows(name, names, integers, args, kwargs, dtype)
    if name in _TRIED:
        return _tried(name, names, integers, args, kwargs, dtype)
    if name in _PLAIN:
        names, row = ("size",), ((), lambda: True, lambda u: u)
        if name == "rand":
            args = (args,)
    else:
        row = _OF_UNIFORM.get(name) or _OF_NORMAL[name]
    defaults, possible, of = row
    given = _given(defaults, args, kwargs, names, possible)
    kind = numpy.dtype(float if dtype is None else dtype)
    if given is None or kind_of(kind) != "f" or kind.itemsize > 8:
        return None
    parameters, shape, n = given
    key = int(integers(0, 1 << 64, dtype=numpy.uint64))
    # Logarithms need more bits than a float32 has.
    short = kind == "float32" and (name in _PLAIN or name in ("uniform", "normal"))
    own = _normal if name in _OF_NORMAL else _uniform
    made = of(own(key, n, "float32" if short else "float64"), *parameters)
    return made.astype(kind).reshape(shape)


def drawn_integers(integers, low, high, size, dtype):
    """The same of integers of [low, high), by a Philox of that key."""
    shape, n = _extents(size)
    if n < MANY or type(low) is not int or type(high) not in (int, type(None)):
        return None
    key = int(integers(0, 1 << 64, dtype=numpy.uint64))
    return _random.Generator(_random.Philox(key=[key, 2])).integers(low, high, shape, dtype)
