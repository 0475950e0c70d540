"""`jax.Array`: an array of Numbus that nothing is written to, with JAX's dtypes and `.at`."""

import math
import operator

import numpy

import numbus as nb

from ... import _core
from ..._core import generic, ndarray
from ...core.dtypes import kind_of
from ...core.errors import message
from ...core.operands import to_ndarray
from . import _dtypes

_IMMUTABLE = (
    "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, "
    "use x = x.at[idx].set(y) or another .at[] method: "
    "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
)
_NUMBERS = (bool, int, float, complex)


class late:
    """Modules above this one, which set themselves here when they are imported."""

    numpy = None


class Array:
    """An immutable array. `jnp` makes them; `weak_type` says that its dtype is that of a Python
    number, which gives way to those of other arrays.
    """

    __slots__ = ("__weakref__", "_a", "weak_type")
    __array_priority__ = 100

    def __init__(self, a, weak=False):
        self._a, self.weak_type = a, weak

    def __array__(self, dtype=None, copy=None):
        a = host(self)
        if dtype is not None and dtype != a.dtype:
            return a.astype(dtype)
        return a.copy() if copy else a

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        """Operators with NumPy's arrays give arrays of JAX's; NumPy's functions, NumPy's."""
        name = ufunc.__name__
        if method == "__call__" and len(inputs) == 2 and not keywords and name in _OPERATORS:
            return getattr(late.numpy, name)(*inputs)
        plain = [x._a if isinstance(x, Array) else x for x in inputs]
        return getattr(getattr(nb, name), method)(*plain, **keywords)

    shape = property(lambda self: self._a.shape)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    dtype = property(lambda self: self._a.dtype)
    itemsize = property(lambda self: self._a.dtype.itemsize)
    nbytes = property(lambda self: self._a.size * self._a.dtype.itemsize)
    at = property(lambda self: _At(self))
    is_fully_addressable = is_fully_replicated = True

    @property
    def device(self):
        """The device that holds it."""
        from ._devices import device_of

        return device_of(self._a)

    def devices(self):
        """A set with the device that holds it."""
        return {self.device}

    def block_until_ready(self):
        """The array, when its elements have been computed."""
        _core.flush()
        _core.synchronize()
        return self

    def item(self, *args):
        """One element as a Python number."""
        if not args and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._a.item(*args)

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        return self._a.tolist()

    def __float__(self):
        return float(self._one())

    def __int__(self):
        return int(self._one())

    def __complex__(self):
        return complex(self._one())

    def __bool__(self):
        return bool(self._a)

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iub":
            raise TypeError("Only integer scalar arrays can be converted to a scalar index.")
        return operator.index(self._a.item())

    def _one(self):
        if self.ndim:
            raise TypeError(
                f"Only scalar arrays can be converted to Python scalars; got arr.ndim={self.ndim}"
            )
        return self._a[()]

    def __format__(self, spec):
        return format(self._a[()], spec) if self.ndim == 0 else format(str(self), spec)

    def __str__(self):
        return str(host(self))

    def __repr__(self):
        a = host(self)
        text = numpy.array2string(a, separator=", ", prefix="Array(", suffix=",")
        if a.size == 0:
            text = "[]" if a.ndim == 1 else f"[], shape={a.shape}"
        kind = f"dtype={self.dtype.name}" + (", weak_type=True)" if self.weak_type else ")")
        last = len(text) - text.rfind("\n") + len(kind) + (0 if "\n" in text else len("Array("))
        apart = " " if last <= numpy.get_printoptions()["linewidth"] else " " * len("Array(")
        return f"Array({text},{apart}{kind}"

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([self[k] for k in range(self.shape[0])])

    def __hash__(self):
        raise TypeError("unhashable type: 'Array'")

    def __getitem__(self, key):
        part = _core.part_of_constant(self._a, clamped(key, self.shape))
        if _core.depends(self._a):
            part = _without_slope_beyond(self, key, as_array(part))
        return Array(as_array(part), self.weak_type)

    def __setitem__(self, key, value):
        raise TypeError(_IMMUTABLE)

    def __copy__(self):
        return self

    def __deepcopy__(self, _memo):
        return self

    def __reduce__(self):
        return _rebuilt, (numpy.array(host(self)), self.weak_type)

    def view(self, dtype=None):
        """The same bits as another dtype."""
        return Array(self._a.view(_dtypes.asked(dtype, "view")))


