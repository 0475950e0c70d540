"""tf.Tensor, tf.Variable and tf.GradientTape over arrays of Numbus and its gradients."""

import contextlib
import enum
import functools
import operator
import sys
import threading

import numpy

import numbus as nb

from ... import _core
from ..._core import generic, ndarray
from ...core import trees
from ...core.compiling import ATTRIBUTE, Parts, observe, refuse
from ...core.dtypes import kind_of
from ...core.errors import message
from ...core.operands import to_ndarray
from .. import _missing


class InvalidArgumentError(ValueError):
    """What TensorFlow raises where operands do not fit (`tf.errors.InvalidArgumentError`)."""


class DType:
    """The type of a tensor's elements: `tf.float32`."""

    def __init__(self, name):
        self.name = name
        self._numpy = numpy.dtype(name)

    as_numpy_dtype = property(lambda self: self._numpy.type)
    is_floating = property(lambda self: kind_of(self._numpy) == "f")
    is_integer = property(lambda self: self._numpy.kind in "iu")
    size = property(lambda self: self._numpy.itemsize)

    def __eq__(self, other):
        if isinstance(other, DType):
            return self._numpy == other._numpy
        try:
            return other is not None and self._numpy == numpy.dtype(other)
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self._numpy)

    def __repr__(self):
        return f"tf.{self.name}"

    def __str__(self):
        return f"<dtype: '{self.name}'>"


DTYPES = {
    name: DType(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
        "float64 complex64 complex128"
    ).split()
}


def as_numpy_dtype(t):
    """NumPy's dtype of TensorFlow's, of a name or of NumPy's. Raises TypeError for others."""
    if t is None:
        return None
    found = t._numpy if isinstance(t, DType) else numpy.dtype(t)
    if found.name not in DTYPES:
        raise TypeError(message("dtype", "a type that is not served", t, "tf.float32 and its kin"))
    return found


def as_dtype(t):
    """`tf.as_dtype`."""
    return DTYPES[as_numpy_dtype(t).name]


class TensorShape(tuple):
    """The shape of a tensor: a tuple with TensorFlow's names."""

    rank = property(len)
    ndims = rank
    dims = property(list)

    def as_list(self):
        """The lengths as a list."""
        return list(self)

    def num_elements(self):
        """The number of elements."""
        n = 1
        for k in self:
            n *= k
        return n

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return TensorShape(found) if isinstance(key, slice) else found

    def __repr__(self):
        return f"TensorShape({list(self)})"

    def __str__(self):
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"


class _Tapes(threading.local):
    def __init__(self):
        self.active = []


_CONSTANTS = 1024  # of one function


class Call:
    """A call of a function of `tf.function`, the outermost one.

    constants: arrays of what its code makes of numbers and lists, where its work is captured.
    makes_variables: whether it may, as the first call of a function.
    """

    def __init__(self, makes_variables=True):
        self.constants, self.makes_variables = None, makes_variables


class _Running(threading.local):
    call = None


tapes, running = _Tapes(), _Running()


def _apart(a):
    """A view of what a tape follows, in memory of its own: derivatives by it are not those by the
    whole.
    """
    followed = any([tape._parts and tape._program.depends(a) for tape in tapes.active])
    return _core.copy_of(a) if followed else a


