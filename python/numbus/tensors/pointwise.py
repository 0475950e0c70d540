"""Functions of each element, and operators."""

import math
import operator

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import is_half, kind_of
from ..core.errors import message
from ..core.operands import to_ndarray
from ..core.quick import quick
from ..functions import special
from . import _dtypes
from ._arrays import (
    array,
    as_dtype,
    floating,
    in_single,
    is_number,
    no_out,
    one_of,
    together,
    without_slope,
)
from ._functions import FLOATS, NUMBERS, in_place, method, pure_function, tensor_function
from ._tensor import Tensor

_made = {}
# Functions of NumPy that take floats as PyTorch's do.
_DIRECT = {
    name: getattr(nb, name)
    for name in (
        "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh",
        "cosh", "tanh",
    )
} | {"neg": nb.negative, "abs": nb.absolute}  # fmt: skip
# Functions of two operands under NumPy's names; of any numbers of one dtype, or of floats alone.
_SAME = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "true_divide", "pow": "power",
    "maximum": "maximum", "minimum": "minimum", "eq": "equal", "ne": "not_equal", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_ANY = {"add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"}


def _publish(name, function):
    function.__name__ = function.__qualname__ = name
    _made[name] = globals()[name] = function
    setattr(Tensor, name, function)


def _unary(name, body, doc):
    """A function and a method `name(x)`, and the method `name_()` that replaces the elements."""

    def plain(input, *, out=None):
        no_out(name, out)
        return body(input if hasattr(input, "dtype") else array(input))

    plain.__doc__ = doc
    direct = _DIRECT.get(name)
    function = tensor_function(plain, direct, FLOATS) if direct else pure_function(plain)
    _publish(name, function)

    def change(a):
        made = body(a)
        _fits(name + "_", made, a)
        a[...] = made

    setattr(Tensor, name + "_", in_place(_named(change, name + "_", doc + " In place.")))


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _of_floats(function):
    return lambda a: function(floating(a))


for _name, _doc in {
    "exp": "e to the power of each element.",
    "expm1": "exp(x) - 1, exact near zero.",
    "exp2": "2 to the power of each element.",
    "log": "The natural logarithm.",
    "log1p": "log(1 + x), exact near zero.",
    "log2": "The logarithm to base 2.",
    "log10": "The logarithm to base 10.",
    "sqrt": "The square root.",
    "sin": "The sine of angles in radians.",
    "cos": "The cosine of angles in radians.",
    "tan": "The tangent of angles in radians.",
    "sinh": "The hyperbolic sine.",
    "cosh": "The hyperbolic cosine.",
    "tanh": "The hyperbolic tangent.",
    "deg2rad": "Degrees in radians.",
    "rad2deg": "Radians in degrees.",
}.items():
    _unary(_name, _of_floats(getattr(nb, _name)), _doc)
for _name, _function in {
    "asin": nb.arcsin, "acos": nb.arccos, "atan": nb.arctan, "asinh": nb.arcsinh,
    "acosh": nb.arccosh, "atanh": nb.arctanh,
}.items():  # fmt: skip
    _unary(_name, _of_floats(_function), f"The inverse of {_name[1:]}.")
arcsin, arccos, arctan = _made["asin"], _made["acos"], _made["atan"]
Tensor.arcsin, Tensor.arccos, Tensor.arctan = arcsin, arccos, arctan


def _erf(name):
    function = getattr(special, name)

    def body(a):
        a = floating(a)
        return as_dtype(function(a), a.dtype)

    return body


for _name, _own, _doc in (
    ("erf", "erf", "The error function."),
    ("erfc", "erfc", "1 - erf(x)."),
    ("lgamma", "gammaln", "The logarithm of the gamma function's magnitude."),
    ("sigmoid", "expit", "1 / (1 + exp(-x))."),
):
    _unary(_name, _erf(_own), _doc)


def _logit(a, eps=None):
    a = floating(a)
    if eps is not None:
        a = _clamp(a, eps, 1 - eps)
    return as_dtype(special.logit(a), a.dtype)


