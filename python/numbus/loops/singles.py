"""NumPy's float32 as NumPy computes with it: each is held in 64 bits. One operation of two such,
done in 64 bits and rounded, has the same bits, as 53 bits are more than twice 24 and two.

Python's numbers beside it are rounded first; beside other types of NumPy's it becomes a float64.
"""

import ast
import struct

from .values import LARGEST, Unsupported, Value

SINGLE = "S"
_SMALL, _WIDE = "XYPQ", "FIZR"  # types of NumPy's whose values float32 holds, and others
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_EXACT = 1 << 53


def are(*values):
    """Whether one of these values is a float32."""
    return any(v.kind == SINGLE for v in values)


def rounded(e, text):
    """The name of a float that is rounded."""
    return e.temporary(f"float(np.float32({text}))")


def _constant(text):
    """A number of the source, rounded; None for other texts."""
    try:
        found = struct.unpack("f", struct.pack("f", float(text.strip("()"))))[0]
    except (ValueError, OverflowError):
        return None
    return repr(found) if abs(found) <= float(LARGEST) else None


def text_of(e, v):
    """The text of a number as a float32, which is infinite where it is too large."""
    if v.kind == SINGLE:
        return v.text
    if v.kind in _SMALL:
        return e.temporary(f"float({v.text})")
    if v.kind in "fi" and (known := _constant(v.text)):
        return known
    if v.kind == "b":
        return e.temporary(f"float(int({v.text}))")
    if v.kind in "Ii":
        e.check(f"{v.text} > {_EXACT} or {v.text} < {-_EXACT}", True)
        return rounded(e, f"float({v.text})")
    if v.kind in "fF":
        return rounded(e, v.text)
    raise Unsupported("a float32 of this type")


def _with(a, b):
    """Whether the other of two numbers becomes a float32; False: both become float64."""
    others = [v.kind for v in (a, b) if v.kind != SINGLE]
    if any(k not in "fib" + _SMALL + _WIDE for k in others):
        raise Unsupported("a float32 beside this type")
    return all(k not in _WIDE for k in others)


def _as_double(v):
    if v.kind in "ZR":
        return Value(f"float({v.text})", "F")
    return Value(v.text, "F", v.open) if v.kind == SINGLE else v


def binary(e, op, a, b, of_doubles):
    """`a op b`; of_doubles: what does the same of other numbers."""
    if op not in _SIGNS:
        raise Unsupported("this operator of float32")
    if not _with(a, b):
        return of_doubles(e, op, _as_double(a), _as_double(b))
    x, y = text_of(e, a), text_of(e, b)
    if op is ast.Div:
        e.check(f"not (abs({y}) <= {LARGEST})", True)
        y = e.divisor(y)
    return Value(rounded(e, f"{x} {_SIGNS[op]} {y}"), SINGLE, True)


def compare(e, op, a, b, sign, of_doubles):
    """`a op b` of two numbers."""
    if not _with(a, b):
        return of_doubles(e, op, _as_double(a), _as_double(b))
    x, y = text_of(e, a), text_of(e, b)
    for v, text in ((a, x), (b, y)):
        if v.kind == "f":  # NumPy may warn of its conversion
            e.check(f"not (abs({text}) <= {LARGEST})", True)
    return Value(f"({x} {sign} {y})", "B")


def stored(e, v):
    """The text of a number that is stored into an array of float32."""
    text = text_of(e, _as_double(v))
    if v.kind in "fF":
        e.check(f"not (abs({text}) <= {LARGEST})", True)
    return text


def call(e, name, a):
    """A function of NumPy's of one float32; or of one that makes it."""
    short = name.partition(".")[2]
    if short == "float32":
        if a.kind == SINGLE:
            return a
        return Value(stored(e, a), SINGLE)
    if short == "float64":
        return Value(a.text, "F")
    if short not in ("sqrt", "abs", "floor", "ceil", "trunc"):
        raise Unsupported(f"{name}() of this type")
    x = e.temporary(a.text)
    e.check(f"not (abs({x}) <= {LARGEST})", True)
    if short == "sqrt":
        e.check(f"{x} < 0.0", True)
        return Value(rounded(e, f"math.sqrt({x if e.checks_now else f'max({x}, 0.0)'})"), SINGLE)
    return Value(e.temporary(f"{'abs' if short == 'abs' else f'np.{short}'}({x})"), SINGLE)
