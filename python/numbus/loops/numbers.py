"""Operations of numbers exactly as CPython and NumPy do them, with checks for what is left to them.

Kinds: i f b c are Python's int, float, bool, complex; I F B are np.int64, np.float64, np.bool_; H G
are elements of arrays of Numbus's: subclasses of the former two; L a float64 that may be computed
later, of which the type is not known, so that no name may hold it; those of narrow.py are NumPy's
integers of fewer bits, S is its float32 (singles.py).
"""

import ast
import math
import operator

from . import complexes, narrow, singles
from .values import COMPLEX, LARGEST, NEAR, Unsupported, Value

# The words in which a name's kind is noted, and which of its variables holds the number.
FIRST_ROW = 1000
CODES = {"i": 1, "f": 2, "b": 3, "I": 4, "F": 5, "B": 6, "H": 7, "G": 8}
STORES = {"i": "i", "I": "i", "H": "i", "f": "f", "F": "f", "G": "f", "b": "b", "B": "b"}
CODES |= {kind: 9 + k for k, kind in enumerate(narrow.KINDS)}
STORES |= dict.fromkeys(narrow.KINDS, "i")
# Names of rows, by the number of the array: of whole arrays with one index, held as an int.
ROWS = {chr(0xE000 + k): k for k in range(64)}
CODES |= {kind: FIRST_ROW + k for kind, k in ROWS.items()}
STORES |= dict.fromkeys(ROWS, "i")
# Names of lists that loops make (made_lists.py): the kind of their items.
FIRST_MADE = 500
MADE = {chr(0xE100 + k): kind for k, kind in enumerate("ifbFI")}
CODES |= {kind: FIRST_MADE + k for k, kind in enumerate(MADE)}
STORES |= dict.fromkeys(MADE, "i")
NO_NUMBERS = {*ROWS, *MADE}
CODES[COMPLEX], STORES[COMPLEX] = 400, "c"
CODES[singles.SINGLE], STORES[singles.SINGLE] = 401, "f"
FLOATS, INTEGERS, NUMPYS = "fFGLS", "iIH" + narrow.KINDS, "IFHGLS" + narrow.KINDS
_EXACT = 1 << 53  # up to here each int is a float64
_LEAST_NORMAL = "2.2250738585072014e-308"


def constant(value):
    """A number of the source."""
    if type(value) is bool:
        return Value(repr(value), "b")
    if type(value) is int and abs(value) < 1 << 63:
        return Value(f"({value})" if value < 0 else repr(value), "i")
    if type(value) is float and math.isfinite(value):
        negative = math.copysign(1.0, value) < 0
        return Value(f"({value!r})" if negative else repr(value), "f")
    if type(value) is complex and math.isfinite(value.real) and math.isfinite(value.imag):
        return Value(f"complex({value.real!r}, {value.imag!r})", COMPLEX)
    raise Unsupported(f"the constant {value!r}")


_FOLDED = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
}  # fmt: skip


def known_integer(n):
    """What an expression of integers of the source gives, such as 10**9 + 7; None for others."""
    if isinstance(n, ast.Constant) and type(n.value) is int and abs(n.value) < 1 << 63:
        return n.value
    if not isinstance(n, ast.BinOp) or type(n.op) not in _FOLDED:
        return None
    a, b = known_integer(n.left), known_integer(n.right)
    if a is None or b is None or (isinstance(n.op, ast.Pow) and not 0 <= b < 64):
        return None
    found = _FOLDED[type(n.op)](a, b)
    return found if abs(found) < 1 << 63 else None


def truth(v):
    if v.kind in "bB":
        return v.text
    if v.kind in (COMPLEX, NEAR):
        return complexes.truth(v)
    return f"({v.text} != {'0.0' if v.kind in FLOATS else '0'})"


def _int(v):
    return f"int({v.text})" if v.kind in "bB" else v.text


def _float(v):
    return v.text if v.kind in FLOATS else f"float({_int(v)})"


def _not_exact(e, v):
    """Leaves where an integer may not be equal to its float."""
    if v.kind in INTEGERS:
        e.check(f"{v.text} > {_EXACT} or {v.text} < {-_EXACT}", True)


def settled(e, v):
    """A value that is finite where it was open."""
    if v.open:
        e.check(f"not (abs({v.text}) <= {LARGEST})", True)
        v.open = False
    return v


