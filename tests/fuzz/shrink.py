"""Steps that make a program small, whatever it is a program of: fewer statements, smaller parts."""

from __future__ import annotations

import ast
import copy


def shrink(text: str, steps, fails, budget: int) -> str:
    """The smallest text found that still fails; `fails(text)` runs a candidate.

    Each step takes (tree, attempt, left), the last a list of the candidates that are left, and
    gives (tree, whether it is a smaller one).
    """
    tree = ast.parse(text)
    left = [budget]

    def attempt(candidate: ast.Module) -> bool:
        left[0] -= 1
        try:
            candidate = ast.fix_missing_locations(candidate)
            return bool(candidate.body) and bool(fails(ast.unparse(candidate) + "\n"))
        except Exception:
            return False

    changed = True
    while changed and left[0] > 0:
        changed = False
        for step in steps:
            tree, did = step(tree, attempt, left)
            changed |= did
    return ast.unparse(tree)


def delete_statements(tree, attempt, left, bodies, kept=lambda statement: False):
    """Runs of statements are deleted, halves first.

    bodies(tree): every list of statements, with whether it may be empty.
    """
    did, b = False, 0
    while b < len(bodies(tree)):
        size = max(1, len(bodies(tree)[b][0]) // 2)
        while size >= 1 and b < len(bodies(tree)):
            i = len(bodies(tree)[b][0]) - size
            while i >= 0 and left[0] > 0 and b < len(bodies(tree)):
                candidate = copy.deepcopy(tree)
                body, empty = bodies(candidate)[b]
                if any(map(kept, body[i : i + size])):
                    i -= 1
                    continue
                del body[i : i + size]
                if (body or empty) and attempt(candidate):
                    tree, did = candidate, True
                i -= size
            size //= 2
        b += 1
    return tree, did


def replace_expressions(tree, attempt, left, slots, choices):
    """Expressions become what may stand in their place.

    slots(tree): (parent, field, position or None) of each; choices(node): what it may become.
    """
    did, at = False, 0
    while at < len(slots(tree)) and left[0] > 0:
        parent, name, i = slots(tree)[at]
        node = getattr(parent, name) if i is None else getattr(parent, name)[i]
        for choice in choices(node):
            if left[0] <= 0:
                break
            candidate = copy.deepcopy(tree)
            put(slots(candidate)[at], copy.deepcopy(choice))
            if attempt(candidate):
                tree, did = candidate, True
                break
        else:
            at += 1
    return tree, did


def put(slot, node):
    parent, name, i = slot
    if i is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[i] = node


def operands(node, names=()):
    """The parts of an expression that are values; `names` are of none."""
    out = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            continue
        if isinstance(child, ast.Attribute) and isinstance(node, ast.Call):
            child = child.value
        if isinstance(child, ast.Name) and child.id in names:
            continue
        if isinstance(child, ast.expr) and not isinstance(child, (ast.Slice, ast.Tuple)):
            out.append(child)
    return out
