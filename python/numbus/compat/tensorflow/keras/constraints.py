"""keras.constraints: what optimizers make of variables after a step."""

import numbus as nb

from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import convert

__name__ = "keras.constraints"


class Constraint:
    """A function of a variable that gives what it becomes."""

    def __call__(self, w):
        return w


class NonNeg(Constraint):
    """Negative elements as 0."""

    def __call__(self, w):
        return _ops.tensor(nb.maximum(convert(w)._value(), 0))


class MinMaxNorm(Constraint):
    """Lengths along an axis brought between two numbers, by a part of the way."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        a = convert(w)._value()
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        norms = nb.sqrt(nb.sum(nb.square(a), axis=axis, keepdims=True))
        return _ops.tensor(a * (self._desired(norms) / (1e-7 + norms)))

    def _desired(self, norms):
        found = nb.clip(norms, self.min_value, self.max_value)
        return self.rate * found + (1 - self.rate) * norms

    def get_config(self):
        """What makes an equal one."""
        names = ("min_value", "max_value", "rate", "axis")
        return {name: getattr(self, name) for name in names}


class MaxNorm(MinMaxNorm):
    """Lengths along an axis of at most a number."""

    def __init__(self, max_value=2, axis=0):
        super().__init__(0.0, max_value, axis=axis)

    def get_config(self):
        """What makes an equal one."""
        return {"max_value": self.max_value, "axis": self.axis}


class UnitNorm(MinMaxNorm):
    """Lengths of 1 along an axis."""

    def __init__(self, axis=0):
        super().__init__(axis=axis)

    def _desired(self, _norms):
        return 1.0

    def get_config(self):
        """What makes an equal one."""
        return {"axis": self.axis}


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
_NAMES = {
    "MaxNorm": MaxNorm, "max_norm": MaxNorm, "NonNeg": NonNeg, "non_neg": NonNeg,
    "UnitNorm": UnitNorm, "unit_norm": UnitNorm, "MinMaxNorm": MinMaxNorm,
    "min_max_norm": MinMaxNorm,
}  # fmt: skip


def get(identifier):
    """A constraint from its name, class or configuration; functions stay as they are."""
    if isinstance(identifier, dict):
        return _NAMES[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str) and identifier in _NAMES:
        return _NAMES[identifier]()
    if isinstance(identifier, type):
        return identifier()
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(
        message("constraint", "could not interpret the identifier", identifier, ", ".join(_NAMES))
    )


def __getattr__(name):
    return _missing("keras.constraints", name)
