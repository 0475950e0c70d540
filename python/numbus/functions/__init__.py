"""The functions on arrays, one file a subject; `numbus` has the names in their `__all__`."""

from . import (
    counting,
    creation,
    cumulative,
    einsum,
    elementwise,
    files,
    joining,
    manipulation,
    matrices,
    names,
    nan_reductions,
    numeric,
    padding,
    products,
    ranges,
    reductions,
    repeating,
    selection,
    sorting,
)

SUBJECTS = (
    creation,
    matrices,
    ranges,
    manipulation,
    joining,
    repeating,
    padding,
    selection,
    sorting,
    elementwise,
    reductions,
    nan_reductions,
    counting,
    cumulative,
    numeric,
    products,
    einsum,
    files,
)

names.subjects = SUBJECTS
