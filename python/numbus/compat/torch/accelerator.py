"""torch.accelerator: the GPU, under the names that do not say which kind it is."""

from ... import tensors as _tensors
from .._missing import missing as _missing
from . import cuda as _cuda

is_available, device_count, synchronize = _cuda.is_available, _cuda.device_count, _cuda.synchronize
current_device_index, set_device_index = _cuda.current_device, _cuda.set_device


def current_accelerator(check_available=False):
    """The device 'cuda' where there is a GPU, else None; a GPU that cannot be used is none."""
    if not isinstance(check_available, bool):
        raise TypeError(
            f"[current_accelerator] no bool; got {check_available!r}; expected True or False"
        )
    return _tensors.device("cuda") if is_available() else None


def __getattr__(name):
    return _missing("torch.accelerator", name)
