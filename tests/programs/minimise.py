"""Makes a failing program small: fewer statements, fewer parameters, operands for expressions."""

from __future__ import annotations

import ast
import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import shrink


def minimise(text: str, fails, budget: int = 400) -> str:
    """The smallest text found that still fails; `fails(text)` runs a candidate."""
    return shrink.shrink(text, (statements, unwrap, parameters, expressions), fails, budget) + "\n"


def bodies(tree):
    """Every list of statements, with whether it may be empty."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                found.append((body, name == "orelse" or isinstance(node, ast.Module)))
    return found


def statements(tree, attempt, left):
    def kept(statement):
        return getattr(statement, "name", "") in ("f", "arguments")

    return shrink.delete_statements(tree, attempt, left, bodies, kept)


def unwrap(tree, attempt, left):
    """A branch or loop becomes what stands in it."""
    did, at = False, 0

    def spots(t):
        return [
            (body, i)
            for body, _ in bodies(t)
            for i, s in enumerate(body)
            if isinstance(s, (ast.If, ast.For, ast.While))
        ]

    while at < len(spots(tree)) and left[0] > 0:
        for part in ("body", "orelse"):
            candidate = copy.deepcopy(tree)
            body, i = spots(candidate)[at]
            inside = getattr(body[i], part)
            head = []
            if isinstance(body[i], ast.For):
                first = ast.Call(ast.Name("next", ast.Load()), [
                    ast.Call(ast.Name("iter", ast.Load()), [body[i].iter], [])], [])  # fmt: skip
                if isinstance(body[i].iter, ast.Call) and isinstance(body[i].target, ast.Name):
                    first = ast.Constant(0)
                head = [ast.Assign([body[i].target], first)]
            if not inside:
                continue
            body[i : i + 1] = head + inside
            if attempt(candidate):
                tree, did = candidate, True
                break
        else:
            at += 1
    return tree, did


def function(tree, name):
    return next(s for s in tree.body if getattr(s, "name", "") == name)


def parameters(tree, attempt, left):
    did = False
    for k in range(len(function(tree, "f").args.args) - 1, -1, -1):
        candidate = copy.deepcopy(tree)
        given = function(candidate, "arguments").body[-1].value
        if not isinstance(given, ast.Tuple) or left[0] <= 0:
            break
        del function(candidate, "f").args.args[k]
        del given.elts[k]
        if attempt(candidate):
            tree, did = candidate, True
    return tree, did


def slots(tree):
    """(parent, field, position) of every expression that could be replaced."""
    found = []
    for parent in ast.walk(tree):
        if getattr(parent, "name", "") == "arguments" and isinstance(parent, ast.FunctionDef):
            continue
        for name, value in ast.iter_fields(parent):
            if name in ("func", "targets", "target", "decorator_list", "ctx", "returns"):
                continue
            items = value if isinstance(value, list) else [value]
            for i, item in enumerate(items):
                if isinstance(item, ast.expr) and not isinstance(item, (ast.Name, ast.Slice)):
                    if isinstance(getattr(item, "ctx", ast.Load()), ast.Load):
                        found.append((parent, name, i if isinstance(value, list) else None))
    return found


def choices(node):
    """What an expression may become."""
    found = [] if isinstance(node, ast.Constant) else shrink.operands(node, ("np", "math"))
    if isinstance(node, ast.Tuple) and len(node.elts) > 0:
        found = list(node.elts)
        if len(node.elts) > 1:
            found += [
                ast.Tuple([e for j, e in enumerate(node.elts) if j != i], ast.Load())
                for i in range(len(node.elts))
            ]
    if isinstance(node, ast.BoolOp):
        found = list(node.values)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        found = [ast.Constant(type(node.value)(v)) for v in (0, 1, 2) if v < abs(node.value)]
    elif not isinstance(node, (ast.Constant, ast.JoinedStr, ast.FormattedValue)):
        found += [ast.Constant(1), ast.Constant(0.5)]
    return [n for n in found if not isinstance(n, ast.Starred)]


def expressions(tree, attempt, left):
    return shrink.replace_expressions(tree, attempt, left, slots, choices)
