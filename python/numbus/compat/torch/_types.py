"""The classes of tensors of old: `torch.FloatTensor(...)`."""

from ... import tensors


def _kind(name, dtype):
    def make(*data):
        if len(data) == 1 and not isinstance(data[0], int):
            return tensors.tensor(data[0], dtype=dtype)
        return tensors.zeros(*data, dtype=dtype) if data else tensors.zeros(0, dtype=dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A tensor of {dtype.name}, of data or of sizes (of zeros)."
    return make


FloatTensor = _kind("FloatTensor", tensors.float32)
DoubleTensor = _kind("DoubleTensor", tensors.float64)
HalfTensor = _kind("HalfTensor", tensors.float16)
BFloat16Tensor = _kind("BFloat16Tensor", tensors.bfloat16)
LongTensor = _kind("LongTensor", tensors.int64)
IntTensor = _kind("IntTensor", tensors.int32)
ShortTensor = _kind("ShortTensor", tensors.int16)
ByteTensor = _kind("ByteTensor", tensors.uint8)
BoolTensor = _kind("BoolTensor", tensors.bool)
