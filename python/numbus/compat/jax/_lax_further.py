"""Further functions of jax.lax: reductions, bits, sorts of several arrays, convolutions."""

import enum
import math
import types

import numpy

import numbus as nb

from ...core.dtypes import kind_of
from ...core.errors import message
from . import numpy as jnp
from ._array import Array, as_array, cast, made
from ._functions import accumulated, expect_arrays, silent
from ._special import made_of
from .tree_util import tree_flatten, tree_leaves


def wide(wanted, *operands):
    """Operands in the dtype in which their products add up."""
    if wanted is None:
        return operands
    t = accumulated(jnp.result_type(*operands), wanted)
    return tuple([made(x).astype(t) for x in operands])


def complex(x, y):
    """Complex numbers of real and imaginary parts, which are float32 or float64."""
    x, y = made(x), made(y)
    if x.dtype != y.dtype or x.dtype.kind != "f" or x.dtype.itemsize < 4:
        raise TypeError(
            message("lax.complex", "parts are not float32 or float64", (x.dtype, y.dtype), "both")
        )
    t = numpy.dtype("c8" if x.dtype.itemsize == 4 else "c16")
    return Array(cast(as_array(x._a + t.type(1j) * y._a), t))


def collapse(operand, start_dimension, stop_dimension=None):
    """The axes from one to another (which is left out) as one axis."""
    x = made(operand)
    low, high, _ = slice(start_dimension, stop_dimension).indices(x.ndim)
    if high < low:
        raise ValueError(
            message("lax.collapse", "axes that do not follow", (low, high), "a first and a later")
        )
    return x.reshape((*x.shape[:low], math.prod(x.shape[low:high]), *x.shape[high:]))


# -- reductions ------------------------------------------------------------------------------------


def _reduction(name, function, kinds):
    def body(operand, axes, **options):
        if any(value is not None for value in options.values()):
            raise NotImplementedError(
                message(f"lax.{name}", "options that are not yet available", sorted(options),
                        "axes")
            )  # fmt: skip
        expect_arrays(name, operand)
        x = made(operand)
        if kind_of(x.dtype) not in kinds:
            raise TypeError(f"{name} does not accept dtype {x.dtype.name} at position 0.")
        if not isinstance(axes, (tuple, list)):
            raise TypeError(message(f"lax.{name}", "axes are no sequence", axes, "a tuple"))
        axes = tuple([int(k) for k in axes])
        if any(not 0 <= k < x.ndim for k in axes) or len(set(axes)) != len(axes):
            raise ValueError(message(f"lax.{name}", "axes", axes, f"some below {x.ndim}"))
        if not axes:
            return x
        return Array(cast(as_array(function(x._a, axes)), x.dtype), x.weak_type)

    body.__name__ = body.__qualname__ = name
    body.__doc__ = f"`{name.removeprefix('reduce_')}` of the elements along axes."
    return body


def _folded(ufunc):
    def fold(a, axes):
        for k in sorted(axes, reverse=True):
            a = ufunc.reduce(a, axis=k)
        return a

    return fold


