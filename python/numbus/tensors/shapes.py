"""Shapes: views, joining, splitting, repeating."""

import math
import operator

import numpy

import numbus as nb

from ..core.errors import message
from . import _dtypes
from ._arrays import (
    as_dtype,
    axes_of,
    axis_of,
    moved_to,
    no_out,
    one_of,
    order_of_format,
    sizes,
)
from ._functions import in_place, method, tensor_function
from ._tensor import Tensor


class Size(tuple):
    """The shape of a tensor."""

    __slots__ = ()

    def numel(self):
        return math.prod(self)

    def __repr__(self):
        return f"{_dtypes.dtype.home}.Size({list(self)})"

    def __getitem__(self, k):
        found = tuple.__getitem__(self, k)
        return Size(found) if isinstance(k, slice) else found

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))


def _shape(self):
    """The numbers of elements along each dimension."""
    return Size(self._array.shape)


def _size(self, dim=None):
    """The shape, or the number of elements along one dimension."""
    shape = self._array.shape
    return Size(shape) if dim is None else shape[axis_of("size", dim, len(shape))]


Tensor.shape = property(_shape)
Tensor.size = _size
Tensor.ndim = property(lambda self: self._array.ndim)
Tensor.dim = Tensor.ndimension = lambda self: self._array.ndim
Tensor.numel = Tensor.nelement = lambda self: self._array.size
Tensor.element_size = lambda self: self._array.itemsize
Tensor.itemsize = property(lambda self: self._array.itemsize)
Tensor.nbytes = property(lambda self: self._array.nbytes)


def numel(input):
    """The number of elements."""
    return input._array.size


def _stride(self, dim=None):
    """Steps from an element to the next, in elements."""
    steps = tuple([s // self._array.itemsize for s in self._array.strides])
    return steps if dim is None else steps[axis_of("stride", dim, len(steps))]


Tensor.stride = _stride


def _is_contiguous(self, memory_format=None):
    """Whether the elements lie in memory in their order."""
    order = order_of_format("is_contiguous", memory_format, self.dim())
    a = self._array if order is None else nb.transpose(self._array, order)
    return bool(a.flags.c_contiguous)


Tensor.is_contiguous = _is_contiguous


def reshaped(op, a, shape):
    try:
        return nb.reshape(a, shape)
    except ValueError:
        raise RuntimeError(
            message(op, "the elements do not fit the shape", f"{list(shape)}",
                    f"sizes for {a.size} elements of shape {list(a.shape)}")
        ) from None  # fmt: skip


@tensor_function
def reshape(input, shape):
    """The elements in another shape: a view where that is possible. One size may be -1."""
    return reshaped("reshape", input, sizes("reshape", (shape,)))


def _reshape(self, *lengths, shape=None):
    """The elements in another shape: a view where that is possible. One size may be -1."""
    return reshape(self, sizes("reshape", lengths, shape))


def _view(self, *shape, size=None, dtype=None):
    """The elements in another shape, shared; or their bytes as another dtype of that size.

    Raises RuntimeError where the shape needs a copy.
    """
    if dtype is not None and size is None:
        shape = (*shape, dtype)
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list)):
        return _viewed_as(self, _dtypes.to_numpy(shape[0]))
    shape = sizes("view", shape, size)
    if not self._array.flags.c_contiguous:
        made = self._array.reshape(shape)
        if made._storage != self._array._storage and self._array.size:
            raise RuntimeError(
                message("view", "the elements of this shape are not in one view",
                        f"shape {list(self.shape)} of strides {self.stride()} as {list(shape)}",
                        "reshape(), which copies")
            )  # fmt: skip
    return reshape(self, shape)


@tensor_function
def _viewed_as(input, t):
    return input.view(t)


Tensor.reshape = _reshape
Tensor.view = _view
Tensor.reshape_as = lambda self, other: self.reshape(other.shape)
Tensor.view_as = lambda self, other: self.view(other.shape)


