"""Results that go into tensors of the caller's: `out=` of every function of tensors."""

import warnings

import numpy

from .. import _core
from ..core.errors import message
from ._mode import no_grad
from ._tensor import Tensor, wrap


def _store(op, made, out):
    from .rearranging import can_cast

    if not isinstance(out, Tensor):
        raise TypeError(message(op, "out= is no tensor", type(out).__name__, "a tensor"))
    if not can_cast(made.dtype, out.dtype):
        raise RuntimeError(
            message(op, "the result is not stored in out= without loss", f"{made.dtype} and"
                    f" {out.dtype}", f"out= of dtype {made.dtype}")
        )  # fmt: skip
    if tuple(out.shape) != tuple(made.shape):
        if out.numel():
            warnings.warn(
                message(op, "out= has another shape than the result, and gets the result's",
                        tuple(out.shape), tuple(made.shape)), UserWarning, stacklevel=4,
            )  # fmt: skip
        _resize(op, out, made)
    else:
        out.copy_(made)
    return out


def _resize(op, out, made):
    """Gives a tensor another shape, in its memory where there is room."""
    a = out._array
    base, n = a.base, made.numel()
    room = a.nbytes if base is None else base.size * base.itemsize - a._offset
    if n and n * a.itemsize <= room:
        steps = numpy.empty(tuple(made.shape), f"V{a.itemsize}").strides
        out.data = wrap(_core.as_strided(a, tuple(made.shape), steps, 0))
        out.copy_(made)
    elif _core.is_alone_in_memory(out):
        out.data = made.to(out.dtype)
    else:
        raise NotImplementedError(
            message(op, "out= has to grow, and other tensors share its memory",
                    f"{tuple(out.shape)} for {tuple(made.shape)}", "out= of the result's shape")
        )  # fmt: skip


def _requires(x):
    if isinstance(x, Tensor):
        return x.requires_grad
    return isinstance(x, (list, tuple)) and any([_requires(y) for y in x])


def store(function, args, keywords, out):
    """The call whose results are stored in `out`, a tensor or several; None: they are given."""
    if out is None:
        return function(*args, **keywords)
    op = function.__name__
    if _core.is_grad_enabled() and _requires([*args, *keywords.values(), out]):
        raise RuntimeError(
            message(op, "out= has no derivative", "a tensor that requires a gradient",
                    "operands and out= that do not, or no_grad()")
        )  # fmt: skip
    with no_grad():
        made = function(*args, **keywords)
        if isinstance(made, Tensor):
            return _store(op, made, out)
        if not isinstance(made, tuple) or len(made) != len(out):
            raise TypeError(message(op, "out= does not fit the results", type(out).__name__,
                                    f"{type(made).__name__} of tensors"))  # fmt: skip
        stored = [_store(op, one, to) for one, to in zip(made, out, strict=True)]
    return type(made)(*stored) if hasattr(made, "_fields") else tuple(stored)


_core.set_storing(store)
