"""torch.cuda.amp: the names of torch.amp as they were once, for GPUs alone."""

import functools

from ... import tensors as _tensors
from .._missing import missing as _missing
from . import amp as _amp

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
custom_bwd = functools.partial(_amp.custom_bwd, device_type="cuda")


def custom_fwd(fwd=None, *, cast_inputs=None):
    """torch.amp.custom_fwd for 'cuda'."""
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


class autocast(_amp.autocast):
    """torch.amp.autocast('cuda', ...)."""

    def __init__(self, enabled=True, dtype=_tensors.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """torch.amp.GradScaler('cuda', ...)."""

    def __init__(
        self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
        enabled=True,
    ):  # fmt: skip
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


def __getattr__(name):
    return _missing("torch.cuda.amp", name)