@method()
@tensor_function
def logit(input, eps=None, *, out=None):
    """log(x / (1 - x)), of numbers between `eps` and 1 - eps where that is given."""
    no_out("logit", out)
    return _logit(input, eps)


def _logit_in_place(a, eps=None):
    """log(x / (1 - x)). In place."""
    a[...] = _logit(a, eps)


Tensor.logit_ = in_place(_logit_in_place)


def _sign(a):
    """Of NaN 0, as in PyTorch."""
    if kind_of(a.dtype) == "f":
        return nb.where(a != a, nb.zeros((), dtype=a.dtype), nb.sign(a))
    return a if a.dtype.kind == "b" else nb.sign(a)


def _whole(function):
    """Of integers the elements themselves."""
    return lambda a: function(a) if kind_of(a.dtype) in "fc" else +a if a.dtype.kind != "b" else a


for _name in ("floor", "ceil", "trunc"):
    _unary(
        _name, _whole(without_slope(getattr(nb, _name))), f"{_name.capitalize()} of each element."
    )
_unary("neg", nb.negative, "The elements with the other sign.")
_unary("positive", nb.positive, "The elements themselves.")
_unary("abs", nb.absolute, "The magnitude of each element.")
_unary(
    "square",
    lambda a: nb.power(as_dtype(a, numpy.dtype("i8")) if a.dtype.kind == "b" else a, 2),
    "The square of each element.",
)
_unary("sign", without_slope(_sign), "-1, 0 or 1.")
_unary("reciprocal", lambda a: 1 / floating(a), "1 / x.")
_unary("rsqrt", lambda a: 1 / nb.sqrt(floating(a)), "1 / sqrt(x).")
_unary("frac", lambda a: a - without_slope(nb.trunc)(a), "The part after the point, signed as x.")
_unary("logical_not", nb.logical_not, "Whether each element is zero.")
_unary("bitwise_not", nb.invert, "The elements with all bits changed.")
_unary("isnan", nb.isnan, "Whether each element is no number.")
_unary("isinf", nb.isinf, "Whether each element is infinite.")
_unary("isfinite", nb.isfinite, "Whether each element is finite.")
_unary("signbit", nb.signbit, "Whether each element's sign is minus.")


def _angle(a):
    """That of real numbers is a step: it has no slope."""
    return (nb.angle if kind_of(a.dtype) == "c" else without_slope(nb.angle))(floating(a))


_unary("angle", _angle, "The angle of complex numbers in radians.")


def _conj(a):
    if kind_of(a.dtype) == "c":
        return nb.conjugate(a)
    return a if a.dtype.kind == "b" else +a


_unary("conj", _conj, "The complex conjugate.")
negative, absolute = _made["neg"], _made["abs"]
Tensor.negative = Tensor.neg
Tensor.absolute = Tensor.abs


def _relu(a):
    # Of equal operands a maximum shares its derivative; PyTorch's is zero at zero. NaN stays.
    return nb.where(a <= 0, nb.zeros((), dtype=a.dtype), a)


_unary("relu", _relu, "max(x, 0); the derivative at 0 is 0.")
del Tensor.isnan_, Tensor.isinf_, Tensor.isfinite_, Tensor.signbit_, Tensor.angle_


def _round(a, decimals=0):
    return without_slope(nb.round)(a, decimals) if kind_of(a.dtype) in "fc" else a


@method()
@tensor_function
def round(input, *, decimals=0):
    """The nearest whole number, of two equally near ones the even one; or so many decimals."""
    return _round(input, decimals)


def _true_divide(x, y):
    x, y = together(x, y)
    if _kind(x) in "iub" and _kind(y) in "iub":
        x, y = as_float(x), as_float(y)
    return nb.true_divide(x, y)


def _kind(x):
    if is_number(x) and isinstance(x, int):
        return "i"
    return kind_of(getattr(x, "dtype", numpy.dtype("f8")))


def as_float(x):
    return float(x) if is_number(x) else floating(x)


