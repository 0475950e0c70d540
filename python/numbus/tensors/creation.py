"""Making tensors, moving them, and what Python and NumPy see of them."""

import builtins
import copy
import functools

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.operands import to_ndarray
from . import _dtypes
from ._arrays import as_dtype, beside, not_yet, order_of_format, sizes
from ._functions import tensor_function
from ._mode import no_grad
from ._tensor import Tensor, wrap

_current = {"device": None}


class device:
    """A device by name: `device("cpu")`, `device("cuda")`, `device("cuda", 0)`, `device("cuda:0")`.

    As a context, that of new tensors.
    """

    __slots__ = ("_before", "index", "type")

    def __init__(self, type="cuda", index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, builtins.int):
            type, index = "cuda", type
        elif ":" in type:
            type, number = type.split(":")
            index = builtins.int(number)
        if type not in ("cpu", "cuda", "fenced", "null"):
            raise RuntimeError(message("device", "no such device", type, "'cpu' or 'cuda'"))
        self.type, self.index = type, index
        self._before = []

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __eq__(self, other):
        if isinstance(other, str):
            return str(self) == other
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __enter__(self):
        self._before.append(_current["device"])
        _set_current(str(self))
        return self

    def __exit__(self, *error):
        _set_current(self._before.pop())


def _set_current(name):
    _current["device"] = name
    _dtypes.tell_settings(device=name)


def set_default_device(name):
    """The device of new tensors; None: chosen by cost where there is a GPU."""
    _set_current(None if name is None else str(device(name)))


def get_default_device():
    """The device of new tensors."""
    return device(_current["device"] or "cpu")


def named(where):
    """The name of a device, of that of new tensors for None; None where nobody named one."""
    return _current["device"] if where is None else str(device(where))


def _on(a, where):
    name = named(where)
    return a if name is None else a.to_device(name)


def finished(a, where=None, requires_grad=False):
    """A tensor of a fresh array, on a device."""
    t = wrap(_on(a, where))
    t._constant = t._active
    if requires_grad:
        t.requires_grad_()
    return t


def made_on(where, make, *args, **keywords):
    """What `make` gives, made on a device: nothing has to be copied there."""
    name = named(where)
    if name is None:
        return make(*args, **keywords)
    before = _core.set_device(name)
    try:
        return make(*args, **keywords)
    finally:
        _core.set_device(before)


