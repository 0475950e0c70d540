"""TensorFlow's functions of tensors, by those of Numbus."""

import numpy

import numbus as nb

from ...core.dtypes import kind_of
from ...core.errors import message
from ...functions import special
from ...nn import functional as _f
from ...tensors._arrays import without_slope
from ...tensors.random import default_generator
from .._missing import missing
from ._tensor import (
    InvalidArgumentError,
    Tensor,
    Variable,
    as_array,
    as_numpy_dtype,
    convert,
)


def tensor(a):
    """A tensor of a result of Numbus's."""
    return Tensor(as_array(a))


def value(x, dtype=None):
    """The array of a tensor or of what becomes one."""
    return convert(x, dtype)._value()


def named(name):
    """Names of operations show nowhere here."""
    if name is not None and not isinstance(name, str):
        raise TypeError(message("name", "no text", name, "a str or None"))


def together(op, x, y):
    """Two operands as arrays: what is no tensor takes the type of the other one.

    Raises InvalidArgumentError where tensors have different types, or shapes that do not fit.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        if x._a.dtype != y._a.dtype:
            raise InvalidArgumentError(
                f"cannot compute {op} as input #1(zero-based) was expected to be a {x.dtype.name} "
                f"tensor but is a {y.dtype.name} tensor"
            )
    elif isinstance(y, Tensor):
        x = convert(x, y._a.dtype)
    else:
        x = convert(x)
        y = convert(y, x._a.dtype)
    a, b = x._value(), y._value()
    if a.shape != b.shape:
        try:
            numpy.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise InvalidArgumentError(
                f"Incompatible shapes: {list(a.shape)} vs. {list(b.shape)} [Op:{op}]"
            ) from None
    return a, b


def _binary(name, function):
    def body(x, y, name=None):
        named(name)
        return tensor(function(*together(op, x, y)))

    op = name
    body.__name__ = name
    body.__doc__ = f"`numbus.{getattr(function, '__name__', name)}` of tensors of one type."
    return body


def _quotient(a, b):
    if a.dtype.kind in "iu":
        a, b = a.astype("f8"), b.astype("f8")
    return nb.true_divide(a, b)


def _unary(name, function, floats=True):
    def body(x, name=None):
        named(name)
        a = value(x)
        if floats and kind_of(a.dtype) not in "fc":
            raise InvalidArgumentError(
                message(op, "not floating point", a.dtype.name, "float32 (tf.cast)")
            )
        return tensor(function(a))

    op = name
    body.__name__ = name
    body.__doc__ = f"`{name}` of each element."
    return body


BINARY = {
    name: _binary(name, function)
    for name, function in {
        "add": nb.add, "subtract": nb.subtract, "multiply": nb.multiply, "divide": _quotient,
        "truediv": _quotient, "floordiv": nb.floor_divide, "floormod": nb.remainder,
        "mod": nb.remainder, "pow": nb.power, "maximum": nb.maximum, "minimum": nb.minimum,
        "equal": nb.equal, "not_equal": nb.not_equal, "less": nb.less, "greater": nb.greater,
        "less_equal": nb.less_equal, "greater_equal": nb.greater_equal, "atan2": nb.arctan2,
        "logical_and": nb.logical_and, "logical_or": nb.logical_or, "logical_xor": nb.logical_xor,
        "squared_difference": lambda a, b: nb.square(a - b),
    }.items()
}  # fmt: skip
UNARY = {
    **{
        name: _unary(name, getattr(nb, known))
        for name, known in {
            "exp": "exp", "log": "log", "log1p": "log1p", "expm1": "expm1", "sqrt": "sqrt",
            "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "sinh": "sinh",
            "cosh": "cosh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
            "reciprocal": "reciprocal", "is_nan": "isnan", "is_inf": "isinf",
            "is_finite": "isfinite", "ceil": "ceil", "floor": "floor",
        }.items()
    },
    **{
        name: _unary(name, getattr(nb, known), False)
        for name, known in {
            "abs": "abs", "negative": "negative", "square": "square",
            "round": "rint", "logical_not": "logical_not",
        }.items()
    },
    "sign": _unary("sign", without_slope(nb.sign), False),
    "sigmoid": _unary("sigmoid", _f.sigmoid), "relu": _unary("relu", _f.relu, False),
    "rsqrt": _unary("rsqrt", lambda a: 1 / nb.sqrt(a)), "erf": _unary("erf", special.erf),
    "lgamma": _unary("lgamma", special.gammaln), "softplus": _unary("softplus", _f.softplus),
    "selu": _unary("selu", _f.selu), "relu6": _unary("relu6", _f.relu6),
    "elu": _unary("elu", _f.elu), "silu": _unary("silu", _f.silu),
    "log_sigmoid": _unary("log_sigmoid", _f.logsigmoid),
    "softsign": _unary("softsign", _f.softsign),
}  # fmt: skip


def _axis(axis):
    if axis is None:
        return None
    found = numpy.asarray(axis)
    return int(found) if found.ndim == 0 else tuple(int(k) for k in found)


def _reduction(name, function, keep_integers=False):
    def body(input_tensor, axis=None, keepdims=False, name=None):
        named(name)
        a = value(input_tensor)
        t = a.dtype
        try:
            found = as_array(function(a, axis=_axis(axis), keepdims=keepdims))
        except (ValueError, IndexError) as error:
            raise InvalidArgumentError(f"Invalid reduction dimension: {error}") from None
        return Tensor(found if found.dtype == t or not keep_integers else found.astype(t))

    body.__name__ = name
    body.__doc__ = f"`{name}` over axes."
    return body


def _mean(a, axis, keepdims):
    if a.dtype.kind in "iu":  # as TensorFlow, which divides integers
        total = as_array(nb.sum(a, axis=axis, keepdims=keepdims))
        return (nb.trunc(total / (a.size // max(1, total.size)))).astype(a.dtype)
    return nb.mean(a, axis=axis, keepdims=keepdims)


def _logsumexp(a, axis, keepdims):
    top = nb.stop_gradient(nb.max(a, axis=axis, keepdims=True))
    top = nb.where(nb.isfinite(top), top, a.dtype.type(0))
    total = nb.log(nb.sum(nb.exp(a - top), axis=axis, keepdims=True)) + top
    return total if keepdims else nb.squeeze(total, axis=axis)


REDUCTIONS = {
    "reduce_sum": _reduction("reduce_sum", nb.sum, True),
    "reduce_prod": _reduction("reduce_prod", nb.prod, True),
    "reduce_mean": _reduction("reduce_mean", _mean),
    "reduce_max": _reduction("reduce_max", nb.max),
    "reduce_min": _reduction("reduce_min", nb.min),
    "reduce_all": _reduction("reduce_all", nb.all),
    "reduce_any": _reduction("reduce_any", nb.any),
    "reduce_std": _reduction("reduce_std", nb.std),
    "reduce_variance": _reduction("reduce_variance", nb.var),
    "reduce_logsumexp": _reduction("reduce_logsumexp", _logsumexp),
}


def constant(value, dtype=None, shape=None, name="Const"):
    """A tensor of numbers: float32, int32 or bool unless `dtype` says so."""
    named(name)
    x = convert(value, as_numpy_dtype(dtype))
    if shape is None:
        return x
    a = x._value()
    if a.size == 1:
        return tensor(nb.broadcast_to(a.reshape(()), sizes(shape)))
    return tensor(a.reshape(sizes(shape)))


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """A tensor of a value; tensors stay as they are."""
    named(name)
    if dtype_hint is not None and dtype is None and not isinstance(value, Tensor):
        dtype = dtype_hint
    found = convert(value, as_numpy_dtype(dtype))
    return found.value() if isinstance(found, Variable) else found


def sizes(shape):
    """A shape as a tuple of ints."""
    if isinstance(shape, Tensor):
        shape = shape.numpy().tolist() if shape.ndim else [int(shape)]
    if isinstance(shape, (int, numpy.integer)):
        return (int(shape),)
    return tuple([int(n) for n in shape])


def zeros(shape, dtype="float32", name=None):
    """A tensor of 0."""
    named(name)
    return tensor(nb.zeros(sizes(shape), as_numpy_dtype(dtype)))


def ones(shape, dtype="float32", name=None):
    """A tensor of 1."""
    named(name)
    return tensor(nb.ones(sizes(shape), as_numpy_dtype(dtype)))


def fill(dims, value, name=None):
    """A tensor of one value."""
    named(name)
    x = convert(value)
    return tensor(nb.full(sizes(dims), x._value(), dtype=x._a.dtype))


def zeros_like(input, dtype=None, name=None):
    """0 in the shape and type of a tensor."""
    named(name)
    a = convert(input)._a
    return tensor(nb.zeros(a.shape, as_numpy_dtype(dtype) or a.dtype))


def ones_like(input, dtype=None, name=None):
    """1 in the shape and type of a tensor."""
    named(name)
    a = convert(input)._a
    return tensor(nb.ones(a.shape, as_numpy_dtype(dtype) or a.dtype))


def eye(num_rows, num_columns=None, dtype="float32", name=None):
    """The unit matrix."""
    named(name)
    columns = None if num_columns is None else int(num_columns)
    return tensor(nb.eye(int(num_rows), columns, dtype=as_numpy_dtype(dtype)))


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """start, start + delta, … below `limit`."""
    named(name)
    given = [x.numpy() if isinstance(x, Tensor) else x for x in (start, limit, delta)]
    if limit is None:
        given = [0, given[0], given[2]]
    real = numpy.arange(*given)
    plain = not any(hasattr(x, "dtype") for x in given)
    t = as_numpy_dtype(dtype) or ({"f": numpy.dtype("f4"), "i": numpy.dtype("i4")}[real.dtype.kind]
                                  if plain else real.dtype)  # fmt: skip
    return Tensor(convert(real)._a.astype(t))


def linspace(start, stop, num, name=None):
    """`num` numbers from `start` to `stop`."""
    named(name)
    a, b = together("LinSpace", start, stop)
    return tensor(nb.linspace(a.item(), b.item(), int(num)).astype(a.dtype))


def cast(x, dtype, name=None):
    """The tensor in another type."""
    named(name)
    a = value(x)
    t = as_numpy_dtype(dtype)
    return tensor(a if a.dtype == t else a.astype(t))


def reshape(tensor, shape, name=None):
    """The elements under another shape."""
    named(name)
    a = value(tensor)
    try:
        return Tensor(a.reshape(sizes(shape)))
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None


def transpose(a, perm=None, conjugate=False, name=None):
    """The axes in another order, backwards unless `perm` says it."""
    named(name)
    found = value(a).transpose() if perm is None else value(a).transpose(sizes(perm))
    return tensor(nb.conj(found) if conjugate else found)


def squeeze(input, axis=None, name=None):
    """Without axes of length 1."""
    named(name)
    return tensor(nb.squeeze(value(input), axis=_axis(axis)))


def expand_dims(input, axis, name=None):
    """With one more axis of length 1."""
    named(name)
    return tensor(nb.expand_dims(value(input), _axis(axis)))


def _several(op, values):
    first = next((x for x in values if isinstance(x, Tensor)), None)
    t = None if first is None else first._a.dtype
    made = [convert(x, None if isinstance(x, Tensor) else t) for x in values]
    kinds = {x.dtype.name for x in made}
    if len(kinds) > 1:
        raise InvalidArgumentError(message(op, "tensors of different types", sorted(kinds), "one"))
    return [x._value() for x in made]


def concat(values, axis, name="concat"):
    """Tensors one after another along an axis."""
    named(name)
    values = [values] if isinstance(values, Tensor) else list(values)
    return tensor(nb.concatenate(_several("concat", values), axis=_axis(axis)))


def stack(values, axis=0, name="stack"):
    """Tensors along a new axis."""
    named(name)
    return tensor(nb.stack(_several("stack", list(values)), axis=axis))


def unstack(value_, num=None, axis=0, name="unstack"):
    """The parts along an axis, as a list."""
    named(name)
    a = value(value_)
    if num is not None and num != a.shape[axis]:
        raise ValueError(message("unstack", "another number", num, a.shape[axis]))
    return [tensor(part) for part in nb.unstack(a, axis=axis)]


def split(value_, num_or_size_splits, axis=0, name="split"):
    """Equal parts, or parts of the sizes given, along an axis."""
    named(name)
    a = value(value_)
    if isinstance(num_or_size_splits, int):
        parts = nb.split(a, num_or_size_splits, axis=axis)
    else:
        parts = nb.split(a, numpy.cumsum(sizes(num_or_size_splits))[:-1].tolist(), axis=axis)
    return [tensor(part) for part in parts]


def tile(input, multiples, name=None):
    """The tensor repeated along each axis."""
    named(name)
    return tensor(nb.tile(value(input), sizes(multiples)))


def reverse(tensor, axis, name=None):
    """The tensor backwards along axes."""
    named(name)
    return Tensor(nb.flip(value(tensor), sizes(axis)))


def gather(params, indices, axis=0, name=None):
    """The parts at indices along an axis. Raises where an index is beyond it."""
    named(name)
    return tensor(nb.take(value(params), value(indices), axis=axis))


def boolean_mask(tensor, mask, name="boolean_mask"):
    """The elements where the mask is true."""
    named(name)
    return Tensor(as_array(value(tensor)[value(mask)]))


def where(condition, x=None, y=None, name=None):
    """Elements of `x` where the condition holds, of `y` elsewhere; alone, the indices."""
    named(name)
    c = value(condition)
    if x is None and y is None:
        return tensor(nb.argwhere(c))
    return tensor(nb.where(c, *together("SelectV2", x, y)))


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Elements between bounds."""
    named(name)
    a, low = together("ClipByValue", t, clip_value_min)
    return tensor(nb.clip(a, low, value(clip_value_max, a.dtype)))


