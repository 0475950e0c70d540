"""Generator expressions in calls that loops of scripts may have: sum(x * y for …) and its kin."""

import ast

from . import heads, trees

NAMES = "sum", "min", "max", "any", "all"


def generator(call):
    """The generator expression that a call has as its only argument, or None."""
    args = getattr(call, "args", ())
    return args[0] if len(args) == 1 and isinstance(args[0], ast.GeneratorExp) else None


def is_fold(call):
    """Whether a call is one of these, of an expression of items."""
    g = generator(call)
    if g is None or call.keywords or not isinstance(call.func, ast.Name):
        return False
    return call.func.id in NAMES and is_known_head(g)


def is_known_head(n):
    """Whether a comprehension goes over one thing that loops may go over, too."""
    if len(n.generators) != 1 or n.generators[0].is_async:
        return False
    return heads.range_of(n.generators[0].iter) is not None or heads.over(as_loop(n)) is not None


def own_names(node):
    """The nodes of names in generator expressions that stand for their items."""
    found = set()
    for g in trees.walk(node):
        if isinstance(g, (ast.GeneratorExp, ast.ListComp)):
            names = {x.id for of in g.generators for x in trees.walk(of.target)
                     if isinstance(x, ast.Name)}  # fmt: skip
            parts = [g.elt, *(i for of in g.generators for i in of.ifs)]
            found |= {x for p in parts for x in trees.walk(p)
                      if isinstance(x, ast.Name) and x.id in names}  # fmt: skip
    return found


def as_loop(g):
    """A generator expression as a loop."""
    of = g.generators[0]
    made = ast.copy_location(ast.For(of.target, of.iter, [], []), g)
    made.opaque, made.at = False, 0
    return made
