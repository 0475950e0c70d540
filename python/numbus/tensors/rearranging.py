"""Further functions that join, split and rearrange tensors or write at indices, under PyTorch's
names.
"""

import builtins
import itertools
import math

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _dtypes
from ._arrays import array, as_dtype, axis_of, is_number, one_of
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor
from .shapes import Size, _become, cat, split

__all__ = [
    "atleast_3d", "block_diag", "broadcast_shapes", "can_cast", "cartesian_prod", "column_stack",
    "combinations", "complex", "diagflat", "diagonal_scatter", "dsplit", "dstack", "hsplit",
    "imag", "index_put", "is_nonzero", "is_same_size", "is_signed", "masked_scatter", "polar",
    "put", "range", "result_type", "row_stack", "scalar_tensor", "scatter_reduce",
    "select_scatter", "slice_scatter", "split_with_sizes", "unravel_index", "view_as_complex",
    "view_as_real", "vsplit",
]  # fmt: skip


# Joining and splitting


def _flat(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors


@tensor_function
def _three_of(a):
    return nb.atleast_3d(a)


def _three(x):
    return x if x.ndim >= 3 else _three_of(x)


def atleast_3d(*tensors):
    """The tensors with three dimensions at least: new ones before and after."""
    several = len(tensors) > 1 or isinstance(tensors[0], (tuple, list))
    made = [_three(x) for x in _flat(tensors)]
    return tuple(made) if several else made[0]


def dstack(tensors):
    """The tensors joined along the third dimension."""
    return cat([_three(x) for x in tensors], dim=2)


def column_stack(tensors):
    """The tensors as columns: lines first become columns."""
    return cat([x.reshape(x.numel(), 1) if x.ndim <= 1 else x for x in tensors], dim=1)


def row_stack(tensors):
    """`vstack`."""
    from .shapes import vstack

    return vstack(tensors)


@tensor_function
def _block_diag(arrays):
    parts = [a.reshape(1, -1) if a.ndim < 2 else a for a in arrays]
    for a in parts:
        if a.ndim > 2:
            raise RuntimeError(message("block_diag", "more than 2 dimensions", a.ndim, "0 to 2"))
    rows, columns = (builtins.sum(a.shape[k] for a in parts) for k in (0, 1))
    made = nb.zeros((rows, columns), dtype=_dtypes.common(list(parts)))
    row = column = 0
    for a in parts:
        made[row : row + a.shape[0], column : column + a.shape[1]] = a
        row, column = row + a.shape[0], column + a.shape[1]
    return made


def block_diag(*tensors):
    """A matrix with the tensors along its diagonal."""
    return _block_diag(list(tensors))


def cartesian_prod(*tensors):
    """The rows of the product of lines."""
    from .shapes import meshgrid, stack

    lines = _flat(tensors)
    if len(lines) == 1:
        return lines[0]
    return stack([x.reshape(-1) for x in meshgrid(*lines, indexing="ij")], dim=1)


def combinations(input, r=2, with_replacement=False):
    """The combinations of `r` elements of a line, as rows."""
    every = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    numbers = list(every(builtins.range(input.shape[0]), r))
    index = Tensor._of(nb.asarray(numpy.array(numbers, "i8").reshape(-1, r)))
    return input[index]


def _cut(op, dim, least):
    def function(input, indices_or_sections=None, *, indices=None, sections=None):
        if input.ndim < least:
            raise RuntimeError(message(op, "too few dimensions", input.ndim, f"at least {least}"))
        k = 0 if op == "hsplit" and input.ndim == 1 else dim
        n = one_of(op, indices_or_sections, indices, sections)
        if isinstance(n, int) and (n < 1 or input.shape[k] % n):
            raise RuntimeError(
                message(op, "parts are not equal", f"{input.shape[k]} in {n}", "a divisor")
            )
        return input.tensor_split(n if isinstance(n, int) else tuple(n), dim=k)

    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"Parts along dimension {dim}, of equal sizes or at indices."
    setattr(Tensor, op, function)
    return function


hsplit, vsplit, dsplit = _cut("hsplit", 1, 1), _cut("vsplit", 0, 2), _cut("dsplit", 2, 3)


def split_with_sizes(input, split_sizes, dim=0):
    """Parts of the sizes along a dimension."""
    return split(input, list(split_sizes), dim)


Tensor.split_with_sizes = split_with_sizes


def broadcast_shapes(*shapes):
    """The shape that the shapes are broadcast to. RuntimeError where they are not."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    try:
        return Size(nb.broadcast_shapes(*shapes))
    except ValueError:
        raise RuntimeError(
            message("broadcast_shapes", "shapes that do not fit", shapes,
                    "equal sizes, or sizes of one")
        ) from None  # fmt: skip


@method()
@tensor_function
def diagflat(input, offset=0):
    """A matrix with all elements on a diagonal."""
    return nb.diag(nb.reshape(input, (-1,)), offset)


# In place, what changes the shape


def _renamed(name, doc):
    plain = getattr(Tensor, name)

    def change(self, *args, **keywords):
        return _become(self, plain(self, *args, **keywords))

    change.__name__ = change.__qualname__ = name + "_"
    change.__doc__ = doc + " In place."
    setattr(Tensor, name + "_", change)


for _name, _doc in (
    ("transpose", "Two dimensions are exchanged."), ("t", "Rows and columns are exchanged."),
    ("swapaxes", "Two dimensions are exchanged."), ("swapdims", "Two dimensions are exchanged."),
):  # fmt: skip
    _renamed(_name, _doc)


def _tril_in_place(a, diagonal=0):
    """Zeros above a diagonal. In place."""
    a[...] = nb.tril(a, diagonal)


def _triu_in_place(a, diagonal=0):
    """Zeros below a diagonal. In place."""
    a[...] = nb.triu(a, diagonal)


def _fill_diagonal(a, fill_value, wrap=False):
    """A number on the diagonal. In place."""
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise RuntimeError(
            message("fill_diagonal_", "no diagonal", f"shape {list(a.shape)}",
                    "2 dimensions, or equal sizes")
        )  # fmt: skip
    n = min(a.shape)
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1] + 1:
        flat = nb.arange(0, a.size, a.shape[1] + 1)
        a[flat // a.shape[1], flat % a.shape[1]] = fill_value
        return
    k = nb.arange(n)
    a[(k,) * a.ndim] = fill_value


Tensor.tril_, Tensor.triu_ = in_place(_tril_in_place), in_place(_triu_in_place)
Tensor.fill_diagonal_ = in_place(_fill_diagonal)


def _scan_in_place(name, function):
    def change(a, dim, *, dtype=None):
        a[...] = function(as_dtype(a, a.dtype if dtype is None else _dtypes.to_numpy(dtype)),
                          axis=axis_of(name, dim, a.ndim))  # fmt: skip

    change.__doc__ = f"`{name}` in place."
    setattr(Tensor, name + "_", in_place(change))


_scan_in_place("cumsum", nb.cumsum)
_scan_in_place("cumprod", nb.cumprod)


# Parts that are replaced


def _replaced(op, place):
    @method()
    @tensor_function
    def function(input, src, *args, **keywords):
        made = input.copy()
        k = place(input, *args, **keywords)
        if tuple(made[k].shape) != tuple(src.shape):
            raise RuntimeError(
                message(op, "a part of another shape", list(src.shape), list(made[k].shape))
            )
        made[k] = as_dtype(src, made.dtype)
        return made

    function.__name__ = function.__qualname__ = op
    setattr(Tensor, op, function)
    return function


def _selected(a, dim, index):
    k = axis_of("select_scatter", dim, a.ndim)
    return (slice(None),) * k + (index,)


def _sliced(a, dim=0, start=None, end=None, step=1):
    k = axis_of("slice_scatter", dim, a.ndim)
    return (slice(None),) * k + (slice(start, end, step),)


select_scatter = _replaced("select_scatter", _selected)
select_scatter.__doc__ = "A copy with `src` at one index of a dimension."
slice_scatter = _replaced("slice_scatter", _sliced)
slice_scatter.__doc__ = "A copy with `src` at a slice of a dimension."


@method()
@tensor_function
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with `src` on a diagonal."""
    made = input.copy()
    j, k = (axis_of("diagonal_scatter", d, input.ndim) for d in (dim1, dim2))
    rest = [d for d in builtins.range(input.ndim) if d not in (j, k)]
    view = nb.transpose(made, (*rest, j, k))
    rows, columns = view.shape[-2:]
    first, second = max(-offset, 0), max(offset, 0)
    n = max(min(rows - first, columns - second), 0)
    i = nb.arange(n)
    if tuple(src.shape) != (*view.shape[:-2], n):
        raise RuntimeError(
            message("diagonal_scatter", "a part of another shape", list(src.shape),
                    [*view.shape[:-2], n])
        )  # fmt: skip
    view[(..., i + first, i + second)] = as_dtype(src, made.dtype)
    return made


@method()
@tensor_function
def masked_scatter(input, mask, source):
    """A copy where elements of `source`, in their order, stand where the mask holds."""
    made = nb.broadcast_to(input, nb.broadcast_shapes(input.shape, mask.shape)).copy()
    _masked_scatter(made, mask, source)
    return made


def _masked_scatter(a, mask, source):
    """The elements of `source`, in their order, where the mask holds. In place."""
    from .indexing import takes_source

    if mask.dtype.kind != "b":
        raise RuntimeError(
            message("masked_scatter_", "the mask is not of bool", mask.dtype, "bool")
        )
    takes_source("masked_scatter_", a, source)
    m = nb.broadcast_to(mask, a.shape)
    order = nb.reshape(nb.cumsum(nb.reshape(m, (-1,)).astype("i8")), m.shape)
    n = int(nb.max(order)) if m.size else 0
    if n > source.size:
        raise RuntimeError(
            message("masked_scatter_", "fewer elements than the mask has", source.size, n)
        )
    if n:
        a[...] = nb.where(m, nb.reshape(source, (-1,))[nb.maximum(order - 1, 0)], a)


Tensor.masked_scatter_ = in_place(_masked_scatter)


def _put_at(a, indices, values, accumulate=False):
    k = tuple([slice(None) if i is None else i for i in indices])
    values = _dtypes_match("index_put_", values, a)
    if not accumulate:
        a[k] = values
        return
    if any([not is_number(i) and not isinstance(i, slice) and i.dtype.kind == "b" for i in k]):
        found = []
        for i in k:
            masked = not isinstance(i, slice) and i.dtype.kind == "b"
            found += list(nb.nonzero(i)) if masked else [i]
        k = tuple(found)
    nb.add.at(a, k, values)


def _dtypes_match(op, x, a):
    if not is_number(x) and x.dtype != a.dtype:
        raise RuntimeError(message(op, "values of another dtype", x.dtype, a.dtype))
    return x


def _index_put(a, indices, values, accumulate=False):
    """Values at indices, one tensor a dimension; `accumulate` adds them. In place."""
    _put_at(a, indices, values, accumulate)


@method()
@tensor_function
def index_put(input, indices, values, accumulate=False):
    """`index_put_` of a copy."""
    made = input.copy()
    _put_at(made, indices, values, accumulate)
    return made


Tensor.index_put_ = in_place(_index_put)


def _put_flat(a, index, source, accumulate=False):
    """Values at indices into all elements; `accumulate` adds them. In place."""
    from .indexing import _takes_index

    _takes_index("put_", index, True)
    source = nb.reshape(_dtypes_match("put_", source, a), (-1,))
    index = nb.reshape(index, (-1,))
    if index.size != source.size:
        raise RuntimeError(message("put_", "not a value for each index", source.size, index.size))
    whole = a.flags.c_contiguous
    line = nb.reshape(a if whole else a.copy(), (-1,))
    if accumulate:
        nb.add.at(line, index, source)
    else:
        line[index] = source
    if not whole:
        a[...] = nb.reshape(line, a.shape)


Tensor.put_ = in_place(_put_flat)


@method()
@tensor_function
def put(input, index, source, accumulate=False):
    """`put_` of a copy."""
    made = input.copy()
    _put_flat(made, index, source, accumulate)
    return made


def _scatter_reduced(a, dim, index, src, reduce, include_self):
    from .indexing import _part, store_at, takes_source

    kinds = {"sum": nb.add, "mean": nb.add, "prod": nb.multiply, "amax": nb.maximum,
             "amin": nb.minimum}  # fmt: skip
    if reduce not in kinds:
        raise RuntimeError(message("scatter_reduce", "not a reduction", reduce, ", ".join(kinds)))
    takes_source("scatter_reduce", a, src)
    if a.ndim == 0:
        a, index, src = (nb.reshape(x, (1,)) for x in (a, index, src))
    value = as_dtype(_part(src, index), a.dtype)
    if reduce in ("prod", "amax", "amin") and _core.watching() and (
        _core.depends(a) or _core.depends(value)
    ):  # fmt: skip
        from .scattering import reduced

        def change(made, src):
            _scatter_reduced(made, dim, index, src, reduce, include_self)

        a[...] = reduced(change, reduce, a.copy(), dim, index, value, include_self)
        return
    counts = None
    if not include_self:
        lowest = {"sum": 0, "mean": 0, "prod": 1, "amax": None, "amin": None}[reduce]
        if lowest is None:
            limits = _limits(a.dtype)
            lowest = limits[0] if reduce == "amax" else limits[1]
        store_at("scatter_reduce", a, dim, index, lambda x, k: x.__setitem__(k, lowest))
    if reduce == "mean":
        counts = nb.ones(a.shape, dtype="i8") if include_self else nb.zeros(a.shape, dtype="i8")
        one = nb.ones(index.shape, dtype="i8")
        store_at("scatter_reduce", counts, dim, index, lambda x, k: nb.add.at(x, k, one))
        counts = nb.maximum(counts, 1)
    store_at("scatter_reduce", a, dim, index, lambda x, k: kinds[reduce].at(x, k, value))
    if counts is not None:
        if kind_of(a.dtype) in "fc":
            a[...] = a / as_dtype(counts, a.dtype)
        else:
            a[...] = a // as_dtype(counts, a.dtype)


def _limits(t):
    if kind_of(t) == "f":
        return -math.inf, math.inf
    if t.kind == "b":
        return False, True
    return numpy.iinfo(t).min, numpy.iinfo(t).max


@method()
@tensor_function
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy, reduced with the elements of `src` at indices along a dimension."""
    made = input.copy()
    _scatter_reduced(made, dim, index, src, reduce, include_self)
    return made


def _scatter_reduce(a, dim, index, src, reduce, *, include_self=True):
    """`scatter_reduce` in place."""
    _scatter_reduced(a, dim, index, src, reduce, include_self)


Tensor.scatter_reduce_ = in_place(_scatter_reduce)


# Complex numbers


def _type_of_parts(op, wrong, a, b):
    """The complex dtype of two parts. RuntimeError for others than two of one float dtype."""
    if a.dtype != b.dtype or kind_of(a.dtype) != "f" or a.dtype.itemsize < 4:
        raise RuntimeError(
            message(op, wrong, f"{a.dtype} and {b.dtype}", "float32 or float64 of both")
        )
    return numpy.dtype("c8" if a.dtype.itemsize == 4 else "c16")


def _of_parts(t, real, imag):
    return as_dtype(real, t) + as_dtype(imag, t) * array(1j, t)


@tensor_function
def complex(real, imag):
    """Complex numbers of their parts."""
    return _of_parts(_type_of_parts("complex", "parts of other dtypes", real, imag), real, imag)


@tensor_function
def polar(abs, angle):
    """Complex numbers of their magnitudes and angles."""
    t = _type_of_parts("polar", "other dtypes", abs, angle)
    return _of_parts(t, abs * nb.cos(angle), abs * nb.sin(angle))


def view_as_real(input):
    """The real and imaginary parts along a new last dimension.

    A view, of the same memory, where nothing is differentiated; else a copy.
    """
    if not input.is_complex():
        raise RuntimeError(message("view_as_real", "not complex", input.dtype, "a complex dtype"))
    from .shapes import stack

    if input.requires_grad or not input._array.flags.c_contiguous:
        return stack([input.real, input.imag], dim=-1)
    return _as_parts(input)


@tensor_function
def _as_parts(a):
    t = numpy.dtype("f4" if a.dtype.itemsize == 8 else "f8")
    return nb.reshape(nb.reshape(a, (*a.shape, 1)).view(t), (*a.shape, 2))


def view_as_complex(input):
    """Complex numbers of the pairs along the last dimension, which is 2."""
    if input.ndim == 0 or input.shape[-1] != 2 or not input.is_floating_point():
        raise RuntimeError(
            message("view_as_complex", "no pairs", f"shape {list(input.shape)}, {input.dtype}",
                    "a last dimension of 2, floating point")
        )  # fmt: skip
    if input.requires_grad or not input._array.flags.c_contiguous:
        return complex(input[..., 0], input[..., 1])
    return _as_complex(input)


@tensor_function
def _as_complex(a):
    return nb.reshape(a.view(numpy.dtype("c8" if a.dtype.itemsize == 4 else "c16")), a.shape[:-1])


def imag(input):
    """The imaginary parts."""
    if not input.is_complex():
        raise RuntimeError(message("imag", "not complex", input.dtype, "a complex dtype"))
    return input.imag


# Questions and numbers


def result_type(tensor, other):
    """The dtype of operations on two tensors or numbers."""
    operands = [x._array if isinstance(x, Tensor) else x for x in (tensor, other)]
    return _dtypes.of(_dtypes.common(operands))


def can_cast(from_, to):
    """Whether a dtype is stored in another by PyTorch's rules: not from floats to integers."""
    a, b = _dtypes.to_numpy(from_), _dtypes.to_numpy(to)
    rank = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
    return rank[kind_of(a)] <= rank[kind_of(b)]


def unravel_index(indices, shape):
    """The indices of each dimension, of positions in a row of all elements of a shape."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any([n < 0 for n in shape]) or not is_whole(indices):
        raise ValueError(
            message("unravel_index", "no integers, or a negative size", (indices.dtype, shape),
                    "integers and a shape")
        )  # fmt: skip
    found, step = [], 1
    for n in reversed(shape):
        found.append(indices // step % n)
        step *= n
    return tuple(reversed(found))


def is_whole(t):
    """Whether a tensor holds integers."""
    return t._array.dtype.kind in "iu"


def is_same_size(input, other):
    """Whether the shapes are equal."""
    return tuple(input.shape) == tuple(other.shape)


def is_nonzero(input):
    """Whether the only element is not zero. RuntimeError for others than one."""
    if input.numel() != 1:
        raise RuntimeError(message("is_nonzero", "not one element", input.numel(), "1"))
    return builtins.bool(input.item() != 0)


def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input._array.dtype.kind not in "ub"


Tensor.is_same_size, Tensor.is_nonzero, Tensor.is_signed = is_same_size, is_nonzero, is_signed


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A tensor without dimensions of a number, in the default floating-point dtype."""
    from .creation import full

    t = _dtypes.of(_dtypes.default_float()) if dtype is None else dtype
    return full((), s, dtype=t, device=device, requires_grad=requires_grad)


def range(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """The numbers from `start` to `end`, which is one of them; in the default float dtype."""
    from .creation import arange

    if end is None:
        start, end = 0, start
    n = math.floor((end - start) / step) + 1
    t = _dtypes.of(_dtypes.default_float()) if dtype is None else dtype
    made = arange(n, dtype=t, device=device) * step + start
    return made.to(t).requires_grad_() if requires_grad else made.to(t)