Tensor._of = staticmethod(wrap)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of numbers, nested sequences, NumPy's or our arrays, always a copy.

    Python floats make the default dtype (float32), integers int64. Raises ValueError for sequences
    of different lengths, TypeError for what are no numbers.
    """
    if isinstance(data, Tensor):
        a = _core.stop_gradient(data._array)
    elif isinstance(data, (list, tuple)) and _holds_tensors(data):
        from .shapes import stack

        with no_grad():
            parts = [x if isinstance(x, Tensor) else tensor(x, dtype=dtype) for x in data]
            a = stack(parts)._array
    elif hasattr(data, "dtype"):
        a = _core.copy_of(to_ndarray(data))
    else:
        try:
            numbers = numpy.array(data)
        except ValueError:
            raise ValueError(
                message("tensor", "sequences of different lengths", type(data).__name__,
                        "equal lengths along each dimension")
            ) from None  # fmt: skip
        if kind_of(numbers.dtype) not in "biufc":
            raise TypeError(
                message("tensor", "not numbers", numbers.dtype, "numbers or truth values")
            )
        t = _dtypes.of_data(numbers) if numbers.size or kind_of(numbers.dtype) != "f" else None
        t = _dtypes.default_float() if t is None else t
        if dtype is None and isinstance(data, (list, tuple)) and kind_of(numbers.dtype) in "fc":
            t = _of_items(data) or t
        a = _core.copy_of(to_ndarray(numbers.astype(_dtypes.to_numpy(dtype) if dtype else t)))
    if type(a) is not nb.ndarray:
        a = to_ndarray(a)
    if dtype is not None:
        a = as_dtype(a, _dtypes.to_numpy(dtype))
    return finished(a, device, requires_grad)


def _of_items(data):
    """The dtype of a sequence with NumPy's numbers or arrays in it, which keep theirs; None for
    Python's numbers alone.
    """
    found, plain = set(), set()

    def walk(items):
        kinds = set(map(type, items))
        plain.update(kinds & _PLAIN)
        if not kinds <= _PLAIN:
            for x in items:
                if isinstance(x, (list, tuple)):
                    walk(x)
                elif hasattr(x, "dtype"):
                    found.add(numpy.dtype(x.dtype))

    walk(data)
    if not found:
        return None
    found.update([_PLAIN_DTYPES[kind]() for kind in plain])
    return functools.reduce(_dtypes.joined, found)


_PLAIN_DTYPES = {
    builtins.bool: lambda: numpy.dtype(bool),
    builtins.int: lambda: numpy.dtype("i8"),
    builtins.float: lambda: _dtypes.default_float(),
    builtins.complex: lambda: numpy.promote_types(_dtypes.default_float(), "c8"),
}
_PLAIN = frozenset(_PLAIN_DTYPES)


def _holds_tensors(data):
    return any(
        isinstance(x, Tensor) or (isinstance(x, (list, tuple)) and _holds_tensors(x)) for x in data
    )


def as_tensor(data, dtype=None, device=None):
    """A tensor that shares memory with an array or tensor where dtype and device allow it."""
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype)
    if isinstance(data, (numpy.ndarray, nb.ndarray)):
        a = as_dtype(to_ndarray(data), _dtypes.to_numpy(dtype) or data.dtype)
        return finished(a, device)
    return tensor(data, dtype=dtype, device=device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor of an array, a buffer, a sequence or a number, of the same memory where it can be.

    copy: True asks for memory of its own; False raises ValueError where that would be needed.
    """
    from_object = isinstance(obj, (Tensor, numpy.ndarray, nb.ndarray))
    if not from_object and isinstance(obj, (bytes, bytearray, memoryview)):
        obj, from_object = frombuffer(obj, dtype=dtype or _dtypes.default_float()), True
    made = as_tensor(obj, dtype=dtype, device=device)
    if isinstance(obj, Tensor):
        made = made.detach() if made is not obj else obj.detach()
    shared = from_object and _shares_memory(made, obj)
    if copy and shared:
        made = made.clone()
    if copy is False and not shared:
        raise ValueError(
            message("asarray", "a copy is needed", f"{type(obj).__name__} as {made.dtype}",
                    "copy=None, or an array of that dtype")
        )  # fmt: skip
    return made.requires_grad_() if requires_grad else made


