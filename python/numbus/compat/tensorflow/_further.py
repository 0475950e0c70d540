"""Further functions of TensorFlow's: segments, indices of several axes, control flow, clipping."""

import collections
import math

import numpy

import numbus as nb

from ...core import trees
from ...core.errors import message
from ._ops import named, sizes, tensor, value
from ._tensor import InvalidArgumentError, Tensor, as_array, as_numpy_dtype, convert


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """A tensor whose norm is at most `clip_norm`."""
    named(name)
    a = value(t)
    squares = nb.sum(a * a, axis=axes, keepdims=True)
    norm = nb.sqrt(nb.where(squares > 0, squares, a.dtype.type(1)))
    norm = nb.where(squares > 0, norm, squares)
    limit = value(clip_norm, a.dtype)
    return tensor(a * limit / nb.maximum(norm, limit))


def global_norm(t_list, name=None):
    """The norm of all elements of several tensors."""
    named(name)
    squares = [nb.sum(nb.square(value(t))) for t in t_list if t is not None]
    return tensor(nb.sqrt(sum(squares[1:], squares[0])))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Tensors scaled so that their norm is at most `clip_norm`, and the norm that they had."""
    named(name)
    norm = global_norm(t_list) if use_norm is None else convert(use_norm)
    n = norm._value()
    limit = value(clip_norm, n.dtype)
    scale = limit * nb.minimum(1 / n, 1 / limit)
    scale = nb.where(nb.isfinite(n), scale, n.dtype.type(math.nan))
    return [None if t is None else tensor(value(t) * scale) for t in t_list], norm


def cond(pred, true_fn=None, false_fn=None, name=None):
    """What one of two functions gives, which is called."""
    named(name)
    return true_fn() if bool(convert(pred)) else false_fn()


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10,
               back_prop=True, swap_memory=False, maximum_iterations=None, name=None):  # fmt: skip
    """Calls `body` as long as `cond` is true."""
    named(name)
    for option in (parallel_iterations, back_prop, swap_memory):
        if not isinstance(option, (int, bool)):
            raise TypeError(message("while_loop", "not a number", option, "the default"))
    if shape_invariants is not None:
        raise NotImplementedError(
            message("while_loop", "shape_invariants= is not yet available", shape_invariants, None)
        )
    state, count = trees.transform(_as_tensor, loop_vars), 0
    while (maximum_iterations is None or count < maximum_iterations) and bool(cond(*state)):
        made = body(*state)
        made = made if isinstance(made, (list, tuple)) else [made]
        state, count = type(state)(trees.transform(_as_tensor, list(made))), count + 1
    return state


def _as_tensor(x):
    return x if isinstance(x, Tensor) else convert(x)


def _rows(elems):
    leaves, shape = trees.flatten(elems)
    columns = [convert(x) for x in leaves]
    return [trees.unflatten(shape, [c[k] for c in columns]) for k in range(columns[0].shape[0])]


def _stacked(results):
    leaves = [[convert(x)._value() for x in trees.flatten(r)[0]] for r in results]
    joined = [tensor(nb.stack(list(column))) for column in zip(*leaves, strict=True)]
    return trees.unflatten(trees.flatten(results[0])[1], joined)


def map_fn(fn, elems, dtype=None, fn_output_signature=None, name=None):
    """The results of a function of each element of the first axis, stacked."""
    named(name)
    made = _stacked([fn(row) for row in _rows(elems)])
    asked = dtype if fn_output_signature is None else fn_output_signature
    if asked is not None and isinstance(made, Tensor) and made.dtype != as_numpy_dtype(asked):
        raise InvalidArgumentError(message("map_fn", "results of another type", made.dtype, asked))
    return made


def scan(fn, elems, initializer=None, reverse=False, name=None):
    """The results of `fn(result so far, element)` along the first axis, stacked."""
    named(name)
    rows = _rows(elems)
    rows = rows[::-1] if reverse else rows
    found = []
    if initializer is None:
        state, rows = rows[0], rows[1:]
        found.append(state)
    else:
        state = trees.transform(_as_tensor, initializer)
    for row in rows:
        state = fn(state, row)
        found.append(state)
    return _stacked(found[::-1] if reverse else found)


def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    """The sums of the rows of each number; negative numbers are left out."""
    named(name)
    a, ids = value(data), value(segment_ids)
    count = int(convert(num_segments))
    rows = a.reshape((ids.size, *a.shape[ids.ndim :]))
    flat = ids.reshape(-1)
    total = nb.zeros((count + 1, *rows.shape[1:]), a.dtype)
    nb.add.at(total, nb.where(flat < 0, count, flat), rows)
    return tensor(total[:count])


def segment_sum(data, segment_ids, name=None):
    """The sums of the rows of each number, which do not fall."""
    named(name)
    ids = value(segment_ids)
    if ids.size and bool(nb.any(ids[1:] < ids[:-1])):
        raise InvalidArgumentError("segment ids are not increasing")
    count = int(ids[-1]) + 1 if ids.size else 0
    return unsorted_segment_sum(data, segment_ids, count)


def sequence_mask(lengths, maxlen=None, dtype="bool", name=None):
    """True below each length."""
    named(name)
    n = value(lengths)
    most = int(nb.max(n)) if maxlen is None else int(convert(maxlen))
    return tensor((nb.arange(most) < n[..., None]).astype(as_numpy_dtype(dtype)))


def _of_indices(indices, extents):
    index = value(indices)
    depth = index.shape[-1]
    if depth > len(extents):
        raise InvalidArgumentError(
            message("indices", "more numbers than axes", depth, f"at most {len(extents)}")
        )
    return tuple([index[..., k] for k in range(depth)]), index.shape[:-1] + extents[depth:]


def gather_nd(params, indices, batch_dims=0, name=None):
    """The elements, or parts, at lists of indices."""
    named(name)
    if batch_dims:
        raise NotImplementedError(
            message("gather_nd", "batch_dims= is not yet available", batch_dims, 0)
        )
    a = value(params)
    index, _ = _of_indices(indices, a.shape)
    return tensor(a[index])


def scatter_nd(indices, updates, shape, name=None):
    """Zeros to which updates are added at lists of indices."""
    named(name)
    u = value(updates)
    made = nb.zeros(sizes(shape), u.dtype)
    nb.add.at(made, _of_indices(indices, made.shape)[0], u)
    return tensor(made)


def _updated(op, change):
    def body(tensor_, indices, updates, name=None):
        named(name)
        made = as_array(value(tensor_)).copy()
        change(made, _of_indices(indices, made.shape)[0], value(updates, made.dtype))
        return tensor(made)

    body.__name__ = op
    body.__doc__ = "A tensor with updates at lists of indices."
    return body


def _set(a, index, u):
    a[index] = u


tensor_scatter_nd_update = _updated("tensor_scatter_nd_update", _set)
tensor_scatter_nd_add = _updated("tensor_scatter_nd_add", nb.add.at)
tensor_scatter_nd_sub = _updated("tensor_scatter_nd_sub", nb.subtract.at)


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """A tensor with elements before and after along each axis."""
    named(name)
    a, widths = value(tensor), value(paddings)
    pairs = [tuple(p) for p in widths.tolist()]
    kind = str(mode).lower()
    if kind == "constant":
        return Tensor(as_array(nb.pad(a, pairs, constant_values=value(constant_values, a.dtype))))
    if kind not in ("reflect", "symmetric"):
        raise ValueError(message("pad", "unknown mode", mode, "CONSTANT, REFLECT, SYMMETRIC"))
    return Tensor(as_array(nb.pad(a, pairs, mode=kind)))


def repeat(input, repeats, axis=None, name=None):
    """Each element several times."""
    named(name)
    times = value(repeats)
    times = int(times) if not times.ndim else numpy.asarray(times)
    return tensor(nb.repeat(value(input), times, axis=axis))


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that sort along an axis; equal elements stay in order."""
    named(name)
    if not isinstance(stable, bool) or direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(message("argsort", "unknown", (direction, stable), "'ASCENDING', bool"))
    a = value(values)
    if direction == "DESCENDING":
        a = ~a if a.dtype.kind in "iub" else -a
    return tensor(nb.argsort(a, axis=axis, stable=True).astype("i4"))


