"""The class Tensor: an array with PyTorch's methods and a record of how it came to be."""

import numpy

from .. import _core
from ..core import fallback
from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.host import on_host
from ..core.operands import on_its_memory, to_ndarray
from . import _dtypes


class MissingMethod(AttributeError, NotImplementedError):
    """A method that tensors have not, or not yet: to programs, one that is not there."""


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
        if cls is not Tensor and hasattr(cls, "__torch_function__"):
            raise NotImplementedError(
                message("Tensor", "functions do not ask classes of tensors for"
                        " __torch_function__ yet", cls.__name__, "a class that holds a tensor")
            )  # fmt: skip
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

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        file, line = fallback.caller()
        raise MissingMethod(
            message("Tensor", "a tensor has no such attribute, or has it not yet",
                    f"{name} at {file}:{line}", "another way to write it")
        )  # fmt: skip

    @property
    def requires_grad(self):
        """Whether operations on it are recorded."""
        return self._requires

    @requires_grad.setter
    def requires_grad(self, value):
        if value and self.requires_grad and not self._leaf:
            raise RuntimeError(
                message("requires_grad", "a result's flag cannot be set, only of leaf variables",
                        "a tensor made by an operation", "a leaf, or retain_grad()")
            )  # fmt: skip
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
        elif self.requires_grad:
            if not self._leaf:
                raise RuntimeError(
                    message("requires_grad_", "a result cannot stop requiring a gradient",
                            "a tensor made by an operation", "x.detach()")
                )  # fmt: skip
            self._leaf = False
            self._constant = True
            _forget(self)
            forget_former(self)
        return self

    @property
    def is_leaf(self):
        """Whether no recorded operation made it."""
        return self._leaf or not self.requires_grad

    @property
    def data(self):
        """The same elements as a tensor of its own, whose operations are not recorded."""
        return self.detach()

    @data.setter
    def data(self, value):
        if _is_same_part(self._array, value._array):
            return
        leaf = self._leaf
        if not leaf and self.requires_grad:
            raise NotImplementedError(
                message("data", "other elements under a result's derivatives are not there yet",
                        f"shape {tuple(self.shape)}", "a leaf, or another name for what is given")
            )  # fmt: skip
        if leaf:
            _expect_second_name(self, value)
            _leave(self)
        self._array = value._array
        self._leaf = False
        self._constant = self._active
        if leaf:
            if _was_of(self, self._array, self._base):
                del _former[self._base]
                self._constant, self._leaf = False, True
                _core.tape_watch(self._array)
                return
            if self._constant and not _is_beside_leaves(self):
                self._array = _second_name(value._array)
                self._constant = False
            self.requires_grad_()

    def detach(self):
        """The same elements, shared, as a tensor that does not require a gradient."""
        made = wrap(self._array)
        made._constant = True
        return made

    def detach_(self):
        """Has this tensor forget how it was made. RuntimeError for a view of another tensor."""
        if self.requires_grad and not self._leaf:
            if _core.is_alone_in_memory(self):
                self._array = constant_copy(self._array)
            elif is_view(self):
                raise RuntimeError(
                    message("detach_", "can't detach views in-place", "a view of another tensor",
                            "detach()")
                )  # fmt: skip
            else:  # its views go on seeing what is written to it
                self._constant = True
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
        handle = RemovableHandle(hook)
        if self._leaf:
            if self._hooks is None:
                self._hooks = []
            self._hooks.append(handle)
        elif not tell("register_hook", self, handle):
            raise RuntimeError(
                message("register_hook", "no operation made the tensor, or it has been let go",
                        f"shape {tuple(self.shape)}", "a leaf, or a result before backward()")
            )  # fmt: skip
        return handle

    def register_post_accumulate_grad_hook(self, hook):
        """Has `hook(tensor)` called after a `backward()` has added to its `grad`.

        Returns an object whose `remove()` ends that. RuntimeError for what is no leaf.
        """
        if not self.requires_grad or not self._leaf:
            raise RuntimeError(
                message("register_post_accumulate_grad_hook", "no leaf that requires a gradient",
                        f"shape {tuple(self.shape)}", "a leaf with requires_grad=True")
            )  # fmt: skip
        handle = RemovableHandle(hook)
        tell_after(self, handle)
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
        known, writer = _weak(self), _core.tape_writer(self._array)

        def keep(g):
            t = known()
            if t is not None:
                if _core.tape_writer(t._array) != writer:
                    raise NotImplementedError(
                        message("retain_grad", "the derivative by a tensor that was changed in"
                                " place after retain_grad() is not there yet",
                                f"shape {tuple(t.shape)}", "retain_grad() after the change")
                    )  # fmt: skip
                # Others' derivatives may lie in that memory.
                t._grad = g.clone() if t._grad is None else t._grad + g

        if not tell("retain_grad", self, RemovableHandle(keep), last=True):
            raise RuntimeError(
                message("retain_grad", "no operation made the tensor, or it has been let go",
                        f"shape {tuple(self.shape)}", "a leaf, or a result before backward()")
            )  # fmt: skip
        self.__dict__["_retains"] = True

    @property
    def retains_grad(self):
        """Whether `retain_grad` was called of a result."""
        return self.__dict__.get("_retains", False)


