"""Learning rates, and momenta with them, that rise and fall."""

import math

from ..core.errors import message
from ._rates import LRScheduler, checked, for_groups, set_rate


def _between(start, end, part, strategy):
    """A number between two by a part of the way, along a line or half a period of a cosine."""
    if strategy == "linear":
        return (end - start) * part + start
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


class OneCycleLR(LRScheduler):
    """The rate goes from max_lr / div_factor up to `max_lr` and down to 1 / final_div_factor of its
    beginning, in `total_steps` steps, or epochs * steps_per_epoch of them (Smith and Topin, 2018).

    Parameters
    ----------
    optimizer : Optimizer
    max_lr : float or list of float
        The largest rate, of each group.
    total_steps, epochs, steps_per_epoch : int, optional
        The number of steps, or the numbers of which it is the product.
    pct_start : float, default 0.3
        The part of the steps in which the rate grows.
    anneal_strategy : {"cos", "linear"}
    cycle_momentum : bool, default True
        The momentum (or the first of `betas`) goes from `max_momentum` (0.95) down to
        `base_momentum` (0.85) and up again. ValueError where the optimizer has none.
    three_phase : bool, default False
        Down as long as up, and what is left for the last part.

    Raises
    ------
    ValueError
        For numbers out of their range, and for more steps than `total_steps`.
    """

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        op = "OneCycleLR"
        checked(op, optimizer)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError(
                    message(op, "number of steps is not given", "none",
                            "total_steps, or epochs and steps_per_epoch")
                )  # fmt: skip
            if min(epochs, steps_per_epoch) <= 0:
                raise ValueError(
                    message(op, "number of steps", (epochs, steps_per_epoch), "positive ints")
                )
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(message(op, "total_steps", total_steps, "a positive int"))
        if not 0 <= pct_start <= 1:
            raise ValueError(message(op, "pct_start", pct_start, "0 to 1"))
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                message(op, "anneal_strategy", repr(anneal_strategy), "'cos' or 'linear'")
            )
        self.total_steps, self._strategy = total_steps, anneal_strategy
        up = float(pct_start * total_steps) - 1
        # (last step, key of the rate there, key of the momentum there)
        if three_phase:
            self._phases = [
                (up, "max_lr", "base_momentum"),
                (float(2 * pct_start * total_steps) - 2, "initial_lr", "max_momentum"),
                (total_steps - 1, "min_lr", "max_momentum"),
            ]
        else:
            self._phases = [
                (up, "max_lr", "base_momentum"), (total_steps - 1, "min_lr", "max_momentum")
            ]  # fmt: skip
        most = for_groups(op, optimizer, max_lr)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, most, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
            _has_momentum(op, optimizer)
            lows = for_groups(op, optimizer, base_momentum)
            highs = for_groups(op, optimizer, max_momentum)
            if last_epoch == -1:
                for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
                    _set_momentum(group, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                message("OneCycleLR", "more steps than there are", step, self.total_steps)
            )
        rates = []
        for group in self.optimizer.param_groups:
            start, rate, momentum = 0.0, "initial_lr", "max_momentum"
            for k, (end, next_rate, next_momentum) in enumerate(self._phases):
                if step <= end or k == len(self._phases) - 1:
                    part = (step - start) / (end - start)
                    rates.append(_between(group[rate], group[next_rate], part, self._strategy))
                    if self.cycle_momentum:
                        _set_momentum(
                            group,
                            _between(group[momentum], group[next_momentum], part, self._strategy),
                        )
                    break
                start, rate, momentum = end, next_rate, next_momentum
        return rates


def _has_momentum(op, optimizer):
    if "betas" not in optimizer.defaults and "momentum" not in optimizer.defaults:
        raise ValueError(
            message(op, "the optimizer has no momentum to cycle", type(optimizer).__name__,
                    "cycle_momentum=False")
        )  # fmt: skip


def _set_momentum(group, value):
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """The rate goes from `base_lr` up to `max_lr` in `step_size_up` steps and down again in
    `step_size_down`, over and over (Smith, 2017).

    mode: 'triangular', 'triangular2' (half as far each time) or 'exp_range' (times gamma**step);
    or scale_fn of the cycle's number (scale_mode 'cycle') or the step ('iterations'). The momentum,
    or the first of `betas`, goes the other way.
    """

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        op = "CyclicLR"
        lows = for_groups(op, optimizer, base_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lows, strict=True):
                set_rate(group, low)
        self.max_lrs = for_groups(op, optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(
                message(op, "mode", repr(mode), "'triangular', 'triangular2' or 'exp_range'")
            )
        self.mode, self.gamma, self._scale = mode, gamma, scale_fn
        by_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode = by_mode if scale_fn is None else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = "betas" in optimizer.defaults
            _has_momentum(op, optimizer)
            self.base_momentums = for_groups(op, optimizer, base_momentum)
            self.max_momentums = for_groups(op, optimizer, max_momentum)
            if last_epoch == -1:
                highs = zip(
                    optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
                )
                for group, low, high in highs:
                    _set_momentum(group, high)
                    group["base_momentum"], group["max_momentum"] = low, high
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x):
        """The factor of the way from the lower to the upper bound."""
        if self._scale is not None:
            return self._scale(x)
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        rates = [
            low + (high - low) * part * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            bounds = zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            )
            for group, low, high in bounds:
                _set_momentum(group, high - (high - low) * part * scale)
        return rates

    def state_dict(self):
        """All but the optimizer and a function that was given."""
        return {k: v for k, v in super().state_dict().items() if k != "_scale"}
