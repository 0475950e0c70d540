"""Elements by indices and masks."""

import warnings

import numpy

import numbus as nb

from ..core.errors import message
from ..core.quick import quick
from ._arrays import as_dtype, axis_of, is_number, not_yet
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor
from .pointwise import _limit_like


def _index(k):
    """A list is an array of indices, as in PyTorch; NumPy's and ours are as they are."""
    if isinstance(k, list) and not any(isinstance(x, (slice, type(None), type(...))) for x in k):
        return nb.asarray(numpy.asarray(k, dtype=None if k else "i8"))
    return k


def _indices(k):
    if not isinstance(k, tuple):
        return _index(k)
    return tuple([_index(list(x) if isinstance(x, (tuple, range)) else x) for x in k])


def _with_step(k):
    for x in k if isinstance(k, tuple) else (k,):
        if isinstance(x, slice) and x.step is not None and x.step < 0:
            raise ValueError(
                message("index", "slices run forward only", f"step {x.step}", "x.flip(dim)")
            )
    return k


def _mask_of_bytes(x):
    warnings.warn(
        message("index", "indices of uint8 are a mask, as in PyTorch", tuple(x.shape), "bool"),
        UserWarning, stacklevel=4,
    )  # fmt: skip
    return x != 0


_MANY = 32


def _tidy(k):
    """0-d index tensors as numbers where they may be, so that slices stay views; as in PyTorch, a
    short list with a tensor, sequence, slice, None or an ellipsis in it is a tuple.
    """
    if isinstance(k, list) and len(k) < _MANY:
        parts = (Tensor, list, tuple, range, slice, type(None), type(...), numpy.ndarray)
        if any([isinstance(x, parts) for x in k]):
            k = tuple(k)

    def one(x):
        if isinstance(x, Tensor) and x._array.dtype.kind in "iu":
            if x._array.dtype.itemsize == 1 and x._array.dtype.kind == "u":
                return _mask_of_bytes(x)
            if x._array.ndim == 0:
                return int(x.item())
        if isinstance(x, (numpy.ndarray, nb.ndarray)) and x.ndim and x.dtype == "u1":
            return _mask_of_bytes(x)
        return x

    return tuple([one(x) for x in k]) if isinstance(k, tuple) else one(k)


def _is_integer(k):
    return isinstance(k, (int, numpy.integer)) and not isinstance(k, (bool, numpy.bool_))


def _taken(x):
    """How many axes an item of an index takes."""
    if x is None:
        return 0
    return x.ndim if isinstance(x, _ARRAYS) and x.dtype == bool else 1


_ARRAYS = (numpy.ndarray, nb.ndarray)


def _in_order(a, items):
    """A view and an index into it that name what `items` do for PyTorch: integers, None and an
    ellipsis are done before arrays of indices, and so do not tell where these put their axes.
    """
    arrays = [x for x in items if isinstance(x, _ARRAYS)]
    if not arrays or any([x.ndim == 0 for x in arrays]):
        return a, items
    if not any([x is None or x is ... or _is_integer(x) for x in items]):
        return a, items
    free = a.ndim - sum([_taken(x) for x in items if x is not ...])
    if free < 0 or any([isinstance(x, (bool, numpy.bool_)) for x in items]):
        return a, items
    view, left = [], []
    for x in items:
        if x is ...:
            view += [slice(None)] * free
            left += [slice(None)] * free
        elif isinstance(x, _ARRAYS):
            view += [slice(None)] * _taken(x)
            left.append(x)
        else:
            view.append(x)
            left += [] if _is_integer(x) else [slice(None)]
    return a[tuple(view)], tuple(left)


def _placed(a, k):
    """What an index is asked of: the array, or a view of it; the index that is left; its items."""
    k = _indices(k)
    if not isinstance(k, tuple):
        return a, k, (k,)
    a, items = _in_order(a, k)
    return a, items, items


def _rank(a, items):
    """The number of axes of what an index names."""
    arrays = [1 if x.dtype == bool else x.ndim for x in items if isinstance(x, _ARRAYS)]
    taken = sum([_taken(x) for x in items if _is_integer(x) or isinstance(x, _ARRAYS)])
    return a.ndim + sum([x is None for x in items]) - taken + max(arrays, default=0)


