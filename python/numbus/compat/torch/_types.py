"""The classes of tensors of old: `torch.FloatTensor(...)`."""

from ... import tensors


class _Kind(type):
    """Tensors of a dtype in the host's memory are instances."""

    def __instancecheck__(cls, x):
        return tensors.is_tensor(x) and x.dtype == cls.of_dtype and not x.is_cuda


def _kind(name, dtype):
    def make(_cls, *data):
        if len(data) == 1 and not isinstance(data[0], int) and not hasattr(data[0], "numel"):
            return tensors.tensor(data[0], dtype=dtype)
        if len(data) == 1 and tensors.is_tensor(data[0]):
            return data[0].to(dtype)
        return tensors.zeros(*data, dtype=dtype) if data else tensors.zeros(0, dtype=dtype)

    doc = f"A tensor of {dtype.name}, of data or of sizes (of zeros)."
    return _Kind(name, (), {"__new__": make, "__doc__": doc, "of_dtype": dtype})


FloatTensor = _kind("FloatTensor", tensors.float32)
DoubleTensor = _kind("DoubleTensor", tensors.float64)
HalfTensor = _kind("HalfTensor", tensors.float16)
BFloat16Tensor = _kind("BFloat16Tensor", tensors.bfloat16)
LongTensor = _kind("LongTensor", tensors.int64)
IntTensor = _kind("IntTensor", tensors.int32)
ShortTensor = _kind("ShortTensor", tensors.int16)
CharTensor = _kind("CharTensor", tensors.int8)
ByteTensor = _kind("ByteTensor", tensors.uint8)
BoolTensor = _kind("BoolTensor", tensors.bool)
