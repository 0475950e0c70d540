"""Functions made of text: the loops around what users write."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core.given import array_like
from ..core.operands import to_ndarray
from ._dispatch import Dispatcher
from ._made import make

PYTHON = (bool, int, float, complex)  # numbers that yield to the types of arrays


def compiled(name, lines, options, **names):
    """make(), as a compiled function."""
    return Dispatcher(make(name, lines, **names), options)


def subscripted(array, axes, first="i"):
    """'x[i0, i1]' for the axes (0, 1); just 'x' for None."""
    if axes is None:
        return array
    return f"{array}[{', '.join(f'{first}{d}' for d in axes) or '()'}]"


def result_dtype(function, args):
    """The dtype of what a compiled function returns for elements of arrays, and numbers.

    The function is called with x[0, …] of every array, for the items of a list that has none.
    """
    names = [f"x{k}" for k in range(len(args))]
    given = []
    for name, a in zip(names, args, strict=True):
        array = isinstance(a, numpy.ndarray)
        given.append(f"{name}[{', '.join(['0'] * a.ndim)}]" if array and a.ndim else name)
    probe = compiled(
        "probe",
        [
            f"def probe({', '.join(names)}):",
            f"    return np.array([function({', '.join(given)}) for _ in range(0)])",
        ],
        {"error_model": "numpy"},
        function=function,
        np=numpy,
    )
    return probe(*args).dtype


def on_gpu(value):
    """Whether it is an array of ours that lies on a GPU."""
    return isinstance(value, ndarray) and value._device != "cpu"


def new_array(shape, dtype, numbus, gpu=False):
    """An uninitialised array: NumPy's, or ours on the device that computes."""
    if not numbus:
        return numpy.empty(shape, dtype)
    made = _core.empty(shape, dtype)
    return made if gpu or not on_gpu(made) else _core.to_device(made, "cpu")


def host(value):
    """A NumPy array over the memory of one of ours on the CPU; other values as they are."""
    return numpy.asarray(value) if isinstance(value, ndarray) else value


def operand(a):
    """An argument as an array of either kind, or a number of Python's own."""
    if isinstance(a, (numpy.ndarray, ndarray)) or type(a) in PYTHON:
        return a
    if type(a) is generic and _core.watching() and _core.depends(a):
        return to_ndarray(a)
    return array_like(a)
