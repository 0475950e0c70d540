"""keras.metrics: means over batches."""

import numbus as nb

from ....core.compiling import ITEMS, Parts, flat, observe
from ....core.errors import message
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import as_array, convert
from . import _masks, losses
from ._counts import (  # noqa: F401
    AUC,
    BinaryIoU,
    F1Score,
    FalseNegatives,
    FalsePositives,
    FBetaScore,
    IoU,
    MeanIoU,
    OneHotIoU,
    OneHotMeanIoU,
    Precision,
    PrecisionAtRecall,
    R2Score,
    Recall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from ._layers import new_name, snake_case
from ._metric import Metric

__name__ = "keras.metrics"


def _of_samples(values, weights, fold):
    """A number for each example, times its weight, and the weights."""
    a = as_array(nb.stop_gradient(as_array(values._value()))).astype("f4")
    w = None
    if weights is not None:
        w = nb.stop_gradient(_masks.weights_of(_masks.mask_of(values), weights, a.dtype, False))
        a, w = _masks.same_rank(a, w)
        weighed = w.ndim
        if a.ndim > weighed:
            a = fold(a, axis=tuple(range(weighed, a.ndim)))
        made = _masks.times(a, w)
        if made.shape != a.shape:
            raise ValueError(
                message("sample_weight", "weights do not fit the values", w.shape, a.shape)
            )
        w = nb.broadcast_to(w, a.shape)
        a = made
        if weighed > 1:
            w = fold(w, axis=tuple(range(1, weighed)))
    return (fold(a, axis=tuple(range(1, a.ndim))) if a.ndim > 1 else a), w


class Mean(Metric):
    """The mean of values."""

    def __init__(self, name="mean", dtype=None):
        super().__init__(name, dtype)
        self._total, self._count = nb.zeros((), "f4"), nb.zeros((), "f4")

    def reset_state(self):
        """Begins anew."""
        self._total[...] = 0
        self._count[...] = 0

    def _add(self, values, weight=None):
        """Adds the mean of each example; weight: one number, or those of the examples."""
        if isinstance(weight, float):
            self._total += nb.sum(as_array(values)) * weight
            self._count += weight
            return
        a, w = _of_samples(convert(values), weight, nb.mean)
        self._total += nb.sum(a)
        if w is None:
            self._count += a.shape[0] if a.ndim else 1
        else:
            self._count += nb.sum(w)

    def update_state(self, values, sample_weight=None):
        """Adds values."""
        self._add(values, sample_weight)

    def result(self):
        """The mean so far, 0 before the first value."""
        none = self._count == 0
        return _ops.tensor(nb.where(none, self._total.dtype.type(0),
                                    self._total / (self._count + none)))  # fmt: skip


observe(Mean, Mean._add, lambda m: Parts([(ITEMS, m.__dict__, None, flat(m.__dict__))]))


class Sum(Mean):
    """The sum of values."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(name, dtype)

    def _add(self, values, weight=None):
        self._total += nb.sum(_of_samples(convert(values), weight, nb.sum)[0])

    def result(self):
        """The sum so far."""
        return _ops.tensor(self._total.copy())


observe(Sum, Sum._add, lambda m: Parts([(ITEMS, m.__dict__, None, flat(m.__dict__))]))


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions, of what a mask leaves."""

    def __init__(self, fn, name=None, dtype=None, **options):
        super().__init__(name or new_name(type(self).__name__), dtype)
        self._function, self._options = fn, options
        if self._direction is None and (isinstance(fn, losses.Loss) or fn in losses.FUNCTIONS):
            self._direction = "down"

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds examples."""
        mask = _masks.mask_of(y_pred)
        if mask is not None:
            sample_weight = _ops.tensor(_masks.weights_of(mask, sample_weight, "f4", False))
        self._add(convert(self._function(y_true, y_pred, **self._options)), sample_weight)


def accuracy(y_true, y_pred):
    """Where predictions equal labels."""
    t, p = losses.matching(y_true, y_pred, False)
    return _ops.tensor((t == p).astype("f4"))


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """Where a prediction above the threshold has the label 1, or another one 0."""
    t, p = losses.matching(y_true, y_pred, False)
    return _ops.tensor(((p > threshold) == t).astype("f4"))


def sparse_categorical_accuracy(y_true, y_pred):
    """Where the largest prediction is that of the label's class."""
    p, k = convert(y_pred)._value(), convert(y_true)._value()
    column = k.ndim == p.ndim and k.shape[-1] == 1
    found = (nb.argmax(p, axis=-1) == (k[..., 0] if column else k).astype("i8")).astype("f4")
    return _ops.tensor(found[..., None] if column else found)


def categorical_accuracy(y_true, y_pred):
    """Where the largest prediction is where the largest label is."""
    p, t = convert(y_pred)._value(), convert(y_true)._value()
    return _ops.tensor((nb.argmax(p, axis=-1) == nb.argmax(t, axis=-1)).astype("f4"))


def _among(index, p, k):
    """Where fewer than `k` predictions are larger than that at the index."""
    own = nb.take_along_axis(p, index[..., None], axis=-1)
    return _ops.tensor((nb.sum(p > own, axis=-1) < k).astype("f4"))


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Where the prediction at the largest label is among the largest `k`."""
    p, t = convert(y_pred)._value(), convert(y_true)._value()
    return _among(nb.argmax(t, axis=-1), p, k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """Where the prediction of the label's class is among the largest `k`; from_sorted_ids: where
    predictions are numbers of classes, the best first.
    """
    p, t = convert(y_pred)._value(), convert(y_true)._value()
    column = t.ndim == p.ndim and t.shape[-1] == 1
    index = t[..., 0] if column else t
    if from_sorted_ids:
        same = nb.any(p[..., :k] == index[..., None].astype(p.dtype), axis=-1)
        found = _ops.tensor(same.astype("f4"))
    else:
        found = _among(index.astype("i8"), p, k)
    return _ops.tensor(found._value()[..., None]) if column else found


def pearson_correlation(y_true, y_pred, axis=-1):
    """The correlation of labels and predictions along an axis."""
    t, p = losses.matching(y_true, y_pred, False)
    t, p = (a - nb.mean(a, axis=axis, keepdims=True) for a in (t, p))
    t, p = (a / nb.std(a, axis=axis, keepdims=True) for a in (t, p))
    return _ops.tensor(nb.mean(t * p, axis=axis))


def concordance_correlation(y_true, y_pred, axis=-1):
    """Keras's formula of the concordance of labels and predictions along an axis."""
    t, p = losses.matching(y_true, y_pred, False)
    mean_t, mean_p = (nb.mean(a, axis=axis, keepdims=True) for a in (t, p))
    spread = nb.var(t, axis=axis, keepdims=True) + nb.var(p, axis=axis, keepdims=True)
    under = spread + nb.square(mean_t - mean_p) + 1e-7
    return _ops.tensor(nb.mean(2 * (t - mean_p) * (p - mean_p) / under, axis=axis))


_RISING = (accuracy, binary_accuracy, sparse_categorical_accuracy, categorical_accuracy,
           top_k_categorical_accuracy, sparse_top_k_categorical_accuracy, pearson_correlation,
           concordance_correlation, losses.cosine)  # fmt: skip


def _wrapped(name, function, shown, *options, **usual):
    """A class for the mean of a function, whose options come before or after name and dtype."""
    way = "up" if function in _RISING else "down"
    first = [o for o in options if o in ("k",)]
    rest = [o for o in options if o not in first]
    order = (*first, "name", "dtype", *rest)

    def __init__(self, *args, **given):
        if len(args) > len(order):
            raise TypeError(message(name, "too many arguments", len(args), order))
        given = dict(zip(order, args, strict=False)) | given
        unknown = set(given) - set(order)
        if unknown:
            raise TypeError(message(name, "unknown options", sorted(unknown), order))
        own, dtype = given.pop("name", None) or shown, given.pop("dtype", None)
        MeanMetricWrapper.__init__(self, function, own, dtype, **(usual | given))

    return type(name, (MeanMetricWrapper,), {
        "__init__": __init__, "__doc__": function.__doc__, "_direction": way,
    })  # fmt: skip


Accuracy = _wrapped("Accuracy", accuracy, "accuracy")
BinaryAccuracy = _wrapped("BinaryAccuracy", binary_accuracy, "binary_accuracy", "threshold")
CategoricalAccuracy = _wrapped("CategoricalAccuracy", categorical_accuracy, "categorical_accuracy")
SparseCategoricalAccuracy = _wrapped("SparseCategoricalAccuracy", sparse_categorical_accuracy,
                                     "sparse_categorical_accuracy")  # fmt: skip
TopKCategoricalAccuracy = _wrapped("TopKCategoricalAccuracy", top_k_categorical_accuracy,
                                   "top_k_categorical_accuracy", "k")  # fmt: skip
SparseTopKCategoricalAccuracy = _wrapped(
    "SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy", "k", "from_sorted_ids",
)  # fmt: skip
MeanSquaredError = _wrapped("MeanSquaredError", losses.mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _wrapped("MeanAbsoluteError", losses.mean_absolute_error,
                             "mean_absolute_error")  # fmt: skip
MeanAbsolutePercentageError = _wrapped(
    "MeanAbsolutePercentageError", losses.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)  # fmt: skip
MeanSquaredLogarithmicError = _wrapped(
    "MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)  # fmt: skip
LogCoshError = _wrapped("LogCoshError", losses.log_cosh, "logcosh")
CosineSimilarity = _wrapped("CosineSimilarity", losses.cosine, "cosine_similarity", "axis")
Poisson = _wrapped("Poisson", losses.poisson, "poisson")
KLDivergence = _wrapped("KLDivergence", losses.kl_divergence, "kl_divergence")
Hinge = _wrapped("Hinge", losses.hinge, "hinge")
SquaredHinge = _wrapped("SquaredHinge", losses.squared_hinge, "squared_hinge")
CategoricalHinge = _wrapped("CategoricalHinge", losses.categorical_hinge, "categorical_hinge")
BinaryCrossentropy = _wrapped("BinaryCrossentropy", losses.binary_crossentropy,
                              "binary_crossentropy", "from_logits", "label_smoothing")  # fmt: skip
CategoricalCrossentropy = _wrapped(
    "CategoricalCrossentropy", losses.categorical_crossentropy, "categorical_crossentropy",
    "from_logits", "label_smoothing", "axis",
)  # fmt: skip
SparseCategoricalCrossentropy = _wrapped(
    "SparseCategoricalCrossentropy", losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy", "from_logits", "ignore_class", "axis",
)  # fmt: skip
PearsonCorrelation = _wrapped("PearsonCorrelation", pearson_correlation, "pearson_correlation",
                              "axis")  # fmt: skip
ConcordanceCorrelation = _wrapped("ConcordanceCorrelation", concordance_correlation,
                                  "concordance_correlation", "axis")  # fmt: skip


class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    _direction = "down"

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds examples."""
        t, p = losses.matching(y_true, y_pred, False)
        self._add(_ops.tensor(nb.square(p - t)), sample_weight)

    def result(self):
        """The root of the mean so far."""
        return _ops.tensor(nb.sqrt(super().result()._value()))


_KINDS = {
    name: kind
    for name, kind in list(globals().items())
    if isinstance(kind, type) and issubclass(kind, Metric)
}
_KINDS |= {snake_case(name): kind for name, kind in _KINDS.items()}
_KINDS |= {
    alias: kind
    for name, kind in (
        ("bce", BinaryCrossentropy), ("mse", MeanSquaredError), ("mae", MeanAbsoluteError),
        ("mape", MeanAbsolutePercentageError), ("msle", MeanSquaredLogarithmicError),
    )
    for alias in (name, name.upper())
}  # fmt: skip


def get(identifier, y_true=None, y_pred=None):
    """A metric from its name, its class, its configuration or a function; 'accuracy' is chosen by
    the shapes.
    """
    if isinstance(identifier, Metric):
        return identifier
    if identifier in ("accuracy", "acc") and y_pred is not None:
        t, p = y_true.shape, y_pred.shape
        if len(p) == 1 or p[-1] == 1:
            return BinaryAccuracy(identifier)
        if len(t) < len(p) or t[-1] == 1:
            return SparseCategoricalAccuracy(identifier)
        return CategoricalAccuracy(identifier)
    if isinstance(identifier, dict):
        return _KINDS[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, str) and identifier in _KINDS:
        made = _KINDS[identifier]()
        made.name = identifier
        return made
    if isinstance(identifier, type) and issubclass(identifier, Metric):
        return identifier()
    if callable(identifier):
        return MeanMetricWrapper(identifier, getattr(identifier, "__name__", None))
    raise ValueError(message("metric", "unknown", identifier, "accuracy, " + ", ".join(_KINDS)))


def __getattr__(name):
    return _missing("keras.metrics", name)
