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


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of squared differences."""

    def __init__(self, name="root_mean_squared_error", dtype="float32"):
        super().__init__(name, dtype)

    def result(self):
        """The root of the mean so far."""
        return _ops.tensor(nb.sqrt(super().result()._value()))


class _Confusion(Metric):
    """How often predictions are above thresholds, by what is true: counts that add up."""

    def __init__(self, thresholds, name, dtype):
        super().__init__(name, dtype)
        self._edges = nb.array(thresholds, dtype="f4")
        # By thresholds: true and above, false and above; of all: true, false.
        self._above = nb.zeros((2, len(thresholds)), "f4")
        self._of = nb.zeros(2, "f4")

    def reset_state(self):
        """Begins anew."""
        self._above[...] = 0
        self._of[...] = 0

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds predictions and what is true."""
        t, p = losses.matching(y_true, y_pred)
        t, p = nb.stop_gradient(t).astype(bool), nb.stop_gradient(p).astype("f4")
        weights = None if sample_weight is None else _ops.cast(sample_weight, "float32")
        mask = _masks.mask_of(y_pred)
        w = as_array(_masks.weighed(nb.ones(p.shape, "f4"), mask, weights, False))
        self._counted(t.reshape(-1), p.reshape(-1), w.reshape(-1))

    def _counted(self, t, p, w):
        one = nb.where(t, w, w.dtype.type(0))
        other = w - one
        above = (p[:, None] > self._edges).astype("f4")
        self._above += nb.stack([one @ above, other @ above])
        self._of += nb.stack([nb.sum(one), nb.sum(other)])


observe(
    _Confusion, _Confusion._counted, lambda m: Parts([(ITEMS, m.__dict__, None, flat(m.__dict__))])
)


def _over(a, b):
    """The quotient, 0 where `b` is."""
    return nb.where(b == 0, b.dtype.type(0), a / nb.where(b == 0, b.dtype.type(1), b))


class _Rate(_Confusion):
    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype="float32"):
        if top_k is not None or class_id is not None:
            raise NotImplementedError(
                message(type(self).__name__, "top_k= and class_id= are not yet available",
                        (top_k, class_id), "None")
            )  # fmt: skip
        self._several = isinstance(thresholds, (list, tuple))
        given = thresholds if self._several else [0.5 if thresholds is None else thresholds]
        super().__init__(given, name or type(self).__name__.lower(), dtype)

    def result(self):
        """The rate so far: a number, or one for each threshold of a list."""
        found = _over(self._above[0], self._under())
        return _ops.tensor(found if self._several else found[0])


class Precision(_Rate):
    """Which part of what is predicted is true."""

    def _under(self):
        return self._above[0] + self._above[1]


class Recall(_Rate):
    """Which part of what is true is predicted."""

    def _under(self):
        return nb.broadcast_to(self._of[0], self._above[0].shape)


class AUC(_Confusion):
    """The area below a curve of rates over thresholds: 'ROC', or 'PR' of precision and recall."""

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="interpolation",
                 name=None, dtype="float32", thresholds=None, multi_label=False, num_labels=None,
                 label_weights=None, from_logits=False):  # fmt: skip
        if multi_label or num_labels is not None or label_weights is not None:
            raise NotImplementedError(
                message("AUC", "several labels are not yet available",
                        (multi_label, num_labels, label_weights), "the defaults")
            )  # fmt: skip
        self.curve, self.summation_method = str(curve).upper(), str(summation_method).lower()
        if self.curve not in ("ROC", "PR"):
            raise ValueError(message("AUC", "unknown curve", curve, "'ROC' or 'PR'"))
        if self.summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(
                message("AUC", "unknown summation_method", summation_method,
                        "'interpolation', 'minoring' or 'majoring'")
            )  # fmt: skip
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError(f"Argument `num_thresholds` must be an integer > 1. Received: "
                                 f"num_thresholds={num_thresholds}")  # fmt: skip
            thresholds = [(k + 1) / (num_thresholds - 1) for k in range(num_thresholds - 2)]
        self.from_logits = bool(from_logits)
        super().__init__([-1e-7, *sorted(thresholds), 1 + 1e-7], name or "auc", dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds predictions and what is true."""
        p = _ops.UNARY["sigmoid"](convert(y_pred)) if self.from_logits else y_pred
        super().update_state(y_true, p, sample_weight)

    def result(self):
        """The area so far."""
        tp, fp = self._above[0], self._above[1]
        if self.curve == "PR" and self.summation_method == "interpolation":
            return _ops.tensor(self._between(tp, tp + fp))
        recall = _over(tp, nb.broadcast_to(self._of[0], tp.shape))
        if self.curve == "ROC":
            x, y = _over(fp, nb.broadcast_to(self._of[1], fp.shape)), recall
        else:
            x, y = recall, _over(tp, tp + fp)
        if self.summation_method == "interpolation":
            heights = (y[:-1] + y[1:]) / 2
        else:
            least = self.summation_method == "minoring"
            heights = (nb.minimum if least else nb.maximum)(y[:-1], y[1:])
        return _ops.tensor(nb.sum((x[:-1] - x[1:]) * heights))

    def _between(self, tp, p):
        """Precision between thresholds as true positives change in a line (Davis and Goadrich,
        2006).
        """
        zero = tp.dtype.type(0)
        change = tp[:-1] - tp[1:]
        slope = _over(change, nb.maximum(p[:-1] - p[1:], zero))
        intercept = tp[1:] - slope * p[1:]
        both = nb.logical_and(p[:-1] > 0, p[1:] > 0)
        ratio = nb.where(both, _over(p[:-1], nb.maximum(p[1:], zero)), tp.dtype.type(1))
        parts = slope * (change + intercept * nb.log(ratio))
        return nb.sum(_over(parts, nb.broadcast_to(nb.maximum(self._of[0], zero), parts.shape)))


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
        "root_mean_squared_error": RootMeanSquaredError, "precision": Precision,
        "recall": Recall, "auc": AUC, "Precision": Precision, "Recall": Recall, "AUC": AUC,
    }  # fmt: skip
    if identifier in known:
        return known[identifier](name=identifier.lower())
    raise ValueError(message("metric", "unknown", identifier, "accuracy, " + ", ".join(known)))


def __getattr__(name):
    return _missing("keras.metrics", name)
