"""jax.numpy: Numbus's functions with JAX's dtypes, of arrays that nothing is written to."""

import functools as _functools
import importlib as _importlib
import re as _re
import sys as _sys

import numpy as _numpy

import numbus as _nb

from ...._core import ndarray as _ndarray
from ....core import dtypes
from ....core.dtypes import kind_of
from ..._missing import missing as _missing
from .. import _dtypes, _names
from .._array import Array, as_array, cast, converted, late, made, plain, wrapped
from .._functions import (
    _node,
    elementwise,
    expect_arrays,
    general,
    joining,
    logical,
    making,
    together,
)
from .._transforms import vmap as _vmap
from ._further import (  # noqa: F401
    _strong,
    absolute,
    angle,
    append,
    argwhere,
    around,
    average,
    bincount,
    choose,
    concat,
    concatenate,
    convolve,
    corrcoef,
    correlate,
    cov,
    diff,
    flatnonzero,
    float_power,
    fmax,
    fmin,
    frexp,
    gradient,
    heaviside,
    insert,
    intersect1d,
    iscomplex,
    isreal,
    kron,
    ldexp,
    modf,
    nan_to_num,
    nonzero,
    place,
    put,
    put_along_axis,
    repeat,
    roots,
    round,
    searchsorted,
    select,
    setdiff1d,
    setxor1d,
    spacing,
    stack,
    take,
    take_along_axis,
    trapezoid,
    union1d,
    unique,
    unravel_index,
    vander,
)

__name__ = "jax.numpy"
ndarray = Array
abs = absolute
bool = bool_ = _dtypes.Scalar("bool")
for _name in _names.SCALARS[1:]:
    globals()[_name] = _dtypes.Scalar(_name)


class _Word(_dtypes.Scalar):
    """A dtype that has 32 bits, or 64 where they exist."""

    def __init__(self, kind):
        self._wide = _numpy.dtype(kind)
        self.__name__ = self.name = self._wide.name

    dtype = property(lambda self: _dtypes.canonical(self._wide))


int_, uint, float_, complex_ = _Word("i8"), _Word("u8"), _Word("f8"), _Word("c16")
single, double = globals()["float32"], globals()["float64"]
csingle, cdouble = globals()["complex64"], globals()["complex128"]


def _function(name):
    if name in _names.FLOATING or name in _names.COMMON:
        return elementwise(name, name in _names.FLOATING)
    if name in _names.LOGICAL:
        return logical(name)
    if name in _names.JOINING:
        return joining(name)
    if name in _names.PLAIN:
        return general(name)
    return making(name)


def __getattr__(name):
    if name in ("linalg", "fft"):
        return _importlib.import_module(f"{__package__}.{name}")
    if name in _ALL:
        value = _function(name)
    elif name in _names.CONSTANTS:
        value = getattr(_numpy, name)
    else:
        return _missing("jax.numpy", name)
    globals()[name] = value
    return value


_ALL = frozenset().union(
    _names.FLOATING, _names.COMMON, _names.LOGICAL, _names.JOINING, _names.PLAIN, _names.MAKING
)


def __dir__():
    return sorted({*globals(), *_names.CONSTANTS, *_ALL})


def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None):
    """An array of numbers, lists or arrays: float32, int32, complex64 or bool unless `dtype` says
    so. Raises NotImplementedError for `device`.
    """
    return _shaped(object, dtype, order, ndmin, device, copy)


def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """As `array`; arrays of JAX's are returned as they are."""
    return _shaped(a, dtype, order, 0, device, copy)


def _shaped(x, dtype, order, ndmin, device, copy):
    if order not in (None, "K", "C") or device is not None:
        raise NotImplementedError(
            f"[jnp.array] an order or a device is not yet available; got {order!r}, {device!r}; "
            "expected the default (jax.device_put moves arrays)"
        )
    if copy is False and not isinstance(x, Array):
        raise ValueError(
            f"[jnp.array] an array of JAX's is always a copy; got copy=False of a "
            f"{type(x).__name__}; expected copy=None"
        )
    t = None if dtype is None else _dtypes.asked(dtype, "array")
    found = made(x, t)
    if found.ndim < ndmin:
        found = found.reshape((1,) * (ndmin - found.ndim) + found.shape)
    return found


