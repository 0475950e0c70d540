"""Batches from lists of examples."""

import collections.abc
import copy

import numpy

from .._core import ndarray
from ..core.dtypes import kind_of
from ..core.errors import message
from ..tensors import Tensor, stack, tensor

__all__ = ["default_collate", "default_convert"]


def _is_named(x):
    return isinstance(x, tuple) and hasattr(x, "_fields")


def default_convert(data):
    """NumPy's arrays and ours as tensors, also inside of dicts, tuples and lists."""
    if isinstance(data, Tensor) or isinstance(data, (str, bytes)):
        return data
    if isinstance(data, (numpy.ndarray, numpy.generic, ndarray)):
        return data if getattr(data.dtype, "kind", "") in "SUO" else tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return {key: default_convert(x) for key, x in data.items()}
    if _is_named(data):
        return type(data)(*(default_convert(x) for x in data))
    if isinstance(data, (tuple, list)):
        return [default_convert(x) for x in data]
    return data


def default_collate(batch):
    """A list of examples as one: tensors are stacked, numbers become a tensor (floats of float64),
    texts stay a list, dicts, tuples and lists are collated element by element.

    Raises RuntimeError for sequences of different lengths, TypeError for other elements.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        for x in batch:
            if not isinstance(x, (Tensor, ndarray)):
                raise TypeError(
                    message("default_collate", "tensors and something else", type(x).__name__,
                            "tensors")
                )  # fmt: skip
        return stack(list(batch))
    if isinstance(first, numpy.ndarray):
        if first.dtype.kind in "SUO":
            raise TypeError(_unknown(f"arrays of {first.dtype}"))
        return tensor(numpy.stack(batch))
    if isinstance(first, ndarray):
        return default_collate([tensor(x) for x in batch])
    if isinstance(first, numpy.bool_):
        return tensor(numpy.array(batch, bool))
    if isinstance(first, int):  # also bool; other numbers beside them count, too
        return _of_numbers(batch)
    if isinstance(first, numpy.generic) and kind_of(first.dtype) in "iufc":
        return tensor(numpy.array(batch))
    if isinstance(first, float):
        return tensor(numpy.array(batch, numpy.float64))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        made = {key: default_collate([x[key] for x in batch]) for key in first}
        try:
            if isinstance(first, collections.abc.MutableMapping):
                whole = copy.copy(first)
                whole.update(made)
                return whole
            return type(first)(made)
        except TypeError:
            return made
    if isinstance(first, collections.abc.Sequence):
        lengths = {len(x) for x in batch}
        if len(lengths) > 1:
            raise RuntimeError(
                message("default_collate", "each element in list of batch should be of equal size",
                        sorted(lengths), "one length")
            )  # fmt: skip
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if _is_named(first) else columns
    raise TypeError(_unknown(type(first).__name__))


def _of_numbers(batch):
    kinds = {type(x) for x in batch}
    if kinds == {bool}:
        return tensor(numpy.array(batch, bool))
    if kinds <= {bool, int}:
        try:
            return tensor(numpy.array(batch, numpy.int64))
        except OverflowError:
            raise ValueError(
                message("default_collate", "an integer of more than 64 bits",
                        max(batch, key=abs), "integers that int64 holds")
            ) from None  # fmt: skip
    for x in batch:
        if isinstance(x, (str, bytes)) or x is None:
            raise TypeError(
                message("default_collate", "numbers and something else", type(x).__name__,
                        "numbers")
            )  # fmt: skip
    return tensor([x.item() if isinstance(x, Tensor) and x.numel() == 1 else x for x in batch])


def _unknown(kind):
    return message(
        "default_collate", "batch must contain tensors, numpy arrays, numbers, dicts or lists",
        kind, "one of these, or collate_fn",
    )  # fmt: skip
