"""jax.ops: sums and their kin of the parts of an array that numbers name."""

import numpy

from ...core.dtypes import kind_of
from ...core.errors import message
from .._missing import missing as _missing
from . import numpy as jnp
from ._array import made
from ._functions import expect_arrays

__name__ = "jax.ops"


def _identity(op, t):
    if op in ("add", "multiply"):
        return 0 if op == "add" else 1
    if t.kind == "b":
        return op == "min"
    if t.kind in "iu":
        limits = numpy.iinfo(t)
        return limits.max if op == "min" else limits.min
    if kind_of(t) == "c":
        raise TypeError(f"segment_{op} does not accept dtype {t}.")
    return float("inf") if op == "min" else -float("inf")


def _segments(name, op):
    def body(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False,
             bucket_size=None, mode=None):  # fmt: skip
        expect_arrays(name, data, segment_ids)
        if bucket_size is not None:
            raise NotImplementedError(
                message(f"jax.ops.{name}", "bucket_size= is not yet available", bucket_size, "None")
            )
        x, ids = made(data), made(segment_ids)
        if num_segments is None:
            num_segments = int(jnp.max(ids)) + 1
        if num_segments < 0:
            raise ValueError("num_segments must be non-negative.")
        if x.dtype.kind == "b" and op == "multiply":
            raise TypeError("mul does not accept dtype bool at position 0.")
        start = jnp.full((num_segments, *x.shape[ids.ndim :]), _identity(op, x.dtype), x.dtype)
        ids = jnp.where(ids < 0, num_segments, ids)  # which are left out, and count from no end
        update = getattr(start.at[ids], op)
        return update(x, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices,
                      mode="drop" if mode is None else mode)  # fmt: skip

    body.__name__ = body.__qualname__ = name
    body.__doc__ = (
        f"`{op}` of the parts of `data` whose number in `segment_ids` is the same; those whose "
        "number is beyond `num_segments` are left out."
    )
    return body


segment_sum = _segments("segment_sum", "add")
segment_prod = _segments("segment_prod", "multiply")
segment_max = _segments("segment_max", "max")
segment_min = _segments("segment_min", "min")


def __getattr__(name):
    return _missing("jax.ops", name)