def _divide(x, y, rounding_mode=None):
    if rounding_mode is None:
        return _true_divide(x, y)
    if rounding_mode == "floor":
        return without_slope(nb.floor_divide)(*together(x, y))
    if rounding_mode == "trunc":
        x, y = together(x, y)
        if _kind(x) == "f" or _kind(y) == "f":
            return without_slope(nb.trunc)(nb.true_divide(x, y))
        whole = nb.floor_divide(x, y)
        return whole + as_dtype((whole < 0) & (whole * y != x), whole.dtype)
    raise RuntimeError(
        message("div", "unknown rounding_mode", rounding_mode, "None, 'trunc' or 'floor'")
    )


def _scaled(function):
    def body(x, y, alpha=1):
        if function is nb.subtract and "b" in (_kind(x), _kind(y)):
            raise RuntimeError(
                message("sub", "truth values cannot be subtracted", "dtype bool", "x ^ y or ~x")
            )
        if alpha == 1:
            return function(*together(x, y))
        if isinstance(alpha, float) and _kind(x) in "iub" and _kind(y) in "iub":
            raise RuntimeError(
                message("add", "alpha is no integer for tensors of integers", alpha, "an integer")
            )
        if is_number(y):
            return function(*together(x, y * alpha))
        x, y = together(x, y)
        return function(x, as_dtype(y * alpha, y.dtype))

    return body


def _simple(function):
    return lambda x, y: function(*together(x, y))


def _logical(function):
    return lambda x, y: function(x, y)


def _power(x, y):
    x, y = together(x, y)
    if _kind(x) in "iu" and is_number(y) and isinstance(y, int) and y < 0:
        raise RuntimeError(
            message("pow", "integers to negative integer powers are no integers", y,
                    "a floating-point base or exponent")
        )  # fmt: skip
    if _kind(y) in "iu" and not is_number(y) and _kind(x) in "iub":
        # Of integers, the whole part: 1 and -1 keep their magnitude, others vanish.
        odd = as_dtype(y % 2 != 0, y.dtype)
        small = nb.where(nb.equal(x, 1), 1, nb.where(nb.equal(x, -1), 1 - 2 * odd, 0))
        return nb.where(y < 0, as_dtype(small, y.dtype), nb.power(x, nb.maximum(y, 0)))
    return nb.power(x, y)


def _multiply(x, y):
    return nb.multiply(*together(x, y))


def _atan2(y, x):
    """The derivative at the origin is zero, as PyTorch's is."""
    y, x = map(as_float, together(y, x))
    if not _core.watching() or not any([_core.depends(a) for a in (y, x) if hasattr(a, "dtype")]):
        return nb.arctan2(y, x)
    origin = (y == 0) & (x == 0)
    found = nb.arctan2(nb.stop_gradient(y), nb.stop_gradient(x))
    safe = nb.where(origin, nb.ones((), dtype=found.dtype), x)
    return nb.where(origin, found, nb.arctan2(y, safe))


