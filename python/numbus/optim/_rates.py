"""What schedules of learning rates have in common."""

from ..core.errors import message
from ..tensors import Tensor, no_grad
from .optimizer import Optimizer, number


def for_groups(op, optimizer, value):
    count = len(checked(op, optimizer).param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(message(op, "not one for each parameter group", len(value), count))
    return list(value)


def checked(op, optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(message(op, "no optimizer", type(optimizer).__name__, "an Optimizer"))
    return optimizer


def set_rate(group, rate):
    """Sets a group's learning rate; that of a tensor in its own memory, which programs may hold."""
    if isinstance(group["lr"], Tensor):
        with no_grad():
            group["lr"].fill_(number(rate))
    else:
        group["lr"] = number(rate)


class LRScheduler:
    """The base of schedules: `step()` sets the learning rate of each group to what `get_lr()` says.

    Parameters
    ----------
    optimizer : Optimizer
    last_epoch : int, default -1
        The epoch that has been reached; -1: this is the beginning, and each group's rate becomes
        its `initial_lr`. Else KeyError where a group has none.

    Notes
    -----
    Rates follow from those that the groups have at the time, so that schedules can be combined;
    `step(epoch)` asks for an epoch by its number, where a schedule has a formula of that.
    """

    _is_initial = False  # whether the step of the constructor goes on

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = checked(type(self).__name__, optimizer)
        for k, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    message(type(self).__name__, f"param 'initial_lr' is not specified in "
                            f"param_groups[{k}] when resuming", f"last_epoch={last_epoch}",
                            "a group that a schedule was made for")
                )  # fmt: skip
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr = []
        self._initial_step()

    def _initial_step(self):
        """The step of the constructor, from which rates go on that had been reached before."""
        self._step_count, self._is_initial = 0, True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _rates(self):
        return [number(group["lr"]) for group in self.optimizer.param_groups]

    def get_lr(self):
        """The learning rates of the groups at `last_epoch`."""
        raise NotImplementedError(
            message(type(self).__name__, "a schedule without rates", "no get_lr", "one")
        )

    def get_last_lr(self):
        """The learning rates that the last step has set."""
        return self._last_lr

    def step(self, epoch=None):
        """Goes on to the next epoch, or to the one of that number."""
        self._step_count += 1
        self._go_on(epoch)

    def _go_on(self, epoch=None):
        """A step that is not counted."""
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        self._set(rates)

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def state_dict(self):
        """What `load_state_dict` takes: all but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict()` gave."""
        vars(self).update(state_dict)
