"""Strings: methods that ask what a character is, or that change its case, for all of Unicode.

The tables are made of what the running Python says of each character, when the first of these
methods is compiled.
"""

import unicodedata

import numpy as np

from .._library import codes, cut, known

ALPHA, DECIMAL, DIGIT, NUMERIC, UPPER, LOWER, TITLE, PRINTABLE, CASED, SKIPPED, PROPER = (
    1 << k for k in range(11)
)
BEGINS, CONTINUES = 1 << 11, 1 << 12  # a name of Python's
TO_UPPER, TO_LOWER, TO_TITLE, TO_FOLDED = range(4)
SIGMA, FINAL_SIGMA = 0x3A3, 0x3C2


def _cases(c):
    """What becomes of a character in each case: how many, and as distances or as themselves."""
    row = []
    for other in (c.upper(), c.lower(), c.title(), c.casefold()):
        own = [ord(x) for x in other]
        row += [1, own[0] - ord(c), 0, 0] if len(own) == 1 else [len(own), *own, 0][:4]
    return tuple(row)


def _in_names(c):
    """Whether a name may begin with a character, and go on with it."""
    begins = c.isidentifier()
    return BEGINS | CONTINUES if begins else CONTINUES if ("a" + c).isidentifier() else 0


def _flags(c):
    """The properties of a character; SKIPPED: the rule of the final sigma looks beyond it."""
    tests = (str.isalpha, str.isdecimal, str.isdigit, str.isnumeric, str.isupper, str.islower)
    found = sum(1 << k for k, test in enumerate(tests) if test(c)) | _in_names(c)
    found |= TITLE if unicodedata.category(c) == "Lt" else 0
    found |= PRINTABLE if c.isprintable() else 0
    found |= CASED if (c + "a").title()[-1] == "a" else 0
    found |= PROPER if (c + "\u03a3").lower()[-1] == "\u03c2" else 0
    skipped = not found & PROPER and ("A" + c + "\u03a3").lower()[-1] == "\u03c2"
    return found | (SKIPPED if skipped else 0)


def _kind(c, category):
    """The properties of a character, and what becomes of it."""
    if category in "Cn Co Cs Lo" and not c.islower() and not c.isupper():
        flags = ALPHA | PRINTABLE | _in_names(c) if category == "Lo" else 0
        return flags | (NUMERIC if c.isnumeric() else 0), (1, 0, 0, 0) * 4
    return _flags(c), _cases(c)


def _tables():
    """Which block of 128 each character is in, the kinds of those of a block, and all kinds."""
    kinds, blocks, block_of = {}, {}, []
    for first in range(0, 0x110000, 128):
        characters = list(map(chr, range(first, first + 128)))
        categories = list(map(unicodedata.category, characters))
        if categories[0] in "Cn Co Cs" and len(set(categories)) == 1:
            row = (kinds.setdefault((0, (1, 0, 0, 0) * 4), len(kinds)),) * 128
        else:
            found = map(_kind, characters, categories)
            row = tuple([kinds.setdefault(kind, len(kinds)) for kind in found])
        block_of.append(blocks.setdefault(row, len(blocks)))
    return (
        np.array(block_of, np.uint16),
        np.array(list(blocks), np.uint16).ravel(),
        np.array([k[0] for k in kinds], np.uint16),
        np.array([k[1] for k in kinds], np.int32).ravel(),
    )


BLOCK, KIND, FLAGS, CASES = _tables()


def kind_of(c):
    """The number of a character's kind."""
    return int(KIND[int(BLOCK[c >> 7]) * 128 + (c & 127)])


def flags_of(c):
    """The properties of a character."""
    return int(FLAGS[kind_of(c)])


def all_are(s, flags):
    """Whether each character has one of these properties, and there is a character."""
    for c in codes(s):
        if flags_of(int(c)) & flags == 0:
            return False
    return len(s) > 0


@known("str isalpha")
def isalpha(s):
    """Whether all are letters."""
    return all_are(s, ALPHA)


@known("str isidentifier")
def isidentifier(s):
    """Whether it is a name as Python has them, or a word of the language."""
    first = True
    for c in codes(s):
        if flags_of(int(c)) & (BEGINS if first else CONTINUES) == 0:
            return False
        first = False
    return not first


@known("str isdecimal")
def isdecimal(s):
    """Whether all are decimal digits."""
    return all_are(s, DECIMAL)


