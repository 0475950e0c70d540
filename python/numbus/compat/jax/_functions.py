"""How functions of Numbus become functions of jax.numpy: JAX's dtypes around the same work."""

import functools

import numpy

import numbus as nb

from ... import _core
from ..._core import generic, ndarray
from ...core.dtypes import kind_of
from ...core.errors import message
from . import _dtypes, _names
from ._array import Array, as_array, cast, converted, made, narrowed, plain, wrapped

_NUMBERS = (bool, int, float, complex)
_ARRAYS = (ndarray, generic, numpy.ndarray, numpy.generic)


def _node(x):
    if isinstance(x, Array):
        name = _dtypes.node(x.dtype)
        return f"{name[0]}*" if x.weak_type and name[0] in "ifc" else name
    if type(x) in _NUMBERS:
        return _dtypes.weak_node(x)
    return _dtypes.node(_dtypes.canonical(x.dtype))


def _operand(op, x):
    """An operand: arrays and numbers as they are. Raises TypeError for lists, as JAX does."""
    if type(x) is int:
        _dtypes.expect_fits(x, x, _dtypes.canonical("i8"))
    if isinstance(x, Array) or type(x) in _NUMBERS or isinstance(x, _ARRAYS):
        return x
    if hasattr(x, "__jax_array__"):
        return x.__jax_array__()
    raise TypeError(f"{op} requires ndarray or scalar arguments, got {type(x)}")


def expect_arrays(op, *operands):
    """Raises TypeError where one is a list, as JAX does."""
    for x in operands:
        _operand(op, x)


def together(op, operands, floating=False):
    """Operands in their common type as arrays and Python numbers, and whether that is weak."""
    first = operands[0]
    if type(first) is Array and not first.weak_type:
        t = first._a.dtype
        if (not floating or kind_of(t) in "fc") and all(
            [type(x) is Array and not x.weak_type and x._a.dtype == t for x in operands]
        ):
            return [x._a for x in operands], False
    operands = [_operand(op, x) for x in operands]
    name = functools.reduce(_dtypes.join, [_node(x) for x in operands])
    weak = _dtypes.strong(name)[1]
    t, _ = _dtypes.strong(_dtypes.inexact(name) if floating else name)
    numbers = [type(x) in _NUMBERS for x in operands]
    if all(numbers):
        return [nb.full((), x, dtype=t) for x in operands], weak
    made = [
        _number(x, t) if n else cast(as_array(plain(x)), t)
        for x, n in zip(operands, numbers, strict=True)
    ]
    return made, weak


def _number(x, t):
    if kind_of(t) in "fc" and not isinstance(x, complex):
        return float(x)
    return x


def _refuse(op, keywords):
    for name in ("out", "where", "casting", "order", "subok", "signature"):
        value = keywords.pop(name, None)
        if value is not None and not (name == "order" and value in ("K", "C")):
            raise NotImplementedError(
                message(f"jnp.{op}", f"{name}= is not yet available", type(value).__name__, "None")
            )


def _result(found, weak):
    if type(found) is tuple:
        return tuple([_result(item, weak) for item in found])
    a = narrowed(as_array(found))
    return Array(a, weak and kind_of(a.dtype) in "ifc")


_STEPS = frozenset("ceil floor floor_divide heaviside rint sign trunc".split())


def elementwise(name, floating):
    """A ufunc with JAX's promotion."""
    function = getattr(nb, name)

    steps = name in _STEPS

    def body(*args, **keywords):
        if keywords:
            _refuse(name, keywords)
            if keywords:
                raise TypeError(
                    f"{name}() got an unexpected keyword argument {next(iter(keywords))!r}"
                )
        operands, weak = together(name, args, floating)
        if steps:  # whose derivative is zero
            operands = [nb.stop_gradient(x) if hasattr(x, "dtype") else x for x in operands]
        try:
            return _result(function(*operands), weak)
        except ValueError:
            shapes = [numpy.shape(x) for x in operands]
            try:
                numpy.broadcast_shapes(*shapes)
            except ValueError:
                told = ", ".join(map(str, shapes))
                raise TypeError(
                    f"{name} got incompatible shapes for broadcasting: {told}."
                ) from None
            raise

    return _named(body, name, function)