@method()
def flatten(input, start_dim=0, end_dim=-1):
    """The dimensions from `start_dim` to `end_dim` as one; the tensor itself where it is one."""
    if isinstance(input, Tensor) and (n := input.ndim):
        if axis_of("flatten", start_dim, n) == axis_of("flatten", end_dim, n):
            return input
    return _flattened(input, start_dim, end_dim)


@tensor_function
def _flattened(input, start_dim, end_dim):
    if type(input) is not nb.ndarray:
        input = nb.asarray(input)
    shape = input.shape
    if not shape:
        return input.reshape(1)
    first, last = axis_of("flatten", start_dim, len(shape)), axis_of("flatten", end_dim, len(shape))
    if first > last:
        raise RuntimeError(
            message("flatten", "start_dim comes after end_dim", f"{start_dim}, {end_dim}",
                    "start_dim <= end_dim")
        )  # fmt: skip
    joined = math.prod(shape[first : last + 1])
    return input.reshape((*shape[:first], joined, *shape[last + 1 :]))


@method()
@tensor_function
def unflatten(input, dim, sizes):
    """A dimension as several."""
    k = axis_of("unflatten", dim, input.ndim)
    return reshaped("unflatten", input, (*input.shape[:k], *sizes, *input.shape[k + 1 :]))


@method()
@tensor_function
def ravel(input):
    """All elements along one dimension."""
    return nb.reshape(input, (-1,))


@tensor_function
def permute(input, dims):
    """The dimensions in another order, a view."""
    order = axes_of("permute", tuple(dims), input.ndim) if input.ndim else ()
    if len(order) != input.ndim:
        raise RuntimeError(
            message("permute", "not all dimensions", tuple(dims), f"all {input.ndim}")
        )
    return nb.transpose(input, order)


Tensor.permute = lambda self, *order, dims=None: permute(self, sizes("permute", order, dims))


@method()
@tensor_function
def transpose(input, dim0, dim1):
    """Two dimensions exchanged, a view."""
    if input.ndim == 0:
        return input
    return nb.swapaxes(
        input, axis_of("transpose", dim0, input.ndim), axis_of("transpose", dim1, input.ndim)
    )


swapdims = Tensor.swapdims = transpose


@method()
def swapaxes(input, axis0, axis1):
    """Two dimensions exchanged, a view."""
    return transpose(input, axis0, axis1)


@method()
@tensor_function
def t(input):
    """A matrix transposed; a line as it is."""
    if input.ndim > 2:
        raise RuntimeError(message("t", "more than two dimensions", input.ndim, "at most 2"))
    return nb.transpose(input)


@tensor_function
def _reversed_axes(input):
    return nb.transpose(input)


@tensor_function
def _matrices_transposed(input):
    return nb.swapaxes(input, -1, -2)


Tensor.T = property(_reversed_axes)
Tensor.mT = property(_matrices_transposed)
Tensor.H = property(lambda self: self.transpose(-1, -2).conj())


@method()
@tensor_function
def movedim(input, source, destination):
    """Dimensions moved to other positions, a view."""
    return nb.moveaxis(input, source, destination)


moveaxis = movedim
Tensor.moveaxis = movedim


@method()
@tensor_function
def squeeze(input, dim=None):
    """Without dimensions of one element, or without those named that have one."""
    empty = isinstance(dim, (tuple, list)) and len(dim) == 0
    axes = () if empty else axes_of("squeeze", dim, input.ndim)
    shape = input.shape
    return nb.reshape(input, tuple([n for k, n in enumerate(shape) if k not in axes or n != 1]))


@method()
@tensor_function
def unsqueeze(input, dim):
    """With a dimension of one element more."""
    return nb.expand_dims(input, axis_of("unsqueeze", dim, input.ndim + 1))


def _squeeze(self, dim=None):
    """`squeeze`, of this tensor."""
    return _become(self, squeeze(self.detach(), dim))


def _unsqueeze(self, dim):
    """`unsqueeze`, of this tensor."""
    return _become(self, unsqueeze(self.detach(), dim))


def _become(self, other):
    self._array = other._array
    return self


