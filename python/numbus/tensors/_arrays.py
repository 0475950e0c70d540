"""What bodies of tensor functions share: dtypes, axes, numbers."""

import functools
import operator

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import is_half, kind_of
from ..core.errors import message
from . import _dtypes


def as_dtype(a, t):
    """The array in a dtype of NumPy's, itself if it has it."""
    return a if a.dtype == t else a.astype(t)


def floating(a):
    """The array, integers and truth values in the default floating-point dtype."""
    return a if kind_of(a.dtype) in "fc" else a.astype(_dtypes.default_float())


def in_single(every):
    """Makes a function compute in float32 as a whole where its first argument is stored in 16 bits:
    its result is rounded once, to that type. every: where all arrays of floats are of that type,
    which are taken along; else the first alone.
    """

    def decorate(body):
        @functools.wraps(body)
        def function(input, *args, **keywords):
            kind = getattr(input, "dtype", None)
            if kind is None or is_number(input) or not is_half(kind):
                return body(input, *args, **keywords)
            if every:
                floats = [x for x in (*args, *keywords.values()) if _is_floating(x)]
                if any([x.dtype != kind for x in floats]):
                    return body(input, *args, **keywords)
                args = [_single(x) for x in args]
                keywords = {name: _single(x) for name, x in keywords.items()}
            return body(input.astype("f4"), *args, **keywords).astype(kind)

        return function

    return decorate


def _is_floating(x):
    return not is_number(x) and kind_of(x.dtype) == "f"


def _single(x):
    return x.astype("f4") if _is_floating(x) else x


def without_slope(function):
    """A function that is constant between its jumps, whose derivative is taken to be zero."""

    def body(*operands):
        if not _core.watching():
            return function(*operands)
        known = [x for x in operands if hasattr(x, "dtype") and _core.depends(x)]
        if not known:
            return function(*operands)
        made = function(*[nb.stop_gradient(x) if hasattr(x, "dtype") else x for x in operands])
        made = _core.copy_of(_core.lazy_array(made) if type(made) is nb.generic else made)
        shapes = [(x.shape, x.dtype) for x in known]

        def pull(_g):
            return [nb.zeros(shape, dtype=t) for shape, t in shapes]

        _core.add_work(function.__name__, known, [made], pull)
        return made

    return body


def is_number(x):
    return not hasattr(x, "shape") or isinstance(x, numpy.generic)


def together(*operands):
    """Arrays and numbers in their common dtype; numbers stay numbers."""
    first = operands[0]
    kind = getattr(first, "dtype", None)
    if kind is not None and all(
        [not is_number(x) and x.dtype == kind and x.shape == first.shape for x in operands]
    ):
        return operands
    t = _dtypes.common(operands)
    return tuple([_number(x, t) if is_number(x) else as_dtype(x, t) for x in operands])


def _number(x, t):
    """A number as NumPy takes it beside arrays of a type: weak, but never out of range."""
    if t.kind in "iu" and isinstance(x, (bool, numpy.bool_)):
        return int(x)
    return x.item() if isinstance(x, numpy.generic) else x


def array(x, like=None):
    """A number as a 0-d array, an array as it is."""
    if not is_number(x):
        return x
    t = _dtypes.common([x]) if like is None else like
    return nb.full((), x, dtype=t)


def axis_of(op, dim, ndim):
    """One axis; of a number, 0 and -1 are taken, too.

    Raises IndexError beyond the axes, TypeError for what is no integer.
    """
    k = operator.index(dim)
    n = max(ndim, 1)
    if not -n <= k < n:
        raise IndexError(message(op, "dimension out of range", f"dim={k}", f"{-n} to {n - 1}"))
    return k % n


def axes_of(op, dim, ndim):
    """A tuple of axes from None (all), a number or a sequence (empty: all)."""
    if dim is None:
        return tuple(range(ndim))
    if ndim == 0:  # a number has a dimension 0 to reduce, which changes nothing
        for d in dim if isinstance(dim, (tuple, list)) else (dim,):
            axis_of(op, d, ndim)
        return ()
    if not isinstance(dim, (tuple, list)):
        return (axis_of(op, dim, ndim),)
    found = tuple([axis_of(op, d, ndim) for d in dim])
    if len(set(found)) < len(found):
        raise RuntimeError(message(op, "a dimension twice", f"dim={dim}", "each once"))
    return found or tuple(range(ndim))


def sizes(op, args, named=None):
    """The integers of `f(2, 3)`, `f((2, 3))` and `f(size=(2, 3))`, which gives `named`."""
    if named is not None:
        if args:
            raise TypeError(message(op, "sizes by place and by name", (args, named), "one of them"))
        args = (named,)
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    try:
        return tuple([operator.index(n) for n in args])
    except TypeError:
        raise TypeError(message(op, "sizes are not integers", args, "integers")) from None


def one_of(op, *given):
    """The only one of several arguments that is not None."""
    known = [x for x in given if x is not None]
    if len(known) != 1:
        raise TypeError(message(op, "not one of the arguments that say the same", given, "one"))
    return known[0]


def no_out(op, out):
    """Raises for `out=`, which few programs use."""
    not_yet(op, out=out)


def not_yet(op, **options):
    """Raises for options that are not yet available, unless they have their usual values."""
    for name, value in options.items():
        usual = str(value).rsplit(".", 1)[-1] in ("strided", "contiguous_format", "preserve_format")
        if value is not None and value is not False and not usual:
            raise NotImplementedError(
                message(op, f"{name}= is not yet available", value, "the default")
            )


_FORMATS = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def order_of_format(op, memory_format, ndim):
    """The order of dimensions in which elements lie, None for the usual one.

    RuntimeError where a format is of another number of dimensions.
    """
    order = _FORMATS.get(str(memory_format).rsplit(".", 1)[-1])
    if order is None:
        not_yet(op, memory_format=memory_format)
    elif len(order) != ndim:
        raise RuntimeError(
            message(op, f"a tensor of another number of dimensions for {memory_format}", ndim,
                    len(order))
        )  # fmt: skip
    return order


def beside(a):
    """The name of an array's device for new arrays, None where nobody named it."""
    if _core.placing() and not _core.is_pinned(a):
        return None
    return a._device


def moved_to(x, a):
    """`x` on the device of `a`, if the user named that device; else as it is."""
    where = beside(a)
    return x if where is None or x._device == where else x.to_device(where)