class Tensor:
    """An array that nothing is written to."""

    __slots__ = ("__weakref__", "_a", "_keras_mask")
    __array_priority__ = 100

    def __init__(self, a):
        self._a = _apart(a) if tapes.active and a.base is not None else a

    def _value(self):
        """The array, for operations."""
        return self._a

    shape = property(lambda self: TensorShape(self._a.shape))
    dtype = property(lambda self: DTYPES[self._a.dtype.name])
    ndim = property(lambda self: self._a.ndim)

    def get_shape(self):
        """The shape."""
        return self.shape

    def set_shape(self, shape):
        """Raises ValueError where the shape is another one."""
        if len(shape) != self.ndim or any(
            n not in (None, m) for n, m in zip(shape, self.shape, strict=True)
        ):
            raise ValueError(message("set_shape", "another shape", tuple(shape), self.shape))

    @property
    def device(self):
        """The name of the device that holds it."""
        kind, _, number = str(self._a._device).partition(":")
        kind = "GPU" if kind == "cuda" else kind.upper()
        return f"/job:localhost/replica:0/task:0/device:{kind}:{number or 0}"

    def numpy(self):
        """The elements as an array, a number of NumPy's of a tensor without axes."""
        a = _still(self._a)
        return nb.array(a) if self.ndim else a.dtype.type(a.item())

    def _host(self):
        return _still(self._a).to_numpy()

    def __array__(self, dtype=None, copy=None):
        a = self._host()
        if dtype is not None and dtype != a.dtype:
            return a.astype(dtype)
        return a.copy() if copy is not False else a

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        """NumPy's functions of tensors, which give tensors, as TensorFlow's operators do."""
        if method != "__call__" or keywords:
            return NotImplemented
        dtype = next(x._a.dtype for x in inputs if isinstance(x, Tensor))
        given = [convert(x, dtype)._value() for x in inputs]
        return Tensor(as_array(getattr(nb, ufunc.__name__)(*given)))

    def ref(self):
        """Something hashable that stands for the tensor."""
        return _Reference(self)

    def __float__(self):
        return float(self._number())

    def __int__(self):
        return int(self._number())

    def __index__(self):
        if self._a.dtype.kind not in "iu" or self.ndim:
            raise TypeError("only integer scalar tensors can be converted to an index")
        return int(self._number())

    def __bool__(self):
        return bool(self._host())

    def _number(self):
        if self.ndim:
            raise TypeError("Only scalar tensors can be converted to Python numbers")
        return self._host()[()]

    def __len__(self):
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self._a.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return iter([self[k] for k in range(len(self))])

    def __hash__(self):
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __getitem__(self, key):
        a = self._value()
        parts = key if isinstance(key, tuple) else (key,)
        found = []
        for part in parts:
            if isinstance(part, slice):
                bounds = part.start, part.stop, part.step
                part = slice(*[None if b is None else int(b) for b in bounds])
            elif isinstance(part, Tensor):
                part = part._value() if part.dtype == numpy.dtype(bool) else int(part)
            elif isinstance(part, (list, ndarray, numpy.ndarray)):
                raise TypeError(
                    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
                    f"tf.int32/tf.int64 tensors are valid indices, got {part!r} (tf.gather)"
                )
            found.append(part)
        try:
            return Tensor(as_array(a[tuple(found)]))
        except IndexError as error:
            raise InvalidArgumentError(str(error)) from None

    def __format__(self, spec):
        return format(self._number(), spec) if not self.ndim else format(str(self), spec)

    def __str__(self):
        a = self._host()
        text = str(a) if self.ndim else str(a[()])
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"

    def _numbers(self):
        a = self._host()
        text = repr(a) if self.ndim else str(a[()])
        return f"\n{text}" if "\n" in text else text

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._numbers()}>"

    def __deepcopy__(self, _memo):
        return self


class _Reference:
    def __init__(self, tensor):
        self._tensor = tensor

    def deref(self):
        return self._tensor

    def __eq__(self, other):
        return isinstance(other, _Reference) and self._tensor is other._tensor

    def __hash__(self):
        return id(self._tensor)


