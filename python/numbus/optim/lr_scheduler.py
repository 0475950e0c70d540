"""Learning rates that change from epoch to epoch, or from step to step."""

import math
import warnings
from bisect import bisect_right
from collections import Counter

from ..core.errors import message
from ._cycles import CyclicLR, OneCycleLR
from ._rates import LRScheduler, checked, for_groups, set_rate
from .optimizer import number

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip


class LambdaLR(LRScheduler):
    """The initial rate times `lr_lambda(epoch)`; a function, or one for each group.

    ValueError for another number of functions.
    """

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = for_groups("LambdaLR", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [
            base * f(self.last_epoch)
            for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]

    def state_dict(self):
        """All but the optimizer and the functions, of which only the state of objects is kept."""
        state = super().state_dict()
        functions = state.pop("lr_lambdas")
        kept = [
            dict(vars(f)) if hasattr(f, "__dict__") and not _is_function(f) else None
            for f in functions
        ]
        return {**state, "lr_lambdas": kept}

    def load_state_dict(self, state_dict):
        kept = state_dict["lr_lambdas"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, state in zip(self.lr_lambdas, kept, strict=True):
            if state is not None:
                vars(f).update(state)


class MultiplicativeLR(LambdaLR):
    """The rate times `lr_lambda(epoch)` at each step; a function, or one for each group."""

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [
            rate * f(self.last_epoch)
            for f, rate in zip(self.lr_lambdas, self._rates(), strict=True)
        ]


def _is_function(f):
    return type(f).__name__ in ("function", "builtin_function_or_method", "method")


class StepLR(LRScheduler):
    """The rate times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each of the epochs `milestones`."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch not in self.milestones:
            return self._rates()
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first `total_iters` epochs. ValueError for factors that are
    not in [0, 1].
    """

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if not 0 <= factor <= 1:
            raise ValueError(message("ConstantLR", "factor", factor, "0 to 1"))
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self):
        early = self.last_epoch < self.total_iters
        return [base * (self.factor if early else 1.0) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes from `start_factor` to `end_factor` in `total_iters`
    epochs. ValueError for a start that is not in (0, 1] or an end not in [0, 1].
    """

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        if not 0 < start_factor <= 1:
            raise ValueError(message("LinearLR", "start_factor", start_factor, "above 0, up to 1"))
        if not 0 <= end_factor <= 1:
            raise ValueError(message("LinearLR", "end_factor", end_factor, "0 to 1"))
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        more = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * more
        return [rate * (1.0 + more / before) for rate in self._rates()]

    def _get_closed_form_lr(self):
        more = self.end_factor - self.start_factor
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + more * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times `gamma` at each epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - epoch / total_iters)**power, and 0 from there on."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (now / before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1.0 - part) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """The rate goes down to `eta_min` in `T_max` epochs along half a period of a cosine, and up
    again (Loshchilov and Hutter, 2017, without restarts).
    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        low, n = self.eta_min, self.T_max
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - n) % (2 * n) == 0:
            turn = (1 - math.cos(math.pi / n)) / 2
            return [
                rate + (base - low) * turn
                for base, rate in zip(self.base_lrs, self._rates(), strict=True)
            ]
        now = 1 + math.cos(math.pi * self.last_epoch / n)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / n)
        return [now / before * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self):
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """A cosine from the initial rate down to `eta_min` in `T_0` epochs, then anew, each time
    `T_mult` times as long (Loshchilov and Hutter, 2017). `step(epoch)` takes fractions of epochs.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(message("CosineAnnealingWarmRestarts", "T_0", T_0, "an int above 0"))
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(
                message("CosineAnnealingWarmRestarts", "T_mult", T_mult, "an int >= 1")
            )
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min, self.T_cur = eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch=None):
        """Goes on to the next epoch, or to a number of epochs, which may be a fraction."""
        self._step_count += 1
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(
                    message("CosineAnnealingWarmRestarts", "epoch is negative", epoch, ">= 0")
                )
            self.T_cur, self.T_i = epoch, self.T_0
            while self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


def _check_parts(op, schedulers):
    """Refuses what is no schedule, or wants a metric at each step."""
    for s in schedulers:
        if not hasattr(s, "optimizer"):
            raise TypeError(message(op, "no schedule", type(s).__name__, "an LRScheduler"))
        if isinstance(s, ReduceLROnPlateau):
            raise ValueError(
                message(op, "a schedule whose steps take a metric", "ReduceLROnPlateau",
                        "schedules whose steps take nothing")
            )  # fmt: skip


def _undo(schedulers):
    """Takes back the epoch that schedules, and those in them, went on to when they were made."""
    for s in schedulers:
        if hasattr(s, "_schedulers"):
            _undo(s._schedulers)
        else:
            s.last_epoch -= 1


class SequentialLR(LRScheduler):
    """One schedule after the other: the next one begins at each of the epochs `milestones`.

    ValueError for schedules of another optimizer, or for another number of them than milestones and
    one more.
    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if not schedulers:
            raise ValueError(message("SequentialLR", "no schedules", "none", "some"))
        _check_parts("SequentialLR", schedulers)
        if len(schedulers) != len(milestones) + 1:
            raise ValueError(
                message("SequentialLR", "schedules and milestones do not fit",
                        (len(schedulers), len(milestones)), "one schedule more")
            )  # fmt: skip
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError(
                message("SequentialLR", "schedules of another optimizer", "one", "this one's")
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.optimizer = checked("SequentialLR", optimizer)
        self.last_epoch = last_epoch + 1
        self._step_count = 0
        # All have set their first rates: undo it, and begin with the first one.
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        _undo(self._schedulers)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _initial_step(self):
        """The step after another schedule, or a sequence around this one, has undone it."""
        self.step()

    def step(self, epoch=None):
        """Goes on to the next epoch. ValueError for a number, which it does not take."""
        if epoch is not None:
            raise ValueError(message("SequentialLR", "step of a number", epoch, "none"))
        self.last_epoch += 1
        k = bisect_right(self._milestones, self.last_epoch)
        s = self._schedulers[k]
        if k > 0 and self._milestones[k - 1] == self.last_epoch:
            s._go_on(0)
        else:
            s.step()
        self._last_lr = s.get_last_lr()

    def state_dict(self):
        """All but the optimizer; the schedules by their own."""
        kept = LRScheduler.state_dict(self).items()
        state = {k: v for k, v in kept if k != "_schedulers"}
        return {**state, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict):
        parts = state_dict["_schedulers"]
        rest = {k: v for k, v in state_dict.items() if k != "_schedulers"}
        LRScheduler.load_state_dict(self, rest)
        for s, part in zip(self._schedulers, parts, strict=True):
            s.load_state_dict(part)


class ChainedScheduler(LRScheduler):
    """Several schedules of one optimizer, each of which goes on at every step."""

    def __init__(self, schedulers, optimizer=None):
        if not schedulers:
            raise ValueError(message("ChainedScheduler", "no schedules", "none", "some"))
        _check_parts("ChainedScheduler", schedulers)
        self.optimizer = optimizer or schedulers[0].optimizer
        if any(s.optimizer is not self.optimizer for s in schedulers):
            raise ValueError(
                message("ChainedScheduler", "schedules of another optimizer", "one", "one for all")
            )
        self._schedulers = list(schedulers)
        self._last_lr = self._rates()

    def step(self, epoch=None):
        """Goes on to the next epoch. ValueError for a number, which it does not take."""
        if epoch is not None:
            raise ValueError(message("ChainedScheduler", "step of a number", epoch, "none"))
        for s in self._schedulers:
            s.step()
        self._last_lr = self._rates()

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when `metrics` has not become better for `patience` epochs.

    Parameters
    ----------
    optimizer : Optimizer
    mode : {"min", "max"}
        Whether lower or higher is better.
    factor : float, default 0.1
        ValueError for 1 and more.
    patience : int, default 10
    threshold, threshold_mode : float, {"rel", "abs"}
        By how much it has to be better, relative to the best so far or not.
    cooldown : int, default 0
        Epochs after a change in which none counts.
    min_lr : float or list of float, default 0
        The rate goes no lower.
    eps : float, default 1e-8
        Changes that are not larger are not made.
    """

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        op = "ReduceLROnPlateau"
        if factor >= 1.0:
            raise ValueError(message(op, "factor", factor, "below 1"))
        if mode not in ("min", "max"):
            raise ValueError(message(op, "mode", repr(mode), "'min' or 'max'"))
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(message(op, "threshold_mode", repr(threshold_mode), "'rel' or 'abs'"))
        self.optimizer = checked(op, optimizer)
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.min_lrs = for_groups(op, optimizer, min_lr)
        self.default_min_lr = min_lr if not isinstance(min_lr, (list, tuple)) else None
        self.last_epoch = 0
        self._last_lr = self._rates()
        self._reset()

    def _reset(self):
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether a metric is better than the best one so far, by the threshold."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            bound = best * (1.0 + sign * self.threshold)
        else:
            bound = best + sign * self.threshold
        return a < bound if self.mode == "min" else a > bound

    _is_better = is_better  # its name in newer releases

    def step(self, metrics, epoch=None):
        """Takes the metric of an epoch, a number, which is read where it is a tensor."""
        current = float(metrics)
        if epoch is not None:
            warnings.warn(
                message("ReduceLROnPlateau", "step of a number is deprecated", epoch, "none"),
                stacklevel=2,
            )
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                old = number(group["lr"])
                new = max(old * self.factor, low)
                if old - new > self.eps:
                    set_rate(group, new)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def get_lr(self):
        return self._rates()


_LRScheduler = LRScheduler  # its name in older programs