reduce_sum = _reduction("reduce_sum", lambda a, axes: nb.sum(a, axis=axes, dtype=a.dtype), "iufc")
reduce_prod = _reduction(
    "reduce_prod", lambda a, axes: nb.prod(a, axis=axes, dtype=a.dtype), "iufc"
)
reduce_max = _reduction("reduce_max", lambda a, axes: nb.max(a, axis=axes), "biuf")
reduce_min = _reduction("reduce_min", lambda a, axes: nb.min(a, axis=axes), "biuf")
reduce_and = _reduction("reduce_and", _folded(nb.bitwise_and), "biu")
reduce_or = _reduction("reduce_or", _folded(nb.bitwise_or), "biu")
reduce_xor = _reduction("reduce_xor", _folded(nb.bitwise_xor), "biu")


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """The elements along axes by an associative function, each half of them with the other, as
    often as there is more than one; a tree of operands by a function of two such trees.
    """
    if out_sharding is not None:
        raise NotImplementedError(
            message("lax.reduce", "shardings are not available", out_sharding, "None")
        )
    leaves, form = tree_flatten(operands)
    starts = [made(v) for v in tree_leaves(init_values)]
    xs = [made(x) for x in leaves]
    for x, start in zip(xs, starts, strict=True):
        if start.dtype != x.dtype and not start.weak_type:
            raise TypeError(
                message("lax.reduce", "types of operand and start differ", start.dtype, x.dtype)
            )
    starts = [made(v, x.dtype) for v, x in zip(starts, xs)]
    axes = sorted([k % xs[0].ndim for k in dimensions]) if xs[0].ndim else []
    rest = [n for k, n in enumerate(xs[0].shape) if k not in axes]
    lines = [
        jnp.moveaxis(x, tuple(axes), tuple(range(len(axes)))).reshape(
            (math.prod([x.shape[k] for k in axes]), *rest)
        )
        for x in xs
    ]

    def both(first, second):
        found = computation(form.unflatten(first), form.unflatten(second))
        return [made(v) for v in tree_leaves(found)]

    n = lines[0].shape[0]
    while n > 1:
        half = n // 2
        found = both([x[:half] for x in lines], [x[half : 2 * half] for x in lines])
        if n % 2:
            found = [jnp.concatenate([v, x[-1:]]) for v, x in zip(found, lines, strict=True)]
        lines, n = found, half + n % 2
    whole = [jnp.broadcast_to(v, tuple(rest)) for v in starts]
    if n:
        whole = both(whole, [x[0] for x in lines])
    return form.unflatten(whole)


# -- elements --------------------------------------------------------------------------------------


class RoundingMethod(enum.IntEnum):
    """Where halves are rounded to."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest whole numbers, halves away from zero or to even ones; without a slope."""
    expect_arrays("round", x)
    x = made(x)
    if kind_of(x.dtype) != "f":
        raise TypeError(
            f"round does not accept dtype {x.dtype.name}. Accepted dtypes are subtypes of floating."
        )
    a = nb.stop_gradient(x._a)
    if RoundingMethod(rounding_method) == RoundingMethod.TO_NEAREST_EVEN:
        return Array(cast(as_array(nb.rint(a)), x.dtype), x.weak_type)
    whole = nb.trunc(a)
    found = nb.where(nb.abs(a - whole) >= 0.5, whole + nb.copysign(x.dtype.type(1), a), whole)
    found = nb.where(nb.isfinite(a), nb.copysign(found, a), a)
    return Array(cast(as_array(found), x.dtype), x.weak_type)


def reshape(operand, new_sizes, dimensions=None):
    """The elements under another shape, in the order of the axes that `dimensions` tells."""
    x = made(operand)
    if dimensions is not None:
        x = x.transpose(tuple(dimensions))
    sizes = tuple([int(n) for n in new_sizes])
    if math.prod(sizes) != x.size or any(n < 0 for n in sizes):
        raise TypeError(f"reshape total size must be unchanged, got new_sizes {sizes} for shape "
                        f"{x.shape}.")  # fmt: skip
    return x.reshape(sizes)


# -- bits ------------------------------------------------------------------------------------------


def _of_integers(name, *values):
    expect_arrays(name, *values)
    found = [made(v) for v in values]
    for k, x in enumerate(found):
        if x.dtype.kind not in "iu":
            raise TypeError(
                f"{name} does not accept dtype {x.dtype.name} at position {k}. Accepted dtypes at "
                f"position {k} are subtypes of integer."
            )
        if x.dtype != found[0].dtype and not x.weak_type:
            raise TypeError(
                f"lax.{name} requires arguments to have the same dtypes, got "
                f"{', '.join([v.dtype.name for v in found])}."
            )
    return [cast(x._a, found[0].dtype) for x in found]


