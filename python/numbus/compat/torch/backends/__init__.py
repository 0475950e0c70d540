"""torch.backends: settings that programs make, as far as there is anything to set."""

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
cuda = _Settings(matmul=_Tf32(), is_built=lambda: True)
mkldnn = _Settings(is_available=lambda: False)


def __getattr__(name):
    return _missing("torch.backends", name)
