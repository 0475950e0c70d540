"""Recurrent cells, whose call is one step, and the layer that calls them for each step."""

import numbus as nb

from ....core.errors import message
from .. import _ops
from .._tensor import convert
from ._layers import Layer, _refuse, _takes
from ._recurrent import GRU, LSTM, SimpleRNN, _Kept


def _arrays(states):
    given = states if isinstance(states, (list, tuple)) else [states]
    return [convert(s)._value() for s in given]


class _Cell:
    """One step of a layer: of (inputs, states) the output and the states after it."""

    def build(self, input_shape):
        super().build((input_shape[0], None, input_shape[-1]))

    @property
    def state_size(self):
        """The widths of the states."""
        return self.units if self.states == 1 else [self.units] * self.states

    output_size = property(lambda self: self.units)

    def get_initial_state(self, batch_size=None, dtype="float32"):
        """States of zeros."""
        return [_ops.zeros((batch_size, self.units), dtype) for _ in range(self.states)]

    def call(self, inputs, states, training=False):
        """The output, and a list of the states after it."""
        if training and self.dropout:
            _refuse(self, dropout=self.dropout)
        parts = inputs._value() @ self.kernel._value()
        bias, own = self._biases()
        parts = parts if bias is None else parts + bias
        after = self._step(parts, _arrays(states), self.recurrent_kernel._value(), own)
        found = [_ops.tensor(s) for s in after]
        return found[0], found

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units


def _cell(name, layer):
    doc = f"One step of {layer.__name__}."
    return type(name, (_Cell, layer), {"__doc__": doc, "has_rule": False})


SimpleRNNCell, LSTMCell = _cell("SimpleRNNCell", SimpleRNN), _cell("LSTMCell", LSTM)
GRUCell = _cell("GRUCell", GRU)


class StackedRNNCells(Layer):
    """Cells one upon another: each takes the output of the one before."""

    def __init__(self, cells, **options):
        super().__init__(**options)
        self.cells = list(cells)

    @property
    def state_size(self):
        """The widths of the states of all cells."""
        return [c.state_size for c in self.cells]

    output_size = property(lambda self: self.cells[-1].output_size)

    def get_initial_state(self, batch_size=None, dtype="float32"):
        """States of zeros, those of each cell in a list."""
        return [_zeros(c, batch_size, dtype) for c in self.cells]

    def build(self, input_shape):
        width = input_shape[-1]
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build((input_shape[0], width))
                cell.built = True
            width = cell.output_size

    def call(self, inputs, states, training=False):
        """The output of the last cell, and the states of each."""
        x, made = inputs, []
        for cell, own in zip(self.cells, states, strict=True):
            x, after = _called(cell, x, own, training)
            made.append(after)
        return x, made


def _zeros(cell, count, dtype):
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(batch_size=count, dtype=dtype)
    size = cell.state_size
    sizes = size if isinstance(size, (list, tuple)) else [size]
    return [_ops.zeros((count, *(n if isinstance(n, (list, tuple)) else (n,))), dtype)
            for n in sizes]  # fmt: skip


def _called(cell, x, states, training):
    call = cell.call if isinstance(cell, Layer) else cell
    options = {"training": training} if _takes(getattr(call, "__func__", call), "training") else {}
    found, after = cell(x, states, **options)
    return found, list(after) if isinstance(after, (list, tuple)) else [after]


class RNN(Layer):
    """A cell that is called for each step of the second axis.

    cell: with `state_size` and a call of (inputs, states), or several such cells.
    """

    supports_masking = True

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, unroll=False, zero_output_for_mask=False, **options):  # fmt: skip
        super().__init__(**options)
        _refuse(self, stateful=stateful or None)
        if not isinstance(unroll, bool):
            raise TypeError(message("RNN", "not a bool", unroll, "True or False"))
        cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        for name in ("state_size",):
            if not hasattr(cell, name):
                raise ValueError(message("RNN", f"a cell without {name}", type(cell).__name__,
                                         "units, or a list of them"))  # fmt: skip
        self.cell, self.return_sequences, self.return_state = cell, return_sequences, return_state
        self.go_backwards, self.zero_output_for_mask = go_backwards, zero_output_for_mask
        self.stateful, self._kept = False, _Kept()

    def build(self, input_shape):
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((input_shape[0], *input_shape[2:]))
            self.cell.built = True

    def get_initial_state(self, batch_size):
        """States of zeros."""
        return _zeros(self.cell, batch_size, self.dtype)

    def call(self, inputs, initial_state=None, mask=None, training=False):
        """The last output, or all; with `return_state` the states after it, too."""
        x = inputs._value()
        states = initial_state
        if states is None:
            states = self.get_initial_state(x.shape[0])
        states = list(states) if isinstance(states, (list, tuple)) else [states]
        on = None if mask is None else convert(mask)._value().astype(bool)
        found, steps = [], range(x.shape[1])
        for k in reversed(steps) if self.go_backwards else steps:
            output, after = _called(self.cell, _ops.tensor(x[:, k]), states, training)
            if on is not None:
                last = found[-1] if found and not self.zero_output_for_mask else None
                output, after = _chosen(on[:, k], output, last, after, states)
            states = after
            found.append(output)
        made = found[-1]
        if self.return_sequences:
            made = _ops.tensor(nb.stack([t._value() for t in found], axis=1))
        return (made, *states) if self.return_state else made

    def compute_output_shape(self, input_shape):
        size = self.cell.state_size
        size = getattr(self.cell, "output_size", size[0] if isinstance(size, list) else size)
        after = tuple(size) if isinstance(size, (list, tuple)) else (size,)
        return (*input_shape[: 1 + self.return_sequences], *after)

    def compute_mask(self, inputs, previous_mask=None):
        """That of the input, of all outputs; states have none."""
        return previous_mask if self.return_sequences else None


def _chosen(on, output, last, after, states):
    def where(new, old):
        if isinstance(new, (list, tuple)):
            return [where(a, b) for a, b in zip(new, old, strict=True)]
        a, b = new._value(), convert(old)._value()
        return _ops.tensor(nb.where(on.reshape((-1, *[1] * (a.ndim - 1))), a, b))

    before = _ops.zeros(tuple(output.shape), output.dtype) if last is None else last
    return where(output, before), where(after, states)