def _result(a, b, real):
    """The kind of what an operator makes of two numbers, one of which is NumPy's."""
    if "L" in a.kind + b.kind:
        return "L"
    ours = a.kind in "HG" or b.kind == "G" or (b.kind == "H" and a.kind != "F")
    return ("G" if ours else "F") if real else ("H" if ours else "I")


_OVERFLOWS = {ast.Add: ("+", "add"), ast.Sub: ("-", "sub"), ast.Mult: ("*", "mul")}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def binary(e, op, a, b, exponent=None):
    """`a op b`; e: the emitter; exponent: the node of b, for powers. The operands are names.

    Of most results that are not finite NumPy warns; those that are operands are asked by what
    becomes of them, as sums, differences and products of such are not finite either.
    """
    if complexes.are(a, b):
        return complexes.binary(e, op, a, b, exponent)
    if singles.are(a, b):
        return singles.binary(e, op, a, b, binary)
    if op not in _OVERFLOWS:
        settled(e, b)
    if op not in _OVERFLOWS and op is not ast.Div:
        settled(e, a)
    if "B" in a.kind + b.kind:
        raise Unsupported("arithmetic of this type")
    if a.kind in narrow.KINDS or b.kind in narrow.KINDS:
        return _narrow(e, op, a, b)
    numpys = a.kind in NUMPYS or b.kind in NUMPYS
    floats = a.kind in FLOATS or b.kind in FLOATS
    integer = _result(a, b, False) if numpys else "i"
    if op in _OVERFLOWS:
        sign, name = _OVERFLOWS[op]
        if floats:
            r = f"{_float(a)} {sign} {_float(b)}"
            kind = _result(a, b, True) if numpys else "f"
            return Value(e.temporary(r), kind, numpys)
        x, y = e.temporary(_int(a)), e.temporary(_int(b))
        r = e.temporary(f"{x} {sign} {y}")
        e.check(f"{name}_overflows({x}, {y})", True)
        return Value(r, integer)
    if op is ast.Div:
        if not numpys:
            if not floats:
                _not_exact(e, a)
                _not_exact(e, b)
            y = e.divisor(e.temporary(_float(b)))
            return Value(e.temporary(f"{_float(a)} / {y}"), "f")
        y = e.divisor(e.temporary(_float(b)))
        return Value(e.temporary(f"{_float(a)} / {y}"), _result(a, b, True), True)
    if op in (ast.FloorDiv, ast.Mod):
        if floats:
            if numpys:
                raise Unsupported("// and % of NumPy's floats")
            x, y = e.temporary(_float(a)), e.temporary(_float(b))
            e.check(f"{y} == 0.0")
            what = "floor_divided" if op is ast.FloorDiv else "remainder"
            return Value(e.temporary(f"{what}({x}, {y})"), "f")
        x, y = e.temporary(_int(a)), e.temporary(_int(b))
        if not b.text.isdigit() or int(b.text) == 0:
            e.check(f"{y} == 0 or ({y} == -1 and {x} < {-(2**62)})")
        return Value(e.temporary(f"{x} {'//' if op is ast.FloorDiv else '%'} {y}"), integer)
    if op in _BITS:
        if floats:
            raise Unsupported("bits of floats")
        sign = _BITS[op]
        if a.kind == b.kind == "b":
            r = {"&": f"({a.text} and {b.text})", "|": f"({a.text} or {b.text})"}.get(
                sign, f"({a.text} != {b.text})"
            )
            return Value(e.temporary(r), "b")
        return Value(e.temporary(f"{_int(a)} {sign} {_int(b)}"), integer)
    if op in (ast.LShift, ast.RShift):
        if floats or numpys:
            raise Unsupported("shifts of this type")
        x, y = e.temporary(_int(a)), e.temporary(_int(b))
        if op is ast.RShift:
            if not b.text.isdigit():
                e.check(f"{y} < 0")
            return Value(e.temporary(f"{x} >> min({y}, 63)"), "i")
        e.check(f"{y} < 0 or {y} > 62")
        r = e.temporary(f"{x} << {y}")
        e.check(f"({r} >> {y}) != {x}")
        return Value(r, "i")
    if op is ast.Pow:
        return _power(e, a, b, exponent, numpys, floats)
    raise Unsupported("this operator")


