"""Axes of vmap that have names: psum and its kin, which combine what all indices have.

A mapped function is called until it asks for what the others have; then for all indices what it has
given is combined, and it is called again with the answer.
"""

import threading

import numbus as nb

from ...batches import mapped
from ...core.errors import message
from ._array import Array, as_array, made
from .tree_util import tree_flatten, tree_map

_state = threading.local()


def _stack():
    if not hasattr(_state, "axes"):
        _state.axes, _state.derivatives = [], 0
    return _state.axes


def any_named():
    """Whether a function is called whose axis has a name."""
    return any(axis.name is not None for axis in _stack())


class Derivative:
    """While it lives, a function is called to be differentiated."""

    def __enter__(self):
        _stack()
        _state.derivatives += 1

    def __exit__(self, *error):
        _state.derivatives -= 1


class _Ask(BaseException):
    """What others have is needed: (function of the batch, arrays, axes of the answers)."""

    def __init__(self, op, combine, leaves):
        super().__init__()
        self.op, self.combine, self.leaves = op, combine, leaves


class _Axis:
    def __init__(self, name):
        self.name = name
        self.answers = []  # of each question so far: (leaves, the axis of each in the batch)

    def begin(self, index, answers, size):
        self.index, self.given, self.size = index, iter(answers), size
        self.derivatives = _state.derivatives


def named_map(call, leaves, axes, outs, of, count, name):
    """`mapped`, where the function may ask for what the other indices have."""
    axis = _Axis(name)
    stack = _stack()
    known = [x for x, d in zip(leaves, axes, strict=True) if d is not None]
    n = count
    if n is None and known:
        n = next(x.shape[d] for x, d in zip(leaves, axes, strict=True) if d is not None)
    index = Array(nb.arange(n or 0, dtype="i4"))
    asked = []

    def one(given):
        own = given[: len(leaves)]
        rest = iter(given[len(leaves) + 1 :])
        answers = [[next(rest) for _ in answer] for answer, _ in axis.answers]
        axis.begin(given[len(leaves)], answers, n)
        stack.append(axis)
        try:
            return call(own)
        except _Ask as question:
            asked.append(question)  # of the innermost axis, which is this one
            return list(question.leaves)
        finally:
            stack.pop()

    def where(made, build):
        return [0] * len(made) if asked else outs(made, build)

    while True:
        asked.clear()
        extra = [leaf for answer, _ in axis.answers for leaf in answer]
        extra_axes = [d for answer, along in axis.answers for d in [along] * len(answer)]
        all_axes = [*axes, 0, *extra_axes]
        found = mapped(one, [*leaves, index, *extra], all_axes, where, of, count)
        if not asked:
            return found
        kinds = sorted({question.op for question in asked})
        if len(kinds) > 1:
            raise NotImplementedError(
                message("vmap", "indices that ask for different things are not yet available",
                        kinds, "the same for all indices")
            )  # fmt: skip
        axis.answers.append(asked[0].combine(found))


def _asked(op, name):
    """The axis of that name, which has to be the innermost."""
    names = name if isinstance(name, (tuple, list)) else (name,)
    stack = _stack()
    if len(names) != 1 and all(any(a.name == n for a in stack) for n in names):
        raise NotImplementedError(
            message(f"jax.lax.{op}", "several axes are not yet available", name, "one name")
        )
    for n in names:
        if n is None or all(a.name != n for a in stack):
            raise NameError(
                f"Found an unbound axis name: {n}. To fix this, please call {op} under "
                "`jax.shard_map` or `jax.vmap`."
            )
    if stack[-1].name != names[0]:
        raise NotImplementedError(
            message(f"jax.lax.{op}", "an axis outside of another vmap is not yet available",
                    names[0], f"the innermost axis, {stack[-1].name}")
        )  # fmt: skip
    return stack[-1]


