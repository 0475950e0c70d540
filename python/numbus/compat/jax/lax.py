"""jax.lax: loops and branches as plain Python over arrays, and the functions tutorials call."""

import numpy

import numbus as nb

from ... import gradients
from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import special
from .._missing import missing as _missing
from . import _dtypes
from . import numpy as jnp
from ._array import Array, as_array, cast, made
from ._axes import (  # noqa: F401
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
)
from ._convolutions import (  # noqa: F401
    ConvDimensionNumbers,
    conv,
    conv_dimension_numbers,
    conv_general_dilated,
    conv_general_dilated_patches,
    conv_transpose,
    conv_with_general_padding,
    padding_of,
)
from ._functions import check_precision, expect_arrays
from ._lax_further import (  # noqa: F401
    SPECIAL,
    RoundingMethod,
    clz,
    collapse,
    complex,
    cumlogsumexp,
    dtype_of,
    empty,
    optimization_barrier,
    pad,
    population_count,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_precision,
    reduce_prod,
    reduce_sum,
    reduce_xor,
    reshape,
    round,
    shift_right_arithmetic,
    shift_right_logical,
    sort,
    special_name,
    split,
    wide,
)
from ._special import inverse_of_erf, polygamma, special_function  # noqa: F401
from ._transforms import _Leaves, _stacked, arrays
from .tree_util import tree_flatten, tree_leaves, tree_map

__name__ = "jax.lax"
_range = slice  # which is the name of a function below

# Names of lax for functions of jax.numpy, which take more (they broadcast and promote).
_SAME = {
    "abs": "abs", "acos": "arccos", "acosh": "arccosh", "add": "add", "argmax": None,
    "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "bitwise_and": "bitwise_and", "bitwise_not": "bitwise_not",
    "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "broadcast_shapes": "broadcast_shapes",
    "cbrt": "cbrt", "ceil": "ceil", "conj": "conj", "cos": "cos", "cosh": "cosh", "eq": "equal",
    "exp": "exp", "exp2": "exp2", "expand_dims": "expand_dims", "expm1": "expm1", "floor": "floor",
    "full": "full", "full_like": "full_like", "ge": "greater_equal", "gt": "greater",
    "imag": "imag", "is_finite": "isfinite", "le": "less_equal", "log": "log", "log1p": "log1p",
    "lt": "less", "max": "maximum", "min": "minimum", "mul": "multiply", "ne": "not_equal",
    "neg": "negative", "nextafter": "nextafter", "pow": "power", "real": "real",
    "reciprocal": "reciprocal", "rem": "fmod",
    "shift_left": "left_shift", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "squeeze": "squeeze", "stack": "stack", "sub": "subtract", "tan": "tan",
    "tanh": "tanh", "tile": "tile", "transpose": "transpose",
}  # fmt: skip


class Precision:
    """How precise products have to be; all are in the operands' precision here."""

    DEFAULT, HIGH, HIGHEST = "default", "high", "highest"


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """`val = body_fun(i, val)` for i from `lower` to `upper`: a loop of Python."""
    if unroll is not None and not isinstance(unroll, (int, bool)):
        raise TypeError(message("fori_loop", "unroll is no number", unroll, "int, bool or None"))
    value = arrays(init_val)
    for i in range(int(lower), int(upper)):
        value = _like(value, arrays(body_fun(made(i), value)), "fori_loop")
    return value


def while_loop(cond_fun, body_fun, init_val):
    """`val = body_fun(val)` as long as `cond_fun(val)` holds."""
    value = arrays(init_val)
    while _holds(cond_fun(value)):
        value = _like(value, arrays(body_fun(value)), "while_loop")
    return value


def _holds(found):
    """Whether a condition of a loop holds, which is one truth value."""
    shape, kind = getattr(found, "shape", ()), getattr(getattr(found, "dtype", None), "name", "")
    if shape != () or (kind != "bool" and not isinstance(found, bool)):
        raise TypeError(
            message("while_loop", "the condition is not one truth value",
                    f"{kind}{shape}" if kind else type(found).__name__, "a bool")
        )  # fmt: skip
    return bool(found)


