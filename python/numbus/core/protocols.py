"""The protocols by which NumPy, pickle and other array libraries reach Numbus arrays."""

import numpy

from .. import _core
from .._core import generic, ndarray
from . import devices as _devices
from . import standard
from .array_type import follow_standard
from .dtypes import BFLOAT16
from .errors import message
from .fallback import make, record
from .host import on_host
from .operands import adopt, library, to_ndarray, to_numpy
from .ufuncs import UFUNCS

_WORD = numpy.dtype("uint16")
_namespace = None  # the module that has the functions, see attach()


def _seen(a):
    """A view of the memory, which raises what its computation raised."""
    if a.dtype != BFLOAT16:
        return numpy.asarray(memoryview(a))
    return numpy.asarray(memoryview(a.view(_WORD))).view(BFLOAT16)


def array_of(self, dtype=None, copy=None):
    """The protocol of numpy.asarray: a zero-copy view of the memory on the CPU."""
    _core.raise_dropped(self)
    if type(self) is ndarray:
        real = _seen(self)
    elif type(self) is generic and self.dtype == BFLOAT16:
        real = _seen(self._array()).copy()  # reading the memory gives the warnings of its work
    else:
        real = numpy.asarray(to_numpy(self))
    if dtype is not None and real.dtype != dtype:
        if copy is False:
            raise ValueError(message("asarray", "unable to avoid a copy", self.dtype, dtype))
        return real.astype(dtype)
    return real.copy() if copy else real


def _rebuild_generic(scalar):
    return to_ndarray(scalar)[()]


def reduce_array(self):
    """Pickle support: the elements travel as a NumPy array."""
    return adopt, (numpy.array(numpy.asarray(self), order="K"),)


def reduce_generic(self):
    """Pickle support: the value travels as a NumPy scalar."""
    return _rebuild_generic, (to_numpy(self),)


def _function_of(function):
    """What answers for a function of NumPy's: ours where there is one, else NumPy's on views."""
    module, name = getattr(function, "__module__", ""), function.__name__
    home = _namespace
    for part in module.split(".")[1:]:
        home = getattr(home, part, None)
    ours = getattr(home, name, None)
    return make(f"{module}.{name}", function) if ours is None else ours


def _rows():
    """NumPy's ufuncs and what computes them: rows of the table, or functions of ours."""
    rows = {}
    for real in vars(numpy).values():
        if isinstance(real, numpy.ufunc):
            ours = UFUNCS.get(real.__name__) or vars(_namespace).get(real.__name__)
            if ours is not None:
                rows[real] = ours
    return rows


def _other_ufunc(ufunc, method, inputs, kwargs):
    """Methods of NumPy's ufuncs called with Numbus arrays: those of our row, where there is one,
    else NumPy's on views; and ufuncs that have no row.
    """
    ours = UFUNCS.get(ufunc.__name__) if getattr(numpy, ufunc.__name__, None) is ufunc else None
    if ours is not None and method != "__call__":
        return getattr(ours, method)(*inputs, **kwargs)
    name = ufunc.__name__
    name = "frompyfunc" if name.endswith(" (vectorized)") else name
    record(f"numpy.{name}" + ("" if method == "__call__" else f".{method}"))
    return library(getattr(ufunc, method), inputs, kwargs)


def namespace_of(_self, *, api_version=None):
    """The module that has the functions of Python's array standard.

    The standard has arrays without axes where NumPy has numbers. Libraries that follow it tell
    arrays of different namespaces apart by their types, so from the first call on, numbers read out
    of arrays are `generic`, not NumPy's. Raises ValueError for unknown versions of the standard.
    """
    standard.check_version(api_version)
    follow_standard()
    return _namespace


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the array's memory."""
    if on_host(self) and self.dtype == BFLOAT16:  # NumPy lends its own types alone
        if dl_device is not None and tuple(dl_device) != dlpack_device(self):
            raise BufferError(message("dlpack", "another device", dl_device, dlpack_device(self)))
        return _core.dlpack(self.copy() if copy else self)
    if on_host(self):
        kwargs = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        return numpy.asarray(self).__dlpack__(stream=stream, **kwargs)
    if dl_device is not None and tuple(dl_device) != dlpack_device(self):
        raise BufferError(message("dlpack", "another device", dl_device, dlpack_device(self)))
    # The memory is ready: the other side's stream need not wait.
    return _core.dlpack(self.copy() if copy else self)


def dlpack_device(self):
    """DLPack's (device type, device number)."""
    if on_host(self):
        return 1, 0
    return 2, int(self._device.partition(":")[2] or 0)


def cuda_array_interface(self):
    """Address, shape and dtype of an array on a GPU; arrays elsewhere have no such attribute."""
    if not self._device.startswith("cuda"):
        raise AttributeError(
            message("__cuda_array_interface__", "not on a GPU", self._device, "a GPU array")
        )
    return {
        "shape": self.shape,
        "typestr": self.dtype.str,
        "data": (self._pointer if self.size else 0, not self._writeable),
        "strides": None if self.flags.c_contiguous else self.strides,
        "version": 3,
        "stream": None,
    }


class Interface(dict):
    """What __array_interface__ gives; as long as it lives the array's memory stays where it is."""

    __slots__ = ("owner",)


def array_interface(self):
    """Address, shape and type of an array whose memory the host can reach."""
    real = _memory("__array_interface__", self)
    found = Interface(real.__array_interface__)
    found.owner = real
    return found


def array_struct(self):
    """The same as a capsule of C's, which keeps the memory."""
    return _memory("__array_struct__", self).__array_struct__


def _memory(op, a):
    if not on_host(a):
        raise AttributeError(message(op, "memory not on the host", a._device, "the CPU"))
    if a.dtype == BFLOAT16:  # readers would take it for bytes; they ask __array__ instead
        raise AttributeError(message(op, "no letter for bfloat16", a.dtype, "another dtype"))
    _core.raise_dropped(a)
    return _seen(a)


def array_wrap(_self, array, context=None, return_scalar=False, /):
    """An array of NumPy's as one of ours; its element where `return_scalar` asks for it and it has
    no axes. TypeError for what is no array.
    """
    if not isinstance(array, (ndarray, numpy.ndarray)):
        raise TypeError(message("__array_wrap__", "no array", type(array).__name__, "an ndarray"))
    made = to_ndarray(array)
    return made[()] if return_scalar and not made.ndim else made


def attach(namespace):
    """Puts the protocols on the classes of the core. namespace: the module that has the functions,
    which imports this one.
    """
    global _namespace
    _namespace = namespace
    _core.attach_protocols(_rows(), _other_ufunc, _function_of)
    for kind in (ndarray, generic):
        kind.__array__ = array_of
        kind.__array_priority__ = 1000.0
        kind.__array_namespace__ = namespace_of
        kind.to_device = _devices.method
        kind.device = property(_devices.device_of)
        kind.data = property(memoryview)
    ndarray.__array_interface__ = property(array_interface)
    ndarray.__array_struct__ = property(array_struct)
    ndarray.__array_wrap__ = array_wrap
    ndarray.__array_finalize__ = None
    ndarray.__class_getitem__ = classmethod(lambda cls, parameters: numpy.ndarray[parameters])
    ndarray.__dlpack__ = dlpack
    ndarray.__dlpack_device__ = dlpack_device
    ndarray.__cuda_array_interface__ = property(cuda_array_interface)
    ndarray.__reduce__ = reduce_array
    ndarray.__reduce_ex__ = lambda self, protocol: reduce_array(self)
    generic.__reduce__ = reduce_generic
    generic.__reduce_ex__ = lambda self, protocol: reduce_generic(self)
