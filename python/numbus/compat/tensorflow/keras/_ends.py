"""What the outputs of a model are compared with: a loss, a weight and metrics of each."""

import numbus as nb

from ....core import trees
from ....core.errors import message
from .._tensor import Tensor
from . import losses
from . import metrics as _metrics


def _by_output(what, given, names, empty):
    """The entries of a list or dict for each output; anything else is that of each."""
    if isinstance(given, dict):
        unknown = [k for k in given if k not in names]
        if unknown:
            raise ValueError(
                message("compile", f"{what}= names outputs that there are none of", unknown, names)
            )
        return [given.get(name, empty) for name in names]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                message("compile", f"{what}= has not an entry for each output", len(given),
                        f"{len(names)} of {names}, or a dict")
            )  # fmt: skip
        return list(given)
    return [given] * len(names)


class Ends:
    """Losses and metrics of a model, whose outputs are known from the first ones on.

    names: of the outputs, or None where the model does not say.
    """

    def __init__(self, loss, weights, asked, weighted=None, names=None):
        self._given = loss, weights, asked, weighted
        self._names = names
        self.mean = _metrics.Mean("loss")
        # (name, loss, weight, its mean, metrics, metrics that weights count for) of each output
        self._ends = None
        self.several = False

    def _known(self, y, p):
        """The ends, which the first outputs decide; pairs of labels and outputs."""
        if isinstance(p, Tensor):
            names, p = [None], [p]
            y = [y[0] if isinstance(y, (list, tuple)) and len(y) == 1 else y]
        else:
            self.several = True
            names = list(p) if isinstance(p, dict) else self._names
            p = trees.flatten(p)[0]
            names = names or [f"output_{k + 1}" for k in range(len(p))]
            y = _by_output("y", y, names, None) if isinstance(y, (dict, list, tuple)) else [y]
            if len(y) != len(p):
                raise ValueError(
                    message("loss", "not labels for each output", len(y), f"{len(p)}: {names}")
                )
        if self._ends is None:
            self._ends = self._made(names, y, p)
        return list(zip(self._ends, y, p, strict=True))

    def _made(self, names, y, p):
        loss, weights, *asked = self._given
        if not self.several:
            one = [loss[0] if isinstance(loss, (list, tuple)) and len(loss) == 1 else loss]
            factors = weights if isinstance(weights, (list, tuple)) else [weights]
            lists = [[of] for of in asked]
        else:
            one = _by_output("loss", loss, names, None)
            factors = _by_output("loss_weights", weights, names, None)
            lists = [
                _by_output(what, of, names, None) if of else [None] * len(names)
                for what, of in zip(("metrics", "weighted_metrics"), asked, strict=True)
            ]
        made = []
        for name, of, factor, t, q, *wanted in zip(names, one, factors, y, p, *lists, strict=True):
            kept = []
            for metrics in wanted:
                metrics = metrics if isinstance(metrics, (list, tuple)) else (
                    [metrics] if metrics else []
                )  # fmt: skip
                kept.append([] if t is None else [_metrics.get(m, t, q) for m in metrics])
            own = _metrics.Mean(f"{name}_loss") if self.several and of is not None else None
            of = None if of is None else losses.get(of, t, q)
            made.append((name, of, factor, own, *kept))
        return made

    def _weights(self, weights, count):
        """The weights for each output: one array is that of all."""
        if isinstance(weights, dict):
            return [weights.get(end[0]) for end in self._ends]
        if not isinstance(weights, (list, tuple)):
            return [weights] * count
        if len(weights) != count:
            raise ValueError(
                message("loss", "not weights for each output", len(weights), f"{count} of them")
            )
        return weights

    def loss(self, y, p, weights=None):
        """The sum of the losses by their weights, and the loss of each output.

        weights: of the examples, or None.
        """
        total, parts = None, []
        known = self._known(y, p)
        of_each = self._weights(weights, len(known))
        for ((_, of, factor, *_), t, q), w in zip(known, of_each, strict=True):
            parts.append(None if of is None else of(t, q, w))
            if of is not None:
                part = parts[-1] if factor is None else parts[-1] * float(factor)
                total = part if total is None else total + part
        if total is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return total, parts

    def seen(self, y, p, total, parts, weights=None):
        """Adds a batch to the means and metrics."""
        size = float(trees.flatten(p)[0][0].shape[0])
        self.mean._add(nb.stop_gradient(total._value()), size)
        known = self._known(y, p)
        for ((_, _, _, own, *_), _, _), part in zip(known, parts, strict=True):
            if own is not None:
                own._add(nb.stop_gradient(part._value()), size)
        self.measured(y, p, weights)

    def measured(self, y, p, weights=None):
        """Adds a batch to the metrics."""
        known = self._known(y, p)
        of_each = self._weights(weights, len(known))
        for ((*_, kept, weighted), t, q), w in zip(known, of_each, strict=True):
            for m in kept:
                m.update_state(t, q)
            for m in weighted:
                m.update_state(t, q, sample_weight=w)

    def reset(self):
        """Begins all anew."""
        for _, m in self.all():
            m.reset_state()

    def own(self):
        """Metrics that were asked for, with the names that are shown."""
        found, ends = {}, self._ends or []
        for name, *_, kept, _ in ends:
            for m in kept:
                shown = m.name if name is None else f"{name}_{m.name}"
                count = sum([key == shown or key.startswith(f"{shown}_") for key in found])
                found[f"{shown}_{count}" if shown in found else shown] = m
        for name, *_, weighted in ends:
            for m in weighted:
                start = "" if name is None else f"{name}_"
                shown = start + m.name
                found[f"{start}weighted_{m.name}" if shown in found else shown] = m
        return list(found.items())

    def all(self):
        """Means of losses and metrics, with the names that are shown."""
        means = [own for _, _, _, own, *_ in self._ends or [] if own is not None]
        return [("loss", self.mean), *[(m.name, m) for m in means], *self.own()]


class CompileMetrics:
    """The metrics that `compile` was asked for, as one of a model's: for steps of one's own."""

    name = "compile_metrics"

    def __init__(self, ends):
        self._ends = ends

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds a batch."""
        self._ends.measured(y_true, y_pred, sample_weight)

    def result(self):
        """What each gives, by its name."""
        return {name: m.result() for name, m in self._ends.own()}

    def reset_state(self):
        """Begins anew."""
        for _, m in self._ends.own():
            m.reset_state()