def top_k(input, k=1, sorted=True, index_type="int32", name=None):
    """The largest elements along the last axis and their indices, in order."""
    named(name)
    if not isinstance(sorted, bool):
        raise TypeError(message("top_k", "not a bool", sorted, "True or False"))
    a = value(input)
    found = argsort(tensor(a), direction="DESCENDING")._a[..., : int(convert(k))]
    values = nb.take_along_axis(a, found, axis=-1)
    return tensor(values), tensor(found.astype(as_numpy_dtype(index_type)))


Unique = collections.namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _distinct(x, out_idx):
    a = value(x)
    if a.ndim != 1:
        raise InvalidArgumentError(message("unique", "not one axis", tuple(a.shape), "a vector"))
    t = as_numpy_dtype(out_idx)
    found, first, back, count = nb.unique(
        a, return_index=True, return_inverse=True, return_counts=True
    )
    order = nb.argsort(first)  # as they come, not by size
    rank = nb.argsort(order)
    parts = found[order], rank[back.reshape(-1)].astype(t), count[order].astype(t)
    return [tensor(p) for p in parts]


def unique(x, out_idx="int32", name=None):
    """The distinct elements in the order in which they come, and which one each element is."""
    named(name)
    return Unique(*_distinct(x, out_idx)[:2])


def unique_with_counts(x, out_idx="int32", name=None):
    """The same, and how often each of them comes."""
    named(name)
    return UniqueWithCounts(*_distinct(x, out_idx))


def meshgrid(*args, indexing="xy", name=None):
    """Grids of coordinates."""
    named(name)
    return [tensor(a.copy()) for a in nb.meshgrid(*[value(x) for x in args], indexing=indexing)]


def ensure_shape(x, shape, name=None):
    """The tensor, which has to have this shape; None is any length."""
    named(name)
    t = convert(x)
    fits = len(shape) == t.ndim and all(
        [n in (None, m) for n, m in zip(shape, t.shape, strict=True)]
    )
    if not fits:
        raise InvalidArgumentError(
            f"Shape of tensor {tuple(t.shape)} is not compatible with expected shape {shape}."
        )
    return t