def _shares_memory(made, obj):
    """Whether a tensor made of an array or a tensor lies in its memory."""
    if isinstance(obj, numpy.ndarray):
        return made.device.type == "cpu" and numpy.shares_memory(made._array.to_numpy(), obj)
    return made._array._storage == (obj._array if isinstance(obj, Tensor) else obj)._storage


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A line of numbers that lie in a buffer of Python's, whose memory it shares."""
    t = _dtypes.to_numpy(dtype)
    try:
        numbers = numpy.frombuffer(buffer, t, count, offset)
    except ValueError:
        raise ValueError(
            message("frombuffer", "the buffer has not so many elements",
                    f"{memoryview(buffer).nbytes} bytes, offset {offset}, count {count}",
                    f"elements of {t.itemsize} bytes")
        ) from None  # fmt: skip
    made = from_numpy(numbers)
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray):
    """A tensor that shares its memory with an array of NumPy's or ours."""
    if not isinstance(ndarray, (numpy.ndarray, nb.ndarray)):
        raise TypeError(
            message("from_numpy", "not an array", type(ndarray).__name__, "a numpy.ndarray")
        )
    made = wrap(to_ndarray(ndarray))
    made._constant = made._active
    return made


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor of what has `__dlpack__()`, of the same memory unless `copy`."""
    made = wrap(nb.from_dlpack(ext_tensor, device=device, copy=copy))
    made._constant = made._active
    return made


@tensor_function
def _made_before(input):
    return input


def filling(make):
    """A function that makes a tensor, which takes `out=`: of its dtype and on its device."""

    @functools.wraps(make)
    def wrapper(*args, out=None, **keywords):
        if out is None:
            return make(*args, **keywords)
        op = make.__name__
        if not isinstance(out, Tensor):
            raise TypeError(message(op, "out= is no tensor", type(out).__name__, "a tensor"))
        for name, own in (("dtype", out.dtype), ("device", out.device)):
            given = keywords.get(name)
            if given is not None and str(given) != str(own):
                raise RuntimeError(message(op, f"{name}= is not that of out=", given, own))
            keywords[name] = own
        wanted = keywords.pop("requires_grad", False)
        made = make(*args, **keywords)
        if op != "arange" and out.shape != made.shape:
            out.resize_(made.shape)  # without a warning, as PyTorch does
        found = _made_before(made, out=out)
        return found.requires_grad_() if wanted else found

    return wrapper


def _made(op, function):
    def make(
        *lengths, size=None, dtype=None, layout=None, device=None, requires_grad=False,
        pin_memory=False, memory_format=None,
    ):  # fmt: skip
        not_yet(op, layout=layout, memory_format=memory_format)
        t = _dtypes.to_numpy(dtype) or _dtypes.default_float()
        made = made_on(device, function, sizes(op, lengths, size), dtype=t)
        return finished(made, device, requires_grad)

    make.__name__ = make.__qualname__ = op
    make.__doc__ = (
        f"A tensor of the sizes given, of {op if op != 'empty' else 'undefined numbers'}."
    )
    return filling(make)


zeros, ones, empty = _made("zeros", nb.zeros), _made("ones", nb.ones), _made("empty", nb.empty)


@filling
def full(size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """A tensor of one number, of its dtype (Python floats: the default dtype)."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    t = _dtypes.to_numpy(dtype) or _dtypes._number_type(value)
    made = made_on(device, nb.full, sizes("full", (size,)), value, dtype=t)
    return finished(made, device, requires_grad)


def _like(op, function):
    def make(input, *args, dtype=None, device=None, requires_grad=False, memory_format=None):
        not_yet(op, memory_format=memory_format)
        a = input._array
        t = _dtypes.to_numpy(dtype) or a.dtype
        where = beside(a) if device is None else device
        return finished(made_on(where, function, a.shape, *args, dtype=t), where, requires_grad)

    make.__name__ = make.__qualname__ = op + "_like"
    make.__doc__ = f"`{op}` of the shape, dtype and device of a tensor."
    return make


zeros_like, ones_like = _like("zeros", nb.zeros), _like("ones", nb.ones)
empty_like, _full_like = _like("empty", nb.empty), _like("full", nb.full)


