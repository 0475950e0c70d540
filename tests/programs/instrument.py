"""Programs rewritten: every operation, call and store of them comes to a Run (oracle.py)."""

from __future__ import annotations

import ast
import itertools
import warnings

from . import one_type

ORDERS = ast.Lt, ast.LtE, ast.Gt, ast.GtE


class Instrument(ast.NodeTransformer):
    """Operators and calls go by the functions of a Run."""

    names = one_type.Rewriter()
    within = 0  # how many functions are around what is visited

    def visit_ClassDef(self, node):
        node.decorator_list = []  # of a jitclass
        return node

    def visit_FunctionDef(self, node):
        if node.name == "arguments":
            return node
        self.within += 1
        node = self.generic_visit(node)
        self.within -= 1
        return self.names.function(node)

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self._made(node, "_at", node.value, self._key(node.slice))

    def _key(self, key):
        return ast.Subscript(ast.Name("_key", ast.Load()), key, ast.Load())

    def _made(self, node, function, *args, keywords=()):
        call = ast.Call(ast.Name(function, ast.Load()), list(args), list(keywords))
        return ast.copy_location(call, node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        name = ast.Constant(type(node.op).__name__)
        if isinstance(node.op, ast.Pow) and is_literal(node.right):
            name = ast.Constant("PowLiteral")
        return self._made(node, "_op", name, node.left, node.right)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if any(isinstance(op, ORDERS) for op in node.ops):
            operands = [self._made(v, "_ordered", v) for v in (node.left, *node.comparators)]
            node.left, node.comparators = operands[0], operands[1:]
        elif isinstance(node.ops[0], (ast.In, ast.NotIn)):
            node.left = self._made(node, "_identified", node.left)
        elif isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            operands = [self._made(v, "_equated", v) for v in (node.left, *node.comparators)]
            node.left, node.comparators = operands[0], operands[1:]
        if len(node.ops) == 1:
            node = self._equality(node)
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ORDERS):
                name = ast.Constant(type(node.ops[0]).__name__)
                return self._made(node, "_order", name, node.left, node.comparators[0])
            return node
        names = ast.Constant(tuple(type(op).__name__ for op in node.ops))
        return self._made(node, "_chain", names, node.left, *map(self._later, node.comparators))

    def _equality(self, node):
        """== and != of a name that may hold None; the operands stand within _equated."""
        if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            return node
        sides = [node.left, node.comparators[0]]
        written = [side.args[0] for side in sides]
        if not any(isinstance(w, ast.Name) for w in written):
            return node
        names = [ast.Constant(w.id if isinstance(w, ast.Name) else None) for w in written]
        op = ast.Constant(type(node.ops[0]).__name__)
        found = ast.Constant(False) if not self.within else ast.Name("_f", ast.Load())
        return self._made(node, "_equals", op, found, names[0], sides[0], names[1], sides[1])

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        return self._made(node, "_un", ast.Constant(type(node.op).__name__), node.operand)

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.iter = self._made(node.iter, "_over", node.iter)
        return node

    def _later(self, node):
        nothing = ast.arguments([], [], None, [], [], None, [])
        return ast.copy_location(ast.Lambda(nothing, node), node)

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        stop = ast.Constant(isinstance(node.op, ast.Or))
        decided, constants = ast.Constant(tuple(node.decided)), self._constants(node.values)
        sides = map(self._later, node.values)
        names = ast.Constant(tuple(v.id if isinstance(v, ast.Name) else None for v in node.values))
        found = ast.Constant(False) if not self.within else ast.Name("_f", ast.Load())
        return self._made(node, "_either", stop, decided, constants, found, names, *sides)

    def _constants(self, nodes):
        return ast.Constant(tuple(map(one_type.is_constant, nodes)))

    def visit_List(self, node):
        self.generic_visit(node)
        plain = isinstance(node.ctx, ast.Load) and not any(
            isinstance(e, ast.Starred) for e in node.elts
        )
        return self._made(node, "_list", *node.elts) if plain else node

    def visit_Dict(self, node):
        self.generic_visit(node)
        if None in node.keys:
            return self._made(node, "_dict", node)
        entries = itertools.chain.from_iterable(zip(node.keys, node.values, strict=True))
        return self._made(node, "_entries", *entries)

    def visit_DictComp(self, node):
        self.generic_visit(node)
        return self._made(node, "_dict", node)

    def visit_IfExp(self, node):
        self.generic_visit(node)
        sides = self._later(node.body), self._later(node.orelse)
        decided, constants = ast.Constant(node.decided), self._constants([node.body, node.orelse])
        return self._made(node, "_choose", node.test, decided, constants, *sides)

    def visit_Call(self, node):
        self.generic_visit(node)
        extreme = isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
        if extreme and not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args):
            constants = self._constants(node.args)
            which = "_merge_extreme" if hasattr(node, "parallel") else "_extreme"
            return self._made(node, which, constants, node.func, *node.args)
        return self._made(node, "_call", node.func, *node.args, keywords=node.keywords)

    def visit_ExceptHandler(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(self._made(node, "_unless_none")), node))
        return node

    def visit_Delete(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        change = self._made(node, "_delete", target.value, self._key(target.slice))
        return ast.copy_location(ast.Expr(change), node)

    def visit_With(self, node):
        return node  # objmode: Python's own numbers, which have no end

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript):
            key = self._key(target.slice)
            change = self._made(node, "_store", node.value, target.value, key)
            return ast.copy_location(ast.Expr(change), node)
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [self._made(node, "_tick"), node.test])
        return node

    def visit_For(self, node):
        """A list that grows while it is iterated over has no end."""
        if isinstance(node.iter, ast.Call) and getattr(node.iter.func, "id", "") == "prange":
            for n in node.body:
                if not isinstance(n, ast.Assign):
                    n.parallel = True
                elif isinstance(n.targets[0], ast.Name):
                    n.value.parallel = True
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(self._made(node, "_tick")), node))
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        name = ast.Constant(type(node.op).__name__)
        if isinstance(node.target, ast.Name):
            old = ast.Name(node.target.id, ast.Load())
            which = "_merge" if hasattr(node, "parallel") else "_iop"
            value = self._made(node, which, name, old, node.value)
            return ast.copy_location(ast.Assign([node.target], value), node)
        if isinstance(node.target, ast.Subscript):
            key = self._key(node.target.slice)
            later = self._later(node.value)
            change = self._made(node, "_iat", name, node.target.value, key, later)
            return ast.copy_location(ast.Expr(change), node)
        return node


def is_literal(node) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant)


def instrumented(text: str):
    """The code that a Run executes, and whether the compiler may decide a test of it."""
    warnings.simplefilter("ignore", SyntaxWarning)
    tree = ast.parse(text)
    constants = one_type.Constants()
    constants.visit(tree)
    tree = ast.fix_missing_locations(Instrument().visit(tree))
    return compile(tree, "<oracle>", "exec"), constants.any
