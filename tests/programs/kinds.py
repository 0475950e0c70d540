"""The types of values as the generator sees them, and the data that programs are called with."""

from __future__ import annotations

import random

import numpy as np

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTS, *FLOATS, *COMPLEX)
COMMON = ("float64",) * 6 + ("int64",) * 4 + ("float32",) * 3 + DTYPES
LAYOUTS = ("C", "C", "C", "F", "strided", "reversed", "transposed", "broadcast", "offset")
SIZES = (0, 1, 1, 2, 3, 3, 4, 5, 7)


def kind_of(value):
    """A hashable description: two values of one kind may be held by one variable."""
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return type(value).__name__
    if isinstance(value, np.generic):
        return "np." + value.dtype.name
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.name, value.ndim)
    if isinstance(value, tuple):
        name = type(value).__name__
        return (name, *(kind_of(v) for v in value))
    if isinstance(value, list):
        return ("list", kind_of(value[0]) if value else None)
    if isinstance(value, dict):
        key, item = next(iter(value.items()), (None, None))
        return ("dict", kind_of(key), kind_of(item)) if value else ("dict", None, None)
    return repr(value) if value is None else type(value).__name__


def is_number(value) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


def is_integer(value) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_bool(value) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_real(value) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_array(value) -> bool:
    return isinstance(value, np.ndarray)


def is_text(value) -> bool:
    return isinstance(value, str)


class Data:
    """Text of literal values."""

    def __init__(self, r: random.Random, special: bool):
        self.r, self.special = r, special

    def integer(self, dtype="int64") -> int:
        r = self.r
        info = np.iinfo(dtype)
        if self.special and r.random() < 0.1:
            return r.choice([int(info.min), int(info.max), int(info.max) - 1, 0])
        low = -9 if info.min < 0 else 0
        if r.random() < 0.1:
            return r.randint(max(int(info.min), -1000), min(int(info.max), 1000))
        return r.randint(low, 9)

    def real(self) -> str:
        r = self.r
        if self.special and r.random() < 0.15:
            return r.choice(["np.nan", "np.inf", "-np.inf", "-0.0", "0.0", "1e-3"])
        return repr(r.choice([0.0, 0.5, 1.0, 1.5, 2.0, -1.0, -2.5, 3.25, r.randint(-99, 99) / 8,
                              round(r.uniform(-4, 4), 3)]))  # fmt: skip

    def number(self, dtype: str) -> str:
        if dtype == "bool":
            return self.r.choice(("True", "False"))
        if dtype in INTS:
            return str(self.integer(dtype))
        if dtype in COMPLEX:
            if self.special and self.r.random() < 0.1:
                return f"complex({self.real()}, {self.real()})"
            return f"({self.r.randint(-6, 6) / 2} + {self.r.randint(-6, 6) / 2}j)"
        return self.real()

    def array(self, dtype: str, shape, layout: str) -> str:
        """An expression that makes an array of that shape in that layout."""
        if layout == "transposed":
            shape = tuple(reversed(shape))
        wide = shape
        if layout == "strided":
            wide = tuple(2 * n for n in shape)
        if layout == "offset" and shape:
            wide = (shape[0] + 1, *shape[1:])
        if layout == "broadcast":
            wide = tuple(1 if self.r.random() < 0.5 else n for n in shape)
        size = int(np.prod(wide, dtype=int))
        items = ", ".join(self.number(dtype) for _ in range(size))
        text = f"np.array([{items}], dtype=np.{'bool_' if dtype == 'bool' else dtype})"
        if len(wide) != 1:
            text += f".reshape({wide})"
        if not shape:
            return text
        if layout == "F":
            return f"np.asfortranarray({text})"
        if layout == "strided":
            return text + "[" + ", ".join(["::2"] * len(shape)) + "]"
        if layout == "reversed":
            return text + "[" + ", ".join(self.r.choice(("::-1", ":")) for _ in shape) + "]"
        if layout == "transposed":
            return text + ".T"
        if layout == "offset":
            return text + "[1:]"
        if layout == "broadcast":
            return f"np.broadcast_to({text}, {shape})"
        return text
