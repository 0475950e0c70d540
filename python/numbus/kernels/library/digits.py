"""Numbers of strings: int(s), float(s), with all of Unicode's decimal digits."""

import numpy as np

from .._library import codes, cut, known, number_of_text
from .strings import isascii, strip

# Unicode has the ten digits of a script one after the other: where those beyond ASCII begin.
_ALL = np.arange(128, 0x110000, dtype=np.uint32)
_DIGITS = _ALL[np.char.isdecimal(_ALL.view("U1"))].tolist()
ZEROS = np.array([c for c in _DIGITS if int(chr(c)) == 0], np.uint32)


def plain(s):
    """The string with ASCII's digits in place of others."""
    if isascii(s):
        return s
    x = codes(s)
    out = np.empty(len(x), np.uint32)
    for k in range(len(x)):
        c = x[k]
        if c >= 128:
            for zero in ZEROS:
                if zero <= c < zero + 10:
                    c = 48 + (c - zero)
                    break
        out[k] = c
    return cut(out, 0, len(out))


def malformed(s, base):
    """Raises the error of a text that is no int."""
    if base >= 0:
        raise ValueError(f"invalid literal for int() with base {base}: {repr(s)[:200]}")
    return 0


@known("str to int")
def to_int(s, base):
    """int(s, base)"""
    if base != 0 and (base < 2 or base > 36):
        raise ValueError("int() base must be >= 2 and <= 36, or 0")
    given = base
    x = codes(plain(strip(s, None)))
    n = len(x)
    at = 0
    negative = False
    if n > 0 and (x[0] == 43 or x[0] == 45):
        negative = x[0] == 45
        at = 1
    prefixed = False
    if at + 1 < n and x[at] == 48:
        letter = int(x[at + 1]) | 32
        named = 16 if letter == 120 else 8 if letter == 111 else 2 if letter == 98 else 0
        if named != 0 and (base == 0 or base == named):
            base = named
            at += 2
            prefixed = True
    zeros_only = base == 0 and at < n and x[at] == 48
    if base == 0:
        base = 10
    value = 0
    digits = 0
    apart = prefixed  # whether an underscore may stand here
    beyond = wrong = False
    while at < n:
        c = int(x[at])
        at += 1
        if c == 95:
            if not apart or at == n:
                wrong = True
                break
            apart = False
            continue
        digit = 99
        if 48 <= c <= 57:
            digit = c - 48
        elif 97 <= (c | 32) <= 122:
            digit = (c | 32) - 87
        if digit >= base or (zeros_only and digit != 0):
            wrong = True
            break
        digits += 1
        apart = True
        # Less than zero, of which there is one more.
        if value < (-(2**63) + digit) // base + (1 if (-(2**63) + digit) % base != 0 else 0):
            beyond = True
        value = value * base - digit
    if wrong or digits == 0 or not apart:
        return malformed(s, given)
    if beyond or (not negative and value == -(2**63)):
        raise OverflowError("not yet in compiled functions: an int of more than 64 bits")
    return value if negative else -value


@known("str to float")
def to_float(s):
    """float(s)"""
    out = np.empty(1)
    if number_of_text(plain(strip(s, None)), out) == 0:
        raise ValueError(f"could not convert string to float: {s!r}")
    return float(out[0])
