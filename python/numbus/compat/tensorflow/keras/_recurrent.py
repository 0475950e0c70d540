"""Recurrent layers: SimpleRNN, LSTM, GRU, and both directions of one."""

import copy

import numbus as nb

from ....core.compiling import refuse
from ....core.errors import message
from ....nn import functional as _f
from .. import _ops
from .._tensor import Tensor, Variable
from . import activations
from ._layers import Layer, _refuse, _takes


class _Kept:
    """States that one call leaves to the next: no weights of the layer."""

    def __init__(self):
        self.states = []

    def keep(self, states):
        if not self.states:
            refuse("a stateful layer is called for the first time")
            self.states += [Variable(_ops.tensor(s), False, "rnn_state") for s in states]
            return
        for v, s in zip(self.states, states, strict=True):
            v.assign(_ops.tensor(nb.stop_gradient(s)))


class _Recurrent(Layer):
    """A step for each index of the second axis, with states that go from one to the next."""

    has_rule = True
    gates, states = 1, 1
    regularized = (("kernel", "kernel"), ("recurrent", "recurrent_kernel"), ("bias", "bias"))

    def __init__(
        self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal", bias_initializer="zeros", dropout=0.0,
        recurrent_dropout=0.0, return_sequences=False, return_state=False, go_backwards=False,
        stateful=False, unroll=False, zero_output_for_mask=False, **options,
    ):  # fmt: skip
        super().__init__(**options)
        _refuse(self, recurrent_dropout=recurrent_dropout or None)
        if not isinstance(unroll, bool):
            raise TypeError(message(type(self).__name__, "not a bool", unroll, "True or False"))
        if not isinstance(units, int) or units <= 0:
            raise ValueError(
                "Received an invalid value for argument `units`, expected a positive integer, got "
                f"{units}."
            )
        self.units, self.use_bias, self.dropout = units, use_bias, dropout
        self.activation = activations.get(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.recurrent_initializer = recurrent_initializer
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.zero_output_for_mask = go_backwards, zero_output_for_mask
        self.has_rule, self.stateful = not return_state, bool(stateful)
        self._kept = _Kept()  # the states after the last call, where it is stateful

    def build(self, input_shape):
        if len(input_shape) != 3:
            raise ValueError(
                f'Input 0 of layer "{self.name}" is incompatible with the layer: expected ndim=3, '
                f"found ndim={len(input_shape)}. Full shape received: {input_shape}"
            )
        n = self.gates * self.units
        self.kernel = self.add_weight((input_shape[-1], n), self.kernel_initializer, name="kernel")
        self.recurrent_kernel = self.add_weight(
            (self.units, n), self.recurrent_initializer, name="recurrent_kernel"
        )
        self.bias = self._bias(n) if self.use_bias else None

    def _bias(self, n):
        return self.add_weight((n,), self.bias_initializer, name="bias")

    def call(self, inputs, initial_state=None, mask=None, training=False):
        """The last output, or all; with `return_state` the states after it, too.

        mask: of bool, (examples, steps); where it is False a step changes neither state nor output.
        """
        x = inputs._value()
        if mask is not None:
            mask = mask._value() if isinstance(mask, Tensor) else nb.asarray(mask)
            if mask.shape != x.shape[:2]:
                raise ValueError(
                    message(type(self).__name__, "the mask does not fit the input", mask.shape,
                            x.shape[:2])
                )  # fmt: skip
            mask = mask.astype(bool)
        if training and self.dropout:
            drawn = _f.dropout(nb.ones((x.shape[0], 1, x.shape[2]), x.dtype), self.dropout, True)
            x = x * drawn
        if initial_state is None:
            states = self._beginning(x.shape[0], x.dtype)
        else:
            given = initial_state if isinstance(initial_state, (list, tuple)) else [initial_state]
            states = [s._value() if isinstance(s, Tensor) else nb.asarray(s) for s in given]
            if len(states) != self.states:
                raise ValueError(
                    message(type(self).__name__, "another number of states", len(states),
                            self.states)
                )  # fmt: skip
        parts = x @ self.kernel._value()  # of all steps at once
        bias, own = self._biases()
        if bias is not None:
            parts = parts + bias
        weights, found = self.recurrent_kernel._value(), []
        steps = range(x.shape[1])
        for k in reversed(steps) if self.go_backwards else steps:
            after = self._step(parts[:, k], states, weights, own)
            output = after[0]
            if mask is not None:
                on = mask[:, k, None]
                after = [nb.where(on, new, old) for new, old in zip(after, states, strict=True)]
                last = found and not self.zero_output_for_mask
                output = nb.where(on, output, found[-1] if last else nb.zeros_like(output))
            states = after
            found.append(output)
        if self.stateful:
            self._kept.keep(states)
        made = _ops.tensor(nb.stack(found, axis=1) if self.return_sequences else found[-1])
        return (made, *[_ops.tensor(s) for s in states]) if self.return_state else made

    def _beginning(self, count, dtype):
        """States as zeros, or with `stateful` those after the last call."""
        kept = self._kept.states if self.stateful else []
        if kept and kept[0].shape[0] != count:
            raise ValueError(
                "If an RNN is stateful, the batch size of the input sequences must be the same as "
                f"the batch size of the initial state. Received: {count}, {kept[0].shape[0]} before"
            )
        return [v._value() for v in kept] or [
            nb.zeros((count, self.units), dtype) for _ in range(self.states)
        ]

    def reset_states(self):
        """Has states of `stateful` begin as zeros."""
        self._kept.states.clear()

    reset_state = reset_states

    def compute_mask(self, inputs, previous_mask=None):
        """That of the input, of all outputs; states have none."""
        return previous_mask if self.return_sequences else None

    def _biases(self):
        return (None if self.bias is None else self.bias._value()), None

    def compute_output_shape(self, input_shape):
        if self.return_sequences:
            return (*input_shape[:2], self.units)
        return input_shape[0], self.units

    def _apply(self, function, array):
        return function(_ops.tensor(array))._value()


class SimpleRNN(_Recurrent):
    """h = activation(x @ kernel + h @ recurrent_kernel + bias)."""

    def _step(self, part, states, weights, _own):
        return [self._apply(self.activation, part + states[0] @ weights)]


class LSTM(_Recurrent):
    """Long short-term memory: gates for input, forgetting, candidates and output."""

    gates, states = 4, 2

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 unit_forget_bias=True, **options):  # fmt: skip
        super().__init__(units, activation, use_bias, **options)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias

    def _bias(self, n):
        bias = super()._bias(n)
        if self.unit_forget_bias:
            own = bias._a.copy()
            own[self.units : 2 * self.units] = 1
            bias.assign(Tensor(own))
        return bias

    def _step(self, part, states, weights, _own):
        n, (h, c) = self.units, states
        z = part + h @ weights
        i, f, o = (
            self._apply(self.recurrent_activation, z[:, k * n : (k + 1) * n]) for k in (0, 1, 3)
        )
        c = f * c + i * self._apply(self.activation, z[:, 2 * n : 3 * n])
        return [o * self._apply(self.activation, c), c]