@tensor_function
def _getitem(a, k):
    a, k, items = _placed(a, k)
    if len(items) == a.ndim and all(map(_is_integer, items)):
        # A single element is a view without axes, as in PyTorch, and no number of its own.
        return a[(*items, ...)]
    return a[k]


def _get(self, k):
    return _getitem(self, _with_step(_tidy(k)))


def _setitem(a, k, value):
    a, k, items = _placed(a, k)
    if not is_number(value):
        value = as_dtype(value, a.dtype)
        more = value.ndim - _rank(a, items) if value.ndim else 0
        if more > 0:
            value = nb.reshape(value, value.shape[more:])
    a[k] = value


_set = in_place(_setitem)


def _set_item(self, k, value):
    if isinstance(value, (numpy.ndarray, nb.ndarray)):
        value = nb.asarray(value)
    _set(self, _with_step(_tidy(k)), value)


Tensor.__getitem__ = _get
Tensor.__setitem__ = _set_item


def _takes_index(op, index, wide=False):
    """Raises unless indices are of int64, or of int32 where `wide` is not set."""
    if str(index.dtype) not in (("int64",) if wide else ("int64", "int32")) and index.size:
        expected = "int64" if wide else "int64 or int32"
        raise RuntimeError(message(op, "indices of another dtype", index.dtype, expected))


def takes_source(op, a, src):
    """Raises unless a source is a tensor of the dtype of what it is stored to."""
    if is_number(src):
        raise TypeError(message(op, "the source is not a tensor", type(src).__name__, "a tensor"))
    if src.dtype != a.dtype:
        raise RuntimeError(message(op, "a source of another dtype", src.dtype, a.dtype))


def _indexed(op, a, index, dim):
    """Arrays of indices that name the elements of `a` where `index`, along `dim`, does."""
    _takes_index(op, index)
    if index.ndim != a.ndim:
        raise RuntimeError(
            message(op, "indices of another number of dimensions", index.ndim, a.ndim)
        )
    k = axis_of(op, dim, a.ndim)
    for j in range(a.ndim):
        if j != k and index.shape[j] > a.shape[j]:
            raise RuntimeError(
                message(op, "more indices than elements", f"shape {list(index.shape)}",
                        f"at most {list(a.shape)} but for dimension {k}")
            )  # fmt: skip
    found = []
    for j in range(a.ndim):
        if j == k:  # PyTorch takes no indices from the end here: they become out of range
            found.append(nb.where(index < 0, a.shape[j], index))
        else:
            shape = [1] * a.ndim
            shape[j] = index.shape[j]
            found.append(nb.reshape(nb.arange(index.shape[j]), shape))
    return tuple(found)


def _flat(op, a, index, dim):
    """The same as one index into all elements, of tensors with more dimensions than a gather takes
    index arrays; an index beyond stays beyond.
    """
    k = axis_of(op, dim, a.ndim)
    n = a.shape[k]
    parts, step = _indexed(op, a, index, dim), 1
    total = 0
    for j in reversed(range(a.ndim)):
        total = total + parts[j] * step
        step *= a.shape[j]
    return nb.where((index >= 0) & (index < n), total, a.size)


def store_at(op, a, dim, index, change):
    """Has `change(array, index)` write to the elements that an index along a dimension names."""
    if a.ndim <= 3:
        change(a, _indexed(op, a, index, dim))
        return
    k = _flat(op, a, index, dim)
    if not index.size:
        return
    whole = a.flags.c_contiguous
    line = nb.reshape(a if whole else a.copy(), (-1,))
    change(line, k)
    if not whole:
        a[...] = nb.reshape(line, a.shape)


