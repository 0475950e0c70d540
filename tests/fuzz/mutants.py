"""NumPy with one deliberate mistake each: the fuzzer must find every one of them.

Each mutant is (module, array type); the array type is an ndarray subclass that makes the mistake.
"""

from __future__ import annotations

import types

import numpy as np


def _plain(x):
    return x.view(np.ndarray) if isinstance(x, np.ndarray) else x


class Faithful(np.ndarray):
    """No mistake: the control."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        kwargs = {k: _plain(v) for k, v in kwargs.items()}
        if out is not None:
            kwargs["out"] = tuple(map(_plain, out))
        y = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if out is not None:
            return out[0]
        return y.view(type(self)) if isinstance(y, np.ndarray) else y


def _method(name):
    def call(self, *args, **kwargs):
        y = getattr(_plain(self), name)(*args, **{k: _plain(v) for k, v in kwargs.items()})
        return y.view(type(self)) if isinstance(y, np.ndarray) else y

    return call


for _name in "sum prod min max any all mean var std argmin argmax".split():
    setattr(Faithful, _name, _method(_name))


class OverlapOrder(Faithful):
    """a[1:] = a[:-1] copies front to back without looking whether the sides overlap."""

    def __setitem__(self, index, value):
        target = _plain(self)[index] if not isinstance(index, np.ndarray) else None
        source = _plain(value)
        if (
            target is None
            or not isinstance(source, np.ndarray)
            or not isinstance(target, np.ndarray)
            or target.shape != source.shape
            or target.ndim == 0
        ):
            _plain(self)[index] = source
            return
        for i in range(target.shape[0]):
            target[i] = source[i]


class MaskIsView(Faithful):
    """x = c[m]; x *= 2 also changes c."""

    origin = None

    def __getitem__(self, index):
        y = super().__getitem__(_plain(index))
        if isinstance(index, np.ndarray) and index.dtype == bool and isinstance(y, MaskIsView):
            y.origin = (_plain(self), _plain(index).copy())
        return y

    def __imul__(self, other):
        super().__imul__(other)
        if self.origin is not None and self.shape == self.origin[0][self.origin[1]].shape:
            self.origin[0][self.origin[1]] = _plain(self)
        return self


class StaleCopy(Faithful):
    """q = p.copy() shares p's storage."""

    def copy(self, order="C"):
        return self


class OutUnmasked(Faithful):
    """where= is ignored when out= is given."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if out is not None:
            kwargs.pop("where", None)
        return super().__array_ufunc__(ufunc, method, *inputs, out=out, **kwargs)


class OneRounding(Faithful):
    """a*b + c in higher precision (a contracted multiply-add), seen in the last bit only."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        kwargs = {k: _plain(v) for k, v in kwargs.items()}
        if out is not None:
            kwargs["out"] = tuple(map(_plain, out))
        raw = list(map(_plain, inputs))
        y = getattr(ufunc, method)(*raw, **kwargs)
        if out is None and ufunc is np.add and method == "__call__" and y.dtype == np.float64:
            wide = np.add(
                *[np.asarray(x, np.longdouble) * (1 + np.longdouble(2) ** -53) for x in raw]
            )
            y = wide.astype(np.float64)
        if out is not None:
            return out[0]
        return y.view(type(self)) if isinstance(y, np.ndarray) else y


class LateExport(Faithful):
    """`a += x` works on a fresh copy, which nobody who holds the old storage sees."""

    def __iadd__(self, other):
        return (_plain(self) + other).astype(self.dtype, casting="same_kind").view(type(self))


def _module(cls):
    module = types.SimpleNamespace(**{k: v for k, v in vars(np).items() if not k.startswith("__")})

    def wrapped(function):
        def call(*args, **kwargs):
            y = function(*args, **kwargs)
            return y.view(cls) if isinstance(y, np.ndarray) else y

        return call

    for name in "array asarray zeros ones full empty arange eye where zeros_like full_like".split():
        setattr(module, name, wrapped(getattr(np, name)))
    module.linalg = types.SimpleNamespace(norm=lambda x: np.linalg.norm(_plain(x)))
    return module


MUTANTS = {
    cls.__name__: (_module(cls), np.ndarray)
    for cls in (Faithful, OverlapOrder, MaskIsView, StaleCopy, OutUnmasked, OneRounding, LateExport)
}
