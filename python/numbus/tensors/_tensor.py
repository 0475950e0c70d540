"""The class Tensor: an array with PyTorch's methods and a record of how it came to be."""

import numpy

from .. import _core
from .._core import generic, ndarray
from ..core.errors import message
from ..core.operands import to_ndarray
from . import _dtypes
from ._mode import _Switch, state

_storage_of = _core.storage_of
_record = _core.record_on_tape


class Tensor:
    """An array that can require a gradient; PyTorch's names and semantics.

    Tensors are made by `tensor`, `zeros`, … and by operations on tensors. The elements lie in an
    array of Numbus, which views share: what is written to one is seen by the other. Where an
    operand requires a gradient, operations are recorded, and `backward()` adds the derivative of a
    number to the `grad` of each tensor that `requires_grad` was set of.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_array", "_constant", "_grad", "_hooks", "_leaf", "_storage",
    )  # fmt: skip

    # NumPy leaves operators with tensors to them.
    __array_ufunc__ = None

    def __new__(cls, data=None, *, device=None):
        """`Tensor(data)`: of the default floating-point dtype. `Tensor(3, 4)` is not yet."""
        made = object.__new__(cls)
        a = _core.empty((0,), _dtypes.default_float())
        if data is not None:
            a = data._array if isinstance(data, Tensor) else to_ndarray(data)
            if not isinstance(data, Tensor):
                a = a.astype(_dtypes.default_float())
        _fill(made, a if device is None else a.to_device(str(device)))
        return made

    @property
    def requires_grad(self):
        """Whether operations on it are recorded."""
        return not self._constant and self._storage.active and self._array.dtype.kind in "fc"

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Has the derivative by this tensor found by `backward()`, or no longer.

        Raises RuntimeError for integers, and where it is to be switched off of a result.
        """
        if requires_grad:
            if self._array.dtype.kind not in "fc":
                raise RuntimeError(
                    message("requires_grad_", "only tensors of floating-point and complex dtype can"
                            " require gradients", self._array.dtype, "a floating-point dtype")
                )  # fmt: skip
            if not self.requires_grad:
                if self._constant and self._storage.active:
                    # Its memory belongs to a tensor that requires a gradient of its own.
                    self._array = _core.copy_of(_core.stop_gradient(self._array))
                    self._storage = _storage_of(self._array)
                self._constant = False
                _core.tape_watch(self._array)
                self._leaf = True
                _leaves.setdefault(self._storage.base, []).append(_weak(self))
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
        self._storage = _storage_of(self._array)
        self._leaf = False
        self._constant = self._storage.active
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
            self._array = _core.copy_of(_core.stop_gradient(self._array))
            self._storage = _storage_of(self._array)
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
        self._tensor = tensor

    def name(self):
        return "Backward"

    def __repr__(self):
        return "<Backward>"


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
    found = _leaves.get(t._storage.base, [])
    found[:] = [known for known in found if known() is not None and known() is not t]
    if not found:
        _leaves.pop(t._storage.base, None)
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


def _fill(t, a):
    t._array = a
    t._storage = _storage_of(a)
    t._constant = t._leaf = False
    t._grad = t._hooks = None


def wrap(a):
    """A tensor of an array, whose memory it shares."""
    t = object.__new__(Tensor)
    if type(a) is not ndarray:
        a = _core.lazy_array(a) if type(a) is generic else to_ndarray(a)
    _fill(t, a)
    return t


_ARRAYS = (ndarray, generic, numpy.generic, numpy.ndarray)


def wrap_all(made):
    """The arrays of a result as tensors."""
    kind = type(made)
    if kind is ndarray or isinstance(made, _ARRAYS):
        return wrap(made)
    if kind is tuple or kind is list:
        return kind([wrap_all(x) for x in made])
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return kind(*[wrap_all(x) for x in made])
    return made


def wrap_constant(made):
    """The same of what was not recorded: views of recorded memory are constants."""
    kind = type(made)
    if kind is ndarray or isinstance(made, _ARRAYS):
        t = wrap(made)
        t._constant = t._storage.active
        return t
    if kind is tuple or kind is list:
        return kind([wrap_constant(x) for x in made])
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return kind(*[wrap_constant(x) for x in made])
    return made


class Plain:
    """The arrays in place of the tensors among arguments, and whether any requires a gradient."""

    __slots__ = ("any", "needs", "recording")

    def __init__(self):
        self.any = self.needs = False
        self.recording = state.enabled

    def of(self, x):
        if isinstance(x, Tensor):
            self.any = True
            if x.requires_grad:
                self.needs = True
            elif self.recording and x._constant and x._storage.active:
                # Its elements as they are; what is recorded knows memory only.
                return _core.stop_gradient(x._array)
            return x._array
        kind = type(x)
        if kind is tuple or kind is list:
            return kind([self.of(y) for y in x])
        if kind is dict:
            return {key: self.of(y) for key, y in x.items()}
        if kind is slice:
            return slice(self.of(x.start), self.of(x.stop), self.of(x.step))
        return x


def call(body, args, keywords):
    """The result of a body on arrays, recorded where it is asked for."""
    plain = Plain()
    of = plain.of
    args = tuple([of(x) for x in args])
    if keywords:
        keywords = {name: of(x) for name, x in keywords.items()}
    if not plain.any:
        return body(*args, **keywords)
    if plain.needs and plain.recording:
        return _record(body, args, keywords, wrap_all)
    return wrap_constant(body(*args, **keywords))


def call_in_place(body, target, args, keywords):
    """The same of a body that writes to `target`, its first argument; returns `target`."""
    if target._constant and target._storage.active:
        with _Quiet():
            plain = Plain()
            body(target._array, *[plain.of(x) for x in args],
                 **{name: plain.of(x) for name, x in keywords.items()})  # fmt: skip
        return target
    if target._leaf and state.enabled:
        raise RuntimeError(
            message("in-place operation", "a leaf that requires a gradient is changed in place",
                    f"shape {tuple(target.shape)}", "`with no_grad():`, or an operation that makes"
                    " another tensor")
        )  # fmt: skip
    plain = Plain()
    args = (target._array, *[plain.of(x) for x in args])
    keywords = {name: plain.of(x) for name, x in keywords.items()}
    if plain.recording and (plain.needs or target.requires_grad):
        _record(body, args, keywords, _nothing)
    elif _core.tape_keeps() or target._storage.active:
        # What other operations keep of it is copied first.
        with _Quiet():
            body(*args, **keywords)
    else:
        body(*args, **keywords)
    return target


class _Quiet(_Switch):
    enabled = False


def _nothing(_made):
    return None