def _narrow(e, op, a, b):
    """`a op b`, where one of them is an integer of fewer bits than 64."""
    if "f" in a.kind + b.kind:
        return binary(e, op, _as_float(a), _as_float(b))
    try:
        kind = narrow.common(e, a, b)
        if op is ast.Div:
            return binary(e, op, _as_float(a), _as_float(Value(b.text, kind)))
        x, y = e.temporary(a.text), e.temporary(b.text)
        return Value(narrow.binary(e, op, x, y, kind), kind)
    except narrow.Mixed:
        raise Unsupported("this operator of NumPy's integers") from None


def _as_float(v):
    """An integer of few bits as the float64 that NumPy takes it for beside a float."""
    if v.kind not in narrow.KINDS:
        return v
    return Value(f"float({v.text})", "F" if v.kind.isupper() else "G")


def _power(e, a, b, exponent, numpys, floats):
    if numpys:
        raise Unsupported("powers of NumPy's numbers")
    if not floats:
        known = exponent.value if isinstance(exponent, ast.Constant) else None
        if type(known) is not int or not 1 <= known <= 4:
            raise Unsupported("a power of integers that is no small constant")
        x = r = e.temporary(_int(a))
        for _ in range(known - 1):
            old, r = r, e.temporary(f"{r} * {x}")
            e.check(f"mul_overflows({old}, {x})", True)
        return Value(r, "i")
    x, y = e.temporary(_float(a)), e.temporary(_float(b))
    known = getattr(exponent, "value", None) if a.kind == "f" else None
    if type(known) in (int, float) and 1 <= known <= 64 and known == int(known):
        # As CPython does it, whose result is that of the absolute value, but for the sign.
        e.check(f"not (abs({x}) <= {LARGEST})")
        r = e.temporary(f"c_pow(abs({x}), {y})")
        e.check(f"{x} != 0.0 and not ({_LEAST_NORMAL} <= {r} <= {LARGEST})")
        return Value(e.temporary(f"math.copysign({r}, {x})") if known % 2 else r, "f")
    e.check(f"not (abs({x}) <= {LARGEST}) or not (abs({y}) <= {LARGEST}) or {x} <= 0.0")
    r = e.temporary(f"c_pow({x}, {y})")
    e.check(f"not ({_LEAST_NORMAL} <= {r} <= {LARGEST})")
    return Value(r, "f")


def unary(e, op, a):
    """`-a`, `+a`, `~a`."""
    if complexes.are(a):
        return complexes.unary(e, op, a)
    if a.kind == "B":
        raise Unsupported("arithmetic of this type")
    if a.kind in narrow.KINDS and op is not ast.UAdd:
        return Value(narrow.unary(e, op, e.temporary(a.text), a.kind), a.kind)
    if op is ast.UAdd:
        return Value(_int(a), "i") if a.kind == "b" else a
    x = e.temporary(_int(a))
    if op is ast.Invert and a.kind in "iIH":  # Python warns of ~ of bools
        return Value(e.temporary(f"~{x}"), a.kind)
    if op is ast.USub:
        if a.kind in "iIH":
            e.check(f"sub_overflows(0, {x})", True)
        return Value(e.temporary(f"-{x}"), "i" if a.kind == "b" else a.kind, a.open)
    raise Unsupported("this operator")


_COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def compare(e, op, a, b):
    """`a op b` of two numbers."""
    if op not in _COMPARISONS:
        raise Unsupported("'is' and 'in'")
    if complexes.are(a, b):
        return complexes.compare(e, op, a, b, _COMPARISONS[op])
    if singles.are(a, b):
        return singles.compare(e, op, a, b, _COMPARISONS[op], compare)
    kind = "B" if a.kind in NUMPYS + "B" or b.kind in NUMPYS + "B" else "b"
    if "B" in a.kind + b.kind:
        raise Unsupported("a comparison of NumPy's bools")
    if "L" in a.kind + b.kind:
        raise Unsupported("a comparison of a number that may be computed later")
    if a.kind in FLOATS or b.kind in FLOATS:
        _not_exact(e, a)
        _not_exact(e, b)
        x, y = _float(a), _float(b)
    else:
        x, y = _int(a), _int(b)
    return Value(f"({x} {_COMPARISONS[op]} {y})", kind)


# --- elements of arrays and lists

# Kinds of elements, and the least and greatest of integers.
_ELEMENTS = {}


ARRAYS = "array", "ours"  # NumPy's and Numbus's