def logical(name):
    """A function of truth values."""
    function = getattr(nb, name)

    def body(*args):
        return wrapped(function(*[plain(_operand(name, x)) for x in args]))

    return _named(body, name, function)


def _flat(x, found):
    if isinstance(x, (list, tuple)):
        for item in x:
            _flat(item, found)
    elif isinstance(x, Array) or isinstance(x, _ARRAYS) or type(x) in _NUMBERS:
        found.append(x)
    return found


def _cast_all(x, t):
    if type(x) in (list, tuple):
        return type(x)([_cast_all(item, t) for item in x])
    if isinstance(x, Array) or isinstance(x, _ARRAYS):
        return cast(as_array(plain(x)), t)
    return x


PRECISIONS = (None, "default", "high", "highest", "float32", "fastest", "bfloat16_3x")


def check_precision(op, precision, preferred_element_type=None):
    """Products are in the operands' precision, which every wish for less or more allows."""
    for one in precision if isinstance(precision, (tuple, list)) else (precision,):
        name = getattr(one, "name", one)
        if (name if name is None else str(name).lower()) not in PRECISIONS:
            raise ValueError(message(op, "unknown precision", precision, "'highest' or None"))
    if preferred_element_type is not None:
        return _dtypes.asked(preferred_element_type, op)
    return None


def accumulated(t, wanted):
    """The dtype in which products add up: that which is wanted of the result, if it holds more."""
    if wanted is None or kind_of(t) == "c" or wanted.itemsize < t.itemsize:
        return t
    return t if kind_of(t) == "f" and wanted.kind in "iu" else wanted


def joining(name):
    """A function whose arrays are taken to one type first."""
    function = getattr(nb, name)

    def body(*args, **keywords):
        _refuse(name, keywords)
        wanted = check_precision(
            f"jnp.{name}", keywords.pop("precision", None),
            keywords.pop("preferred_element_type", None),
        )  # fmt: skip
        if "dtype" in keywords:
            keywords["dtype"] = _dtypes.asked(keywords["dtype"], name)
        if name in _names.NO_LISTS:
            expect_arrays(name, *args[:2])
        if name in _names.OF_ARRAYS and args and isinstance(args[0], (list, tuple)):
            expect_arrays(name, *args[0])
        if name == "einsum" and args and isinstance(args[0], str):
            expect_arrays(name, *args[1:])
        if name == "select":
            expect_arrays(name, *[x for some in args[:2] for x in some])
        flat = _flat(args, [])
        for x in flat:
            if type(x) is int:
                _dtypes.expect_an_integer(x)
        flat = [x for x in flat if type(x) not in _NUMBERS]
        if flat:
            t, _ = _dtypes.strong(functools.reduce(_dtypes.join, [_node(x) for x in flat]))
            t = accumulated(t, wanted)
            args = tuple([_cast_all(x, t) for x in args])
        found = function(*args, **{key: plain(value) for key, value in keywords.items()})
        made = wrapped(found)
        return made if wanted is None else Array(cast(made._a, wanted))

    return _named(body, name, function)


