"""keras.metrics: means over batches."""

import numbus as nb

from ....core.compiling import ITEMS, Parts, flat, observe
from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import as_array, convert
from . import _masks, losses

__name__ = "keras.metrics"


class Metric:
    """A mean: `update_state`, `result`, `reset_state`. Totals are arrays that are changed in place,
    and are read when they are asked for.
    """

    def __init__(self, name=None, dtype="float32"):
        self.name = name or type(self).__name__.lower()
        self.dtype = dtype
        self._total, self._count = nb.zeros((), "f4"), nb.zeros((), "f4")

    def reset_state(self):
        """Begins anew."""
        self._total[...] = 0
        self._count[...] = 0

    def reset_states(self):
        """`reset_state`."""
        self.reset_state()

    def _add(self, values, weight=None):
        a = as_array(nb.stop_gradient(as_array(values))).astype("f4")
        if weight is None or isinstance(weight, (int, float)):
            w = 1.0 if weight is None else float(weight)
            self._total += nb.sum(a) * w
            self._count += a.size * w
        else:
            w = nb.stop_gradient(convert(weight, a.dtype)._value())
            self._total += nb.sum(a * w)
            self._count += nb.sum(w)

    def result(self):
        """The mean so far, 0 before the first value."""
        none = self._count == 0
        return _ops.tensor(self._total / (self._count + none))

    def __call__(self, *args, **keywords):
        self.update_state(*args, **keywords)
        return self.result()


observe(Metric, Metric._add, lambda m: Parts([(ITEMS, m.__dict__, None, flat(m.__dict__))]))


class Mean(Metric):
    """The mean of values."""

    def update_state(self, values, sample_weight=None):
        """Adds values."""
        self._add(convert(values)._value(), sample_weight)


class _Labelled(Metric):
    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds examples."""
        values, mask = as_array(self.values(y_true, y_pred)), _masks.mask_of(y_pred)
        if mask is not None:
            ones = nb.ones(values.shape, "f4")
            sample_weight = _ops.tensor(_masks.weighed(ones, mask, sample_weight, False))
        self._add(values, sample_weight)


class SparseCategoricalAccuracy(_Labelled):
    """How often the largest prediction is that of the label's class."""

    def __init__(self, name="sparse_categorical_accuracy", dtype="float32"):
        super().__init__(name, dtype)

    def values(self, y_true, y_pred):
        p, k = convert(y_pred)._value(), convert(y_true)._value()
        k = k[..., 0] if k.ndim == p.ndim else k
        return nb.argmax(p, axis=-1) == k.astype("i8")


class CategoricalAccuracy(_Labelled):
    """How often the largest prediction is where the largest label is."""

    def __init__(self, name="categorical_accuracy", dtype="float32"):
        super().__init__(name, dtype)

    def values(self, y_true, y_pred):
        p, t = convert(y_pred)._value(), convert(y_true)._value()
        return nb.argmax(p, axis=-1) == nb.argmax(t, axis=-1)


class BinaryAccuracy(_Labelled):
    """How often a prediction above the threshold has the label 1."""

    def __init__(self, name="binary_accuracy", dtype="float32", threshold=0.5):
        super().__init__(name, dtype)
        self.threshold = threshold

    def values(self, y_true, y_pred):
        t, p = losses.matching(y_true, y_pred)
        return (p > self.threshold) == (t > 0.5)


class Accuracy(_Labelled):
    """How often predictions equal labels."""

    def __init__(self, name="accuracy", dtype="float32"):
        super().__init__(name, dtype)

    def values(self, y_true, y_pred):
        t, p = losses.matching(y_true, y_pred)
        return t == p


class MeanSquaredError(_Labelled):
    """The mean of squared differences."""

    def __init__(self, name="mean_squared_error", dtype="float32"):
        super().__init__(name, dtype)

    def values(self, y_true, y_pred):
        return losses.mean_squared_error(y_true, y_pred)._value()


class MeanAbsoluteError(_Labelled):
    """The mean of differences' amounts."""

    def __init__(self, name="mean_absolute_error", dtype="float32"):
        super().__init__(name, dtype)

    def values(self, y_true, y_pred):
        return losses.mean_absolute_error(y_true, y_pred)._value()


def get(identifier, y_true, y_pred):
    """A metric from its name; 'accuracy' is chosen by the shapes."""
    if isinstance(identifier, Metric):
        return identifier
    if identifier in ("accuracy", "acc"):
        t, p = y_true.shape, y_pred.shape
        if len(p) == 1 or p[-1] == 1:
            return BinaryAccuracy(identifier)
        if len(t) < len(p) or t[-1] == 1:
            return SparseCategoricalAccuracy(identifier)
        return CategoricalAccuracy(identifier)
    known = {
        "mse": MeanSquaredError, "mean_squared_error": MeanSquaredError,
        "mae": MeanAbsoluteError, "mean_absolute_error": MeanAbsoluteError,
        "sparse_categorical_accuracy": SparseCategoricalAccuracy,
        "categorical_accuracy": CategoricalAccuracy, "binary_accuracy": BinaryAccuracy,
    }  # fmt: skip
    if identifier in known:
        return known[identifier](identifier)
    raise ValueError(message("metric", "unknown", identifier, "accuracy, " + ", ".join(known)))


def __getattr__(name):
    return _missing("keras.metrics", name)
