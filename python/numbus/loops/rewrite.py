"""The source of a module with its loops in a form that code of ours can take over, and give back
at any statement.

    for i in range(n): BODY

becomes

    for i in __numbus_loop__(7, range(n)): BODY      # ends early
    else:
        if __numbus_ended__(7):
            for i, x, y in __numbus_after__(7):      # names are written back
                what is left of an iteration, from any statement on
            else:
                for i in __numbus_rest__(7): BODY

`while c:` is `for () in __numbus_loop__(7, None): if not c: break`. No name is added to the
program's; every copy of a statement has its line.
"""

import ast
import copy

from . import run, select

LOOP, ENDED, AFTER, REST = (
    "__numbus_loop__",
    "__numbus_ended__",
    "__numbus_after__",
    "__numbus_rest__",
)
AT, IN, LEFT, GONE = "__numbus_at__", "__numbus_in__", "__numbus_left__", "__numbus_gone__"


def _call(name, *args):
    args = [a if isinstance(a, ast.AST) else ast.Constant(a) for a in args]
    return ast.Call(ast.Name(name, ast.Load()), args, [])


def _set(name_or_tuple):
    return copy.deepcopy(name_or_tuple)


def _nothing():
    return ast.Tuple([], ast.Store())


class Rewriter(ast.NodeTransformer):
    """Rewrites the loops of functions and of the module itself."""

    def __init__(self, source, file):
        text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
        self._lines = text.splitlines()
        self._file = file

    def visit_ClassDef(self, node):
        node.body = [self.visit(n) if isinstance(n, ast.FunctionDef) else n for n in node.body]
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
        why = select.why_not(node)
        if why is not None:
            run.note_refused(self._file, node.lineno, why)
            return self.generic_visit(node)
        original = copy.deepcopy(node)
        select.number(original)
        names = select.assigned(original)
        number = run.add_loop(original, names, self._file)
        node.body = [self.visit(n) for n in node.body]
        made = self._rewritten(node, original, number, names)
        return _located(made, node)

    def _line(self, n):
        return self._lines[n - 1] if n <= len(self._lines) else ""

    def _rewritten(self, node, original, number, names):
        plain = [copy.deepcopy(n) for n in original.body]
        live = ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())
        gone = [
            ast.If(_call(GONE, number, k), [ast.Delete([ast.Name(n, ast.Del())])], [])
            for k, n in enumerate(names)
        ]
        resumed = [ast.If(_call(GONE, number, -1), gone, []), *_Resumed(number).block(original)]
        if isinstance(node, ast.For):
            target, over, first = node.target, node.iter, []
        else:
            target, over = _nothing(), ast.Constant(None)
            first = [ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])]
            for n in first:
                _located(n, node)
        rest = ast.For(_set(target), _call(REST, number), [*copy.deepcopy(first), *plain], [])
        after = ast.For(live, _call(AFTER, number), resumed, [rest])
        return ast.For(
            target,
            _call(LOOP, number, over),
            [*first, *node.body],
            [ast.If(_call(ENDED, number), [after], [])],
        )


class _Resumed:
    """The body of a loop that can be entered at each of its statements."""

    def __init__(self, number):
        self._number = number

    def _ask(self, what, *args):
        return _call(what, self._number, *args)

    def block(self, loop):
        body = []
        if isinstance(loop, ast.While):
            leave = ast.If(ast.UnaryOp(ast.Not(), copy.deepcopy(loop.test)), [ast.Break()], [])
            leave = _located(leave, loop)
            body.append(_located(ast.If(self._ask(AT, loop.at, loop.at + 1), [leave], []), loop))
        return body + [self.statement(n) for n in loop.body]

    def statement(self, n):
        if isinstance(n, (ast.If, ast.For, ast.While)) and not n.opaque:
            inner = self._compound(n)
        else:
            inner = copy.deepcopy(n)
        return _located(ast.If(self._ask(AT, n.at, n.end), [inner], []), n)

    def _compound(self, n):
        if isinstance(n, ast.If):
            where = ast.IfExp(
                self._ask(IN, n.at + 1, n.end),
                self._ask(IN, n.at + 1, n.middle),
                copy.deepcopy(n.test),
            )
            return ast.If(
                where, [self.statement(s) for s in n.body], [self.statement(s) for s in n.orelse]
            )
        body = [self.statement(s) for s in n.body]
        if isinstance(n, ast.While):
            again = ast.BoolOp(ast.Or(), [self._ask(IN, n.at + 1, n.end), copy.deepcopy(n.test)])
            return ast.While(again, body, [])
        items = ast.BoolOp(ast.Or(), [self._ask(LEFT, n.at, n.end), copy.deepcopy(n.iter)])
        return ast.For(copy.deepcopy(n.target), items, body, [])


def _located(new, old):
    """The new nodes at the old one's position, where they have none."""
    if not hasattr(new, "lineno"):
        ast.copy_location(new, old)
    for child in ast.iter_child_nodes(new):
        _located(child, new if hasattr(new, "lineno") else old)
    return new
