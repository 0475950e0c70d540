"""From tokens to a tree: the part of C, and of C++ around functions, that kernels' bodies use."""

from . import types
from .tokens import Token, fail, tokenize

# Operators of two operands by how tightly they bind.
_LEVELS = [
    ["||"],
    ["&&"],
    ["|"],
    ["^"],
    ["&"],
    ["==", "!="],
    ["<", ">", "<=", ">="],
    ["<<", ">>"],
    ["+", "-"],
    ["*", "/", "%"],
]
_BINDS = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
_KEYWORDS = frozenset(
    """if else for while do break continue return switch case default goto struct class union enum
    template typename typedef sizeof new delete throw try catch operator using namespace""".split()
)


class Node:
    """A piece of the tree: its kind, the token it is at, and what belongs to the kind."""

    def __init__(self, kind, at, **fields):
        self.kind, self.at = kind, at
        self.__dict__.update(fields)


class TypeName:
    """A type as it is written: a dtype's name, or the name of a placeholder."""

    def __init__(self, name, at, reference="", const=False):
        self.name, self.at, self.reference, self.const = name, at, reference, const


class Parser:
    """Parses one text. placeholders: names that stand for types, in addition to C's own."""

    def __init__(self, source, placeholders=(), macros=None):
        self.source = source
        self.macros = {} if macros is None else macros
        self.tokens = tokenize(source, self.macros)
        end = len(source.text.rstrip())
        self.tokens.append(Token("end", "", source, end))
        self.k = 0
        self.type_names = {*placeholders}
        self.typedefs = {}

    # Words
    @property
    def token(self):
        return self.tokens[self.k]

    def ahead(self, n=1):
        return self.tokens[min(self.k + n, len(self.tokens) - 1)]

    def next(self):
        token = self.token
        self.k = min(self.k + 1, len(self.tokens) - 1)
        return token

    def accept(self, text):
        if self.token.text == text and self.token.kind != "end":
            return self.next()
        return None

    def expect(self, text, where):
        found = self.accept(text)
        if found is None:
            self.wrong(f"the {where} does not go on like this", f"'{text}'")
        return found

    def wrong(self, message, expected):
        token = self.token
        got = "the end of the text" if token.kind == "end" else f"'{token.text}'"
        fail(token, message, got, expected)

    def name(self, where):
        token = self.token
        if token.kind != "name" or token.text in _KEYWORDS or self.is_type():
            self.wrong(f"the {where} has no name", "a name")
        return self.next()

    # Types
    def is_type(self, n=0):
        token = self.ahead(n) if n else self.token
        if token.kind != "name":
            return False
        text = token.text
        return (
            text in types.WORDS
            or text in types.NAMED
            or text in self.type_names
            or text in self.typedefs
            or text in types.QUALIFIERS
            or text in ("auto", "void")
            or (text == "complex" and self.ahead(n + 1).text == "<")
            or (text in ("std", "thrust") and self.ahead(n + 2).text == "complex")
        )

    def type_name(self):
        at, words, made, const = self.token, [], None, False
        while True:
            text = self.token.text
            if self.token.kind != "name":
                break
            if text in types.QUALIFIERS:
                const |= text == "const"
                self.next()
                continue
            if made is None and text in types.WORDS:
                words.append(self.next().text)
                continue
            if made is not None or words:
                break
            if text in types.NAMED:
                made = types.NAMED[self.next().text]
            elif text in self.typedefs:
                made = self.typedefs[self.next().text].name
            elif text in self.type_names or text in ("auto", "void"):
                made = self.next().text
            elif text in ("std", "thrust") and self.ahead().text == "::":
                self.next(), self.next()
            elif text == "complex":
                self.next()
                self.expect("<", "complex type")
                part = self.type_name()
                self.expect(">", "complex type")
                made = {"float32": "complex64", "float64": "complex128"}.get(part.name)
                if made is None:
                    fail(part.at, "complex numbers of this type", part.name, "float or double")
            else:
                break
        if words:
            made = types.basic(words)
            if made is None:
                fail(at, "no type of C", "'" + " ".join(words) + "'", "such as unsigned int")
        if made is None:
            self.wrong("a type is missing", "such as int, float or a placeholder")
        return TypeName(made, at, const=const)

    def skip_pointer(self, made):
        """Marks a pointer or a reference after a type."""
        while self.token.text in ("*", "&", "const", "__restrict__", "restrict"):
            if self.token.text in "*&":
                made.reference = self.token.text
            self.next()
        return made

    # Expressions
    def expression(self):
        """An expression, commas included."""
        node = self.assignment()
        while self.token.text == ",":
            at = self.next()
            node = Node("comma", at, left=node, right=self.assignment())
        return node

    def assignment(self):
        left = self.ternary()
        if self.token.kind == "sign" and self.token.text in _ASSIGN:
            at = self.next()
            right = self.assignment()
            return Node("assign", at, target=left, op=at.text[:-1], value=right)
        return left

    def ternary(self):
        condition = self.binary(0)
        if self.token.text != "?":
            return condition
        at = self.next()
        yes = self.expression()
        self.expect(":", "choice a ? b : c")
        return Node("choose", at, condition=condition, yes=yes, no=self.assignment())

    def binary(self, least):
        left = self.unary()
        while True:
            op = self.token.text if self.token.kind == "sign" else None
            level = _BINDS.get(op, -1)
            if level < least:
                return left
            at = self.next()
            left = Node("binary", at, op=op, left=left, right=self.binary(level + 1))

    def unary(self):
        token = self.token
        if token.kind == "sign":
            if token.text in ("++", "--"):
                self.next()
                return Node("step", token, target=self.unary(), op=token.text[0], before=True)
            if token.text in ("-", "+", "!", "~", "&", "*"):
                self.next()
                return Node("unary", token, op=token.text, value=self.unary())
            if token.text == "(" and self.is_type(1):
                return self.cast()
        if token.text == "sizeof":
            self.next()
            self.expect("(", "sizeof")
            if not self.is_type():
                self.wrong("sizeof of a value is not supported", "a type")
            made = self.skip_pointer(self.type_name())
            self.expect(")", "sizeof")
            return Node("sizeof", token, type=made)
        return self.postfix(self.primary())

    def cast(self):
        at = self.next()
        made = self.skip_pointer(self.type_name())
        self.expect(")", "cast")
        if made.reference:
            fail(made.at, "pointers cannot be made", f"a cast to '{made.name}*'", "numbers")
        return Node("cast", at, type=made, value=self.unary())

    def primary(self):
        token = self.token
        if token.kind == "number":
            self.next()
            return Node("number", token)
        if self.accept("("):
            inner = self.expression()
            self.expect(")", "expression in parentheses")
            return inner
        if token.text in ("true", "false"):
            self.next()
            return Node("truth", token, value=token.text == "true")
        if token.text in ("static_cast", "reinterpret_cast", "const_cast"):
            self.next()
            self.expect("<", "cast")
            made = self.type_name()
            self.expect(">", "cast")
            self.expect("(", "cast")
            value = self.expression()
            self.expect(")", "cast")
            if token.text != "static_cast":
                fail(token, "this cast is not supported", token.text, "static_cast")
            return Node("cast", token, type=made, value=value)
        if self.is_type():
            made = self.type_name()
            if self.token.text != "(":
                self.wrong("a type is no value", f"{made.at.text}(value)")
            return Node("cast", token, type=made, value=None, args=self.arguments())
        if token.kind != "name" or token.text in _KEYWORDS:
            self.wrong("the expression does not go on like this", "a value")
        self.next()
        while self.token.text == "::":
            self.next()
            token = self.name("name after ::")
        if self.token.text == "<" and self.is_type(1) and self.ahead(2).text == ">":
            self.next()
            given = self.type_name()
            self.expect(">", "template's argument")
            return Node("call", token, name=token.text, args=self.arguments(), template=given)
        if self.token.text == "(":
            return Node("call", token, name=token.text, args=self.arguments(), template=None)
        return Node("name", token, name=token.text)

    def arguments(self):
        self.expect("(", "call")
        given = []
        if self.token.text != ")":
            given.append(self.assignment())
            while self.accept(","):
                given.append(self.assignment())
        self.expect(")", "call")
        return given

    def postfix(self, node):
        while self.token.kind == "sign":
            at = self.token
            if at.text == "[":
                self.next()
                index = self.expression()
                self.expect("]", "subscript")
                node = Node("index", at, value=node, index=index)
            elif at.text == ".":
                self.next()
                member = self.name("member")
                args = self.arguments() if self.token.text == "(" else None
                node = Node("member", member, value=node, name=member.text, args=args)
            elif at.text in ("++", "--"):
                self.next()
                node = Node("step", at, target=node, op=at.text[0], before=False)
            elif at.text == "->":
                fail(at, "pointers are not supported", "'->'", "values")
            else:
                break
        return node

    # Statements
    def body(self):
        """Statements to the end of the text; the last semicolon may be missing."""
        out = []
        while self.token.kind != "end":
            out.append(self.statement())
        return out

    def only_expression(self):
        """The text as one expression."""
        node = self.expression()
        self.accept(";")
        if self.token.kind != "end":
            self.wrong("the expression does not go on like this", "an operator or the end")
        return node

    def semicolon(self, where):
        if self.token.kind != "end":
            self.expect(";", where)

    def statement(self):
        token = self.token
        text = token.text
        if self.accept(";"):
            return Node("block", token, body=[])
        if text == "{":
            return self.block()
        if text == "if":
            self.next()
            self.expect("(", "if")
            condition = self.expression()
            self.expect(")", "if")
            yes = self.statement()
            no = self.statement() if self.accept("else") else None
            return Node("if", token, condition=condition, yes=yes, no=no)
        if text == "while":
            self.next()
            self.expect("(", "while")
            condition = self.expression()
            self.expect(")", "while")
            return Node("loop", token, first=None, condition=condition, step=None,
                        body=self.statement(), late=False)  # fmt: skip
        if text == "do":
            self.next()
            body = self.statement()
            self.expect("while", "do loop")
            self.expect("(", "do loop")
            condition = self.expression()
            self.expect(")", "do loop")
            self.semicolon("do loop")
            return Node("loop", token, first=None, condition=condition, step=None, body=body,
                        late=True)  # fmt: skip
        if text == "for":
            return self.for_()
        if text == "switch":
            return self.switch()
        if text in ("break", "continue"):
            self.next()
            self.semicolon(text)
            return Node(text, token)
        if text == "return":
            self.next()
            value = None if self.token.text in (";", "") else self.expression()
            self.semicolon("return")
            return Node("return", token, value=value)
        if text == "typedef":
            self.next()
            made = self.type_name()
            self.typedefs[self.name("typedef").text] = made
            self.semicolon("typedef")
            return Node("block", token, body=[])
        if text in _KEYWORDS:
            fail(token, "not supported in kernels", f"'{text}'", "if, for, while, do or a value")
        if text == "__shared__":
            fail(token, "threads share no memory here", "'__shared__'", "a local array")
        if self.is_type() and self.ahead().text != "(":
            return self.declaration()
        node = self.expression()
        self.semicolon("statement")
        return Node("do", token, value=node)

    def block(self):
        at = self.expect("{", "block")
        body = []
        while self.token.text != "}":
            if self.token.kind == "end":
                fail(at, "a brace that is not closed", "the end of the text", "'}'")
            body.append(self.statement())
        self.next()
        return Node("block", at, body=body)

    def switch(self):
        at = self.next()
        self.expect("(", "switch")
        value = self.expression()
        self.expect(")", "switch")
        self.expect("{", "switch")
        cases = []  # (the values, None for default; statements)
        while self.token.text != "}":
            labels = []
            while self.token.text in ("case", "default"):
                if self.next().text == "case":
                    labels.append(self.ternary())
                else:
                    labels.append(None)
                self.expect(":", "case")
            if labels:
                cases.append((labels, []))
            elif not cases or self.token.kind == "end":
                self.wrong("the switch does not go on like this", "case, default or '}'")
            else:
                cases[-1][1].append(self.statement())
        self.next()
        flat = [x for labels, body in cases for x in (*labels, *body) if x is not None]
        return Node("switch", at, value=value, cases=cases, inside=flat)

    def for_(self):
        at = self.next()
        self.expect("(", "for")
        first = None
        if not self.accept(";"):
            if self.is_type():
                first = self.declaration()
            else:
                start = self.token
                first = Node("do", start, value=self.expression())
                self.expect(";", "for")
        condition = None if self.token.text == ";" else self.expression()
        self.expect(";", "for")
        step = None if self.token.text == ")" else self.expression()
        self.expect(")", "for")
        return Node("loop", at, first=first, condition=condition, step=step,
                    body=self.statement(), late=False)  # fmt: skip

    def declaration(self):
        at = self.token
        made = self.type_name()
        items = []
        while True:
            pointed = TypeName(made.name, made.at)
            self.skip_pointer(pointed)
            if pointed.reference:
                got = f"'{made.name}{pointed.reference}'"
                fail(made.at, "no pointers and references here", got, "a variable or a raw array")
            name = self.name("declaration")
            sizes, value = [], None
            while self.accept("["):
                sizes.append(None if self.token.text == "]" else self.expression())
                self.expect("]", "array's size")
            if self.accept("="):
                value = self.braces() if self.token.text == "{" else self.assignment()
            elif self.token.text == "(":
                args = self.arguments()
                value = Node("cast", name, type=made, value=None, args=args)
            items.append(Node("variable", name, name=name.text, sizes=sizes, value=value))
            if not self.accept(","):
                break
        self.semicolon("declaration")
        return Node("declare", at, type=made, items=items)

    def braces(self):
        at = self.expect("{", "initialiser")
        items = []
        while self.token.text != "}":
            items.append(self.braces() if self.token.text == "{" else self.assignment())
            if not self.accept(","):
                break
        self.expect("}", "initialiser")
        return Node("braces", at, items=items)

    # The preamble
    def preamble(self):
        """Functions and constants: [Node], of kinds 'function' and 'declare'."""
        out = []
        while self.token.kind != "end":
            if self.accept(";"):
                continue
            templates = []
            if self.token.text == "template":
                self.next()
                self.expect("<", "template")
                while True:
                    if self.token.text not in ("typename", "class"):
                        self.wrong("templates have types only", "typename")
                    self.next()
                    if self.token.kind != "name" or self.token.text in types.WORDS:
                        self.wrong("the template's argument has no name", "a name")
                    templates.append(self.next().text)
                    if not self.accept(","):
                        break
                self.expect(">", "template")
            if self.token.text == "extern":
                fail(self.token, "other languages' functions", "'extern'", "__device__ functions")
            if self.token.text == "typedef":
                self.statement()
                continue
            hidden = self.type_names
            self.type_names = {*hidden, *templates}
            out.append(self.definition(templates))
            self.type_names = hidden
        return out

    def definition(self, templates):
        while self.token.text in ("__device__", "__host__", "__forceinline__", "__noinline__",
                                  "__inline__", "inline", "static", "__constant__"):  # fmt: skip
            self.next()
        if self.token.text in ("struct", "class", "union", "enum", "namespace", "using"):
            fail(self.token, "not supported in a preamble", f"'{self.token.text}'", "functions")
        at = self.token
        begin = self.k
        made = self.skip_pointer(self.type_name())
        while self.token.text in ("__device__", "__forceinline__", "__inline__", "inline"):
            self.next()
        name = self.name("definition")
        if self.token.text != "(":
            self.k = begin
            return self.declaration()
        self.next()
        parameters = []
        if self.token.text == "void" and self.ahead().text == ")":
            self.next()
        while self.token.text != ")":
            kind = self.skip_pointer(self.type_name())
            if kind.reference == "&" and kind.const:
                kind.reference = ""
            parameter = self.name("parameter").text
            if self.accept("["):
                if self.token.text != "]":
                    self.expression()
                self.expect("]", "parameter")
                kind.reference = "*"
            parameters.append((kind, parameter))
            if not self.accept(","):
                break
        self.expect(")", "parameters")
        if self.accept(";"):
            return Node("block", at, body=[])
        return Node("function", name, name=name.text, result=made, parameters=parameters,
                    body=self.block().body, templates=templates)  # fmt: skip