# Operators that NumPy hands over by the names of its functions.
_OPERATORS = frozenset(
    "add subtract multiply true_divide divide floor_divide remainder mod power matmul equal "
    "not_equal less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor "
    "left_shift right_shift".split()
)


def _rebuilt(a, weak):
    return Array(to_ndarray(a), weak)


def as_array(a):
    """An array of Numbus's from a result of its functions, which may be a number."""
    return a if type(a) is ndarray else to_ndarray(a)


def host(x):
    """The elements as an array of NumPy's that cannot be written to."""
    a = as_array(nb.stop_gradient(x._a)).to_numpy()
    if a.flags.writeable:
        a = a.view()
        a.flags.writeable = False
    return a


def cast(a, t):
    """The array in a dtype, itself if it has it."""
    return a if a.dtype == t else a.astype(t)


def converted(a, t):
    """The array in a dtype: floats beyond those of an integer type become its least or greatest
    one, NaN 0.
    """
    if a.dtype == t or t.kind not in "iu" or kind_of(a.dtype) not in "fc":
        return cast(a, t)
    a = a.real if a.dtype.kind == "c" else a
    limits = numpy.iinfo(t)
    wide = cast(a, numpy.dtype("f8" if t.itemsize > 2 else "f4"))
    if t.itemsize == 8:  # whose greatest ones are between floats
        inside = nb.logical_and(wide >= float(limits.min), wide < float(limits.max))
        ends = nb.where(wide > 0, limits.max, limits.min).astype(t)
        found = nb.where(inside, cast(as_array(nb.where(inside, wide, 0.0)), t), ends)
    else:
        found = nb.clip(wide, limits.min, limits.max)
        found = cast(as_array(nb.where(nb.isnan(wide), 0.0, found)), t)
    return as_array(nb.where(nb.isnan(wide), t.type(0), found)) if t.itemsize == 8 else found


def narrowed(a):
    """The array in the dtype that JAX has for its own."""
    return cast(a, _dtypes.canonical(a.dtype))


def made(x, dtype=None):
    """An `Array` of numbers, lists, NumPy's arrays or other `Array`s."""
    if isinstance(x, Array):
        if dtype is None:
            return x
        return Array(cast(x._a, _dtypes.canonical(dtype)))
    weak = dtype is None and type(x) in _NUMBERS and type(x) is not bool
    if isinstance(x, (list, tuple)):
        a = _listed(x, dtype)
    else:
        if type(x) is int:
            t = _dtypes.canonical("i8" if dtype is None else dtype)
            if t.kind in "iu":
                _dtypes.expect_fits(x, x, t)
        if type(x) is float and dtype is not None and math.isfinite(x):
            t = _dtypes.canonical(dtype)
            if t.kind in "iu":
                _dtypes.expect_fits(int(x), int(x), t)
        a = to_ndarray(x)
        if isinstance(x, (ndarray, numpy.ndarray)):
            a = _core.copy_of(a)  # what is written to the other later is not seen here
    return Array(narrowed(a) if dtype is None else cast(a, _dtypes.canonical(dtype)), weak)


_dtypes.Scalar.made = staticmethod(made)


def _listed(x, dtype=None):
    """An array of nested lists, arrays of ours among them, for that dtype. Raises OverflowError for
    numbers beyond a type of integers.
    """
    if not _holds_arrays(x):
        real = numpy.array(x)
        if real.size and real.dtype.kind in "iufO":
            t = _dtypes.canonical(real.dtype.char if dtype is None else dtype)
            if t.kind in "iuO" and not any([isinstance(item, numpy.ndarray) for item in x]):
                whole = _dtypes.canonical("i8") if t.kind == "O" else t
                if real.dtype.kind != "f" or not numpy.isnan(real).any():
                    _dtypes.expect_fits(real.min(), real.max(), whole)
        if real.size == 0 and real.dtype == numpy.float64:
            return _core.empty(real.shape, numpy.dtype("f4"))
        return to_ndarray(real)
    return late.numpy.stack([made(item) for item in x])._a


def _holds_arrays(x):
    return any(
        _holds_arrays(item) if isinstance(item, (list, tuple)) else isinstance(item, Array)
        for item in x
    )