def _like(before, after, op):
    """The new carry. Raises TypeError where its form, a shape or a dtype is another one."""
    old, form = tree_flatten(before)
    new, new_form = tree_flatten(after)
    if form != new_form:
        raise TypeError(message(op, "the carry's form changes", str(new_form), str(form)))
    for x, y in zip(old, new, strict=True):
        if getattr(x, "shape", None) != getattr(y, "shape", None) or (
            getattr(x, "dtype", None) != getattr(y, "dtype", None)
        ):
            if isinstance(x, Array) and x.weak_type and x.shape == y.shape:
                continue  # a number of Python's takes the type that it meets
            raise TypeError(
                message(op, "the carry's shape or dtype changes", f"{y.dtype.name}{y.shape}",
                        f"{x.dtype.name}{x.shape}")
            )  # fmt: skip
    return after


def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """`carry, y = f(carry, x)` for the parts x of `xs` along the first axis: a loop of Python.

    Returns the last carry and the stacked `y`.
    """
    if _split_transpose or not isinstance(unroll, (int, bool)):
        raise NotImplementedError(
            message("scan", "an option that is not yet available", (unroll, _split_transpose),
                    "an int unroll")
        )  # fmt: skip
    leaves, form = tree_flatten(xs)
    leaves = [x if hasattr(x, "_key_array") else made(x) for x in leaves]
    if any([not x.shape for x in leaves]):
        raise ValueError(
            message("scan", "a leaf of xs has no first axis: lists are trees of numbers", "()",
                    "arrays")
        )  # fmt: skip
    sizes = {x.shape[0] for x in leaves}
    if length is not None:
        sizes.add(int(length))
    if len(sizes) != 1:
        raise ValueError(message("scan", "lengths differ or none is known", sorted(sizes), "one"))
    (n,) = sizes
    carry, made_ys = arrays(init), []
    for k in range(n - 1, -1, -1) if reverse else range(n):
        result = f(carry, form.unflatten([_Leaves().part(x, 0, k) for x in leaves]))
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(message("scan", "not a pair", type(result).__name__, "(carry, y)"))
        carry = _like(carry, arrays(result[0]), "scan")
        made_ys.append(arrays(result[1]))
    if not made_ys:  # of zeros, to see what an iteration would give
        result = f(carry, form.unflatten([_one_of_none(x) for x in leaves]))
        _like(carry, arrays(result[0]), "scan")
        return carry, tree_map(
            lambda y: jnp.zeros((0, *y.shape), y.dtype) if isinstance(y, Array) else y,
            arrays(result[1]),
        )
    if reverse:
        made_ys.reverse()
    flat = [tree_flatten(y) for y in made_ys]
    columns = zip(*[found for found, _ in flat], strict=True)
    return carry, flat[0][1].unflatten([_stacked(same, 0) for same in columns])


def _one_of_none(x):
    if hasattr(x, "_key_array"):
        raise NotImplementedError(
            message("scan", "a loop over no keys is not yet available", 0, "one or more")
        )
    return jnp.zeros(x.shape[1:], x.dtype)


def map(f, xs, *, batch_size=None):
    """`f` of the parts of `xs` along the first axis, stacked."""
    if batch_size is not None and batch_size < 1:
        raise ValueError(message("lax.map", "batch size", batch_size, "one or more"))
    return scan(lambda c, x: (c, f(x)), (), xs)[1]


def associative_scan(fn, elems, reverse=False, axis=0):
    """The partial results of an associative function along an axis, one after another."""
    leaves, form = tree_flatten(arrays(elems))
    n = leaves[0].shape[axis]
    parts = [form.unflatten([_keep(x, axis, k) for x in leaves]) for k in range(n)]
    if reverse:
        parts.reverse()
    found = parts[:1]
    for part in parts[1:]:
        found.append(fn(found[-1], part))
    if reverse:
        found.reverse()
    columns = zip(*[tree_leaves(x) for x in found], strict=True)
    return form.unflatten([jnp.concatenate(list(same), axis=axis) for same in columns])


def _keep(x, axis, k):
    return x[(_range(None),) * (axis % x.ndim) + (_range(k, k + 1),)]


