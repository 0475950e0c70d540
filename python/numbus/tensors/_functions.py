"""How functions on arrays become functions on tensors."""

import functools

from . import _tensor
from ._tensor import Tensor


def tensor_function(body):
    """A function of tensors from one that is written on arrays.

    Tensors among the arguments, also inside of tuples, lists and dicts, are taken as their arrays;
    arrays in the result become tensors. Where one requires a gradient, what the body does is
    recorded. Without a tensor among the arguments the body is just called, so that the function
    serves arrays, and `nb.grad`, too.
    """

    @functools.wraps(body)
    def wrapper(*args, **keywords):
        return _tensor.call(body, args, keywords)

    wrapper.on_arrays = body
    return wrapper


def in_place(body):
    """A method of tensors from a body that writes to its first argument, an array."""

    @functools.wraps(body)
    def wrapper(self, *args, **keywords):
        return _tensor.call_in_place(body, self, args, keywords)

    return wrapper


def method(*names):
    """Makes a function a method of tensors, too; without names, of its own name."""

    def decorate(function):
        for name in names or (function.__name__.rstrip("_") or function.__name__,):
            setattr(Tensor, name, function)
        return function

    return decorate
