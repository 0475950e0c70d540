"""Layers of Keras: variables of tf and functions of numbus.nn.functional."""

import functools
import inspect
import math
import re

import numpy

import numbus as nb

from ....core import trees
from ....core.compiling import ITEMS, Parts, flat, observe
from ....core.dtypes import kind_of
from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from .._tensor import Tensor, Variable, as_numpy_dtype, convert
from . import _masks, activations, constraints, initializers, regularizers
from ._functional import KerasTensor, Node, is_symbolic, symbolic_call, tried_shapes

_counts = {}


def snake_case(kind):
    """The name of a class in small letters: 'batch_normalization'."""
    base = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", base).lower()


def new_name(kind):
    """A name that no layer has: 'dense', 'dense_1', …"""
    base = snake_case(kind)
    number = _counts.get(base, 0)
    _counts[base] = number + 1
    return f"{base}_{number}" if number else base


def clear_session():
    """Has names begin anew."""
    _counts.clear()


class _Added:
    """Losses of `add_loss`, which no captured step looks at: they are made in each."""

    __slots__ = ("items",)

    def __init__(self):
        self.items = []

    def __reduce__(self):
        return _Added, ()


class _Calling:
    """Whether a layer is being called, within which others are called; whether any adds losses;
    `training` of the last call within the outermost one, which later ones go by.
    """

    inside = adds = False
    training = None


_NOT_GIVEN = object()


@functools.lru_cache(4096)
def _usual_training(call):
    """The default of `training` of a function; None where it has none."""
    known = inspect.signature(call).parameters.get("training")
    return None if known is None or known.default is known.empty else known.default