def argmax(input, axis=None, output_type="int64", name=None):
    """The index of the largest element along an axis, the first one by default."""
    named(name)
    return tensor(nb.argmax(value(input), axis=axis or 0).astype(as_numpy_dtype(output_type)))


def argmin(input, axis=None, output_type="int64", name=None):
    """The index of the smallest element along an axis, the first one by default."""
    named(name)
    return tensor(nb.argmin(value(input), axis=axis or 0).astype(as_numpy_dtype(output_type)))


def shape(input, out_type="int32", name=None):
    """The shape as a tensor."""
    named(name)
    return convert(list(convert(input)._a.shape), as_numpy_dtype(out_type))


def size(input, out_type="int32", name=None):
    """The number of elements as a tensor."""
    named(name)
    return convert(convert(input)._a.size, as_numpy_dtype(out_type))


def rank(input, name=None):
    """The number of axes as a tensor."""
    named(name)
    return convert(convert(input)._a.ndim, numpy.dtype("i4"))


def broadcast_to(input, shape, name=None):
    """The tensor repeated to a shape."""
    named(name)
    return tensor(nb.broadcast_to(value(input), sizes(shape)))


def matmul(a, b, transpose_a=False, transpose_b=False, name=None):
    """The product of matrices, or of stacks of them."""
    named(name)
    x, y = _several("MatMul", [a, b])
    if x.ndim < 2 or y.ndim < 2:
        raise InvalidArgumentError(
            message("MatMul", "ndims must be >= 2", (x.ndim, y.ndim), "matrices")
        )
    x = x.mT if transpose_a else x
    y = y.mT if transpose_b else y
    if x.shape[-1] != y.shape[-2]:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {list(x.shape)}, In[1]: {list(y.shape)} [Op:MatMul]"
        )
    return tensor(x @ y)


