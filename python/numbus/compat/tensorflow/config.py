"""tf.config: devices."""

from ... import cuda as _cuda
from .._missing import missing as _missing

__name__ = "tensorflow.config"


class PhysicalDevice:
    """A device: `name`, `device_type`."""

    def __init__(self, kind, number):
        self.name, self.device_type = f"/physical_device:{kind}:{number}", kind

    def __repr__(self):
        return f"PhysicalDevice(name={self.name!r}, device_type={self.device_type!r})"


def list_physical_devices(device_type=None):
    """The devices of a type, 'CPU' or 'GPU', or all."""
    count = _cuda.device_count() if _cuda.is_available() else 0
    known = [PhysicalDevice("CPU", 0), *[PhysicalDevice("GPU", k) for k in range(count)]]
    return [d for d in known if device_type in (None, d.device_type)]


list_logical_devices = list_physical_devices


class experimental:
    """`tf.config.experimental`."""

    list_physical_devices = staticmethod(list_physical_devices)

    @staticmethod
    def set_memory_growth(device, enable):
        """Memory grows with what is used anyway. Raises ValueError for False."""
        if not enable:
            raise ValueError(
                f"[set_memory_growth] memory is taken as it is used; got False for {device}; "
                "expected True"
            )


def run_functions_eagerly(run_eagerly):
    """Functions run as Python, whatever is said."""
    if not isinstance(run_eagerly, bool):
        raise TypeError(f"[run_functions_eagerly] no bool; got {run_eagerly!r}; expected True")


def __getattr__(name):
    return _missing("tf.config", name)
