"""PyTorch's files (.pt): a zip archive with a pickle of names and shapes, and elements apart.

They are read by a table of the names that such a pickle may have: nothing in a file is executed,
and a file that names anything else is refused.
"""

import codecs
import io
import os
import pickle
import zipfile
from collections import Counter, OrderedDict
from typing import NamedTuple

import numpy

from ... import _core
from ...core.dtypes import BFLOAT16
from ...core.errors import message
from ...core.operands import adopt
from ...core.pickles import Unpickler, encoded
from ...tensors import Parameter, Size, Tensor, device
from ...tensors import dtype as dtype_type
from ...tensors._tensor import wrap

__all__ = ["load", "save"]

# Elements' types by the names of PyTorch's storages and dtypes.
_STORAGES = {
    "FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2",
    "BFloat16Storage": "bfloat16", "LongStorage": "i8",
    "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1",
    "BoolStorage": "?", "ComplexFloatStorage": "c8", "ComplexDoubleStorage": "c16",
}  # fmt: skip
_DTYPES = {
    "float32": "f4", "float64": "f8", "float16": "f2", "bfloat16": "bfloat16", "int64": "i8",
    "int32": "i4", "int16": "i2", "int8": "i1", "uint8": "u1", "bool": "?", "complex64": "c8",
    "complex128": "c16", "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip
_NAME_OF_STORAGE = {numpy.dtype(text): name for name, text in _STORAGES.items()}
_NAME_OF_DTYPE = {numpy.dtype(text): name for name, text in _DTYPES.items()}


_EXPECTED = "tensors, numbers, texts, and dicts, lists and tuples of them"


# Reading.


class _Kind(NamedTuple):
    """The type of a storage."""

    name: str
    dtype: object


def _damaged(what, got):
    return pickle.UnpicklingError(message("load", what, got, _EXPECTED))


def _strided(storage, offset, size, stride, dtype):
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or any(type(x) is not int or x < 0 for x in numbers):
        raise _damaged("sizes of a tensor", (offset, size, stride))
    if 0 in size:
        return _core.empty(tuple(size), dtype)
    if offset + sum((n - 1) * s for n, s in zip(size, stride)) >= storage.size:
        raise _damaged("a tensor reaches beyond its elements", (offset, size, stride))
    steps = tuple(s * dtype.itemsize for s in stride)
    return _core.as_strided(storage[offset:], tuple(size), steps)


def _tensor_of(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    if hooks or metadata:
        raise _damaged("a tensor with hooks or metadata", hooks or metadata)
    elements, where = storage
    t = wrap(_strided(elements, offset, size, stride, elements.dtype))
    t = t if where is None else t.to(where)
    # Memory of its own: whether it is differentiated is none of the business of what shares it.
    return t.clone().requires_grad_() if requires_grad else t


def _parameter_of(data, requires_grad=True, hooks=None):
    if hooks:
        raise _damaged("a parameter with hooks", hooks)
    return Parameter(data.clone(), requires_grad)


_BUILTINS = {"set": set, "complex": complex, "bytearray": bytearray}


def _names():
    """What a pickle may name; its values are made anew, or cannot be changed."""
    return {
        ("collections", "OrderedDict"): OrderedDict,
        ("collections", "Counter"): Counter,
        ("_codecs", "encode"): encoded,
        ("torch._utils", "_rebuild_tensor_v2"): _tensor_of,
        ("torch._utils", "_rebuild_parameter"): _parameter_of,
        ("torch", "Size"): Size,
        ("torch", "device"): device,
        **{("torch", name): dtype_type(name, text) for name, text in _DTYPES.items()},
        **{("torch", k): _Kind(k, numpy.dtype(text)) for k, text in _STORAGES.items()},
        **{(m, k): f for m in ("builtins", "__builtin__") for k, f in _BUILTINS.items()},
    }


class _Unpickler(Unpickler):
    def __init__(self, text, storage_of):
        super().__init__(text, _names(), OrderedDict, _EXPECTED, encoding="utf-8")
        self._storage_of = storage_of

    def persistent_load(self, given):
        right = isinstance(given, tuple) and len(given) == 5 and given[0] == "storage"
        if not right or not isinstance(given[1], _Kind) or not isinstance(given[2], str):
            self.refuse("elements are named in another way", given)
        return self._storage_of(*given[1:])


def load(f, map_location=None, weights_only=True):
    """What `save()` or torch.save() wrote: tensors, numbers, texts, dicts, lists and tuples.

    Parameters
    ----------
    f : path or file
    map_location : str or device or dict, optional
        Where the tensors are put; a dict says so for devices by name. Where they were, unless
        given.
    weights_only : bool, default True
        Makes no difference but in what errors say: nothing in a file is executed.

    Raises
    ------
    pickle.UnpicklingError
        For a file that names anything else.
    ValueError
        For a file in another format.
    """
    if callable(map_location):
        raise NotImplementedError(
            message("load", "map_location as a function is not there yet", map_location,
                    "a device or a dict")
        )  # fmt: skip
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load(file, map_location, weights_only)
    if not zipfile.is_zipfile(f):
        raise ValueError(
            message("load", "file is no zip archive", getattr(f, "name", "a file"),
                    "what torch.save of PyTorch 1.6 and later writes")
        )  # fmt: skip
    f.seek(0)
    with zipfile.ZipFile(f) as archive:
        names = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if len(names) != 1:
            raise ValueError(
                message("load", "archive of another kind", archive.namelist()[:3], "data.pkl")
            )
        home = names[0].removesuffix("data.pkl")
        order = "little"
        if home + "byteorder" in archive.namelist():
            order = archive.read(home + "byteorder").decode().strip()
        known = {}

        def storage_of(kind, key, location, count):
            if key not in known:
                raw = archive.read(f"{home}data/{key}")
                if len(raw) != count * kind.dtype.itemsize:
                    raise _damaged("elements of another number", (len(raw), count))
                known[key] = adopt(_elements(raw, kind.dtype, "<" if order == "little" else ">"))
            if known[key].dtype != kind.dtype:
                raise _damaged("elements of two types", kind.name)
            return known[key], _place(location, map_location)

        try:
            return _Unpickler(io.BytesIO(archive.read(names[0])), storage_of).load()
        except pickle.UnpicklingError as error:
            if not weights_only:
                error.add_note("weights_only=False is taken as True here")
            raise


def _elements(raw, dtype, order):
    """A fresh array of bytes in an order; NumPy swaps no elements of types that are not its own."""
    stored = numpy.dtype("u2") if dtype == BFLOAT16 else dtype
    found = numpy.frombuffer(raw, stored.newbyteorder(order)).astype(stored)
    return found.view(dtype) if dtype == BFLOAT16 else found


def _place(location, map_location):
    """The device of elements that were on `location`; None: the host."""
    where = location
    if isinstance(map_location, dict):
        where = map_location.get(location, location)
    elif map_location is not None:
        where = map_location
    return None if str(where) == "cpu" else str(where)


# Writing.


class _Global:
    """A name of PyTorch's in a pickle."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self):  # pickle asks whether it can be called
        raise TypeError(message("save", "a name is called", self.name, "a file"))


class _Storage:
    """Elements that the pickle names, and that stand beside it."""

    def __init__(self, *given):
        self.given = ("storage", *given)


class _Rebuilt:
    """The tensor that a parameter is made of."""

    def __init__(self, given):
        self.given = given


_REBUILD = _Global("torch._utils", "_rebuild_tensor_v2")
_REBUILD_PARAMETER = _Global("torch._utils", "_rebuild_parameter")


class _Pickler(pickle._Pickler):
    def __init__(self, file):
        super().__init__(file, protocol=2)
        self.elements = {}  # by what tensors share: (key in the archive, array)

    def persistent_id(self, x):
        return x.given if isinstance(x, _Storage) else None

    def _tensor(self, t, requires_grad):
        """The arguments that it is rebuilt of; tensors of equal views share their elements."""
        a = numpy.asarray(t.detach().cpu()._array)
        shared = (a.__array_interface__["data"][0], a.shape, a.strides, a.dtype)
        if a.dtype not in _NAME_OF_STORAGE:
            raise pickle.PicklingError(
                message("save", "dtype of a tensor", a.dtype, ", ".join(_STORAGES))
            )
        if shared not in self.elements:
            self.elements[shared] = str(len(self.elements)), a
        kind = _Global("torch", _NAME_OF_STORAGE[a.dtype])
        storage = _Storage(kind, self.elements[shared][0], "cpu", a.size)
        steps = numpy.cumprod([1, *a.shape[:0:-1]])[::-1].tolist() if a.ndim else []
        return storage, 0, a.shape, tuple(steps), requires_grad, OrderedDict()

    def reducer_override(self, x):
        if isinstance(x, _Global):
            return x.name
        if isinstance(x, dtype_type):
            return _NAME_OF_DTYPE[x.numpy]
        if isinstance(x, Parameter):
            inner = _Rebuilt(self._tensor(x, False))
            return _REBUILD_PARAMETER, (inner, x.requires_grad, OrderedDict())
        if isinstance(x, Tensor):
            return _REBUILD, self._tensor(x, x.requires_grad)
        if isinstance(x, _Rebuilt):
            return _REBUILD, x.given
        if isinstance(x, Size):
            return _Global("torch", "Size"), (tuple(x),)
        if isinstance(x, device):
            return _Global("torch", "device"), (str(x),)
        if isinstance(x, _PLAIN) or x in _WRITTEN:
            return NotImplemented
        raise pickle.PicklingError(
            message("save", "what a file cannot hold", type(x).__name__,
                    f"{_EXPECTED} (a module's state_dict())")
        )  # fmt: skip

    def save_global(self, obj, name=None):
        if isinstance(obj, _Global):
            module = obj.module
        elif isinstance(obj, dtype_type):
            module = "torch"
        else:
            name, module = obj.__name__, _WRITTEN[obj]
        self.write(b"c" + f"{module}\n{name}\n".encode())
        self.memoize(obj)


_PLAIN = (type(None), bool, int, float, complex, str, bytes, dict, list, tuple, set)
# What pickles of these name, and the module that it is written with.
_WRITTEN = {OrderedDict: "collections", Counter: "collections", codecs.encode: "_codecs"}
_WRITTEN |= {kind: "__builtin__" for kind in _BUILTINS.values()}


def save(obj, f):
    """Writes tensors, numbers, texts, and dicts, lists and tuples of them, such as a state_dict, to
    a path or file, as PyTorch does. Raises pickle.PicklingError for anything else.
    """
    text = io.BytesIO()
    pickler = _Pickler(text)
    pickler.dump(obj)
    if isinstance(f, (str, os.PathLike)):
        home = os.path.basename(os.fspath(f)).rpartition(".")[0] or "archive"
    else:
        home = "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{home}/data.pkl", text.getvalue())
        archive.writestr(f"{home}/byteorder", "little")
        for key, a in pickler.elements.values():
            archive.writestr(f"{home}/data/{key}", numpy.ascontiguousarray(a).tobytes())
        archive.writestr(f"{home}/version", "3\n")
