"""Texts made by a format that is known at run time only: `%`, str.format, format().

A format is read here as CPython reads it; what a value becomes is decided by its type, which is
known while compiling: `sort_of` gives a number for it.
"""

import math

import numpy as np

from .._library import codes, cut, float_text, known, sort_of
from .strings import general, grouped, in_base, join, pad

(NONE, BOOL, INT, NUMPY_BOOL, NUMPY_INT, UINT64, FLOAT, FLOAT64, FLOAT32, HALF) = range(10)
COMPLEX, NUMPY_COMPLEX, TEXT = range(10, 13)
_NAMES = """NoneType bool int numpy.bool numpy.int numpy.uint64 float numpy.float64 numpy.float32
numpy.float16 complex numpy.complex str""".split()
NAMES = tuple(_NAMES)  # of types, in errors
MOST_DIGITS = 300  # compile/runtime.h


def _error(value, spec):
    """What the running CPython says of a format."""
    try:
        return format(value, spec)
    except ValueError as error:
        return str(error)


NAMES_SPECIFIER = "'xx'" in _error(1, "xx")  # whether an error says what the specifier is


def type_name(v):
    """The type of a value in CPython's errors."""
    return NAMES[sort_of(v)]


def python_name(v):
    """The same of what NumPy's numbers are to format()."""
    sort = sort_of(v)
    if sort == TEXT:
        return "str"
    if sort == BOOL or sort == NUMPY_BOOL:
        return "bool"
    if sort >= COMPLEX:
        return "complex"
    return "float" if sort >= FLOAT else "int"


def marked(c):
    """A character in errors."""
    return chr(c) if 32 < c < 128 else "\\x" + in_base(c, 16, False)


# --- one value -----------------------------------------------------------------------------------


def shown(v):
    """str(v), as `%s` has it."""
    if sort_of(v) == TEXT:
        return v
    if sort_of(v) == NONE:
        return "None"
    if sort_of(v) == HALF:
        raise NotImplementedError("not yet in compiled functions: str() of a short float")
    return str(v)


def represented(v):
    """repr(v)"""
    if sort_of(v) == TEXT:
        return repr(v)
    if sort_of(v) == NONE:
        return "None"
    if sort_of(v) == BOOL or sort_of(v) == INT or sort_of(v) == FLOAT or sort_of(v) == COMPLEX:
        return str(v)
    raise NotImplementedError("not yet in compiled functions: repr() of NumPy's numbers")


def empty_format(v):
    """format(v, "")"""
    if sort_of(v) == FLOAT64 or sort_of(v) == FLOAT32 or sort_of(v) == HALF:
        return str(float(v))
    if sort_of(v) == NUMPY_COMPLEX:
        return str(complex(v))
    return shown(v)


def unsigned_in_base(x, base, upper):
    """The digits of an uint64."""
    out = np.empty(65, np.uint32)
    at = 65
    n = x
    by = np.uint64(base)
    while True:
        digit = int(n % by)
        at -= 1
        out[at] = 48 + digit if digit < 10 else 55 + digit if upper else 87 + digit
        n = n // by
        if n == np.uint64(0):
            break
    return cut(out, at, 65)


def digits_of(v, base, upper):
    """The digits of an integer, with a sign where it is negative."""
    if sort_of(v) == UINT64:
        return unsigned_in_base(v, base, upper)
    return in_base(int(v), base, upper)


def float_digits(x, kind, precision, alternate):
    """A float's text of a presentation type, with a sign where it is negative."""
    if precision > MOST_DIGITS:
        raise NotImplementedError("not yet in compiled functions: a format of over 300 digits")
    if alternate and (kind == 0 or kind | 32 == 103) and math.isfinite(x):
        raise NotImplementedError("not yet in compiled functions: '#' in a format of this kind")
    if kind == 0 and precision < 0:
        return float_text(x, 0, 40)
    own = kind if kind != 0 else 103  # as g, but a float's text
    digits = precision if precision >= 0 else 6
    if own | 32 == 103 and digits == 0:
        digits = 1
    s = float_text(x, own << 8 | digits << 16, 700)
    if kind == 0:
        return general(s, float_text(x, 101 << 8 | (digits - 1) << 16, 700), digits)
    if alternate and digits == 0 and math.isfinite(x):
        at = len(s) - 1 if kind == 37 else len(s)
        if kind | 32 == 101:
            at = s.find(chr(kind))
        s = s[:at] + "." + s[at:]
    return s