Tensor.squeeze_ = _squeeze
Tensor.unsqueeze_ = _unsqueeze


@tensor_function
def _expand(input, shape):
    extra = len(shape) - input.ndim
    if extra < 0:
        raise RuntimeError(
            message("expand", "fewer sizes than dimensions", list(shape), f"{input.ndim} or more")
        )
    full = [
        (input.shape[k - extra] if k >= extra else 1) if n == -1 else n for k, n in enumerate(shape)
    ]
    for k, n in enumerate(full[extra:]):
        if input.shape[k] not in (1, n):
            raise RuntimeError(
                message("expand", "a dimension of other than one element grows",
                        f"shape {list(input.shape)} as {list(shape)}", "sizes of one element")
            )  # fmt: skip
    return nb.broadcast_to(input, tuple(full))


Tensor.expand = lambda self, *shape, size=None: _expand(self, sizes("expand", shape, size))
Tensor.expand_as = lambda self, other: _expand(self, tuple(other.shape))


@method()
@tensor_function
def broadcast_to(input, size):
    """The elements repeated along dimensions of one element, a view."""
    return nb.broadcast_to(input, tuple(size))


@tensor_function
def broadcast_tensors(*tensors):
    """All tensors in their common shape."""
    return tuple(nb.broadcast_arrays(*tensors))


@tensor_function
def _repeat(input, counts):
    if len(counts) < input.ndim:
        raise RuntimeError(
            message("repeat", "fewer numbers than dimensions", counts, f"{input.ndim} or more")
        )
    return nb.tile(input, counts)


Tensor.repeat = lambda self, *counts, repeats=None: _repeat(self, sizes("repeat", counts, repeats))


@tensor_function
def tile(input, dims):
    """The tensor repeated so often along each dimension."""
    return nb.tile(input, tuple(dims))


Tensor.tile = lambda self, *counts, dims=None: tile(self, sizes("tile", counts, dims))


@method()
@tensor_function
def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Each element repeated; of `repeats` alone, the index of each so many times."""
    made = nb.repeat(input, repeats, axis=dim)
    k = 0 if dim is None else dim
    if output_size is not None and made.shape[k] != output_size:
        raise RuntimeError(message("repeat_interleave", "another size", output_size, made.shape[k]))
    return made


@tensor_function
def cat(tensors, dim=0, *, out=None):
    """Tensors one after another along a dimension."""
    no_out("cat", out)
    parts = [a for a in tensors if not (a.ndim == 1 and a.size == 0)] or list(tensors)
    if not parts:
        raise ValueError(message("cat", "no tensors", "an empty sequence", "at least one"))
    t = _dtypes.common(list(tensors))
    k = axis_of("cat", dim, parts[0].ndim)
    for a in parts:
        if (
            a.ndim != parts[0].ndim
            or a.ndim == 0
            or any(
                n != m
                for j, (n, m) in enumerate(zip(a.shape, parts[0].shape, strict=True))
                if j != k
            )
        ):
            raise RuntimeError(
                message("cat", "shapes that do not fit", [list(a.shape) for a in parts],
                        f"equal sizes but for dimension {k}")
            )  # fmt: skip
    return nb.concatenate([as_dtype(a, t) for a in parts], axis=k)


concat = concatenate = cat


@tensor_function
def stack(tensors, dim=0, *, out=None):
    """Tensors of equal shape along a new dimension."""
    no_out("stack", out)
    arrays = list(tensors)
    if not arrays:
        raise RuntimeError(message("stack", "no tensors", "an empty sequence", "at least one"))
    if any(a.shape != arrays[0].shape for a in arrays):
        raise RuntimeError(
            message("stack", "shapes that differ", [list(a.shape) for a in arrays], "one shape")
        )
    t = _dtypes.common(arrays)
    return nb.stack(
        [as_dtype(a, t) for a in arrays], axis=axis_of("stack", dim, arrays[0].ndim + 1)
    )


@tensor_function
def hstack(tensors):
    """Tensors beside each other."""
    return nb.hstack(list(tensors))


@tensor_function
def vstack(tensors):
    """Tensors below each other."""
    return nb.vstack(list(tensors))


@tensor_function
def split(tensor, split_size_or_sections, dim=0):
    """Parts of so many elements along a dimension, views; the last may be smaller."""
    k = axis_of("split", dim, tensor.ndim)
    n = tensor.shape[k]
    given = split_size_or_sections
    if isinstance(given, int):
        ends = list(range(given, n, given)) if given else []
        counts = [b - a for a, b in zip([0, *ends], [*ends, n], strict=True)]
    else:
        counts = list(given)
        if sum(counts) != n:
            raise RuntimeError(
                message("split", "sizes that are not all of the dimension", counts, f"a sum of {n}")
            )
    found, start = [], 0
    for count in counts:
        found.append(tensor[(slice(None),) * k + (slice(start, start + count),)])
        start += count
    return tuple(found)


Tensor.split = lambda self, split_size, dim=0: split(self, split_size, dim)


@method()
@tensor_function
def chunk(input, chunks, dim=0):
    """At most so many parts of equal size along a dimension, views."""
    k = axis_of("chunk", dim, input.ndim)
    if chunks <= 0:
        raise RuntimeError(message("chunk", "no number of parts", chunks, "one or more"))
    n = input.shape[k]
    size = -(-n // chunks) if n else 1
    ends = range(0, max(n, 1), size)
    return tuple([input[(slice(None),) * k + (slice(a, a + size),)] for a in ends])


@method()
@tensor_function
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Parts as equal as can be, or between indices, views."""
    cuts = one_of("tensor_split", indices_or_sections, indices, sections)
    return tuple(nb.array_split(input, cuts, axis=dim))


