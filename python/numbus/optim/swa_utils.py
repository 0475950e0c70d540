"""Averages of the parameters that a training goes through, and the schedule of rates for them."""

import copy
import math

from .. import tensors
from ..core.errors import message
from ..nn import Module
from ..nn.modules.normalisation import _BatchNorm
from ..tensors import no_grad, tensor
from .lr_scheduler import LRScheduler

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _checked_decay(op, decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(message(op, "a decay out of range", decay, "0 to 1"))
    return decay


def _floats(t):
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay=0.999):
    """A function that moves lists of averages by the share 1 - decay to present values.

    ValueError for a decay that is not in [0, 1].
    """
    _checked_decay("get_ema_multi_avg_fn", decay)

    @no_grad()
    def update(averages, present, _count):
        for average, now in zip(averages, present, strict=True):
            if _floats(average):
                average.lerp_(now, 1 - decay)
            else:
                average.copy_(average * decay + now * (1 - decay))

    return update


def get_swa_multi_avg_fn():
    """A function that makes lists of averages of `count` values those of one more."""

    @no_grad()
    def update(averages, present, count):
        for average, now in zip(averages, present, strict=True):
            if _floats(average):
                average.lerp_(now, 1 / (int(count) + 1))
            else:
                average.copy_(average + (now - average) / (int(count) + 1))

    return update


def get_ema_avg_fn(decay=0.999):
    """A function of an average, the present value and how many there were: the average moved by the
    share 1 - decay.

    ValueError for a decay that is not in [0, 1].
    """
    _checked_decay("get_ema_avg_fn", decay)

    @no_grad()
    def update(average, present, _count):
        return decay * average + (1 - decay) * present

    return update


def get_swa_avg_fn():
    """A function of an average, the present value and how many there were: the average of all."""

    @no_grad()
    def update(average, present, count):
        return average + (present - average) / (count + 1)

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that `update_parameters` has met.

    Parameters
    ----------
    model : Module
    device : device, optional
        Where the copy lies; None: where the model does.
    avg_fn : callable, optional
        ``avg_fn(average, present, count)`` gives the next average of a parameter.
    multi_avg_fn : callable, optional
        ``multi_avg_fn(averages, present, count)`` changes lists of averages in place. Without
        either, averages are equally weighted. AssertionError where both are given.
    use_buffers : bool, default False
        Whether buffers are averaged as parameters are; else they are copied.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError(
                message("AveragedModel", "two ways to average", "avg_fn and multi_avg_fn",
                        "one of them")
            )  # fmt: skip
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        where = "cpu" if device is None else device
        self.register_buffer("n_averaged", tensor(0, dtype=tensors.int64, device=where))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **keywords):
        """What the averaged model gives."""
        return self.module(*args, **keywords)

    def _averaged(self, model):
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model):
        """Takes the parameters of `model` into the averages; the first ones are copied."""
        with no_grad():
            averages = self._averaged(self.module)
            present = [
                now.detach().to(average.device)
                for average, now in zip(averages, self._averaged(model), strict=True)
            ]
            count = int(self.n_averaged.item())
            if count == 0:
                for average, now in zip(averages, present, strict=True):
                    average.detach().copy_(now)
            elif self.avg_fn is not None:
                for average, now in zip(averages, present, strict=True):
                    made = self.avg_fn(average.detach(), now, self.n_averaged.to(now.device))
                    average.detach().copy_(made)
            else:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                given = [average.detach() for average in averages]
                update(given, present, self.n_averaged.to(given[0].device) if given else 0)
            if not self.use_buffers:
                pairs = zip(self.module.buffers(), model.buffers(), strict=True)
                for own, now in pairs:
                    own.detach().copy_(now.detach().to(own.device))
            self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Finds the running means and variances of a model's batch normalisations anew, as averages
    over the batches of `loader`, of which the first item is the input where they are sequences.

    The model is run in training mode, and left as it was.
    """
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not layers:
        return
    momenta = [m.momentum for m in layers]
    training = model.training
    for m in layers:
        m.reset_running_stats()
        m.momentum = None
    model.train()
    try:
        with no_grad():
            for batch in loader:
                given = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(given if device is None else given.to(device))
    finally:
        for m, momentum in zip(layers, momenta, strict=True):
            m.momentum = momentum
        model.train(training)


_STRATEGIES = {
    "cos": lambda t: (1 - math.cos(math.pi * t)) / 2,
    "linear": lambda t: t,
}


class SWALR(LRScheduler):
    """Rates that go within some steps from what they are to `swa_lr`, where they stay.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float or sequence of float
        The last rate, or one for each group. ValueError for another number of them.
    anneal_epochs : int, default 10
    anneal_strategy : str, default "cos"
        "cos" or "linear", else ValueError.
    last_epoch : int, default -1
    """

    def __init__(
        self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1
    ):  # fmt: skip
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                message("SWALR", "rates for another number of groups", len(rates), len(groups))
            )
        if anneal_strategy not in _STRATEGIES:
            raise ValueError(
                message("SWALR", "unknown anneal_strategy", anneal_strategy, list(_STRATEGIES))
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                message("SWALR", "anneal_epochs is no count", anneal_epochs, "0 or more")
            )
        for group, rate in zip(groups, rates, strict=True):
            group["swa_lr"] = rate
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        t = step / max(1, self.anneal_epochs)
        return _STRATEGIES[self._anneal_strategy](min(1.0, max(0.0, t)))

    def get_lr(self):
        """The rates of the groups at this step."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        made = []
        for group, rate in zip(self.optimizer.param_groups, self._rates(), strict=True):
            last = group["swa_lr"]
            # Where the way began, by what the present rate is said to be of it.
            first = last if before == 1 else (rate - before * last) / (1 - before)
            made.append(now * last + (1 - now) * first)
        return made