@method()
@tensor_function
@quick("gather")
def gather(input, dim, index, *, sparse_grad=False):
    """input[..., index, ...] along a dimension, for each index."""
    not_yet("gather", sparse_grad=sparse_grad)
    if input.ndim == 0:
        return nb.broadcast_to(input, index.shape).copy()
    index = nb.ascontiguousarray(index)  # the result's elements lie as its indices do
    if input.ndim > 3:
        return nb.reshape(input, (-1,))[_flat("gather", input, index, dim)]
    return input[_indexed("gather", input, index, dim)]


@method()
@tensor_function
def take_along_dim(input, indices, dim=None):
    """The elements at indices along a dimension; shapes are broadcast."""
    _takes_index("take_along_dim", indices, True)
    if dim is None:
        return nb.reshape(input, (-1,))[nb.reshape(indices, (-1,))]
    return nb.take_along_axis(input, indices, axis=dim)


def _part(src, index):
    """As many elements of `src` as there are indices."""
    return src[tuple([slice(n) for n in index.shape])]


def _scatter_into(a, dim, index, src, reduce=None, op="scatter"):
    if op != "scatter" or not is_number(src):
        takes_source(op, a, src)
    _takes_index(op, index)
    if a.ndim == 0:
        a, index = nb.reshape(a, (1,)), nb.reshape(index, (1,))
        src = src if is_number(src) else nb.reshape(src, (1,))
    value = src if is_number(src) else as_dtype(_part(src, index), a.dtype)
    if reduce is None:
        store_at("scatter", a, dim, index, lambda x, k: x.__setitem__(k, value))
    elif reduce in ("add", "sum"):
        store_at("scatter", a, dim, index, lambda x, k: nb.add.at(x, k, value))
    elif reduce == "multiply":
        store_at("scatter", a, dim, index, lambda x, k: nb.multiply.at(x, k, value))
    else:
        raise RuntimeError(message("scatter", "not a reduction", reduce, "'add' or 'multiply'"))


@method()
@tensor_function
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """A copy with the elements of `src` at indices along a dimension; several add by `reduce`."""
    made = input.copy()
    _scatter_into(made, dim, index, value if src is None else src, reduce)
    return made


@method()
@tensor_function
def scatter_add(input, dim, index, src):
    """A copy to which the elements of `src` are added at indices along a dimension."""
    made = input.copy()
    _scatter_into(made, dim, index, src, "add", "scatter_add")
    return made


@quick("scatter_in_place")
def _scatter(a, dim, index, src=None, *, value=None, reduce=None):
    """`scatter` in place."""
    _scatter_into(a, dim, index, value if src is None else src, reduce)


@quick("scatter_add_in_place")
def _scatter_add(a, dim, index, src):
    """`scatter_add` in place."""
    _scatter_into(a, dim, index, src, "add", "scatter_add")


Tensor.scatter_ = in_place(_scatter)
Tensor.scatter_add_ = in_place(_scatter_add)


def _line(op, index):
    if index.ndim > 1:
        raise RuntimeError(
            message(op, "indices of several dimensions", index.ndim, "a line of indices")
        )
    return nb.reshape(index, (-1,))


def _not_negative(op, index, n):
    """PyTorch takes no indices from the end in these functions."""
    if index.size and int(nb.min(index)) < 0:
        raise IndexError(message(op, "index out of range", int(nb.min(index)), f"0 to {n - 1}"))
    return index


@method()
@tensor_function
def index_select(input, dim, index):
    """The slices at indices along a dimension, a copy."""
    k = axis_of("index_select", dim, input.ndim)
    _takes_index("index_select", index)
    index = _not_negative(
        "index_select", _line("index_select", index), input.shape[k] if input.ndim else 1
    )
    if input.ndim == 0:
        return nb.reshape(nb.take(nb.reshape(input, (1,)), index, axis=0), ())
    return nb.take(input, index, axis=k)


def _at(dim, index, a, op, from_end=False):
    k = axis_of(op, dim, a.ndim)
    line = _line(op, index)
    if not from_end:  # they become out of range
        line = nb.where(line < 0, a.shape[k], line)
    return (slice(None),) * k + (line,)


def _lined(a):
    """An array with one dimension at least, of the same memory."""
    return nb.reshape(a, (1,)) if a.ndim == 0 else a