def general(name, function=None):
    """A function that keeps the types of what it takes."""
    function = getattr(nb, name) if function is None else function

    def body(*args, **keywords):
        for refused in ("out", "order"):
            if keywords.get(refused) not in (None, "C"):
                raise NotImplementedError(
                    message(
                        f"jnp.{name}", f"{refused}= is not supported", keywords[refused], "None"
                    )
                )
            keywords.pop(refused, None)
        for size in ("size", "fill_value", "total_repeat_length"):
            if keywords.get(size) is not None:
                raise NotImplementedError(
                    message(f"jnp.{name}", f"{size}= is not yet available", keywords[size],
                            "None: shapes may depend on values here")
                )  # fmt: skip
            keywords.pop(size, None)
        if "dtype" in keywords:
            keywords["dtype"] = _dtypes.asked(keywords["dtype"], name)
        if args and name in _names.NO_LISTS:
            expect_arrays(name, *args[: 2 if name in _names.NO_LISTS_BUT_ARRAYS else 1])
        if name == "meshgrid":
            expect_arrays(name, *args)
        given = {key: plain(value) for key, value in keywords.items()}
        weak = bool(args) and (
            args[0].weak_type if isinstance(args[0], Array) else type(args[0]) in _NUMBERS[1:]
        )
        if name in _MEANS and args:
            args = (_inexact(args[0]), *args[1:])
        t = keywords.get("dtype")
        if name in _INTO and args and t is not None and t.kind in "iu":
            args = (Array(converted(as_array(plain(args[0])), t)), *args[1:])
        made = wrapped(function(*[plain(x) for x in args], **given))
        if name in _QUANTILES and len(args) > 1:  # a number among them does not widen the type
            q = args[1] if hasattr(args[1], "dtype") else 0.5
            t = _dtypes.strong(_dtypes.inexact(_dtypes.join(_node(args[0]), _node(q))))[0]
            made = Array(cast(made._a, t), made.weak_type)
        if weak and isinstance(made, Array) and "dtype" not in given:
            same = made.dtype.kind == _dtypes.canonical(as_array(plain(args[0])).dtype).kind
            made.weak_type = name in _KEEP_WEAK and same
        return made

    return _named(body, name, function)


def _inexact(x):
    x = made(x)
    t, _ = _dtypes.strong(_dtypes.inexact(_dtypes.node(x.dtype)))
    return Array(cast(x._a, t), x.weak_type)


_MEANS = frozenset(
    "average mean median nanmean nanmedian nanpercentile nanquantile nanstd nanvar percentile "
    "quantile std var".split()
)
_QUANTILES = frozenset("quantile percentile nanquantile nanpercentile".split())
# These convert the elements to `dtype=` first.
_INTO = frozenset("sum prod nansum nanprod cumsum cumprod nancumsum nancumprod".split())
_KEEP_WEAK = frozenset(
    "sum prod max min amax amin mean reshape ravel transpose squeeze expand_dims round".split()
)


def making(name):
    """A function that makes arrays of float32 or int32, unless a dtype is asked for."""
    function = getattr(nb, name)

    def body(*args, **keywords):
        keywords.pop("device", None) if keywords.get("device") is None else _not_here(name)
        dtype = keywords.pop("dtype", None)
        if name == "linspace":
            expect_arrays(name, *args[:2])
            if dtype is None and any([hasattr(x, "dtype") for x in args[:2]]):
                known = functools.reduce(_dtypes.join, [_node(x) for x in args[:2]])
                dtype = _dtypes.strong(_dtypes.inexact(known))[0]
        args = [_dtypes.asked(x, name) if _is_dtype(x) else plain(x) for x in args]
        given = {key: plain(value) for key, value in keywords.items()}
        if dtype is not None:
            given["dtype"] = _dtypes.asked(dtype, name)
        return wrapped(function(*args, **given))

    return _named(body, name, function)


def _is_dtype(x):
    return isinstance(x, (type, numpy.dtype, _dtypes.Scalar)) or (
        isinstance(x, str) and x not in ("ij", "xy")
    )


def _not_here(name):
    raise NotImplementedError(
        message(f"jnp.{name}", "device= is not yet available", "a device", "jax.device_put")
    )


def silent(body):
    """A function that does not warn of floating-point errors: JAX has no such warnings."""

    @functools.wraps(body)
    def wrapper(*args, **keywords):
        before = _core.check_float_errors(False, 0)
        try:
            return body(*args, **keywords)
        finally:
            _core.restore_float_errors(before)

    return wrapper


def _named(body, name, function):
    body.__name__ = body.__qualname__ = name
    body.__module__ = "jax.numpy"
    body.__doc__ = getattr(function, "__doc__", None)
    made = silent(body)
    del made.__wrapped__
    return made
