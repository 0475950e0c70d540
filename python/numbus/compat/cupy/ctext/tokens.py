"""From C text to tokens; #define, comments, and the errors that show the position."""

import re

from ..cuda.compiler import CompileException


class Source:
    """A piece of C text: `what` is the class it is for, `name` the kernel, `part` its argument."""

    def __init__(self, text, what, name, part):
        self.text, self.what, self.name, self.part = text, what, name, part


class CTextError(CompileException):
    """C text that does not compile: a mistake, or something that is not supported."""


def fail(at, message, got, expected):
    """Raises CTextError with the line of the token `at` and a mark under it."""
    source, begin = at.source, at.position
    start = source.text.rfind("\n", 0, begin) + 1
    end = source.text.find("\n", begin)
    line = source.text[start : end if end >= 0 else None]
    number = source.text.count("\n", 0, begin) + 1
    indent = "".join("\t" if c == "\t" else " " for c in line[: begin - start])
    raise CTextError(
        f"[{source.what}] {message}; got {got}; expected {expected}\n"
        f"  in {source.part} of {source.name}, line {number}\n"
        f"  {line}\n  {indent}{'^' * max(1, len(at.text))}"
    )


class Token:
    """A word of the text: kind is 'name', 'number', 'sign' or 'end'."""

    __slots__ = ("kind", "position", "source", "text")

    def __init__(self, kind, text, source, position):
        self.kind, self.text, self.source, self.position = kind, text, source, position

    def moved(self, at):
        """The same word at the position of another one."""
        return Token(self.kind, self.text, at.source, at.position)

    def __repr__(self):
        return f"{self.kind} {self.text!r}"


_WORDS = re.compile(
    r"""(?P<skip>[ \t\r\n]+|//[^\n]*|/\*.*?\*/|\\\n)
    |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|0[bB][01]+[uUlL]*
       |(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fFlL]?|\d+[uUlL]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|
       [-+*/%=<>!~&|^?:;,.(){}\[\]])""",
    re.X | re.S,
)
_DIRECTIVE = re.compile(r"^[ \t]*#((?:[^\n]|\\\n)*)", re.M)
_DEFINE = re.compile(r"\s*define\s+(\w+)(\(([^)]*)\))?(.*)", re.S)


def _split(text, source, offset=0):
    tokens, position = [], 0
    while position < len(text):
        found = _WORDS.match(text, position)
        if found is None:
            at = Token("sign", text[position], source, offset + position)
            fail(at, "a character that C does not know here", repr(text[position]), "C")
        if found.lastgroup != "skip":
            tokens.append(Token(found.lastgroup, found[0], source, offset + position))
        position = found.end()
    return tokens


def tokenize(source, macros):
    """The tokens of a text, macros replaced; its own #define are added to `macros`."""
    text = source.text

    def directive(found):
        _directive(found[1], source, found.start(), macros)
        return " " * len(found[0])

    text = _DIRECTIVE.sub(directive, text)
    return _expand(_split(text, source), macros, frozenset())


def _directive(text, source, position, macros):
    at = Token("sign", "#" + text.strip(), source, source.text.index("#", position))
    define = _DEFINE.match(text)
    if define:
        names = None
        if define[2] is not None:
            names = [n.strip() for n in define[3].split(",") if n.strip()]
        body = define[4].replace("\\\n", "  ")
        macros[define[1]] = names, _split(body, source, at.position)
    elif re.match(r"\s*undef\s+\w+", text):
        macros.pop(text.split()[1], None)
    elif not re.match(r"\s*(pragma|include)\b|\s*$", text):
        fail(at, "a directive that is not supported", "#" + text.strip(), "#define or #include")


def _expand(tokens, macros, hidden):
    out, k = [], 0
    while k < len(tokens):
        token = tokens[k]
        k += 1
        macro = macros.get(token.text) if token.kind == "name" else None
        if macro is None or token.text in hidden:
            out.append(token)
            continue
        names, body = macro
        if names is None:
            values = {}
        else:
            if k >= len(tokens) or tokens[k].text != "(":
                out.append(token)
                continue
            given, k = _arguments(tokens, k)
            if len(given) != len(names) and not (len(given) == 1 and not names and not given[0]):
                fail(
                    token,
                    f"wrong number of arguments of the macro {token.text}",
                    len(given),
                    len(names),
                )
            values = {n: _expand(g, macros, hidden) for n, g in zip(names, given, strict=False)}
        replaced = []
        for word in body:
            if word.kind == "name" and word.text in values:
                replaced += values[word.text]
            else:
                replaced.append(word.moved(token))
        out += _expand(replaced, macros, hidden | {token.text})
    return out


def _arguments(tokens, k):
    """The arguments that begin at the parenthesis tokens[k], and the position after them."""
    given, depth, begin = [[]], 0, tokens[k]
    while k < len(tokens):
        text = tokens[k].text
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            if depth == 0:
                return given, k + 1
        if text == "," and depth == 1:
            given.append([])
        elif not (depth == 1 and text == "(" and tokens[k] is begin):
            given[-1].append(tokens[k])
        k += 1
    return fail(begin, "a parenthesis that is not closed", "the end of the text", "')'")