def _one_each(op, dim, index, a, source):
    """Raises unless there is a slice for each index."""
    k = axis_of(op, dim, a.ndim)
    if source.ndim != a.ndim or source.shape[k] != index.size:
        raise RuntimeError(message(op, "not a slice for each index", f"shape {list(source.shape)}",
                                   f"{index.size} along dimension {k}"))  # fmt: skip


@quick("index_add_in_place")
def _index_add(a, dim, index, source, *, alpha=1):
    """Adds the slices of `source` at indices along a dimension. In place."""
    takes_source("index_add", a, source)
    _takes_index("index_add", index)
    a, source = _lined(a), _lined(source)
    _one_each("index_add", dim, index, a, source)
    nb.add.at(a, _at(dim, index, a, "index_add"), source if alpha == 1 else alpha * source)


@quick("index_copy_in_place")
def _index_copy(a, dim, index, source):
    """The slices of `source` at indices along a dimension. In place."""
    takes_source("index_copy", a, source)
    _takes_index("index_copy", index, True)
    a, source = _lined(a), _lined(source)
    _one_each("index_copy", dim, index, a, source)
    a[_at(dim, index, a, "index_copy")] = source


def _index_fill(a, dim, index, value):
    """A value at indices along a dimension. In place."""
    if not is_number(value) and value.ndim:
        raise RuntimeError(message("index_fill", "the value is not one element",
                                   f"{value.ndim} dimensions", "a 0-d tensor"))  # fmt: skip
    if str(index.dtype) != "int64" and index.size:
        raise IndexError(message("index_fill", "indices of another dtype", index.dtype, "int64"))
    a = _lined(a)
    a[_at(dim, index, a, "index_fill", from_end=True)] = _limit_like(value, a.dtype)


def _copying(body, name, doc):
    def made(input, *args, **keywords):
        a = input.copy()
        body(a, *args, **keywords)
        return a

    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    function = tensor_function(made)
    setattr(Tensor, name, function)
    setattr(Tensor, name + "_", in_place(body))
    return function


index_add = _copying(_index_add, "index_add", "`index_add_` of a copy.")
index_copy = _copying(_index_copy, "index_copy", "`index_copy_` of a copy.")
index_fill = _copying(_index_fill, "index_fill", "`index_fill_` of a copy.")


@method()
@tensor_function
def masked_select(input, mask):
    """The elements where a mask holds, along one dimension."""
    a, m = nb.broadcast_arrays(input, mask)
    return a[m] if a.ndim else nb.reshape(a, (1,))[nb.reshape(m, (1,))]


@method()
@tensor_function
def take(input, index):
    """The elements at indices into all of them."""
    _takes_index("take", index, True)
    return nb.take(nb.reshape(input, (-1,)), index)


def nonzero(input, *, as_tuple=False):
    """The indices of elements that are not zero: rows of a matrix, or a tuple of lines."""
    found = _nonzero(input)
    if as_tuple:
        return found or _lines_of(input)
    from .shapes import stack

    if not found:
        return Tensor._of(nb.zeros((int(bool(input.item())), 0), dtype="i8"))
    return stack(found, dim=1)


@tensor_function
def _nonzero(input):
    return tuple(nb.nonzero(nb.stop_gradient(input))) if input.ndim else ()


def _lines_of(input):
    """A line of indices for each dimension; a number has one dimension here."""
    return _nonzero(input) if input.ndim else _nonzero(input.reshape(1))


argwhere = nonzero
Tensor.nonzero = Tensor.argwhere = nonzero


def tril_indices(row, col, offset=0, *, dtype=None, device=None):
    """The indices of the lower triangle, int64 unless another dtype is given."""
    found = Tensor._of(nb.stack(nb.tril_indices(row, offset, col)))
    return found.to(device=device, dtype=dtype)


def triu_indices(row, col, offset=0, *, dtype=None, device=None):
    """The indices of the upper triangle, int64 unless another dtype is given."""
    found = Tensor._of(nb.stack(nb.triu_indices(row, offset, col)))
    return found.to(device=device, dtype=dtype)
