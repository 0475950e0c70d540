"""Functions of one example, called for all examples of a batch at once."""

import functools

import numpy

from . import _core
from ._core import generic, ndarray
from .core import trees
from .core.errors import message
from .core.operands import to_ndarray
from .functions.joining import stack
from .functions.manipulation import moveaxis

__all__ = ["vmap"]


class Leaves:
    """How arrays are taken out of the values that a function is given and returns.

    The methods are those of `numbus.vmap`, whose values are trees of arrays; the names of other
    frameworks have their own.
    """

    def split(self, result):
        """(leaves, build) of what a function returns: `build(leaves)` makes it again."""
        leaves, shape = trees.flatten(result)
        for leaf in leaves:
            if not isinstance(leaf, (ndarray, generic, numpy.ndarray, numpy.generic, int, float,
                                     complex)):  # fmt: skip
                raise TypeError(
                    message("vmap", "the function returns what is no array",
                            type(leaf).__name__, "arrays, or trees of these")
                )  # fmt: skip
        return [to_ndarray(leaf) for leaf in leaves], lambda made: trees.unflatten(shape, made)

    def raw(self, leaf):
        """The array of a leaf; None: it has to be taken one index at a time."""
        return leaf

    def like(self, _leaf, array):
        """A leaf as the given one is, of another array."""
        return array if array.ndim else array[()]

    def part(self, leaf, axis, k):
        """The leaf of index k."""
        return leaf[(slice(None),) * axis + (k,)]

    def stacked(self, column, axis):
        """One leaf of those of all indices."""
        return stack(column, axis=axis)


def _size(leaves, axes, count):
    pairs = list(zip(leaves, axes, strict=True))
    for leaf, axis in pairs:
        if axis is not None and not -len(leaf.shape) <= axis < len(leaf.shape):
            raise ValueError(
                message("vmap", "no such axis", f"axis {axis} of shape {tuple(leaf.shape)}",
                        f"an axis below {len(leaf.shape)}, or None")
            )  # fmt: skip
    sizes = {leaf.shape[axis] for leaf, axis in pairs if axis is not None}
    if count is not None:
        sizes.add(count)
    if len(sizes) != 1:
        raise ValueError(
            message("vmap", "sizes of the mapped axes differ", sorted(sizes), "one size")
        )
    (n,) = sizes
    if n == 0:
        raise NotImplementedError(
            message("vmap", "an axis without elements is not yet available", 0, "one or more")
        )
    return n


def _spread(a, n, axis):
    """An array repeated along a new axis."""
    return _core.copy_of(moveaxis(_core.broadcast_to(a, (n, *a.shape)), 0, axis))


def mapped(call, leaves, axes, out_axes, of, count=None):
    """What `call` gives for all indices of an axis of the leaves.

    The function is called once, and what it records is recorded for all indices. Where that cannot
    be (elements are read, routines have no batches), it is called for each.

    Parameters
    ----------
    call : callable
        Takes a list like `leaves`.
    leaves, axes : list
        What is mapped; the axis of each, None where it is handed on whole.
    out_axes : callable
        `out_axes(leaves, build)`: the axis of each leaf of the result; None for those that are the
        same for all indices.
    of : Leaves
    count : int, optional
        How many indices there have to be.

    Raises
    ------
    ValueError
        Lengths differ, or an axis is not there.
    NotImplementedError
        There are no indices.
    """
    n = _size(leaves, axes, count)
    axes = [d if d is None else d % len(x.shape) for x, d in zip(leaves, axes, strict=True)]
    first, done = _at_once(call, leaves, axes, out_axes, of, n) if n > 1 else (None, None)
    if done is not None:
        return done[0]

    def at(k):
        pairs = zip(leaves, axes, strict=True)
        return call([x if d is None else of.part(x, d, k) for x, d in pairs])

    first = of.split(at(0)) if first is None else first
    rows = [first, *[of.split(at(k)) for k in range(1, n)]]
    made, build = first
    if len({len(row) for row, _ in rows}) > 1:
        raise ValueError(
            message("vmap", "the function returns other trees for other indices",
                    [len(row) for row, _ in rows], "one tree")
        )  # fmt: skip
    columns = zip(zip(*[row for row, _ in rows], strict=True), out_axes(made, build), strict=True)
    return build([
        column[0] if d is None else of.stacked(list(column), d % (len(column[0].shape) + 1))
        for column, d in columns
    ])  # fmt: skip


