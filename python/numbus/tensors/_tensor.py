"""The class Tensor: an array with PyTorch's methods and a record of how it came to be."""

import numpy

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.operands import to_ndarray
from . import _dtypes


class Tensor(_core.TensorBase):
    """An array that can require a gradient; PyTorch's names and semantics.

    Tensors are made by `tensor`, `zeros`, … and by operations on tensors. The elements lie in an
    array of Numbus, which views share: what is written to one is seen by the other. Where an
    operand requires a gradient, operations are recorded, and `backward()` adds the derivative of a
    number to the `grad` of each tensor that `requires_grad` was set of.
    """

    __slots__ = ("__dict__", "__weakref__")

    # NumPy leaves operators with tensors to them.
    __array_ufunc__ = None

    def __new__(cls, *data, device=None):
        """`Tensor(data)`: of the default floating-point dtype; `Tensor(3, 4)`: zeros of sizes."""
        sizes = data[0] if len(data) == 1 and hasattr(data[0], "numel") else data
        if isinstance(sizes, Tensor):
            a = sizes._array
        elif all([type(n) is int for n in sizes]):
            a = _core.filled_like(_core.empty(tuple(sizes) if data else (0,),
                                              _dtypes.default_float()), 0)  # fmt: skip
        elif len(data) == 1:
            a = to_ndarray(data[0]).astype(_dtypes.default_float())
        else:
            raise TypeError(
                message("Tensor", "neither data nor sizes", data, "one sequence, or integers")
            )
        return _core.new_tensor(cls, a if device is None else a.to_device(str(device)))

    @property
    def requires_grad(self):
        """Whether operations on it are recorded."""
        return self._requires

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Has the derivative by this tensor found by `backward()`, or no longer.

        Raises RuntimeError for integers, and where it is to be switched off of a result.
        """
        if requires_grad:
            if kind_of(self._array.dtype) not in "fc":
                raise RuntimeError(
                    message("requires_grad_", "only tensors of floating-point and complex dtype can"
                            " require gradients", self._array.dtype, "a floating-point dtype")
                )  # fmt: skip
            if not self.requires_grad:
                if _shows_one_twice(self._array) or (
                    self._constant and self._active and not _is_beside_leaves(self)
                ):
                    # Its elements are those of another tensor that requires a gradient.
                    self._array = constant_copy(self._array)
                if not self._active:
                    _core.alone_in_memory(self)
                self._constant = False
                _core.tape_watch(self._array)
                self._leaf = True
                _leaves.setdefault(self._base, []).append(_weak(self))
        elif self.requires_grad:
            if not self._leaf:
                raise RuntimeError(
                    message("requires_grad_", "a result cannot stop requiring a gradient",
                            "a tensor made by an operation", "x.detach()")
                )  # fmt: skip
            self._leaf = False
            self._constant = True
            _forget(self)
        return self

    @property
    def is_leaf(self):
        """Whether no recorded operation made it."""
        return self._leaf or not self.requires_grad

    @property
    def grad(self):
        """The derivative that `backward()` has found so far; None: none."""
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(
                    message("grad", "not a tensor", type(value).__name__, "a Tensor or None")
                )
            if value.shape != self.shape:
                raise RuntimeError(
                    message("grad", "a gradient of another shape", tuple(value.shape),
                            tuple(self.shape))
                )  # fmt: skip
        self._grad = value

    @property
    def data(self):
        """The same elements as a tensor of its own, whose operations are not recorded."""
        return self.detach()

    @data.setter
    def data(self, value):
        leaf = self._leaf
        if leaf:
            _forget(self)
        self._array = value._array
        self._leaf = False
        self._constant = self._active
        if leaf:
            self.requires_grad_()

    def detach(self):
        """The same elements, shared, as a tensor that does not require a gradient."""
        made = wrap(self._array)
        made._constant = True
        return made

    def detach_(self):
        """Has this tensor forget how it was made."""
        if self.requires_grad and not self._leaf:
            self._array = constant_copy(self._array)
        elif self._leaf:
            self.requires_grad_(False)
        return self

    def register_hook(self, hook):
        """Has `hook(grad)` called when the derivative by this tensor is known.

        What it returns, unless None, takes the derivative's place. Returns an object whose
        `remove()` ends that.
        """
        if not self.requires_grad:
            raise RuntimeError(
                message("register_hook", "the tensor does not require a gradient",
                        f"shape {tuple(self.shape)}", "requires_grad=True")
            )  # fmt: skip
        _expect_whole("register_hook", self)
        handle = RemovableHandle(hook)
        if self._leaf:
            if self._hooks is None:
                self._hooks = []
            self._hooks.append(handle)
        elif not tell(self, handle):
            raise RuntimeError(
                message("register_hook", "no operation made the tensor, or it has been let go",
                        f"shape {tuple(self.shape)}", "a leaf, or a result before backward()")
            )  # fmt: skip
        return handle

    def retain_grad(self):
        """Has `backward()` keep the derivative by this result in its `grad`."""
        if not self.requires_grad:
            raise RuntimeError(
                message("retain_grad", "the tensor does not require a gradient",
                        f"shape {tuple(self.shape)}", "requires_grad=True")
            )  # fmt: skip
        if self._leaf or self.retains_grad:
            return
        _expect_whole("retain_grad", self)
        known = _weak(self)

        def keep(g):
            t = known()
            if t is not None:
                t._grad = g if t._grad is None else t._grad + g

        if tell(self, RemovableHandle(keep), last=True):
            self.__dict__["_retains"] = True

    @property
    def retains_grad(self):
        """Whether `retain_grad` was called of a result."""
        return self.__dict__.get("_retains", False)

    @property
    def grad_fn(self):
        """What made it, where it requires a gradient and is no leaf; else None."""
        if self._leaf or not self.requires_grad:
            return None
        return Node(self)


class Node:
    """The operation that made a tensor, as far as one asks for it: a name, a truth value."""

    def __init__(self, tensor):
        self._maker = tensor._maker

    def name(self):
        """PyTorch's name for it, as far as one function here is one there."""
        maker = (self._maker or "copy_slices").strip("_")
        words = _NODES.get(maker) or "".join([w.capitalize() for w in maker.split("_")])
        return words + "Backward0"

    def __repr__(self):
        return f"<{self.name()}>"