def element_kind(dtype):
    """The kind of an array's elements; None where they are not known here."""
    return _ELEMENTS.get(dtype)


def load(array, index):
    """The element of an array at an index that is inside; None: the name of an element."""
    element = array[5] if index is None else f"{array[5]}[{index}]"
    if array[6] == "bools":
        return Value(f"(int({element}) == true_)", "b")
    of = STORES[array[1]]
    convert = {"f": "float", "b": "bool"}.get(of, "int")
    return Value(f"{convert}({element})", array[1])


def to_store(e, array, v):
    """The text of what is stored into an element."""
    kind, writable = {"G": "F", "H": "I"}.get(array[1], array[1]), array[4]
    if not writable:
        raise Unsupported("an array that cannot be written to")
    if array[6] == "bools":
        if v.kind != "b":
            raise Unsupported("a list of bools and others")
        return f"(true_ if {v.text} else false_)"
    if array[6] in ("list", "grows", "made"):
        if v.kind != kind:
            raise Unsupported("a list of numbers of several types")
        return v.text
    if array[6] == "items":  # of Python's array.array and bytearray
        if kind == "f" and v.kind in FLOATS + INTEGERS + "b":
            return _float(v)
        if kind == "i" and v.kind in INTEGERS + "b":
            of = numpy.dtype(array[2])
            if of != numpy.int64:
                low, high = (int(getattr(numpy.iinfo(of), k)) for k in ("min", "max"))
                e.check(f"{_int(v)} < {low} or {_int(v)} > {high}", True)
            return _int(v)
        raise Unsupported("a conversion to the type of an array")
    if kind == "F" and v.kind in FLOATS + INTEGERS + "b":
        return _float(v)
    if kind == singles.SINGLE:
        return singles.stored(e, v)
    if kind == "I" and v.kind in INTEGERS + "b":
        return _int(v)
    if kind == "B" and v.kind in "bB":
        return v.text
    if kind in narrow.KINDS and v.kind in INTEGERS:
        e.check(narrow.outside(v.text, kind), True)
        return v.text
    raise Unsupported("a conversion to the type of an array")


# --- functions

_OF_C = {
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "expm1",
}  # fmt: skip
_LOGARITHMS = {"log", "log2", "log10"}
C_FUNCTIONS = (*_OF_C, *_LOGARITHMS)
OF_LINES = "numbus.dot", "numbus.inner", "numbus.sum"
KNOWN = {
    "abs", "complex", "min", "max", "sum", "any", "all", "round", "int", "float", "bool", "len",
    "list", "range", "reversed", "enumerate", "zip", "math.sqrt", "math.fabs", "math.gcd",
    "math.pow", "math.degrees", "math.radians",
    "math.floor", "math.ceil", "math.trunc", *(f"math.{n}" for n in C_FUNCTIONS),
    "numpy.float64", "numpy.float32", "numpy.int64",
    *(f"numpy.{n}" for n in narrow.LETTERS.values()),
    *(f"{of}.{n}" for of in ("numpy", "numbus")
      for n in ("sqrt", "abs", "floor", "ceil", "trunc", "maximum", "minimum")),
    *OF_LINES, "numpy.array", "numbus.array",
}  # fmt: skip


_functions = {}  # by the id of one of Python's: its name in KNOWN


def note_function(function, name):
    """Notes one of Python's functions."""
    _functions[id(function)] = name


def known_function(value):
    """The name in KNOWN of one of Python's functions, or None."""
    name = _functions.get(id(value))
    if name is None or not name.startswith("numbus."):
        return name
    # Where numbers are kept as `generic`, there is no type for the results of ours.
    if name in OF_LINES or name == "numbus.array":
        return name
    of_two = name in ("numbus.maximum", "numbus.minimum")
    found = type(value(2.0, 3.0) if of_two else value(2.0))
    return name if found is not numpy.float64 and issubclass(found, numpy.float64) else None