def full_like(
    input, fill_value, *, dtype=None, device=None, requires_grad=False, memory_format=None
):
    """A tensor of one number, of the shape, dtype and device of another one."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _full_like(
        input, value, dtype=dtype, device=device, requires_grad=requires_grad,
        memory_format=memory_format,
    )  # fmt: skip


def _new(function):
    def make(self, *lengths, size=None, dtype=None, device=None, requires_grad=False):
        t = _dtypes.to_numpy(dtype) or self._array.dtype
        where = beside(self._array) if device is None else device
        made = made_on(where, function, sizes("new", lengths, size), dtype=t)
        return finished(made, where, requires_grad)

    return make


Tensor.new_zeros, Tensor.new_ones = _new(nb.zeros), _new(nb.ones)
Tensor.new_empty = _new(nb.empty)
Tensor.new_full = lambda self, size, fill_value, *, dtype=None, device=None, requires_grad=False: (
    full(
        tuple(size),
        fill_value,
        dtype=self._array.dtype if dtype is None else dtype,
        device=beside(self._array) if device is None else device,
        requires_grad=requires_grad,
    )
)
Tensor.new_tensor = lambda self, data, *, dtype=None, device=None, requires_grad=False: tensor(
    data,
    dtype=self._array.dtype if dtype is None else dtype,
    device=beside(self._array) if device is None else device,
    requires_grad=requires_grad,
)


@filling
def arange(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Numbers from `start` up to `end`, without it: int64 of integers, else the default dtype."""
    if end is None:
        start, end = 0, start
    start, end, step = (x.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0 or (end - start) * step < 0:
        raise RuntimeError(
            message("arange", "steps that do not lead from start to end",
                    f"{start}, {end} and {step}", "a step of the sign of end - start")
        )  # fmt: skip
    t = _dtypes.to_numpy(dtype)
    if t is None:
        whole = whole_numbers(start, end, step)
        t = _dtypes.int64.numpy if whole else _dtypes.default_float()
    if t.kind in "iu" and not whole_numbers(start, end, step):
        # The numbers are made of what is left of the limits in integers.
        start, end, step = (builtins.int(x) for x in (start, end, step))
    made = made_on(device, lambda: as_dtype(nb.arange(start, end, step), t))
    return finished(made, device, requires_grad)


def whole_numbers(*numbers):
    """Whether all are integers of Python's or NumPy's."""
    return all(isinstance(x, (builtins.int, numpy.integer)) for x in numbers)


@filling
def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False):
    """Numbers at equal distances from `start` to `end`, with it."""
    start, end = (x.item() if isinstance(x, Tensor) else x for x in (start, end))
    t = _dtypes.to_numpy(dtype) or _dtypes.default_float()
    if t.kind in "iu":  # the part after the point is left out, towards zero
        made = as_dtype(nb.trunc(nb.linspace(start, end, steps)), t)
        return finished(_on(made, device), device, requires_grad)
    made = made_on(device, nb.linspace, start, end, steps, dtype=t)
    return finished(made, device, requires_grad)


@filling
def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False):
    """Powers of `base` at equal ratios."""
    t = _dtypes.to_numpy(dtype) or _dtypes.default_float()
    made = made_on(device, nb.logspace, start, end, steps, base=base, dtype=t)
    return finished(made, device, requires_grad)


@filling
def eye(n, m=None, *, dtype=None, device=None, requires_grad=False):
    """Ones on the diagonal, zeros elsewhere."""
    t = _dtypes.to_numpy(dtype) or _dtypes.default_float()
    return finished(made_on(device, nb.eye, n, m, dtype=t), device, requires_grad)


# Dtypes and devices


Tensor.dtype = property(lambda self: _dtypes.of(self._array.dtype))


def _device(self):
    """Where the elements are."""
    name = str(self._array.device)
    return device("cuda", 0) if name == "cuda" else device(name)


Tensor.device = property(_device)
Tensor.is_cuda = property(lambda self: str(self._array.device).startswith("cuda"))
Tensor.is_floating_point = lambda self: kind_of(self._array.dtype) == "f"
Tensor.is_complex = lambda self: self._array.dtype.kind == "c"


def is_tensor(obj):
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    """Whether the dtype is floating point."""
    return kind_of(input._array.dtype) == "f"


def is_complex(input):
    """Whether the dtype is complex."""
    return input._array.dtype.kind == "c"


@tensor_function
def _moved(a, t, where, again):
    made = as_dtype(a, t) if t is not None else a
    if where is not None:
        made = made.to_device(where)
    return made.copy() if again and made is a else made


_Device = device


@functools.lru_cache(maxsize=64)
def _name_of(place):
    return str(_Device(place))


def _to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """The tensor in a dtype, on a device, or as another tensor is; itself where it is so."""
    # A batch on its way to a GPU, as most calls are.
    if len(args) == 1 and dtype is device is memory_format is None and not copy:
        where = _name_of(args[0]) if isinstance(args[0], (str, _Device)) else None
        if where is not None and where.startswith("cuda") and self._array._device == "cpu":
            return _moved(self, None, where, False)
    if order_of_format("to", memory_format, self.dim()) is not None:
        made = _to(self, *args, dtype=dtype, device=device, copy=copy)
        return made.contiguous(memory_format=memory_format)
    for x in args:
        if isinstance(x, Tensor):
            dtype, device = x._array.dtype, x.device
        elif isinstance(x, (str, _Device, builtins.int)) and type(x) is not builtins.bool:
            device = x
        elif x is not None and not isinstance(x, builtins.bool):  # that is non_blocking
            dtype = x
    t = _dtypes.to_numpy(dtype)
    where = None if device is None else str(_Device(device))
    a = self._array
    if where is not None and _Device(where) == self.device and _named(a, where):
        where = None
    if (t is None or t == a.dtype) and where is None and not copy:
        return self
    return _moved(self, t, where, copy)