def _at_once(call, leaves, axes, out_axes, of, n):
    """(None, (the result,)), or the leaves of index 0 and how they are built, and None."""
    raws = [of.raw(x) if d is not None else x for x, d in zip(leaves, axes, strict=True)]
    if any(type(a) is not ndarray for a, d in zip(raws, axes, strict=True) if d is not None):
        return None, None
    which = [k for k, d in enumerate(axes) if d is not None]
    whole = tuple([moveaxis(raws[k], axes[k], 0) for k in which])
    kept = []

    def body(examples):
        given = list(leaves)
        for k, a in zip(which, examples, strict=True):
            given[k] = of.like(leaves[k], a)
        made, build = of.split(call(given))
        kept.append((made, build))
        found = [of.raw(x) for x in made]
        if any(not isinstance(a, (ndarray, generic)) for a in found):
            _core.spoil_capture()
            return ()
        return tuple(found)

    found = _core.record_batch(whole, n, body)
    made, build = kept[0]
    if len(found) == 3:
        why, wrote, wrote_others = found
        if wrote and wrote_others:  # the first example can neither be kept nor done again
            raise RuntimeError(
                message("vmap", "the function writes to its arguments and to other arrays", why,
                        "writes to one of them")
            )  # fmt: skip
        return (None, None) if wrote else ((made, build), None)
    arrays, leading = found
    results = []
    for leaf, a, leads, d in zip(made, arrays, leading, out_axes(made, build), strict=True):
        if d is None:
            if leads:
                raise ValueError(
                    message("vmap", "a result that differs from index to index has no axis",
                            None, "an axis in out_axes")
                )  # fmt: skip
            results.append(of.like(leaf, a))
            continue
        to = d % (len(leaf.shape) + 1)
        results.append(of.like(leaf, moveaxis(a, 0, to) if leads else _spread(a, n, to)))
    return None, (build(results),)


def vmap(function, in_axes=0, out_axes=0):
    """A function of arrays with one axis more than those of `function`.

    The function is called once, with arrays of one index, and its array work is recorded for all
    indices; it should do nothing else. Where its work depends on elements (`if x > 0`, `float(x)`),
    draws random numbers, or uses routines that have no batches, it is called for each index in
    turn.

    Parameters
    ----------
    function : callable
        Of arrays, or trees (dicts, lists, tuples) of arrays, to such. It may be differentiated
        (`vmap(grad(f))`), and what is returned here, too.
    in_axes : int, None, or tuple of these
        The axis of each positional argument, of all arrays in it, that is mapped; None for
        arguments that are the same for all indices. Keyword arguments are mapped along axis 0.
    out_axes : int, or tuple of these
        Where the axis is in the results; a tuple for functions that return a tuple.

    Raises
    ------
    ValueError
        Lengths of the axes differ, or no argument is mapped.
    TypeError
        The function returns what is no array.
    """
    if not callable(function):
        raise TypeError(message("vmap", "nothing to call", type(function).__name__, "a function"))

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        given = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(given) != len(args):
            raise ValueError(
                message("vmap", "not an axis for each argument", len(given), len(args))
            )
        leaves, axes, parts = [], [], []
        for tree, axis in [*zip(args, given, strict=True), *[(t, 0) for t in keywords.values()]]:
            found, shape = trees.flatten(tree)
            if axis is not None:
                found = [to_ndarray(x) for x in found]
            leaves += found
            axes += [axis] * len(found)
            parts.append((len(found), shape))

        def call(flat):
            rest = iter(flat)
            made = [trees.unflatten(shape, [next(rest) for _ in range(n)]) for n, shape in parts]
            named = dict(zip(keywords, made[len(args) :], strict=True))
            return function(*made[: len(args)], **named)

        def outs(made, build):
            if not isinstance(out_axes, (tuple, list)):
                return [out_axes] * len(made)
            result = build(made)
            if not isinstance(result, (tuple, list)) or len(result) != len(out_axes):
                raise ValueError(
                    message("vmap", "not an axis for each result", out_axes, "a tuple as long as "
                            "that which the function returns")
                )  # fmt: skip
            return [
                d
                for part, d in zip(result, out_axes, strict=True)
                for _ in range(len(trees.flatten(part)[0]))
            ]

        return mapped(call, leaves, axes, outs, Leaves())

    return wrapper
