"""torch.backends: settings that programs make, as far as there is anything to set."""

from .... import cuda as _cuda
from ..._missing import missing as _missing


class _Settings:
    """Attributes that are kept; results do not depend on them."""

    def __init__(self, **known):
        self.__dict__.update(known)


class _Cudnn(_Settings):
    @staticmethod
    def is_available():
        """Whether there is a GPU."""
        return bool(_cuda.is_available())


cudnn = _Cudnn(benchmark=False, deterministic=True, enabled=True, allow_tf32=False)
mps = _Settings(is_available=lambda: False, is_built=lambda: False)
cuda = _Settings(matmul=_Settings(allow_tf32=False), is_built=lambda: True)
mkldnn = _Settings(is_available=lambda: False)


def __getattr__(name):
    return _missing("torch.backends", name)