@method()
@tensor_function
def unbind(input, dim=0):
    """The slices along a dimension, without it."""
    k = axis_of("unbind", dim, input.ndim)
    return tuple([input[(slice(None),) * k + (j, ...)] for j in range(input.shape[k])])


@method()
@tensor_function
def narrow(input, dim, start, length):
    """A part of a dimension, a view."""
    k = axis_of("narrow", dim, input.ndim)
    n = input.shape[k]
    start = operator.index(start.item() if hasattr(start, "item") else start)
    if not -n <= start <= n or length < 0 or (start + n if start < 0 else start) + length > n:
        raise RuntimeError(
            message("narrow", "a part beyond the dimension", f"start {start}, length {length}",
                    f"at most {n} in all")
        )  # fmt: skip
    start += n if start < 0 else 0
    return input[(slice(None),) * k + (slice(start, start + length),)]


@method()
@tensor_function
def select(input, dim, index):
    """A slice of a dimension, without it."""
    k = axis_of("select", dim, input.ndim)
    return input[(slice(None),) * k + (index, ...)]


@tensor_function
def _flip(input, dims):
    return nb.flip(input, axis=dims).copy()


def flip(input, dims):
    """The elements in reverse order along dimensions, a copy."""
    return _flip(input, tuple(dims))


Tensor.flip = lambda self, *each, dims=None: _flip(self, sizes("flip", each, dims))


@method()
@tensor_function
def fliplr(input):
    """The columns in reverse order."""
    return nb.fliplr(input).copy()


@method()
@tensor_function
def flipud(input):
    """The rows in reverse order."""
    return nb.flipud(input).copy()


@method()
@tensor_function
def roll(input, shifts, dims=None):
    """The elements moved along dimensions; what leaves an end comes in at the other."""
    return nb.roll(input, shifts, axis=dims)


@method()
@tensor_function
def rot90(input, k=1, dims=(0, 1)):
    """The elements rotated by 90 degrees, k times."""
    return nb.rot90(input, k, axes=tuple(dims)).copy()


@method()
@tensor_function
def tril(input, diagonal=0):
    """The lower triangle of matrices, zeros elsewhere."""
    if input.ndim < 2:
        raise RuntimeError(message("tril", "no matrix", input.shape, "two dimensions or more"))
    return nb.tril(input, diagonal)


