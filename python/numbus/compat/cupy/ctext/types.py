"""C's types of numbers, by the names of NumPy's dtypes, and what C makes of two of them."""

import numpy

# Words that make a type, sorted, to its dtype.
_BASIC = {
    "bool": "bool",
    "char": "int8",
    "char signed": "int8",
    "char unsigned": "uint8",
    "short": "int16",
    "int short": "int16",
    "short unsigned": "uint16",
    "int short unsigned": "uint16",
    "int": "int32",
    "signed": "int32",
    "int signed": "int32",
    "unsigned": "uint32",
    "int unsigned": "uint32",
    "long": "int64",
    "int long": "int64",
    "long unsigned": "uint64",
    "int long unsigned": "uint64",
    "long long": "int64",
    "int long long": "int64",
    "long long unsigned": "uint64",
    "int long long unsigned": "uint64",
    "float": "float32",
    "double": "float64",
}
WORDS = frozenset(word for words in _BASIC for word in words.split())
# Types that are one word.
NAMED = {
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    "float16": "float16",
    "half": "float16",
    "__half": "float16",
    "uint": "uint32",
    "uchar": "uint8",
    "ushort": "uint16",
    **{f"{s}int{b}_t": f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)},
}
QUALIFIERS = frozenset(["const", "volatile", "static", "constexpr", "register", "inline"])
_RANKS = ["int32", "uint32", "int64", "uint64"]


def basic(words):
    """The dtype of words such as ['unsigned', 'int'], or None."""
    return _BASIC.get(" ".join(sorted(words)))


def kind(t):
    """'b', 'i', 'u', 'f' or 'c'."""
    return numpy.dtype(t).kind


def promoted(t):
    """The type that an operand has before C computes with it."""
    if t == "float16":
        return "float32"
    if kind(t) in "biu" and numpy.dtype(t).itemsize < 4:
        return "int32"
    return t


def common(a, b):
    """The type in which C computes with two numbers."""
    a, b = promoted(a), promoted(b)
    if a == b:
        return a
    kinds = kind(a) + kind(b)
    if "c" in kinds:
        wide = {"float64", "complex128"} & {a, b}
        return "complex128" if wide else "complex64"
    if "f" in kinds:
        return "float64" if "float64" in (a, b) else "float32"
    return _RANKS[max(_RANKS.index(a), _RANKS.index(b))]
