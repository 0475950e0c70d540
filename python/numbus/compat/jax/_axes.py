"""Axes of vmap that have names: psum and its kin, which combine what all indices have.

A mapped function is called until it asks for what the others have; then for all indices what it has
given is combined, and it is called again with the answer.
"""

import math
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


def derivatives_inside():
    """How many derivatives of what is called now are being taken."""
    _stack()
    return _state.derivatives


class _Ask(BaseException):
    """What the other indices of an axis have is needed."""

    def __init__(self, question):
        super().__init__()
        self.question = question


class _Question:
    """What is done with arrays of all indices of an axis.

    function: gives the answer of a batch, whose first axis it is. along: the axis of the answer in
    which each index finds its own, or None. back: (function, along) of the derivatives by the
    arrays from those by the answers, or None where there is no such rule.
    """

    def __init__(self, op, axis, leaves, function, along, back):
        self.op, self.axis, self.leaves = op, axis, leaves
        self.function, self.along, self.back = function, along, back

    def of(self, leaves):
        """The same question of other arrays."""
        return _Question(self.op, self.axis, leaves, self.function, self.along, self.back)

    def answer(self, given):
        """The next answer that is there, else `_Ask` is raised; with its derivative."""
        found = next(given, None)
        if found is None:
            raise _Ask(self)
        pairs = zip(found, self.leaves, strict=True)
        return [self._followed(y, x) for y, x in pairs]

    def _followed(self, y, x):
        """An answer as the function's result that its derivative is taken by."""
        if _state.derivatives <= _stack()[-1].derivatives or not nb._core.depends(x._a):
            return y
        if self.back is None:
            raise NotImplementedError(
                message(f"jax.lax.{self.op}", "has no derivative", self.op, "psum, ppermute, …")
            )
        function, along = self.back

        def body(_array):
            def pull(g):
                back = (self.function, self.along)
                asked = _Question(self.op + "'s derivative", self.axis, [Array(as_array(g))],
                                  function, along, back)  # fmt: skip
                return asked.answer(_stack()[-1].given)[0]._a

            return y._a, pull

        return Array(as_array(nb.custom_gradient(body, repeats=True)(x._a)), y.weak_type)


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
        except _Ask as ask:
            asked.append(ask.question)
            return list(ask.question.leaves)
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
        kinds = {(question.op, question.axis) for question in asked}
        if len(kinds) > 1:
            raise NotImplementedError(
                message("vmap", "indices that ask for different things are not yet available",
                        sorted({op for op, _ in kinds}), "the same for all indices")
            )  # fmt: skip
        question = asked[0]
        if question.axis is axis:
            axis.answers.append(([question.function(a) for a in found], question.along))
        else:  # of an axis further out: what all indices of this one have is asked for at once
            axis.answers.append((question.of(found).answer(stack[-1].given), 0))


def _names(op, name):
    """The names of axes, each of which there is."""
    names = name if isinstance(name, (tuple, list)) else (name,)
    for n in names:
        if n is None or all(a.name != n for a in _stack()):
            raise NameError(
                f"Found an unbound axis name: {n}. To fix this, please call {op} under "
                "`jax.shard_map` or `jax.vmap`."
            )
    return names


def _axis_of(op, name):
    """The axis of that name, the innermost of several."""
    (name,) = _names(op, name)
    return next(a for a in reversed(_stack()) if a.name == name)


def _one_name(op, name):
    if isinstance(name, (tuple, list)) and len(_names(op, name)) != 1:
        raise NotImplementedError(
            message(f"jax.lax.{op}", "several axes are not yet available", name, "one name")
        )


def _collective(op, x, name, function, along, back=None, moves=False):
    """The answer to a question of the arrays of a tree.

    moves: whether other axes than that of the indices change places, so that these have to be those
    of the innermost axis.
    """
    axis = _axis_of(op, name)
    if moves and axis is not _stack()[-1]:
        raise NotImplementedError(
            message(f"jax.lax.{op}", "an axis outside of another vmap is not yet available",
                    axis.name, f"the innermost axis, {_stack()[-1].name}")
        )  # fmt: skip
    leaves, form = tree_flatten(tree_map(made, x))
    question = _Question(op, axis, leaves, function, along, back)
    return form.unflatten(question.answer(_stack()[-1].given))


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
    """The sums over axes of vmap that have names."""
    _groups("psum", axis_index_groups)
    for name in _names("psum", axis_name):
        if _is_constant(x):
            x = x * _axis_of("psum", name).size
        else:
            x = _collective("psum", x, name, _summed, None, (_summed, None))
    return x


