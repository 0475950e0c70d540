"""What concerns the memory of tensors: views of any strides, sizes, where elements lie."""

import numpy

import numbus as nb

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from . import creation, linalg, products, rearranging, statistics
from ._arrays import not_yet, sizes
from ._functions import method, tensor_function
from ._tensor import Tensor

__all__ = ["as_strided", "get_device", "sum_to_size"]


def storage_offset(self):
    """Where in its memory the first element lies, counted in elements."""
    return self._array._offset // self._array.itemsize


@method()
@tensor_function
def as_strided(input, size, stride, storage_offset=None):
    """A view of the memory of a tensor: its sizes, steps and first element, counted in elements."""
    width = input.itemsize
    start = input._offset if storage_offset is None else storage_offset * width
    if len(size) != len(stride):
        raise RuntimeError(
            message("as_strided", "not a step for each size", f"{size} and {stride}", "as many")
        )
    if any([n < 0 for n in (*size, *stride, start)]):
        raise RuntimeError(
            message("as_strided", "negative numbers", f"{size}, {stride}", "0 or more")
        )
    steps = tuple([s * width for s in stride])
    try:
        return _core.as_strided(input, tuple(size), steps, start - input._offset)
    except ValueError as error:
        raise RuntimeError(*error.args) from None


@method()
@tensor_function
def sum_to_size(input, *size):
    """The sum over what was broadcast from a size."""
    size = sizes("sum_to_size", size)
    extra = input.ndim - len(size)
    if extra < 0 or nb.broadcast_shapes(size, input.shape) != input.shape:
        raise RuntimeError(
            message("sum_to_size", "the size does not broadcast to the shape", size, input.shape)
        )
    dtype = numpy.dtype("i8") if kind_of(input.dtype) in "biu" else input.dtype  # of sums
    made = nb.sum(input, axis=tuple(range(extra)), dtype=dtype) if extra else input
    ones = tuple([k for k, n in enumerate(size) if n == 1 and made.shape[k] != 1])
    return nb.sum(made, axis=ones, keepdims=True, dtype=dtype) if ones else made


def get_device(input):
    """The number of its GPU; -1: it lies on the CPU."""
    device = input.device
    return -1 if device.type == "cpu" else device.index or 0


def _resize(self, *size, memory_format=None):
    """Has the tensor as many elements as the sizes say: those there are, and zeros after them."""
    if self.requires_grad:
        raise RuntimeError(
            message("resize_", "the tensor requires a gradient", f"shape {tuple(self.shape)}",
                    "one that does not")
        )  # fmt: skip
    not_yet("resize_", memory_format=memory_format)
    size = sizes("resize_", size)
    flat = self._array.reshape(-1)
    count = 1
    for n in size:
        count *= n
    if count <= flat.size:
        made = flat[:count].reshape(size)
    else:
        made = nb.concatenate([flat, nb.zeros(count - flat.size, flat.dtype)]).reshape(size)
    self.data = creation.wrap(made)
    return self


def _applied(self, function):
    """Each element of a tensor on the CPU by a function of Python's, in place."""
    flat = [function(x) for x in self.reshape(-1).tolist()]
    self.copy_(creation.tensor(flat, dtype=self.dtype).reshape(self.shape))
    return self


def _mapped(self, other, function):
    """Elements of this tensor and another one by a function of Python's, in place."""
    lines = [t.expand(self.shape).reshape(-1).tolist() for t in (self, other)]
    flat = [function(x, y) for x, y in zip(*lines, strict=True)]
    self.copy_(creation.tensor(flat, dtype=self.dtype).reshape(self.shape))
    return self


def _set(self, source=None):
    """Has the tensor the memory and shape of another one; without one, no elements."""
    self.data = creation.empty(0, dtype=self.dtype) if source is None else source.detach()
    return self


Tensor.set_ = _set
Tensor.storage_offset = storage_offset
Tensor.get_device = get_device
Tensor.resize_ = _resize
Tensor.resize_as_ = lambda self, other: self.resize_(*other.shape)
Tensor.apply_ = _applied
Tensor.map_ = _mapped
Tensor.is_cpu = property(lambda self: self.device.type == "cpu")
Tensor.share_memory_ = lambda self: self
Tensor.is_shared = lambda self: False
Tensor.is_inference = lambda self: False
Tensor.is_conj = Tensor.is_neg = lambda self: False
Tensor.resolve_conj = Tensor.resolve_neg = lambda self: self
for _name in (
    "is_sparse", "is_quantized", "is_meta", "is_nested", "is_mkldnn", "is_mps", "is_xpu",
    "is_sparse_csr",
):  # fmt: skip
    setattr(Tensor, _name, False)
Tensor.to_dense = lambda self, dtype=None: self if dtype is None else self.to(dtype)
Tensor.adjoint = lambda self: self.transpose(-1, -2).conj()
Tensor.mH = property(Tensor.adjoint)
Tensor.negative_ = Tensor.neg_
for _module in (products, linalg, rearranging, statistics):
    for _name in (
        "kron", "matrix_power", "qr", "slogdet", "svd",
    ):  # fmt: skip
        if hasattr(_module, _name) and not hasattr(Tensor, _name):
            setattr(Tensor, _name, getattr(_module, _name))
