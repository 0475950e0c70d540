"""Metrics of counts over batches: what is predicted above thresholds, classes met, and R²."""

import warnings

import numpy

import numbus as nb

from ....core.compiling import ITEMS, Parts, flat, observe
from ....core.errors import message
from .. import _ops
from .._tensor import as_array, convert
from . import _masks, losses
from ._metric import Metric

_EPSILON = 1e-7
_NONE = -1e10  # below all predictions


def _refuse(op, **options):
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(message(op, f"{name}= is not yet available", value, "None"))


def _even(edges):
    """Whether thresholds divide the numbers from 0 to 1: predictions are brought there, then."""
    n = len(edges)
    return n > 2 and numpy.allclose(edges, numpy.arange(n) / (n - 1), atol=_EPSILON)


class _Tallies(Metric):
    """Arrays that begin as zeros and are changed in place."""

    def reset_state(self):
        """Begins anew."""
        for a in self._kept():
            a[...] = 0


class _Confusion(_Tallies):
    """How often predictions are above thresholds, by what is true: counts that add up."""

    def __init__(self, thresholds, name, dtype, top_k=None, class_id=None):
        super().__init__(name, dtype)
        wrong = [t for t in thresholds if t is None or not -1e-6 <= t <= 1 + 1e-6]
        if wrong and top_k is None:
            raise ValueError(f"Threshold values must be in [0, 1]. Received: {wrong}")
        self._edges = nb.array(thresholds, dtype="f4")
        self._is_even = _even(thresholds)
        self._top, self._class = top_k, class_id
        self._begin(())

    def _begin(self, labels):
        # By thresholds: true and above, false and above; of all: true, false.
        self._above = nb.zeros((2, self._edges.size, *labels), "f4")
        self._of = nb.zeros((2, *labels), "f4")

    def _kept(self):
        return self._above, self._of

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds predictions and what is true."""
        t, p, w = self._flat(*self._chosen(y_true, y_pred, sample_weight))
        self._counted(t, p, w)

    def _chosen(self, y_true, y_pred, sample_weight):
        t, p = losses.matching(y_true, y_pred, False)
        t, p = nb.stop_gradient(t).astype(bool), nb.stop_gradient(p).astype("f4")
        w = None
        if sample_weight is not None:
            w = convert(sample_weight)._value().astype("f4")[..., None]
            w = _masks.same_rank(t, w, False)[1]
        if self._top is not None:
            least = nb.sort(p, axis=-1)[..., -self._top, None]
            p = nb.where(p >= least, p, p.dtype.type(_NONE))
        if self._class is not None:
            t, p = t[..., self._class, None], p[..., self._class, None]
        if t.shape != p.shape:
            raise ValueError(message(self.name, "shapes differ", (t.shape, p.shape), "equal ones"))
        ones = nb.ones(p.shape, "f4")
        w = ones if w is None else _masks.times(ones, w)
        if w.shape != p.shape:
            raise ValueError(message("sample_weight", "weights do not fit", w.shape, p.shape))
        return t, (nb.clip(p, 0, 1) if self._is_even else p), w

    def _flat(self, t, p, w):
        return t.reshape(-1), p.reshape(-1), as_array(w).reshape(-1)

    def _counted(self, t, p, w):
        one = nb.where(t, w, w.dtype.type(0))
        other = w - one
        if p.ndim == 1:
            above = (p[:, None] > self._edges).astype("f4")
            self._above += nb.stack([one @ above, other @ above])
        else:
            above = (p[:, None] > self._edges[:, None]).astype("f4")
            self._above += nb.stack([nb.sum(a[:, None] * above, axis=0) for a in (one, other)])
        self._of += nb.stack([nb.sum(one, axis=0), nb.sum(other, axis=0)])

    def _all(self):
        """True and false positives, true and false negatives, by thresholds."""
        tp, fp = self._above[0], self._above[1]
        return tp, fp, self._of[1] - fp, self._of[0] - tp


observe(
    _Confusion, _Confusion._counted, lambda m: Parts([(ITEMS, m.__dict__, None, flat(m.__dict__))])
)


def _over(a, b):
    """The quotient, 0 where `b` is."""
    return nb.where(b == 0, b.dtype.type(0), a / nb.where(b == 0, b.dtype.type(1), b))


class _Rate(_Confusion):
    """A number, or one for each threshold of a list."""

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        several = isinstance(thresholds, (list, tuple))
        usual = 0.5 if top_k is None else _NONE
        given = list(thresholds) if several else [usual if thresholds is None else thresholds]
        super().__init__(given, name, dtype, top_k, class_id)

    def result(self):
        """The rate so far: a number, or one for each threshold of a list."""
        found = self._rate(*self._all())
        return _ops.tensor(found if found.size > 1 else found[0])


def _rate(name, doc, rate):
    return type(name, (_Rate,), {
        "_rate": staticmethod(rate), "__doc__": doc, "_direction": "up",
    })  # fmt: skip


Precision = _rate("Precision", "Which part of what is predicted is true.",
                  lambda tp, fp, tn, fn: _over(tp, tp + fp))  # fmt: skip
Recall = _rate("Recall", "Which part of what is true is predicted.",
               lambda tp, fp, tn, fn: _over(tp, tp + fn))  # fmt: skip


class _Count(_Rate):
    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(thresholds, None, None, name, dtype)


def _count(name, doc, place):
    return type(name, (_Count,), {
        "_rate": staticmethod(lambda *counts: nb.array(counts[place])), "__doc__": doc,
    })  # fmt: skip


TruePositives = _count("TruePositives", "How often what is predicted is true.", 0)
FalsePositives = _count("FalsePositives", "How often what is predicted is false.", 1)
TrueNegatives = _count("TrueNegatives", "How often what is not predicted is false.", 2)
FalseNegatives = _count("FalseNegatives", "How often what is not predicted is true.", 3)


def _fractions(count):
    return [(k + 1) / (count - 1) for k in range(count - 2)]


class _BestAt(_Confusion):
    """The largest rate at thresholds where another one is large enough."""

    _direction = "up"

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        if not 0 <= value <= 1:
            raise ValueError(
                message(type(self).__name__, "not in the range [0, 1]", value, "0 to 1")
            )
        if num_thresholds <= 0:
            raise ValueError(
                "Argument `num_thresholds` must be an integer > 0. Received: "
                f"num_thresholds={num_thresholds}"
            )
        edges = [0.5] if num_thresholds == 1 else [0.0, *_fractions(num_thresholds), 1.0]
        super().__init__(edges, name, dtype, class_id=class_id)
        self.value, self._is_even = value, num_thresholds > 1

    def result(self):
        """The largest rate so far."""
        tp, fp, tn, fn = self._all()
        rates = {
            "sensitivity": _over(tp, tp + fn), "specificity": _over(tn, tn + fp),
            "precision": _over(tp, tp + fp),
        }  # fmt: skip
        best, bound = rates[self.best], rates[self.bound]
        found = nb.where(bound >= bound.dtype.type(self.value), best, best.dtype.type(0))
        return _ops.tensor(nb.max(found))


def _best(name, best, bound):
    def __init__(self, *args, **options):
        given = {"recall": "sensitivity"}
        named = [k for k in (bound, "recall") if k in options and given.get(k, k) == bound]
        if named:
            args = (options.pop(named[0]), *args)
        _BestAt.__init__(self, *args, **options)

    return type(name, (_BestAt,), {
        "best": best, "bound": bound, "__init__": __init__,
        "__doc__": f"The best {best} where the {bound} is at least a number.",
    })  # fmt: skip


SensitivityAtSpecificity = _best("SensitivityAtSpecificity", "sensitivity", "specificity")
SpecificityAtSensitivity = _best("SpecificityAtSensitivity", "specificity", "sensitivity")
PrecisionAtRecall = _best("PrecisionAtRecall", "precision", "sensitivity")
RecallAtPrecision = _best("RecallAtPrecision", "sensitivity", "precision")


class AUC(_Confusion):
    """The area below a curve of rates over thresholds: 'ROC', 'PR' of precision and recall, or
    'PRGAIN' of their gains.
    """

    _direction = "up"

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="interpolation",
                 name=None, dtype=None, thresholds=None, multi_label=False, num_labels=None,
                 label_weights=None, from_logits=False):  # fmt: skip
        self.curve, self.summation_method = str(curve).upper(), str(summation_method).lower()
        if self.curve not in ("ROC", "PR", "PRGAIN"):
            raise ValueError(message("AUC", "unknown curve", curve, "'ROC', 'PR' or 'PRGAIN'"))
        if self.summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(
                message("AUC", "unknown summation_method", summation_method,
                        "'interpolation', 'minoring' or 'majoring'")
            )  # fmt: skip
        if num_labels and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError(f"Argument `num_thresholds` must be an integer > 1. Received: "
                                 f"num_thresholds={num_thresholds}")  # fmt: skip
            thresholds, even = _fractions(num_thresholds), True
        else:
            thresholds = sorted(thresholds)
            even = _even([0.0, *thresholds, 1.0])
        self.from_logits, self.multi_label = bool(from_logits), bool(multi_label)
        self._label_weights = None if label_weights is None else nb.array(label_weights, dtype="f4")
        super().__init__([-_EPSILON, *thresholds, 1 + _EPSILON], name, dtype)
        self._is_even = even
        if multi_label and num_labels:
            self._begin((num_labels,))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds predictions and what is true."""
        p = _ops.UNARY["sigmoid"](convert(y_pred)) if self.from_logits else convert(y_pred)
        if self.multi_label:
            if p.ndim != 2:
                raise ValueError(
                    "`y_pred` must have rank 2 when `multi_label=True`. Found rank "
                    f"{p.ndim}. Full shape received for `y_pred`: {tuple(p.shape)}"
                )
            if self._of.ndim == 1:
                self._begin((int(p.shape[-1]),))
        super().update_state(y_true, p, sample_weight)

    def _flat(self, t, p, w):
        if self.multi_label:
            return t, p, w
        if self._label_weights is not None:
            w = _masks.times(w, self._label_weights)
        return super()._flat(t, p, w)

    def result(self):
        """The area so far."""
        tp, fp, tn, fn = self._all()
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._folded(self._between(tp, tp + fp))
        recall = _over(tp, tp + fn)
        if self.curve == "ROC":
            x, y = _over(fp, fp + tn), recall
        elif self.curve == "PR":
            x, y = recall, _over(tp, tp + fp)
        else:
            scale, zero = _over(tp + fn, tn + fp), tp.dtype.type(0)
            x = nb.where(tp == 0, zero, nb.maximum(1 - scale * _over(fn, tp), zero))
            y = nb.where(tp == 0, zero + 1, 1 - scale * _over(fp, tp))
        if self.summation_method == "interpolation":
            heights = (y[:-1] + y[1:]) / 2
        else:
            least = self.summation_method == "minoring"
            heights = (nb.minimum if least else nb.maximum)(y[:-1], y[1:])
        return self._folded((x[:-1] - x[1:]) * heights)

    def _folded(self, parts):
        areas = nb.sum(parts, axis=0)
        if not self.multi_label:
            return _ops.tensor(areas)
        if self._label_weights is None:
            return _ops.tensor(nb.mean(areas))
        total = nb.sum(self._label_weights)
        return _ops.tensor(_over(nb.sum(areas * self._label_weights), total))

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
        return _over(parts, nb.broadcast_to(nb.maximum(self._of[0], zero), parts.shape))


