"""pandas as user scripts call it: it looks for numpy.ndarray among masks and keys, and gets the
memory of Numbus's arrays as such.
"""

import functools
import importlib

import numpy

from .. import _core

# Where pandas asks whether an argument is a numpy.ndarray; all else it converts by itself.
_ENTRIES = {
    "pandas": "factorize unique",
    "pandas.core.frame.DataFrame": "__getitem__ __setitem__ groupby set_index where mask",
    "pandas.core.series.Series": "__getitem__ __setitem__ groupby where mask",
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
    return x


def _taking(function):
    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        args = [_plain(x) for x in args]
        if kwargs:
            kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return function(self, *args, **kwargs)

    return wrapper


def _taking_first(function):
    @functools.wraps(function)
    def wrapper(values, *args, **kwargs):
        return function(_plain(values), *args, **kwargs)

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
