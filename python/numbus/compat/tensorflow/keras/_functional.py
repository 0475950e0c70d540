"""Models of inputs and outputs: tensors without elements, and the layers that they went through."""

import numbus as nb

from ....core import trees
from ....core.errors import message
from .._tensor import Tensor, as_numpy_dtype


class Node:
    """One call of a layer: what it was given, and the symbolic tensors that it gave."""

    def __init__(self, layer, args, keywords, outputs):
        self.layer, self.args, self.keywords, self.outputs = layer, args, keywords, outputs
        nodes = layer.__dict__.setdefault("_nodes", [])
        self.index = len(nodes)
        nodes.append(self)

    def inputs(self):
        """The symbolic tensors among its arguments."""
        leaves = trees.flatten([list(self.args), dict(self.keywords)])[0]
        return [x for x in leaves if isinstance(x, KerasTensor)]


class KerasTensor:
    """The shape and the type of a tensor that a model will have; None: any size."""

    def __init__(self, shape, dtype, name=None):
        self.shape, self.dtype, self.name = tuple(shape), dtype, name
        self.node, self.position = None, 0

    ndim = property(lambda self: len(self.shape))

    def __repr__(self):
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}>"

    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def __iter__(self):
        raise TypeError("Iterating over a symbolic KerasTensor is not supported.")

    def __array__(self, *_args, **_keywords):
        raise ValueError(
            "A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have "
            "any actual numerical value. You cannot convert it to a NumPy array."
        )

    __hash__ = object.__hash__


def is_symbolic(*values):
    """Whether a symbolic tensor is among arguments."""
    return any([isinstance(x, KerasTensor) for x in trees.flatten(list(values))[0]])


def _filled(x, sizes):
    """Zeros in place of a symbolic tensor, of the sizes where any is allowed."""
    if not isinstance(x, KerasTensor):
        return x
    rest = iter(sizes)
    shape = [next(rest) if n is None else n for n in x.shape]
    return Tensor(nb.zeros(shape, as_numpy_dtype(x.dtype)))


def _tried(call, args, keywords, sizes):
    args, keywords = trees.transform(lambda x: _filled(x, sizes), (list(args), dict(keywords)))
    return call(*args, **keywords)


def tried_shape(layer, shape):
    """The shape of a layer's result, None for any size; None where it does not give one tensor."""
    x = KerasTensor(shape, layer.dtype)
    one, other = (_tried(layer, (x,), {}, n) for n in ((2, 3, 5, 7), (3, 5, 7, 11)))
    if not isinstance(one, Tensor) or one.ndim != other.ndim:
        return None
    return tuple([m if m == n else None for m, n in zip(one.shape, other.shape, strict=True)])


def tried_shapes(layer, inputs):
    """The shapes of a layer's results for symbolic tensors, in the structure of these."""
    one, other = (_tried(layer, (inputs,), {}, n) for n in ((2, 3, 5, 7), (3, 5, 7, 11)))
    leaves, shape = trees.flatten(one)
    pairs = zip(leaves, trees.flatten(other)[0], strict=True)
    return trees.unflatten(shape, [
        tuple([m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)])
        for a, b in pairs
    ])  # fmt: skip


def symbolic_call(layer, args, keywords, shape_of=None):
    """The symbolic results of a layer; `shape_of`: its rule of shapes, else it is tried."""
    if shape_of is not None:
        shapes = trees.transform(lambda x: x.shape, args[0])
        made = KerasTensor(shape_of(shapes), layer.dtype)
    else:  # sizes that differ between two trials are those of the inputs
        one = _tried(layer, args, keywords, (2, 3, 5, 7))
        other = _tried(layer, args, keywords, (3, 5, 7, 11))
        leaves, shape = trees.flatten(one)
        pairs = zip(leaves, trees.flatten(other)[0], strict=True)
        made = trees.unflatten(shape, [
            KerasTensor([m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)],
                        a.dtype.name)
            for a, b in pairs
        ])  # fmt: skip
    outputs = trees.flatten(made)[0]
    node = Node(layer, args, keywords, outputs)
    for k, t in enumerate(outputs):
        t.node, t.position = node, k
        t.name = t.name or f"{layer.name}_output"
    return made


class Graph:
    """The calls of layers between inputs and outputs, each after those that it needs."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        self.flat = trees.flatten(inputs)[0]
        known = {id(x) for x in self.flat}
        for x in (*self.flat, *trees.flatten(outputs)[0]):
            if not isinstance(x, KerasTensor):
                raise ValueError(
                    "All `inputs` and `outputs` values must be KerasTensors. Received: "
                    f"{x!r} (of type {type(x)})"
                )
        self.nodes, self._met = [], set()
        depths = {}
        for x in trees.flatten(outputs)[0]:
            self._visit(x, known)
        for node in reversed(self.nodes):
            own = depths.setdefault(id(node), 0)
            for x in () if self._is_given(node, known) else node.inputs():
                depths[id(x.node)] = max(depths.get(id(x.node), 0), own + 1)
        deepest = {}
        for node in self.nodes:
            layer = deepest.setdefault(id(node.layer), [0, node.layer])
            layer[0] = max(layer[0], depths[id(node)])
        self.layers = [x for _, x in sorted(deepest.values(), key=lambda pair: -pair[0])]

    @staticmethod
    def _is_given(node, known):
        return all([id(x) in known for x in node.outputs])

    def _visit(self, x, known):
        node = x.node
        if id(node) in self._met:
            return
        self._met.add(id(node))
        if id(x) not in known:
            if not node.inputs():
                raise ValueError(
                    "`inputs` not connected to `outputs`: the tensor "
                    f"{x!r} is needed, but is no input of the model."
                )
            for y in node.inputs():
                self._visit(y, known)
        self.nodes.append(node)

    def run(self, given, training):
        """The outputs for tensors, in a structure like the inputs, or named as they are."""
        if isinstance(given, dict) and not isinstance(self.inputs, dict):
            given = [given[x.name] for x in self.flat]
        leaves = trees.flatten(given)[0]
        if len(leaves) != len(self.flat):
            raise ValueError(
                message("keras.Model", "another number of inputs", len(leaves), len(self.flat))
            )
        values = {id(x): v for x, v in zip(self.flat, leaves, strict=True)}

        def known_value(x):
            return values[id(x)] if isinstance(x, KerasTensor) else x

        for node in self.nodes:
            if all([id(t) in values for t in node.outputs]):
                continue
            args, keywords = trees.transform(known_value, (list(node.args), dict(node.keywords)))
            if training is not None:
                keywords["training"] = training  # also where a call said otherwise, as Keras has it
            made = trees.flatten(node.layer(*args, **keywords))[0]
            values |= {id(t): v for t, v in zip(node.outputs, made, strict=True)}
        return trees.transform(lambda x: values[id(x)], self.outputs)

    def connections(self, layer):
        """Where the inputs of a layer come from, as `summary` writes it."""
        found = []
        for node in self.nodes:
            if node.layer is layer:
                found += [
                    f"{x.node.layer.name}[{x.node.index}][{x.position}]" for x in node.inputs()
                ]
        return ", ".join(found) or "-"

    def is_chain(self):
        """Whether each layer has one input and one consumer."""
        if len(self.flat) != 1 or len(self.nodes) != len(self.layers):
            return False
        return all([len(node.inputs()) <= 1 for node in self.nodes]) and all(
            [sum([t in n.inputs() for n in self.nodes for t in node.outputs]) <= 1
             for node in self.nodes]
        )  # fmt: skip
