"""`type(x)` as a user's module sees it: NumPy's types for Numbus's arrays and numbers."""

import builtins
import sys

# The name of type_of() among Python's builtins, where rewritten modules find it.
NAME = "__numbus_type__"

_kinds = {}  # once there are arrays


def _note_kinds():
    import numpy

    from .. import _core
    from ..core.array_type import ndarray

    _kinds.update({_core.ndarray: ndarray, numpy.ndarray: ndarray, _core.generic: None})
    _kinds.update({kind: numpy.dtype(kind).type for kind in _core.scalar_types})


def type_of(function, x, /):
    """`function(x)`; where that is Python's `type`, what is `numpy.ndarray` or one of NumPy's
    scalar types in the user's module for arrays and numbers of Numbus's.
    """
    found = function(x)
    if function is type:
        if not _kinds and "numbus._namespace" in sys.modules:
            _note_kinds()
        known = _kinds.get(found, found)
        return x.dtype.type if known is None else known
    return found


def install():
    """Lets rewritten modules find type_of()."""
    setattr(builtins, NAME, type_of)
