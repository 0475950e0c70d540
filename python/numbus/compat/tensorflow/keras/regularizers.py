"""keras.regularizers: what is added to the loss for the size of variables, or of outputs."""

import math

import numbus as nb

from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import convert

__name__ = "keras.regularizers"


def _number(name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (
        math.isfinite(value) and value >= 0
    ):  # fmt: skip
        raise ValueError(
            f"Invalid value for argument {name}: expected a non-negative float. Received: {value}"
        )
    return float(value)


class Regularizer:
    """A function of a tensor that gives a number."""

    def __call__(self, x):
        raise NotImplementedError(message("Regularizer", "no __call__", type(self), "a method"))


class L1L2(Regularizer):
    """l1 * sum(|x|) + l2 * sum(x²)."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = _number("l1", 0.0 if l1 is None else l1)
        self.l2 = _number("l2", 0.0 if l2 is None else l2)

    def __call__(self, x):
        a = convert(x)._value()
        found = None
        if self.l1:
            found = nb.sum(nb.abs(a)) * self.l1
        if self.l2:
            squares = nb.sum(nb.square(a)) * self.l2
            found = squares if found is None else found + squares
        return _ops.zeros((), a.dtype) if found is None else _ops.tensor(found)

    def get_config(self):
        """What makes an equal one."""
        return {"l1": self.l1, "l2": self.l2}


class L1(L1L2):
    """l1 * sum(|x|)."""

    def __init__(self, l1=0.01):
        super().__init__(l1=0.01 if l1 is None else l1)

    def get_config(self):
        """What makes an equal one."""
        return {"l1": self.l1}


class L2(L1L2):
    """l2 * sum(x²)."""

    def __init__(self, l2=0.01):
        super().__init__(l2=0.01 if l2 is None else l2)

    def get_config(self):
        """What makes an equal one."""
        return {"l2": self.l2}


class OrthogonalRegularizer(Regularizer):
    """factor * the mean of |cosines| between the rows, or the columns, of a matrix."""

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in ("rows", "columns"):
            raise ValueError(message("OrthogonalRegularizer", "unknown mode", mode,
                                     "'rows' or 'columns'"))  # fmt: skip
        self.factor, self.mode = _number("factor", factor), mode

    def __call__(self, x):
        a = convert(x)._value()
        if a.ndim != 2:
            raise ValueError(
                message("OrthogonalRegularizer", "no matrix", tuple(a.shape), "two dimensions")
            )
        a = a if self.mode == "rows" else a.T
        size = a.shape[0]
        norms = nb.sqrt(nb.maximum(nb.sum(nb.square(a), axis=1, keepdims=True), 1e-12))
        unit = a / norms
        cosines = nb.abs(unit @ unit.T) * (1.0 - nb.eye(size, dtype=a.dtype))
        pairs = size * (size - 1.0) / 2.0
        return _ops.tensor(0.5 * self.factor * nb.sum(cosines) / pairs)

    def get_config(self):
        """What makes an equal one."""
        return {"factor": self.factor, "mode": self.mode}


l1, l2, l1_l2, orthogonal_regularizer = L1, L2, L1L2, OrthogonalRegularizer
_NAMES = {
    "l1": L1, "L1": L1, "l2": L2, "L2": L2, "l1_l2": L1L2, "l1l2": L1L2, "L1L2": L1L2,
    "orthogonal_regularizer": OrthogonalRegularizer,
    "OrthogonalRegularizer": OrthogonalRegularizer,
}  # fmt: skip


def get(identifier):
    """A regularizer from its name; functions stay as they are."""
    if isinstance(identifier, str) and identifier in _NAMES:
        return _NAMES[identifier]()
    if isinstance(identifier, type):
        return identifier()
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret regularizer identifier: {identifier}")


def __getattr__(name):
    return _missing("keras.regularizers", name)