class FBetaScore(_Tallies):
    """(1 + beta²) precision recall / (beta² precision + recall), of each class or averaged."""

    _direction = "up"

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name, dtype)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                message("FBetaScore", "unknown average", average,
                        "None, 'micro', 'macro' or 'weighted'")
            )  # fmt: skip
        if not isinstance(beta, float) or beta <= 0:
            raise ValueError(message("FBetaScore", "beta is no positive float", beta, "1.0"))
        if threshold is not None and not (isinstance(threshold, float) and 0 < threshold <= 1):
            raise ValueError(
                message("FBetaScore", "threshold is no float in (0, 1]", threshold, "None or 0.5")
            )
        self.average, self.beta, self.threshold = average, beta, threshold
        self._tallies = None  # true positives, false positives, false negatives

    def _kept(self):
        return [] if self._tallies is None else [self._tallies]

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds predictions and what is true, (examples, classes)."""
        t = nb.stop_gradient(convert(y_true)._value()).astype("f4")
        p = nb.stop_gradient(convert(y_pred)._value()).astype("f4")
        if p.ndim != 2 or t.ndim != 2:
            raise ValueError(
                message("FBetaScore", "not (examples, classes)", (t.shape, p.shape), "two axes")
            )
        if self.threshold is None:
            on = nb.logical_and(p >= nb.max(p, axis=-1, keepdims=True), nb.abs(p) > 1e-9)
        else:
            on = p > self.threshold
        p, axis = on.astype("f4"), None if self.average == "micro" else 0
        parts = [p * t, p * (1 - t), (1 - p) * t, t]
        if sample_weight is not None:
            w = convert(sample_weight)._value().astype("f4")
            parts = [_masks.times(a, w[:, None]) for a in parts]
        found = nb.stack([nb.sum(a, axis=axis) for a in parts])
        if self._tallies is None:
            self._tallies = nb.zeros(found.shape, "f4")
        self._tallies += found

    def result(self):
        """The score so far: a number, or one for each class."""
        tp, fp, fn, weights = [self._tallies[k] for k in range(4)]
        precision, recall = tp / (tp + fp + _EPSILON), tp / (tp + fn + _EPSILON)
        square = self.beta**2
        found = precision * recall / (square * precision + recall + _EPSILON) * (1 + square)
        if self.average == "weighted":
            found = nb.sum(found * (weights / (nb.sum(weights) + _EPSILON)))
        elif self.average is not None:
            found = nb.mean(found)
        return _ops.tensor(found)


class F1Score(FBetaScore):
    """2 precision recall / (precision + recall), of each class or averaged."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average, 1.0, threshold, name, dtype)


