"""Recurrent nets: RNN, LSTM and GRU over sequences, and their cells."""

import math

import numpy

from ...core.errors import message
from ...tensors import Parameter, empty, tensor, zeros
from .. import init
from ..functional.recurrent import cell, recurrent
from ..utils import rnn
from .module import Module

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """What RNN, LSTM and GRU share; parameters are uniform up to 1 / sqrt(hidden_size)."""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        op = type(self).__name__
        if not 0 <= dropout <= 1:
            raise ValueError(message(op, "dropout is no probability", dropout, "0 to 1"))
        for name, value in (("hidden_size", hidden_size), ("num_layers", num_layers)):
            if value <= 0:
                raise ValueError(message(op, f"{name} is not positive", value, "1 and more"))
        if proj_size < 0 or proj_size >= hidden_size or (proj_size and mode != "LSTM"):
            raise ValueError(
                message(op, "proj_size", proj_size, "below hidden_size, and for LSTM only")
            )
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        self._names = []
        where = {"device": device, "dtype": dtype}
        rows, out = _GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            columns = input_size if layer == 0 else out * self._directions
            for suffix in ["", "_reverse"][: self._directions]:
                shapes = {"weight_ih": (rows, columns), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = []
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"):
                    name = f"{kind}_l{layer}{suffix}" if kind in shapes else None
                    names.append(name)
                    if name:
                        self.register_parameter(name, Parameter(empty(shapes[kind], **where)))
                self._names.append(names)
        self.reset_parameters()

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    def reset_parameters(self):
        """Draws the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self):
        """Nothing to do: products take the parameters where they lie."""

    @property
    def all_weights(self):
        """The parameters of each layer and direction, as lists."""
        return [[getattr(self, n) for n in names if n] for names in self._names]

    def _sizes(self):
        """The extents of each state."""
        out = self.proj_size or self.hidden_size
        return (out, self.hidden_size) if self.mode == "LSTM" else (out,)

    def _given(self, input, states):
        """(input as (steps, batch, in), states, whether there was a batch)."""
        op = type(self).__name__
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            form = "(batch, steps, in)" if self.batch_first else "(steps, batch, in)"
            raise ValueError(
                message(op, f"input does not fit input_size={self.input_size}",
                        f"shape {tuple(input.shape)}",
                        f"{form} or (steps, in) with in {self.input_size}")
            )  # fmt: skip
        had_batch = input.ndim == 3
        x = input if had_batch else input.unsqueeze(1)
        if had_batch and self.batch_first:
            x = x.transpose(0, 1)
        lines = self.num_layers * self._directions
        shapes = [(lines, x.shape[1], n) for n in self._sizes()]
        if states is None:
            states = [zeros(s, dtype=input.dtype, device=input.device) for s in shapes]
        elif not had_batch:
            states = [s.unsqueeze(1) if s.ndim == 2 else s for s in states]
        for name, s, shape in zip(("h_0", "c_0"), states, shapes):
            if tuple(s.shape) != shape:
                raise ValueError(
                    message(op, f"{name} does not fit input of shape {tuple(input.shape)}",
                            tuple(s.shape), shape if had_batch else (shape[0], shape[2]))
                )  # fmt: skip
        return x, tuple(states), had_batch

    def _run_packed(self, packed, states):
        """The same of a PackedSequence: states are those after the last step of each sequence."""
        order, inverse = packed.sorted_indices, packed.unsorted_indices
        x, _ = rnn.pad_packed_sequence(packed._replace(sorted_indices=None, unsorted_indices=None))
        lengths = rnn.lengths_of(packed.batch_sizes.tolist())
        here = numpy.arange(x.shape[0])[:, None] < lengths[None, :]
        if states is not None and order is not None:
            states = [s.index_select(1, order.to(s.device)) for s in states]
        turned = x.transpose(0, 1) if self.batch_first else x
        x, states, _ = self._given(turned, states)
        weights = [[getattr(self, n) if n else None for n in names] for names in self._names]
        dropout = self.dropout if self.training else 0.0
        here = tensor(here).to(x.device)
        y, last = recurrent(self.mode, x, states, weights, self._directions, dropout, here)
        data = rnn.pack_padded_sequence(y, lengths.tolist()).data
        if inverse is not None:
            last = tuple(s.index_select(1, inverse.to(s.device)) for s in last)
        return packed._replace(data=data), last

    def _run(self, input, states):
        if isinstance(input, rnn.PackedSequence):
            return self._run_packed(input, states)
        x, states, had_batch = self._given(input, states)
        weights = [[getattr(self, n) if n else None for n in names] for names in self._names]
        dropout = self.dropout if self.training else 0.0
        y, last = recurrent(self.mode, x, states, weights, self._directions, dropout)
        if not had_batch:
            return y.squeeze(1), tuple(s.squeeze(1) for s in last)
        return (y.transpose(0, 1) if self.batch_first else y), last

    def forward(self, input, hx=None):
        y, last = self._run(input, None if hx is None else (hx,))
        return y, last[0]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        for name, usual in (
            ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0.0),
            ("bidirectional", False),
        ):  # fmt: skip
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """h' = tanh(w_ih x + b_ih + w_hh h + b_hh) over sequences, in layers.

    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int, default 1
    nonlinearity : {"tanh", "relu"}
    bias : bool, default True
    batch_first : bool, default False
        Input and output are (batch, steps, …) instead of (steps, batch, …).
    dropout : float, default 0
        Of the outputs of all layers but the last, while training.
    bidirectional : bool, default False

    Notes
    -----
    Called with `(input, h_0)` it returns `(output, h_n)`; states are of shape
    (num_layers * directions, batch, hidden_size), zeros unless given. Raises ValueError for extents
    that do not fit. The input may be a PackedSequence (`nn.utils.rnn`); the output is one, too.
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(message("RNN", "nonlinearity", repr(nonlinearity), "'tanh' or 'relu'"))
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first,
            dropout, bidirectional, 0, device, dtype,
        )  # fmt: skip