class Variable(Tensor):
    """A tensor that `assign` changes in place; tapes watch it where it is trainable and read.

    Views that were read before keep the elements that they had: where there are any, and while a
    tape records what is done with the variable, a new array takes the place of the old one.
    """

    __slots__ = ("_name", "constraint", "trainable")

    def __init__(self, initial_value=None, trainable=True, name=None, dtype=None, shape=None,
                 constraint=None):  # fmt: skip
        if running.call is not None and not running.call.makes_variables:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make "
                "sure the tf.Variable is only created once or created outside tf.function."
            )
        value = initial_value() if callable(initial_value) else initial_value
        if value is None:
            raise ValueError("initial_value must be specified.")
        x = convert(value, as_numpy_dtype(dtype))
        if shape is not None and tuple(shape) != tuple(x.shape):
            raise ValueError(message("Variable", "another shape than the value", shape, x.shape))
        super().__init__(_core.copy_of(_still(x._value())))
        self.trainable = bool(trainable) if trainable is not None else True
        self.constraint = constraint  # what optimizers make of it after a step
        self._name = "Variable" if name is None else name

    def __deepcopy__(self, memo):
        memo[id(self)] = made = Variable(self, self.trainable, self._name)
        made.constraint = self.constraint
        return made

    name = property(lambda self: f"{self._name}:0")
    _place = property(operator.attrgetter("_a._storage"))

    @property
    def _showing(self):
        """Where the elements are, negative where anything else shows them: what a captured call
        that changes them in place depends on.
        """
        place = self._a._storage
        return -place if self._is_lent() else place

    def _value(self):
        if tapes.active and self._is_watched():
            self._own_memory()
            for tape in tapes.active:
                tape._read(self)
        return self._a

    def _is_watched(self):
        return self.trainable and kind_of(self._a.dtype) in "fc"

    def _is_lent(self):
        """Whether anything else holds the array or a view of it."""
        return sys.getrefcount(self._a) > 2

    def _replace(self, a):
        refuse(f"the variable {self.name} is assigned while others hold its elements")
        self._a = _core.copy_of(_still(a))

    def _own_memory(self):
        """What was read before tapes saw the variable is no part of it: it keeps the memory."""
        if self._is_lent() and not any([id(self) in tape._known for tape in tapes.active]):
            self._replace(self._a)

    def _for_change(self):
        """The array, which nothing else shows: for changes in place."""
        if self._is_lent() or (tapes.active and self._is_watched()):
            self._replace(self._a)
        return self._a

    def value(self):
        """A tensor of the present value."""
        a = as_array(self._value())
        return Tensor(_core.copy_of(a) if tapes.active else a)

    read_value = value

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(
                message("Variable", "its elements change in place and are given as a copy",
                        "copy=False", "copy=None or True")
            )  # fmt: skip
        return super().__array__(dtype, True)

    def _assigned(self, a):
        """Takes over the elements of an array."""
        if tuple(a.shape) != tuple(self.shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable "
                f"shape {self.shape}, and the assigned value shape "
                f"{TensorShape(a.shape)} are incompatible."
            )
        if self._is_lent() or (tapes.active and self._is_watched()):
            # Memory of its own: a view of something else would keep that alive.
            self._replace(a)
        else:
            self._a[...] = _still(a)
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the value. Raises ValueError for another shape."""
        _unread(use_locking, name, read_value)
        return self._assigned(as_array(convert(value, self._a.dtype)._value()))

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds to the value."""
        _unread(use_locking, name, read_value)
        return self._assigned(as_array(self._a + convert(delta, self._a.dtype)._value()))

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts from the value."""
        _unread(use_locking, name, read_value)
        return self._assigned(as_array(self._a - convert(delta, self._a.dtype)._value()))

    def __repr__(self):
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={self._numbers()}>"
        )

    __str__ = __repr__


def _variable_parts(v):
    names = "_showing", "trainable"
    return Parts([(ATTRIBUTE, v, name, getattr(v, name)) for name in names])


for _method in (Variable._value, Variable._for_change, Variable._assigned):
    observe(Variable, _method, _variable_parts)


def _unread(use_locking, name, read_value):
    """Options that say how a graph is built, which there is none of."""
    if not isinstance(use_locking, bool) or not isinstance(read_value, bool):
        raise TypeError(message("assign", "not a bool", (use_locking, read_value), "True, False"))
    if name is not None and not isinstance(name, str):
        raise TypeError(message("assign", "a name that is no text", name, "a str"))


def as_array(a):
    """An array from a result, which may be a number."""
    return a if type(a) is ndarray else to_ndarray(a)


def _still(a):
    """The array as a constant."""
    return as_array(nb.stop_gradient(a))


def _deep(x):
    """A nested list with numbers in the place of tensors, and whether there were any."""
    if isinstance(x, (list, tuple)):
        return any([_deep(item) for item in x])
    return isinstance(x, Tensor)


def convert(value, dtype=None):
    """A tensor of a value: numbers and lists of float32 or int32, or of `dtype`, which tensors must
    have. Raises TypeError for numbers that do not fit it, ValueError for other tensors.
    """
    if isinstance(value, Tensor):
        if dtype is not None and value._a.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, (list, tuple)) and _deep(value):
        parts = [convert(item, dtype) for item in value]
        return Tensor(nb.stack([p._value() for p in parts]))
    if isinstance(value, (ndarray, generic, numpy.ndarray, numpy.generic)):
        a = as_array(value)
        if isinstance(value, (ndarray, numpy.ndarray)):
            a = _core.copy_of(a)
        return Tensor(a if dtype is None else a.astype(dtype))
    if isinstance(value, (str, bytes)):
        _missing.missing("tensorflow", "constant of strings", "numbers")
    real = numpy.asarray(value)
    if real.dtype.name not in DTYPES:
        raise ValueError(
            message("convert_to_tensor", "a value that is no tensor", type(value).__name__,
                    "numbers, arrays, or nested lists of them")
        )  # fmt: skip
    plain = not hasattr(value, "dtype")
    if dtype is None and plain:
        narrow = {"f": "f4", "i": "i4", "c": "c16"}.get(kind_of(real.dtype))
        dtype = real.dtype if narrow is None else numpy.dtype(narrow)
    elif dtype is not None and plain:
        fits = {"b": "b", "i": "iufc", "u": "iufc", "f": "fc", "c": "c"}[kind_of(real.dtype)]
        if kind_of(dtype) not in fits and real.size:
            raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if dtype is not None and dtype.kind in "iu" and real.size:
        info = numpy.iinfo(dtype)
        if real.min() < info.min or real.max() > info.max:
            raise ValueError(message("constant", f"beyond {dtype.name}", value, "numbers in range"))
    real = real if dtype is None else real.astype(dtype)
    if running.call is not None and running.call.constants is not None:
        return Tensor(_constant(running.call.constants, real))
    return Tensor(to_ndarray(real))


def _constant(known, real):
    """The array of a constant in a function's code: the same one at each call."""
    key = _core.get_device(), real.dtype, real.shape, real.tobytes()
    if key not in known:
        with _core.uncaptured():
            made = to_ndarray(real)
        if len(known) >= _CONSTANTS:
            return made
        known[key] = made
    return known[key]


