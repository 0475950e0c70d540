"""jax.tree_util: trees of dicts, lists, tuples, None and registered classes."""

import collections
import functools

from ...core.errors import message
from .._missing import missing as _missing

__name__ = "jax.tree_util"


class _Kind:
    """How a class of containers is taken apart and put together."""

    def __init__(self, parts, build, text):
        self.parts, self.build, self.text = parts, build, text


def _dict_text(keys, items):
    return "{" + ", ".join(f"{k!r}: {v}" for k, v in zip(keys, items, strict=True)) + "}"


def _tuple_text(_, items):
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _sorted_parts(d):
    keys = tuple(sorted(d))
    return [d[k] for k in keys], keys


_KINDS = {
    dict: _Kind(_sorted_parts, lambda k, c: dict(zip(k, c, strict=True)), _dict_text),
    collections.OrderedDict: _Kind(
        lambda d: (list(d.values()), tuple(d)),
        lambda k, c: collections.OrderedDict(zip(k, c, strict=True)),
        _dict_text,
    ),
    collections.defaultdict: _Kind(
        lambda d: (_sorted_parts(d)[0], (d.default_factory, _sorted_parts(d)[1])),
        lambda k, c: collections.defaultdict(k[0], zip(k[1], c, strict=True)),
        lambda k, items: _dict_text(k[1], items),
    ),
    list: _Kind(lambda x: (x, None), lambda _, c: list(c), lambda _, i: f"[{', '.join(i)}]"),
    tuple: _Kind(lambda x: (x, None), lambda _, c: tuple(c), _tuple_text),
    type(None): _Kind(lambda x: ((), None), lambda _, c: None, lambda _, i: "None"),
}
_NAMED = _Kind(
    lambda x: (tuple(x), type(x)),
    lambda kind, c: kind(*c),
    lambda kind, items: f"{kind.__name__}({', '.join(items)})",
)


def _kind_of(x):
    found = _KINDS.get(type(x))
    if found is None and isinstance(x, tuple) and hasattr(x, "_fields"):
        return _NAMED
    return found


class PyTreeDef:
    """The form of a tree without its leaves."""

    def __init__(self, kind, data, children):
        self._kind, self._data, self._children = kind, data, children
        self.num_leaves = 1 if kind is None else sum(c.num_leaves for c in children)

    @property
    def num_nodes(self):
        return 1 + sum(c.num_nodes for c in self._children)

    def children(self):
        """The forms of the children."""
        return list(self._children)

    def unflatten(self, leaves):
        """The tree of this form with these leaves. Raises ValueError for another number."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            few = "Too few" if len(leaves) < self.num_leaves else "Too many"
            raise ValueError(
                f"{few} leaves for PyTreeDef; expected {self.num_leaves}, got {len(leaves)}"
            )
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self._kind is None:
            return next(leaves)
        return self._kind.build(self._data, [c._built(leaves) for c in self._children])

    def flatten_up_to(self, tree):
        """The subtrees that stand where this form has leaves. Raises ValueError where the tree has
        another form above them.
        """
        found = []
        self._matched(tree, found)
        return found

    def _matched(self, tree, found):
        if self._kind is None:
            found.append(tree)
            return
        kind = _kind_of(tree)
        if kind is not self._kind:
            raise ValueError(
                message("tree_map", "trees of different forms", type(tree).__name__, str(self))
            )
        parts, data = kind.parts(tree)
        if data != self._data or len(parts) != len(self._children):
            raise ValueError(
                message("tree_map", "trees of different forms",
                        f"{len(parts)} children with {data}",
                        f"{len(self._children)} children with {self._data}")
            )  # fmt: skip
        for part, child in zip(parts, self._children, strict=True):
            child._matched(part, found)

    def __eq__(self, other):
        return (
            isinstance(other, PyTreeDef)
            and (self._kind, self._data, self._children)
            == (other._kind, other._data, other._children)
        )  # fmt: skip

    def __hash__(self):
        return hash((self._kind, self.num_leaves, len(self._children)))

    def _text(self):
        if self._kind is None:
            return "*"
        return self._kind.text(self._data, [c._text() for c in self._children])

    def __repr__(self):
        return f"PyTreeDef({self._text()})"


_LEAF = PyTreeDef(None, None, ())


def _taken_apart(tree, leaves, is_leaf, path=None):
    kind = None if is_leaf is not None and is_leaf(tree) else _kind_of(tree)
    if kind is None:
        leaves.append(tree if path is None else (path, tree))
        return _LEAF
    parts, data = kind.parts(tree)
    keys = _keys(tree, parts) if path is not None else (None,) * len(parts)
    children = [
        _taken_apart(part, leaves, is_leaf, None if path is None else (*path, key))
        for part, key in zip(parts, keys, strict=True)
    ]
    return PyTreeDef(kind, data, tuple(children))


def _keys(tree, parts):
    if isinstance(tree, dict):
        return [DictKey(k) for k in (sorted(tree) if type(tree) is not collections.OrderedDict
                                     else tree)]  # fmt: skip
    if hasattr(tree, "_fields"):
        return [GetAttrKey(name) for name in tree._fields]
    if isinstance(tree, (list, tuple)):
        return [SequenceKey(k) for k in range(len(parts))]
    return [FlattenedIndexKey(k) for k in range(len(parts))]


def _key_class(name, field, text):
    def shown(self):
        return text.format(getattr(self, field))

    made = collections.namedtuple(name, field)
    made.__str__ = shown
    return made


DictKey = _key_class("DictKey", "key", "[{!r}]")
SequenceKey = _key_class("SequenceKey", "idx", "[{!r}]")
GetAttrKey = _key_class("GetAttrKey", "name", ".{}")
FlattenedIndexKey = _key_class("FlattenedIndexKey", "key", "[<flat index {}>]")


def keystr(keys):
    """A path as text, such as ['a'][0]."""
    return "".join(map(str, keys))


def tree_flatten(tree, is_leaf=None):
    """The leaves of a tree and its form. Entries of dicts are taken in the order of their keys."""
    leaves = []
    return leaves, _taken_apart(tree, leaves, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """Pairs of paths and leaves, and the form."""
    leaves = []
    return leaves, _taken_apart(tree, leaves, is_leaf, ())


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of paths and leaves."""
    return tree_flatten_with_path(tree, is_leaf)[0]


