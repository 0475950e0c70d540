"""The source of a module with its loops in a form that code of ours can take over, and give back
at any statement.

    for i in range(n): BODY

becomes, with an object `loop` of bindings/loops/loops.cpp and its methods as constants,

    for i in loop | range(n): BODY          # ends early
    else:
        if -loop:
            for i, x, y in after():         # names are written back
                what is left of an iteration, from any statement on
            else:
                for i in rest(): BODY       # as it was, and its `else`

`while c:` is `for () in loop | None: if not c: break`. No name is added to the program's or to
Python's; every copy of a statement has its line. Functions run the rewritten code until somebody
looks at their `__code__`, which is that of the source.
"""

import ast
import collections
import os
import types

from .. import _loops
from . import loop, marks, report, select, sources, trees

# Constants of the source that stand for functions of a loop, until the code is made.
_MARK = f"numbus {os.urandom(16).hex()} "


def _loop(number):
    return ast.Constant(f"{_MARK}{number} self")


def _call(number, name, *args):
    args = [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args]
    return ast.Call(ast.Constant(f"{_MARK}{number} {name}"), args, [])


def _target(name):
    of, _, attribute = name.partition(select.DOT)
    if attribute:
        return ast.Attribute(ast.Name(of, ast.Load()), attribute, ast.Store())
    return ast.Name(name, ast.Store())


def _nothing():
    return ast.Tuple([], ast.Store())


class NotMatched(Exception):
    """The code of the source has no counterpart for a part of the rewritten one."""


def linked(code, plain):
    """The code of a rewritten tree with the functions in the place of their marks; `plain`: the
    code of the source, which functions will show. Raises NotMatched.
    """
    known = collections.defaultdict(list)
    for c in nested(plain):
        known[c.co_qualname, c.co_firstlineno].append(c)

    def shown(code):
        """The code of the source for a function."""
        found = known[code.co_qualname, code.co_firstlineno]
        if any(f != found[0] for f in found):
            found = [f for f in found if _first(f) == _first(code)]
        if not found or any(f != found[0] or f.co_freevars != code.co_freevars for f in found):
            raise NotMatched
        return found[0]

    def link(code):
        constants, loops = [], set()
        for c in code.co_consts:
            if isinstance(c, types.CodeType):
                made = link(c)
                pairs.append((made, shown(c)))
                c = made
            elif type(c) is str and c.startswith(_MARK):
                number, name = c[len(_MARK) :].split()
                loops.add(int(number))
                c = loop.loop_of(int(number))
                c = c if name == "self" else getattr(c, name)
            constants.append(c)
        code = code.replace(co_consts=tuple(constants))
        loop.note_code(code, loops)
        return code

    pairs = []
    made = link(code)
    for rewritten, of_source in pairs:
        sources.follow(rewritten, of_source)
        if rewritten != of_source:
            _loops.remember_code(rewritten, of_source)
    return made


def nested(code):
    """The codes of all functions in a code."""
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield c
            yield from nested(c)


def _first(code):
    """Where the first expression is, which tells the functions of one line apart."""
    places = [
        (line, column, end)
        for line, last, column, end in code.co_positions()
        if None not in (line, last, column, end) and (end > column or last > line)
    ]
    return min(places, default=None)


