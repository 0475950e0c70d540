"""Names of torch that concern how programs run: threads, precision, memory formats."""

import functools
import os

from ... import tensors
from ...core import precision as _precision
from ...core import trees
from ...core.errors import message
from .._mapping import mapped


class _Format:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return "torch." + self._name


memory_format = layout = _Format
contiguous_format, preserve_format = _Format("contiguous_format"), _Format("preserve_format")
channels_last, strided = _Format("channels_last"), _Format("strided")
_state = {"deterministic": False}


def set_float32_matmul_precision(precision):
    """`numbus.set_float32_matmul_precision`: 'high' and 'medium' allow TF32 on a GPU."""
    try:
        _precision.set_float32_matmul_precision(precision)
    except ValueError as error:
        raise RuntimeError(*error.args) from None


get_float32_matmul_precision = _precision.get_float32_matmul_precision


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Results are the same in each run but for additions at repeated indices on a GPU."""
    _state["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled():
    """What was set."""
    return _state["deterministic"]


def get_num_threads():
    """How many processors work."""
    return _state.get("threads", os.cpu_count())


def set_num_threads(number):
    """Notes the number; the work of arrays takes all processors."""
    _state["threads"] = int(number)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function of tensors with one dimension more, over which `func` is called and stacked.

    Calls are made one after another and fuse as far as they may; `in_dims` is a number, None, or a
    tuple of these for the arguments, `out_dims` a number or a tuple for the results.
    """

    if randomness == "same":
        raise NotImplementedError(
            message("vmap", "equal random numbers in all calls are not yet available", randomness,
                    "'error' or 'different'")
        )  # fmt: skip

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        if len(dims) != len(args):
            raise ValueError(
                message("vmap", "not a dimension for each argument", len(dims), len(args))
            )
        flat = [trees.flatten(x) for x in args]
        leaves = [leaf for part, _ in flat for leaf in part]
        axes = [
            d if tensors.is_tensor(leaf) else None
            for (part, _), d in zip(flat, dims, strict=True)
            for leaf in part
        ]

        def call(part):
            rest = iter(part)
            given = [trees.unflatten(shape, [next(rest) for _ in own]) for own, shape in flat]
            return func(*given, **keywords)

        def joined(made):
            columns = [trees.flatten(x)[0] for x in made]
            outs = (
                out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(columns[0])
            )
            pairs = zip(zip(*columns, strict=True), outs, strict=True)
            stacked = [tensors.stack(list(same), dim=d) for same, d in pairs]
            return trees.unflatten(trees.flatten(made[0])[1], stacked)

        return mapped(call, leaves, axes, joined, lambda x, d, k: x.select(d, k))

    return wrapper