class Layer:
    """A function of tensors with variables, made when the shape of its input is known.

    Subclasses define `build(input_shape)`, which calls `add_weight`, and `call(inputs)`, which may
    take `training`.
    """

    ready = False  # whether nothing has to be built, which `summary` shows
    supports_masking = False  # whether masks of its input go on, by `compute_mask`
    regularized = ()  # pairs: kernel of kernel_regularizer, the weight that it regularises
    has_rule = False  # whether `compute_output_shape` says it, also of symbolic tensors

    def __init__(self, name=None, trainable=True, dtype="float32", input_shape=None,
                 input_dim=None, activity_regularizer=None, **options):  # fmt: skip
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self._regularizers, self._constraints, self._regularized = {}, {}, []
        self._added = _Added()
        for option, value in options.items():
            which, _, kind = option.rpartition("_")
            weight = dict(self.regularized).get(which)
            if weight is None or kind not in ("regularizer", "constraint"):
                raise ValueError(
                    f"Unrecognized keyword arguments passed to {type(self).__name__}:"
                    f" {{{option!r}: {value!r}}}"
                )
            if value is not None:
                if kind == "constraint":
                    self._constraints[weight] = constraints.get(value)
                else:
                    self._regularizers[weight] = regularizers.get(value)
        self.name = new_name(type(self).__name__) if name is None else name
        self._trainable, self._frozen = bool(trainable), []
        self.dtype = as_numpy_dtype(dtype or "float32").name
        shape = (input_dim,) if input_dim is not None else input_shape
        self.given_shape = None if shape is None else (None, *shape)
        self.built = False
        self._variables = []
        if type(self).compute_mask is not Layer.compute_mask:
            self.supports_masking = True

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        build = cls.__dict__.get("build")
        if build is not None:

            @functools.wraps(build)
            def building(self, *args, **keywords):
                made = build(self, *args, **keywords)
                self.built = True  # a call does not build it once more
                return made

            cls.build = building

    def add_weight(self, shape=(), initializer="glorot_uniform", trainable=True, name=None,
                   dtype=None, regularizer=None, constraint=None):  # fmt: skip
        """A variable of the layer."""
        given = initializers.get(initializer)(tuple(shape), dtype or self.dtype)
        made = Variable(given, trainable, name or "variable")
        made.constraint = constraints.get(constraint) or self._constraints.get(name)
        self._variables.append(made)
        if trainable and not self._trainable:
            self._freeze(made)
        regularizer = regularizers.get(regularizer) or self._regularizers.get(name)
        if regularizer is not None:
            self._regularized.append((made, regularizer))
        return made

    def add_loss(self, loss):
        """Within `call`: a number, or several, that training adds to the loss."""
        _Calling.adds = True
        for one in loss if isinstance(loss, (list, tuple)) else [loss]:
            self._added.items.append(convert(one))

    @property
    def losses(self):
        """What the last call added to the loss, and what regularizers give now."""
        layers = self._all_layers()
        found = [x for layer in layers for x in layer._added.items]
        known = [pair for layer in layers for pair in layer._regularized]
        if known:
            for v in self.trainable_variables:
                found += [regularize(v) for own, regularize in known if own is v]
        return found

    def _all_layers(self):
        found = [self]
        for part in self._parts():
            found += [x for x in part._all_layers() if not any([x is y for y in found])]
        return found

    def _forget_added(self):
        for layer in self._all_layers():
            layer._added.items.clear()

    def build(self, input_shape):
        """Makes the variables; a layer without has none to make."""
        self.built_shape = input_shape

    def call(self, inputs):
        """What the layer does."""
        raise NotImplementedError(message(self.name, "no call()", type(self).__name__, "a method"))

    def compute_output_shape(self, input_shape):
        """The shape of the result; the first axis, of examples, is None."""
        if self.has_rule or type(self).call is Layer.call:
            return input_shape
        several = isinstance(input_shape, list) or isinstance(input_shape[0], (list, tuple))
        shapes = list(input_shape) if several else [input_shape]
        given = [KerasTensor(tuple(s), self.dtype) for s in shapes]
        made = tried_shapes(self, given if several else given[0])
        self._forget_added()
        return made

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the result: by default that of the input."""
        return previous_mask

    def __call__(self, inputs, *args, training=_NOT_GIVEN, **keywords):
        if type(inputs) is KerasTensor or is_symbolic(inputs, args, keywords):
            if training is not _NOT_GIVEN and training is not None:
                keywords["training"] = training
            return self._symbolic(inputs, args, keywords)
        masks = keywords.get("mask")
        given = masks is not None
        masks = masks if given else _masks.masks_of(inputs)
        inputs = self._converted(inputs)
        if not self.built:
            self._built_for(inputs)
        if not given and not args and _masks.any_mask(masks) and _takes(self.call, "mask"):
            keywords["mask"] = masks
        inside, _Calling.inside = _Calling.inside, True
        try:
            if training is _NOT_GIVEN:
                training = _Calling.training
                if training is None:
                    training = _usual_training(getattr(self.call, "__func__", self.call))
            _Calling.training = training
            if training is not None and _takes(self.call, "training"):
                keywords["training"] = training
            if not inside and _Calling.adds:
                self._forget_added()
            made = self.call(inputs, *args, **keywords)
        finally:
            _Calling.inside = inside
            if not inside:
                _Calling.training = None
        if self.activity_regularizer is not None:
            self._add_for_activity(made)
        if self.supports_masking or _masks.any_mask(masks):
            _masks.hand_on(self, inputs, made, masks)
        return made

    def _add_for_activity(self, made):
        for x in trees.flatten(made)[0]:
            loss = self.activity_regularizer(x)
            self.add_loss(loss / float(x.shape[0]) if x.ndim else loss)

    def _symbolic(self, inputs, args, keywords):
        """A call whose result a model will have."""
        known = self.has_rule and not args and not keywords
        if known and not self.built:
            self._built_for(inputs)
        made = symbolic_call(
            self, (inputs, *args), keywords, self.compute_output_shape if known else None
        )
        if isinstance(made, KerasTensor):
            self._shape_after = made.shape
        return made

    @property
    def input(self):
        """The symbolic tensor, or tensors, that it was called with."""
        return self._node().args[0]

    @property
    def output(self):
        """The symbolic tensor, or tensors, that it gave."""
        found = self._node().outputs
        return found[0] if len(found) == 1 else found

    def _node(self):
        nodes = self.__dict__.get("_nodes")
        if not nodes:
            raise AttributeError(
                f"The layer {self.name} has never been called and thus has no defined input."
            )
        return nodes[0]

    def _converted(self, inputs):
        if isinstance(inputs, (tuple, dict)) or (
            isinstance(inputs, list) and inputs and isinstance(inputs[0], Tensor)
        ):
            return inputs
        if isinstance(inputs, list) and inputs and all([hasattr(x, "ndim") for x in inputs]):
            return [self._converted(x) for x in inputs]
        x = inputs if isinstance(inputs, Tensor) else convert(inputs)
        if kind_of(x._a.dtype) == "f" and x._a.dtype != self.dtype:
            mask = _masks.mask_of(x)
            x = _ops.cast(x, self.dtype)
            if mask is not None:
                x._keras_mask = mask
        return x

    def _built_for(self, inputs):
        shape = getattr(inputs, "shape", None)
        self.build(None if shape is None else (None, *shape[1:]))
        self.built = True

    def _parts(self):
        """Layers that are attributes, also in lists."""
        found = []
        for value in vars(self).values():
            items = value if isinstance(value, (list, tuple)) else [value]
            found += [x for x in items if isinstance(x, Layer)]
        return found

    def _own_variables(self):
        own = list(self._variables)
        for value in vars(self).values():
            if isinstance(value, Variable) and not any(value is v for v in own):
                own.append(value)
        return own

    @property
    def variables(self):
        """All variables, of layers within too."""
        own = self._own_variables()
        for part in self._parts():
            own += [v for v in part.variables if not any(v is o for o in own)]
        return own

    weights = variables

    @property
    def trainable(self):
        """Whether training changes the layer; setting it sets that of layers within, too."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        if value:
            for v in self._frozen:
                v.trainable = True
            self._frozen.clear()
        else:
            for v in self._own_variables():
                if v.trainable:
                    self._freeze(v)
        for part in self._parts():
            part.trainable = value

    def _freeze(self, variable):
        variable.trainable = False
        self._frozen.append(variable)

    @property
    def trainable_variables(self):
        """The variables that training changes."""
        found = {id(v) for v in self._trained()}
        return [v for v in self.variables if id(v) in found]

    def _trained(self):
        if not self._trainable:
            return []
        found = [v for v in self._own_variables() if v.trainable]
        for part in self._parts():
            found += part._trained()
        return found

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        """The variables that training leaves."""
        changed = self.trainable_variables
        return [v for v in self.variables if not any(v is c for c in changed)]

    non_trainable_weights = non_trainable_variables

    def get_weights(self):
        """The values of all variables."""
        return [nb.array(v.numpy()) for v in self.variables]

    def set_weights(self, weights):
        """Sets the values. Raises ValueError for another number or other shapes."""
        variables = self.variables
        if len(weights) != len(variables):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of "
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights."
            )
        for v, w in zip(variables, weights, strict=True):
            v.assign(w)

    def count_params(self):
        """The number of elements of all variables."""
        return sum(v._a.size for v in self.variables)


