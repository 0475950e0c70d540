"""Functions of jax.numpy whose arguments are JAX's own: shapes that are said (`size=`), indices
beyond an axis (`mode=`, `fill_value=`), and dtypes that NumPy's functions do not have.
"""

import math
import types

import numpy

import numbus as nb

from .... import _core
from ....core.dtypes import kind_of
from ....core.errors import message
from .. import _dtypes
from .._array import Array, as_array, cast, converted, made, plain
from .._functions import _inexact, elementwise, expect_arrays, general, joining, silent, together


def invalid(t):
    """What comes in the place of an element beyond an axis."""
    if kind_of(t) in "fc":
        return math.nan
    return True if t.kind == "b" else numpy.iinfo(t).min if t.kind == "i" else numpy.iinfo(t).max


def _known_mode(op, mode, known):
    name = None if mode is None else getattr(mode, "name", str(mode)).lower()
    if name not in known:
        raise ValueError(
            message(f"jnp.{op}", "unknown mode", repr(mode), ", ".join(map(repr, known)))
        )
    return name


def _inside(index, n, name):
    """Indices that are within an axis, and which are not; by the rules of a mode."""
    i = as_array(plain(index))
    if i.dtype.kind not in "iu":
        raise TypeError(f"Indexer must have integer or boolean type, got indexer with type "
                        f"{i.dtype}")  # fmt: skip
    wide = i.astype("i8")
    if name == "wrap":
        return nb.remainder(wide, max(n, 1)), None
    if name == "clip":
        return nb.clip(wide, 0, max(n - 1, 0)), None
    wide = nb.where(wide < 0, wide + n, wide)
    outside = nb.logical_or(wide < 0, wide >= n)
    return nb.clip(wide, 0, max(n - 1, 0)), outside


def _filled(found, outside, fill_value, x):
    """Elements, and a value in the place of those that were beyond an axis."""
    if outside is None:
        return Array(as_array(found), x.weak_type)
    value = invalid(x.dtype) if fill_value is None else fill_value
    value = made(numpy.asarray(value)) if type(value) is int else made(value)
    value = converted(as_array(value._a), x.dtype)
    return Array(cast(as_array(nb.where(outside, value, found)), x.dtype), x.weak_type)


def take(a, indices, axis=None, out=None, mode=None, unique_indices=False,
         indices_are_sorted=False, fill_value=None):  # fmt: skip
    """Elements at indices along an axis, or of all elements; in place of those beyond it NaN, the
    least integer or `fill_value`, unless `mode` is "clip" or "wrap".
    """
    expect_arrays("take", a, indices)
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.take is not supported.")
    for promise in (unique_indices, indices_are_sorted):
        if not isinstance(promise, bool):
            raise TypeError(message("jnp.take", "a promise is no bool", promise, "True or False"))
    name = _known_mode("take", mode, (None, "fill", "clip", "wrap"))
    x = made(a)
    if axis is None:
        x, axis = Array(x._a.reshape(-1), x.weak_type), 0
    axis = _axis_of(axis, x.ndim)
    n = x.shape[axis]
    i, outside = _inside(indices, n, name)
    i = as_array(i)
    if n == 0 and i.size:
        if name in ("clip", "wrap"):
            raise IndexError(message("jnp.take", "no elements to take", x.shape, "one or more"))
        shape = (*x.shape[:axis], *i.shape, *x.shape[axis + 1 :])
        return Array(nb.full(shape, invalid(x.dtype) if fill_value is None else fill_value,
                             dtype=x.dtype))  # fmt: skip
    found = nb.take(x._a, i, axis=axis)
    if outside is not None:
        outside = as_array(outside).reshape(*i.shape, *(1,) * (x.ndim - axis - 1))
    return _filled(found, outside, fill_value, x)


