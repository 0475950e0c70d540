"""Rules of the compiler, each broken on purpose: the generator must find every one of them.

A mutant changes the tree of a function before the compiler sees it, in the way in which a wrong
rule would compile it.
"""

from __future__ import annotations

import ast


class Faithful(ast.NodeTransformer):
    """No mistake: the control."""


class FloorIsTrunc(Faithful):
    """// rounds towards zero, as C's division."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv):
            quotient = ast.BinOp(node.left, ast.Div(), node.right)
            call = ast.Call(ast.Name("int", ast.Load()), [quotient], [])
            return ast.copy_location(call, node)
        return node


class ChainForgotten(Faithful):
    """a < b < c compares a with b only."""

    def visit_Compare(self, node):
        self.generic_visit(node)
        del node.ops[1:], node.comparators[1:]
        return node


class StepIgnored(Faithful):
    """Slices have no step."""

    def visit_Slice(self, node):
        self.generic_visit(node)
        node.step = None
        return node


class ElseAlways(Faithful):
    """What stands in a loop's else runs after a break, too."""

    def split(self, node):
        self.generic_visit(node)
        if not any(isinstance(inner, ast.Break) for inner in ast.walk(node)):
            return node
        more, node.orelse = node.orelse, []
        return [node, *more]

    visit_For = visit_While = split


class BoolNotValue(Faithful):
    """`a or b` is True or False."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Or):
            call = ast.Call(ast.Name("bool", ast.Load()), [node], [])
            return ast.copy_location(call, node)
        return node


class NegativeIndex(Faithful):
    """Negative literal indices count from one before the end."""

    def visit_Subscript(self, node):
        self.generic_visit(node)
        i = node.slice
        if isinstance(i, ast.UnaryOp) and isinstance(i.op, ast.USub) and (
            isinstance(i.operand, ast.Constant) and i.operand.value > 1
        ):  # fmt: skip
            i.operand.value -= 1
        return node


class BreakIsContinue(Faithful):
    """break goes on with the next iteration."""

    def visit_Break(self, node):
        return ast.copy_location(ast.Continue(), node)


class SwapInOrder(Faithful):
    """a, b = b, a assigns one after the other."""

    def visit_Assign(self, node):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            return [
                ast.copy_location(ast.Assign([t], v), node) for t, v in zip(target.elts, value.elts)
            ]
        return node


class AxisForgotten(Faithful):
    """Functions of arrays take no axis."""

    def visit_Call(self, node):
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg != "axis"]
        return node


class OrEqual(Faithful):
    """>= is >."""

    def visit_GtE(self, node):
        return ast.Gt()


MUTANTS = {
    cls.__name__: cls
    for cls in (Faithful, FloorIsTrunc, ChainForgotten, StepIgnored, ElseAlways, BoolNotValue,
                NegativeIndex, BreakIsContinue, SwapInOrder, AxisForgotten, OrEqual)
}  # fmt: skip


def changes(name: str, text: str) -> bool:
    """Whether the broken rule touches the program."""
    return ast.dump(MUTANTS[name]().visit(ast.parse(text))) != ast.dump(ast.parse(text))


def install(name: str):
    """From now on functions compile by the broken rule."""
    from numbus.kernels import _resolve

    parse = _resolve.parse if not hasattr(install, "parse") else install.parse
    install.parse = parse

    def mutated(function):
        tree = parse(function)
        if "<program " in function.__code__.co_filename:
            tree = ast.fix_missing_locations(MUTANTS[name]().visit(tree))
        return tree

    _resolve.parse = mutated if name else parse
