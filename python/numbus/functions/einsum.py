"""einsum: element-wise forms become fused multiplies and sums over transposed views, contractions
become matmul.
"""

import functools

import numpy

from .. import _core
from ..core import dtypes, routines
from ..core.errors import CASTINGS, as_order, message, one_of
from ..core.operands import as_dtype, in_order, store, to_ndarray
from ..core.quick import quick
from . import names as np
from .axes import product
from .names import compiled as _compiled
from .reductions import reduce

__all__ = ["einsum"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@quick("einsum")
def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """Sum of products by subscripts, such as `einsum('ij,jk->ik', a, b)`, or with lists of axis
    numbers.

    Operands are combined from left to right. Raises ValueError for subscripts that do not fit.
    """
    if not isinstance(optimize, (bool, str, list, tuple)):
        raise TypeError(message("einsum", "optimize", type(optimize).__name__, "a bool or a path"))
    order = as_order("einsum", order)
    one_of("einsum", "casting", casting, CASTINGS)
    inputs, output, arrays = _parse(operands)
    kind = as_dtype("einsum", dtype, dtypes.result_type(*{a.dtype for a in arrays}))
    if order == "A":
        order = "F" if all([a.flags.fnc for a in arrays]) else "C"
    is_view = len(arrays) == 1 and arrays[0].dtype == kind
    arrays = [a if a.dtype == kind else _cast(a, kind, casting) for a in arrays]
    terms = [_diagonals(a, labels) for a, labels in zip(arrays, inputs)]
    _check_extents(terms)
    labels = tuple([labels for _, labels in terms])
    steps, sums, order_of_axes = plan(labels, output, kind.kind != "b")
    wide = dtypes.is_half(kind) and len(terms) > 1  # as NumPy, summed in float32 and rounded once
    if wide:
        terms = [(a.astype(numpy.float32), labels) for a, labels in terms]
    first, *others = [a for a, _ in terms]
    result = _carried_out(first, others, steps, sums, order_of_axes)
    if wide:
        result = to_ndarray(result).astype(kind)
    if out is not None:
        return store("einsum", result, out, casting)
    if is_view and len(sums) == 0:
        return result  # in the order that the operand has, as NumPy's
    return in_order(result, order)


def _cast(a, kind, casting):
    if not dtypes.can_cast(a.dtype, kind, casting):
        raise TypeError(
            message("einsum", "cannot cast", f"{a.dtype} to {kind}", f"casting={casting!r}")
        )
    return a.astype(kind)


def _parse(operands):
    """(labels of each input, labels of the output, arrays)."""
    if not operands:
        raise ValueError(message("einsum", "no operands", "nothing", "subscripts and arrays"))
    if isinstance(operands[0], str):
        text, arrays = operands[0], [to_ndarray(x) for x in operands[1:]]
    else:
        text, arrays = _from_lists(operands)
    inputs, output = _parse_text(text, tuple([a.ndim for a in arrays]))
    return inputs, output, arrays


@functools.lru_cache(256)
def _parse_text(text, ndims):
    """Labels of the inputs and of the output; an ellipsis is spelled out in unused letters."""
    text = text.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if set(left + output) - set(_LETTERS) - set(".,") or "," in output:
        raise ValueError(
            message("einsum", "subscripts", repr(text), "letters, commas, '...' and '->'")
        )
    if len(inputs) != len(ndims):
        raise ValueError(
            message("einsum", "number of operands", len(ndims), f"{len(inputs)} terms")
        )
    spare = [c for c in reversed(_LETTERS) if c not in text]
    most = 0
    for position, (labels, ndim) in enumerate(zip(inputs, ndims)):
        if "." in labels:
            if labels.count("...") != 1 or labels.count(".") != 3:
                raise ValueError(message("einsum", "ellipsis", repr(labels), "'...' once"))
            extra = ndim - (len(labels) - 3)
            if extra < 0:
                raise _dimensions(labels, ndim)
            most = max(most, extra)
            inputs[position] = labels.replace("...", "".join(spare[:extra][::-1]))
        elif len(labels) != ndim:
            raise _dimensions(labels, ndim)
    dots = "".join(spare[:most][::-1])
    if arrow:
        output = output.replace("...", dots)
    else:
        joined = "".join(inputs)
        output = dots + "".join(
            [c for c in sorted(set(joined)) if joined.count(c) == 1 and c not in dots]
        )
    known = set("".join(inputs)) | set(dots)
    if "." in output or len(set(output)) != len(output) or set(output) - known:
        raise ValueError(
            message("einsum", "output subscripts", repr(text), "distinct input letters")
        )
    return tuple(inputs), output


def _dimensions(labels, ndim):
    return ValueError(
        message("einsum", f"subscripts {labels!r}", f"{ndim}-d array", "one letter per axis")
    )


def _from_lists(operands):
    """The form einsum(a, [0, 1], b, [1, 2], [0, 2]) as text and arrays."""
    operands = list(operands)
    output = operands.pop() if len(operands) % 2 else None

    def spell(axes):
        return "".join(["..." if axis is Ellipsis else _LETTERS[axis] for axis in axes])

    arrays = [to_ndarray(x) for x in operands[0::2]]
    text = ",".join([spell(axes) for axes in operands[1::2]])
    return (text if output is None else f"{text}->{spell(output)}"), arrays


def _diagonals(a, labels):
    """A view of `a` in which each label occurs once: repeated labels walk along a diagonal."""
    if len(set(labels)) == len(labels):
        return a, labels
    kept = "".join(dict.fromkeys(labels))
    shape, strides = [], []
    for label in kept:
        axes = [i for i, c in enumerate(labels) if c == label]
        extents = {a.shape[i] for i in axes}
        if len(extents - {1}) > 1:
            raise ValueError(
                message("einsum", f"extents of {label!r}", sorted(extents), "one extent")
            )
        shape.append(max(extents) if 0 not in extents else 0)
        strides.append(sum([a.strides[i] for i in axes if a.shape[i] != 1]))
    return _core.as_strided(a, tuple(shape), tuple(strides)), kept


def _check_extents(terms):
    extents = {}
    for a, labels in terms:
        for label, extent in zip(labels, a.shape):
            known = extents.setdefault(label, extent)
            if known == 1:
                extents[label] = extent
            elif extent not in (1, known):
                raise ValueError(
                    message(
                        "einsum", f"extents of {label!r}", f"{known} and {extent}", "equal extents"
                    )
                )


# Plans: which axes are summed and multiplied in which order, whatever the arrays. The core carries
# out those of plain calls by itself (bindings/quick_einsum.cpp).


def plan_of(text, ndims):
    """The plan of terms by their text and the axes of their arrays; None where a term repeats a
    label.
    """
    inputs, output = _parse_text(text, ndims)
    if any([len(set(labels)) != len(labels) for labels in inputs]):
        return None
    return plan(inputs, output, True)


@functools.lru_cache(256)
def plan(inputs, output, contracts):
    """(steps, axes summed at the end, their order then or None).

    A step takes one more term: the arguments of _combine(). contracts: whether products of matrices
    may do it.
    """
    steps, labels = [], inputs[0]
    for position, right in enumerate(inputs[1:], 2):
        needed = set(output).union(*inputs[position:])
        step, labels = _step(labels, right, needed, contracts)
        steps.append(step)
    sums, labels = _summed(labels, output)
    turned = labels != output and labels
    return tuple(steps), sums, tuple([labels.index(c) for c in output]) if turned else None


def _summed(labels, keep):
    """The axes whose labels are not kept, and the labels that are."""
    axes = tuple([i for i, c in enumerate(labels) if c not in keep])
    return axes, "".join([c for c in labels if c in keep])


def _step(left, right, needed, contracts):
    """How two terms become one, summed over what nobody needs later; and its labels."""
    sums_a, left = _summed(left, needed.union(right))
    sums_b, right = _summed(right, needed.union(left))
    summed = [c for c in left if c in right and c not in needed]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    if summed and rows and columns and contracts:
        batch = [c for c in left if c in right and c in needed]
        a_axes = tuple([left.index(c) for c in batch + rows + summed])
        b_axes = tuple([right.index(c) for c in batch + summed + columns])
        groups = (len(batch), len(rows), len(summed))
        return (sums_a, sums_b, a_axes, b_axes, (), groups), "".join(batch + rows + columns)
    labels = "".join([c for c in left if c in right] + rows + columns)
    labels = "".join(sorted(labels, key=lambda c: (c in summed, labels.index(c))))
    a_axes, b_axes = (tuple([term.find(c) for c in labels]) for term in (left, right))
    sums, kept = _summed(labels, needed)
    return (sums_a, sums_b, a_axes, b_axes, sums, None), kept


def _sum(a, axes):
    if len(axes) == 0:
        return a
    if _compiled:
        return np.any(a, axes) if a.dtype.kind == "b" else np.sum(a, axes, dtype=a.dtype)
    if a.dtype.kind == "b":
        return reduce("any", a, axes)
    return reduce("sum", a, axes, a.dtype)


def _combine(a, b, sums_a, sums_b, a_axes, b_axes, sums, groups):
    """The product of two terms, of which some axes are summed first.

    a_axes, b_axes: the axis of each for those of the product, -1 where it has none; `sums` of these
    are summed. groups: how many axes of each are those of a stack, and of its matrices' rows and
    inner extents; a product of matrices then.
    """
    a, b = _sum(a, sums_a), _sum(b, sums_b)
    if groups is not None:
        return _contract(a.transpose(a_axes), b.transpose(b_axes), *groups)
    return _sum(np.multiply(_spread(a, a_axes), _spread(b, b_axes)), sums)


def _spread(a, axes):
    """`a` with the named axes in this order, and axes of extent 1 for -1."""
    own = _own(axes)
    if len(own) == 0:
        return a
    a = a.transpose(own)
    return a if len(own) == len(axes) else a[_places(axes)]


def _own(axes):
    """The axes that there are."""
    if len(axes) == 0:
        return ()
    return _own(axes[1:]) if axes[0] < 0 else (axes[0],) + _own(axes[1:])


def _places(axes):
    """An index that puts axes of extent 1 where there are none."""
    if len(axes) == 0:
        return ()
    return (None if axes[0] < 0 else slice(None),) + _places(axes[1:])


def _contract(a, b, stack, rows, inner):
    """A true contraction as one stacked matmul: stack, rows, inner axes by stack, inner, columns.

    An extent of 1 is as long as that of the other operand.
    """
    long = _common(a.shape[:stack], b.shape[:stack])
    summed = _common(a.shape[stack + rows :], b.shape[stack : stack + inner])
    left, right = a.shape[stack : stack + rows], b.shape[stack + inner :]
    first, second = _extended(a, long + left + summed), _extended(b, long + summed + right)
    n = product(summed)
    result = routines.product(
        first.reshape(long + (product(left), n)), second.reshape(long + (n, product(right)))
    )
    return result.reshape(long + left + right)


def _common(extents, others):
    if len(extents) == 0:
        return ()
    first = others[0] if extents[0] == 1 else extents[0]
    return (first,) + _common(extents[1:], others[1:])


def _extended(a, shape):
    if _compiled:
        return np.broadcast_to(a, shape)
    return a if a.shape == shape else _core.broadcast_to(a, shape)


# Compiled functions: the same plans, made for subscripts and numbers of axes that are known.


@functools.lru_cache(256)
def compiled_for(text, *ndims):
    """The function that compiled functions call for these subscripts and numbers of axes, in
    digits.
    """
    try:
        inputs, output = _parse_text(text, tuple(map(int, ndims)))
    except ValueError as mistake:
        return _refusing(str(mistake))
    turns, kept = zip(*[_turns(labels) for labels in inputs])
    steps, sums, order = plan(kept, output, True)
    truths = plan(kept, output, False)  # of bool there are no products of matrices
    several = len(inputs) > 1

    def einsum(operands, dtype, casting):
        kind = _kind(operands, dtype)
        for a in operands:
            if not np.can_cast(a.dtype, kind, casting):
                raise TypeError(
                    "[einsum] cannot cast an operand to dtype; expected another casting"
                )
        wide = np.float32 if several and dtypes.is_half(kind) else kind
        terms = _turned(operands, turns, wide)
        if wide == np.bool_:
            result = _carried_out(terms[0], terms[1:], *truths)
        else:
            result = _carried_out(terms[0], terms[1:], steps, sums, order)
        if np.ndim(result) == 0:
            return kind.type(result)
        return result if wide == kind else result.astype(kind)

    return einsum


def _refusing(words):
    def einsum(operands, dtype, casting):
        raise ValueError(words)

    return einsum


def _turns(labels):
    """The pairs of axes of which diagonals are taken, one after the other, and the labels then: a
    diagonal becomes the last axis.
    """
    turns = []
    while len(set(labels)) < len(labels):
        first = next(i for i, c in enumerate(labels) if labels.count(c) > 1)
        second = labels.index(labels[first], first + 1)
        rest = [c for i, c in enumerate(labels) if i not in (first, second)]
        turns.append((first, second))
        labels = "".join(rest) + labels[first]
    return tuple(turns), labels


def _kind(operands, dtype):
    return np.result_type(*operands) if dtype is None else dtype


def _turned(operands, turns, kind):
    """The operands in the type that is computed in, each label once."""
    if len(operands) == 0:
        return ()
    a = operands[0] if operands[0].dtype == kind else operands[0].astype(kind)
    return (_diagonal_of(a, turns[0]),) + _turned(operands[1:], turns[1:], kind)


def _diagonal_of(a, pairs):
    if len(pairs) == 0:
        return a
    if a.shape[pairs[0][0]] != a.shape[pairs[0][1]]:
        raise ValueError("[einsum] extents of one label; got different ones; expected one extent")
    return _diagonal_of(np.diagonal(a, 0, *pairs[0]), pairs[1:])


def _carried_out(result, terms, steps, sums, order):
    """A plan of terms that are there."""
    if len(terms) > 0:
        return _carried_out(
            _combine(result, terms[0], *steps[0]), terms[1:], steps[1:], sums, order
        )
    if order is None:
        return _sum(result, sums)
    return _sum(result, sums).transpose(order)
