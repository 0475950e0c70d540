"""Strings: what takes loops over their characters, as methods of str have it.

`codes` gives a string's characters as an array of uint32, `cut` a string of such an array, or a
part of a string in the same memory.
"""

import math

import numpy as np

from .._library import codes, cut, known, memory, room_for
from .lists import indices


def ends(n, start, stop):
    """Where a slice with a step of one begins and ends in n characters; the end may come first."""
    low = 0 if start is None else max(start + n, 0) if start < 0 else start
    high = n if stop is None else max(stop + n, 0) if stop < 0 else min(stop, n)
    return low, high


def is_space(c):
    """Whether a character is white space to str.isspace."""
    if c < 128:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    return (
        c == 0x85
        or c == 0xA0
        or c == 0x1680
        or 0x2000 <= c <= 0x200A
        or c == 0x2028
        or c == 0x2029
        or c == 0x202F
        or c == 0x205F
        or c == 0x3000
    )


# --- comparisons ---------------------------------------------------------------------------------


@known("str hash")
def hash_codes(s):
    """A number that equal strings have in common."""
    h = len(s)
    for c in codes(s):
        h = (h ^ int(c)) * 0x100000001B3
    return h


@known("str equal")
def equal(a, b):
    """Whether all characters are the same."""
    x = codes(a)
    y = codes(b)
    if len(x) != len(y):
        return False
    for i in range(len(x)):
        if x[i] != y[i]:
            return False
    return True


@known("str order")
def order(a, b):
    """Less than zero, zero or more, as `a` comes before `b`, is equal, or comes after."""
    x = codes(a)
    y = codes(b)
    for i in range(min(len(x), len(y))):
        if x[i] != y[i]:
            return -1 if x[i] < y[i] else 1
    return len(x) - len(y)


# --- parts ---------------------------------------------------------------------------------------


@known("str part")
def part(s, start, stop):
    """s[start:stop]"""
    low, high = ends(len(s), start, stop)
    low = min(low, high)
    return cut(s, low, high)


@known("str slice")
def slice_of(s, start, stop, step):
    """s[start:stop:step]"""
    low, by, count = indices(len(s), start, stop, step)
    x = codes(s)
    out = np.empty(count, np.uint32)
    for k in range(count):
        out[k] = x[low + k * by]
    return cut(out, 0, count)


# --- making them ---------------------------------------------------------------------------------


@known("str add")
def add(a, b):
    """a + b"""
    x = codes(a)
    y = codes(b)
    n = len(x)
    out = np.empty(n + len(y), np.uint32)
    out[:n] = x
    out[n:] = y
    return cut(out, 0, len(out))