def _collective(op, x, name, function, where):
    axis = _asked(op, name)
    leaves, form = tree_flatten(tree_map(made, x))
    answer = next(axis.given, None)
    if answer is not None:
        return form.unflatten(list(answer))
    if _state.derivatives > axis.derivatives and any(nb._core.depends(a._a) for a in leaves):
        raise NotImplementedError(
            message(f"jax.lax.{op}", "derivatives through it within the mapped function are not"
                    " yet available", op, "grad of the vmap, or the collective after grad")
        )  # fmt: skip

    def combine(batch):
        return [function(a) for a in batch], where

    raise _Ask(op, combine, leaves)


def _groups(op, groups):
    if groups is not None:
        raise NotImplementedError(
            message(f"jax.lax.{op}", "axis_index_groups= is not yet available", groups, "None")
        )


def _is_constant(x):
    return isinstance(x, (int, float, complex)) and not isinstance(x, bool)


def _summed(a):
    x = a._a.astype("i4") if a.dtype.kind == "b" else a._a
    return Array(as_array(nb.sum(x, axis=0, dtype=x.dtype)), a.weak_type)


def psum(x, axis_name, *, axis_index_groups=None):
    """The sums over an axis of vmap that has a name."""
    _groups("psum", axis_index_groups)
    if _is_constant(x):
        return x * _asked("psum", axis_name).size
    return _collective("psum", x, axis_name, _summed, None)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The means over an axis of vmap that has a name."""
    _groups("pmean", axis_index_groups)
    n = _asked("pmean", axis_name).size
    return tree_map(lambda total: total / n, psum(x, axis_name))


def _extreme(function):
    return lambda a: Array(as_array(function(a._a, axis=0)), a.weak_type)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The largest elements over an axis of vmap that has a name."""
    _groups("pmax", axis_index_groups)
    return _collective("pmax", x, axis_name, _extreme(nb.max), None)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The smallest elements over an axis of vmap that has a name."""
    _groups("pmin", axis_index_groups)
    return _collective("pmin", x, axis_name, _extreme(nb.min), None)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """What all indices have, along a new axis, or (tiled) one after the other along `axis`."""
    _groups("all_gather", axis_index_groups)

    def gathered(a):
        whole = nb.moveaxis(a._a, 0, axis % (a.ndim - 1 if tiled else a.ndim))
        if tiled:
            d = axis % (a.ndim - 1)
            shape = list(a.shape[1:])
            shape[d] *= a.shape[0]
            whole = whole.reshape(tuple(shape))
        return Array(as_array(whole), a.weak_type)

    return _collective("all_gather", x, axis_name, gathered, None)


def ppermute(x, axis_name, perm):
    """What another index has: `perm` is a list of (from, to); zeros where none is sent."""
    pairs = [(int(a), int(b)) for a, b in perm]
    if len({a for a, _ in pairs}) < len(pairs) or len({b for _, b in pairs}) < len(pairs):
        raise ValueError(
            message("jax.lax.ppermute", "sources and destinations are not unique", perm, "pairs")
        )

    def permuted(a):
        found = nb.zeros(a.shape, a.dtype)
        if pairs:
            found[[b for _, b in pairs]] = a._a[[b for b, _ in pairs]]
        return Array(as_array(found), a.weak_type)

    return _collective("ppermute", x, axis_name, permuted, 0)


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """The axis of vmap and `split_axis` change places."""
    _groups("all_to_all", axis_index_groups)
    if tiled:
        raise NotImplementedError(
            message("jax.lax.all_to_all", "tiled= is not yet available", True, "False")
        )
    n = _asked("all_to_all", axis_name).size

    def exchanged(a):
        d = split_axis % (a.ndim - 1) + 1
        if a.shape[d] != n:
            raise ValueError(message("jax.lax.all_to_all", "extent of split_axis", a.shape[d], n))
        rest = nb.moveaxis(nb.swapaxes(a._a, 0, d), d, concat_axis % (a.ndim - 1) + 1)
        return Array(as_array(rest), a.weak_type)

    return _collective("all_to_all", x, axis_name, exchanged, 0)


def axis_index(axis_name):
    """The index along an axis of vmap that has a name."""
    return _asked("axis_index", axis_name).index


def axis_size(axis_name):
    """The extent of an axis of vmap that has a name."""
    return _asked("axis_size", axis_name).size
