"""torch.amp: what autocast would compute in float16 or bfloat16 is computed in float32 here."""

import functools

from ... import cuda
from ...core.errors import message
from .._missing import missing as _missing

__all__ = ["GradScaler", "autocast"]


class autocast:
    """A block and a decorator in which dtypes stay as they are: float32 is computed in float32."""

    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        self.device, self.fast_dtype, self._enabled = device_type, dtype, enabled
        self._cache_enabled = cache_enabled

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **keywords):
            return function(*args, **keywords)

        return wrapper


class GradScaler:
    """Multiplies losses so that gradients do not vanish in float16, and leaves out steps whose
    gradients are not finite.
    """

    def __init__(
        self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5,
        growth_interval=2000, enabled=True,
    ):  # fmt: skip
        self._device = device
        self._scale, self._growth, self._backoff = init_scale, growth_factor, backoff_factor
        self._interval = growth_interval
        # As PyTorch's: without a GPU there is nothing to scale for.
        self._enabled = enabled and (device == "cpu" or bool(cuda.is_available()))
        self._count = 0
        self._unscaled = {}  # by optimizer: whether all gradients are finite

    def is_enabled(self):
        """Whether it scales."""
        return self._enabled

    def get_scale(self):
        """The present factor."""
        return self._scale if self._enabled else 1.0

    def scale(self, outputs):
        """A loss, or several, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, (tuple, list)):
            return type(outputs)([self.scale(x) for x in outputs])
        return outputs * self._scale

    def unscale_(self, optimizer):
        """Divides the gradients by the factor; once a step."""
        if not self._enabled:
            return
        if id(optimizer) in self._unscaled:
            raise RuntimeError(
                message("unscale_", "called twice since the last update()", "an optimizer", "once")
            )
        finite = True
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad._array *= 1 / self._scale
                    finite = finite and bool(p.grad.isfinite().all())
        self._unscaled[id(optimizer)] = finite

    def step(self, optimizer, *args, **keywords):
        """`optimizer.step()`, unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **keywords)
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        return optimizer.step(*args, **keywords) if self._unscaled[id(optimizer)] else None

    def update(self, new_scale=None):
        """Takes a smaller factor after gradients that were not finite, a larger one in time."""
        if not self._enabled:
            return
        finite = all(self._unscaled.values())
        self._unscaled.clear()
        if new_scale is not None:
            self._scale = float(new_scale)
            return
        if not finite:
            self._scale *= self._backoff
            self._count = 0
            return
        self._count += 1
        if self._count == self._interval:
            self._scale *= self._growth
            self._count = 0

    def state_dict(self):
        """What `load_state_dict` takes."""
        return {
            "scale": self._scale, "growth_factor": self._growth, "backoff_factor": self._backoff,
            "growth_interval": self._interval, "_growth_tracker": self._count,
        }  # fmt: skip

    def load_state_dict(self, state):
        """Goes on as the other did."""
        self._scale, self._growth = state["scale"], state["growth_factor"]
        self._backoff, self._interval = state["backoff_factor"], state["growth_interval"]
        self._count = state["_growth_tracker"]


def __getattr__(name):
    return _missing("torch.amp", name)