class Rewriter(ast.NodeTransformer):
    """Rewrites the loops of functions and of the module itself."""

    def __init__(self, source, file):
        text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
        self._lines = text.splitlines()
        self._file = file
        self._outer = None  # the number of the loop around
        self._marked = marks.noted(file)
        self.count = 0  # of loops that are tried

    def visit_ClassDef(self, node):
        node.body = [self.visit(n) if isinstance(n, ast.FunctionDef) else n for n in node.body]
        return node

    def visit_FunctionDef(self, node):
        outer, self._outer = self._outer, None
        self.generic_visit(node)
        self._outer = outer
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_Lambda(self, node):
        return node

    def visit_For(self, node):
        return self._loop(node)

    visit_While = visit_For

    def _loop(self, node):
        if "numbus: off" in self._line(node.lineno):
            return node
        if self._outer is not None and select.is_tiny(node):
            return node  # compiled as a part of the loop around it only
        why = select.why_not(node)
        if why is not None:
            report.note_refused(self._file, node, why)
            return self.generic_visit(node)
        original = trees.copied(node)
        select.number(original)
        shown = select.with_attributes(original)
        names = select.assigned(shown)
        self.count += 1
        text = self._text(node)
        number = loop.add_loop(shown, names, self._file, self._outer, text)
        if self._marked:
            loop.note_marks(number, self._marked)
        outer, self._outer = self._outer, number
        node.body = [self.visit(n) for n in node.body]
        self._outer = outer
        node.orelse = [self.visit(n) for n in node.orelse]
        made = self._rewritten(node, original, number, names)
        return _located(made, node)

    def _text(self, node):
        """The lines of a loop, and where it begins in the first of them."""
        return node.col_offset, "\n".join(self._lines[node.lineno - 1 : node.end_lineno])

    def _line(self, n):
        return self._lines[n - 1] if n <= len(self._lines) else ""

    def _rewritten(self, node, original, number, names):
        plain = [trees.copied(n) for n in original.body]
        live = ast.Tuple([_target(n) for n in names], ast.Store())
        gone = [
            ast.If(_call(number, "gone", k), [ast.Delete([ast.Name(n, ast.Del())])], [])
            for k, n in enumerate(names)
            if select.DOT not in n
        ] or [ast.Pass()]
        resumed = [ast.If(_call(number, "gone", -1), gone, []), *_Resumed(number).block(original)]
        if isinstance(node, ast.For):
            target, over, first = node.target, node.iter, []
            last = trees.copied(original.orelse)
            rest = ast.For(trees.copied(target), _call(number, "rest"), plain, last)
        else:
            target, over = _nothing(), ast.Constant(None)
            # Its `else` does not leave the loop around it (select.why_not).
            first = [ast.If(ast.UnaryOp(ast.Not(), node.test), [*node.orelse, ast.Break()], [])]
            for n in first:
                _located(n, node)
            node.orelse = []
            again = ast.While(trees.copied(node.test), plain, trees.copied(original.orelse))
            rest = ast.If(_call(number, "rest"), [again], trees.copied(original.orelse))
        after = ast.For(live, _call(number, "after"), resumed, [rest])
        return ast.For(
            target,
            ast.BinOp(_loop(number), ast.BitOr(), over),
            [*first, *node.body],
            [ast.If(ast.UnaryOp(ast.USub(), _loop(number)), [after], node.orelse)],
        )


class _Resumed:
    """The body of a loop that can be entered at each of its statements."""

    def __init__(self, number):
        self._number = number

    def _ask(self, what, *args):
        return _call(self._number, what, *args)

    def block(self, loop):
        body = []
        if isinstance(loop, ast.While):
            last = [*trees.copied(loop.orelse), ast.Break()]
            leave = ast.If(ast.UnaryOp(ast.Not(), trees.copied(loop.test)), last, [])
            leave = _located(leave, loop)
            body.append(_located(ast.If(self._ask("at", loop.at, loop.at + 1), [leave], []), loop))
        return body + [self.statement(n) for n in loop.body]

    def statement(self, n):
        if isinstance(n, (ast.If, ast.For, ast.While)) and not n.opaque:
            inner = self._compound(n)
        else:
            inner = trees.copied(n)
        return _located(ast.If(self._ask("at", n.at, n.end), [inner], []), n)

    def _compound(self, n):
        if isinstance(n, ast.If):
            where = ast.IfExp(
                self._ask("inside", n.at + 1, n.end),
                self._ask("inside", n.at + 1, n.middle),
                trees.copied(n.test),
            )
            return ast.If(
                where, [self.statement(s) for s in n.body], [self.statement(s) for s in n.orelse]
            )
        body = [self.statement(s) for s in n.body]
        if isinstance(n, ast.While):
            inside = self._ask("inside", n.at + 1, n.middle)
            test = trees.copied(n.test)
            if n.orelse:  # where it goes on in the `else`, the condition was false
                in_else = self._ask("inside", n.middle, n.end)
                test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), in_else), test])
            last = [self.statement(s) for s in n.orelse]
            return ast.While(ast.BoolOp(ast.Or(), [inside, test]), body, last)
        over = trees.copied(n.iter)
        if n.orelse:  # where it goes on in the `else`, no item is left
            over = ast.IfExp(self._ask("inside", n.middle, n.end), ast.Tuple([], ast.Load()), over)
        items = ast.BoolOp(ast.Or(), [self._ask("left", n.at, n.middle), over])
        last = [self.statement(s) for s in n.orelse]
        return ast.For(trees.copied(n.target), items, body, last)


def _located(new, old):
    """The new nodes at the old one's position. What has one holds none that are new."""
    if not hasattr(new, "lineno"):
        ast.copy_location(new, old)
        for child in ast.iter_child_nodes(new):
            _located(child, new if hasattr(new, "lineno") else old)
    return new
