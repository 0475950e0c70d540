"""Complex numbers of Python's, by the formulas of CPython's complexobject.c.

The absolute value is hypot() of C's library, whose last bit is its own: only its comparisons with
real numbers are compiled, where they are certain. It has the kind NEAR.
"""

import ast
import sys

from .values import COMPLEX, LARGEST, NEAR, Unsupported, Value

_NEW = sys.version_info >= (3, 14)  # which computes otherwise with infinities and with floats
_MARGIN = 1e-14  # far more than the square root of a sum of squares is off, relative to it


def are(*values):
    """Whether one of these values is complex, or the absolute value of one."""
    return any(v.kind in (COMPLEX, NEAR) for v in values)


def _parts(e, v):
    """The texts of the real and the imaginary part."""
    if not e.checks_now:
        raise Unsupported("complex numbers in a strip")
    if v.kind == COMPLEX:
        name = v.text if v.text.isidentifier() else e.temporary(v.text)
        return f"{name}.real", f"{name}.imag"
    if v.kind not in "ifb":
        raise Unsupported("a complex number with one that is not Python's")
    if _NEW:
        raise Unsupported("a complex number with a real one, in this version of Python")
    whole = f"int({v.text})" if v.kind == "b" else v.text
    return e.temporary(whole if v.kind == "f" else f"float({whole})"), "0.0"


def _value(e, re, im):
    return Value(e.temporary(f"complex({re}, {im})"), COMPLEX)


def _finite(e, *texts):
    for t in texts:
        e.check(f"not (abs({t}) <= {LARGEST})")


def _product(e, a, b):
    """The parts of a product of two pairs of texts."""
    re = e.temporary(f"{a[0]} * {b[0]} - {a[1]} * {b[1]}")
    return re, e.temporary(f"{a[0]} * {b[1]} + {a[1]} * {b[0]}")


def binary(e, op, a, b, exponent):
    """`a op b`, one of which is complex; exponent: the node of b."""
    if NEAR in (a.kind, b.kind):
        raise Unsupported("arithmetic with the absolute value of a complex number")
    x = _parts(e, a)
    if op is ast.Pow:
        known = getattr(exponent, "value", None)
        if type(known) is not int or not 2 <= known <= 4 or a.kind != COMPLEX:
            raise Unsupported("a power of a complex number that is no small constant")
        power, result, left = x, ("1.0", "0.0"), known
        while left:
            if left & 1:
                result = _product(e, result, power)
            left >>= 1
            if left:
                power = _product(e, power, power)
        _finite(e, *result)
        return _value(e, *result)
    y = _parts(e, b)
    if op is ast.Add or op is ast.Sub:
        sign = "+" if op is ast.Add else "-"
        return _value(e, *(e.temporary(f"{p} {sign} {q}") for p, q in zip(x, y)))
    if op is ast.Mult:
        made = _product(e, x, y)
        if _NEW:
            _finite(e, *made)
        return _value(e, *made)
    if op is ast.Div:
        return _quotient(e, x, y)
    raise Unsupported("this operator of complex numbers")


def _quotient(e, x, y):
    e.check(f"not (abs({y[0]}) > 0.0 or abs({y[1]}) > 0.0)")
    _finite(e, *x, *y)
    wide = e.temporary(f"abs({y[0]}) >= abs({y[1]})")
    # The greater part of the divisor is the one that is divided by.
    e.temporaries += 1
    t = f"t{e.temporaries}"
    for word, (big, small) in ((f"if {wide}:", y), ("else:", y[::-1])):
        e.block(word)
        e.line(f"{t}r = {small} / {big}")
        first = word != "else:"
        e.line(f"{t}d = " + (f"{big} + {small} * {t}r" if first else f"{small} * {t}r + {big}"))
        re = f"{x[0]} + {x[1]} * {t}r" if first else f"{x[0]} * {t}r + {x[1]}"
        im = f"{x[1]} - {x[0]} * {t}r" if first else f"{x[1]} * {t}r - {x[0]}"
        e.line(f"{t}x = ({re}) / {t}d")
        e.line(f"{t}y = ({im}) / {t}d")
        e.end()
    _finite(e, f"{t}x", f"{t}y")
    return _value(e, f"{t}x", f"{t}y")


def unary(e, op, a):
    """`-a` or `+a`."""
    x = _parts(e, a) if a.kind == COMPLEX else ()
    if op is ast.UAdd and x:
        return a
    if op is not ast.USub or not x:
        raise Unsupported("this operator of complex numbers")
    return _value(e, *(f"-{p}" for p in x))


def truth(v):
    """The text of whether one is not zero."""
    if v.kind == NEAR:
        raise Unsupported("the absolute value of a complex number as a condition")
    return f"({v.text}.real != 0.0 or {v.text}.imag != 0.0)"


def compare(e, op, a, b, sign):
    """`a op b`, one of which is complex, or the absolute value of one."""
    if COMPLEX not in (a.kind, b.kind):
        other = b if a.kind == NEAR else a
        if other.kind not in "fi":
            raise Unsupported("a comparison of the absolute value of a complex number with this")
        if other.kind == "i":
            e.check(f"abs({other.text}) > {1 << 53}")
        x, y = (v.text if v.kind != "i" else f"float({v.text})" for v in (a, b))
        exact = [e.exact.get(v.text) for v in (a, b) if v.kind == NEAR]
        unless = f" and not ({' and '.join(exact)})" if all(exact) else ""
        e.check(f"abs({x} - {y}) <= {_MARGIN} * abs({x}){unless}")
        return Value(f"({x} {sign} {y})", "b")
    if op not in (ast.Eq, ast.NotEq) or a.kind != b.kind:
        raise Unsupported("a comparison of a complex number")
    x, y = _parts(e, a), _parts(e, b)
    same = f"({x[0]} == {y[0]} and {x[1]} == {y[1]})"
    return Value(same if op is ast.Eq else f"(not {same})", "b")


def call(e, name, args):
    """A call of a function with a complex number, or complex(x, y)."""
    if name == "complex":
        if any(a.kind not in "ifb" for a in args) or not 1 <= len(args) <= 2:
            raise Unsupported("complex() of this")
        texts = [_real(a) for a in args]
        if not e.checks_now:
            raise Unsupported("complex numbers in a strip")
        return _value(e, *texts, *["0.0"][: 2 - len(texts)])
    if name != "abs" or args[0].kind != COMPLEX:
        raise Unsupported(f"{name}() of a complex number")
    return _size(e, args[0])


def _real(a):
    return a.text if a.kind == "f" else f"float({f'int({a.text})' if a.kind == 'b' else a.text})"


def _size(e, a):
    x, y = (e.temporary(p) for p in _parts(e, a))
    squares = e.temporary(f"{x} * {x} + {y} * {y}")
    e.check(f"not ({squares} <= 1e290) or ({squares} < 1e-290 and {x} != 0.0 and {y} != 0.0)")
    exact = e.temporary(f"{x} == 0.0 or {y} == 0.0")
    size = e.temporary(f"abs({x}) + abs({y}) if {exact} else math.sqrt({squares})")
    e.exact = {**e.exact, size: exact}
    return Value(size, NEAR)
