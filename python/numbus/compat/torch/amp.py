"""torch.amp: blocks that compute in float16 or bfloat16, and the scaling of losses."""

import enum
import functools
import math

import numpy

from ... import cuda
from ...core.errors import message
from ...tensors.autocasting import autocast, get_autocast_dtype, is_autocast_enabled
from .._missing import missing as _missing

__all__ = [
    "GradScaler", "autocast", "custom_bwd", "custom_fwd", "get_autocast_dtype",
    "is_autocast_available", "is_autocast_enabled",
]  # fmt: skip


def is_autocast_available(device_type):
    """Whether there is autocast for such a device."""
    return device_type in ("cpu", "cuda")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Has `forward` of a torch.autograd.Function run outside of autocast, with inputs in the dtype
    `cast_inputs`; None: within the block that is there.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **keywords):
        args[0]._fwd_used_autocast = is_autocast_enabled(device_type) and cast_inputs is None
        if cast_inputs is None or not is_autocast_enabled(device_type):
            return fwd(*args, **keywords)
        args = [x.to(cast_inputs) if _is_floating(x) else x for x in args]
        with autocast(device_type, enabled=False):
            return fwd(*args, **keywords)

    return forward


def custom_bwd(bwd=None, *, device_type):
    """Has `backward` run in autocast where `forward` did."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args, **keywords):
        with autocast(device_type, enabled=args[0]._fwd_used_autocast):
            return bwd(*args, **keywords)

    return backward


def _is_floating(x):
    return getattr(x, "is_floating_point", lambda: False)() and x.dtype.itemsize <= 4


class _Stage(enum.Enum):
    """What has been done with an optimizer since the last update()."""

    READY, UNSCALED, STEPPED = range(3)


class GradScaler:
    """Multiplies losses so that gradients do not vanish in float16, and leaves out steps whose
    gradients are not finite.

    Parameters
    ----------
    device : 'cuda' or 'cpu'
        Without a GPU the scaler of 'cuda' does nothing, as PyTorch's.
    init_scale : float
        The first factor.
    growth_factor, backoff_factor : float
        What the factor is multiplied with after `growth_interval` finite steps, and after one that
        was left out.
    growth_interval : int
    enabled : bool
        False: everything goes on as if the scaler were not there.
    """

    def __init__(
        self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5,
        growth_interval=2000, enabled=True,
    ):  # fmt: skip
        self._device = device
        self._enabled = enabled and (device == "cpu" or bool(cuda.is_available()))
        if self._enabled and not (growth_factor > 1 and backoff_factor < 1):
            raise AssertionError(
                message("GradScaler", "factors that do not grow and shrink",
                        f"growth_factor={growth_factor}, backoff_factor={backoff_factor}",
                        "growth_factor > 1 and backoff_factor < 1")
            )  # fmt: skip
        self._scale, self._growth, self._backoff = float(init_scale), growth_factor, backoff_factor
        self._interval = growth_interval
        self._count = 0
        self._stages = {}  # by optimizer: (its stage, whether all gradients are finite)

    def is_enabled(self):
        """Whether it scales."""
        return self._enabled

    def get_scale(self):
        """The present factor."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        """What the factor is multiplied with in time."""
        return self._growth

    def set_growth_factor(self, new_factor):
        """Sets it."""
        self._growth = new_factor

    def get_backoff_factor(self):
        """What the factor is multiplied with after a step that was left out."""
        return self._backoff

    def set_backoff_factor(self, new_factor):
        """Sets it."""
        self._backoff = new_factor

    def get_growth_interval(self):
        """How many finite steps in a row make the factor grow."""
        return self._interval

    def set_growth_interval(self, new_interval):
        """Sets it."""
        self._interval = new_interval

    def scale(self, outputs):
        """A loss, or several, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, (tuple, list)):
            return type(outputs)([self.scale(x) for x in outputs])
        return outputs * self._scale

    def unscale_(self, optimizer):
        """Divides the gradients by the factor and finds out whether all are finite; once a step.

        Raises RuntimeError for a second time since the last update(), and ValueError for gradients
        of float16, in which the quotients may vanish.
        """
        if not self._enabled:
            return
        stage, _ = self._stages.get(id(optimizer), (_Stage.READY, None))
        if stage is _Stage.UNSCALED:
            raise RuntimeError(
                message("unscale_", "called twice since the last update()", "an optimizer", "once")
            )
        if stage is _Stage.STEPPED:
            raise RuntimeError(
                message("unscale_", "called after step()", "an optimizer", "unscale_() before it")
            )
        factor = float(numpy.float32(1 / self._scale))
        finite = None
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if p.grad._array.dtype == numpy.float16:
                    raise ValueError(
                        message("unscale_", "gradients of float16", "float16",
                                "parameters of float32, within autocast")
                    )  # fmt: skip
                # One number for all: it is read once.
                found = p.grad.isfinite().all()
                finite = found if finite is None else finite & found.to(finite.device)
                p.grad._array *= factor
        self._stages[id(optimizer)] = _Stage.UNSCALED, finite

    def step(self, optimizer, *args, **keywords):
        """`optimizer.step()`, unless a gradient is not finite.

        Raises RuntimeError for a second time since the last update() and for closures, and
        AssertionError where no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **keywords)
        if "closure" in keywords or args:
            raise RuntimeError(
                message("step", "a closure computes gradients that are not scaled", "a closure",
                        "no arguments")
            )  # fmt: skip
        stage, _ = self._stages.get(id(optimizer), (_Stage.READY, None))
        if stage is _Stage.STEPPED:
            raise RuntimeError(
                message("step", "called twice since the last update()", "an optimizer", "once")
            )
        if stage is _Stage.READY:
            self.unscale_(optimizer)
        finite = self._stages[id(optimizer)][1]
        if finite is None:
            raise AssertionError(
                message("step", "no gradients were checked", "parameters without gradients",
                        "backward() before step()")
            )  # fmt: skip
        finite = bool(finite)
        result = optimizer.step(**keywords) if finite else None
        self._stages[id(optimizer)] = _Stage.STEPPED, finite
        return result

    def update(self, new_scale=None):
        """Takes a smaller factor after gradients that were not finite, a larger one in time; or the
        one that is given. Raises AssertionError where no gradients were checked.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
            self._stages.clear()
            return
        known = [finite for _, finite in self._stages.values() if finite is not None]
        if not known:
            raise AssertionError(
                message("update", "no gradients were checked", "no step", "step() before update()")
            )
        self._stages.clear()
        if not all(map(bool, known)):
            self._scale *= self._backoff
            self._count = 0
            return
        self._count += 1
        if self._count == self._interval:
            grown = float(numpy.float32(self._scale * self._growth))
            self._scale = grown if math.isfinite(grown) else self._scale
            self._count = 0

    def state_dict(self):
        """What `load_state_dict` takes; empty where it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth, "backoff_factor": self._backoff,
            "growth_interval": self._interval, "_growth_tracker": self._count,
        }  # fmt: skip

    def load_state_dict(self, state_dict):
        """Goes on as the other did. RuntimeError for the state of one that is not enabled."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                message("load_state_dict", "the state of a scaler that is not enabled", state_dict,
                        "the state of an enabled one")
            )  # fmt: skip
        self._scale, self._growth = state_dict["scale"], state_dict["growth_factor"]
        self._backoff = state_dict["backoff_factor"]
        self._interval = state_dict["growth_interval"]
        self._count = state_dict["_growth_tracker"]


def __getattr__(name):
    return _missing("torch.amp", name)