def _axis_of(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None):
    """Elements at indices along an axis, line by line; beyond it as in `take`."""
    expect_arrays("take_along_axis", arr, indices)
    known = (None, "fill", "drop", "clip", "promise_in_bounds", "fill_or_drop")
    name = _known_mode("take_along_axis", mode, known)
    x, i = made(arr), made(indices)
    if axis is None:
        if i.ndim != 1:
            raise ValueError(
                message("jnp.take_along_axis", "axis=None with several axes", i.shape, "one axis")
            )
        x, axis = Array(x._a.reshape(-1), x.weak_type), 0
    if x.ndim != i.ndim:
        raise ValueError(
            f"indices and arr must have the same number of dimensions; {i.ndim} vs. {x.ndim}"
        )
    axis = _axis_of(axis, x.ndim)
    inside, outside = _inside(i, x.shape[axis], name)
    a, inside = x._a, as_array(inside)
    rest = [n if k != axis else 1 for k, n in enumerate(a.shape)]
    spread = numpy.broadcast_shapes(tuple(rest), tuple(
        [n if k != axis else 1 for k, n in enumerate(inside.shape)]
    ))  # fmt: skip
    whole = list(spread)
    whole[axis] = inside.shape[axis]
    if a.shape[axis] == 0:
        return Array(nb.full(tuple(whole), invalid(a.dtype) if fill_value is None else fill_value,
                             dtype=a.dtype))  # fmt: skip
    inside = nb.broadcast_to(inside, tuple(whole))
    whole[axis] = a.shape[axis]
    found = nb.take_along_axis(nb.broadcast_to(a, tuple(whole)), inside, axis=axis)
    return _filled(found, outside, fill_value, x)


# -- shapes that are said --------------------------------------------------------------------------


def padded(found, size, fill):
    """A line of `size` elements: the first ones, or all and further ones of a value."""
    a = as_array(found)
    if size is None:
        return a
    size = int(size)
    if a.shape[0] >= size:
        return a[:size]
    value = converted(as_array(made(fill)._a), a.dtype)
    rest = nb.broadcast_to(value, (size - a.shape[0], *a.shape[1:]))
    return as_array(nb.concatenate([a, cast(as_array(rest), a.dtype)]))


def _fills(op, fill_value, n):
    if fill_value is None:
        return (0,) * n
    if isinstance(fill_value, tuple):
        if len(fill_value) != n:
            raise ValueError(
                message(f"jnp.{op}", "a number of fill values", len(fill_value), f"one or {n}")
            )
        return fill_value
    return (fill_value,) * n


def nonzero(a, *, size=None, fill_value=None):
    """The indices of what is not zero, along each axis; with `size` so many, of which those that
    are missing are `fill_value` (or 0).
    """
    expect_arrays("nonzero", a)
    x = made(a)
    if x.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use jnp.atleast_1d(scalar).nonzero() "
            "instead."
        )
    fills = _fills("nonzero", fill_value, x.ndim)
    t = _dtypes.canonical("i8")
    return tuple([
        Array(cast(padded(cast(as_array(found), t), size, fill), t))
        for found, fill in zip(nb.nonzero(x._a), fills, strict=True)
    ])  # fmt: skip


def flatnonzero(a, *, size=None, fill_value=None):
    """The indices of what is not zero among all elements; `size` as in `nonzero`."""
    expect_arrays("flatnonzero", a)
    return nonzero(Array(made(a)._a.reshape(-1)), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size=None, fill_value=None):
    """A row of indices for each element that is not zero; `size` as in `nonzero`."""
    expect_arrays("argwhere", a)
    x = made(a)
    if x.ndim == 0:
        count = int(bool(x)) if size is None else int(size)
        return Array(nb.zeros((count, 0), dtype=_dtypes.canonical("i8")))
    found = nonzero(x, size=size, fill_value=fill_value)
    return Array(as_array(nb.stack([v._a for v in found], axis=1)))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *,
           equal_nan=True, size=None, fill_value=None, sorted=True):  # fmt: skip
    """The elements without repetitions, in order; with `size` so many, of which those that are
    missing are `fill_value` (or the least one).
    """
    expect_arrays("unique", ar)
    if not isinstance(sorted, bool):
        raise TypeError(message("jnp.unique", "sorted= is no bool", sorted, "True or False"))
    x = made(ar)
    asked = return_index, return_inverse, return_counts
    found = nb.unique(x._a, return_index=return_index or size is not None,
                      return_inverse=return_inverse, return_counts=return_counts, axis=axis,
                      equal_nan=equal_nan)  # fmt: skip
    parts = [as_array(v) for v in (found if isinstance(found, tuple) else (found,))]
    t = _dtypes.canonical("i8")
    if size is None:
        whole = [Array(parts[0]), *[Array(cast(v, t)) for v in parts[1:]]]
        return tuple(whole) if any(asked) else whole[0]
    axis = 0 if axis is None else axis
    lines = as_array(nb.moveaxis(parts[0], axis, 0))
    fill = lines[0] if fill_value is None and lines.shape[0] else fill_value or 0
    lines = padded(lines, size, Array(as_array(fill)) if fill_value is None else fill)
    made_parts = [Array(as_array(nb.moveaxis(lines, 0, axis)))]
    rest = iter(parts[1:])
    index = next(rest)
    if return_index:
        made_parts.append(Array(cast(padded(index, size, Array(index[0])), t)))
    if return_inverse:
        made_parts.append(Array(cast(next(rest), t)))
    if return_counts:
        made_parts.append(Array(cast(padded(next(rest), size, 0), t)))
    return tuple(made_parts) if any(asked) else made_parts[0]


