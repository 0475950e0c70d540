"""How functions on arrays become functions on tensors."""

import collections
import functools

from .. import _core
from . import _dtypes
from ._tensor import Tensor

# What answers plain calls without the body: a function whose rule of dtypes is the same for
# operands that are all floating point, or all numbers of one dtype.
FLOATS, NUMBERS = 1, 2


def _made(body, in_place, direct, answers, pure=False):
    made = _core.tensor_function(body, in_place, direct, answers, pure)
    functools.update_wrapper(made, body)
    return made


def tensor_function(body, direct=None, answers=0):
    """A function of tensors from one that is written on arrays.

    Tensors among the arguments, also inside of tuples, lists and dicts, are taken as their arrays;
    arrays in the result become tensors. Where one requires a gradient, what the body does is
    recorded. Without a tensor among the arguments the body is just called, so that the function
    serves arrays, and `nb.grad`, too. `on_arrays` is the body.
    """
    return _made(body, False, direct, answers)


def pure_function(body):
    """As `tensor_function`, of a body whose work depends on nothing but its arguments.

    Of arrays these are the shapes, strides, dtypes and devices, not the elements: what a call has
    recorded on a device whose memory the host cannot read is recorded for the next operands like
    these without calling the body. The body draws no random numbers, warns of nothing and changes
    nothing but arrays.
    """
    return _made(body, False, None, 0, True)


def in_place(body):
    """A method of tensors from a body that writes to its first argument, an array."""
    return _made(body, True, None, 0)


def named_results(name, fields):
    """A class of tuples of several results, which prints as PyTorch's do."""
    made = collections.namedtuple(name, fields)

    def __repr__(self):
        parts = [f"{field}={x!r}" for field, x in zip(fields, self, strict=True)]
        return f"{_dtypes.dtype.home}.return_types.{name}(\n" + ",\n".join(parts) + ")"

    made.__repr__ = __repr__
    return made


def method(*names):
    """Makes a function a method of tensors, too; without names, of its own name."""

    def decorate(function):
        for name in names or (function.__name__.rstrip("_") or function.__name__,):
            setattr(Tensor, name, function)
        return function

    return decorate