@known("str append")
def append(s, more):
    """s += more, in the memory of s where nobody else refers to it and it has room."""
    n = len(s)
    m = len(more)
    room = room_for(s, n + m)
    if room == 2:
        whole = cut(s, 0, n + m)
        memory(whole)[n:] = codes(more)
        return whole
    out = np.empty(n + m if room == 0 else n + m + (n + m) // 2 + 8, np.uint32)
    out[:n] = codes(s)
    out[n : n + m] = codes(more)
    return cut(out, 0, n + m)


@known("str repeat")
def repeat(s, times):
    """s * times"""
    x = codes(s)
    n = len(x)
    count = max(times, 0)
    if n > 0 and count > (1 << 58) // n:
        raise MemoryError
    out = np.empty(n * count, np.uint32)
    for k in range(count):
        out[k * n : (k + 1) * n] = x
    return cut(out, 0, len(out))


@known("str chr")
def character(c):
    """chr(c)"""
    if c < 0 or c >= 0x110000:
        raise ValueError("chr() arg not in range(0x110000)")
    out = np.empty(1, np.uint32)
    out[0] = c
    return cut(out, 0, 1)


@known("str ord")
def code(s):
    """ord(s)"""
    x = codes(s)
    if len(x) != 1:
        raise TypeError(f"ord() expected a character, but string of length {len(x)} found")
    return int(x[0])


@known("str of bool")
def of_bool(x):
    """str(x)"""
    return "True" if x else "False"


@known("str of int")
def of_int(x):
    """str(x)"""
    return in_base(x, 10, False)


@known("str of complex")
def of_complex(z):
    """str(z)"""
    real, imag = z.real, z.imag
    second = str(imag).removesuffix(".0") + "j"
    if real == 0 and math.copysign(1.0, real) > 0:
        return second
    return "(" + str(real).removesuffix(".0") + signed(second, "+") + ")"


@known("str grouped")
def grouped(s, mark, size):
    """Digits with a mark between groups of so many of them, up to what is no digit."""
    x = codes(s)
    n = len(x)
    first = 1 if n > 0 and x[0] == 45 else 0
    stop = first
    while stop < n and (48 <= x[stop] <= 57 or (size == 4 and 97 <= x[stop] | 32 <= 102)):
        stop += 1
    length = n + max(stop - first - 1, 0) // size
    out = np.empty(length, np.uint32)
    c = codes(mark)[0]
    at = 0
    for k in range(n):
        if first < k < stop and (stop - k) % size == 0:
            out[at] = c
            at += 1
        out[at] = x[k]
        at += 1
    return cut(out, 0, length)


@known("str prefixed")
def prefixed(s, prefix):
    """Digits with 0x or the like before them, after the sign."""
    return "-" + prefix + s[1:] if s.startswith("-") else prefix + s


@known("str in base")
def in_base(x, base, upper):
    """The digits of an int in a base of 2 to 36, with a sign where it is negative."""
    out = np.empty(65, np.uint32)
    at = 65
    n = x if x < 0 else -x  # of which there is one more
    while True:
        digit = -(n % -base)
        at -= 1
        out[at] = 48 + digit if digit < 10 else 55 + digit if upper else 87 + digit
        n = -(n // -base)
        if n == 0:
            break
    if x < 0:
        at -= 1
        out[at] = 45
    return cut(out, at, 65)


@known("str of uint")
def of_uint(x):
    """str(x) of an uint64."""
    out = np.empty(20, np.uint32)
    at = 19
    out[19] = 48 + int(x % np.uint64(10))
    n = int(x // np.uint64(10))
    while n > 0:
        at -= 1
        out[at] = 48 + n % 10
        n //= 10
    return cut(out, at, 20)


# --- searching -----------------------------------------------------------------------------------


def first_at(x, y, low, high):
    """Where y begins in x[low:high] first, or -1."""
    m = len(y)
    if m == 0:
        return low if low <= high else -1
    for i in range(low, high - m + 1):
        if x[i] == y[0]:
            k = 1
            while k < m and x[i + k] == y[k]:
                k += 1
            if k == m:
                return i
    return -1


def last_at(x, y, low, high):
    """Where y begins in x[low:high] last, or -1."""
    m = len(y)
    for i in range(high - m, low - 1, -1):
        k = 0
        while k < m and x[i + k] == y[k]:
            k += 1
        if k == m:
            return i
    return -1


@known("str contains")
def contains(s, sub):
    """sub in s"""
    return first_at(codes(s), codes(sub), 0, len(s)) >= 0


@known("str find")
def find(s, sub, start=None, end=None):
    """The first index, or -1."""
    low, high = ends(len(s), start, end)
    return first_at(codes(s), codes(sub), low, high)


@known("str rfind")
def rfind(s, sub, start=None, end=None):
    """The last index, or -1."""
    low, high = ends(len(s), start, end)
    return last_at(codes(s), codes(sub), low, high)


@known("str index")
def index(s, sub, start=None, end=None):
    """The first index; ValueError where there is none."""
    at = find(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


@known("str rindex")
def rindex(s, sub, start=None, end=None):
    """The last index; ValueError where there is none."""
    at = rfind(s, sub, start, end)
    if at < 0:
        raise ValueError("substring not found")
    return at


@known("str count")
def count(s, sub, start=None, end=None):
    """How many there are that do not overlap."""
    low, high = ends(len(s), start, end)
    x = codes(s)
    y = codes(sub)
    if len(y) == 0:
        return max(high - low + 1, 0)
    found = 0
    at = first_at(x, y, low, high)
    while at >= 0:
        found += 1
        at = first_at(x, y, at + len(y), high)
    return found


def stands_at(x, y, at):
    """Whether y stands in x at an index, where there is room for it."""
    for k in range(len(y)):
        if x[at + k] != y[k]:
            return False
    return True


@known("str startswith")
def startswith(s, prefix, start=None, end=None):
    """Whether s[start:end] begins with it."""
    low, high = ends(len(s), start, end)
    return high - low >= len(prefix) and stands_at(codes(s), codes(prefix), low)


@known("str endswith")
def endswith(s, suffix, start=None, end=None):
    """Whether s[start:end] ends with it."""
    low, high = ends(len(s), start, end)
    m = len(suffix)
    return high - low >= m and stands_at(codes(s), codes(suffix), high - m)


@known("str removeprefix")
def removeprefix(s, prefix):
    """s without its beginning."""
    return cut(s, len(prefix), len(s)) if startswith(s, prefix, None, None) else s


@known("str removesuffix")
def removesuffix(s, suffix):
    """s without its end."""
    return cut(s, 0, len(s) - len(suffix)) if endswith(s, suffix, None, None) else s


# --- taking apart, putting together --------------------------------------------------------------


@known("str split")
def split(s, sep=None, maxsplit=-1):
    """The words between separators, or between white space."""
    x = codes(s)
    n = len(x)
    parts = []
    left = maxsplit if maxsplit >= 0 else n + 1
    if sep is None:
        at = 0
        while True:
            while at < n and is_space(x[at]):
                at += 1
            if at == n:
                break
            start = at
            if left == 0:
                parts.append(cut(s, start, n))
                break
            while at < n and not is_space(x[at]):
                at += 1
            parts.append(cut(s, start, at))
            left -= 1
        return parts
    y = codes(sep)
    m = len(y)
    if m == 0:
        raise ValueError("empty separator")
    start = 0
    while left > 0:
        at = first_at(x, y, start, n)
        if at < 0:
            break
        parts.append(cut(s, start, at))
        start = at + m
        left -= 1
    parts.append(cut(s, start, n))
    return parts


@known("str rsplit")
def rsplit(s, sep=None, maxsplit=-1):
    """The same from the end."""
    x = codes(s)
    stop = len(x)
    parts = []
    left = maxsplit if maxsplit >= 0 else stop + 1
    if sep is None:
        while True:
            while stop > 0 and is_space(x[stop - 1]):
                stop -= 1
            if stop == 0:
                break
            start = stop
            if left == 0:
                parts.append(cut(s, 0, stop))
                break
            while start > 0 and not is_space(x[start - 1]):
                start -= 1
            parts.append(cut(s, start, stop))
            stop = start
            left -= 1
        parts.reverse()
        return parts
    y = codes(sep)
    m = len(y)
    if m == 0:
        raise ValueError("empty separator")
    while left > 0:
        at = last_at(x, y, 0, stop)
        if at < 0:
            break
        parts.append(cut(s, at + m, stop))
        stop = at
        left -= 1
    parts.append(cut(s, 0, stop))
    parts.reverse()
    return parts


@known("str splitlines")
def splitlines(s, keepends=0):
    """Its lines."""
    x = codes(s)
    n = len(x)
    lines = []
    start = 0
    at = 0
    while at < n:
        c = x[at]
        ends_line = 10 <= c <= 13 or 28 <= c <= 30 or c == 0x85 or c == 0x2028 or c == 0x2029
        if not ends_line:
            at += 1
            continue
        stop = at
        at += 1
        if c == 13 and at < n and x[at] == 10:
            at += 1
        lines.append(cut(s, start, at if keepends != 0 else stop))
        start = at
    if start < n:
        lines.append(cut(s, start, n))
    return lines


@known("str join")
def join(sep, parts):
    """All parts, with sep between them."""
    y = codes(sep)
    m = len(y)
    total = m * max(len(parts) - 1, 0)
    for p in parts:
        total += len(p)
    out = np.empty(total, np.uint32)
    at = 0
    for i in range(len(parts)):
        if i > 0:
            out[at : at + m] = y
            at += m
        x = codes(parts[i])
        out[at : at + len(x)] = x
        at += len(x)
    return cut(out, 0, total)


@known("str partition")
def partition(s, sep):
    """What is before the first sep, sep, and what is after it."""
    if len(sep) == 0:
        raise ValueError("empty separator")
    at = find(s, sep, None, None)
    if at < 0:
        return s, cut(s, 0, 0), cut(s, 0, 0)
    return cut(s, 0, at), cut(s, at, at + len(sep)), cut(s, at + len(sep), len(s))


@known("str rpartition")
def rpartition(s, sep):
    """What is before the last sep, sep, and what is after it."""
    if len(sep) == 0:
        raise ValueError("empty separator")
    at = rfind(s, sep, None, None)
    if at < 0:
        return cut(s, 0, 0), cut(s, 0, 0), s
    return cut(s, 0, at), cut(s, at, at + len(sep)), cut(s, at + len(sep), len(s))


@known("str replace")
def replace(s, old, new, count=-1):
    """With others in place of the first `count` parts, or of all."""
    x = codes(s)
    y = codes(old)
    z = codes(new)
    n = len(x)
    m = len(y)
    if count == 0:
        return s
    if m == 0:
        # Before each character, and at the end.
        times = n + 1 if count < 0 else min(count, n + 1)
        out = np.empty(n + times * len(z), np.uint32)
        at = 0
        for i in range(n + 1):
            if i < times:
                out[at : at + len(z)] = z
                at += len(z)
            if i < n:
                out[at] = x[i]
                at += 1
        return cut(out, 0, at)
    times = 0
    found = first_at(x, y, 0, n)
    while found >= 0 and times != count:
        times += 1
        found = first_at(x, y, found + m, n)
    if times == 0:
        return s
    out = np.empty(n + times * (len(z) - m), np.uint32)
    start = 0
    at = 0
    for _ in range(times):
        found = first_at(x, y, start, n)
        out[at : at + found - start] = x[start:found]
        at += found - start
        out[at : at + len(z)] = z
        at += len(z)
        start = found + m
    out[at:] = x[start:]
    return cut(out, 0, len(out))


# --- ends ----------------------------------------------------------------------------------------


def strips(c, chars):
    """Whether a character is among those that are taken off."""
    if chars is None:
        return is_space(c)
    for x in codes(chars):
        if x == c:
            return True
    return False


@known("str strip")
def strip(s, chars=None):
    """Without these characters at both ends."""
    return lstrip(rstrip(s, chars), chars)


@known("str lstrip")
def lstrip(s, chars=None):
    """Without these characters at the beginning."""
    x = codes(s)
    low = 0
    while low < len(x) and strips(x[low], chars):
        low += 1
    return cut(s, low, len(x))


@known("str rstrip")
def rstrip(s, chars=None):
    """Without these characters at the end."""
    x = codes(s)
    high = len(x)
    while high > 0 and strips(x[high - 1], chars):
        high -= 1
    return cut(s, 0, high)


def padded(s, before, after, fill):
    """With so many more characters before and after."""
    x = codes(s)
    c = codes(fill)
    if len(c) != 1:
        raise TypeError("The fill character must be exactly one character long")
    low = max(before, 0)
    n = len(x)
    out = np.empty(low + n + max(after, 0), np.uint32)
    out[:low] = c[0]
    out[low : low + n] = x
    out[low + n :] = c[0]
    return cut(out, 0, len(out))


@known("str ljust")
def ljust(s, width, fill=" "):
    """At the left of so many characters."""
    return padded(s, 0, width - len(s), fill)


@known("str rjust")
def rjust(s, width, fill=" "):
    """At the right of so many characters."""
    return padded(s, width - len(s), 0, fill)


@known("str center")
def center(s, width, fill=" "):
    """In the middle of so many characters."""
    more = max(width - len(s), 0)
    left = more // 2 + (more & width & 1)
    return padded(s, left, more - left, fill)


@known("str expandtabs")
def expandtabs(s, tabsize=8):
    """Spaces for tabs, up to the next column that `tabsize` divides."""
    x = codes(s)
    out = np.empty(0, np.uint32)
    for written in range(2):  # first only counted
        at = 0
        column = 0
        for c in x:
            if c == 9:
                more = tabsize - column % tabsize if tabsize > 0 else 0
                if written:
                    out[at : at + more] = 32
                if at > (1 << 58) - more:
                    raise OverflowError("new string is too long")
                at += more
                column += more
                continue
            if written:
                out[at] = c
            at += 1
            column = 0 if c == 10 or c == 13 else column + 1
        if not written:
            out = np.empty(at, np.uint32)
    return cut(out, 0, len(out))


@known("str zfill")
def zfill(s, width):
    """Zeros before the digits, after a sign."""
    x = codes(s)
    more = width - len(x)
    if more <= 0:
        return s
    signs = 1 if len(x) > 0 and (x[0] == 43 or x[0] == 45) else 0
    return add(cut(s, 0, signs), padded(cut(s, signs, len(x)), more, 0, "0"))


@known("str general")
def general(short, long, digits):
    """A float's text of so many digits, of those with and without an exponent where it is large."""
    at = long.find("e")
    if at < 0 or "e" in short:
        return short
    exponent = 0
    x = codes(long)
    for k in range(at + 2, len(x)):
        exponent = 10 * exponent + int(x[k]) - 48
    if (-exponent if x[at + 1] == 45 else exponent) < digits - 1:
        return short if "." in short else short + ".0"
    front = long[:at]
    return (front.rstrip("0").rstrip(".") if "." in front else front) + long[at:]


@known("str signed")
def signed(s, sign):
    """A number's text with a sign where it is not negative."""
    return s if codes(s)[0] == 45 else add(sign, s)


@known("str pad")
def pad(s, width, fill, align):
    """As format() does; align: the code of one of <>^=."""
    more = max(width - len(s), 0)
    if align == 60:
        return padded(s, 0, more, fill)
    if align == 94:
        return padded(s, more // 2, more - more // 2, fill)
    if align == 61:
        x = codes(s)
        signs = 1 if len(x) > 0 and (x[0] == 43 or x[0] == 45 or x[0] == 32) else 0
        if len(x) > signs + 1 and x[signs] == 48:  # 0x, 0X, 0o, 0b
            kind = x[signs + 1]
            signs += 2 if kind == 120 or kind == 88 or kind == 111 or kind == 98 else 0
        return add(cut(s, 0, signs), padded(cut(s, signs, len(x)), more, 0, fill))
    return padded(s, more, 0, fill)


@known("str isascii")
def isascii(s):
    """Whether all characters are below 128."""
    for c in codes(s):
        if c >= 128:
            return False
    return True


@known("str isspace")
def isspace(s):
    """Whether all characters are white space, and there is one."""
    for c in codes(s):
        if not is_space(c):
            return False
    return len(s) > 0