def plain(x):
    """Arguments for functions of Numbus: `Array`s, also inside of lists and tuples, as arrays of
    its own; NumPy's in JAX's dtypes. Raises OverflowError for integers beyond those.
    """
    if isinstance(x, Array):
        return x._a
    if type(x) is int:
        _dtypes.expect_an_integer(x)
        return x
    if isinstance(x, (ndarray, generic, numpy.ndarray, numpy.generic)):
        return narrowed(as_array(x))
    if isinstance(x, _dtypes.Scalar):
        return _dtypes.canonical(x.dtype)
    if type(x) in (list, tuple):
        return type(x)([plain(item) for item in x])
    if isinstance(x, tuple):
        return tuple([plain(item) for item in x])
    if type(x) is dict:
        return {key: plain(value) for key, value in x.items()}
    return x


def wrapped(result):
    """Results of functions of Numbus: arrays and their numbers become `Array`s."""
    if type(result) is ndarray:
        return Array(narrowed(result))
    if isinstance(result, (generic, numpy.ndarray, numpy.generic)):
        return Array(narrowed(to_ndarray(result)))
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[wrapped(item) for item in result])
    if type(result) in (tuple, list):
        return type(result)([wrapped(item) for item in result])
    return result


# -- indices -----------------------------------------------------------------------------------


def _parts(key):
    return key if isinstance(key, tuple) else (key,)


