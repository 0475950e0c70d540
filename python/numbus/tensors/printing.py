"""Tensors as text, in PyTorch's format."""

import math

import numpy

from ..core.dtypes import kind_of
from . import _dtypes
from ._tensor import Tensor

_options = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """How tensors are printed: digits, how many elements before only edges are shown, width."""
    if profile is not None:
        names = ("precision", "threshold", "edgeitems", "linewidth")
        _options.update(zip(names, _PROFILES[profile], strict=True))
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems,
        "linewidth": linewidth,
    }  # fmt: skip
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


class _Format:
    """How the elements of one tensor are written: of equal width."""

    def __init__(self, a):
        self.kind = kind_of(a.dtype)
        self.whole, self.scientific, self.width = True, False, 1
        line = a.reshape(-1)
        if self.kind != "f":
            self.width = max([len(str(x)) for x in line.tolist()], default=1)
            return
        values = [abs(x) for x in line.astype("f8").tolist() if math.isfinite(x) and x != 0]
        if not values:
            return
        signed = [x for x in line.astype("f8").tolist() if math.isfinite(x) and x != 0]
        self.whole = all(x == math.ceil(x) for x in signed)
        small, large = min(values), max(values)
        self.scientific = large / small > 1000.0 or large > 1.0e8
        if not self.whole:
            self.scientific = self.scientific or small < 1.0e-4
        if _options["sci_mode"] is not None:
            self.scientific = _options["sci_mode"]
        self.width = max(1, *[len(self.bare(x)) for x in signed])

    def bare(self, x):
        digits = _options["precision"]
        if self.kind != "f":
            return str(x)
        if self.scientific:
            return f"{x:.{digits}e}"
        if self.whole:
            return f"{x:.0f}" + ("." if math.isfinite(x) else "")
        return f"{x:.{digits}f}"

    def __call__(self, x):
        return self.bare(x).rjust(self.width)


class _Complex:
    def __init__(self, a):
        self.real, self.imag = _Format(a.real), _Format(a.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, x):
        imag = self.imag(x.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{self.real(x.real)}{sign}{imag}j"


def _line(a, indent, write, shorten):
    edge = _options["edgeitems"]
    if shorten and len(a) > 2 * edge:
        texts = [
            *[write(x) for x in a[:edge].tolist()],
            " ...",
            *[write(x) for x in a[-edge:].tolist()],
        ]
    else:
        texts = [write(x) for x in a.tolist()]
    each = max(1, (_options["linewidth"] - indent) // (write.width + 2))
    rows = [", ".join(texts[k : k + each]) for k in range(0, len(texts), each)]
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def _text(a, indent, write, shorten):
    if a.ndim == 0:
        return write(a.item())
    if a.ndim == 1:
        return _line(a, indent, write, shorten)
    edge = _options["edgeitems"]
    if shorten and len(a) > 2 * edge:
        parts = [_text(x, indent + 1, write, shorten) for x in a[:edge]]
        parts.append("...")
        parts += [_text(x, indent + 1, write, shorten) for x in a[-edge:]]
    else:
        parts = [_text(x, indent + 1, write, shorten) for x in a]
    between = "," + "\n" * (a.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(parts) + "]"


def _edges(a):
    """The elements that are shown of a tensor that is not shown as a whole."""
    edge = _options["edgeitems"]
    for axis in range(a.ndim):
        if a.shape[axis] > 2 * edge:
            ends = [*range(edge), *range(a.shape[axis] - edge, a.shape[axis])]
            a = numpy.take(a, ends, axis=axis)
    return a


def _repr(self):
    a = self._array.to_numpy()
    indent = len("tensor(")
    suffixes = []
    if self.is_cuda:
        suffixes.append(f"device='{self.device}'")
    floats = _dtypes.default_float()
    usual = (floats, _dtypes.int64.numpy, _dtypes.bool.numpy, numpy.result_type(floats, "c8"))
    shown_dtype = a.dtype not in usual
    if a.size == 0:
        if a.ndim != 1:
            suffixes.append(f"size={tuple(a.shape)}")
        if a.dtype != _dtypes.default_float():
            suffixes.append(f"dtype={self.dtype}")
        text = "[]"
    else:
        if shown_dtype:
            suffixes.append(f"dtype={self.dtype}")
        shorten = a.size > _options["threshold"]
        shown = _edges(a) if shorten else a
        write = _Complex(shown) if a.dtype.kind == "c" else _Format(shown)
        text = _text(a, indent, write, shorten)
    if self.requires_grad:
        suffixes.append("requires_grad=True" if self._leaf else f"grad_fn=<{self.grad_fn.name()}>")
    text = "tensor(" + text
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


Tensor.__repr__ = _repr
Tensor.__str__ = _repr


def _format(self, specification):
    if self._array.ndim == 0:
        return self.item().__format__(specification)
    return object.__format__(self, specification) if specification else str(self)


Tensor.__format__ = _format
