"""Makes a failing program small: fewer statements, no loops, operands in place of expressions."""

from __future__ import annotations

import ast
import copy

import shrink
from shrink import operands

NAMES = ("xp", "np", "fn", "rnd", "obs", "err", "flush")  # of no values


def minimise(text: str, fails, budget: int = 600) -> str:
    """The smallest text found that still fails; `fails(text)` runs a candidate."""
    steps = (delete_statements, simplify_loops, fold_aliases, simplify_expressions)
    return shrink.shrink(text, steps, fails, budget)


def bodies(tree):
    """Every list of statements in the tree; none may be empty."""
    found = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    return [(body, False) for body in found]


def delete_statements(tree, attempt, left):
    return shrink.delete_statements(tree, attempt, left, bodies)


def simplify_loops(tree, attempt, left):
    did = False
    for i in range(len(tree.body) - 1, -1, -1):
        if not isinstance(tree.body[i], ast.For) or left[0] <= 0:
            continue
        candidate = copy.deepcopy(tree)
        candidate.body[i : i + 1] = candidate.body[i].body
        if attempt(candidate):
            tree, did = candidate, True
            continue
        if tree.body[i].iter.args[0].value > 2:
            candidate = copy.deepcopy(tree)
            candidate.body[i].iter.args[0].value = 2
            if attempt(candidate):
                tree, did = candidate, True
    return tree, did


class Rename(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Name(self, node):
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


def fold_aliases(tree, attempt, left):
    """`b = a`: call b a from there on."""
    did = False
    for i in range(len(tree.body) - 1, -1, -1):
        stmt = tree.body[i]
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Name) and left[0] > 0:
            if isinstance(stmt.targets[0], ast.Name):
                candidate = copy.deepcopy(tree)
                del candidate.body[i]
                candidate = Rename(stmt.targets[0].id, stmt.value.id).visit(candidate)
                if attempt(candidate):
                    tree, did = candidate, True
    return tree, did


def is_data(node) -> bool:
    """rnd(…), xp.array(rnd(…)), a negative literal: parts of the input, not of the computation."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Call) and (
        getattr(node.func, "id", "") == "rnd"
        or getattr(node.func, "attr", "") in ("array", "asarray", "zeros", "ones", "full")
    )


def slots(tree):
    """(parent, field, position) of every expression that could be replaced."""
    found = []
    for parent in ast.walk(tree):
        if is_data(parent):
            continue
        for name, value in ast.iter_fields(parent):
            items = value if isinstance(value, list) else [value]
            for i, item in enumerate(items):
                if isinstance(item, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.Subscript)):
                    if is_data(item):
                        continue
                    loads = not isinstance(getattr(item, "ctx", ast.Load()), ast.Store)
                    if loads:
                        found.append((parent, name, i if isinstance(value, list) else None))
    return found


def parts(node):
    """What an expression may become: its operands, but for calls of the program's own functions."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return []
    return operands(node, NAMES)


def simplify_expressions(tree, attempt, left):
    return shrink.replace_expressions(tree, attempt, left, slots, parts)