def _consumes(part):
    """How many axes an index takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, numpy.bool_)):
        return 0
    if isinstance(part, (Array, ndarray, numpy.ndarray)) and part.dtype.kind == "b":
        return part.ndim
    return 1


def _checked(part):
    if isinstance(part, numpy.integer):
        return int(part)
    if isinstance(part, (list, tuple)):
        raise TypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed; use "
            "`arr[array(seq)]` instead of `arr[seq]`."
        )
    kind = getattr(getattr(part, "dtype", None), "kind", "f" if isinstance(part, float) else "i")
    if kind not in "iub":
        raise TypeError(
            "Indexer must have integer or boolean type, got indexer with type "
            f"{getattr(part, 'dtype', 'float64')}"
        )
    return part


def _axes(key, ndim):
    """Pairs of the parts of an index and the axis that each takes."""
    parts = [_checked(part) for part in _parts(key)]
    taken = sum(_consumes(part) for part in parts)
    if taken > ndim:
        raise IndexError(
            f"Too many indices: {ndim}-dimensional array indexed with {taken} regular indices."
        )
    axis = 0
    for part in parts:
        yield part, axis
        axis += ndim - taken if part is Ellipsis else _consumes(part)


def _plain_slice(part):
    bounds = [None if b is None else operator.index(b) for b in (part.start, part.stop, part.step)]
    return slice(*bounds)


def clamped(key, shape):
    """An index for Numbus; integers beyond an axis are those of its nearest element."""
    found = []
    for part, axis in _axes(key, len(shape)):
        if isinstance(part, slice):
            found.append(_plain_slice(part))
        elif part is None or part is Ellipsis or isinstance(part, (bool, numpy.bool_)):
            found.append(part)
        else:
            a = part if isinstance(part, int) else plain(part)
            if not isinstance(a, int) and a.dtype.kind == "b":
                found.append(a)
                continue
            n = shape[axis]
            if n == 0:
                if isinstance(a, int) or a.size:
                    raise IndexError(f"index is out of bounds for axis {axis} with size 0")
                found.append(a)
            elif isinstance(a, int):
                found.append(min(max(a + n if a < 0 else a, 0), n - 1))
            else:
                wide = a.astype(numpy.int64)
                found.append(nb.clip(nb.where(wide < 0, wide + n, wide), 0, n - 1))
    return tuple(found)


def strict(key, shape):
    """An index for Numbus, which refuses integers beyond an axis."""
    return tuple([
        _plain_slice(part) if isinstance(part, slice) else plain(part)
        for part, _ in _axes(key, len(shape))
    ])  # fmt: skip


def _beyond(key, shape):
    """Which elements an index of integer arrays takes from beyond the axes."""
    outside = False
    for part, axis in _axes(key, len(shape)):
        if _consumes(part) == 1 and not isinstance(part, slice) and _is_integers(part):
            n = shape[axis]
            if isinstance(part, int):
                if not -n <= part < n:
                    return True  # all of them
                continue
            a = as_array(plain(part)).astype(numpy.int64)
            outside = nb.logical_or(outside, nb.logical_or(a < -n, a >= n))
    return outside


def _is_integers(part):
    return isinstance(part, int) or part.dtype.kind in "iu"


def _without_slope_beyond(x, key, found):
    """Elements that were read by index arrays, those from beyond an axis as constants. (The nearest
    element that a number reads in place of one beyond has its slope.)
    """
    if not any([_is_indices(part) and part.ndim for part in _parts(key)]):
        return found
    outside = _beyond(key, x.shape)
    if outside is False:
        return found
    constant = nb.stop_gradient(found)
    if outside is True:
        return constant
    outside = as_array(outside)
    after = found.ndim - outside.ndim - _axes_before(key, x.shape)
    return nb.where(outside.reshape(outside.shape + (1,) * after), constant, found)


_FEW = 4096  # indices that are looked at rather than written beside


def _is_indices(part):
    return isinstance(part, (Array, ndarray, numpy.ndarray, _core.generic)) and (
        part.dtype.kind in "iu"
    )


def _integer_axis(key, shape):
    """The axis of the first index array of integers."""
    return next(axis for part, axis in _axes(key, len(shape)) if _is_indices(part))


def _with_room(x, key, outside):
    """A copy to write to, the index and the result, a view of it. The copy has one more slice along
    an indexed axis, where an index that is beyond its axis leads to, so that nothing has to count
    what is left out.
    """
    shape = list(x.shape)
    room = _integer_axis(key, shape)
    shape[room] += 1
    a = nb.empty(shape, x.dtype)
    before = (slice(None),) * room
    result = a[(*before, slice(x.shape[room]))]
    result[...] = x._a
    a[(*before, slice(x.shape[room], None))] = 1  # of which no operation warns
    found = list(clamped(key, x.shape))
    for j, (part, axis) in enumerate(_axes(key, x.ndim)):
        if axis == room and _is_indices(part):
            found[j] = nb.where(outside, x.shape[room], found[j])
        if outside.ndim == 0 and _is_indices(part):  # lines of one, which are never read as numbers
            found[j] = nb.reshape(nb.asarray(found[j]), (1,))
    return a, tuple(found), result


def _are_seen(key, shape):
    """Whether the index arrays may be looked at: few numbers in the host's memory, and nothing
    that is recorded depends on what they are.
    """
    return not _core.capturing() and all(
        part.size <= _FEW and getattr(part, "device", "cpu") in ("cpu", "auto")
        for part in (plain(part) for part, _ in _axes(key, len(shape)) if _is_indices(part))
        if not isinstance(part, int)
    )


def _axes_before(key, shape):
    """How many axes of what an index chooses lie before those of its index arrays: none where
    something else stands between them.
    """
    parts = list(_axes(key, len(shape)))
    at = [j for j, (part, _) in enumerate(parts) if _is_indices(part) or isinstance(part, int)]
    arrays = [j for j in at if _is_indices(parts[j][0])]
    if not arrays or at[-1] - at[0] + 1 != len(at):
        return 0
    taken = sum(_consumes(part) for part, _ in parts)
    return sum(len(shape) - taken if part is Ellipsis else 1 for part, _ in parts[: at[0]])


def _is_basic(key):
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, slice)) for part in _parts(key)
    )


class _At:
    """`x.at`, which `[index]` gives updates of."""

    def __init__(self, x):
        self._x = x

    def __getitem__(self, key):
        return _Update(self._x, key)


class _Update:
    """`x.at[index]`: new arrays that differ at an index.

    Indices beyond an axis are left out in updates, as in JAX; `mode="clip"` takes the nearest
    element, and with `mode="promise_in_bounds"` they raise IndexError.
    """

    def __init__(self, x, key):
        self._x, self._key = x, key

    def _target(self, op, mode, values):
        """A copy to write to, the index, the values in its dtype, and the result, a view of it."""
        x = self._x
        values = converted(as_array(made(values)._a), x.dtype)
        name = _mode_of(op, mode)
        key = (clamped if name == "clip" else strict)(self._key, x.shape)
        if name in ("clip", "promise_in_bounds"):
            outside = False
        elif x.size == 0:  # nothing is written to
            return _core.copy_of(x._a), (slice(0, 0),), cast(nb.zeros(()), x.dtype), x._a
        else:
            outside = _beyond(self._key, x.shape)
        if not isinstance(outside, bool):
            if not _are_seen(self._key, x.shape) or nb.any(outside):
                a, key, result = _with_room(x, self._key, outside)
                return a, key, values, result
            key = tuple([
                int(part) if _is_indices(part) and part.ndim == 0 else part for part in key
            ])  # fmt: skip
            outside = False
        a = _core.copy_of(x._a)
        if outside:
            return a, clamped(self._key, x.shape), values, x._a
        return a, key, values, a

    def get(self, *, indices_are_sorted=False, unique_indices=False, mode=None, fill_value=None):
        """The elements. Integers beyond an axis take the nearest element; with `mode="fill"`
        `fill_value` (NaN, or the least integer, unless given) comes in their place.
        """
        _hints(indices_are_sorted, unique_indices)
        x = self._x
        name = _mode_of("get", mode)
        if name == "clip":
            part = _core.part_of_constant(x._a, clamped(self._key, x.shape))
            return Array(as_array(part), x.weak_type)
        found = x[self._key]
        if name not in ("fill", "drop"):
            return found
        t = x.dtype
        if fill_value is None:
            fill_value = numpy.nan if kind_of(t) in "fc" else True if t.kind == "b" else (
                numpy.iinfo(t).min if t.kind == "i" else numpy.iinfo(t).max
            )  # fmt: skip
        outside = as_array(_beyond(self._key, x.shape))
        after = found.ndim - outside.ndim - _axes_before(self._key, x.shape)
        outside = outside.reshape(outside.shape + (1,) * after)
        return Array(cast(as_array(nb.where(outside, t.type(fill_value), found._a)), t))

    def set(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None,
            wrap_negative_indices=True):  # fmt: skip
        """Other values at the index."""
        _hints(indices_are_sorted, unique_indices, wrap_negative_indices)
        a, key, values, result = self._target("set", mode, values)
        a[key] = values
        return Array(result, self._x.weak_type)

    def apply(self, func, *, indices_are_sorted=False, unique_indices=False, mode=None):
        """`func` of the elements at the index in their place."""
        _hints(indices_are_sorted, unique_indices)
        return self.set(func(self.get(mode=mode)), mode=mode)


def _hints(indices_are_sorted, unique_indices, wrap_negative_indices=True):
    """What a caller promises of indices changes nothing here; what changes results is refused."""
    if not isinstance(indices_are_sorted, bool) or not isinstance(unique_indices, bool):
        raise TypeError(
            message("at", "a promise about indices is no bool",
                    (indices_are_sorted, unique_indices), "True or False")
        )  # fmt: skip
    if not wrap_negative_indices:
        raise NotImplementedError(
            message("at", "wrap_negative_indices=False is not yet available", "False", "True")
        )


def _mode_of(op, mode):
    name = None if mode is None else getattr(mode, "name", str(mode)).lower()
    known = (None, "promise_in_bounds", "clip", "fill", "drop", "fill_or_drop", "default")
    if name not in known:
        raise ValueError(
            message(f"at[].{op}", "unknown mode", mode, "'clip', 'fill', 'drop' or None")
        )
    return "drop" if name == "fill_or_drop" else name


def _updating(name, ufunc_name):
    def method(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None):
        _hints(indices_are_sorted, unique_indices)
        x, values = self._x, made(values)
        jnp = late.numpy
        if name in ("divide", "power"):  # of what repeated indices make of ones
            factors = jnp.ones_like(x).at[self._key].multiply(values, mode=mode)
            return getattr(jnp, ufunc_name)(x, factors)
        common = jnp.result_type(x, values)
        if common != x.dtype:
            wide = Array(cast(x._a, common), x.weak_type and values.weak_type)
            found = getattr(wide.at[self._key], name)(values, mode=mode)
            return Array(converted(found._a, x.dtype), x.weak_type)
        a, key, values, result = self._target(name, mode, values)
        ufunc = getattr(nb, ufunc_name)
        if _is_basic(key):
            a[key] = cast(as_array(ufunc(a[key], values)), a.dtype)
        else:
            ufunc.at(a, key, values)
        return Array(result, self._x.weak_type)

    method.__name__ = name
    method.__doc__ = f"`{ufunc_name}` of the elements at the index and values in their place."
    return method


for _name, _ufunc in {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "mul": "multiply",
    "divide": "true_divide", "power": "power", "min": "minimum", "max": "maximum",
}.items():  # fmt: skip
    setattr(_Update, _name, _updating(_name, _ufunc))