def _like(name):
    function = getattr(_nb, name)

    def body(a, *value, dtype=None, shape=None):
        t = None if dtype is None else _dtypes.asked(dtype, name)
        value = [v if type(v) is int else plain(v) for v in value]
        expect_arrays(name, a)
        x = made(a)
        if value and type(value[0]) is not int:  # a float may be beyond an integer type
            filled = converted(as_array(made(value[0])._a), t or x.dtype)
            shape = x.shape if shape is None else shape
            return Array(as_array(_nb.broadcast_to(filled, shape)), x.weak_type and dtype is None)
        if shape is None:
            found = function(x._a, *value, dtype=t)
        else:
            found = getattr(_nb, name.removesuffix("_like"))(shape, *value, dtype=t or x.dtype)
        return Array(as_array(found), x.weak_type and dtype is None)

    body.__name__ = name
    body.__doc__ = f"`{name.removesuffix('_like')}` of the shape and dtype of an array."
    return body


zeros_like, ones_like = _like("zeros_like"), _like("ones_like")
empty_like, full_like = _like("empty_like"), _like("full_like")


def full(shape, fill_value, dtype=None):
    """An array of one value, whose type it has unless `dtype` says so."""
    t = None if dtype is None else _dtypes.asked(dtype, "full")
    if type(fill_value) is int:  # it wraps, as JAX's does
        value = made(_numpy.asarray(fill_value), t)
        value.weak_type = t is None
    else:
        value = made(fill_value)
        value = value if t is None else Array(converted(value._a, t))
    found = _nb.full(plain(shape), value._a, dtype=value.dtype)
    return Array(as_array(found), value.weak_type)


def astype(x, dtype, /, *, copy=False):
    """The array in another dtype."""
    t = _dtypes.canonical(_dtypes.asked(dtype, "astype") if dtype is not None else "f8")
    x = made(x)
    found = converted(x._a, t)
    return Array(_nb.array(found) if copy else found)


