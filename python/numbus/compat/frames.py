"""pandas as user scripts call it: it looks for numpy.ndarray among masks and keys, and gets the
memory of Numbus's arrays as such; it looks for NumPy's numbers among what functions return, and
gets those that lie on a device as such.
"""

import functools
import importlib
import types

import numpy

from .. import _core

# Where pandas asks whether an argument is a numpy.ndarray; all else it converts by itself.
_ENTRIES = {
    "pandas": "factorize pivot_table unique",
    "pandas.core.frame.DataFrame": "__getitem__ __setitem__ groupby set_index where mask agg "
    "aggregate apply applymap combine map pivot_table transform",
    "pandas.core.series.Series": "__getitem__ __setitem__ groupby where mask agg aggregate apply "
    "combine map transform",
    "pandas.core.groupby.generic.SeriesGroupBy": "agg aggregate apply transform",
    "pandas.core.groupby.generic.DataFrameGroupBy": "agg aggregate apply transform",
    "pandas.core.resample.Resampler": "agg aggregate apply transform",
    "pandas.core.indexing._LocationIndexer": "__getitem__ __setitem__",
    "pandas.core.indexes.base.Index": "__getitem__ where putmask",
    "pandas.core.indexes.datetimelike.DatetimeTimedeltaMixin": "__getitem__",
}


def _plain(x):
    kind = type(x)
    if kind is _core.ndarray:
        return numpy.asarray(x)
    if kind is _core.generic:
        return x.dtype.type(x.item())
    if kind is list or kind is tuple:
        return kind([_plain(item) for item in x])
    if kind is types.FunctionType or kind is types.MethodType or kind is _core.Composed:
        return _giving_plain(x)
    if kind is functools.partial:
        return kind(_plain(x.func), *x.args, **x.keywords)
    if kind is dict and any(map(callable, x.values())):  # columns and their functions
        return {key: _plain(value) for key, value in x.items()}
    return x


def _giving_plain(function):
    """The function, whose result is a number of NumPy's where it is one of ours."""

    @functools.wraps(function)
    def giving(*args, **kwargs):
        result = function(*args, **kwargs)
        return result.dtype.type(result.item()) if type(result) is _core.generic else result

    return giving


def _taking(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        if kwargs.get("engine") == "numba":  # which compiles the function itself
            return function(self, *args, **kwargs)
        args = [_plain(x) for x in args]
        if kwargs:
            kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return function(self, *args, **kwargs)

    return wrapper


def _taking_first(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        args = (_plain(args[0]), *args[1:]) if args else args
        named = {name: _plain(kwargs[name]) for name in ("values", "aggfunc") if name in kwargs}
        return function(*args, **(kwargs | named))

    return wrapper


def _with_numbers(x):
    """Data for a frame or a series with NumPy's numbers; of a list the first item tells."""
    kind = type(x)
    if kind is dict:
        return {name: _with_numbers(value) for name, value in x.items()}
    if kind is list and x:
        first = type(x[0])
        if first is _core.generic:
            return _plain(x)
        if first is dict and any([type(value) is _core.generic for value in x[0].values()]):
            return [_with_numbers(item) for item in x]
        return x
    return _plain(x) if kind is _core.generic else x


def _made_of(function):
    @functools.wraps(function)
    def wrapper(self, data=None, *args, **kwargs):
        return function(self, _with_numbers(data), *args, **kwargs)

    return wrapper


def adapt():
    """Has the entries above take Numbus's arrays; called once pandas is imported. What a release
    of pandas has not is left out.
    """
    for home, names in _ENTRIES.items():
        module, _, kind = home.rpartition(".") if home != "pandas" else (home, "", "")
        owner = importlib.import_module(module)
        owner = getattr(owner, kind, None) if kind else owner
        for name in names.split():
            function = getattr(owner, name, None)
            if function is not None:
                setattr(owner, name, (_taking if kind else _taking_first)(function))
    for kind in ("Series", "DataFrame"):
        owner = getattr(importlib.import_module("pandas"), kind)
        owner.__init__ = _made_of(owner.__init__)
