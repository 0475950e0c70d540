"""The device of new arrays, and moving arrays between devices."""

from .. import _core
from .._core import generic, ndarray
from .errors import message
from .operands import to_ndarray

__all__ = ["device", "to_device"]


class device:
    """`nb.device("cpu")` makes a device the one of new arrays: 'cpu', 'cuda', 'cuda:N' or 'null'.

    As a statement it holds from there on; in `with nb.device("cpu"):` until the end of the block.
    `nb.device()` changes nothing; `str()` of it is the name. Raises RuntimeError where a GPU cannot
    be used.
    """

    __slots__ = ("_before", "name")

    def __init__(self, name=None):
        before = _core.get_device() if name is None else _core.set_device(str(name))
        self._before = [before]
        self.name = _core.get_device()

    def __enter__(self):
        # Switched already by the constructor; a second `with` on the same object switches again.
        before = _core.set_device(self.name)
        if before != self.name:
            self._before.append(before)
        return self

    def __exit__(self, *error):
        _core.set_device(self._before.pop() if len(self._before) > 1 else self._before[0])

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"device({self.name!r})"


def to_device(a, device):
    """`a` on the named device: itself where it already is, else a copy."""
    if type(a) not in (ndarray, generic):
        a = to_ndarray(a)
    return _named(a, str(device))


def method(self, device, /, *, stream=None):
    """The array on the named device: itself where it already is, else a copy."""
    if stream is not None:
        raise ValueError(message("to_device", "streams are not chosen here", stream, "stream=None"))
    return _named(self, str(device)) if type(self) is ndarray else self


def _named(a, device):
    a = _core.to_device(a, device)
    if device != "auto" and type(a) is ndarray:
        _core.pin(a)
    return a


def device_of(self):
    """The name of the device that holds the array: 'cpu', 'cuda:0', … A number that has been read
    is on none: it goes where it is used. Where devices are chosen by cost, work that is pending is
    carried out, which chooses.
    """
    if _core.placing() and type(self) is ndarray:
        _core.settle(self)
    return self._device