def _unsigned(a):
    return a.view(numpy.dtype(f"u{a.dtype.itemsize}"))


def shift_right_logical(x, y):
    """Bits moved to the right, with zeros from the left; 0 for as many as there are and more."""
    a, n = _of_integers("shift_right_logical", x, y)
    bits = a.dtype.itemsize * 8
    beyond = nb.logical_or(n < 0, n >= bits)
    safe = nb.where(beyond, 0, n).astype(f"u{a.dtype.itemsize}")
    found = as_array(nb.right_shift(_unsigned(a), safe)).view(a.dtype)
    return Array(cast(as_array(nb.where(beyond, a.dtype.type(0), found)), a.dtype))


def shift_right_arithmetic(x, y):
    """Bits moved to the right, with copies of the sign from the left."""
    a, n = _of_integers("shift_right_arithmetic", x, y)
    bits = a.dtype.itemsize * 8
    signed = a.view(numpy.dtype(f"i{a.dtype.itemsize}"))
    n = nb.where(nb.logical_or(n < 0, n >= bits), bits - 1, n).astype(signed.dtype)
    return Array(as_array(nb.right_shift(signed, n)).view(a.dtype))


def population_count(x):
    """How many bits are set."""
    (a,) = _of_integers("population_count", x)
    return Array(cast(as_array(nb.bitwise_count(_unsigned(a))), a.dtype))


def clz(x):
    """How many bits are zero before the first that is set."""
    (a,) = _of_integers("clz", x)
    found = as_array(_unsigned(a)).astype("u8")
    bits = a.dtype.itemsize * 8
    for k in (1, 2, 4, 8, 16, 32):
        if k < bits:
            found = nb.bitwise_or(found, nb.right_shift(found, numpy.uint64(k)))
    return Array(cast(as_array(bits - nb.bitwise_count(found).astype("i8")), a.dtype))


def reduce_precision(operand, exponent_bits, mantissa_bits):
    """Floats rounded to a number of bits, ties to even; beyond its exponents 0 or infinity."""
    x = made(operand)
    if kind_of(x.dtype) != "f":
        raise TypeError(f"reduce_precision does not accept dtype {x.dtype.name}.")
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            message("lax.reduce_precision", "numbers of bits", (exponent_bits, mantissa_bits),
                    "one and more, zero and more")
        )  # fmt: skip
    wide = x._a.astype("f8")
    part, exponent = nb.frexp(wide)
    unit = 2.0 ** (mantissa_bits + 1)
    found = nb.ldexp(nb.rint(part * unit) / unit, exponent)
    top = 2 ** (exponent_bits - 1)
    greatest = (2.0 - 2.0**-mantissa_bits) * 2.0 ** (top - 1)
    found = nb.where(nb.abs(found) > greatest, nb.copysign(math.inf, wide), found)
    found = nb.where(nb.abs(found) < 2.0 ** (2 - top), nb.copysign(0.0, wide), found)
    return Array(cast(as_array(nb.where(nb.isfinite(wide), found, wide)), x.dtype))


# -- orders ----------------------------------------------------------------------------------------


def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """The elements in order along an axis; of several arrays by the first `num_keys`, one after
    another.
    """
    if not isinstance(is_stable, bool):
        raise TypeError(message("lax.sort", "is_stable= is no bool", is_stable, "True or False"))
    if not isinstance(operand, (tuple, list)):
        if num_keys != 1:
            raise ValueError(f"num_keys=1 is expected for one array, got {num_keys}")
        return jnp.sort(operand, axis=dimension)
    xs = [made(x) for x in operand]
    if not 1 <= num_keys <= len(xs):
        raise ValueError(f"{num_keys=} must be between 1 and len(operand)={len(xs)}")
    if any(x.shape != xs[0].shape for x in xs):
        raise ValueError(
            message("lax.sort", "shapes differ", [x.shape for x in xs], "arrays of one shape")
        )
    order = jnp.argsort(xs[num_keys - 1], axis=dimension, stable=True)
    for x in reversed(xs[: num_keys - 1]):
        among = jnp.take_along_axis(x, order, axis=dimension)
        then = jnp.argsort(among, axis=dimension, stable=True)
        order = jnp.take_along_axis(order, then, axis=dimension)
    return tuple([jnp.take_along_axis(x, order, axis=dimension) for x in xs])