class GRU(RNNBase):
    """The gated recurrent unit over sequences, in layers; arguments and results as of `RNN`."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
    ):
        super().__init__(
            "GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            0, device, dtype,
        )  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory over sequences, in layers; arguments as of `RNN`.

    Called with `(input, (h_0, c_0))` it returns `(output, (h_n, c_n))`. proj_size: what states are
    projected to, of which outputs consist then.
    """

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, proj_size, device, dtype,
        )  # fmt: skip

    def forward(self, input, hx=None):
        return self._run(input, hx)


class RNNCellBase(Module):
    _mode = ""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _GATES[self._mode or "RNN_TANH"] * hidden_size
        where = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty((rows, input_size), **where))
        self.weight_hh = Parameter(empty((rows, hidden_size), **where))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty((rows,), **where)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _run(self, input, states, count):
        op = type(self).__name__
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise ValueError(
                message(op, f"input does not fit input_size={self.input_size}",
                        f"shape {tuple(input.shape)}", f"(batch, {self.input_size})")
            )  # fmt: skip
        shape = (*input.shape[:-1], self.hidden_size)
        if states is None:
            states = [zeros(shape, dtype=input.dtype, device=input.device)] * count
        for s in states:
            if tuple(s.shape) != shape:
                raise ValueError(message(op, "state does not fit", tuple(s.shape), shape))
        weights = [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None]
        return cell(self._mode, input, tuple(states), weights)

    def forward(self, input, hx=None):
        return self._run(input, None if hx is None else (hx,), 1)[0]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else text + ", bias=False"


class RNNCell(RNNCellBase):
    """One step of RNN: `(input, h)` gives the next h."""

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                message("RNNCell", "nonlinearity", repr(nonlinearity), "'tanh' or 'relu'")
            )
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity
        self._mode = f"RNN_{nonlinearity.upper()}"

    def extra_repr(self):
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity={self.nonlinearity}"


class GRUCell(RNNCellBase):
    """One step of GRU: `(input, h)` gives the next h."""

    _mode = "GRU"


class LSTMCell(RNNCellBase):
    """One step of LSTM: `(input, (h, c))` gives the next (h, c)."""

    _mode = "LSTM"

    def forward(self, input, hx=None):
        return self._run(input, hx, 2)