def call(e, name, args):
    """A call of one of KNOWN; the arguments are names or constants."""
    if name.endswith(".array"):
        raise Unsupported("an array that is made")
    if name == "complex" or complexes.are(*args):
        return complexes.call(e, name, args)
    if name.startswith("numbus."):  # the same, whose results are numbers of ours
        given = [Value(a.text, {"G": "F", "H": "I", "L": "F"}.get(a.kind, a.kind)) for a in args]
        made = call(e, f"numpy.{name.partition('.')[2]}", given)
        later = "L" in [a.kind for a in args]
        ours = "L" if later else {"F": "G", "I": "H"}.get(made.kind)
        if ours is None:  # of float32, whose results of ours are not known here
            raise Unsupported(f"{name}() of this type")
        return Value(made.text, ours)
    if name in ("sum", "any", "all", "list"):
        raise Unsupported(f"{name}() of this")
    if name in ("min", "max"):
        if len(args) < 2 or len({a.kind for a in args}) > 1 or args[0].kind == "B":
            raise Unsupported(f"{name}() of several types, or of one value")
        r = e.temporary(args[0].text)
        for a in args[1:]:
            better = compare(e, ast.Gt if name == "max" else ast.Lt, a, Value(r, a.kind))
            e.line(f"{r} = {a.text} if {better.text} else {r}")
        return Value(r, args[0].kind)
    if name in ("math.gcd", "math.pow", "numpy.maximum", "numpy.minimum"):
        return _of_two(e, name, args)
    if len(args) != 1 or name in ("range", "reversed", "enumerate", "zip"):
        raise Unsupported(f"{name}() of {len(args)} values")
    (a,) = args
    if name == "abs":
        if a.kind in "Bb":
            raise Unsupported("abs() of this type")
        if a.kind in narrow.KINDS:
            if low := narrow.limits(a.kind)[0]:
                e.check(f"{a.text} == {low}", True)
            return Value(e.temporary(f"abs({a.text})"), a.kind)
        if a.kind in "iIH":
            e.check(f"sub_overflows(0, {a.text})", True)
        return Value(e.temporary(f"abs({a.text})"), a.kind)
    if name == "bool":
        return Value(truth(a), "b")
    if name.startswith("numpy."):
        if singles.are(a) or name == "numpy.float32":
            return singles.call(e, name, a)
        of_type = isinstance(getattr(numpy, name.partition(".")[2]), type)
        return _made(e, name, a) if of_type else _of_numpy(e, name, a)
    if name in ("math.degrees", "math.radians"):
        factor = 180.0 / math.pi if name == "math.degrees" else math.pi / 180.0
        if a.kind == "B":
            raise Unsupported(f"{name}() of this type")
        return Value(e.temporary(f"{_float(a)} * {factor!r}"), "f")
    if name == "round":
        if a.kind not in "fib":
            raise Unsupported("round() of this type")
        if a.kind != "f":
            return Value(_int(a), "i")
        e.check(f"not (-9.0e18 < {a.text} < 9.0e18)")
        return Value(e.temporary(f"int(np.rint({a.text}))"), "i")
    if name == "float":
        return Value(_float(a), "f")
    if name == "int" or name in ("math.floor", "math.ceil", "math.trunc"):
        if name == "math.trunc" and singles.are(a):
            raise Unsupported("math.trunc() of a float32")
        if a.kind not in FLOATS:
            if name != "int" and a.kind not in "i":
                raise Unsupported(f"{name}() of this type")
            return Value(_int(a), "i")
        e.check(f"not (-9.0e18 < {a.text} < 9.0e18)")
        inner = {"math.floor": "np.floor", "math.ceil": "np.ceil"}.get(name, "")
        return Value(e.temporary(f"int({inner}({a.text}))"), "i")
    if a.kind == "B":
        raise Unsupported(f"{name}() of a bool of NumPy's")
    x = e.temporary(_float(a))
    if name == "math.fabs":
        return Value(e.temporary(f"abs({x})"), "f")
    if name == "math.sqrt":
        return Value(e.temporary(f"math.sqrt({_not_negative(e, x)})"), "f")
    short = name.partition(".")[2]
    if short in _LOGARITHMS:
        e.check(f"not (0.0 < {x} <= {LARGEST})")
        return Value(e.temporary(f"c_{short}({x})"), "f")
    e.check(f"not (abs({x}) <= {LARGEST})")
    r = e.temporary(f"c_{short}({x})")
    e.check(f"not (abs({r}) <= {LARGEST})")
    return Value(r, "f")


