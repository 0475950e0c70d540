"""The names of the package `numbus`: NumPy's namespace, and what it has beside that."""

import importlib as _importlib
import sys as _sys

import numpy as _numpy
from numpy import (  # noqa: F401
    bool,
    bool_,
    complex64,
    complex128,
    complexfloating,
    dtype,
    e,
    euler_gamma,
    exceptions,
    float16,
    float32,
    float64,
    floating,
    generic,
    iinfo,
    index_exp,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    intp,
    nan,
    newaxis,
    number,
    pi,
    s_,
    signedinteger,
    uint8,
    uint16,
    uint32,
    uint64,
    unsignedinteger,
)

from . import _core
from . import functions as _functions
from .core import array_type as _types
from .core import devices as _devices
from .core import fallback as _fallback
from .core import float_errors as _float_errors
from .core import inspection as _inspect
from .core import interrupts as _interrupts
from .core import precision as _precision
from .core import standard as _standard
from .core import ufuncs as _ufuncs
from .core.array_type import ndarray  # noqa: F401
from .core.dtypes import bfloat16, can_cast, finfo, isdtype, promote_types  # noqa: F401
from .functions import methods as _methods
from .functions import registry as _registry

_package = _sys.modules[__package__]
__version__ = "0.1.0"
__array_api_version__ = _standard.VERSION
__array_namespace_info__ = _standard.NamespaceInfo

_SUBMODULES = frozenset(
    "compat cuda data fft kernels linalg nn optim random tensors testing".split()
)
# Names by the modules that are imported when they are asked for.
_LATE = {
    name: module
    for module, names in {
        "kernels": "guvectorize jit njit prange stencil types",
        "kernels._any_callable": "vectorize",
        "gradients": "checkpoint custom_gradient detect_anomaly grad jacobian jvp stop_gradient "
        "value_and_grad vjp",
        "batches": "vmap",
        "core.compiling": "CompileWarning compile",
        "measure.timer": "benchmark load_ipython_extension",
    }.items()
    for name in names.split()
}
_NUMPY_ONLY = frozenset({"core", "distutils", "f2py", "test"})


def _publish():
    """Puts the rows of the table and the composed functions into this namespace."""
    names = vars(_package)
    names.update(_ufuncs.UFUNCS)
    for module in _functions.SUBJECTS:
        for name in module.__all__:
            value = getattr(module, name)
            registered = getattr(value, "__wrapped__", None) in _registry.BODIES
            function = callable(value) and not isinstance(value, type)
            if function and hasattr(_numpy, name) and not registered:
                value = _fallback.foreign(value, getattr(_numpy, name))
                value.__module__ = __package__
            names[name] = value
    for known, row in _registry.ROWS.items():
        name = known.removeprefix("np.")
        if hasattr(_numpy, name):
            names[name] = row.function
    for module in (_inspect, _devices, _float_errors, _precision):
        for name in module.__all__:
            names[name] = getattr(module, name)


def _element(body):
    return _importlib.import_module("numbus.kernels").vectorize(body)


def _line(body, signature):
    return _importlib.import_module("numbus.kernels").guvectorize(signature)(body)


def _load_kernels(routine, element):
    _importlib.import_module("numbus.primitives").load(routine, element)


def __getattr__(name):
    # Only reached for what is not published above: submodules and what NumPy alone has.
    if name == "__all__":
        return [item for item in dir(_numpy) if not item.startswith("_")]
    if name in _SUBMODULES:
        return _importlib.import_module("numbus." + name)
    if name in _LATE:
        return getattr(_importlib.import_module("numbus." + _LATE[name]), name)
    value = _fallback.lookup(name)
    setattr(_package, name, value)
    return value


def __dir__():
    return sorted({*vars(_package), *_SUBMODULES, *_LATE, *dir(_numpy)})


def _names():
    """The names of this file that the package has."""
    own = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__"}
    left = own | {"__cached__", "__builtins__", "_package", "_names", "_publish"}
    return {name: value for name, value in globals().items() if name not in left}


_core.set_kernel_loader(_load_kernels)
_registry.makers.update(element=_element, line=_line)
_interrupts.install()
_types.describe_scalars()
if _types.is_standard_asked():
    _types.follow_standard()
ufunc = _core.ufunc
vars(_package).update(_names())
_ufuncs.attach()
_publish()
_methods.attach(_package)
_float_errors.attach(_package)