def tensordot(a, b, axes, name=None):
    """The product over axes of both."""
    named(name)
    x, y = _several("tensordot", [a, b])
    return tensor(nb.tensordot(x, y, axes))


def einsum(equation, *inputs):
    """Einstein's sum."""
    return tensor(nb.einsum(equation, *_several("einsum", list(inputs))))


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of all elements, or along axes."""
    named(name)
    a = value(tensor)
    if ord != "euclidean":
        return Tensor(as_array(nb.linalg.norm(a, ord, axis, bool(keepdims))))
    found = nb.sqrt(nb.sum(a * a, axis=_axis(axis), keepdims=bool(keepdims)))
    return Tensor(as_array(found))


def one_hot(indices, depth, on_value=1.0, off_value=0.0, axis=-1, dtype=None, name=None):
    """`on_value` at the index that each element tells along a new axis, else `off_value`."""
    named(name)
    a = value(indices)
    t = as_numpy_dtype(dtype) or convert(on_value)._a.dtype
    k = axis % (a.ndim + 1)
    line = nb.arange(int(depth)).reshape((-1,) + (1,) * (a.ndim - k))
    chosen = nb.expand_dims(a, k) == line
    return tensor(nb.where(chosen, t.type(on_value), t.type(off_value)))


def identity(input, name=None):
    """A tensor of the same elements, in memory of its own."""
    named(name)
    return tensor(nb.copy(value(input)))


def stop_gradient(input, name=None):
    """The tensor as a constant."""
    named(name)
    return tensor(nb.stop_gradient(value(input)))


def add_n(inputs, name=None):
    """The sum of tensors."""
    named(name)
    arrays = _several("AddN", list(inputs))
    total = arrays[0]
    for a in arrays[1:]:
        total = total + a
    return tensor(total)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Partial sums along an axis."""
    named(name)
    a = value(x)
    a = nb.flip(a, axis) if reverse else a
    if exclusive:  # of what stands before
        lines = nb.moveaxis(a, axis, 0)
        lines = nb.concatenate([nb.zeros_like(lines[:1]), lines[:-1]])
        a = nb.moveaxis(lines, 0, axis)
    found = nb.cumsum(a, axis=axis).astype(a.dtype)
    return tensor(nb.flip(found, axis) if reverse else found)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements in order along an axis."""
    named(name)
    found = nb.sort(value(values), axis=axis)
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(message("sort", "unknown direction", direction, "'ASCENDING'"))
    return tensor(found if direction == "ASCENDING" else nb.flip(found, axis))


def softmax(logits, axis=-1, name=None):
    """exp(x) as parts of its sum along an axis."""
    named(name)
    return tensor(_f.softmax(value(logits), axis))


def log_softmax(logits, axis=-1, name=None):
    """The logarithm of `softmax`."""
    named(name)
    return tensor(_f.log_softmax(value(logits), axis))


def leaky_relu(features, alpha=0.2, name=None):
    """x, or `alpha * x` below zero."""
    named(name)
    return tensor(_f.leaky_relu(value(features), alpha))


def gelu(features, approximate=False, name=None):
    """x times the normal distribution function."""
    named(name)
    return tensor(_f.gelu(value(features), "tanh" if approximate else "none"))


def dropout(x, rate, name=None):
    """Elements as 0 with the probability `rate`, others divided by 1 - rate."""
    named(name)
    return tensor(_f.dropout(value(x), float(rate), True))


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """-sum(labels * log_softmax(logits)) along an axis."""
    named(name)
    z = value(logits)
    p = value(labels, None if isinstance(labels, Tensor) else z.dtype)
    return tensor(-nb.sum(p * _f.log_softmax(z, axis), axis=axis))


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """-log_softmax(logits) at the label along the last axis."""
    named(name)
    z, k = value(logits), value(labels)
    logs = _f.log_softmax(z, -1)
    picked = nb.take_along_axis(logs, nb.expand_dims(k.astype("i8"), -1), axis=-1)
    return tensor(-nb.squeeze(picked, axis=-1))


def sigmoid_cross_entropy_with_logits(labels, logits, name=None):
    """max(z, 0) - z * labels + log(1 + exp(-|z|))."""
    named(name)
    z = value(logits)
    p = value(labels, None if isinstance(labels, Tensor) else z.dtype)
    return tensor(nb.maximum(z, 0) - z * p + nb.log1p(nb.exp(-nb.abs(z))))


def l2_loss(t, name=None):
    """Half the sum of squares."""
    named(name)
    a = value(t)
    return tensor(nb.sum(a * a) / a.dtype.type(2))


def drawn(kind, shape, seed):
    """Random numbers of the generator that `tf.random.set_seed` sets, float64."""
    if seed is not None:
        rng = nb.random.default_rng(int(seed))
    else:
        rng = generators.setdefault("now", nb.random.default_rng())
    return getattr(rng, kind)(size=sizes(shape))


generators = {}


def set_seed(seed):
    """Begins the random numbers anew, those of layers too; they are not TensorFlow's."""
    generators["now"] = nb.random.default_rng(int(seed))
    default_generator.manual_seed(int(seed))