class UnconnectedGradients(enum.Enum):
    """What `GradientTape.gradient` gives by what a target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records what is done with variables that are trainable, and with watched tensors, for
    `gradient` and `jacobian`.

    A tape is asked once, unless `persistent`. By what has nothing to do with the target it gives
    None.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent, self._automatic = persistent, watch_accessed_variables
        self._parts = True  # whether it may be asked for derivatives by views
        self._clear()

    def _clear(self):
        self._program = _core.Program()
        self._call = running.call
        self._variables = None  # those that were seen, once it has been asked
        self._known = {}  # id of a variable or tensor: itself, and the arrays that were watched
        self._used = False

    def __enter__(self):
        if self in tapes.active:
            raise ValueError("Tape is already recording.")
        if self._call is not running.call:
            refuse("it goes on with a tape that was made before")
        self._program.__enter__()
        tapes.active.append(self)
        return self

    def __exit__(self, *error):
        tapes.active.remove(self)
        return self._program.__exit__(*error)

    def reset(self):
        """Forgets what was recorded."""
        if self in tapes.active:
            _missing.missing("tf.GradientTape", "reset() within the block", "a new tape")
        self._clear()

    def _read(self, variable):
        if self._automatic:
            self._watched(variable)

    def _watched(self, x):
        _, arrays = self._known.setdefault(id(x), (x, []))
        if not any(a is x._a for a in arrays):
            arrays.append(x._a)
            self._program.watch(x._a)

    def watch(self, tensor):
        """Has derivatives by tensors or variables be found, also in lists. Raises TypeError for
        integers.
        """
        for x in trees.flatten(tensor)[0]:
            if not isinstance(x, Tensor):
                raise ValueError(
                    f"Passed in object {x!r} of type '{type(x).__name__}', not tf.Tensor or "
                    "tf.Variable."
                )
            if kind_of(x._a.dtype) not in "fc":
                raise TypeError(
                    message("watch", "not floating point", x.dtype, "a floating-point dtype")
                )
            if isinstance(x, Variable):
                x._own_memory()
            elif id(x) not in self._known:
                if not self._program.depends(x._a):
                    x._a = nb.copy(x._a)  # in memory that no other tensor has
                elif x._a.base is not None:
                    raise _of_a_part("watch")
            self._watched(x)

    def watched_variables(self):
        """The variables that the tape has seen."""
        if self._variables is not None:
            return self._variables
        return tuple([x for x, _ in self._known.values() if isinstance(x, Variable)])

    @contextlib.contextmanager
    def stop_recording(self):
        """A block that is not recorded: what it computes is constant."""
        if self not in tapes.active:
            raise ValueError("Tape is not recording.")
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()

    def _once(self):
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians)"
            )
        if self._call is not running.call:
            refuse("it asks a tape that was made before")
        self._used = True

    def _answered(self, made):
        """Lets go of what was recorded, unless it may be asked again."""
        if not self._persistent and self not in tapes.active:
            self._variables = self.watched_variables()
            self._known, self._program = {}, _core.Program()
        return made

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        """The derivatives of the sum of the targets' elements, as a structure like `sources`.

        output_gradients: factors of the targets' elements. unconnected_gradients: 'none', or 'zero'
        for zeros where a source was not seen.
        """
        self._once()
        targets = [x for x in trees.flatten(target)[0] if isinstance(x, Tensor)]
        seeds = [None] * len(targets)
        if output_gradients is not None:
            given = trees.flatten(output_gradients)[0]
            if len(given) != len(targets):
                raise ValueError(
                    message("gradient", "not a factor for each target", len(given), len(targets))
                )
            seeds = [convert(g, x._a.dtype)._value() for g, x in zip(given, targets, strict=True)]
        leaves, shape = trees.flatten(sources)
        found = self._pulled(targets, seeds, leaves, unconnected_gradients)
        return self._answered(trees.unflatten(shape, found))

    def _pulled(self, targets, seeds, leaves, unconnected="none"):
        unconnected = getattr(unconnected, "value", unconnected)
        if unconnected not in ("none", "zero"):
            raise ValueError(message("gradient", "unknown", unconnected, "'none' or 'zero'"))
        pairs = [
            (x._a, nb.ones(x._a.shape, x._a.dtype) if s is None else as_array(s))
            for x, s in zip(targets, seeds, strict=True)
            if kind_of(x._a.dtype) in "fc" and self._reaches(x)
        ]
        inputs, where = [], []
        for x in leaves:
            if not isinstance(x, Tensor):
                raise ValueError(message("gradient", "a source is no tensor", type(x), "a tensor"))
            known = self._known.get(id(x))
            arrays = known[1] if known else [x._a] if self._program.depends(x._a) else []
            if not known and arrays and not self._is_apart(x._a):
                raise _of_a_part("gradient")
            arrays = arrays if pairs else []
            where.append(range(len(inputs), len(inputs) + len(arrays)))
            inputs += arrays
        outputs, seeds = [a for a, _ in pairs], [s for _, s in pairs]
        found = self._program.gradient(outputs, seeds, inputs, zeros=False) if inputs else []
        made = []
        for x, positions in zip(leaves, where, strict=True):
            total = None
            for k in positions:
                if found[k] is not None:
                    total = found[k] if total is None else total + found[k]
            if total is not None:
                made.append(Tensor(as_array(total)))
            else:
                made.append(
                    Tensor(nb.zeros(x._a.shape, x._a.dtype)) if unconnected == "zero" else None
                )
        return made

    def _is_apart(self, array):
        """Whether a result has memory that nothing else is known to have."""
        return array.base is None and not any(
            [a._storage == array._storage for _, arrays in self._known.values() for a in arrays]
        )

    def _reaches(self, x):
        return id(x) in self._known or self._program.depends(x._a)

    def batch_jacobian(self, target, source, unconnected_gradients="none",
                       parallel_iterations=None, experimental_use_pfor=True):  # fmt: skip
        """The derivatives of each example's elements by those of the same example: (examples, axes
        of the target, axes of the source).
        """
        if target.ndim < 1 or source.ndim < 1 or target.shape[0] != source.shape[0]:
            raise ValueError(
                message("batch_jacobian", "the first extents differ", tuple(target.shape),
                        tuple(source.shape))
            )  # fmt: skip
        _rows_as_ever(parallel_iterations, experimental_use_pfor)
        self._once()
        rest, rows = target._a.shape[1:], []
        for at in numpy.ndindex(*rest):
            seed = nb.zeros(target._a.shape, target._a.dtype)
            seed[(slice(None), *at)] = 1
            rows += self._pulled([target], [seed], [source], unconnected_gradients)
        self._answered(None)
        if not rows or rows[0] is None:
            return None
        joined = nb.stack([g._a for g in rows], axis=1)
        return Tensor(joined.reshape((target.shape[0], *rest, *source._a.shape[1:])))

    def jacobian(self, target, sources, unconnected_gradients="none",
                 parallel_iterations=None, experimental_use_pfor=True):  # fmt: skip
        """The derivatives of each element of the target, with its axes first; row by row."""
        _rows_as_ever(parallel_iterations, experimental_use_pfor)
        self._once()
        leaves, shape = trees.flatten(sources)
        rows = []
        for at in numpy.ndindex(*target._a.shape):
            seed = nb.zeros(target._a.shape, target._a.dtype)
            seed[at] = 1
            rows.append(self._pulled([target], [seed], leaves, unconnected_gradients))
        self._answered(None)
        made = []
        for column, x in zip(zip(*rows, strict=True), leaves, strict=True):
            if column[0] is None:
                made.append(None)
                continue
            joined = nb.stack([g._a for g in column])
            made.append(Tensor(joined.reshape(target._a.shape + x._a.shape)))
        return trees.unflatten(shape, made)


def _rows_as_ever(parallel_iterations, experimental_use_pfor):
    if parallel_iterations is not None or not isinstance(experimental_use_pfor, bool):
        raise NotImplementedError(
            message("jacobian", "parallel_iterations= is not yet available",
                    parallel_iterations, "None")
        )  # fmt: skip


def custom_gradient(f):
    """A function with a derivative of its own: `f` returns its results and a function that gives
    the derivatives by its arguments from those by the results.
    """

    @functools.wraps(f)
    def wrapper(*args, **keywords):
        given = [convert(x) for x in args]

        def body(*arrays):
            made, back = f(*[Tensor(as_array(a)) for a in arrays], **keywords)
            leaves, shape = trees.flatten(made)

            def pull(adjoints):
                found = back(*[Tensor(as_array(g)) for g in adjoints])
                found = found if isinstance(found, (list, tuple)) else [found]
                if len(found) != len(arrays):
                    raise ValueError(
                        message("custom_gradient", "another number of derivatives than of"
                                " arguments", len(found), len(arrays))
                    )  # fmt: skip
                pairs = zip(found, arrays, strict=True)
                floats = [(g, a) for g, a in pairs if kind_of(as_array(a).dtype) in "fc"]
                return tuple([
                    nb.zeros(a.shape, a.dtype) if g is None else convert(g)._a for g, a in floats
                ])  # fmt: skip

            shapes.append(shape)
            return tuple([convert(x)._a for x in leaves]), pull

        shapes = []
        found = nb.custom_gradient(body)(*[x._value() for x in given])
        return trees.unflatten(shapes[-1], [Tensor(as_array(a)) for a in found])

    return wrapper


def _of_a_part(op):
    return NotImplementedError(
        message(op, "the derivative by a part or a view of another tensor is not yet told apart"
                " from that by the whole", "a slice or reshaped tensor",
                "tf.identity(x) of the part, used in its place")
    )  # fmt: skip
