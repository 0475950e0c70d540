"""Trees of arrays: dicts, lists, tuples and named tuples, with anything else as leaves."""


def _rebuilt(like, items):
    """A tuple or list of the kind of `like`."""
    if hasattr(like, "_fields"):
        return type(like)(*items)
    return type(like)(items)


def flatten(tree):
    """The leaves of a tree from left to right (of a dict in its own order), and what `unflatten`
    needs to put others in their place. None is a tree without leaves.
    """
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    if tree is None:
        return None
    if isinstance(tree, dict):
        return dict, tree, {key: _flatten(value, leaves) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return list, tree, [_flatten(value, leaves) for value in tree]
    leaves.append(tree)
    return ()


def unflatten(shape, leaves):
    """The tree of that shape with these leaves."""
    rest = iter(leaves)
    made = _unflatten(shape, rest)
    assert next(rest, rest) is rest, "as many leaves as the tree has"
    return made


def _unflatten(shape, rest):
    if shape is None:
        return None
    if shape == ():
        return next(rest)
    kind, like, parts = shape
    if kind is dict:
        made = {key: _unflatten(part, rest) for key, part in parts.items()}
        return made if type(like) is dict else type(like)(made)
    return _rebuilt(like, [_unflatten(part, rest) for part in parts])


def transform(function, tree):
    """The tree with `function` of each leaf in its place."""
    leaves, shape = flatten(tree)
    return unflatten(shape, [function(leaf) for leaf in leaves])