def repeat(a, repeats, axis=None, *, total_repeat_length=None):
    """Each element several times along an axis; with `total_repeat_length` so many, the last one
    again where there are fewer.
    """
    expect_arrays("repeat", a)
    x = made(a)
    a = x._a.reshape(-1) if axis is None else x._a
    axis = 0 if axis is None else axis
    many = repeats if isinstance(repeats, int) else plain(made(repeats))
    found = as_array(nb.repeat(a, many, axis=axis))
    if total_repeat_length is not None:
        lines = as_array(nb.moveaxis(found, axis, 0))
        ends = as_array(nb.moveaxis(a, axis, 0))
        if lines.shape[0] < total_repeat_length and ends.shape[0] == 0:
            raise ValueError(message("jnp.repeat", "nothing to repeat", a.shape, "elements"))
        last = Array(ends[-1]) if ends.shape[0] else 0
        found = as_array(nb.moveaxis(padded(lines, total_repeat_length, last), 0, axis))
    return Array(found, x.weak_type)


def bincount(x, weights=None, minlength=0, *, length=None):
    """How often each number is there, or the sum of its weights; negative numbers count as 0, and
    with `length` those beyond it are left out.
    """
    expect_arrays("bincount", x)
    a = made(x)
    if a.dtype.kind not in "iu" or a.ndim != 1:
        raise TypeError(f"bincount requires a 1-D array of integers, got {a.dtype}{a.shape}")
    a = nb.clip(a._a.astype("i8"), 0, None)
    if length is None:
        length = max(int(minlength), int(nb.max(a)) + 1 if a.size else 0)
    else:
        length = int(length)
    start = made(0 if weights is None else weights)
    ones = nb.ones(a.shape, dtype=_dtypes.canonical("i8")) if weights is None else start._a
    return (
        Array(nb.zeros(length, dtype=ones.dtype))
        .at[Array(as_array(a))]
        .add(Array(as_array(ones)), mode="drop")
    )


# -- dtypes ----------------------------------------------------------------------------------------