class GRU(_Recurrent):
    """Gated recurrent units: update, reset, candidates."""

    gates = 3

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 reset_after=True, **options):  # fmt: skip
        super().__init__(units, activation, use_bias, **options)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.reset_after = reset_after

    def _bias(self, n):
        shape = (2, n) if self.reset_after else (n,)
        return self.add_weight(shape, self.bias_initializer, name="bias")

    def _biases(self):
        if self.bias is None or not self.reset_after:
            return super()._biases()
        both = self.bias._value()
        return both[0], both[1]

    def _step(self, part, states, weights, own):
        n, h = self.units, states[0]
        gates = h @ weights[:, : 2 * n]
        if own is not None:
            gates = gates + own[: 2 * n]
        z = self._apply(self.recurrent_activation, part[:, :n] + gates[:, :n])
        r = self._apply(self.recurrent_activation, part[:, n : 2 * n] + gates[:, n:])
        if self.reset_after:
            inner = h @ weights[:, 2 * n :]
            inner = r * (inner if own is None else inner + own[2 * n :])
        else:
            inner = (r * h) @ weights[:, 2 * n :]
        new = self._apply(self.activation, part[:, 2 * n :] + inner)
        return [z * h + (1 - z) * new]


def _copied(layer):
    """A layer of the same options, whose variables are still to be made."""
    made = copy.copy(layer)
    made._variables, made._regularized, made._added = [], [], copy.copy(layer._added)
    made._kept, made._frozen = _Kept(), []
    return made