@known("str isdigit")
def isdigit(s):
    """Whether all are digits."""
    return all_are(s, DIGIT)


@known("str isnumeric")
def isnumeric(s):
    """Whether all are numeric."""
    return all_are(s, NUMERIC)


@known("str isalnum")
def isalnum(s):
    """Whether all are letters or numeric."""
    return all_are(s, ALPHA | DECIMAL | DIGIT | NUMERIC)


@known("str isprintable")
def isprintable(s):
    """Whether all are printable, or there is none."""
    return len(s) == 0 or all_are(s, PRINTABLE)


def of_one_case(s, own, others):
    """Whether one character has the property, and none has any of the others."""
    found = False
    for c in codes(s):
        flags = flags_of(int(c))
        if flags & others != 0:
            return False
        if flags & own != 0:
            found = True
    return found


@known("str isupper")
def isupper(s):
    """Whether those that have cases are upper case, and there is one."""
    return of_one_case(s, UPPER, LOWER | TITLE)


@known("str islower")
def islower(s):
    """Whether those that have cases are lower case, and there is one."""
    return of_one_case(s, LOWER, UPPER | TITLE)


@known("str istitle")
def istitle(s):
    """Whether upper case begins words, and lower case continues them."""
    found = False
    within = False
    for c in codes(s):
        flags = flags_of(int(c))
        if flags & (UPPER | TITLE) != 0:
            if within:
                return False
            found = within = True
        elif flags & LOWER != 0:
            if not within:
                return False
            found = within = True
        else:
            within = False
    return found


# --- other cases ---------------------------------------------------------------------------------


def is_final(x, i):
    """Whether a sigma there ends a word."""
    k = i - 1
    while k >= 0 and flags_of(int(x[k])) & SKIPPED != 0:
        k -= 1
    if k < 0 or flags_of(int(x[k])) & PROPER == 0:
        return False
    k = i + 1
    while k < len(x) and flags_of(int(x[k])) & SKIPPED != 0:
        k += 1
    return k == len(x) or flags_of(int(x[k])) & PROPER == 0


def put_case(out, at, x, i, case):
    """Puts one character in another case; the index after it."""
    c = int(x[i])
    if c == SIGMA and case == TO_LOWER:
        out[at] = FINAL_SIGMA if is_final(x, i) else 0x3C3
        return at + 1
    row = (4 * kind_of(c) + case) * 4
    many = int(CASES[row])
    if many == 1:
        out[at] = c + int(CASES[row + 1])
        return at + 1
    for k in range(many):
        out[at + k] = int(CASES[row + 1 + k])
    return at + many


def in_case(s, case):
    """All characters in one case."""
    x = codes(s)
    out = np.empty(3 * len(x), np.uint32)
    at = 0
    for i in range(len(x)):
        at = put_case(out, at, x, i, case)
    return cut(out, 0, at)


@known("str upper")
def upper(s):
    """In upper case."""
    return in_case(s, TO_UPPER)


@known("str lower")
def lower(s):
    """In lower case."""
    return in_case(s, TO_LOWER)


@known("str casefold")
def casefold(s):
    """In the case for comparisons."""
    return in_case(s, TO_FOLDED)


@known("str capitalize")
def capitalize(s):
    """The first character in title case, the others in lower case."""
    x = codes(s)
    out = np.empty(3 * len(x), np.uint32)
    at = 0
    for i in range(len(x)):
        at = put_case(out, at, x, i, TO_TITLE if i == 0 else TO_LOWER)
    return cut(out, 0, at)


@known("str title")
def title(s):
    """What begins a word in title case, what continues it in lower case."""
    x = codes(s)
    out = np.empty(3 * len(x), np.uint32)
    at = 0
    within = False
    for i in range(len(x)):
        at = put_case(out, at, x, i, TO_LOWER if within else TO_TITLE)
        within = flags_of(int(x[i])) & CASED != 0
    return cut(out, 0, at)


@known("str swapcase")
def swapcase(s):
    """Upper case for lower case, and lower case for upper case."""
    x = codes(s)
    out = np.empty(3 * len(x), np.uint32)
    at = 0
    for i in range(len(x)):
        flags = flags_of(int(x[i]))
        if flags & UPPER != 0:
            at = put_case(out, at, x, i, TO_LOWER)
        elif flags & LOWER != 0:
            at = put_case(out, at, x, i, TO_UPPER)
        else:
            out[at] = x[i]
            at += 1
    return cut(out, 0, at)
