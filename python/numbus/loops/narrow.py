"""NumPy's integers of 8 to 32 bits as NumPy computes with them: each is held in 64 bits, and what
leaves its range, of which NumPy may warn, is left to it.
"""

import ast

# A letter for each type of NumPy's, and the small one for the type of Numbus's own numbers, which
# is derived from it.
LETTERS = {
    "X": "int8", "Y": "int16", "Z": "int32", "P": "uint8", "Q": "uint16", "R": "uint32",
}  # fmt: skip
KINDS = "".join(LETTERS) + "".join(LETTERS).lower()
DTYPES, OF_DTYPE = {}, {}  # of NumPy's, once these are known


def use(numpy):
    """Notes NumPy's types."""
    DTYPES.update({k: numpy.dtype(LETTERS[k.upper()]) for k in KINDS})
    OF_DTYPE.update({DTYPES[k]: k for k in LETTERS})


class Mixed(Exception):
    """An operation of these types, which is left to CPython."""


def limits(kind):
    """The least and the greatest integer."""
    name = LETTERS[kind.upper()]
    bits = int(name.lstrip("uint"))
    if name.startswith("u"):
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def outside(text, kind):
    """The text of whether an integer is none of the type."""
    low, high = limits(kind)
    return f"{text} < {low} or {text} > {high}"


def common(e, a, b):
    """The kind of what an operator makes of two integers, one of which is of these types."""
    if a.kind in KINDS and b.kind in KINDS:
        if DTYPES[a.kind] != DTYPES[b.kind]:
            raise Mixed
        return min(a.kind, b.kind, key=str.isupper)  # ours, where one of them is
    kind, other = (a.kind, b) if a.kind in KINDS else (b.kind, a)
    if other.kind != "i":
        raise Mixed
    e.check(outside(other.text, kind), True)
    return kind


def binary(e, op, x, y, kind):
    """The text of `x op y`, for names of integers of the type."""
    low, high = limits(kind)
    bits = DTYPES[kind].itemsize * 8
    if op in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return e.temporary(f"{x} {_SIGNS[op]} {y}")
    if op in (ast.LShift, ast.RShift):
        e.check(f"{y} < 0 or {y} >= {bits}")
        if op is ast.RShift:
            return e.temporary(f"{x} >> {y}")
        if low == 0:
            return e.temporary(f"({x} << {y}) & {high}")
    elif op in (ast.FloorDiv, ast.Mod):
        e.check(f"{y} == 0")
    elif op is ast.Mult and bits == 32:
        e.check(f"mul_overflows({x}, {y})", True)
    elif op not in _SIGNS:
        raise Mixed
    r = e.temporary(f"{x} {_SIGNS[op]} {y}")
    e.check(outside(r, kind), True)
    return r


_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def unary(e, op, x, kind):
    """The text of `-x`, `~x`."""
    low, high = limits(kind)
    if op is ast.Invert:
        return e.temporary(f"{high} ^ {x}" if low == 0 else f"~{x}")
    e.check(f"{x} != 0" if low == 0 else f"{x} == {low}", True)
    return e.temporary(f"-{x}")
