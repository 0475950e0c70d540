"""`"…".format(…)` and `"…" % …` of a text that is known: the f-string that stands for them."""

import ast
import re
import string

# Expressions that may stand several times, or not at all, in what is made: they do nothing.
_PLAIN = (ast.Name, ast.Constant)
_CONVERSION = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d*)"
    r"(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<type>.)",
    re.DOTALL,
)


class Refused(Exception):
    """What cannot be made an f-string: what it is, and what to write instead."""

    def __init__(self, what, hint="an f-string", mistake=False):
        super().__init__(what)
        self.what, self.hint, self.mistake = what, hint, mistake


def _piece(value, conversion=-1, spec=None):
    return ast.FormattedValue(value, conversion, spec)


def _constant(text):
    return ast.JoinedStr([ast.Constant(text)]) if text else None


def _field(name, given, keywords, used):
    """The expression of a field of format(), such as 0, x, 0.real or d[key]."""
    first, rest = string._string.formatter_field_name_split(name)
    if isinstance(first, int):
        if first >= len(given):
            raise Refused(
                f"format() needs {first + 1} arguments; got {len(given)}", "more arguments", True
            )
        value = given[first]
    elif first in keywords:
        value = keywords[first]
    else:
        raise Refused(f"format() has no argument '{first}'", f"format({first}=…)", True)
    used[id(value)] = used.get(id(value), 0) + 1
    for attribute, key in rest:
        load = ast.Load()
        value = (
            ast.Attribute(value, key, load)
            if attribute
            else ast.Subscript(value, ast.Constant(key), load)
        )
    return value


def of_format(text, call):
    """The f-string of text.format(…), a Call."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(not k.arg for k in call.keywords):
        raise Refused("format() with * or **", "its arguments one by one")
    given, keywords, used = call.args, {k.arg: k.value for k in call.keywords}, {}
    count, numbered = 0, False

    def pieces(text, depth):
        nonlocal count, numbered
        try:
            parsed = list(string.Formatter().parse(text))
        except ValueError as error:
            raise Refused(f"the format '{text}': {error}", "{} and {{", True) from None
        made = []
        for literal, name, spec, conversion in parsed:
            if literal:
                made.append(ast.Constant(literal))
            if name is None:
                continue
            if depth > 1:
                raise Refused(f"the format '{text}' within formats")
            if not name or name[0] in ".[":
                name, count = f"{count}{name}", count + 1
            elif name[0].isdigit():
                numbered = True
            if count and numbered:
                raise Refused(
                    f"the format '{text}' numbers some of its fields", "{0} {1} or {} {}", True
                )
            value = _field(name, given, keywords, used)
            inner = pieces(spec, depth + 1) if spec else []
            kind = ord(conversion) if conversion else -1
            made.append(_piece(value, kind, ast.JoinedStr(inner) if inner else None))
        return made

    made = pieces(text, 0)
    order = [id(v) for v in (*given, *keywords.values()) if not isinstance(v, _PLAIN)]
    seen = [k for k in used if k in order]
    if seen != order or any(used[k] > 1 for k in order):
        raise Refused(
            "format() that uses its arguments in another order, several times or not at all",
            "names for them before",
        )
    return ast.JoinedStr(made)


def of_percent(text, right, describe):
    """The f-string of text % right; describe: the node of a Python object."""
    several = list(right.elts) if isinstance(right, ast.Tuple) else [right]
    by_key = None
    if any(isinstance(e, ast.Starred) for e in several):
        raise Refused("% with a * in the tuple")
    if isinstance(right, ast.Dict):
        if not all(isinstance(k, ast.Constant) for k in right.keys):
            raise Refused("% of a dict whose keys are no constants")
        by_key = {k.value: v for k, v in zip(right.keys, right.values, strict=True)}
    made, at, taken, keys = [], 0, 0, []
    while True:
        begin = text.find("%", at)
        if begin < 0:
            break
        if begin > at:
            made.append(ast.Constant(text[at:begin]))
        found = _CONVERSION.match(text, begin)
        if not found:
            raise Refused(f"the format '{text}' ends early", "%%", True)
        at = found.end()
        if found[0] == "%%":
            made.append(ast.Constant("%"))
            continue
        if found["key"] is not None:
            if by_key is None or found["key"] not in by_key:
                raise Refused(f"%({found['key']}) of something that is no dict with that key")
            keys.append(found["key"])
            value = by_key[found["key"]]
        else:
            if by_key is not None or taken >= len(several):
                raise Refused("% with fewer values than the format has", "as many values", True)
            value = several[taken]
            taken += 1
        made.append(_converted(found, value, describe))
    if at < len(text):
        made.append(ast.Constant(text[at:]))
    if by_key is None and taken == 0 and not isinstance(right, ast.Tuple):
        # A number is too much; a list, a dict or an array is not.
        raise Refused("% of a string without a place for values")
    if by_key is None and taken < len(several):
        raise Refused("% with more values than the format has", "as many values", True)
    if (
        by_key is not None
        and keys != list(by_key)
        and not all(isinstance(v, _PLAIN) for v in by_key.values())
    ):
        raise Refused("% that uses the values of a dict in another order", "names for them before")
    return ast.JoinedStr(made)


def _converted(found, value, describe):
    from .library import formats

    flags, width, kind = found["flags"], found["width"], found["type"]
    precision = found["precision"]
    if width == "*" or precision == "*" or kind not in "sdiufFeEgGxXor":
        raise Refused(f"the format '{found[0]}'")
    spec = "" if precision is None else f".{precision or 0}"
    align = "<" if "-" in flags else ">"
    if kind in "sr":
        spec = (align + width if width else "") + spec
        if (kind == "r" and spec) or "#" in flags:
            raise Refused(f"the format '{found[0]}'")
        return _piece(value, ord(kind), _constant(spec))
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags and width else ""
    shape = (align if width and not zeros else "") + sign
    if kind in "fFeEgG":
        if "#" in flags:
            raise Refused(f"the format '{found[0]}'")
        value = ast.Call(describe(formats.real), [value], [])
        return _piece(value, -1, _constant(f"{shape}{zeros}{width}{spec}{kind}"))
    if precision is not None:
        raise Refused(f"the format '{found[0]}'")
    if kind in "diu":
        value = ast.Call(describe(formats.whole), [value, ast.Constant(kind)], [])
        return _piece(value, -1, _constant(f"{shape}{zeros}{width}"))
    value = ast.Call(describe(formats.index_of), [value, ast.Constant(kind)], [])
    other = "#" if "#" in flags else ""
    return _piece(value, -1, _constant(f"{shape}{other}{zeros}{width}{kind}"))