class Bidirectional(Layer):
    """A recurrent layer, and another one that goes backwards."""

    supports_masking = True

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **options):
        super().__init__(**options)
        if merge_mode not in ("concat", "sum", "mul", "ave", None):
            raise ValueError(
                message("Bidirectional", "unknown merge_mode", merge_mode,
                        "'concat', 'sum', 'mul', 'ave' or None")
            )  # fmt: skip
        self.merge_mode, self.return_sequences = merge_mode, layer.return_sequences
        self.return_state, self.stateful = layer.return_state, layer.stateful
        self.has_rule = merge_mode is not None and not self.return_state
        self.forward_layer = _copied(layer)
        self.forward_layer.name = "forward_" + layer.name
        if backward_layer is None:
            backward_layer = _copied(self.forward_layer)
            backward_layer.go_backwards = True
            backward_layer.name = "backward_" + layer.name
        self.backward_layer = backward_layer
        if layer.go_backwards == backward_layer.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value. "
                f"Received: {layer.go_backwards} for both"
            )
        for name in ("stateful", "return_sequences", "return_state"):
            if getattr(layer, name) != getattr(backward_layer, name):
                raise ValueError(
                    message("Bidirectional", f"layers of different {name}",
                            getattr(backward_layer, name), getattr(layer, name))
                )  # fmt: skip
        for side in (self.forward_layer, self.backward_layer):
            side.zero_output_for_mask = self.return_sequences
        self._weights_given = weights

    def build(self, input_shape):
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(input_shape)
                layer.built = True
        if self._weights_given:
            self.set_weights(self._weights_given)

    def reset_states(self):
        """Has states of `stateful` begin as zeros."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    reset_state = reset_states

    def call(self, inputs, initial_state=None, training=False, mask=None):
        ahead = back = None
        if initial_state is not None:
            half = len(initial_state) // 2
            ahead, back = initial_state[:half], initial_state[half:]
        how = {"training": training, "mask": mask}
        x = self.forward_layer(inputs, initial_state=ahead, **how)
        y = self.backward_layer(inputs, initial_state=back, **how)
        states = ()
        if self.return_state:
            states, (x, y) = (*x[1:], *y[1:]), (x[0], y[0])
        made = self._merged(x._value(), y._value())
        return (*made, *states) if len(made) + len(states) > 1 else made[0]

    def _merged(self, x, y):
        if self.return_sequences:
            y = nb.flip(y, axis=1)
        if self.merge_mode is None:
            return _ops.tensor(x), _ops.tensor(y)
        if self.merge_mode == "concat":
            return (_ops.tensor(nb.concatenate([x, y], axis=-1)),)
        made = x * y if self.merge_mode == "mul" else x + y
        return (_ops.tensor(made / 2 if self.merge_mode == "ave" else made),)

    def compute_mask(self, inputs, previous_mask=None):
        """That of the input, of all outputs; states have none."""
        if not self.return_sequences:
            return None
        return previous_mask if self.merge_mode else [previous_mask, previous_mask]

    def compute_output_shape(self, input_shape):
        shape = self.forward_layer.compute_output_shape(input_shape)
        if self.merge_mode is None:
            return [shape, shape]
        return (*shape[:-1], 2 * shape[-1]) if self.merge_mode == "concat" else shape


class TimeDistributed(Layer):
    """A layer that is applied to each index of the second axis."""

    has_rule = True
    supports_masking = True

    def __init__(self, layer, **options):
        super().__init__(**options)
        self.layer = layer

    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build((input_shape[0], *input_shape[2:]))
            self.layer.built = True

    def call(self, inputs, training=None, mask=None):
        if mask is not None and _takes(self.layer.call, "mask"):
            _refuse(self, mask=mask)
        x = inputs._value()
        flat = _ops.tensor(x.reshape((-1, *x.shape[2:])))
        made = self.layer(flat) if training is None else self.layer(flat, training=training)
        made = made._value()
        return _ops.tensor(made.reshape((*x.shape[:2], *made.shape[1:])))

    def compute_output_shape(self, input_shape):
        after = self.layer.compute_output_shape((input_shape[0], *input_shape[2:]))
        return (input_shape[0], input_shape[1], *after[1:])