def pmean(x, axis_name, *, axis_index_groups=None):
    """The means over axes of vmap that have names."""
    _groups("pmean", axis_index_groups)
    n = axis_size(axis_name)
    return tree_map(lambda total: total / n, psum(x, axis_name))


def _extreme(function):
    return lambda a: Array(as_array(function(a._a, axis=0)), a.weak_type)


def _extremes(op, x, axis_name, function):
    for name in _names(op, axis_name):
        x = _collective(op, x, name, _extreme(function), None)
    return x


def pmax(x, axis_name, *, axis_index_groups=None):
    """The largest elements over axes of vmap that have names."""
    _groups("pmax", axis_index_groups)
    return _extremes("pmax", x, axis_name, nb.max)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The smallest elements over axes of vmap that have names."""
    _groups("pmin", axis_index_groups)
    return _extremes("pmin", x, axis_name, nb.min)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """What all indices have, along a new axis, or (tiled) one after the other along `axis`."""
    _groups("all_gather", axis_index_groups)
    _one_name("all_gather", axis_name)

    def gathered(a):
        whole = nb.moveaxis(a._a, 0, axis % (a.ndim - 1 if tiled else a.ndim))
        if tiled:
            d = axis % (a.ndim - 1)
            shape = list(a.shape[1:])
            shape[d] *= a.shape[0]
            whole = whole.reshape(tuple(shape))
        return Array(as_array(whole), a.weak_type)

    def scattered(g):
        total, n = nb.sum(g._a, axis=0), g.shape[0]
        d = axis % total.ndim
        if tiled:
            total = total.reshape((*total.shape[:d], n, -1, *total.shape[d + 1 :]))
        return Array(as_array(nb.moveaxis(total, d, 0)), g.weak_type)

    return _collective("all_gather", x, axis_name, gathered, None, (scattered, 0), moves=True)


def ppermute(x, axis_name, perm):
    """What another index has: `perm` is a list of (from, to); zeros where none is sent."""
    pairs = [(int(a), int(b)) for a, b in perm]
    _one_name("ppermute", axis_name)
    if len({a for a, _ in pairs}) < len(pairs) or len({b for _, b in pairs}) < len(pairs):
        raise ValueError(
            message("jax.lax.ppermute", "sources and destinations are not unique", perm, "pairs")
        )

    def by(pairs):
        def permuted(a):
            found = nb.zeros(a.shape, a.dtype)
            if pairs:
                found[[b for _, b in pairs]] = a._a[[b for b, _ in pairs]]
            return Array(as_array(found), a.weak_type)

        return permuted, 0

    return _collective("ppermute", x, axis_name, *by(pairs), by([(b, a) for a, b in pairs]))


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """The axis of vmap and `split_axis` change places."""
    _groups("all_to_all", axis_index_groups)
    _one_name("all_to_all", axis_name)
    if tiled:
        raise NotImplementedError(
            message("jax.lax.all_to_all", "tiled= is not yet available", True, "False")
        )
    n = axis_size(axis_name)

    def by(split, concat):
        def exchanged(a):
            d = split % (a.ndim - 1) + 1
            if a.shape[d] != n:
                raise ValueError(
                    message("jax.lax.all_to_all", "extent of split_axis", a.shape[d], n)
                )
            rest = nb.moveaxis(nb.swapaxes(a._a, 0, d), d, concat % (a.ndim - 1) + 1)
            return Array(as_array(rest), a.weak_type)

        return exchanged, 0

    back = by(concat_axis, split_axis)
    return _collective("all_to_all", x, axis_name, *by(split_axis, concat_axis), back, moves=True)


def axis_index(axis_name):
    """The index along an axis of vmap that has a name; of several, the last one goes fastest."""
    found = None
    for name in _names("axis_index", axis_name):
        axis = _axis_of("axis_index", name)
        found = axis.index if found is None else found * axis.size + axis.index
    return found


def axis_size(axis_name):
    """The extent of an axis of vmap that has a name, of several their product."""
    return math.prod([_axis_of("axis_size", n).size for n in _names("axis_size", axis_name)])