def insert(arr, obj, values, axis=None, **hints):
    """An array with further elements, which take its dtype."""
    if set(hints) - {"assume_sorted", "unique_indices"}:
        raise TypeError(f"insert() got an unexpected keyword argument {next(iter(hints))!r}")
    expect_arrays("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    x, v = made(arr), made(values)
    obj = obj if isinstance(obj, slice) else plain(obj)
    found = nb.insert(x._a, obj, converted(v._a, x.dtype), axis=axis)
    return Array(cast(as_array(found), x.dtype))


def angle(z, deg=False):
    """The angle of complex numbers; integers as floats."""
    expect_arrays("angle", z)
    z = made(z)
    a = z._a if kind_of(z.dtype) in "fc" and (z.ndim or z.dtype.kind == "c") else cast(
        z._a, _dtypes.canonical("f8")
    )  # fmt: skip
    found = nb.arctan2(nb.imag(a), nb.real(a))
    return Array(as_array(nb.degrees(found) if deg else found))


def modf(x, /):
    """The parts of numbers after and before the point, which of infinity are NaN and infinity."""
    (a,), weak = together("modf", (x,), True)
    whole = nb.trunc(a)
    return Array(as_array(a - whole), weak), Array(as_array(whole), weak)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by trapezia, of floats."""
    expect_arrays("trapezoid", y)
    if x is None:
        (a,), _ = together("trapezoid", (made(y),), True)
        found = nb.trapezoid(as_array(a), dx=plain(dx), axis=axis)
    else:
        (a, at), _ = together("trapezoid", (made(y), made(x)), True)
        found = nb.trapezoid(as_array(a), as_array(at), axis=axis)
    return Array(cast(as_array(found), a.dtype))


def vander(x, N=None, increasing=False):
    """A matrix of powers in the array's dtype."""
    expect_arrays("vander", x)
    a = made(x)
    if a.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    n = a.shape[0] if N is None else int(N)
    if n < 0:
        raise ValueError("N must be nonnegative")
    found = nb.vander(a._a, n, increasing=bool(increasing))
    return Array(cast(as_array(found), _dtypes.canonical("i8") if a.dtype.kind == "b" else a.dtype))


def select(condlist, choicelist, default=0):
    """Elements of the choice whose condition is the first that holds, in one type."""
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if len(condlist) == 0:
        raise ValueError("condlist must be non-empty")
    expect_arrays("select", *condlist, *choicelist, default)
    (*choices, last), weak = together("select", (*choicelist, default))
    found = last
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        found = nb.where(made(condition)._a, choice, found)
    t = next((v.dtype for v in (*choices, last) if hasattr(v, "dtype")), as_array(found).dtype)
    return Array(cast(as_array(found), t), weak)


def _not_in_place(op, inplace):
    if inplace:
        raise ValueError(
            f"jax.numpy.{op} cannot modify arrays in-place, because JAX arrays are immutable. Pass "
            "inplace=False to instead return an updated array."
        )


def put(a, ind, v, mode=None, *, inplace=True):
    """The array with other values at flat indices; `inplace=False` has to be said."""
    _not_in_place("put", inplace)
    expect_arrays("put", a, ind, v)
    x, i, values = made(a), made(ind), made(v)
    i, values = i.reshape(-1), values.reshape(-1)
    if not x.size or not i.size or not values.size:
        return x
    if values.size < i.size:
        values = Array(as_array(nb.resize(values._a, i.size)))
    name = _known_mode("put", mode, (None, "clip", "wrap"))
    i = Array(as_array(_inside(i, x.size, name)[0]))  # also without a mode the nearest ones
    return x.reshape(-1).at[i].set(values[: i.size]).reshape(x.shape)


def place(arr, mask, vals, *, inplace=True):
    """The array with values, one after another, where a mask holds."""
    _not_in_place("place", inplace)
    expect_arrays("place", arr, mask, vals)
    x, held, values = made(arr), made(mask), made(vals)
    if x.size != held.size:
        raise ValueError("place: arr and mask must be the same size")
    if not values.size:
        raise ValueError("place: vals must be non-empty")
    if not x.size:
        return x
    at = nonzero(held.reshape(-1))[0]
    values = Array(as_array(nb.resize(values._a.reshape(-1), at.size)))
    return x.reshape(-1).at[at].set(values).reshape(x.shape)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """The array with values at indices along an axis, line by line."""
    if inplace:
        raise ValueError(
            "jax.numpy.put_along_axis cannot modify arrays in-place, because JAX arrays are "
            "immutable. Pass inplace=False to instead return an updated array."
        )
    expect_arrays("put_along_axis", arr, indices, values)
    x, i = made(arr), made(indices)
    if axis is None:
        return x.reshape(-1).at[i].set(values, mode=mode).reshape(x.shape)
    axis = _axis_of(axis, x.ndim)
    if x.ndim != i.ndim:
        raise ValueError("put_along_axis arguments 'arr' and 'indices' must have same ndim.")
    key = [
        i if k == axis else nb.arange(n).reshape((1,) * k + (-1,) + (1,) * (x.ndim - k - 1))
        for k, n in enumerate(x.shape)
    ]
    return x.at[tuple(key)].set(values, mode=mode)


def kron(a, b):
    """The Kronecker product."""
    expect_arrays("kron", a, b)
    (x, y), weak = together("kron", (made(a), made(b)))
    return Array(as_array(nb.kron(as_array(x), as_array(y))), weak)


def gradient(f, *varargs, axis=None, edge_order=None):
    """Differences of the neighbours of elements, of floats."""
    expect_arrays("gradient", f)
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    x = _inexact(f)
    weak = x.weak_type or (bool(varargs) and made(f).dtype.kind in "biu")
    found = nb.gradient(x._a, *[plain(v) for v in varargs], axis=axis)
    if isinstance(found, (list, tuple)):
        return [Array(cast(as_array(v), x.dtype), weak) for v in found]
    return Array(cast(as_array(found), x.dtype), weak)


# -- derivatives at ties, and the dtypes of JAX ----------------------------------------------------


def absolute(x, /):
    """The absolute value. Its derivative at zero is 1, as JAX has it."""
    (a,), weak = together("abs", (x,))
    a = as_array(a)
    if a.dtype.kind == "b":
        return Array(a)
    found = nb.abs(a)
    if kind_of(a.dtype) == "f" and _core.depends(a):
        found = nb.where(a == 0, a + a.dtype.type(0), found)
    return Array(as_array(found), weak)


def _extreme(name, compare):
    def body(x1, x2):
        (a, b), weak = together(name, (x1, x2))
        chosen = nb.logical_or(compare(a, b), nb.isnan(b)) if _may_be_nan(a, b) else compare(a, b)
        t = next((v.dtype for v in (a, b) if hasattr(v, "dtype")), None)
        return Array(cast(as_array(nb.where(chosen, a, b)), t), weak)

    body.__name__ = name
    body.__doc__ = f"`{name}` of two arrays: numbers rather than NaN; of equal ones the second."
    return body


def _may_be_nan(a, b):
    return any(kind_of(v.dtype) in "fc" for v in (a, b) if hasattr(v, "dtype"))


fmax, fmin = _extreme("fmax", nb.greater), _extreme("fmin", nb.less)


def choose(a, choices, out=None, mode="raise"):
    """Elements of the choices that the numbers tell, in one type."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.choose is not supported.")
    if isinstance(choices, (list, tuple)):
        some, _ = together("choose", tuple([made(v) for v in choices]))
    else:
        some = list(made(choices)._a)
    expect_arrays("choose", a)
    return Array(as_array(nb.choose(made(a)._a, [as_array(v) for v in some], mode=mode)))


def ldexp(x1, x2, /):
    """x1 times a power of two, which keeps the type of x1, or the default one for integers."""
    expect_arrays("ldexp", x1, x2)
    x, n = made(x1), made(x2)
    if x.dtype.kind == "c" or kind_of(n.dtype) in "fc":
        raise ValueError(f"ldexp not supported for input types {(x.dtype, n.dtype)}")
    x = _inexact(x)
    return Array(cast(as_array(nb.ldexp(x._a, n._a.astype("i4"))), x.dtype), x.weak_type)


def float_power(x1, x2, /):
    """A power in the common floating-point type."""
    operands, weak = together("float_power", (x1, x2), True)
    return Array(as_array(nb.power(*operands)), weak)


def roots(p, *, strip_zeros=True):
    """The roots of a polynomial, as complex numbers."""
    if strip_zeros is not True:
        raise NotImplementedError(
            message("jnp.roots", "strip_zeros=False is not yet available", strip_zeros, "True")
        )
    expect_arrays("roots", p)
    found = as_array(nb.roots(_inexact(p)._a))
    return Array(cast(found, _dtypes.canonical("c16")))


def searchsorted(a, v, side="left", sorter=None, *, method="scan"):
    """Where numbers would have to be inserted. All methods have the same result."""
    known = ("scan", "scan_unrolled", "sort", "compare_all", "default")
    if method not in known:
        raise ValueError(
            f"jnp.searchsorted(): expected method in ('scan', 'scan_unrolled', 'sort', "
            f"'compare_all'); got {method!r}"
        )
    if side not in ("left", "right"):
        raise ValueError(f"{side!r} is an invalid value for keyword 'side'. Expected one of "
                         "['left', 'right'].")  # fmt: skip
    expect_arrays("searchsorted", a, v)
    (x, y), _ = together("searchsorted", (made(a), made(v)))
    if x.ndim != 1:
        raise ValueError("a should be 1-dimensional")
    order = None if sorter is None else made(sorter)._a
    found = nb.searchsorted(as_array(x), as_array(y), side=side, sorter=order)
    return Array(cast(as_array(found), _dtypes.canonical("i8")))


def _set(name):
    function = joining(name)

    def body(ar1, ar2, *args, size=None, fill_value=None, **keywords):
        expect_arrays(name, ar1, ar2)
        found = function(ar1, ar2, *args, **keywords)
        if name == "setdiff1d":
            found = Array(converted(found._a, made(ar1).dtype))
        if size is None:
            return found
        if not isinstance(found, Array):
            raise NotImplementedError(
                message(f"jnp.{name}", "size= with indices is not yet available", size, "None")
            )
        fill = fill_value
        if fill is None:
            some = found if name == "union1d" else found[: int(size)]
            fill = 0 if name == "setdiff1d" or not some.size else Array(as_array(nb.min(some._a)))
            if name == "intersect1d" and some.size < int(size):
                fill = Array(as_array(nb.minimum(fill._a, 0))) if some.size else 0
        return Array(padded(found._a, size, fill))

    body.__name__, body.__doc__ = name, function.__doc__
    return body


union1d, setdiff1d, setxor1d, intersect1d = map(
    _set, ("union1d", "setdiff1d", "setxor1d", "intersect1d")
)


def _of_floats(name):
    function = general(name)

    def body(m, *args, **keywords):
        expect_arrays(name, m)
        x = _inexact(m)
        found = function(x, *args, **keywords)
        return Array(cast(found._a, x.dtype))

    body.__name__, body.__doc__ = name, function.__doc__
    return body


cov, corrcoef = _of_floats("cov"), _of_floats("corrcoef")


def stack(arrays, axis=0, out=None, dtype=None):
    """Arrays of one shape along a new axis."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.stack is not supported.")
    return _joined("stack", arrays, axis, dtype)