def _of_two(e, name, args):
    """A call of one of two numbers."""
    if len(args) != 2:
        raise Unsupported(f"{name}() of {len(args)} values")
    a, b = args
    kinds = a.kind + b.kind
    if name == "math.pow":
        if "B" in kinds:
            raise Unsupported(f"{name}() of this type")
        return _power(e, Value(_float(a), "f"), Value(_float(b), "f"), None, False, True)
    if name == "math.gcd":
        if any(k not in "ib" for k in kinds):
            raise Unsupported(f"{name}() of this type")
        x, y = e.temporary(_int(a)), e.temporary(_int(b))
        e.check(f"{x} < {-(2**62)} or {y} < {-(2**62)}")
        return Value(e.temporary(f"greatest_divisor({x}, {y})"), "i")
    sign, x, y = ">" if name == "numpy.maximum" else "<", e.temporary(a.text), e.temporary(b.text)
    if all(k in "fF" for k in kinds):
        # Of what is no number, and of zeros with signs, NumPy decides.
        e.check(f"not ({x} < {y} or {x} > {y} or ({x} == {y} and {x} != 0.0))")
        return Value(e.temporary(f"{x} if {x} {sign} {y} else {y}"), "F")
    if all(k in "iI" for k in kinds):
        return Value(e.temporary(f"{x} if {x} {sign} {y} else {y}"), "I")
    raise Unsupported(f"{name}() of these types")


def _not_negative(e, x):
    """The text of a float of which there is a root."""
    e.check(f"{x} < 0.0", True)
    return x if e.checks_now else e.temporary(f"0.0 if {x} < 0.0 else {x}")


def _of_numpy(e, name, a):
    """A function of NumPy's of one number, whose result has only one value that it can have."""
    short = name.partition(".")[2]
    if short == "abs" and a.kind in "iI":
        e.check(f"{a.text} < {-(2**62)}")
        return Value(e.temporary(f"abs({a.text})"), "I")
    if a.kind not in "fF" and not (short == "sqrt" and a.kind in "iI"):
        raise Unsupported(f"{name}() of this type")
    x = e.temporary(_float(a))
    e.check(f"not (abs({x}) <= {LARGEST})", True)
    if short == "sqrt":
        return Value(e.temporary(f"math.sqrt({_not_negative(e, x)})"), "F")
    inner = "abs" if short == "abs" else f"np.{short}"
    return Value(e.temporary(f"{inner}({x})"), "F")


def _made(e, name, a):
    """A number of one of NumPy's types."""
    if name == "numpy.float64" and a.kind in FLOATS + INTEGERS:
        return Value(_float(a), "F")
    if a.kind not in INTEGERS or name == "numpy.float64":
        raise Unsupported(f"{name}() of this type")
    if name == "numpy.int64":
        return Value(a.text, "I")
    kind = narrow.OF_DTYPE[numpy.dtype(name.partition(".")[2])]
    e.check(narrow.outside(a.text, kind))
    return Value(a.text, kind)


# --- helpers that the compiled text calls


def floor_divided(x, y):
    """x // y of floats, y not zero, as CPython's float_floor_div computes it."""
    mod = c_fmod(x, y)
    div = (x - mod) / y
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            div -= 1.0
    if div != 0.0:
        floor = float(np.floor(div))
        if div - floor > 0.5:
            floor += 1.0
        return floor
    return math.copysign(0.0, x / y)


def remainder(x, y):
    """x % y of floats, y not zero, as CPython's float_rem computes it."""
    mod = c_fmod(x, y)
    if mod != 0.0:
        if (y < 0.0) != (mod < 0.0):
            mod += y
        return mod
    return math.copysign(0.0, y)


def greatest_divisor(a, b):
    """math.gcd() of two integers."""
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


class Step:
    """A step that the core knows by its name: `numbus strict NAME`."""

    def __init__(self, name):
        self._kernel_name = f"numbus strict {name}"


STEPS = {n: Step(n) for n in ("add_overflows", "sub_overflows", "mul_overflows", "interrupted")}
STEPS |= {f"c_{n}": Step(n) for n in (*C_FUNCTIONS, "pow", "fmod")}
c_fmod = STEPS["c_fmod"]
np = numpy = None  # until they are known (arrays.py)


def use(module):
    """Notes NumPy's types."""
    global np, numpy
    np = numpy = module
    narrow.use(numpy)
    of = {"float64": "F", "int64": "I", "bool": "B", "float32": singles.SINGLE}
    _ELEMENTS.update({numpy.dtype(name): kind for name, kind in of.items()} | narrow.OF_DTYPE)