def _what_it_reads(layer):
    """What a captured call of a layer depends on: attributes, and items of these."""
    tables = [v for v in layer.__dict__.values() if isinstance(v, (list, dict, set))]
    return Parts([(ITEMS, table, None, flat(table)) for table in (layer.__dict__, *tables)])


for _method in (Layer.__call__, Layer.variables.fget, Layer.trainable_variables.fget,
                Layer._trained, Layer.losses.fget, Layer._all_layers):  # fmt: skip
    observe(Layer, _method, _what_it_reads)


def _takes(call, name):
    code = call.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return name in names or (name == "training" and bool(code.co_flags & 8))


def _refuse(layer, **options):
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(
                message(type(layer).__name__, f"{name}= is not yet available", value, "None")
            )


def given_only(**options):
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


class InputLayer(Layer):
    """Says the shape of the input."""

    supports_masking = True

    def __init__(self, shape=None, batch_size=None, dtype=None, name=None, input_shape=None):
        super().__init__(name, dtype=dtype or "float32")
        known = shape if shape is not None else input_shape
        self.given_shape = (batch_size, *known)

    def call(self, inputs):
        return inputs


def Input(shape=None, batch_size=None, dtype=None, name=None):
    """A symbolic tensor: an input of a model, or the shape of that of a `Sequential`."""
    layer = InputLayer(shape, batch_size, dtype, name)
    made = KerasTensor(layer.given_shape, layer.dtype, layer.name)
    made.node = Node(layer, (), {}, [made])
    layer._shape_after, layer.built = made.shape, True
    return made


class Dense(Layer):
    """activation(inputs @ kernel + bias)."""

    has_rule = True
    supports_masking = True
    regularized = (("kernel", "kernel"), ("bias", "bias"))

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, **options):  # fmt: skip
        super().__init__(kernel_regularizer=kernel_regularizer, **options)
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. Received: "
                f"units={units}"
            )
        self.units, self.use_bias = units, use_bias
        self.activation = activations.get(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units), self.kernel_initializer,
                                      name="kernel")  # fmt: skip
        self.bias = self.add_weight((self.units,), self.bias_initializer, name="bias") if (
            self.use_bias
        ) else None  # fmt: skip

    def call(self, inputs):
        x, w = inputs._value(), self.kernel._value()
        if x.shape[-1] != w.shape[0]:
            raise ValueError(
                f'Input 0 of layer "{self.name}" is incompatible with the layer: expected axis -1 '
                f"of input shape to have value {w.shape[0]}, but received input with shape "
                f"{inputs.shape}"
            )
        found = x @ w
        if self.bias is not None:
            found = found + self.bias._value()
        return self.activation(_ops.tensor(found))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)