def copy(a, order=None):
    """The array itself: nothing is written to it."""
    return _shaped(a, None, order, 0, None, None)


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """Elements of `x` where the condition holds, of `y` elsewhere; of the condition alone, the
    indices where it holds, `size` of them as `nonzero` gives.
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError("Either both or neither of the x and y arguments should be provided to "
                         "jax.numpy.where")  # fmt: skip
    if size is not None or fill_value is not None:
        raise ValueError("size and fill_value arguments cannot be used in three-term where "
                         "function.")  # fmt: skip
    (x, y), weak = together("where", (x, y))
    found = as_array(_nb.where(plain(condition), x, y))
    t = next((v.dtype for v in (x, y) if hasattr(v, "dtype")), found.dtype)
    return Array(cast(found, t), weak)


def clip(arr=None, /, min=None, max=None):
    """Elements between bounds, which may be None."""
    given = [x for x in (min, max) if x is not None]
    if not given:
        return made(arr)
    operands, weak = together("clip", (arr, *given))
    rest = iter(operands[1:])
    low, high = [None if x is None else next(rest) for x in (min, max)]
    return Array(as_array(_nb.clip(operands[0], low, high)), weak)


def reshape(a, shape, order="C", *, copy=None):
    """The elements under another shape; in C order."""
    if order not in ("C", "F"):
        raise NotImplementedError(f"[jnp.reshape] order {order!r} is not yet available; got "
                                  f"{order!r}; expected 'C' or 'F'")  # fmt: skip
    expect_arrays("reshape", a)
    x = made(a)
    if order == "F":
        sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
        turned = _nb.transpose(x._a).reshape(tuple(plain(list(sizes)))[::-1])
        return Array(as_array(_nb.transpose(turned)), x.weak_type)
    if x.size == 0 or not copy:
        return Array(x._a.reshape(plain(shape)), x.weak_type)
    return Array(_nb.array(x._a.reshape(plain(shape))), x.weak_type)


def ravel(a, order="C"):
    """The elements along one axis."""
    expect_arrays("ravel", a)
    return reshape(a, -1, order)


def positive(x, /):
    """The array itself."""
    return made(x)


def rint(x, /):
    """The nearest whole numbers, of integers as floats."""
    (a,), _ = together("rint", (x,), True)
    return Array(as_array(_nb.rint(a)))


log2, log10 = _strong("log2"), _strong("log10")


def _of_integers(name):
    """A function of truth values as integers; a power of a Python number is not weak."""
    function = elementwise(name, False)

    def body(*args):
        known = [_known(x) for x in args]
        if len([x for x in known if _is_bool(x)]) == len(known):
            args = [x.astype("int32") for x in known]
        if name == "power" and isinstance(args[-1], _numpy.integer):
            args = [*args[:-1], int(args[-1])]
        found = function(*args)
        # A power is weak only where it is a float by a weak exponent.
        strong = name == "power" and (found.dtype.kind in "iu" or not _is_weak(args[-1]))
        return Array(found._a, found.weak_type and not strong)

    body.__name__, body.__doc__ = name, function.__doc__
    return body


def _known(x):
    return Array(_nb.full((), x, dtype=_numpy.bool_)) if x is True or x is False else x


def _is_bool(x):
    return getattr(x, "dtype", None) == _numpy.bool_


def _is_weak(x):
    return x.weak_type if isinstance(x, Array) else not hasattr(x, "dtype")


square, power, left_shift = map(_of_integers, ("square", "power", "left_shift"))
pow = power


def _scan(name):
    """`cumsum`, `cumprod` and those without NaN, which keep the dtype of integers."""
    function = general(name)

    def body(a, axis=None, dtype=None, out=None):
        expect_arrays(name, a)
        x = made(a)
        if dtype is None:
            dtype = x.dtype if x.dtype.kind != "b" else "int32"
        return function(x, axis=axis, dtype=dtype, out=out)

    body.__name__, body.__doc__ = name, function.__doc__
    return body


cumsum, cumprod = _scan("cumsum"), _scan("cumprod")
nancumsum, nancumprod = _scan("nancumsum"), _scan("nancumprod")


def histogram(a, bins=10, range=None, weights=None, density=None):
    """Numbers of elements between edges, as floats, and the edges."""
    expect_arrays("histogram", a)
    x = made(a)
    given = [None if v is None else plain(v) for v in (range, weights)]
    bins = plain(bins)
    count, edges = _nb.histogram(x._a, bins, given[0], density, given[1])
    t = x.dtype if kind_of(x.dtype) == "f" else _dtypes.canonical("f8")
    return Array(cast(as_array(count), t)), Array(cast(as_array(edges), t))


def _question(name):
    function = joining(name)

    def body(*args, **keywords):
        return made(function(*args, **keywords))

    body.__name__, body.__doc__ = name, function.__doc__
    return body


allclose, array_equal, array_equiv = map(_question, ("allclose", "array_equal", "array_equiv"))


def _identity_shape(x):
    return tuple(_numpy.shape(x._a if isinstance(x, Array) else x))


def shape(a):
    """The shape of an array."""
    return _identity_shape(a)


def ndim(a):
    """The number of axes."""
    return len(_identity_shape(a))


def size(a, axis=None):
    """The number of elements, or the length of an axis."""
    return made(a).size if axis is None else _identity_shape(a)[axis]


def result_type(*args):
    """The dtype to which arrays, numbers and dtypes are taken."""

    def name(x):
        if isinstance(x, (str, type, _numpy.dtype, _dtypes.Scalar)):
            if x in (int, float, complex):
                return _dtypes.weak_node(x())
            return _dtypes.node(_dtypes.canonical(x))
        return _node(x)

    return _dtypes.strong(_functools.reduce(_dtypes.join, [name(x) for x in args]))[0]


promote_types = result_type


def issubdtype(arg1, arg2):
    """Whether a dtype is one of a kind, such as `jnp.floating`."""
    first, second = [x.dtype if isinstance(x, _dtypes.Scalar) else x for x in (arg1, arg2)]
    abstract = isinstance(second, type) and second is not dtypes.bfloat16
    if abstract and (first is dtypes.bfloat16 or first == dtypes.BFLOAT16):
        return _numpy.issubdtype(_numpy.float16, second)  # JAX has it among the floats
    return _numpy.issubdtype(first, second)


def finfo(dtype):
    """Limits of a floating-point dtype."""
    return dtypes.finfo(dtype.dtype if isinstance(dtype, _dtypes.Scalar) else dtype)


def isdtype(dtype, kind):
    """Whether a dtype is of a kind of the array API standard."""
    return dtypes.isdtype(_numpy.dtype(dtype), kind)


def can_cast(from_, to, casting="safe"):
    """Whether a cast is safe."""
    return dtypes.can_cast(*[_numpy.dtype(x) for x in (from_, to)], casting)


def isscalar(element):
    """Whether something is a number or an array without axes."""
    return _numpy.isscalar(element) or (isinstance(element, Array) and element.ndim == 0)


def iscomplexobj(x):
    """Whether the dtype is complex."""
    return made(x).dtype.kind == "c"


def isrealobj(x):
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def array_repr(arr):
    """`repr(arr)`."""
    return repr(made(arr))


def array_str(a):
    """`str(a)`."""
    return str(made(a))


def save(file, arr):
    """Writes an array to a file in NumPy's format."""
    _numpy.save(file, _numpy.asarray(made(arr)))


