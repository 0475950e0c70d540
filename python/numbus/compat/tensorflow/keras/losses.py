"""keras.losses: functions of labels and predictions, and their means."""

import functools
import math

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


def matching(y_true, y_pred, same=True):
    """The same, of one number of axes: (n,) beside (n, 1); same: of one shape."""
    t, p = _masks.same_rank(*operands(y_true, y_pred))
    if same and t.shape != p.shape:
        raise ValueError(message("loss", "shapes differ", (t.shape, p.shape), "equal shapes"))
    return t, p


def _mean(a, axis=-1):
    return _ops.tensor(nb.mean(a, axis=axis) if as_array(a).ndim else a)


def mean_squared_error(y_true, y_pred):
    """The mean of squared differences over the last axis."""
    t, p = matching(y_true, y_pred, False)
    return _mean(nb.square(p - t))


def mean_absolute_error(y_true, y_pred):
    """The mean of differences' amounts over the last axis."""
    t, p = matching(y_true, y_pred, False)
    return _mean(nb.abs(p - t))


def mean_absolute_percentage_error(y_true, y_pred):
    """The mean of differences' amounts as hundredths of labels, over the last axis."""
    t, p = matching(y_true, y_pred, False)
    return _ops.tensor(100 * _mean(nb.abs((t - p) / nb.maximum(nb.abs(t), _EPSILON)))._value())