def read_number(x, at):
    """Digits from an index on: (their value or -1, the index after them)."""
    start = at
    value = 0
    while at < len(x) and 48 <= x[at] <= 57:
        digit = int(x[at]) - 48
        if value > (9223372036854775807 - digit) // 10:
            raise ValueError("Too many decimal digits in format string")
        value = 10 * value + digit
        at += 1
    return (value if at > start else -1), at


def is_align(c):
    """Whether a character is one of <>=^."""
    return c == 60 or c == 62 or c == 61 or c == 94


def read_spec(spec, align, name):
    """(fill, align, sign, z, #, width, group, precision, type) of a format, for an alignment that
    holds unless it says another one.
    """
    x = codes(spec)
    n = len(x)
    at = 0
    fill = 32
    own_align = False
    own_fill = False
    default = align
    if n >= 2 and is_align(x[1]):
        fill = int(x[0])
        align = int(x[1])
        own_align = own_fill = True
        at = 2
    elif n >= 1 and is_align(x[0]):
        align = int(x[0])
        own_align = True
        at = 1
    sign = 0
    if at < n and (x[at] == 43 or x[at] == 45 or x[at] == 32):
        sign = int(x[at])
        at += 1
    z = False
    if at < n and x[at] == 122:
        z = True
        at += 1
    alternate = False
    if at < n and x[at] == 35:
        alternate = True
        at += 1
    if not own_fill and at < n and x[at] == 48:
        fill = 48
        if not own_align and default == 62:
            align = 61
        at += 1
    width, at = read_number(x, at)
    group = 0
    if at < n and x[at] == 44:
        group = 44
        at += 1
    if at < n and x[at] == 95:
        if group != 0:
            raise ValueError("Cannot specify both ',' and '_'.")
        group = 95
        at += 1
    if at < n and x[at] == 44 and group == 95:
        raise ValueError("Cannot specify both ',' and '_'.")
    precision = -1
    if at < n and x[at] == 46:
        precision, at = read_number(x, at + 1)
        if precision < 0:
            raise ValueError("Format specifier missing precision")
    if n - at > 1:
        if NAMES_SPECIFIER:
            raise ValueError(f"Invalid format specifier '{spec}' for object of type '{name}'")
        raise ValueError("Invalid format specifier")
    kind = 0
    if at < n:
        kind = int(x[at])
    if group != 0 and kind != 0:
        c = chr(kind)
        if c not in "deEfFgG%" and (group == 44 or c not in "boxX"):
            raise ValueError(f"Cannot specify '{chr(group)}' with '{marked(kind)}'.")
    return fill, align, sign, z, alternate, width, group, precision, kind


def grouped_to(digits, mark, size, least):
    """Digits with a mark between groups, and zeros before them up to a length."""
    s = grouped(digits, mark, size)
    while len(s) < least:
        digits = "0" + digits
        s = grouped(digits, mark, size)
    return s


def laid_out(head, digits, rest, fill, align, width, group, size):
    """A number's sign and prefix, its digits, and what comes after them, in a field."""
    if group != 0:
        zeros = fill == 48 and align == 61
        digits = grouped_to(digits, chr(group), size, width - len(head) - len(rest) if zeros else 0)
    body = digits + rest
    if align == 61:
        return head + pad(body, width - len(head), chr(fill), 62)
    return pad(head + body, width, chr(fill), align)


def sign_of(negative, sign):
    """What stands before a number."""
    return "-" if negative else "" if sign == 0 or sign == 45 else chr(sign)


def text_formatted(v, spec):
    """format(v, spec) of a string."""
    fill, align, sign, z, alternate, width, group, precision, kind = read_spec(spec, 60, "str")
    if group != 0 and kind == 0:
        raise ValueError(f"Cannot specify '{chr(group)}' with 's'.")
    if kind != 0 and kind != 115:
        raise ValueError(f"Unknown format code '{marked(kind)}' for object of type 'str'")
    if sign != 0:
        what = "Space" if sign == 32 else "Sign"
        raise ValueError(what + " not allowed in string format specifier")
    if z:
        raise ValueError("Negative zero coercion (z) not allowed in string format specifier")
    if alternate:
        raise ValueError("Alternate form (#) not allowed in string format specifier")
    if align == 61:
        raise ValueError("'=' alignment not allowed in string format specifier")
    s = v
    if 0 <= precision < len(v):
        s = cut(v, 0, precision)
    return pad(s, width, chr(fill), align)


