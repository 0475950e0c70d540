"""keras.losses: functions of labels and predictions, and their means."""

import numbus as nb

from ....core.compiling import ITEMS, Parts, flat, observe
from ....core.errors import message
from ....nn import functional as _f
from ..._missing import missing as _missing
from .. import _ops
from .._tensor import Tensor, as_array, convert
from . import _masks

__name__ = "keras.losses"
_EPSILON = 1e-7


def operands(y_true, y_pred):
    """Labels and predictions as arrays of the predictions' type."""
    p = convert(y_pred)._value()
    t = convert(y_true)._value()
    return as_array(t if t.dtype == p.dtype else t.astype(p.dtype)), p


def matching(y_true, y_pred):
    """The same, of one number of axes: (n,) beside (n, 1)."""
    t, p = operands(y_true, y_pred)
    if t.ndim + 1 == p.ndim and p.shape[-1] == 1:
        t = t[..., None]
    elif t.ndim == p.ndim + 1 and t.shape[-1] == 1:
        t = t[..., 0]
    if t.shape != p.shape:
        raise ValueError(message("loss", "shapes differ", (t.shape, p.shape), "equal shapes"))
    return t, p


def _mean(a):
    return _ops.tensor(nb.mean(a, axis=-1) if as_array(a).ndim else a)


def mean_squared_error(y_true, y_pred):
    """The mean of squared differences over the last axis."""
    t, p = matching(y_true, y_pred)
    return _mean(nb.square(p - t))


def mean_absolute_error(y_true, y_pred):
    """The mean of differences' amounts over the last axis."""
    t, p = matching(y_true, y_pred)
    return _mean(nb.abs(p - t))


def huber(y_true, y_pred, delta=1.0):
    """Half the square of small differences, a line of large ones."""
    t, p = matching(y_true, y_pred)
    e = nb.abs(p - t)
    return _mean(nb.where(e <= delta, 0.5 * e * e, delta * e - 0.5 * delta * delta))


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """-t log(p) - (1 - t) log(1 - p), its mean over the last axis."""
    t, p = matching(y_true, y_pred)
    if axis != -1:
        raise NotImplementedError(message("loss", "axis= is not yet available", axis, "-1"))
    if label_smoothing:
        t = t * (1 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        return _mean(_ops.sigmoid_cross_entropy_with_logits(Tensor(t), Tensor(as_array(p)))._a)
    p = nb.clip(p, _EPSILON, 1 - _EPSILON)
    return _mean(-(t * nb.log(p) + (1 - t) * nb.log(1 - p)))


def _logs(p, from_logits):
    if from_logits:
        return _f.log_softmax(p, -1)
    p = p / nb.sum(p, axis=-1, keepdims=True)
    return nb.log(nb.clip(p, _EPSILON, 1 - _EPSILON))


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """-sum(t log(p)) over the last axis, of probabilities that are brought to a sum of 1."""
    if axis != -1:
        raise NotImplementedError(message("loss", "axis= is not yet available", axis, "-1"))
    t, p = operands(y_true, y_pred)
    if t.shape != p.shape:
        raise ValueError(
            message("categorical_crossentropy", "shapes differ", (t.shape, p.shape),
                    "one-hot labels (sparse_categorical_crossentropy takes numbers of classes)")
        )  # fmt: skip
    if label_smoothing:
        t = t * (1 - label_smoothing) + label_smoothing / p.shape[-1]
    return _ops.tensor(-nb.sum(t * _logs(p, from_logits), axis=-1))


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """-log(p) of the class that each label numbers."""
    if axis != -1 or ignore_class is not None:
        raise NotImplementedError(
            message("loss", "axis= and ignore_class= are not yet available", (axis, ignore_class),
                    "the defaults")
        )  # fmt: skip
    p = convert(y_pred)._value()
    k = convert(y_true)._value().astype("i8")
    if k.ndim == p.ndim and k.shape[-1] == 1:
        k = k[..., 0]
    if k.shape != p.shape[:-1]:
        raise ValueError(message("loss", "shapes do not fit", (k.shape, p.shape), "a class each"))
    picked = nb.take_along_axis(_logs(p, from_logits), k[..., None], axis=-1)
    return _ops.tensor(-picked[..., 0])


class Loss:
    """The mean, the sum or the parts of a function of labels and predictions."""

    def __init__(self, name=None, reduction="sum_over_batch_size", **options):
        self.name, self.reduction, self.options = name, reduction, options
        if reduction not in ("sum_over_batch_size", "sum", "mean", "none", None):
            raise ValueError(message("Loss", "unknown reduction", reduction, "'sum' or 'none'"))

    def call(self, y_true, y_pred):
        """The loss of each example."""
        raise NotImplementedError(message("Loss", "no call()", type(self).__name__, "a method"))

    def __call__(self, y_true, y_pred, sample_weight=None):
        mask = _masks.mask_of(y_pred)
        y_pred = _ops.cast(y_pred, "float32")  # as layers have it
        found = convert(self.call(y_true, y_pred))._value()
        mean = self.reduction in ("sum_over_batch_size", "mean")
        found = _masks.weighed(found, mask, sample_weight, mean)
        if self.reduction in ("none", None):
            return _ops.tensor(found)
        return _ops.tensor(nb.sum(found) if self.reduction == "sum" else nb.mean(found))


def _parts(loss):
    tables = loss.__dict__, loss.options
    return Parts([(ITEMS, table, None, flat(table)) for table in tables])


observe(Loss, Loss.__call__, _parts)


def _of(name, function, *names):
    def __init__(self, *args, reduction="sum_over_batch_size", name=None, **options):
        given = dict(zip(names, args, strict=False)) | options
        unknown = set(given) - set(names)
        if unknown or len(args) > len(names):
            raise TypeError(
                message(type(self).__name__, "unknown options", sorted(unknown), list(names))
            )
        Loss.__init__(self, name or function.__name__, reduction, **given)

    def call(self, y_true, y_pred):
        return function(y_true, y_pred, **self.options)

    return type(name, (Loss,), {"__init__": __init__, "call": call, "__doc__": function.__doc__})


MeanSquaredError = _of("MeanSquaredError", mean_squared_error)
MeanAbsoluteError = _of("MeanAbsoluteError", mean_absolute_error)
Huber = _of("Huber", huber, "delta")
BinaryCrossentropy = _of("BinaryCrossentropy", binary_crossentropy, "from_logits",
                         "label_smoothing")  # fmt: skip
CategoricalCrossentropy = _of("CategoricalCrossentropy", categorical_crossentropy, "from_logits",
                              "label_smoothing")  # fmt: skip
SparseCategoricalCrossentropy = _of(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy, "from_logits"
)
_NAMES = {
    "mse": MeanSquaredError, "mean_squared_error": MeanSquaredError, "mae": MeanAbsoluteError,
    "mean_absolute_error": MeanAbsoluteError, "huber": Huber,
    "binary_crossentropy": BinaryCrossentropy,
    "categorical_crossentropy": CategoricalCrossentropy,
    "sparse_categorical_crossentropy": SparseCategoricalCrossentropy,
}  # fmt: skip


def get(identifier):
    """A loss from its name; functions become losses."""
    if isinstance(identifier, Loss):
        return identifier
    if isinstance(identifier, str) and identifier in _NAMES:
        return _NAMES[identifier]()
    if callable(identifier):
        made = Loss(getattr(identifier, "__name__", "loss"))
        made.call = identifier
        return made
    raise ValueError(message("loss", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.losses", name)
