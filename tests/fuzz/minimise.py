"""Makes a failing program small: fewer statements, no loops, operands in place of expressions."""

from __future__ import annotations

import ast
import copy


def minimise(text: str, fails, budget: int = 600) -> str:
    """The smallest text found that still fails; `fails(text)` runs a candidate."""
    tree = ast.parse(text)
    left = [budget]

    def attempt(candidate: ast.Module) -> bool:
        left[0] -= 1
        try:
            return bool(candidate.body) and bool(fails(ast.unparse(candidate)))
        except Exception:
            return False

    changed = True
    while changed and left[0] > 0:
        changed = False
        for step in (delete_statements, simplify_loops, fold_aliases, simplify_expressions):
            tree, did = step(tree, attempt, left)
            changed |= did
    return ast.unparse(tree)


def blocks(tree):
    """Every list of statements in the tree."""
    return [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]


def delete_statements(tree, attempt, left):
    did = False
    for b in range(len(blocks(tree))):
        size = max(1, len(blocks(tree)[b]) // 2) if b < len(blocks(tree)) else 0
        while size >= 1:
            i = (len(blocks(tree)[b]) if b < len(blocks(tree)) else 0) - size
            while i >= 0 and left[0] > 0:
                candidate = copy.deepcopy(tree)
                body = blocks(candidate)[b]
                if len(body) > size or b == 0:
                    del body[i : i + size]
                    if body and attempt(candidate):
                        tree, did = candidate, True
                i -= size
            size //= 2
    return tree, did


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


def operands(node):
    out = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            continue
        if isinstance(child, ast.Attribute) and isinstance(node, ast.Call):
            child = child.value
        if isinstance(child, ast.Name) and child.id in (
            "xp",
            "np",
            "fn",
            "rnd",
            "obs",
            "err",
            "flush",
        ):
            continue
        if isinstance(child, ast.expr) and not isinstance(child, (ast.Slice, ast.Tuple)):
            out.append(child)
    return out


def simplify_expressions(tree, attempt, left):
    did, at = False, 0
    while at < len(slots(tree)) and left[0] > 0:
        parent, name, i = slots(tree)[at]
        node = getattr(parent, name) if i is None else getattr(parent, name)[i]
        helper = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        for k in range(0 if helper else len(operands(node))):
            candidate = copy.deepcopy(tree)
            parent, name, i = slots(candidate)[at]
            node = getattr(parent, name) if i is None else getattr(parent, name)[i]
            child = operands(node)[k]
            if i is None:
                setattr(parent, name, child)
            else:
                getattr(parent, name)[i] = child
            if attempt(candidate):
                tree, did = candidate, True
                break
        else:
            at += 1
    return tree, did