@method()
@tensor_function
def triu(input, diagonal=0):
    """The upper triangle of matrices, zeros elsewhere."""
    if input.ndim < 2:
        raise RuntimeError(message("triu", "no matrix", input.shape, "two dimensions or more"))
    return nb.triu(input, diagonal)


@method()
@tensor_function
def diag(input, diagonal=0):
    """The diagonal of a matrix, or the matrix of a diagonal."""
    found = nb.diag(input, diagonal)
    return found.copy() if input.ndim == 2 else found


def writable_diagonal(a, offset, axis1, axis2):
    """`nb.diagonal`, which may be written to where the array may."""
    view = nb.diagonal(a, offset, axis1, axis2)
    if a._writeable and not view._writeable:
        view._set_writeable(True)
    return view


@method()
@tensor_function
def diagonal(input, offset=0, dim1=0, dim2=1):
    """The diagonals of matrices, a view."""
    return writable_diagonal(input, offset, dim1, dim2)


@method()
@tensor_function
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices with these diagonals, along the dimensions `dim1` and `dim2` of the result."""
    first, second = (axis_of("diag_embed", d, input.ndim + 1) for d in (dim1, dim2))
    if first == second:
        raise RuntimeError(
            message("diag_embed", "a dimension twice", (dim1, dim2), "two dimensions")
        )
    n = input.shape[-1] + abs(offset)
    made = nb.zeros((*input.shape[:-1], n, n), dtype=input.dtype)
    k = nb.arange(input.shape[-1])
    made[..., k + max(-offset, 0), k + max(offset, 0)] = input
    if (first, second) == (input.ndim - 1, input.ndim):
        return made
    return nb.moveaxis(made, (-2, -1), (first, second))


@tensor_function
def meshgrid(*tensors, indexing="ij"):
    """Coordinates of a grid."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    return tuple(nb.meshgrid(*tensors, indexing=indexing))


@tensor_function
def _unfold(input, dimension, size, step):
    k = axis_of("unfold", dimension, input.ndim)
    windows = nb.lib.stride_tricks.sliding_window_view(input, size, axis=k)
    return windows[(slice(None),) * k + (slice(None, None, step),)]


Tensor.unfold = lambda self, dimension, size, step: _unfold(self, dimension, size, step)


def each_of(tensors, function):
    """A function of each of several tensors, or of those of one tuple or list: a tuple; of one
    tensor: its result.
    """
    if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
        return function(tensors[0])
    return tuple(function(t) for t in (tensors[0] if len(tensors) == 1 else tensors))


@tensor_function
def atleast_1d(*tensors):
    """Tensors with one dimension at least."""
    return each_of(tensors, nb.atleast_1d)


@tensor_function
def atleast_2d(*tensors):
    """Tensors with two dimensions at least."""
    return each_of(tensors, nb.atleast_2d)


@method()
@tensor_function
def clone(input, *, memory_format=None):
    """A copy that depends on the tensor."""
    order = order_of_format("clone", memory_format, input.ndim)
    if order is None:
        return input.copy()
    return nb.transpose(nb.transpose(input, order).copy(), numpy.argsort(order).tolist())


@tensor_function
def _in_order(input):
    return nb.ascontiguousarray(input)


def _contiguous(self, memory_format=None):
    """The tensor itself if its elements lie in their order, else a copy."""
    if _is_contiguous(self, memory_format):
        return self
    order = order_of_format("contiguous", memory_format, self.dim())
    return _in_order(self) if order is None else clone(self, memory_format=memory_format)


Tensor.contiguous = _contiguous


def _copy(a, src, non_blocking=False):
    """The elements of another tensor, of any dtype and device. In place."""
    nb.copyto(a, moved_to(src, a), casting="unsafe")


Tensor.copy_ = in_place(_copy)


def _fill(a, value):
    a[...] = value


Tensor.fill_ = in_place(_fill)
Tensor.zero_ = in_place(lambda a: _fill(a, 0))