def savez(file, *args, **keywords):
    """Writes several arrays to a file in NumPy's format."""
    _numpy.savez(
        file, *[_numpy.asarray(made(x)) for x in args],
        **{key: _numpy.asarray(made(x)) for key, x in keywords.items()},
    )  # fmt: skip


def load(file):
    """An array, or several, from a file in NumPy's format; without pickles."""
    found = _numpy.load(file, allow_pickle=False)
    return made(found) if isinstance(found, _numpy.ndarray) else found


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """An array of the bytes of a buffer."""
    return made(_numpy.frombuffer(buffer, _numpy.dtype(dtype), count, offset))


def fromfunction(function, shape, *, dtype=float, **keywords):
    """An array of a function of the indices."""
    grid = [made(x, _dtypes.canonical(dtype)) for x in _numpy.indices(shape)]
    return function(*grid, **keywords)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """A copy with another diagonal; `inplace=False` has to be said."""
    if inplace:
        raise NotImplementedError(
            "JAX arrays are immutable, must use inplace=False to get an updated array."
        )
    x = made(a)
    found = _nb.array(x._a)
    _nb.fill_diagonal(found, converted(made(val)._a, x.dtype), wrap)
    return Array(found, x.weak_type)


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of numbers, or of the axes that a `signature` names, as one of arrays whose other
    axes broadcast.

    excluded: the numbers, or names, of arguments that are given as they are. So is None.
    """
    for which in excluded:
        if type(which) not in (int, str):
            raise TypeError(
                f"[jnp.vectorize] excluded is neither a number nor a name; got {which!r}; expected "
                "an int or a str"
            )
        if type(which) is int and which < 0:
            raise ValueError(
                f"[jnp.vectorize] excluded counts from the end; got {which}; expected 0 or more"
            )

    @_functools.wraps(pyfunc)
    def chosen(*args, **keywords):
        unknown = [name for name in keywords if name not in excluded]
        if unknown:
            raise TypeError(
                f"[jnp.vectorize] keywords are not vectorised; got {unknown}; expected them as "
                "positional arguments, or in excluded="
            )
        kept = {k: x for k, x in enumerate(args) if x is None or k in excluded}
        if not kept and not keywords:
            return _vectorized(pyfunc, signature)(*args)

        def of_rest(*rest):
            left = iter(rest)
            given = [kept[k] if k in kept else next(left) for k in range(len(args))]
            return pyfunc(*given, **keywords)

        rest = [x for k, x in enumerate(args) if k not in kept]
        return _vectorized(of_rest, signature)(*rest)

    return chosen


def _vectorized(pyfunc, signature):
    if signature is not None:
        return _vectorize_axes(pyfunc, signature)

    @_functools.wraps(pyfunc)
    def wrapper(*args):
        arrays = broadcast_arrays(*[made(x) for x in args])  # noqa: F821
        lines = [x.reshape(-1) for x in arrays]
        found = _vmap(pyfunc)(*lines)
        if isinstance(found, tuple):
            return tuple([x.reshape(arrays[0].shape + x.shape[1:]) for x in found])
        return found.reshape(arrays[0].shape + found.shape[1:])

    return wrapper


def _vectorize_axes(pyfunc, signature):
    group = r"\(([^()]*)\)"
    inputs = [
        [name.strip() for name in names.split(",") if name.strip()]
        for names in _re.findall(group, signature.partition("->")[0])
    ]

    @_functools.wraps(pyfunc)
    def wrapper(*args):
        arrays = [made(x) for x in args]
        ranks = [len(names) for names in inputs]
        shapes = [x.shape for x in arrays]
        sizes = {}
        fits = len(arrays) == len(inputs)
        for shape, names in zip(shapes, inputs):
            fits = fits and len(shape) >= len(names)
            for name, n in zip(names, shape[len(shape) - len(names) :]):
                wanted = int(name) if name.isdigit() else n
                fits = fits and sizes.setdefault(name, wanted) == n
        if not fits:
            raise ValueError(
                f"[jnp.vectorize] the arguments do not fit the signature; got shapes {shapes}; "
                f"expected {signature!r}"
            )
        outer = _numpy.broadcast_shapes(*[s[: len(s) - r] for s, r in zip(shapes, ranks)])
        if not outer:
            return pyfunc(*arrays)
        spread = __getattr__("broadcast_to")
        lines = [
            spread(x, outer + s[len(s) - r :]).reshape((-1, *s[len(s) - r :]))
            for x, s, r in zip(arrays, shapes, ranks)
        ]
        found = _vmap(pyfunc)(*lines)
        if isinstance(found, tuple):
            return tuple([x.reshape(outer + x.shape[1:]) for x in found])
        return found.reshape(outer + found.shape[1:])

    return wrapper


def _ogrid(make):
    class Grid:
        def __getitem__(self, key):
            return wrapped(make[key])

    return Grid()


mgrid, ogrid, r_, c_ = _ogrid(_nb.mgrid), _ogrid(_nb.ogrid), _ogrid(_nb.r_), _ogrid(_nb.c_)


# -- operators and methods ------------------------------------------------------------------------


def _binary(function, reverse=False):
    def method(self, other):
        if isinstance(other, (list, tuple)):  # as JAX does, also where it is compared
            raise TypeError(f"{function.__name__} requires ndarray or scalar arguments, "
                            f"got {type(other)}")  # fmt: skip
        if not (
            isinstance(other, (Array, int, float, complex, _numpy.ndarray, _numpy.generic))
            or type(other) in (_ndarray, _nb._core.generic)
        ):
            return NotImplemented
        return function(other, self) if reverse else function(self, other)

    return method


def _attach():
    this = globals()
    for name in (*_names.METHODS, *_names.OPERATORS.values(), *_names.COMPARISONS.values()):
        if name not in this:
            __getattr__(name)
    for name, known in _names.OPERATORS.items():
        setattr(Array, f"__{name}__", _binary(this[known]))
        setattr(Array, f"__r{name}__", _binary(this[known], True))
    for name, known in _names.COMPARISONS.items():
        setattr(Array, f"__{name}__", _binary(this[known]))
    for name in _names.METHODS:
        if name not in ("reshape", "transpose", "astype"):
            setattr(Array, name, _method(this[name]))
    Array.__neg__ = lambda self: negative(self)  # noqa: F821
    Array.__pos__ = lambda self: self
    Array.__abs__ = lambda self: abs(self)
    Array.__invert__ = lambda self: invert(self)  # noqa: F821
    Array.__round__ = lambda self, n=None: this["round"](self, 0 if n is None else n)
    Array.astype = lambda self, dtype, copy=False: astype(self, dtype, copy=copy)
    Array.flatten = lambda self, order="C": reshape(self, -1, order)
    Array.copy = lambda self: self
    Array.T = property(lambda self: Array(self._a.T, self.weak_type))
    Array.mT = property(lambda self: Array(self._a.mT, self.weak_type))
    Array.real = property(lambda self: this["real"](self))
    Array.imag = property(lambda self: this["imag"](self))
    for name in ("real", "imag"):
        __getattr__(name)

    def reshape_method(self, *args, order="C"):
        shape = args[0] if len(args) == 1 else args
        return reshape(self, shape, order)

    def transpose_method(self, *axes):
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return Array(self._a.transpose(*(() if axes in ((), None) else axes)), self.weak_type)

    Array.reshape, Array.transpose = reshape_method, transpose_method


def _method(function):
    def method(self, *args, **keywords):
        return function(self, *args, **keywords)

    method.__name__ = function.__name__
    method.__doc__ = function.__doc__
    return method


for _name in ("invert", "negative", "broadcast_arrays"):
    __getattr__(_name)
_attach()
late.numpy = _sys.modules[__spec__.name]
