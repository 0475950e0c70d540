"""What the functions of nets share: operands, reductions of losses, numbers for spatial axes."""

import functools
import inspect
import math
import warnings

from ... import _core
from ..._core import ndarray
from ...core.dtypes import kind_of
from ...core.errors import message, one_axis
from ...core.operands import to_ndarray
from ...functions import names as np
from ...gradients import stop_gradient
from ...tensors import Tensor, in_place, pure_function, tensor_function


def array(op, x, name="input"):
    """An operand as an array of ours. TypeError for None."""
    if type(x) is ndarray:
        return x
    if x is None:
        raise TypeError(message(op, f"{name} is missing", "None", "a tensor"))
    return to_ndarray(x)


def floating(op, x, name="input"):
    """An operand as an array of floating-point numbers; TypeError for others."""
    a = array(op, x, name)
    if kind_of(a.dtype) not in "fc":
        raise TypeError(
            message(op, f"{name} is not floating point", f"dtype {a.dtype}", "a float dtype")
        )
    return a


def whole(op, x, name):
    """An operand as an array of integers; TypeError for others."""
    a = array(op, x, name)
    if a.dtype.kind not in "iu":
        raise TypeError(message(op, f"{name} are no integers", f"dtype {a.dtype}", "int64"))
    return a


def indices(a, extent):
    """Integers as indices along an axis of that extent: negative ones, which NumPy counts from the
    end, become out of range, so that they raise IndexError as they do in PyTorch.
    """
    return np.where(a < 0, extent, a)


def stored(given, a, value, inplace):
    """`value`; where `inplace`, in the array `a` that the operand `given` is, which is returned."""
    if not inplace:
        return value
    a[...] = value
    return a if type(given) is ndarray else given


def tensor_function_in_place(body, made=tensor_function):
    """A function of tensors whose argument `inplace` has it change the first one, and return it.

    Raises RuntimeError where that is a leaf that requires a gradient.
    """
    at = list(inspect.signature(body).parameters).index("inplace") - 1

    def change(a, *args, **keywords):
        a[...] = body(a, *args, **keywords)

    plain, changed = made(body), in_place(change)

    @functools.wraps(body)
    def function(input, *args, **keywords):
        if isinstance(input, Tensor):
            if len(args) > at:
                inplace, args = args[at], (*args[:at], False, *args[at + 1 :])
            else:
                inplace = keywords.pop("inplace", False)
            if inplace:
                return changed(input, *args, **keywords)
        return plain(input, *args, **keywords)

    return function


def pure_function_in_place(body):
    """The same of a body as `pure_function` takes it."""
    return tensor_function_in_place(body, pure_function)


def axis_of(op, dim, ndim):
    """`dim` as an int in [0, ndim), where arrays without axes have one."""
    return one_axis(op, dim, max(ndim, 1))


def usual_axis(op, dim, ndim):
    """The axis of a softmax: that of classes where none is given, with a warning."""
    if dim is None:
        _core.spoil_capture()  # each call warns
        warnings.warn(
            message(op, "dim is not given, and the choice for it is deprecated", "dim=None",
                    "an axis"),
            stacklevel=4,
        )  # fmt: skip
        dim = 0 if ndim in (0, 1, 3) else 1
    return axis_of(op, dim, ndim)


def reduction_of(op, size_average, reduce, reduction):
    """The word for a loss' reduction, also by PyTorch's deprecated flags."""
    if size_average is not None or reduce is not None:
        _core.spoil_capture()  # each call warns
        warnings.warn(
            message(op, "size_average and reduce are deprecated", "one of them", "reduction"),
            stacklevel=4,
        )
        average = True if size_average is None else size_average
        reduction = "none" if reduce is False else "mean" if average else "sum"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            message(op, "reduction not known", repr(reduction), "'none', 'mean' or 'sum'")
        )
    return reduction


def reduced(loss, reduction):
    """The losses of elements as they are, their mean or their sum."""
    if reduction == "mean":
        return np.mean(loss)
    return np.sum(loss) if reduction == "sum" else loss


def same_extents(op, a, b):
    """Warns where a target is broadcast, which is hardly ever meant. ValueError where it cannot."""
    if a.shape != b.shape:
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise ValueError(
                message(op, "target does not fit the input", b.shape, f"shape {a.shape}")
            ) from None
        _core.spoil_capture()  # each call warns
        warnings.warn(
            message(op, f"target is broadcast with the input to {shape}", b.shape,
                    f"the input's shape {a.shape}"),
            stacklevel=4,
        )  # fmt: skip


def each(op, name, value, count):
    """A number, or one for each of `count` spatial axes, as a tuple of ints."""
    if isinstance(value, (tuple, list)):
        values = tuple(value)
        if len(values) == 1:
            values = values * count
    else:
        values = (value,) * count
    if len(values) != count or any(int(v) != v for v in values):
        raise ValueError(
            message(op, f"{name} does not fit {count} spatial axes", value,
                    f"an int or {count} ints")
        )  # fmt: skip
    return tuple(int(v) for v in values)


def constant(x):
    """`x` as a constant of derivatives."""
    return stop_gradient(x)


def along(ndim, axis, item):
    """The index that takes `item` along one axis and all else."""
    return (slice(None),) * axis + (item,) + (slice(None),) * (ndim - axis - 1)


def batched(op, x, count):
    """Input of `count` spatial axes with channels as one with a batch: (array, whether it had one).

    ValueError for other numbers of axes.
    """
    if x.ndim == count + 2:
        return x, True
    if x.ndim == count + 1:
        return x[None], False
    raise ValueError(
        message(op, "another number of axes than input of this function has", x.shape,
                f"(batch, channels, {count} spatial axes) or that without batch")
    )  # fmt: skip


def channel_shape(ndim):
    """The shape that lines a value for each channel up with axis 1 of `ndim` axes."""
    return (1, -1) + (1,) * (ndim - 2)


def size_of(shape):
    return math.prod(shape)