def concatenate(arrays, axis=0, dtype=None):
    """Arrays one after another along an axis; with None all of their elements."""
    return _joined("concatenate", arrays, axis, dtype)


def concat(arrays, /, *, axis=0):
    """Arrays one after another along an axis; with None all of their elements."""
    return _joined("concatenate", arrays, axis, None)


def _joined(name, arrays, axis, dtype):
    if isinstance(arrays, (list, tuple)):
        if not arrays:
            raise ValueError(f"Need at least one array to {name}.")
        expect_arrays(name, *arrays)
        given = tuple([made(x) for x in arrays])
    else:
        expect_arrays(name, arrays)
        given = tuple(made(arrays))
    some, weak = together(name, given)
    t = None if dtype is None else _dtypes.asked(dtype, name)
    some = [as_array(x) if t is None else converted(as_array(x), t) for x in some]
    return Array(as_array(getattr(nb, name)(some, axis=axis)), weak and t is None)


def append(arr, values, axis=None):
    """An array with further elements at its end."""
    expect_arrays("append", arr, values)
    x, y = made(arr), made(values)
    if axis is None:
        return concatenate([x.reshape(-1), y.reshape(-1)])
    return concatenate([x, y], axis=axis)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours, `n` times; with further elements before and after in one type."""
    expect_arrays("diff", a)
    x = made(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if not x.ndim:
        raise ValueError(f"diff requires input that is at least one dimensional; got {a}")
    parts = []
    for some in (prepend, x, append):
        if some is None:
            continue
        some = made(some)
        if not some.ndim:
            shape = list(x.shape)
            shape[axis] = 1
            some = Array(as_array(nb.broadcast_to(some._a, tuple(shape))), some.weak_type)
        parts.append(some)
    if n == 0:
        return x
    x = concatenate(parts, axis=axis) if len(parts) > 1 else x
    return Array(as_array(nb.diff(x._a, n, axis=axis)), x.weak_type)


def _of_inexact(name):
    function = joining(name)

    def body(a, v, mode=None, **keywords):
        expect_arrays(name, a, v)
        (x, y), _ = together(name, (made(a), made(v)), True)
        mode = mode if mode is not None else "full" if name == "convolve" else "valid"
        return function(Array(as_array(x)), Array(as_array(y)), mode=mode, **keywords)

    body.__name__, body.__doc__ = name, function.__doc__
    return body


convolve, correlate = _of_inexact("convolve"), _of_inexact("correlate")


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The mean, or that of elements by weights, in their common floating-point type."""
    expect_arrays("average", a)
    if weights is None:
        x = _inexact(a)
        given = {}
    else:
        expect_arrays("average", weights)
        (p, q), _ = together("average", (made(a), made(weights)), True)
        x, given = Array(as_array(p)), {"weights": as_array(q)}
    found = nb.average(x._a, axis=axis, returned=returned, keepdims=keepdims, **given)
    parts = [Array(cast(as_array(v), x.dtype)) for v in (found if returned else (found,))]
    return tuple(parts) if returned else parts[0]