def cond(pred, true_fun, false_fun, *operands, operand=None, linear=None):
    """`true_fun(*operands)` or `false_fun(*operands)`: one of them is called."""
    if linear is not None:
        raise NotImplementedError(message("cond", "linear= is not yet available", linear, "None"))
    given = operands if operand is None else (operand,)
    if kind_of(made(pred).dtype) == "c":
        raise TypeError(f"Pred type must be either boolean or number, got {pred}.")
    if numpy.shape(pred) != ():
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {numpy.shape(pred)}.")
    return arrays((true_fun if bool(pred) else false_fun)(*[arrays(x) for x in given]))


def switch(index, branches, *operands, operand=None):
    """One of several functions of the operands; an index beyond them takes the nearest."""
    given = operands if operand is None else (operand,)
    kind = made(index).dtype
    if kind.kind not in "iu":
        raise TypeError(f"Index type must be an integer, got {index} as {kind.name}")
    k = min(max(int(index), 0), len(branches) - 1)
    return arrays(branches[k](*[arrays(x) for x in given]))


def select(pred, on_true, on_false):
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere."""
    return jnp.where(pred, on_true, on_false)


def select_n(which, *cases):
    """Elements of the case that `which` numbers."""
    which = made(which)
    if which.dtype.kind == "b":
        return jnp.where(which, cases[1], cases[0])
    return jnp.choose(which, list(cases))


def stop_gradient(x):
    """The arrays of a tree as constants."""
    return tree_map(
        lambda leaf: (
            Array(as_array(gradients.stop_gradient(leaf._a)), leaf.weak_type)
            if isinstance(leaf, Array)
            else leaf
        ),
        x,
    )


def dot(lhs, rhs, *, precision=None, preferred_element_type=None):
    """The product of vectors and matrices."""
    wanted = check_precision("lax.dot", precision, preferred_element_type)
    found = jnp.dot(*wide(wanted, lhs, rhs))
    return found if wanted is None else found.astype(wanted)


def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None):
    """The product over the axes that `dimension_numbers` names: ((contracting of both), (batch of
    both)); the result has batch axes first, then those of `lhs`, then those of `rhs`.
    """
    wanted = check_precision("lax.dot_general", precision, preferred_element_type)
    (cl, cr), (bl, br) = dimension_numbers
    lhs, rhs = wide(wanted, made(lhs), made(rhs))
    left, right = list(range(lhs.ndim)), [lhs.ndim + k for k in range(rhs.ndim)]
    for a, b in (*zip(cl, cr, strict=True), *zip(bl, br, strict=True)):
        right[b] = left[a]
    out = [left[k] for k in bl]
    out += [n for k, n in enumerate(left) if k not in (*bl, *cl)]
    out += [n for k, n in enumerate(right) if k not in (*br, *cr)]
    found = jnp.einsum(lhs, left, rhs, right, out)
    return found if wanted is None else found.astype(wanted)


def batch_matmul(lhs, rhs, precision=None):
    """Products of stacked matrices."""
    check_precision("lax.batch_matmul", precision)
    return jnp.matmul(lhs, rhs)


def div(x, y):
    """The quotient, of integers towards zero."""
    x, y = made(x), made(y)
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        q, r = jnp.floor_divide(x, y), jnp.fmod(x, y)
        return jnp.where((r != 0) & ((x < 0) != (y < 0)), q + 1, q)
    return jnp.true_divide(x, y)


def rsqrt(x):
    """1 / sqrt(x)."""
    return 1 / jnp.sqrt(x)


def logistic(x):
    """1 / (1 + exp(-x))."""
    return _special("expit")(x)


def integer_pow(x, y):
    """A power with a Python int."""
    return jnp.power(x, int(y))


def clamp(min, x, max):
    """Elements between bounds."""
    return jnp.clip(x, min, max)


def convert_element_type(operand, new_dtype):
    """The array in another dtype."""
    return made(operand).astype(new_dtype)


def bitcast_convert_type(operand, new_dtype):
    """The bits as another dtype of the same size."""
    x = made(operand)
    t = _dtypes.canonical(new_dtype)
    if t.itemsize != x.dtype.itemsize:
        raise NotImplementedError(
            message("bitcast_convert_type", "types of different sizes are not yet available", t,
                    f"{x.dtype.itemsize} bytes")
        )  # fmt: skip
    return x.view(t)


def iota(dtype, size):
    """0, 1, …, size - 1."""
    return jnp.arange(size, dtype=dtype)


def broadcasted_iota(dtype, shape, dimension):
    """The index along one axis of a shape."""
    line = jnp.arange(shape[dimension], dtype=dtype)
    axes = (1,) * dimension + (-1,) + (1,) * (len(shape) - dimension - 1)
    return jnp.broadcast_to(line.reshape(axes), shape)


def broadcast(operand, sizes):
    """The array with new leading axes."""
    return jnp.broadcast_to(operand, (*sizes, *made(operand).shape))


def broadcast_in_dim(operand, shape, broadcast_dimensions):
    """The array with its axes at the positions given of a larger shape."""
    x = made(operand)
    axes = [1] * len(shape)
    for n, k in zip(x.shape, broadcast_dimensions, strict=True):
        axes[k] = n
    return jnp.broadcast_to(x.reshape(tuple(axes)), shape)


def concatenate(operands, dimension):
    """Arrays one after another along an axis."""
    return jnp.concatenate(list(operands), axis=dimension)


def rev(operand, dimensions):
    """The array backwards along axes."""
    return jnp.flip(operand, axis=tuple(dimensions))


def slice_in_dim(operand, start_index, limit_index, stride=1, axis=0):
    """A slice along an axis."""
    x = made(operand)
    n = x.shape[axis]
    stop = n if limit_index is None else limit_index + n if limit_index < 0 else limit_index
    start_index = start_index + n if start_index < 0 else start_index
    if not 0 <= start_index <= stop <= x.shape[axis]:
        raise TypeError(
            message("slice_in_dim", "bounds beyond the axis", (start_index, stop),
                    f"0 to {x.shape[axis]}")
        )  # fmt: skip
    return x[(_range(None),) * (axis % x.ndim) + (_range(start_index, stop, stride),)]


def slice(operand, start_indices, limit_indices, strides=None):
    """A box of an array."""
    strides = (None,) * len(start_indices) if strides is None else strides
    return made(operand)[tuple([
        _range(*bounds) for bounds in zip(start_indices, limit_indices, strides, strict=True)
    ])]  # fmt: skip


def _starts(x, starts, sizes):
    return [
        min(max(int(s) + (n if int(s) < 0 else 0), 0), n - size)
        for s, n, size in zip(starts, x.shape, sizes, strict=True)
    ]


def dynamic_slice(operand, start_indices, slice_sizes):
    """A box of an array, moved inwards where it would reach beyond."""
    expect_arrays("dynamic_slice", operand)
    x = made(operand)
    starts = _starts(x, start_indices, slice_sizes)
    return x[tuple([_range(s, s + n) for s, n in zip(starts, slice_sizes, strict=True)])]


def dynamic_update_slice(operand, update, start_indices):
    """The array with another box in its place."""
    x, u = made(operand), made(update)
    starts = _starts(x, start_indices, u.shape)
    return x.at[tuple([_range(s, s + n) for s, n in zip(starts, u.shape, strict=True)])].set(u)


def dynamic_slice_in_dim(operand, start_index, slice_size, axis=0):
    """A slice along an axis."""
    x = made(operand)
    starts, sizes = [0] * x.ndim, list(x.shape)
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(x, starts, sizes)


def dynamic_index_in_dim(operand, index, axis=0, keepdims=True):
    """The part at an index along an axis."""
    found = dynamic_slice_in_dim(operand, index, 1, axis)
    return found if keepdims else jnp.squeeze(found, axis=axis)


def index_in_dim(operand, index, axis=0, keepdims=True):
    """The part at an index along an axis, which is within it."""
    x = made(operand)
    n = x.shape[axis]
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    return dynamic_index_in_dim(x, index, axis, keepdims)


def dynamic_update_slice_in_dim(operand, update, start_index, axis):
    """The array with another slice along an axis."""
    starts = [0] * made(operand).ndim
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand, update, index, axis):
    """The array with another part at an index along an axis."""
    u = made(update)
    if u.ndim < made(operand).ndim:
        u = jnp.expand_dims(u, axis)
    return dynamic_update_slice_in_dim(operand, u, index, axis)


def top_k(operand, k, *, axis=-1):
    """The `k` largest elements along an axis, the largest first, and their indices."""
    expect_arrays("top_k", operand)
    x = made(operand)
    if kind_of(x.dtype) == "c":
        raise ValueError("top_k is not compatible with complex inputs.")
    n = x.shape[axis]
    if not 0 <= k <= n:
        raise ValueError(f"k argument to top_k must be no larger than size along axis; got {k=} "
                         f"with {x.shape=} and {axis=}")  # fmt: skip
    # Backwards and back, so that the first of equal elements stays the first; NaN is the largest.
    order = nb.argsort(nb.flip(x._a, axis), axis=axis, kind="stable")
    order = as_array(n - 1 - nb.flip(order, axis))
    index = Array(order)[(_range(None),) * (axis % x.ndim) + (_range(0, k),)]
    index = Array(cast(index._a, _dtypes.canonical("i4")))
    return jnp.take_along_axis(x, index, axis=axis), index


def sort_key_val(keys, values, dimension=-1, is_stable=True):
    """Keys in order, and values in the order of their keys."""
    if not is_stable:
        is_stable = True  # an order that is stable is one of those that are allowed
    order = jnp.argsort(keys, axis=dimension, stable=is_stable)
    return tuple([jnp.take_along_axis(made(x), order, axis=dimension) for x in (keys, values)])


def _cumulative(name):
    def body(operand, axis=0, reverse=False):
        expect_arrays(f"lax.{name}", operand)
        x = made(operand)
        a = nb.flip(x._a, axis) if reverse else x._a
        ufunc = {"cumsum": nb.add, "cumprod": nb.multiply, "cummax": nb.maximum,
                 "cummin": nb.minimum}[name]  # fmt: skip
        found = ufunc.accumulate(a, axis=axis)
        found = nb.flip(found, axis) if reverse else found
        return Array(cast(as_array(found), x.dtype))

    body.__name__ = name
    body.__doc__ = f"`{name}` along an axis."
    return body


cumsum, cumprod = _cumulative("cumsum"), _cumulative("cumprod")
cummax, cummin = _cumulative("cummax"), _cumulative("cummin")


def argmax(operand, axis, index_dtype):
    """Indices of the largest elements along an axis."""
    return jnp.argmax(operand, axis=axis).astype(index_dtype)


def argmin(operand, axis, index_dtype):
    """Indices of the smallest elements along an axis."""
    return jnp.argmin(operand, axis=axis).astype(index_dtype)


def _special(name):
    function = getattr(special, name)

    def body(x):
        expect_arrays(name, x)
        x = made(x)
        t = x.dtype if kind_of(x.dtype) == "f" else _dtypes.canonical("f8")
        return Array(cast(as_array(function(cast(x._a, t))), t), x.weak_type)

    body.__name__ = name
    body.__doc__ = function.__doc__
    return body


erf, erfc, lgamma = _special("erf"), _special("erfc"), _special("gammaln")


def erf_inv(x):
    """The inverse of the error function: infinite at -1 and 1, NaN beyond."""
    return special_function("erf_inv", inverse_of_erf)(x)


def reduce_window(operand, init_value, computation, window_dimensions, window_strides, padding):
    """`max`, `min` or `add` over windows. The window takes any axes; the operation is known by what
    it makes of 3 and 5.
    """
    x = made(operand)
    told = float(computation(made(3.0), made(5.0)))
    function = {5.0: nb.max, 3.0: nb.min, 8.0: nb.sum}.get(told)
    if function is None:
        raise NotImplementedError(
            message("reduce_window", "an operation that is not yet available",
                    getattr(computation, "__name__", computation), "lax.max, lax.min or lax.add")
        )  # fmt: skip
    window, strides = tuple(window_dimensions), tuple(window_strides)
    pads = padding_of(padding, x.shape, window, strides, (1,) * x.ndim)
    a = nb.pad(x._a, pads, constant_values=made(init_value)._a.item())
    views = nb.lib.stride_tricks.sliding_window_view(a, window)
    views = views[tuple([_range(None, None, s) for s in strides])]
    found = function(views, axis=tuple(range(x.ndim, 2 * x.ndim)))
    start = made(init_value)
    found = {5.0: nb.maximum, 3.0: nb.minimum, 8.0: nb.add}[told](found, start._a)
    return Array(cast(as_array(found), x.dtype))


def __getattr__(name):
    if _SAME.get(name) is not None:
        return getattr(jnp, _SAME[name])
    if name in SPECIAL:
        return special_name(name)
    if name == "dtype":
        return dtype_of
    return _missing("jax.lax", name)