def tree_unflatten(treedef, leaves):
    """The tree of a form with these leaves."""
    return treedef.unflatten(leaves)


def tree_leaves(tree, is_leaf=None):
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The form of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f, tree, *rest, is_leaf=None):
    """The tree of `f` of each leaf, and of what stands at its place in the `rest`."""
    leaves, form = tree_flatten(tree, is_leaf)
    others = [form.flatten_up_to(other) for other in rest]
    return form.unflatten([f(*xs) for xs in zip(leaves, *others, strict=True)])


def tree_map_with_path(f, tree, *rest, is_leaf=None):
    """As `tree_map`; `f` gets the path first."""
    pairs, form = tree_flatten_with_path(tree, is_leaf)
    others = [form.flatten_up_to(other) for other in rest]
    return form.unflatten([
        f(path, leaf, *xs) for (path, leaf), *xs in zip(pairs, *others, strict=True)
    ])  # fmt: skip


_NOTHING = object()


def tree_reduce(function, tree, initializer=_NOTHING, is_leaf=None):
    """`functools.reduce` over the leaves."""
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NOTHING:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_all(tree, *, is_leaf=None):
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """A tree of trees of equal forms, turned inside out."""
    flat = [tree_leaves(part) for part in outer_treedef.flatten_up_to(pytree_to_transpose)]
    columns = [outer_treedef.unflatten(same) for same in zip(*flat, strict=True)]
    return inner_treedef.unflatten(columns)


def treedef_is_leaf(treedef):
    """Whether a form is one leaf."""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def all_leaves(iterable, is_leaf=None):
    """Whether all items are leaves."""
    return all((is_leaf is not None and is_leaf(x)) or _kind_of(x) is None for x in iterable)


def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None):
    """Makes a class one of containers: `flatten_func` gives its children and anything else,
    `unflatten_func` makes it of what else and children. Raises ValueError for a known class.
    """
    if flatten_with_keys_func is not None:
        raise NotImplementedError(
            message("register_pytree_node", "keys are not yet available",
                    "flatten_with_keys_func", "None")
        )  # fmt: skip
    if nodetype in _KINDS:
        raise ValueError(f"Duplicate custom PyTreeDef type registration for {nodetype}.")
    _KINDS[nodetype] = _Kind(
        flatten_func,
        unflatten_func,
        lambda data, items: f"CustomNode({nodetype.__name__}[{data}], [{', '.join(items)}])",
    )


def register_pytree_node_class(cls):
    """The same, as a decorator: of methods `tree_flatten` and `tree_unflatten`."""
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()):
    """Makes a dataclass one of containers, whose children are its `data_fields`."""
    import dataclasses

    names = [f.name for f in dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
    if data_fields is None:
        static = [f.name for f in dataclasses.fields(nodetype) if f.metadata.get("static")]
        data_fields = [n for n in names if n not in static]
        meta_fields = [n for n in names if n in static]
    data_fields, meta_fields = tuple(data_fields), tuple(meta_fields or ())

    def build(meta, children):
        return nodetype(**dict(zip(data_fields, children, strict=True)),
                        **dict(zip(meta_fields, meta, strict=True)))  # fmt: skip

    register_pytree_node(
        nodetype,
        lambda x: ([getattr(x, n) for n in data_fields], tuple(getattr(x, n) for n in meta_fields)),
        build,
    )
    return nodetype


class Partial(functools.partial):
    """A partial call that is a container of its arguments."""


register_pytree_node(
    Partial, lambda p: ((p.args, p.keywords), p.func), lambda func, c: Partial(func, *c[0], **c[1])
)


def __getattr__(name):
    return _missing("jax.tree_util", name)
