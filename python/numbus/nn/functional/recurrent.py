"""Recurrent nets over a sequence, of arrays: the steps of a layer, layers and directions."""

from ...functions import names as np
from ...tensors import tensor_function
from ._recurrent_steps import Gru as _Gru
from ._recurrent_steps import Lstm as _Lstm
from ._recurrent_steps import Relu as _Relu
from ._recurrent_steps import Tanh as _Tanh
from ._recurrent_steps import steps_of
from .activations import logistic
from .dropouts import kept

__all__ = []


def _relu(x):
    return np.where(x <= 0, x.dtype.type(0), x)


def _product(h, w, b):
    y = np.matmul(h, w.T)
    return y if b is None else y + b


def _plain_step(given, h, w, b, activation):
    """tanh or relu of what the input gives and the last state does."""
    z = given + _product(h, w, b)
    return np.tanh(z) if activation == "tanh" else _relu(z)


def _lstm_step(given, h, c, w, b, projection):
    """(state, cell) by input, forget and output gates (Hochreiter and Schmidhuber, 1997)."""
    z = given + _product(h, w, b)
    n = z.shape[-1] // 4
    i, f = logistic(z[..., :n]), logistic(z[..., n : 2 * n])
    g, o = np.tanh(z[..., 2 * n : 3 * n]), logistic(z[..., 3 * n :])
    c = f * c + i * g
    h = o * np.tanh(c)
    return (h if projection is None else np.matmul(h, projection.T)), c


def _gru_step(given, h, w, b):
    """The state by reset and update gates (Cho et al., 2014, with the reset after the product)."""
    z = _product(h, w, b)
    n = z.shape[-1] // 3
    r = logistic(given[..., :n] + z[..., :n])
    u = logistic(given[..., n : 2 * n] + z[..., n : 2 * n])
    new = np.tanh(given[..., 2 * n :] + r * z[..., 2 * n :])
    return (1 - u) * new + u * h


def _step(mode, given, state, weights):
    """One step: state is (h,) or (h, c); weights: w_ih, w_hh, b_ih, b_hh, w_hr, some of them None.

    given: the input times w_ih, with b_ih.
    """
    _, w, _, b, projection = weights
    if mode == "LSTM":
        return _lstm_step(given, *state, w, b, projection)
    if mode == "GRU":
        return (_gru_step(given, *state, w, b),)
    return (_plain_step(given, *state, w, b, "relu" if mode == "RNN_RELU" else "tanh"),)


def _direction(mode, x, state, weights, backwards, here):
    """(states of all steps, last state) of one layer in one direction; x: (steps, batch, in).

    here: (steps, batch), which sequences have a step, the others keep their state; None: all.
    """
    every = _product(x, weights[0], weights[2])
    order = range(x.shape[0])
    order = list(reversed(order)) if backwards else list(order)
    if weights[4] is None and np.result_type(every, *state, weights[1]) == every.dtype:
        net = {"LSTM": _Lstm, "GRU": _Gru, "RNN_RELU": _Relu, "RNN_TANH": _Tanh}[mode]
        return steps_of(net, every, state, weights[1], weights[3], order, here)
    found = [None] * x.shape[0]
    for t in order:
        after = _step(mode, every[t], state, weights)
        if here is not None:
            has = here[t][:, None]
            after = tuple(np.where(has, new, old) for new, old in zip(after, state, strict=True))
        state = after
        found[t] = state[0]
    return np.stack(found), state


@tensor_function
def recurrent(mode, x, states, weights, directions, dropout, here=None):
    """A net of layers over x of shape (steps, batch, in).

    states: (h,) or (h, c), of shape (layers * directions, batch, size); weights: w_ih, w_hh, b_ih,
    b_hh and w_hr, some of them None, for each layer and direction; dropout: the probability for the
    outputs of all layers but the last; here: which sequences have a step, (steps, batch), or None.
    Returns (output, last states).
    """
    layers = len(weights) // directions
    last = [[] for _ in states]
    for layer in range(layers):
        outputs = []
        for d in range(directions):
            k = layer * directions + d
            y, state = _direction(mode, x, tuple(s[k] for s in states), weights[k], d == 1, here)
            outputs.append(y)
            for line, s in zip(last, state, strict=True):
                line.append(s)
        x = outputs[0] if directions == 1 else np.concatenate(outputs, axis=-1)
        if dropout > 0 and layer < layers - 1:
            x = x * (kept(x.shape, dropout, x) * (1 / (1 - dropout)))
    return x, tuple(np.stack(s) for s in last)


@tensor_function
def cell(mode, x, state, weights):
    """One step of (batch, in): the new state, a tuple of (batch, size)."""
    return _step(mode, _product(x, weights[0], weights[2]), state, weights)
