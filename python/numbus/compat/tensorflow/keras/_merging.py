"""Layers of several inputs, and the operators of symbolic tensors."""

import functools
import operator

import numbus as nb

from ....core.errors import message
from .. import _ops
from .._tensor import Tensor
from . import _masks
from ._functional import KerasTensor
from ._layers import Layer


def _of_one_rank(inputs):
    """Tensors of one number of axes: those that are missing come after that of examples."""
    ndim = max([x.ndim for x in inputs])
    if all([x.ndim == ndim for x in inputs]):
        return list(inputs)
    return [
        _ops.tensor(x._value().reshape((x.shape[0], *[1] * (ndim - x.ndim), *x.shape[1:])))
        for x in inputs
    ]


def _broadcast(shapes):
    """The shape of elements of several tensors; None is any size."""
    ndim = max([len(s) for s in shapes])
    made = []
    shapes = [(s[0], *[1] * (ndim - len(s)), *s[1:]) for s in shapes]
    for sizes in zip(*shapes, strict=True):
        known = {n for n in sizes if n not in (1, None)}
        if len(known) > 1:
            raise ValueError(f"Inputs have incompatible shapes. Received shapes {shapes}")
        made.append(known.pop() if known else None if None in sizes else 1)
    return tuple(made)


class _Merge(Layer):
    """A function of each element of several tensors."""

    has_rule = True
    two = False
    by_masks = False  # whether masks say which elements take part

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 1 + self.two:
            raise ValueError(
                f"A merge layer should be called on a list of at least 1 input. Received {inputs!r}"
            )
        if self.two and len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs.")
        masks = [_masks.mask_of(x) for x in inputs]
        inputs = _of_one_rank(inputs)
        if self.by_masks and _masks.any_mask(masks):
            return self._of_masked(inputs, masks)
        return functools.reduce(type(self).joined, inputs)

    def _of_masked(self, inputs, masks):
        """Elements whose mask is False are those of the others."""
        found = known = None
        for x, m in zip(inputs, masks, strict=True):
            a = x._value()
            m = None if m is None else nb.broadcast_to(m._value().astype(bool)[..., None], a.shape)
            if found is None:
                found, known = a, m
                continue
            a = a if m is None else nb.where(m, a, found)
            found = found if known is None else nb.where(known, found, a)
            known = None if m is None or known is None else nb.logical_or(known, m)
            found = type(self).joined(_ops.tensor(found), _ops.tensor(a))._value()
        return _ops.tensor(found)

    def compute_mask(self, inputs, previous_mask=None):
        """Where one of the inputs' masks is True, if all have one."""
        return _masks.either(previous_mask)

    def compute_output_shape(self, input_shape):
        return _broadcast([tuple(s) for s in input_shape])


def _folded(name, function, doc, **more):
    return type(name, (_Merge,), {"__doc__": doc, "joined": staticmethod(function), **more})


def _elements(function):
    return lambda x, y: _ops.tensor(function(x._value(), y._value()))


Add = _folded("Add", operator.add, "The sum of tensors.")
Subtract = _folded("Subtract", operator.sub, "The difference of two tensors.", two=True)
Multiply = _folded("Multiply", operator.mul, "The product of elements.")
Maximum = _folded("Maximum", _elements(nb.maximum), "The largest elements.", by_masks=True)
Minimum = _folded("Minimum", _elements(nb.minimum), "The smallest elements.", by_masks=True)


class Average(_Merge):
    """The mean of tensors."""

    joined = staticmethod(operator.add)

    def call(self, inputs):
        return super().call(inputs) / float(len(inputs))


class Concatenate(Layer):
    """Tensors one after another along an axis."""

    has_rule = True

    def __init__(self, axis=-1, **options):
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs):
        return _ops.concat(list(inputs), self.axis)

    def compute_mask(self, inputs, previous_mask=None):
        """The masks one after another."""
        return _masks.joined(inputs, previous_mask, self.axis)

    def compute_output_shape(self, input_shape):
        shapes = [list(s) for s in input_shape]
        sizes = [s[self.axis] for s in shapes]
        shapes[0][self.axis] = None if None in sizes else sum(sizes)
        return tuple(shapes[0])


class Dot(Layer):
    """Sums of products along an axis of each of two tensors."""

    def __init__(self, axes, normalize=False, **options):
        super().__init__(**options)
        self.axes = (axes, axes) if isinstance(axes, int) else tuple(axes)
        self.normalize = normalize

    def compute_mask(self, inputs, previous_mask=None):
        """None: the axes are others."""
        return None

    def call(self, inputs):
        x, y = (t._value() for t in inputs)
        i, j = (k % a.ndim for k, a in zip(self.axes, (x, y), strict=True))
        if self.normalize:
            x, y = (
                a / nb.sqrt(nb.maximum(nb.sum(a * a, axis=k, keepdims=True), 1e-12))
                for a, k in ((x, i), (y, j))
            )
        x, y = nb.moveaxis(x, i, -1), nb.moveaxis(y, j, -1)
        made = _batched_dot(x, y)
        return _ops.tensor(made[:, None] if made.ndim == 1 else made)


def _batched_dot(x, y):
    """Of (batch, …, n) and (batch, …, n) the sums over n for all pairs of the axes between."""
    a = x.reshape((x.shape[0], -1, x.shape[-1]))
    b = y.reshape((y.shape[0], -1, y.shape[-1]))
    made = nb.matmul(a, nb.swapaxes(b, 1, 2))
    return made.reshape((x.shape[0], *x.shape[1:-1], *y.shape[1:-1]))


def _function(kind):
    def function(inputs, **options):
        return kind(**options)(inputs)

    function.__name__ = function.__qualname__ = kind.__name__.lower()
    function.__doc__ = kind.__doc__
    return function


add, subtract, multiply, average, maximum, minimum, concatenate = (
    _function(k) for k in (Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate)
)


def dot(inputs, axes, normalize=False, **options):
    """Sums of products along an axis of each of two tensors."""
    return Dot(axes, normalize, **options)(inputs)


# Operators


def _operation(name, function):
    """A layer for one operator."""

    class Operation(Layer):
        def call(self, inputs, *others):
            return function(inputs, *others)

        def _converted(self, inputs):
            return inputs if isinstance(inputs, Tensor) else super()._converted(inputs)

    Operation.__name__ = Operation.__qualname__ = name
    Operation.__doc__ = f"The operator {name} of symbolic tensors."

    def applied(self, *others):
        for x in others:
            if not isinstance(x, (KerasTensor, Tensor, int, float, slice, tuple, type(...))):
                raise TypeError(message(name, "no operand", type(x).__name__, "a number or tensor"))
        return Operation()(self, *others)

    return applied


def _turned(function):
    return lambda x, y: function(y, x)


for _name, _title, _function_of in (
    ("add", "Add", operator.add), ("sub", "Subtract", operator.sub),
    ("mul", "Multiply", operator.mul), ("truediv", "TrueDivide", operator.truediv),
    ("pow", "Power", operator.pow), ("matmul", "Matmul", operator.matmul),
):  # fmt: skip
    setattr(KerasTensor, f"__{_name}__", _operation(_title, _function_of))
    setattr(KerasTensor, f"__r{_name}__", _operation(_title, _turned(_function_of)))
KerasTensor.__neg__ = _operation("Negative", operator.neg)
KerasTensor.__getitem__ = _operation("GetItem", operator.getitem)