def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of squared differences of log(1 + x), negative numbers as 0, over the last axis."""
    t, p = matching(y_true, y_pred, False)
    return _mean(
        nb.square(nb.log(nb.maximum(p, _EPSILON) + 1) - nb.log(nb.maximum(t, _EPSILON) + 1))
    )


def log_cosh(y_true, y_pred):
    """The mean of log(cosh(x)) of differences over the last axis."""
    t, p = matching(y_true, y_pred, False)
    d = p - t
    return _mean(d + _f.softplus(-2 * d) - math.log(2))


def huber(y_true, y_pred, delta=1.0):
    """Half the square of small differences, a line of large ones."""
    t, p = matching(y_true, y_pred, False)
    e = nb.abs(p - t)
    return _mean(nb.where(e <= delta, 0.5 * e * e, delta * e - 0.5 * delta * delta))


def _unit(a, axis):
    return a / nb.sqrt(nb.maximum(nb.sum(nb.square(a), axis=axis, keepdims=True), 1e-12))


def cosine(y_true, y_pred, axis=-1):
    """The cosine of the angle between labels and predictions along an axis."""
    t, p = matching(y_true, y_pred, False)
    return _ops.tensor(nb.sum(_unit(t, axis) * _unit(p, axis), axis=axis))


def cosine_similarity(y_true, y_pred, axis=-1):
    """The negative cosine of the angle between labels and predictions along an axis."""
    return _ops.tensor(-cosine(y_true, y_pred, axis)._value())


def kl_divergence(y_true, y_pred):
    """sum(t log(t / p)) over the last axis."""
    t, p = operands(y_true, y_pred)
    t, p = nb.clip(t, _EPSILON, 1), nb.clip(p, _EPSILON, 1)
    return _ops.tensor(nb.sum(t * nb.log(t / p), axis=-1))


def poisson(y_true, y_pred):
    """The mean of p - t log(p) over the last axis."""
    t, p = operands(y_true, y_pred)
    return _mean(p - t * nb.log(p + _EPSILON))


def _signs(t):
    """Labels 0 and 1 as -1 and 1; others stay."""
    both = nb.all(nb.logical_or(t == 0, t == 1))
    return nb.where(both, 2 * t - 1, t)


def hinge(y_true, y_pred):
    """The mean of max(1 - t p, 0) over the last axis, of labels -1 and 1, or 0 and 1."""
    t, p = operands(y_true, y_pred)
    return _mean(nb.maximum(1 - _signs(t) * p, 0))


def squared_hinge(y_true, y_pred):
    """The mean of max(1 - t p, 0)² over the last axis, of labels -1 and 1, or 0 and 1."""
    t, p = operands(y_true, y_pred)
    return _mean(nb.square(nb.maximum(1 - _signs(t) * p, 0)))


def categorical_hinge(y_true, y_pred):
    """max(the largest of other classes - that of the label + 1, 0)."""
    t, p = operands(y_true, y_pred)
    others, own = nb.max((1 - t) * p, axis=-1), nb.sum(t * p, axis=-1)
    return _ops.tensor(nb.maximum(others - own + 1, 0))


def _binary(t, p, from_logits):
    """-t log(p) - (1 - t) log(1 - p) of elements."""
    if t.shape != p.shape:
        raise ValueError(message("loss", "shapes differ", (t.shape, p.shape), "equal shapes"))
    if from_logits:
        return _ops.sigmoid_cross_entropy_with_logits(Tensor(as_array(t)), Tensor(as_array(p)))._a
    p = nb.clip(p, _EPSILON, 1 - _EPSILON)
    return -(t * nb.log(p) + (1 - t) * nb.log(1 - p))


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """-t log(p) - (1 - t) log(1 - p), its mean over an axis."""
    t, p = matching(y_true, y_pred, False)
    if label_smoothing:
        t = t * (1 - label_smoothing) + 0.5 * label_smoothing
    return _mean(_binary(t, p, from_logits), axis)


def binary_focal_crossentropy(y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0,
                              from_logits=False, label_smoothing=0.0, axis=-1):  # fmt: skip
    """Binary cross entropy times (1 - the probability of the label)^gamma (Lin et al., 2018)."""
    t, p = matching(y_true, y_pred, False)
    if label_smoothing:
        t = t * (1 - label_smoothing) + 0.5 * label_smoothing
    p = _f.sigmoid(p) if from_logits else p
    found = (1 - (t * p + (1 - t) * (1 - p))) ** gamma * _binary(t, p, False)
    if apply_class_balancing:
        found = (t * alpha + (1 - t) * (1 - alpha)) * found
    return _mean(found, axis)


def _shares(p):
    p = p / nb.sum(p, axis=-1, keepdims=True)
    return nb.clip(p, _EPSILON, 1 - _EPSILON)


def _logs(p, from_logits):
    return _f.log_softmax(p, -1) if from_logits else nb.log(_shares(p))


def _of_classes(op, y_true, y_pred, label_smoothing, axis):
    """One-hot labels and predictions with the classes along the last axis."""
    t, p = operands(y_true, y_pred)
    if t.shape != p.shape:
        raise ValueError(
            message(op, "shapes differ", (t.shape, p.shape),
                    "one-hot labels (sparse_categorical_crossentropy takes numbers of classes)")
        )  # fmt: skip
    if label_smoothing:
        t = t * (1 - label_smoothing) + label_smoothing / p.shape[-1]
    return (t, p) if axis == -1 else (nb.moveaxis(t, axis, -1), nb.moveaxis(p, axis, -1))


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """-sum(t log(p)) over an axis, of probabilities that are brought to a sum of 1."""
    t, p = _of_classes("categorical_crossentropy", y_true, y_pred, label_smoothing, axis)
    return _ops.tensor(-nb.sum(t * _logs(p, from_logits), axis=-1))


def categorical_focal_crossentropy(y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False,
                                   label_smoothing=0.0, axis=-1):  # fmt: skip
    """Cross entropy of classes whose parts are times alpha (1 - p)^gamma (Lin et al., 2018)."""
    t, p = _of_classes("categorical_focal_crossentropy", y_true, y_pred, label_smoothing, axis)
    p = _shares(_f.softmax(p, -1) if from_logits else p)
    return _ops.tensor(-nb.sum((1 - p) ** gamma * alpha * t * nb.log(p), axis=-1))


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """-log(p) of the class that each label numbers; 0 for labels of `ignore_class`."""
    p = convert(y_pred)._value()
    k = convert(y_true)._value().astype("i8")
    if k.ndim == p.ndim and k.shape[axis] == 1:
        k = nb.squeeze(k, axis=axis)
    p = p if axis == -1 else nb.moveaxis(p, axis, -1)
    if k.shape != p.shape[:-1]:
        raise ValueError(message("loss", "shapes do not fit", (k.shape, p.shape), "a class each"))
    on = None if ignore_class is None else k != int(ignore_class)
    if on is not None:
        k, p = nb.where(on, k, 0), nb.where(on[..., None], p, p.dtype.type(0))
    picked = nb.take_along_axis(_logs(p, from_logits), k[..., None], axis=-1)[..., 0]
    if on is None:
        return _ops.tensor(-picked)
    found = _ops.tensor(nb.where(on, -picked, p.dtype.type(0)))
    found._keras_mask = _ops.tensor(on)
    return found


def dice(y_true, y_pred, axis=None):
    """1 - 2 sum(t p) / (sum(t) + sum(p)) over all axes but those named."""
    t, p = operands(y_true, y_pred)
    both = nb.sum(t * p, axis=axis)
    return _ops.tensor(1 - 2 * both / (nb.sum(t, axis=axis) + nb.sum(p, axis=axis) + _EPSILON))


def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """1 - b / (b + alpha sum(t (1 - p)) + beta sum(p (1 - t))) with b = sum(t p)."""
    t, p = operands(y_true, y_pred)
    both = nb.sum(t * p, axis=axis)
    missed, wrong = nb.sum((1 - p) * t, axis=axis), nb.sum(p * (1 - t), axis=axis)
    return _ops.tensor(1 - both / (both + missed * alpha + wrong * beta + _EPSILON))


_REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


class Loss:
    """The mean, the sum or the parts of a function of labels and predictions."""

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None, **options):
        self.name, self.reduction, self.options = name, reduction, options
        if reduction not in _REDUCTIONS:
            raise ValueError(message("Loss", "unknown reduction", reduction, _REDUCTIONS))
        if str(dtype) not in ("None", "float32"):
            raise NotImplementedError(
                message("Loss", "a dtype that is not yet available", dtype, "'float32'")
            )

    def call(self, y_true, y_pred):
        """The loss of each example."""
        raise NotImplementedError(message("Loss", "no call()", type(self).__name__, "a method"))

    def __call__(self, y_true, y_pred, sample_weight=None):
        mask = _masks.mask_of(y_pred)
        y_pred = _ops.cast(y_pred, "float32")  # as layers have it
        made = convert(self.call(y_true, y_pred))
        own = _masks.mask_of(made)
        if own is not None:
            mask = own if mask is None else _ops.tensor(
                nb.logical_and(convert(mask)._value(), own._value())
            )  # fmt: skip
        mean = self.reduction in ("sum_over_batch_size", "mean")
        found, weights = _masks.weighed(made._value(), mask, sample_weight, mean)
        if self.reduction in ("none", None) or found.ndim == 0:
            return _ops.tensor(found)
        if self.reduction == "sum":
            return _ops.tensor(nb.sum(found))
        if self.reduction == "mean_with_sample_weight" and weights is not None:
            total = nb.sum(weights)
            one = total.dtype.type(1)
            return _ops.tensor(
                nb.where(total == 0, 0 * one, nb.sum(found) / nb.where(total == 0, one, total))
            )
        return _ops.tensor(nb.mean(found))


def _parts(loss):
    tables = loss.__dict__, loss.options
    return Parts([(ITEMS, table, None, flat(table)) for table in tables])


observe(Loss, Loss.__call__, _parts)


def _ranked(function, y_true, y_pred, **options):
    """A function of labels and predictions that are brought to one number of axes."""
    t, p = convert(y_true), convert(y_pred)
    if t.ndim != p.ndim:
        t, p = [_ops.tensor(a) for a in _masks.same_rank(t._value(), p._value())]
    return function(t, p, **options)


def _of(name, function, *names, reduction="sum_over_batch_size"):
    usual = reduction

    def __init__(self, *args, reduction=usual, name=None, dtype=None, **options):
        given = dict(zip(names, args, strict=False)) | options
        unknown = set(given) - set(names)
        if unknown or len(args) > len(names):
            raise TypeError(
                message(type(self).__name__, "unknown options", sorted(unknown), list(names))
            )
        Loss.__init__(self, name or function.__name__, reduction, dtype, **given)

    def call(self, y_true, y_pred):
        return _ranked(function, y_true, y_pred, **self.options)

    return type(name, (Loss,), {"__init__": __init__, "call": call, "__doc__": function.__doc__})


MeanSquaredError = _of("MeanSquaredError", mean_squared_error)
MeanAbsoluteError = _of("MeanAbsoluteError", mean_absolute_error)
MeanAbsolutePercentageError = _of("MeanAbsolutePercentageError", mean_absolute_percentage_error)
MeanSquaredLogarithmicError = _of("MeanSquaredLogarithmicError", mean_squared_logarithmic_error)
LogCosh = _of("LogCosh", log_cosh)
Huber = _of("Huber", huber, "delta")
CosineSimilarity = _of("CosineSimilarity", cosine_similarity, "axis")
KLDivergence = _of("KLDivergence", kl_divergence)
Poisson = _of("Poisson", poisson)
Hinge = _of("Hinge", hinge)
SquaredHinge = _of("SquaredHinge", squared_hinge)
CategoricalHinge = _of("CategoricalHinge", categorical_hinge)
Dice = _of("Dice", dice, "axis")
Tversky = _of("Tversky", tversky, "alpha", "beta", "axis")
BinaryCrossentropy = _of("BinaryCrossentropy", binary_crossentropy, "from_logits",
                         "label_smoothing", "axis")  # fmt: skip
BinaryFocalCrossentropy = _of(
    "BinaryFocalCrossentropy", binary_focal_crossentropy, "apply_class_balancing", "alpha",
    "gamma", "from_logits", "label_smoothing", "axis",
)  # fmt: skip
CategoricalCrossentropy = _of("CategoricalCrossentropy", categorical_crossentropy, "from_logits",
                              "label_smoothing", "axis")  # fmt: skip
CategoricalFocalCrossentropy = _of(
    "CategoricalFocalCrossentropy", categorical_focal_crossentropy, "alpha", "gamma",
    "from_logits", "label_smoothing", "axis",
)  # fmt: skip
SparseCategoricalCrossentropy = _of(
    "SparseCategoricalCrossentropy", sparse_categorical_crossentropy, "from_logits",
    "ignore_class", "axis",
)  # fmt: skip
_PAIRS = [
    (MeanSquaredError, mean_squared_error, "mse", "MSE"),
    (MeanAbsoluteError, mean_absolute_error, "mae", "MAE"),
    (MeanAbsolutePercentageError, mean_absolute_percentage_error, "mape", "MAPE"),
    (MeanSquaredLogarithmicError, mean_squared_logarithmic_error, "msle", "MSLE"),
    (LogCosh, log_cosh),
    (Huber, huber),
    (CosineSimilarity, cosine_similarity),
    (KLDivergence, kl_divergence, "kld", "KLD"),
    (Poisson, poisson),
    (Hinge, hinge),
    (SquaredHinge, squared_hinge),
    (CategoricalHinge, categorical_hinge),
    (Dice, dice),
    (Tversky, tversky),
    (BinaryCrossentropy, binary_crossentropy, "bce", "BCE"),
    (BinaryFocalCrossentropy, binary_focal_crossentropy),
    (CategoricalCrossentropy, categorical_crossentropy),
    (CategoricalFocalCrossentropy, categorical_focal_crossentropy),
    (SparseCategoricalCrossentropy, sparse_categorical_crossentropy),
]
FUNCTIONS = [function for _, function, *_ in _PAIRS]
_NAMES = {
    name: kind
    for kind, function, *more in _PAIRS
    for name in (kind.__name__, function.__name__, *more)
}


def by_shapes(identifier):
    """Whether a name stands for the cross entropy that the shapes ask for."""
    return isinstance(identifier, str) and identifier.lower() in ("crossentropy", "ce")


def get(identifier, y_true=None, y_pred=None):
    """A loss from its name, its class or its configuration; functions become losses.

    'crossentropy' is chosen by the shapes of labels and outputs.
    """
    if isinstance(identifier, Loss):
        return identifier
    if by_shapes(identifier) and y_pred is not None:
        t, p = y_true.shape, y_pred.shape
        if len(p) == 1 or p[-1] == 1:
            return BinaryCrossentropy()
        if len(t) < len(p) or t[-1] == 1:
            return SparseCategoricalCrossentropy()
        return CategoricalCrossentropy()
    if isinstance(identifier, str) and identifier in _NAMES:
        return _NAMES[identifier]()
    if isinstance(identifier, dict):
        return _NAMES[identifier["class_name"]](**identifier.get("config", {}))
    if isinstance(identifier, type) and issubclass(identifier, Loss):
        return identifier()
    if callable(identifier):
        made = Loss(getattr(identifier, "__name__", "loss"))
        made.call = functools.partial(_ranked, identifier)
        return made
    raise ValueError(message("loss", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.losses", name)