# Functions whose nodes PyTorch calls otherwise.
_NODES = {
    "matmul": "Mm", "flatten": "View", "reshape": "View", "linear": "Addmm", "cat": "Cat",
    "conv1d": "Convolution", "conv2d": "Convolution", "cross_entropy": "NllLoss",
    "getitem": "Select", "max_pool2d": "MaxPool2DWithIndices",
}  # fmt: skip


def _is_part(a):
    """Whether an array has some of the elements of its memory only."""
    base = a.base
    return base is not None and base.size * base.itemsize > a.size * a.itemsize


def _shows_one_twice(a):
    """Whether an array shows an element of its memory repeatedly."""
    return any([n > 1 and step == 0 for n, step in zip(a.shape, a.strides, strict=True)])


def _bounds(a):
    """The first byte of an array in its memory and the one after the last."""
    steps = [(n - 1) * step for n, step in zip(a.shape, a.strides, strict=True)]
    low = a._offset + sum([s for s in steps if s < 0])
    return low, a._offset + sum([s for s in steps if s > 0]) + a.itemsize


def _overlap(a, b):
    """Whether two arrays of one memory have an element in common."""
    if not a.size or not b.size:
        return False
    (low, high), (begin, end) = _bounds(a), _bounds(b)
    if high <= begin or end <= low:
        return False
    memory = numpy.empty(max(high, end), "u1")  # never touched
    x, y = (numpy.ndarray(v.shape, f"V{v.itemsize}", memory, v._offset, v.strides) for v in (a, b))
    return numpy.shares_memory(x, y)


def _is_beside_leaves(t):
    """Whether all that is known of a tensor's memory are leaves that have no element of it."""
    leaves = leaves_of(t._base)
    return (
        bool(leaves)
        and _core.tape_writer(t._array) < 0
        and not any([_overlap(t._array, leaf._array) for leaf in leaves])
    )


def _expect_whole(op, t):
    if not t._leaf and _is_part(t._array):
        raise NotImplementedError(
            message(op, "the derivative by a part of another tensor is not yet told apart from that"
                    " by the whole", f"shape {tuple(t.shape)}", "x.clone() of the part")
        )  # fmt: skip


def constant_copy(a):
    """An array's elements in memory of their own, on which nothing depends."""
    with _core.unobserved():
        return _core.copy_of(a)


class RemovableHandle:
    """A hook until it is removed."""

    def __init__(self, hook):
        self.hook = hook

    def remove(self):
        self.hook = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def _weak(t):
    from weakref import ref

    return ref(t)


_leaves = {}  # by the number of their memory: weak references to tensors that gradients are of


def leaves_of(base):
    """The tensors in this memory whose derivative is asked for."""
    found = _leaves.get(base)
    if found is None:
        return []
    alive = [t for t in (known() for known in found) if t is not None and t._leaf]
    if not alive:
        del _leaves[base]
    return alive


def _forget(t):
    found = _leaves.get(t._base, [])
    found[:] = [known for known in found if known() is not None and known() is not t]
    if not found:
        _leaves.pop(t._base, None)
        _core.tape_unwatch(t._array)


def tell(t, handle, last=False):
    """Has a hook called with the derivative by what a result holds now; false: nothing made it.

    One that is to be the last is called after all others, whenever these were registered.
    """
    writer = _core.tape_writer(t._array)
    if writer < 0:
        return False
    known, handles = t.__dict__.get("_told", (-1, None))
    if known == writer:
        handles.append((last, handle))
        handles.sort(key=lambda pair: pair[0])
        return True
    handles = [(last, handle)]
    t.__dict__["_told"] = writer, handles

    def told(g):
        first = g = wrap(g)
        for _, each in list(handles):
            if each.hook is not None:
                made = each.hook(g)
                g = g if made is None else made
        return None if g is first else g._array

    _core.tape_tell(writer, t._array, told)
    return True


_core.set_tensor_type(Tensor)
wrap = _core.wrap_tensor