def _named(a, where):
    """Whether an array is on a device that the user named, so that nothing has to be done."""
    return a.to_device(where) is a


Tensor.to = _to


def _type(self, dtype=None, non_blocking=False):
    """The name of its kind, such as 'torch.FloatTensor'; or the tensor in a dtype, which may be
    one of these names or classes.
    """
    if dtype is None:
        return f"{_dtypes.dtype.home}.{_type_name(self)}"
    if isinstance(dtype, str):
        where = "cuda" if ".cuda." in dtype else "cpu"
        for name, short in _NAMES.items():
            if dtype.rpartition(".")[2] == short + "Tensor":
                return self.to(where, _dtypes.of(numpy.dtype(name)), non_blocking)
        raise ValueError(message("type", "no such kind", dtype, "'torch.FloatTensor' and its kin"))
    return self.to(getattr(dtype, "of_dtype", dtype), non_blocking=non_blocking)


Tensor.type = _type
Tensor.type_as = lambda self, other: self.to(other.dtype)
Tensor.cpu = lambda self: self.to("cpu")
Tensor.cuda = lambda self, device=None, non_blocking=False: self.to(
    "cuda" if device is None else device
)
Tensor.pin_memory = lambda self: self


_NAMES = {"f2": "Half", "f4": "Float", "f8": "Double", "i8": "Long", "i4": "Int", "i2": "Short",
          "i1": "Char", "u1": "Byte", "b1": "Bool"}  # fmt: skip


def _type_name(t):
    kind = t._array.dtype.str[1:]
    name = ("BFloat16" if kind == "V2" else _NAMES.get(kind, t._array.dtype.name)) + "Tensor"
    return name if not t.is_cuda else "cuda." + name


for _name, _t in {
    "half": "f2", "bfloat16": "bfloat16", "float": "f4", "double": "f8", "long": "i8",
    "int": "i4", "short": "i2", "char": "i1", "byte": "u1", "bool": "?", "cfloat": "c8",
    "cdouble": "c16",
}.items():  # fmt: skip
    setattr(Tensor, _name, lambda self, t=_t: self.to(numpy.dtype(t)))


@tensor_function
def _part_of(a, name):
    return getattr(a, name)


def real(input):
    """The real parts; a tensor of real numbers itself."""
    return input if input._array.dtype.kind != "c" else _part_of(input, "real")


Tensor.real = property(real)
Tensor.imag = property(lambda self: _part_of(self, "imag"))


# Python and NumPy


def _item(self):
    """The only element as a Python number."""
    if self._array.size != 1:
        raise RuntimeError(
            message("item", "more than one element", f"shape {list(self.shape)}", "one element")
        )
    return self._array.item()


Tensor.item = _item
Tensor.tolist = lambda self: self._array.tolist()
Tensor.__float__ = lambda self: builtins.float(_item(self))
Tensor.__int__ = lambda self: builtins.int(_item(self))
Tensor.__complex__ = lambda self: builtins.complex(_item(self))
Tensor.__index__ = lambda self: _as_index(self)


def _as_index(self):
    if self._array.dtype.kind not in "iub" or self._array.size != 1:
        raise TypeError(
            message("index", "not one integer", f"{self.dtype} {list(self.shape)}", "an integer")
        )
    return builtins.int(_item(self))


def _truth(self):
    if self._array.size != 1:
        raise RuntimeError(
            message("bool", "the truth value of more or less than one element is not defined",
                    f"shape {list(self.shape)}", "x.any() or x.all()")
        )  # fmt: skip
    return builtins.bool(_item(self))


Tensor.__bool__ = _truth


def _length(self):
    if self._array.ndim == 0:
        raise TypeError(message("len", "a number has no length", "0 dimensions", "at least 1"))
    return self._array.shape[0]