def cumlogsumexp(operand, axis=0, reverse=False):
    """log of the sum of exponentials up to each element along an axis."""
    expect_arrays("cumlogsumexp", operand)
    x = made(operand)
    if kind_of(x.dtype) != "f":
        raise TypeError(f"cumlogsumexp does not accept dtype {x.dtype.name}.")
    a = nb.flip(x._a, axis) if reverse else x._a
    found = nb.logaddexp.accumulate(a, axis=axis)
    found = nb.flip(found, axis) if reverse else found
    return Array(cast(as_array(found), x.dtype))


def split(operand, sizes, axis=0):
    """Parts of given lengths along an axis."""
    x = made(operand)
    if sum(sizes) != x.shape[axis]:
        raise ValueError(
            message("lax.split", "lengths do not add up", tuple(sizes), f"{x.shape[axis]} in all")
        )
    bounds = numpy.cumsum(sizes)[:-1].tolist()
    return list(jnp.split(x, bounds, axis=axis))


def pad(operand, padding_value, padding_config):
    """The array with a value around it and between its elements: (low, high, between) for each
    axis, of which the first two may cut elements off.
    """
    expect_arrays("pad", operand, padding_value)
    x, value = made(operand), made(padding_value)
    if value.dtype != x.dtype and not value.weak_type:
        raise TypeError(
            f"lax.pad requires arguments to have the same dtypes, got {x.dtype.name}, "
            f"{value.dtype.name}."
        )
    if len(padding_config) != x.ndim or any(inner < 0 for _, _, inner in padding_config):
        raise ValueError(
            message("lax.pad", "a configuration", padding_config, f"{x.ndim} triples (low, high, "
                    "0 or more)")
        )  # fmt: skip
    value = made(value, x.dtype)
    for k, (_, _, inner) in enumerate(padding_config):
        n = x.shape[k]
        if inner and n > 1:
            shape = list(x.shape)
            shape[k] = n + (n - 1) * inner
            key = (slice(None),) * k + (slice(None, None, inner + 1),)
            x = jnp.broadcast_to(value, tuple(shape)).at[key].set(x)
    around = [(max(low, 0), max(high, 0)) for low, high, _ in padding_config]
    if any(low or high for low, high in around):
        x = jnp.pad(x, around, constant_values=value)
    cut = []
    for (low, high, _), n in zip(padding_config, x.shape, strict=True):
        first = max(-low, 0)
        last = n - max(-high, 0)
        if last < first:
            raise ValueError(
                message("lax.pad", "more is cut off than is there", padding_config, x.shape)
            )
        cut.append(slice(first, last))
    return x[tuple(cut)] if cut else x


def empty(shape, dtype):
    """An array of zeros."""
    return jnp.zeros(shape, dtype)


def dtype_of(x):
    """The dtype of an array or a number."""
    return made(x).dtype


def optimization_barrier(operand):
    """The tree as it is."""
    return operand


# Functions of jax.scipy.special under other names.
SPECIAL = {
    "igamma": "gammainc", "igammac": "gammaincc", "bessel_i0e": "i0e", "bessel_i1e": "i1e",
    "betainc": "betainc", "digamma": "digamma", "zeta": "zeta",
}  # fmt: skip


def special_name(name):
    """One of those functions."""
    return made_of(SPECIAL[name])


for _name, _value in list(globals().items()):  # JAX has no warnings of floating-point errors
    if isinstance(_value, types.FunctionType) and _value.__module__ == __name__:
        globals()[_name] = silent(_value)