def float_formatted(x, fill, align, sign, z, alternate, width, group, precision, kind):
    """format() of a float."""
    s = float_digits(x, kind, precision, alternate)
    negative = s.startswith("-")
    if negative:
        s = s[1:]
    stop = 0
    while stop < len(s) and s[stop] in "0123456789":
        stop += 1
    if z and negative and math.isfinite(x):
        some = False
        for c in s:
            if c == "e" or c == "E":
                break
            some = some or c in "123456789"
        negative = some
    return laid_out(sign_of(negative, sign), s[:stop], s[stop:], fill, align, width, group, 3)


def number_formatted(v, spec):
    """format(v, spec) of a number that is not complex."""
    fill, align, sign, z, alternate, width, group, precision, kind = read_spec(
        spec, 62, python_name(v)
    )
    floats = sort_of(v) >= FLOAT
    if kind == 110:
        raise NotImplementedError("not yet in compiled functions: the format 'n'")
    if kind != 0 and chr(kind) not in ("eEfFgG%" if floats else "bcdoxXeEfFgG%"):
        raise ValueError(
            f"Unknown format code '{marked(kind)}' for object of type '{python_name(v)}'"
        )
    if floats or (kind != 0 and chr(kind) in "eEfFgG%"):
        return float_formatted(
            float(v), fill, align, sign, z, alternate, width, group, precision, kind
        )
    if sort_of(v) >= FLOAT:
        return ""
    if precision >= 0:
        raise ValueError("Precision not allowed in integer format specifier")
    if z:
        raise ValueError("Negative zero coercion (z) not allowed in integer format specifier")
    if kind == 99:
        if sign != 0:
            raise ValueError("Sign not allowed with integer format specifier 'c'")
        if alternate:
            raise ValueError("Alternate form (#) not allowed with integer format specifier 'c'")
        if sort_of(v) == UINT64 and v >= np.uint64(1 << 63):
            raise OverflowError("Python int too large to convert to C long")
        if v < 0 or v > 0x10FFFF:
            raise OverflowError("%c arg not in range(0x110000)")
        return laid_out("", "", chr(int(v)), fill, align, width, 0, 3)
    base = 2 if kind == 98 else 8 if kind == 111 else 16 if kind | 32 == 120 else 10
    s = digits_of(v, base, kind == 88)
    negative = s.startswith("-")
    if negative:
        s = s[1:]
    head = sign_of(negative, sign)
    if alternate and base != 10:
        head += "0" + chr(kind)
    return laid_out(head, s, "", fill, align, width, group, 3 if base == 10 else 4)


@known("str format spec")
def format_spec(v, spec):
    """format(v, spec)"""
    if len(spec) == 0:
        return empty_format(v)
    if sort_of(v) == NONE:
        raise TypeError("unsupported format string passed to NoneType.__format__")
    if sort_of(v) == TEXT:
        return text_formatted(v, spec)
    if sort_of(v) >= COMPLEX:
        raise NotImplementedError("not yet in compiled functions: a format of complex numbers")
    if sort_of(v) < COMPLEX and sort_of(v) > NONE:
        return number_formatted(v, spec)
    return ""


# --- text.format() -------------------------------------------------------------------------------


def format_one(v, conversion, spec):
    """What stands for a field."""
    if conversion == 0:
        return format_spec(v, spec)
    return text_formatted(represented(v) if conversion == 114 else shown(v), spec)


def format_nth(values, which, conversion, spec):
    """The same of one of several values."""
    at = 0
    for v in values:
        if at == which:
            return format_one(v, conversion, spec)
        at += 1
    return ""


def place_of(names, name):
    """Where a name is among others, or -1."""
    at = 0
    for known_name in names:
        if known_name == name:
            return at
        at += 1
    return -1


