"""torch.backends: settings that programs make, as far as there is anything to set."""

import contextlib
import functools
import sys

from .... import _core
from .... import cuda as _cuda
from ..._missing import missing as _missing


class _Settings:
    """Attributes that are kept; results do not depend on them."""

    def __init__(self, **known):
        self.__dict__.update(known)


class _Tf32(_Settings):
    """Settings of which `allow_tf32` says whether products (0) or convolutions (1) may use it."""

    _which = 0

    @property
    def allow_tf32(self):
        """Whether TF32 may be used on a GPU for what is float32; False at first."""
        return _core.tf32()[self._which]

    @allow_tf32.setter
    def allow_tf32(self, allowed):
        now = list(_core.tf32())
        now[self._which] = bool(allowed)
        _core.set_tf32(*now)


class _Cudnn(_Tf32):
    _which = 1

    @staticmethod
    def is_available():
        """Whether there is a GPU."""
        return bool(_cuda.is_available())


cudnn = _Cudnn(benchmark=False, deterministic=True, enabled=True)
mps = _Settings(is_available=lambda: False, is_built=lambda: False)
_attention = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn"), True)


def _enable(kind):
    def enable(enabled):
        _attention[kind] = bool(enabled)

    enable.__doc__ = "Notes whether kernels of that kind may be used; there is one for all."
    return enable


@contextlib.contextmanager
def sdp_kernel(
    enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True
):  # fmt: skip
    """A block that notes which kernels of attention may be used; there is one for all."""
    before = dict(_attention)
    _attention.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn
    )
    try:
        yield
    finally:
        _attention.update(before)


cuda = _Settings(
    matmul=_Tf32(),
    is_built=lambda: True,
    sdp_kernel=sdp_kernel,
    **{f"enable_{kind}_sdp": _enable(kind) for kind in _attention},
    **{f"{kind}_sdp_enabled": functools.partial(_attention.get, kind) for kind in _attention},
)
mkldnn = _Settings(is_available=lambda: False)

# `import torch.backends.cudnn as cudnn` finds these, to which programs assign.
for _name in ("cuda", "cudnn", "mkldnn", "mps"):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]


def __getattr__(name):
    return _missing("torch.backends", name)