def frexp(x, /):
    """Parts of numbers between 0.5 and 1, and powers of two; of integers as floats."""
    a = _inexact(x)
    if a.dtype.kind == "c":
        raise TypeError("frexp does not support complex-valued inputs")
    part, power = nb.frexp(a._a)
    power = cast(as_array(power), numpy.dtype("i4"))
    return Array(cast(as_array(part), a.dtype), a.weak_type), Array(power)


def unravel_index(indices, shape):
    """The indices along each axis of flat ones; the nearest where they are beyond the shape."""
    expect_arrays("unravel_index", indices)
    i = made(indices)
    if i.dtype.kind not in "iu":
        raise TypeError(f"unravel_index requires integers, got {i.dtype}")
    sizes = [int(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    total = math.prod(sizes)
    wide = i._a.astype("i8")
    wide = nb.clip(nb.where(wide < 0, wide + total, wide), 0, max(total - 1, 0))
    found = []
    for n in reversed(sizes):
        found.append(Array(cast(as_array(nb.remainder(wide, max(n, 1))), i.dtype), i.weak_type))
        wide = nb.floor_divide(wide, max(n, 1))
    return tuple(reversed(found))


def _question(name):
    function = getattr(nb, name)

    def body(x):
        expect_arrays(name, x)
        return Array(as_array(function(made(x)._a)))

    body.__name__, body.__doc__ = name, function.__doc__
    return body


iscomplex, isreal = _question("iscomplex"), _question("isreal")


def _strong(name):
    """A function of elements whose result JAX does not call weak."""
    function = elementwise(name, True)

    def body(*args):
        found = function(*args)
        return Array(found._a)

    body.__name__, body.__doc__ = name, function.__doc__
    return body


heaviside, spacing = _strong("heaviside"), _strong("spacing")


def round(a, decimals=0, out=None):
    """The nearest numbers of so many digits, whose derivative is zero."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.round is not supported.")
    expect_arrays("round", a)
    x = made(a)
    if x.dtype.kind == "b" and decimals >= 0:
        return x
    found = as_array(nb.round(nb.stop_gradient(x._a), decimals))
    return Array(cast(found, x.dtype), x.weak_type)


around = round


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Numbers in the place of NaN and infinities."""
    if not isinstance(copy, bool):
        raise TypeError(message("jnp.nan_to_num", "copy= is no bool", copy, "True or False"))
    expect_arrays("nan_to_num", x)
    x = made(x)
    if kind_of(x.dtype) not in "fc":
        return x
    found = nb.nan_to_num(x._a, nan=plain(nan), posinf=plain(posinf), neginf=plain(neginf))
    return Array(cast(as_array(found), x.dtype), x.weak_type)


for _name, _value in list(globals().items()):  # JAX has no warnings of floating-point errors
    if isinstance(_value, types.FunctionType) and _value.__module__ == __name__:
        globals()[_name] = silent(_value)