_BINARY = {
    # name: (body, other names, doc)
    "add": (_scaled(nb.add), (), "x + alpha * y."),
    "sub": (_scaled(nb.subtract), ("subtract",), "x - alpha * y."),
    "mul": (_multiply, ("multiply",), "x * y."),
    "div": (_divide, ("divide", "true_divide"), "x / y, floating point; or rounded."),
    "floor_divide": (_simple(without_slope(nb.floor_divide)), (), "floor(x / y)."),
    "pow": (_power, (), "x to the power of y."),
    "remainder": (_simple(nb.remainder), (), "x - y * floor(x / y), of the sign of y."),
    "fmod": (_simple(nb.fmod), (), "The remainder of the sign of x."),
    "atan2": (_atan2, ("arctan2",),
              "The angle of the point (y, x)."),
    "maximum": (_simple(nb.maximum), (), "The larger of two elements; NaN where one is."),
    "minimum": (_simple(nb.minimum), (), "The smaller of two elements; NaN where one is."),
    "fmax": (_simple(nb.fmax), (), "The larger of two elements; a number where one is NaN."),
    "fmin": (_simple(nb.fmin), (), "The smaller of two elements; a number where one is NaN."),
    "hypot": (_simple(nb.hypot), (), "sqrt(x² + y²)."),
    "logaddexp": (_simple(nb.logaddexp), (), "log(exp(x) + exp(y))."),
    "copysign": (lambda x, y: nb.copysign(*map(as_float, together(x, y))), (),
                 "The magnitude of x with the sign of y."),
    "eq": (_simple(nb.equal), (), "x == y."),
    "ne": (_simple(nb.not_equal), ("not_equal",), "x != y."),
    "lt": (_simple(nb.less), ("less",), "x < y."),
    "le": (_simple(nb.less_equal), ("less_equal",), "x <= y."),
    "gt": (_simple(nb.greater), ("greater",), "x > y."),
    "ge": (_simple(nb.greater_equal), ("greater_equal",), "x >= y."),
    "logical_and": (_logical(nb.logical_and), (), "Whether both are not zero."),
    "logical_or": (_logical(nb.logical_or), (), "Whether one is not zero."),
    "logical_xor": (_logical(nb.logical_xor), (), "Whether exactly one is not zero."),
    "bitwise_and": (_simple(nb.bitwise_and), (), "The bits that both have."),
    "bitwise_or": (_simple(nb.bitwise_or), (), "The bits that one has."),
    "bitwise_xor": (_simple(nb.bitwise_xor), (), "The bits that exactly one has."),
    "bitwise_left_shift": (_simple(nb.left_shift), (), "x * 2^y of integers."),
    "bitwise_right_shift": (_simple(nb.right_shift), (), "floor(x / 2^y) of integers."),
}  # fmt: skip
_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}


def _fits(op, made, a):
    """Whether a result may be stored in an array's dtype."""
    if _dtypes._category(made.dtype) > _dtypes._category(a.dtype):
        raise RuntimeError(
            message(op, "the result cannot be stored in the tensor's dtype", made.dtype, a.dtype)
        )


def _exponent_named(body):
    """PyTorch's names of the operands of `pow`: `exponent`, and `self` beside a number as base."""

    def plain(input=None, exponent=None, *, out=None, self=None):
        no_out("pow", out)
        return body(one_of("pow", input, self), one_of("pow", exponent))

    return plain


def _binary(name, body, others, doc):
    def plain(input, other, *, out=None, **keywords):
        no_out(name, out)
        return body(input, other, **keywords)

    if name == "pow":
        plain = _exponent_named(body)
    plain.__doc__ = doc
    direct = getattr(nb, _SAME.get(name, name), None) if name in _ANY or name in _SAME else None
    function = tensor_function(plain, direct, NUMBERS if name in _ANY else FLOATS)
    _publish(name, function)
    for other in others:
        globals()[other] = function
        _made[other] = function
        setattr(Tensor, other, function)
    if name in _COMPARISONS:
        return

    def change(a, other=None, *, exponent=None, **keywords):
        if exponent is not None or other is None:
            other = one_of(name + "_", other, exponent if name == "pow" else None)
        made = body(a, other, **keywords)
        _fits(name + "_", made, a)
        a[...] = made

    changing = in_place(_named(change, name + "_", doc + " In place."))
    for other in (name, *others):
        setattr(Tensor, other + "_", changing)


for _name, (_body, _others, _doc) in _BINARY.items():
    _binary(_name, _body, _others, _doc)

_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
_TYPES = (Tensor, bool, int, float, complex, numpy.number, _dtypes.bfloat16.numpy.type, numpy.bool_)


def with_array(name, tensor, other):
    """What NumPy's operator gives for the elements and an array, as a tensor; else NotImplemented.

    RuntimeError for a tensor that requires a gradient, whose derivative it would not have.
    """
    if not isinstance(other, (numpy.ndarray, nb.ndarray)):
        return NotImplemented
    if tensor.requires_grad:
        raise RuntimeError(
            message(name, "an array beside a tensor that requires a gradient",
                    type(other).__name__, "from_numpy(array), or x.detach()")
        )  # fmt: skip
    symbol = getattr(operator, name, None) or getattr(operator, name + "_")
    return Tensor._of(symbol(tensor._array, to_ndarray(other)))