def random_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Numbers of the normal distribution."""
    named(name)
    found = drawn("standard_normal", shape, seed) * stddev + mean
    return tensor(as_array(found).astype(as_numpy_dtype(dtype)))


def random_truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Normal numbers within two standard deviations."""
    named(name)
    from ...nn.init import erfinv

    edge = 0.9544997361036416  # erf(2 / sqrt(2))
    u = as_array(drawn("random", shape, seed)) * (2 * edge) - edge
    found = erfinv(u) * (2**0.5 * stddev) + mean
    return tensor(as_array(found).astype(as_numpy_dtype(dtype)))


def random_uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    """Numbers in [minval, maxval): floats below 1 by default, or integers."""
    named(name)
    t = as_numpy_dtype(dtype)
    u = as_array(drawn("random", shape, seed))
    if t.kind in "iu":
        if maxval is None:
            raise ValueError("Must specify maxval for integer dtype")
        return tensor((nb.floor(u * (maxval - minval)) + minval).astype(t))
    top = 1.0 if maxval is None else maxval
    return tensor((u * (top - minval) + minval).astype(t))


def shuffle(value_, seed=None, name=None):
    """The parts along the first axis in random order."""
    named(name)
    a = value(value_)
    order = nb.argsort(as_array(drawn("random", (a.shape[0],), seed)))
    return tensor(a[order])


def not_served(module, name):
    """Raises for a name, with the line."""
    return missing(module, name)


def _operator(name, reverse=False):
    function = BINARY[name]

    def method(self, other):
        if other is None or isinstance(other, str):
            return NotImplemented
        return function(other, self) if reverse else function(self, other)

    return method


def _attach():
    operators = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
        "floordiv": "floordiv", "mod": "floormod", "pow": "pow", "and": "logical_and",
        "or": "logical_or", "xor": "logical_xor",
    }  # fmt: skip
    for name, known in operators.items():
        setattr(Tensor, f"__{name}__", _operator(known))
        setattr(Tensor, f"__r{name}__", _operator(known, True))
    compared = {
        "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
        "ne": "not_equal",
    }  # fmt: skip
    for name, known in compared.items():
        setattr(Tensor, f"__{name}__", _operator(known))
    Tensor.__neg__ = UNARY["negative"]
    Tensor.__abs__ = UNARY["abs"]
    Tensor.__invert__ = UNARY["logical_not"]
    Tensor.__matmul__ = lambda self, other: matmul(self, other)
    Tensor.__rmatmul__ = lambda self, other: matmul(other, self)


_attach()
