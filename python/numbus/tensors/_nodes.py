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
        node = Node(_name_in(t, writer), t)
        t.__dict__["_node"] = weakref.ref(node), writer
    return node


Tensor.grad_fn = property(_grad_fn)


def _name_in(t, writer):
    """PyTorch's name for what made a tensor."""
    known, at = t.__dict__.get("_function", (None, None))
    if known and writer in (at, -1):  # -1: backward() has let it go
        return known.__name__ + "Backward"
    maker = (t._maker or "copy_slices").strip("_")
    if maker == "getitem" and not _shares(t._array):
        return "IndexBackward0"
    if maker in _REDUCED:
        return _name_of(maker)[:-1] + _REDUCED[maker][t._array.ndim > 0]
    return _name_of(maker)


def _shares(a):
    """Whether an array is a part of other memory."""
    return a.base is not None


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
    "absolute": "Abs", "adaptive_avg_pool2d": "AdaptiveAvgPool2D", "add": "Add", "arccos": "Acos",
    "arcsin": "Asin", "arctan": "Atan", "avg_pool2d": "AvgPool2D", "bagged": "EmbeddingBag",
    "batch_norm": "NativeBatchNorm", "broadcast_to": "Expand", "cat": "Cat",
    "cholesky": "LinalgCholeskyEx", "chunk": "Split", "conv1d": "Convolution",
    "conv2d": "Convolution", "conv3d": "Convolution", "conv_transpose1d": "Convolution",
    "conv_transpose2d": "Convolution", "conv_transpose3d": "Convolution", "copy": "Clone",
    "cosine_similarity": "Sum", "cross": "LinalgCross", "cross_entropy": "NllLoss",
    "det": "LinalgDet", "diag": "DiagEmbed", "divide": "Div", "dropout": "Mul",
    "eigh": "LinalgEigh", "embedding": "Embedding", "fftshift": "Roll", "flattened": "View",
    "float_power": "Pow", "getitem": "Select", "grid_sample": "GridSampler2D",
    "group_norm": "NativeGroupNorm", "hstack": "Cat", "inv": "LinalgInvEx", "irfft": "FftC2R",
    "kl_div": "Mean", "l1_loss": "Mean", "layer_norm": "NativeLayerNorm", "linear": "Addmm",
    "log1p": "Log1P", "logsigmoid": "LogSigmoid", "matmul": "Mm", "matrices_transposed":
    "Transpose", "matrix_exp": "LinalgMatrixExp", "max_pool2d": "MaxPool2DWithIndices",
    "meshgrid": "Expand", "moved": "ToCopy", "movedim": "Permute", "multiply": "Mul",
    "narrow": "Slice", "negative": "Neg", "norm": "LinalgVectorNorm", "normalize": "Div",
    "outer": "Mul", "pad": "ConstantPadNd", "power": "Pow", "prelu": "PreluKernel",
    "relu6": "Hardtanh", "reshape": "View", "reversed_axes": "Permute", "rfft": "FftR2C",
    "rows": "Embedding", "selu": "Elu", "softsign": "Div", "solve": "LinalgSolveEx",
    "square": "Pow", "subtract": "Sub", "svd": "LinalgSvd", "take_along_dim": "Gather",
    "tanhshrink": "Sub", "tensor_split": "Slice", "tile": "Repeat", "true_divide": "Div",
    "unflatten": "View", "unfold": "Im2Col", "vector_norm": "LinalgVectorNorm", "vstack": "Cat",
}  # fmt: skip
# Numbers of nodes by whether the result has dimensions: without and with them.
_REDUCED = {
    "max": "10", "min": "10", "sum": "01", "mean": "01", "prod": "01", "median": "01",
    "clamp": "11", "clip": "11",
}  # fmt: skip