def _operator(name, function):
    """Operators take tensors and numbers, and leave the rest to the other operand."""

    def forward(self, other):
        if isinstance(other, _TYPES):
            return function(self, other)
        return with_array(name, self, other)

    def reflected(self, other):
        return function(other, self) if isinstance(other, _TYPES) else NotImplemented

    setattr(Tensor, f"__{name}__", forward)
    setattr(Tensor, f"__r{name}__", reflected)
    changing = getattr(Tensor, _OPERATORS[name] + "_")

    def change(self, other):
        return changing(self, other) if isinstance(other, _TYPES) else NotImplemented

    setattr(Tensor, f"__i{name}__", change)


for _name, _function in _OPERATORS.items():
    _operator(_name, _made[_function])


def _comparison(name):
    function = _made[name]

    def compare(self, other):
        if isinstance(other, _TYPES):
            return function(self, other)
        return with_array(name, self, other)

    setattr(Tensor, f"__{name}__", compare)


for _name in sorted(_COMPARISONS):
    _comparison(_name)
Tensor.__hash__ = object.__hash__
Tensor.__neg__ = Tensor.neg
Tensor.__pos__ = Tensor.positive
Tensor.__abs__ = Tensor.abs
Tensor.__invert__ = Tensor.bitwise_not


def _limit(a, x):
    return x if x is None or is_number(x) else as_dtype(x, a.dtype)


def _clamp(a, min=None, max=None):
    if min is None and max is None:
        raise ValueError(message("clamp", "no limits", "min=None, max=None", "one of them"))
    limits = [x for x in (min, max) if x is not None]
    _limits_fit(a, limits)
    t = _dtypes.common([a, *limits])
    a = as_dtype(a, t)
    if kind_of(t) == "f" and _core.watching() and _core.depends(a):
        a = nb.where(nb.isnan(a), math.nan, a)  # NaN has no slope here
    if min is not None:
        a = nb.where(_is_limited(a < min, min, t), _limit_like(min, t), a)
    if max is not None:
        a = nb.where(_is_limited(a > max, max, t), _limit_like(max, t), a)
    return a


def _limits_fit(a, limits):
    for x in limits:
        if is_number(x) and not isinstance(x, (int, float, complex, numpy.generic)):
            raise TypeError(message("clamp", "a limit is not a number", type(x).__name__,
                                    "numbers, tensors or None"))  # fmt: skip
    for x in (a, *limits):
        kind = numpy.asarray(x).dtype.kind if is_number(x) else kind_of(x.dtype)
        if kind == "c":
            raise RuntimeError(message("clamp", "complex numbers have no order", "complex numbers",
                                       "real ones"))  # fmt: skip


def _is_limited(beyond, limit, t):
    # A limit that is NaN makes NaN, as a number and in a tensor.
    if kind_of(t) != "f":
        return beyond
    if is_number(limit):
        return beyond if limit == limit else beyond | True
    return beyond | nb.isnan(limit)


def _limit_like(x, t):
    return nb.full((), x, dtype=t) if is_number(x) else as_dtype(x, t)


@method()
@pure_function
@quick("clamp")
def clamp(input, min=None, max=None, *, out=None):
    """The elements within limits, numbers or tensors; NaN stays."""
    no_out("clamp", out)
    return _clamp(input, min, max)


clip = clamp
Tensor.clip = clamp


def _clamp_in_place(a, min=None, max=None):
    """The elements within limits. In place."""
    made = _clamp(a, min, max)
    if kind_of(made.dtype) == "f" and kind_of(a.dtype) != "f":
        raise RuntimeError(
            message("clamp_", "the result cannot be cast to the tensor", made.dtype, a.dtype)
        )
    a[...] = made


Tensor.clamp_ = Tensor.clip_ = in_place(_clamp_in_place)


@pure_function
def where(condition, input=None, other=None):
    """`input` where the condition holds, else `other`; of the condition alone, indices."""
    if input is None and other is None:
        return tuple(nb.nonzero(condition))
    t = _dtypes.common([input, other])
    return nb.where(condition, _limit_like(input, t), _limit_like(other, t))