class IoU(_Tallies):
    """The mean over classes of what is both label and prediction as a part of what is either."""

    _direction = "up"

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None,
                 sparse_y_true=True, sparse_y_pred=True, axis=-1):  # fmt: skip
        _refuse(type(self).__name__, dtype=None if str(dtype) in ("int", "int32") else dtype)
        super().__init__(name)
        if max(target_class_ids) >= num_classes:
            raise ValueError(
                f"Target class id {max(target_class_ids)} is out of range, which is "
                f"[0, {num_classes})."
            )
        self.num_classes, self.target_class_ids = num_classes, list(target_class_ids)
        self.ignore_class, self.axis = ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self._matrix = nb.zeros((num_classes, num_classes), "f4")

    def _kept(self):
        return [self._matrix]

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions: numbers of classes, or one-hot. Weights count as whole
        numbers.
        """
        t, p = convert(y_true)._value(), convert(y_pred)._value()
        t = t if self.sparse_y_true else nb.argmax(t, axis=self.axis)
        p = p if self.sparse_y_pred else nb.argmax(p, axis=self.axis)
        t, p = (nb.stop_gradient(a).astype("i4").reshape(-1) for a in (t, p))
        w = nb.ones(t.shape, "f4")
        if sample_weight is not None:
            given = convert(sample_weight)._value()
            if given.dtype.kind == "f":
                warnings.warn(
                    "Weights of IoU are counted as whole numbers: fractions are cut off.",
                    stacklevel=2,
                )
            w = _masks.times(w, given.astype("i4").astype("f4").reshape(-1))
        if self.ignore_class is not None:
            w = nb.where(t == self.ignore_class, w.dtype.type(0), w)
        classes = nb.arange(self.num_classes)
        rows = (t[:, None] == classes).astype("f4") * w[:, None]
        self._matrix += rows.T @ (p[:, None] == classes).astype("f4")

    def result(self):
        """The mean so far, of the classes that were met."""
        both = nb.diagonal(self._matrix)
        under = nb.sum(self._matrix, axis=0) + nb.sum(self._matrix, axis=1) - both
        ids = nb.array(self.target_class_ids)
        both, under = both[ids], under[ids]
        found = nb.where(under > 0, both / (under + _EPSILON), both.dtype.type(0))
        return _ops.tensor(nb.sum(found) / (nb.sum((under > 0).astype("f4")) + _EPSILON))


class BinaryIoU(IoU):
    """`IoU` of predictions above a threshold."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        p = convert(y_pred)._value()
        super().update_state(y_true, _ops.tensor((p >= self.threshold).astype("i4")),
                             sample_weight)  # fmt: skip