def _is_same_part(a, b):
    """Whether two arrays are the same elements of one memory."""
    return a is b or (
        a.base is b.base
        and a._storage == b._storage
        and (a.shape, a.strides, a._offset, a.dtype) == (b.shape, b.strides, b._offset, b.dtype)
    )


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


def _second_name(a):
    """The same memory as that of another base: derivatives by the two are told apart, what is
    written to one is seen by the other. Both count as shared, so that nothing stays pending.
    """
    if on_host(a):
        return on_its_memory(numpy.asarray(a))
    if a._device.startswith("cuda"):
        return _core.from_dlpack(a)
    return constant_copy(a)  # of the tensor's own memory only: others are refused before


def _expect_second_name(t, value):
    """Raises where a leaf cannot be given the memory of another one, before anything is changed."""
    a = value._array
    if on_host(a) or a._device.startswith("cuda") or not value._active:
        return
    if value._base == t._base or _was_of(t, a, value._base) or _is_beside_leaves(value):
        return
    raise NotImplementedError(
        message("data", "on this device two tensors that require gradients cannot share memory yet",
                a._device, "the tensor itself in both places, or value.clone()")
    )  # fmt: skip


def _is_beside_leaves(t):
    """Whether all that is known of a tensor's memory are leaves that have no element of it."""
    leaves = leaves_of(t._base)
    return (
        bool(leaves)
        and _core.tape_writer(t._array) < 0
        and not any(
            [
                _overlap(t._array, x._array)
                for leaf in leaves
                for x in (leaf, *former_of(leaf))
                if x._base == t._base
            ]
        )
    )


# Functions that give a part or another order of the elements of a tensor, in its memory.
_VIEWS = frozenset(
    """adjoint as_strided atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to chunk
    conj detach diagonal dsplit expand expand_as flattened getitem hsplit imag mH mT
    matrices_transposed movedim moveaxis narrow one_of permute ravel real reshape reshape_as
    reversed_axes select slice_ split split_with_sizes squeeze swapaxes swapdims t T H
    tensor_split three_of transpose two_of unbind unflatten unfold unsqueeze view view_as
    view_as_complex view_as_real vsplit""".split()
)


def is_view(t):
    return not t._leaf and (_is_part(t._array) or (t._maker or "").strip("_") in _VIEWS)


