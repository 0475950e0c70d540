"""JAX's names over numbus's arrays and gradients: what `import jax` gives in a script that Numbus
runs. What is not served yet raises an error that names the line.
"""

# ruff: noqa: F401 – names for users
import contextlib as _contextlib
import importlib as _importlib

from ... import _core
from .._missing import EXPECTED as _EXPECTED
from .._missing import missing as _missing
from . import _array, _devices, _dtypes, _functions, _names, _transforms
from . import numpy as numpy
from ._array import Array
from ._devices import (
    Device,
    default_backend,
    device_count,
    devices,
    local_device_count,
    local_devices,
)
from ._dtypes import config
from ._jit import jit
from ._transforms import (
    ShapeDtypeStruct,
    checkpoint,
    custom_jvp,
    custom_vjp,
    eval_shape,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    pmap,
    remat,
    value_and_grad,
    vjp,
    vmap,
)

__name__ = "jax"
__version__ = "0.10.2+numbus"
_HERE = frozenset(
    "ad_checkpoint custom_derivatives debug dtypes errors example_libraries flatten_util image lax "
    "nn numpy ops random scipy tree tree_util typing".split()
)
Array.__module__ = "jax"


def block_until_ready(x):
    """The tree, when its arrays have been computed."""
    _core.flush()
    _core.synchronize()
    return x


def device_put(x, device=None, *, donate=False, may_alias=None):
    """A tree of arrays on a device; by default they stay where they are."""
    import numbus as nb

    from ._array import as_array, made
    from .tree_util import tree_map

    if donate and may_alias:
        raise ValueError(
            f"[device_put] donate and may_alias exclude each other; got {donate}, {may_alias}; "
            "expected one of them"
        )
    if device is None:
        return tree_map(made, x)
    if not isinstance(device, Device):
        return _missing("jax", "device_put(x, sharding)", "a device of jax.devices()")

    def move(leaf):
        leaf = made(leaf)
        return Array(as_array(nb.to_device(leaf._a, device._name)), leaf.weak_type)

    return tree_map(move, x)


def device_get(x):
    """A tree of arrays as NumPy's, which in a script are Numbus's."""
    import numbus as nb

    from .tree_util import tree_map

    return tree_map(lambda leaf: nb.array(leaf._a) if isinstance(leaf, Array) else leaf, x)


def process_index(backend=None):
    """0: there is one process."""
    devices(backend)
    return 0


def process_count(backend=None):
    """1: there is one process."""
    devices(backend)
    return 1


@_contextlib.contextmanager
def disable_jit(disable=True):
    """A block in which functions that `jit` has made run as Python."""
    if not isinstance(disable, bool):
        raise TypeError(f"[disable_jit] not a bool; got {disable!r}; expected True or False")
    before = _dtypes.is_jit_disabled()
    config.update("jax_disable_jit", disable)
    try:
        yield
    finally:
        config.update("jax_disable_jit", before)


@_contextlib.contextmanager
def named_scope(name):
    """A block with a name, which nothing shows here."""
    if not isinstance(name, str):
        raise TypeError(f"[named_scope] no name; got {name!r}; expected a str")
    yield


@_contextlib.contextmanager
def default_device(device):
    """A block in which new arrays lie on a device."""
    import numbus as nb

    with nb.device(device._name):
        yield


@_contextlib.contextmanager
def enable_x64(new_val=True):
    """A block with 64-bit types, or without."""
    before = config.jax_enable_x64
    config.update("jax_enable_x64", bool(new_val))
    try:
        yield
    finally:
        config.update("jax_enable_x64", before)


@_contextlib.contextmanager
def default_matmul_precision(name):
    """A block with a wish for the precision of products, which all wishes allow."""
    _functions.check_precision("default_matmul_precision", name)
    yield


def named_call(fun=None, *, name=None):
    """The function itself; its name is shown by nothing here."""
    if fun is None:
        return lambda f: named_call(f, name=name)
    return fun


def pure_callback(callback, result_shape_dtypes, *args, **options):
    """What a function of NumPy's arrays gives, as arrays of the shapes and dtypes that it should
    have.
    """
    import numpy

    from ._array import made
    from .tree_util import tree_map

    if set(options) - {"sharding", "vmap_method", "vectorized"}:
        raise TypeError(f"[pure_callback] keywords for the function; got {sorted(options)}; "
                        "expected positional arguments")  # fmt: skip
    given = tree_map(numpy.asarray, args)

    def one(shape, found):
        x = made(numpy.asarray(found), shape.dtype)
        if x.shape != tuple(shape.shape):
            raise ValueError(f"[pure_callback] another shape than was said; got {x.shape}; "
                             f"expected {tuple(shape.shape)}")  # fmt: skip
        return x

    return tree_map(one, result_shape_dtypes, callback(*given))


def linear_transpose(fun, *primals):
    """The transpose of a linear function: from a tree like its value to a tuple of arguments."""
    from .tree_util import tree_map

    zeros = tree_map(lambda x: numpy.zeros(x.shape, x.dtype) if hasattr(x, "shape") else x, primals)
    return vjp(fun, *zeros)[1]


def typeof(x):
    """The shape and dtype of an array or a number."""
    from ._array import made

    x = made(x)
    return ShapeDtypeStruct(x.shape, x.dtype)


def clear_caches():
    """Nothing: what has been compiled stays."""


def live_arrays():
    """Not served."""
    return _missing("jax", "live_arrays")


_INSTEAD = {
    "make_jaxpr": "jax.jit(f) to run it, or NUMBUS_PRINT=window for what array code records",
    "eval_shape": "the shapes of f of zeros",
    "xla_computation": "jax.jit(f)",
    "profiler": "`python -m cProfile`, or NVIDIA's nsys",
    "experimental": "numpy, or numba.njit and numba.cuda.jit for kernels",
    "sharding": "numbus.nn.parallel, or one device",
}


def __getattr__(name):
    if name in ("checkpoint_policies", "custom_gradient"):
        where = "ad_checkpoint" if name == "checkpoint_policies" else "custom_derivatives"
        return getattr(__getattr__(where), name)
    if name in _HERE:
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("jax", name, _INSTEAD.get(name, _EXPECTED))
