"""`jax.devices` and where arrays lie."""

import numbus as nb

from ... import cuda as _cuda
from ...core.errors import message


class Device:
    """A device under JAX's names: `platform`, `id`, `device_kind`."""

    def __init__(self, name):
        self._name = name
        platform, _, number = name.partition(":")
        self.platform = "gpu" if platform == "cuda" else platform
        self.id = int(number or 0)
        self.process_index = 0
        self.device_kind = _kind(self.id) if platform == "cuda" else platform

    def __repr__(self):
        kind = "Cuda" if self.platform == "gpu" else self.platform.capitalize()
        return f"{kind}Device(id={self.id})"

    def __str__(self):
        return self._name if ":" in self._name else f"TFRT_CPU_{self.id}"

    def __eq__(self, other):
        return isinstance(other, Device) and self._name == other._name

    def __hash__(self):
        return hash(self._name)


def _kind(number):
    name = _cuda.list_devices()[number].name
    return name.decode() if isinstance(name, bytes) else name


def device_of(a):
    """The device of an array of Numbus's."""
    return Device(str(a._device))


def devices(backend=None):
    """The devices of a platform: 'cpu', 'gpu' or 'cuda'; by default those of the default one."""
    found = default_backend() if backend is None else backend
    if found == "cpu":
        return [Device("cpu")]
    if found in ("gpu", "cuda"):
        if _cuda.is_available():
            return [Device(f"cuda:{k}") for k in range(_cuda.device_count())]
        raise RuntimeError(
            message("jax.devices", "no GPU that can be used", backend, "jax.devices('cpu')")
        )
    raise RuntimeError(message("jax.devices", "unknown backend", backend, "'cpu' or 'gpu'"))


def local_devices(process_index=None, backend=None):
    """The devices of this process, which is the only one: number 0."""
    if process_index not in (None, 0):
        raise ValueError(message("local_devices", "no such process", process_index, "0"))
    return devices(backend)


def device_count(backend=None):
    """The number of devices."""
    return len(devices(backend))


local_device_count = device_count


def default_backend():
    """'cpu' or 'gpu': where new arrays lie."""
    name = str(nb.device())
    return "gpu" if name.startswith(("cuda", "auto")) and _cuda.is_available() else "cpu"