def view_number(op, t):
    """What tells the derivative by a view apart from that by others in its memory; 0: it is none.

    NotImplementedError where that cannot be told.
    """
    number = _core.tape_view_number(t._array)
    if number >= 0 or not is_view(t):
        return max(number, 0)
    raise NotImplementedError(
        message(op, "the derivative by a view is not yet told apart from that by the tensor of"
                " which it is one, and by other views", f"shape {tuple(t.shape)}",
                "x.clone() of the view, before it is used")
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


# By the number of memory: pairs of a tensor that has taken over other memory by `.data =` (weak),
# and of a constant that holds what it had, while the tape may still have derivatives by that.
_former = {}


def leaves_of(base):
    """The tensors in this memory, or formerly in it, whose derivative is asked for."""
    found = _core.leaves_in(base)
    if _former:
        before = [known() for known, _ in _former.get(base, ())]
        found += [t for t in before if t is not None and t._leaf]
    return found


def former_of(t):
    """Constants that hold the memory that a tensor had before."""
    if not _former:
        return []
    return [x for pairs in _former.values() for known, x in pairs if known() is t]


def _is_read(t):
    """Whether a derivative by what a tensor holds may be asked for."""
    return _core.tape_reads(-1, t._array) or _core.is_shown_by_others(t)


def forget_former(t=None):
    """Lets go of former memory that the tape does not read any more, or of all that of a tensor."""
    for base, pairs in list(_former.items()):
        stay = [
            (known, x)
            for known, x in pairs
            if known() is not None and known() is not t and _is_read(x)
        ]
        if stay:
            _former[base] = stay
            continue
        del _former[base]
        if not _core.leaves_in(base):
            _core.tape_unwatch(pairs[0][1]._array)


def _leave(t):
    """Has a leaf forget its memory, or note it as a former one if derivatives may be asked for."""
    forget_former()
    if not _is_read(t):
        _forget(t)
        return
    _former.setdefault(t._base, []).append((_weak(t), t.detach()))


def _was_of(t, a, base):
    """Whether an array of that memory is what a tensor had before, and nobody else has."""
    pairs = _former.get(base, [])
    if len(pairs) != 1 or pairs[0][0]() is not t or _core.leaves_in(base):
        return False
    b = pairs[0][1]._array
    return (a.shape, a.strides, a._offset, a.dtype) == (b.shape, b.strides, b._offset, b.dtype)


def _forget(t):
    others = [x for x in _core.leaves_in(t._base) if x is not t]
    if not others and t._base not in _former:
        _core.tape_unwatch(t._array)


def tell_after(t, handle):
    """Has a hook called with a leaf after `backward()` has added to its gradient."""
    t.__dict__.setdefault("_after", []).append(handle)
    t._hooks = t._hooks or []  # so that its derivative is left to Python


def fitting(op, made, g):
    """What a hook has made of a derivative; raises where it could not take its place."""
    if made is None or g is None:
        return made
    if not isinstance(made, Tensor):
        raise TypeError(message(op, "a hook returned no tensor", type(made).__name__, "a tensor"))
    if made.shape != g.shape:
        raise RuntimeError(message(op, "a hook has changed the size", list(made.shape),
                                   list(g.shape)))  # fmt: skip
    if made.dtype != g.dtype:
        raise RuntimeError(message(op, "a hook has changed the type", made.dtype, g.dtype))
    return made


def tell(op, t, handle, last=False):
    """Has a hook called with the derivative by what a result holds now; false: nothing made it.

    One that is to be the last is called after all others, whenever these were registered.
    """
    number = view_number(op, t)
    writer = ("view", number) if number else _core.tape_writer(t._array)
    if writer == -1:
        return False
    known, handles = t.__dict__.get("_told", (-1, None))
    if known == writer:
        handles.append((last, handle))
        handles.sort(key=lambda pair: pair[0])
        return True
    handles = [(last, handle)]
    t.__dict__["_told"] = writer, handles
    if number:
        _core.tape_tell_view(t._array, told_by(handles), _weak(t))
    else:
        _core.tape_tell(writer, t._array, told_by(handles))
    return True


def told_by(handles):
    """What is called with a derivative, and calls the hooks of pairs in their order."""

    def told(g):
        first = g = wrap(g)
        for _, each in list(handles):
            if each.hook is not None:
                made = each.hook(g)
                g = g if made is None else fitting("register_hook", made, g)
        return None if g is first else g._array

    return told


def is_told(t):
    """Whether a view's hooks are called."""
    return isinstance(t.__dict__.get("_told", (-1,))[0], tuple)


_core.set_tensor_type(Tensor)
wrap = _core.wrap_tensor