Tensor.__len__ = _length


def _iterate(self):
    from .shapes import unbind

    if self._array.ndim == 0:
        raise TypeError(message("iter", "a number has no elements", "0 dimensions", "at least 1"))
    return iter(unbind(self, 0))


Tensor.__iter__ = _iterate
Tensor.__contains__ = lambda self, x: builtins.bool((self == x).any())


def _numpy(self, *, force=False):
    """The elements as an array that shares the memory.

    Raises RuntimeError where the tensor requires a gradient (x.detach().numpy()), TypeError where
    it is on a GPU (x.cpu().numpy()); with `force`, a copy where needed.
    """
    if self.requires_grad and not force:
        raise RuntimeError(
            message("numpy", "the tensor requires a gradient", f"shape {list(self.shape)}",
                    "x.detach().numpy()")
        )  # fmt: skip
    if self.is_cuda and not force:
        raise TypeError(message("numpy", "the elements are on a GPU", self.device, "x.cpu()"))
    return numpy.asarray(self._array)


Tensor.numpy = _numpy


def _array(self, dtype=None, copy=None):
    found = _numpy(self)
    if dtype is not None and found.dtype != dtype:
        return found.astype(dtype)
    return found.copy() if copy else found


def _wrapped(_self, array, _context=None, _return_scalar=False):
    """A result of NumPy's ufuncs as a tensor; as PyTorch's, of uint8 in place of bool."""
    a = to_ndarray(array)
    return wrap(a.astype("u1") if a.dtype == bool else a)


Tensor.__array__ = _array
Tensor.__array_wrap__ = _wrapped
Tensor.__dlpack__ = lambda self, **keywords: self._array.__dlpack__(**keywords)
Tensor.__dlpack_device__ = lambda self: self._array.__dlpack_device__()


def _data_ptr(self):
    """The address of the first element, on the device."""
    a = self._array
    on_gpu = a._device.startswith("cuda")
    interface = a.__cuda_array_interface__ if on_gpu else a.__array_interface__
    return interface["data"][0]


Tensor.data_ptr = _data_ptr


def _deepcopy(self, memo):
    if not self.is_leaf:
        raise RuntimeError(
            message("deepcopy", "only leaves can be copied deeply", "a result that requires a"
                    " gradient", "x.detach()")
        )  # fmt: skip
    if id(self) in memo:
        return memo[id(self)]
    made = _core.new_tensor(type(self), _core.copy_of(self._array))
    memo[id(self)] = made
    for key, value in self.__dict__.items():
        made.__dict__[key] = copy.deepcopy(value, memo)
    if self._leaf:
        made.requires_grad_()
    if self._grad is not None and not isinstance(self, Parameter):  # copies of those have none
        made._grad = copy.deepcopy(self._grad, memo)
    return made


Tensor.__deepcopy__ = _deepcopy


def _rebuilt(kind, elements, requires_grad):
    made = _core.new_tensor(kind or Tensor, _core.copy_of(to_ndarray(elements)))
    if requires_grad:
        made.requires_grad_()
    return made


def _reduce(self, _protocol):
    # Tensors' own class has PyTorch's name once `compat.torch` is imported, where no such module
    # need be.
    kind = None if type(self) is Tensor else type(self)
    return _rebuilt, (kind, self._array.to_numpy(), self._leaf)


Tensor.__reduce_ex__ = _reduce


class Parameter(Tensor):
    """A tensor that requires a gradient and that modules list among their parameters."""

    def __new__(cls, data=None, requires_grad=True):
        a = nb.zeros((0,), dtype=_dtypes.default_float()) if data is None else data._array
        made = _core.new_tensor(cls, a)
        if requires_grad:
            made.requires_grad_()
        return made

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__


class Buffer(Tensor):
    """A tensor that a module lists among its buffers where it is an attribute.

    persistent: whether it is in `state_dict()`.
    """

    def __new__(cls, data=None, *, persistent=True):
        a = nb.zeros((0,), dtype=_dtypes.default_float()) if data is None else data._array
        made = _core.new_tensor(cls, a)
        made.persistent = persistent
        return made
