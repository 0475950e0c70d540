"""jax.dtypes: what dtypes are, and how they combine."""

import numpy as _numpy

from ...core.errors import message as _message
from .._missing import missing as _missing
from . import _dtypes
from .numpy import bfloat16, finfo, iinfo, issubdtype, result_type  # noqa: F401

__name__ = "jax.dtypes"
float0 = _numpy.dtype([("float0", _numpy.void, 0)])


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays have: of 32 bits unless those of 64 exist."""
    if not isinstance(allow_extended_dtype, bool):
        raise TypeError(
            _message("canonicalize_dtype", "allow_extended_dtype= is no bool",
                     allow_extended_dtype, "True or False")
        )  # fmt: skip
    return _dtypes.canonical(dtype)


def scalar_type_of(x):
    """bool, int, float or complex: Python's kind of an array's elements."""
    kind = "f" if result_type(x) == bfloat16 else result_type(x).kind
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[kind]


def __getattr__(name):
    return _missing("jax.dtypes", name)
