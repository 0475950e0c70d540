"""`grad_fn`: the operations that made a tensor, as programs walk and print them."""

import weakref

from .. import _core
from ..core.errors import message
from ._tensor import Tensor, is_view, leaves_of


class Node:
    """The operation that made a tensor: its name, and the operations that made its operands."""

    def __init__(self, name, tensor=None, following=None):
        self._tensor, self._following = tensor, following
        # Programs that walk a graph read the class's name.
        if name not in _classes:
            _classes[name] = type(name, (Node,), {})
        self.__class__ = _classes[name]

    def name(self):
        """PyTorch's name for it, as far as one operation here is one there."""
        return type(self).__name__

    def __repr__(self):
        return f"<{self.name()} object at {id(self):#x}>"

    @property
    def next_functions(self):
        """A pair for each operand: the node that made it, or None, and a number, here 0.

        Leaves are made by nodes of the class AccumulateGrad, whose `variable` they are. Nodes are
        what is recorded here: a loss that is made of three operations is three nodes, and what
        only shows a tensor otherwise is none but for the tensor asked. RuntimeError where
        `backward()` has let the operations go.
        """
        if self._following is None:
            self._following = _operands_of(self._tensor, self.name())
            self._tensor = None
        return self._following


def _grad_fn(t):
    """What made it, where it requires a gradient and is no leaf; else None."""
    if t._leaf or not t.requires_grad:
        return None
    writer = _core.tape_writer(t._array)
    known, at = t.__dict__.get("_node", (None, None))
    node = known() if at == writer and known else None
    if node is None:
        node = Node(_name_of(t._maker or "copy_slices"), t)
        t.__dict__["_node"] = weakref.ref(node), writer
    return node


Tensor.grad_fn = property(_grad_fn)


def _name_of(maker):
    maker = maker.strip("_")
    if maker == "copy_slices":
        return "CopySlices"
    words = _NAMES.get(maker) or "".join([w.capitalize() for w in maker.split("_")])
    return words + "Backward0"


def _leaf(base, name):
    """The node of the leaf in this memory."""
    for t in leaves_of(base):
        known = t.__dict__.get("_accumulate")
        node = known() if known else None
        if node is None:
            node = Node("AccumulateGrad", following=())
            node.variable = t
            t.__dict__["_accumulate"] = weakref.ref(node)
        return node
    raise RuntimeError(
        message("next_functions", "operations that made the tensor have been let go", name,
                "a tensor before backward(), or backward(retain_graph=True)")
    )  # fmt: skip


def _operands_of(t, name):
    graph = _core.tape_graph()
    last = -1
    for number, (_, results, _) in enumerate(graph):
        if t._base in results:
            last = number

    def past_copies(number):
        # A copy of all elements is no operation to programs.
        while number >= 0 and graph[number][0] == "cast" and len(graph[number][2]) == 1:
            base, number = graph[number][2][0]
            if number < 0:
                return base, number
        return None, number

    made = {}

    def node_of_operand(of):
        base, number = past_copies(of[1])
        return made[number] if number >= 0 else _leaf(base or of[0], name)

    top = past_copies(last)[1] if is_view(t) else last
    waiting = [top]
    while waiting:
        number = waiting.pop()
        if number >= 0 and number not in made:
            title = graph[number][0]
            made[number] = Node("CopySlices" if title == "cast" else _name_of(title))
            waiting += [past_copies(of[1])[1] for of in graph[number][2] if of]
    for number, node in made.items():
        node._following = tuple(
            [(node_of_operand(of) if of else None, 0) for of in graph[number][2]]
        )
    if last < 0 or is_view(t):
        return ((node_of_operand((t._base, last)), 0),)
    return made[last]._following


_classes = {}
# Functions, and operations of arrays, whose nodes PyTorch calls otherwise.
_NAMES = {
    "absolute": "Abs", "add": "Add", "arccos": "Acos", "arcsin": "Asin", "arctan": "Atan",
    "cat": "Cat", "conv1d": "Convolution", "conv2d": "Convolution", "copy": "Clone",
    "cross_entropy": "NllLoss", "divide": "Div",
    "true_divide": "Div", "flattened": "View", "getitem": "Select", "linear": "Addmm",
    "matmul": "Mm", "max_pool2d": "MaxPool2DWithIndices", "multiply": "Mul", "negative": "Neg",
    "power": "Pow", "reshape": "View", "subtract": "Sub",
}  # fmt: skip
