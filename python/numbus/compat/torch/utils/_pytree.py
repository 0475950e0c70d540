"""torch.utils._pytree, as far as packages use it: dicts, lists and tuples of values."""

from ....core import trees
from ..._missing import missing as _missing

__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only", "tree_unflatten"]


class _Nothing:
    """None as a leaf, which it is in PyTorch's trees."""


def _kept(tree):
    if tree is None:
        return _Nothing
    if isinstance(tree, dict):
        made = {key: _kept(value) for key, value in tree.items()}
        return made if type(tree) is dict else type(tree)(made)
    if isinstance(tree, (list, tuple)):
        parts = [_kept(value) for value in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return tree


class TreeSpec:
    """The form of a tree, and how many leaves it has."""

    def __init__(self, shape, num_leaves):
        self._shape, self.num_leaves = shape, num_leaves


def tree_flatten(tree, is_leaf=None):
    """The leaves, and the form."""
    if is_leaf is not None:
        raise NotImplementedError("[tree_flatten] is_leaf is not yet available; got a function; "
                                  "expected None")  # fmt: skip
    leaves, shape = trees.flatten(_kept(tree))
    return [None if x is _Nothing else x for x in leaves], TreeSpec(shape, len(leaves))


def tree_unflatten(leaves, treespec):
    """The tree of that form with these leaves."""
    return trees.unflatten(treespec._shape, list(leaves))


def tree_leaves(tree):
    """The leaves."""
    return tree_flatten(tree)[0]


def tree_map(func, tree, *rests):
    """The tree with `func` of each leaf, and of those in the same place of others."""
    leaves, shape = tree_flatten(tree)
    others = [tree_leaves(rest) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], shape)


def tree_map_only(type_or_types, func, tree):
    """`tree_map` of leaves of a type; the others stay."""
    return tree_map(lambda x: func(x) if isinstance(x, type_or_types) else x, tree)


def __getattr__(name):
    return _missing("torch.utils._pytree", name)
