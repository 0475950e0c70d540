"""The safetensors format: a header in JSON with names, dtypes and shapes, then all elements
(https://github.com/huggingface/safetensors, "Format"). Nothing in a file can be executed.
"""

import json
import math
import os

import numpy

from ...core.errors import message
from ...core.operands import adopt
from ...tensors import Tensor
from ...tensors._tensor import wrap

__all__ = ["load", "load_file", "load_metadata", "save", "save_file"]

_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "BF16": "bfloat16", "U32": "<u4", "I32": "<i4", "F32": "<f4",
    "U64": "<u8", "I64": "<i8", "F64": "<f8", "C64": "<c8",
}  # fmt: skip
_NAMES = {numpy.dtype(text): name for name, text in _TYPES.items()}
_MOST = 100_000_000  # bytes of a header


def save(tensors, metadata=None):
    """Tensors by name, with texts by name, as bytes. TypeError for what is no tensor."""
    header = {} if metadata is None else {"__metadata__": _texts(metadata)}
    every = {name: _elements(name, t) for name, t in tensors.items()}
    parts, at = [], 0
    # Large elements first, so that all lie where their type asks for it.
    for name in sorted(every, key=lambda name: -every[name].itemsize):
        a = every[name]
        if a.dtype not in _NAMES:
            raise TypeError(message("save", f"dtype of {name!r}", a.dtype, ", ".join(_TYPES)))
        header[name] = {
            "dtype": _NAMES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]
        }  # fmt: skip
        parts.append(numpy.ascontiguousarray(a).tobytes())
        at += a.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _texts(metadata):
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(message("save", "metadata", f"{key!r}: {value!r}", "texts"))
    return dict(metadata)


def _elements(name, t):
    if not isinstance(t, Tensor) or not isinstance(name, str):
        raise TypeError(message("save", f"{name!r} is no tensor", type(t).__name__, "a Tensor"))
    return numpy.asarray(t.detach().cpu()._array)


def save_file(tensors, filename, metadata=None):
    """Writes tensors by name, such as a state_dict, with texts by name, to a file."""
    raw = save(tensors, metadata)
    with open(filename, "wb") as file:
        file.write(raw)


def load(data):
    """Tensors by name from bytes. ValueError for bytes in another format."""
    return _loaded(memoryview(data), "this")[0]


def load_file(filename, device="cpu"):
    """Tensors by name from a file. ValueError for a file in another format."""
    with open(filename, "rb") as file:
        found, _ = _loaded(memoryview(file.read()), os.fspath(filename))
    return {name: t.to(device) for name, t in found.items()}


def load_metadata(filename):
    """The texts by name that a file has besides its tensors."""
    with open(filename, "rb") as file:
        return _loaded(memoryview(file.read()), os.fspath(filename))[1]


def _wrong(where, what, got, expected):
    return ValueError(
        message("load", f"{where} is not in the safetensors format: {what}", got, expected)
    )


def _unique(where):
    def made(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _wrong(where, "a name stands twice", len(pairs), f"{len(found)} names")
        return found

    return made


def _header(raw, where):
    """(the header, the elements)."""
    if len(raw) < 8:
        raise _wrong(where, "it is too short", f"{len(raw)} bytes", "8 and more")
    n = int.from_bytes(raw[:8], "little")
    if n > min(len(raw) - 8, _MOST):
        raise _wrong(where, "header is longer than the file", n, f"up to {len(raw) - 8} bytes")
    try:
        header = json.loads(bytes(raw[8 : 8 + n]).decode(), object_pairs_hook=_unique(where))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise _wrong(where, "header is no JSON", error, "a JSON object") from None
    if not isinstance(header, dict):
        raise _wrong(where, "header is no object", type(header).__name__, "a JSON object")
    return header, raw[8 + n :]


def _loaded(raw, where):
    header, elements = _header(raw, where)
    metadata = header.pop("__metadata__", {})
    end, found = 0, {}
    for name in sorted(header, key=lambda name: _offsets(where, name, header[name])):
        entry = header[name]
        begin, stop = _offsets(where, name, entry)
        kind, shape = entry.get("dtype"), entry.get("shape")
        if kind not in _TYPES:
            raise _wrong(where, f"dtype of {name!r}", kind, ", ".join(_TYPES))
        if not isinstance(shape, list) or any(type(e) is not int or e < 0 for e in shape):
            raise _wrong(where, f"shape of {name!r}", shape, "a list of ints")
        dtype = numpy.dtype(_TYPES[kind])
        size = math.prod(shape) * dtype.itemsize
        if begin != end or stop - begin != size or stop > len(elements):
            raise _wrong(where, f"offsets of {name!r}", [begin, stop], [end, end + size])
        a = numpy.frombuffer(elements[begin:stop], dtype).reshape(shape)
        found[name] = wrap(adopt(a.astype(dtype.newbyteorder("="))))
        end = stop
    if end != len(elements):
        raise _wrong(where, "elements that no name has", len(elements), f"{end} bytes")
    return {name: found[name] for name in header}, metadata


def _offsets(where, name, entry):
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    right = isinstance(offsets, list) and len(offsets) == 2
    if not right or any(type(x) is not int or x < 0 for x in offsets):
        raise _wrong(where, f"data_offsets of {name!r}", offsets, "two ints")
    return tuple(offsets)