class MeanIoU(IoU):
    """`IoU` of all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True,
                 sparse_y_pred=True, axis=-1):  # fmt: skip
        super().__init__(num_classes, range(num_classes), name, dtype, ignore_class, sparse_y_true,
                         sparse_y_pred, axis)  # fmt: skip


class OneHotIoU(IoU):
    """`IoU` of one-hot labels."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None,
                 sparse_y_pred=False, axis=-1):  # fmt: skip
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False,
                         sparse_y_pred, axis)  # fmt: skip


class OneHotMeanIoU(MeanIoU):
    """`IoU` of all classes of one-hot labels."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False,
                 axis=-1):  # fmt: skip
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)


class R2Score(_Tallies):
    """1 - the sum of squared differences / that of the labels from their mean."""

    _direction = "up"

    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score",
                 dtype=None):  # fmt: skip
        super().__init__(name, dtype)
        if class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise ValueError(
                message("R2Score", "unknown class_aggregation", class_aggregation,
                        "None, 'uniform_average' or 'variance_weighted_average'")
            )  # fmt: skip
        if num_regressors < 0:
            raise ValueError(message("R2Score", "num_regressors is negative", num_regressors, "0"))
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self._tallies, self._samples = None, nb.zeros((), "f4")

    def _kept(self):
        return [self._samples] if self._tallies is None else [self._tallies, self._samples]

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions, (examples, numbers)."""
        t, p = losses.matching(y_true, y_pred)
        t, p = nb.stop_gradient(t).astype("f4"), nb.stop_gradient(p).astype("f4")
        if t.ndim != 2:
            raise ValueError(message("R2Score", "not (examples, numbers)", t.shape, "two axes"))
        w = nb.ones(t.shape, "f4")
        if sample_weight is not None:
            given = convert(sample_weight)._value().astype("f4")
            w = _masks.times(w, given[:, None] if given.ndim == 1 else given)
        parts = (t * w, t * t * w, nb.square(t - p) * w, w)
        found = nb.stack([nb.sum(a, axis=0) for a in parts])
        if self._tallies is None:
            self._tallies = nb.zeros(found.shape, "f4")
        self._tallies += found
        self._samples += t.size

    def result(self):
        """The score so far: a number, or one for each column."""
        total, squares, errors, count = [self._tallies[k] for k in range(4)]
        spread = squares - total * (total / count)
        with nb.errstate(divide="ignore", invalid="ignore"):
            found = 1 - errors / spread
        found = nb.where(nb.isinf(found), found.dtype.type(0), found)
        if self.class_aggregation == "uniform_average":
            found = nb.mean(found)
        elif self.class_aggregation is not None:
            found = nb.sum(spread * found) / nb.sum(spread)
        if self.num_regressors:
            rest = float(self._samples) - self.num_regressors - 1
            if rest <= 0:
                warnings.warn("R2Score: too few examples to adjust it; it is not.", stacklevel=2)
            else:
                found = 1 - (1 - found) * (float(self._samples) - 1) / rest
        return _ops.tensor(found)