def field_end(s, at):
    """The index after a field's name, where one of }:! stands, or the end."""
    x = codes(s)
    inside = False
    while at < len(x):
        c = x[at]
        if c == 123:
            raise ValueError("unexpected '{' in field name")
        if c == 91:
            inside = True
        elif c == 93:
            inside = False
        elif not inside and (c == 125 or c == 58 or c == 33):
            break
        at += 1
    return at


def spec_end(s, at):
    """The index of the brace that ends a field whose format begins there."""
    x = codes(s)
    depth = 1
    while at < len(x):
        if x[at] == 123:
            depth += 1
        elif x[at] == 125:
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError("unmatched '{' in format spec")


def filled(s, values, names, named, table, count, depth):
    """(the text, count); count: how many fields had no number, or -1: they have numbers."""
    if depth == 0:
        raise ValueError("Max string recursion exceeded")
    x = codes(s)
    n = len(x)
    parts = [cut(s, 0, 0)]
    at = 0
    start = 0
    while at < n:
        c = x[at]
        at += 1
        if c != 123 and c != 125:
            continue
        if at < n and x[at] == c:
            parts.append(cut(s, start, at))
            at += 1
            start = at
            continue
        if c == 125:
            raise ValueError("Single '}' encountered in format string")
        if at == n:
            raise ValueError("Single '{' encountered in format string")
        parts.append(cut(s, start, at - 1))
        first = at
        at = field_end(s, at)
        name = cut(s, first, at)
        if at == n:
            raise ValueError("expected '}' before end of string")
        conversion = 0
        spec = cut(s, 0, 0)
        end = at
        if x[at] == 33:
            if at + 1 == n:
                raise ValueError("end of string while looking for conversion specifier")
            conversion = int(x[at + 1])
            at += 2
            if at == n:
                raise ValueError("unmatched '{' in format spec")
            if x[at] != 125 and x[at] != 58:
                raise ValueError("expected ':' after conversion specifier")
            end = at
        if x[at] == 58:
            end = spec_end(s, at + 1)
            spec = cut(s, at + 1, end)
        at = end + 1
        start = at
        stop = 0
        while stop < len(name) and name[stop] != "." and name[stop] != "[":
            stop += 1
        if stop < len(name):
            raise NotImplementedError(
                "not yet in compiled functions: attributes and items in a format of run time"
            )
        which = -1
        number, last = read_number(codes(name), 0)
        if len(name) == 0:
            if count < 0:
                raise ValueError(
                    "cannot switch from manual field specification to automatic field numbering"
                )
            which = count
            count += 1
        elif last == len(name):
            if count > 0:
                raise ValueError(
                    "cannot switch from automatic field numbering to manual field specification"
                )
            which = number
            count = -1
        place = -1
        if which >= 0:
            if table is not None:
                raise ValueError("Format string contains positional fields")
            if which >= len(values):
                raise IndexError(
                    f"Replacement index {which} out of range for positional args tuple"
                )
        elif table is None:
            place = place_of(names, name)
            if place < 0:
                raise KeyError(name)
        elif name not in table:
            raise KeyError(name)
        if conversion == 97:
            raise NotImplementedError("not yet in compiled functions: !a in formats")
        if conversion != 0 and conversion != 114 and conversion != 115:
            raise ValueError(f"Unknown conversion specifier {marked(conversion)}")
        if "{" in spec:
            spec, count = filled(spec, values, names, named, table, count, depth - 1)
        if which >= 0:
            parts.append(format_nth(values, which, conversion, spec))
        elif table is not None:
            parts.append(format_one(table[name], conversion, spec))
        else:
            parts.append(format_nth(named, place, conversion, spec))
    parts.append(cut(s, start, n))
    return join("", parts), count


@known("str format")
def format_text(s, values, names, named):
    """s.format(*values, **dict(zip(names, named)))"""
    return filled(s, values, names, named, None, 0, 2)[0]


@known("str format_map")
def format_map(s, table):
    """s.format_map(table)"""
    return filled(s, (), (), (), table, 0, 2)[0]


# --- what `%` of a known text asks of its values -------------------------------------------------


