"""Objects as bytes without pickles: what another process sent can hold data, and never code."""

import struct

import numpy

from .._core import ndarray
from ..core.errors import message
from ..core.operands import adopt
from ..tensors import Tensor
from ..tensors._tensor import wrap
from ..core.dtypes import BFLOAT16, kind_of

_DEEPEST = 200


def _sized(tag, raw):
    return tag + struct.pack("!Q", len(raw)) + raw


def encode(x):
    """None, truth values, numbers, texts, bytes, arrays and tensors, and lists, tuples, sets and
    dicts of these, as bytes. TypeError for anything else.
    """
    parts = []
    _write(x, parts, 0)
    return b"".join(parts)


def _write(x, parts, depth):
    if depth > _DEEPEST:
        raise ValueError(message("object", "nested too deeply", depth, f"up to {_DEEPEST} levels"))
    kind = type(x)
    if x is None or kind is bool:
        parts.append({None: b"N", True: b"T", False: b"F"}[x])
    elif kind is int:
        parts.append(_sized(b"i", str(x).encode()))
    elif kind is float:
        parts.append(b"f" + struct.pack("!d", x))
    elif kind is complex:
        parts.append(b"c" + struct.pack("!dd", x.real, x.imag))
    elif kind is str:
        parts.append(_sized(b"s", x.encode("utf-8", "surrogatepass")))
    elif kind in (bytes, bytearray):
        parts.append(_sized(b"b", bytes(x)))
    elif kind in (list, tuple, set, frozenset):
        tags = {list: b"l", tuple: b"t", set: b"S", frozenset: b"z"}
        parts.append(tags[kind] + struct.pack("!Q", len(x)))
        for item in x:
            _write(item, parts, depth + 1)
    elif isinstance(x, dict):  # also an OrderedDict, as of state_dict()
        parts.append(b"d" + struct.pack("!Q", len(x)))
        for key, value in x.items():
            _write(key, parts, depth + 1)
            _write(value, parts, depth + 1)
    elif isinstance(x, Tensor):
        _array(b"x", x.detach()._array.to_numpy(), parts)
    elif kind is ndarray:
        _array(b"a", x.to_numpy(), parts)
    elif isinstance(x, (numpy.ndarray, numpy.generic)):
        _array(b"n" if isinstance(x, numpy.ndarray) else b"g", numpy.asarray(x), parts)
    else:
        raise TypeError(
            message("object", "a type that is not sent to other ranks (no pickles are read)",
                    kind.__name__, "numbers, texts, bytes, arrays, tensors, and lists, tuples, "
                    "sets and dicts of them")
        )  # fmt: skip


def _array(tag, a, parts):
    if kind_of(a.dtype) not in "biufc":
        raise TypeError(message("object", "an array of this dtype is not sent", a.dtype, "numbers"))
    name = a.dtype.name if a.dtype == BFLOAT16 else a.dtype.str
    parts.append(_sized(tag, name.encode()))
    parts.append(struct.pack("!Q", a.ndim) + struct.pack(f"!{a.ndim}Q", *a.shape))
    parts.append(_sized(b"", numpy.ascontiguousarray(a).tobytes()))


def decode(raw):
    """The object of encode(). ValueError for other bytes."""
    reader = _Reader(raw)
    try:
        found = reader.read(0)
    except (struct.error, UnicodeDecodeError, RecursionError, TypeError) as error:
        raise ValueError(message("object", "bytes of no object", str(error), "encode()")) from None
    if reader.at != len(raw):
        raise ValueError(message("object", "bytes after the object", len(raw), reader.at))
    return found


class _Reader:
    def __init__(self, raw):
        self.raw, self.at = memoryview(raw), 0

    def take(self, n):
        if n > len(self.raw) - self.at:
            raise ValueError(message("object", "bytes end early", len(self.raw), self.at + n))
        self.at += n
        return self.raw[self.at - n : self.at]

    def number(self):
        return struct.unpack("!Q", self.take(8))[0]

    def read(self, depth):
        if depth > _DEEPEST:
            raise ValueError(message("object", "nested too deeply", depth, f"up to {_DEEPEST}"))
        tag = bytes(self.take(1))
        if tag in b"NTF":
            return {b"N": None, b"T": True, b"F": False}[tag]
        if tag == b"f":
            return struct.unpack("!d", self.take(8))[0]
        if tag == b"c":
            return complex(*struct.unpack("!dd", self.take(16)))
        n = self.number()
        if tag in b"ltSz":
            made = [self.read(depth + 1) for _ in range(n)]
            kinds = {b"l": list, b"t": tuple, b"S": set, b"z": frozenset}
            return kinds[tag](made)
        if tag == b"d":
            return {self.read(depth + 1): self.read(depth + 1) for _ in range(n)}
        raw = bytes(self.take(n))
        if tag == b"i":
            return int(raw)
        if tag == b"s":
            return raw.decode("utf-8", "surrogatepass")
        if tag == b"b":
            return raw
        if tag in b"xang":
            return self.array(tag, numpy.dtype(raw.decode()))
        raise ValueError(message("object", "bytes of no object", tag, "encode()"))

    def array(self, tag, kind):
        if kind_of(kind) not in "biufc":
            raise ValueError(message("object", "dtype of an array", kind, "numbers"))
        shape = tuple(self.number() for _ in range(self.number()))
        elements = numpy.frombuffer(self.take(self.number()), kind).reshape(shape).copy()
        if tag == b"x":
            return wrap(adopt(elements))
        if tag == b"a":
            return adopt(elements)
        return elements if tag == b"n" else elements[()]
