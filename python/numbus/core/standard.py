"""What Python's array API standard asks a namespace about itself: version, devices, dtypes."""

import numpy

from .. import _core
from .errors import message

VERSION = "2025.12"
# Versions of the standard whose functions are those of the namespace.
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)


class NamespaceInfo:
    """The answers of `__array_namespace_info__()`: capabilities, devices and dtypes."""

    __slots__ = ()

    def capabilities(self):
        """A dict: whether masks and shapes found in data work, and how many axes arrays have."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The name of the device of new arrays; None where devices are chosen by cost."""
        return None if _core.placing() else _core.get_device()

    def devices(self):
        """The names of the devices that arrays can be put on, the CPU first."""
        names = ["cpu", *(f"cuda:{k}" for k in range(_core.cuda_count()))]
        usual = self.default_device()
        return names if usual in (None, *names) else [*names, usual]

    def default_dtypes(self, *, device=None):
        """A dict from kind to the dtype that new arrays have, the same on all devices.

        Raises ValueError for what is no device.
        """
        self._known("default_dtypes", device)
        return numpy.__array_namespace_info__().default_dtypes()

    def dtypes(self, *, device=None, kind=None):
        """A dict from name to dtype, the same on all devices.

        kind: 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex
        floating', 'numeric', or a tuple of these. Raises ValueError for other kinds and for what is
        no device.
        """
        self._known("dtypes", device)
        found = numpy.__array_namespace_info__().dtypes(kind=kind)
        return {name: numpy.dtype(dtype) for name, dtype in found.items()}

    def _known(self, op, device):
        if device is None or str(device) == "cuda" or str(device) in (names := self.devices()):
            return
        raise ValueError(message(op, "unknown device", repr(device), ", ".join(names)))


def check_version(version):
    """ValueError for a version of the standard that the namespace does not have."""
    if version not in (None, *_VERSIONS):
        expected = ", ".join(_VERSIONS)
        raise ValueError(
            message(
                "__array_namespace__", "unknown version of the standard", repr(version), expected
            )
        )