def whole(x, kind):
    """The integer that %d, %i and %u show."""
    if sort_of(x) == NONE or sort_of(x) >= COMPLEX:
        raise TypeError(f"%{kind} format: a real number is required, not {type_name(x)}")
    if sort_of(x) == BOOL or sort_of(x) == NUMPY_BOOL:
        return int(x)
    if sort_of(x) < FLOAT:
        return x
    if math.isnan(x):
        raise ValueError("cannot convert float NaN to integer")
    if math.isinf(x):
        raise OverflowError("cannot convert float infinity to integer")
    if not -9223372036854775808.0 <= x < 9223372036854775808.0:
        raise NotImplementedError("not yet in compiled functions: an int of more than 64 bits")
    return math.trunc(x)


def index_of(x, kind):
    """The integer that %x, %X and %o show."""
    if sort_of(x) >= FLOAT or sort_of(x) == NONE or sort_of(x) == NUMPY_BOOL:
        raise TypeError(f"%{kind} format: an integer is required, not {type_name(x)}")
    if sort_of(x) == BOOL:
        return int(x)
    return x


def real(x):
    """The float that %f and its like show."""
    if sort_of(x) == NONE or sort_of(x) >= COMPLEX:
        raise TypeError("must be real number, not " + type_name(x))
    return float(x)


# --- text % values -------------------------------------------------------------------------------


def in_field(head, body, left, zeros, width):
    """A sign and prefix, and what comes after it, in a field of `%`."""
    if left:
        return pad(head + body, width, " ", 60)
    if zeros:
        return head + pad(body, width - len(head), "0", 62)
    return pad(head + body, width, " ", 62)


def percent_integer(v, left, sign, alternate, zeros, width, precision, kind):
    """`%d` and its like of an integer."""
    base = 8 if kind == 111 else 16 if kind | 32 == 120 else 10
    s = digits_of(v, base, kind == 88)
    negative = s.startswith("-")
    if negative:
        s = s[1:]
    s = pad(s, precision, "0", 62)
    head = sign_of(negative, sign)
    if alternate and base != 10:
        head += "0" + chr(kind)
    return in_field(head, s, left, zeros, width)


def percent_one(v, left, sign, alternate, zeros, width, precision, kind, index):
    """What stands for a conversion such as `%5.2f`; index: where its last character is."""
    c = chr(kind)
    if c in "sr":
        s = shown(v) if c == "s" else represented(v)
        if 0 <= precision < len(s):
            s = cut(s, 0, precision)
        return in_field("", s, left, False, width)
    if c == "a":
        raise NotImplementedError("not yet in compiled functions: %a")
    if c == "c":
        if sort_of(v) == TEXT:
            if len(v) != 1:
                raise TypeError("%c requires int or char")
            return in_field("", v, left, False, width)
        if sort_of(v) != BOOL and sort_of(v) != INT and sort_of(v) != NUMPY_INT:
            if sort_of(v) != UINT64:
                raise TypeError("%c requires int or char")
        if NONE < sort_of(v) < FLOAT:
            if v < 0 or v > 0x10FFFF:
                raise OverflowError("%c arg not in range(0x110000)")
            return in_field("", chr(int(v)), left, False, width)
        return ""
    if c in "diuxXo":
        if c in "xXo" and (sort_of(v) >= FLOAT or sort_of(v) == NONE or sort_of(v) == NUMPY_BOOL):
            raise TypeError(f"%{c} format: an integer is required, not {type_name(v)}")
        if sort_of(v) == NONE or sort_of(v) >= COMPLEX:
            raise TypeError(f"%{c} format: a real number is required, not {type_name(v)}")
        if FLOAT <= sort_of(v) < COMPLEX:
            if math.isnan(v):
                raise ValueError("cannot convert float NaN to integer")
            if math.isinf(v):
                raise OverflowError("cannot convert float infinity to integer")
            s = float_text(np.floor(abs(float(v))), 102 << 8, 700)
            s = pad(s, precision, "0", 62)
            return in_field(sign_of(v <= -1, sign), s, left, zeros, width)
        if NONE < sort_of(v) < FLOAT:
            return percent_integer(v, left, sign, alternate, zeros, width, precision, kind)
        return ""
    if c in "eEfFgG":
        if sort_of(v) == NONE or sort_of(v) >= COMPLEX:
            raise TypeError("must be real number, not " + type_name(v))
        if NONE < sort_of(v) < COMPLEX:
            s = float_digits(float(v), kind, precision if precision >= 0 else 6, alternate)
            negative = s.startswith("-")
            if negative:
                s = s[1:]
            return in_field(sign_of(negative, sign), s, left, zeros, width)
        return ""
    shown_kind = chr(kind) if 31 < kind < 128 else "?"
    raise ValueError(
        f"unsupported format character '{shown_kind}' (0x{in_base(kind, 16, False)}) "
        f"at index {index}"
    )