class Flatten(Layer):
    """One axis of all but that of examples."""

    has_rule = True

    def call(self, inputs):
        a = inputs._value()
        return _ops.tensor(a.reshape((a.shape[0], math.prod(a.shape[1:]))))

    def compute_output_shape(self, input_shape):
        rest = input_shape[1:]
        return input_shape[0], None if None in rest else math.prod(rest)


class Reshape(Layer):
    """Another shape of each example."""

    has_rule = True

    def __init__(self, target_shape, **options):
        super().__init__(**options)
        self.target_shape = tuple(target_shape)

    def call(self, inputs):
        a = inputs._value()
        return _ops.tensor(a.reshape((a.shape[0], *self.target_shape)))

    def compute_output_shape(self, input_shape):
        known = math.prod(n for n in self.target_shape if n != -1)
        total = math.prod(input_shape[1:])
        return (input_shape[0], *[total // known if n == -1 else n for n in self.target_shape])


class Activation(Layer):
    """A function of elements, by name."""

    ready = has_rule = True
    supports_masking = True

    def __init__(self, activation, **options):
        super().__init__(**options)
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)


class Softmax(Layer):
    """exp(x) as parts of its sum along an axis."""

    ready = has_rule = True
    supports_masking = True

    def __init__(self, axis=-1, **options):
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs, mask=None):
        if mask is None:
            return _ops.softmax(inputs, self.axis)
        on, a = convert(mask)._value().astype(bool), inputs._value()
        pairs = zip(on.shape[::-1], a.shape[::-1], strict=False)
        if on.ndim > a.ndim or any([n not in (1, m) for n, m in pairs]):
            raise ValueError(
                message("Softmax", "the mask does not fit the input", tuple(on.shape),
                        tuple(a.shape))
            )  # fmt: skip
        low = nb.where(on, a, a.dtype.type(-1e9 if a.dtype.itemsize > 2 else -3e4))
        found = _ops.softmax(_ops.tensor(low), self.axis)._value()
        return _ops.tensor(nb.where(on, found, a.dtype.type(0)))


class Rescaling(Layer):
    """x * scale + offset."""

    has_rule = True
    supports_masking = True

    def __init__(self, scale, offset=0.0, **options):
        super().__init__(**options)
        self.scale, self.offset = scale, offset

    def call(self, inputs):
        a = _ops.cast(inputs, self.dtype)._value()
        return _ops.tensor(a * self.scale + self.offset)


class Embedding(Layer):
    """The row of a matrix for each index."""

    has_rule = True
    regularized = (("embeddings", "embeddings"),)

    def __init__(self, input_dim, output_dim, embeddings_initializer="uniform", mask_zero=False,
                 input_length=None, **options):  # fmt: skip
        super().__init__(**options)
        self.mask_zero = bool(mask_zero)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = embeddings_initializer
        if input_length is not None:
            self.given_shape = (None, input_length)

    def build(self, input_shape):
        super().build(input_shape)
        shape = self.input_dim, self.output_dim
        self.embeddings = self.add_weight(shape, self.embeddings_initializer, name="embeddings")

    def call(self, inputs):
        index = inputs._value()
        if index.dtype.kind not in "iu":
            index = index.astype(numpy.int64)
        return _ops.tensor(_f.embedding(index, self.embeddings._value()))

    def compute_mask(self, inputs, previous_mask=None):
        """Where indices are not 0, with `mask_zero`."""
        return _ops.tensor(convert(inputs)._value() != 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.output_dim)


class Masking(Layer):
    """Has later layers leave out steps all of whose elements are `mask_value`."""

    has_rule = True

    def __init__(self, mask_value=0.0, **options):
        super().__init__(**options)
        self.mask_value = mask_value

    def compute_mask(self, inputs, previous_mask=None):
        """Where an element is another one."""
        return _ops.tensor(nb.any(convert(inputs)._value() != self.mask_value, axis=-1))

    def call(self, inputs):
        on = self.compute_mask(inputs)
        a = inputs._value()
        return _ops.tensor(nb.where(on._value()[..., None], a, a.dtype.type(0)))


class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function, output_shape=None, **options):
        super().__init__(**options)
        self.function, self._shape = function, output_shape

    def call(self, inputs):
        return self.function(inputs)

    def compute_output_shape(self, input_shape):
        return None if self._shape is None else (input_shape[0], *self._shape)


KerasTensor.through = lambda self, function: Lambda(function)(self)