Tensor.where = lambda self, condition, other: where(condition, self, other)


@method()
@tensor_function
@in_single(True)
def lerp(input, end, weight):
    """input + weight * (end - input)."""
    return input + weight * (end - input)


@method()
@tensor_function
@in_single(True)
def addcmul(input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 * tensor2."""
    return input + as_dtype(_scaled_by(value, tensor1 * tensor2), input.dtype)


@method()
@tensor_function
@in_single(True)
def addcdiv(input, tensor1, tensor2, *, value=1):
    """input + value * tensor1 / tensor2."""
    if kind_of(input.dtype) not in "fc":
        raise RuntimeError(
            message("addcdiv", "integers are not divided here", input.dtype, "floating point")
        )
    return input + _scaled_by(value, tensor1 / tensor2)


def _scaled_by(value, x):
    return x if is_number(value) and value == 1 else value * x


def _lerp_in_place(a, end, weight):
    """input + weight * (end - input). In place."""
    a += weight * (end - a)


def _addcmul_in_place(a, tensor1, tensor2, *, value=1):
    """input + value * tensor1 * tensor2. In place."""
    a += _scaled_by(value, tensor1 * tensor2)


def _addcdiv_in_place(a, tensor1, tensor2, *, value=1):
    """input + value * tensor1 / tensor2. In place."""
    a += _scaled_by(value, tensor1 / tensor2)


Tensor.lerp_ = in_place(_lerp_in_place)
Tensor.addcmul_ = in_place(_addcmul_in_place)
Tensor.addcdiv_ = in_place(_addcdiv_in_place)


def _fills(op, mask, value):
    if mask.dtype.kind != "b":
        raise RuntimeError(message(op, "the mask is not of bool", mask.dtype, "bool"))
    if not is_number(value) and value.ndim:
        raise RuntimeError(
            message(op, "the value is not one element", f"{value.ndim} dimensions", "a 0-d tensor")
        )


@method()
@pure_function
def masked_fill(input, mask, value):
    """The elements with `value`, a number or a 0-d tensor, where the mask holds."""
    _fills("masked_fill", mask, value)
    return nb.where(mask, _limit_like(value, input.dtype), input)


def _masked_fill(a, mask, value):
    """`value` where the mask holds. In place."""
    _fills("masked_fill_", mask, value)
    nb.copyto(a, _limit_like(value, a.dtype), where=mask)


Tensor.masked_fill_ = in_place(_masked_fill)


@tensor_function
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |x - y| <= atol + rtol * |y|."""
    return nb.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


Tensor.isclose = isclose


@method()
@tensor_function
def nan_to_num(input, nan=0.0, posinf=None, neginf=None):
    """The elements with numbers in place of NaN and infinities."""
    return nb.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


@method()
@pure_function
def softmax(input, dim=None, dtype=None):
    """exp(x) / sum(exp(x)) along a dimension."""
    return _softmax(input, dim, dtype)


def _softmax(x, dim, dtype=None):
    x = floating(x) if dtype is None else as_dtype(x, _dtypes.to_numpy(dtype))
    axis = -1 if dim is None else dim
    if is_half(x.dtype):
        return _softmax(x.astype("f4"), dim).astype(x.dtype)
    if x.ndim == 0:
        return nb.ones_like(x) * nb.exp(x - x)
    if x.size == 0:
        return x.copy()
    e = nb.exp(x - nb.stop_gradient(nb.max(x, axis=axis, keepdims=True)))
    return e / nb.sum(e, axis=axis, keepdims=True)


@method()
@pure_function
def log_softmax(input, dim=None, dtype=None):
    """The logarithm of softmax along a dimension."""
    x = floating(input) if dtype is None else as_dtype(input, _dtypes.to_numpy(dtype))
    axis = -1 if dim is None else dim
    if x.ndim == 0:
        return x - x
    if x.size == 0:
        return x.copy()
    x = x - nb.stop_gradient(nb.max(x, axis=axis, keepdims=True))
    return x - nb.log(nb.sum(nb.exp(x), axis=axis, keepdims=True))