def percent_nth(values, which, left, sign, alternate, zeros, width, precision, kind, index):
    """The same of one of several values."""
    at = 0
    for v in values:
        if at == which:
            return percent_one(v, left, sign, alternate, zeros, width, precision, kind, index)
        at += 1
    raise TypeError("not enough arguments for format string")


def star(values, which):
    """The number that a * stands for."""
    at = 0
    for v in values:
        if at == which:
            if sort_of(v) == BOOL or sort_of(v) == INT:
                return int(v)
            raise TypeError("* wants int")
        at += 1
    raise TypeError("not enough arguments for format string")


@known("str percent")
def percent(s, values, table, loose=0):
    """s % values; or of a dict, which is `table`.

    loose: of a number of NumPy's, which CPython takes for a mapping.
    """
    x = codes(s)
    n = len(x)
    parts = [cut(s, 0, 0)]
    at = 0
    start = 0
    taken = 0
    while at < n:
        if x[at] != 37:
            at += 1
            continue
        parts.append(cut(s, start, at))
        at += 1
        key = cut(s, 0, 0)
        keyed = False
        if at < n and x[at] == 40:
            if table is None:
                if loose:
                    raise IndexError("invalid index to scalar variable.")
                raise TypeError("format requires a mapping")
            keyed = True
            at += 1
            first = at
            depth = 1
            while at < n and depth > 0:
                depth += 1 if x[at] == 40 else -1 if x[at] == 41 else 0
                at += 1
            if depth > 0:
                raise ValueError("incomplete format key")
            key = cut(s, first, at - 1)
        left = alternate = zeros = False
        sign = 0
        while at < n:
            c = x[at]
            if c == 45:
                left = True
            elif c == 43:
                sign = 43
            elif c == 32:
                sign = 43 if sign == 43 else 32
            elif c == 35:
                alternate = True
            elif c == 48:
                zeros = True
            else:
                break
            at += 1
        width = -1
        if at < n and x[at] == 42:
            width = star(values, taken)
            taken += 1
            at += 1
            if width < 0:
                left = True
                width = -width
        else:
            while at < n and 48 <= x[at] <= 57:
                width = 10 * max(width, 0) + int(x[at]) - 48
                if width > 1 << 58:
                    raise ValueError("width too big")
                at += 1
        precision = -1
        if at < n and x[at] == 46:
            precision = 0
            at += 1
            if at < n and x[at] == 42:
                precision = star(values, taken)
                if precision >= 1 << 31 or precision < -(1 << 31):
                    raise OverflowError("Python int too large to convert to C int")
                precision = max(precision, 0)
                taken += 1
                at += 1
            else:
                while at < n and 48 <= x[at] <= 57:
                    precision = 10 * precision + int(x[at]) - 48
                    if precision >= 1 << 31:
                        raise ValueError("precision too big")
                    at += 1
        if at < n and (x[at] == 104 or x[at] == 108 or x[at] == 76):
            at += 1
        if at == n:
            raise ValueError("incomplete format")
        kind = int(x[at])
        at += 1
        start = at
        if kind == 37 and x[at - 2] == 37:
            parts.append("%")
        elif table is None:
            parts.append(
                percent_nth(
                    values, taken, left, sign, alternate, zeros, width, precision, kind, at - 1
                )
            )
            taken += 1
        elif keyed:
            if key not in table:
                raise KeyError(key)
            parts.append(
                percent_one(
                    table[key], left, sign, alternate, zeros, width, precision, kind, at - 1
                )
            )
        else:
            raise NotImplementedError("not yet in compiled functions: the text of a dict")
    if table is None and taken < len(values) and not loose:
        raise TypeError("not all arguments converted during string formatting")
    parts.append(cut(s, start, n))
    return join("", parts)
