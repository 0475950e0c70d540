"""Results stored into the caller's `out=` in compiled functions; the adapter of array calls does it
in the core.
"""

import numpy

from . import names as np
from .names import not_yet


def stored(op, rule, result, out):
    """`out` with the result in it, whose shape it must have; its type as the rule of the registry's
    annotation says: a word of casting=, "reversed", "broadcast", or "equal" for the result's own,
    and "exact" for that in C order.

    Raises ValueError for another shape and TypeError for a type that the rule does not allow.
    """
    into = out[0] if isinstance(out, tuple) else out
    if not isinstance(into, numpy.ndarray):
        raise TypeError(f"[{op}] out; got no array; expected an array")
    found = np.asarray(result)
    if rule in ("equal", "operands"):
        if found.dtype != into.dtype:
            not_yet(f"np.{op}() with an out= of another type than the result", "out[...] = result")
    elif rule == "exact":
        if found.dtype != into.dtype or not into.flags.c_contiguous:
            raise ValueError(f"[{op}] out is not acceptable; expected the result's type, C order")
    elif rule == "reversed":
        if not np.can_cast(into.dtype, found.dtype, "safe"):
            raise TypeError(f"[{op}] type of out; got another; expected one of the result's kind")
    elif rule != "unsafe":
        if not np.can_cast(found.dtype, into.dtype, "same_kind" if rule == "broadcast" else rule):
            raise TypeError(f"[{op}] cannot cast the result to the type of out")
    if rule == "broadcast":
        if found.ndim > into.ndim:
            raise ValueError(f"[{op}] shape of out; got fewer axes; expected those of the result")
        for d in range(found.ndim):
            if found.shape[d] != into.shape[into.ndim - found.ndim + d] and found.shape[d] != 1:
                raise ValueError(f"[{op}] shape of out; got another; expected that of the result")
    elif found.ndim != into.ndim:
        raise ValueError(f"[{op}] axes of out; got {into.ndim}; expected {found.ndim}")
    elif found.shape != into.shape:
        raise ValueError(f"[{op}] shape of out; got another; expected that of the result")
    into[...] = found
    return into
