"""einsum: element-wise forms become fused multiplies and sums over transposed views, contractions
become matmul.
"""

import functools

import numpy

from .. import _core
from ..core.errors import as_order, message
from ..core.operands import as_dtype, in_order, store, to_ndarray
from ..core.ufuncs import UFUNCS
from .products import _matmul, _product
from .reductions import reduce

__all__ = ["einsum"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    """Sum of products by subscripts, such as `einsum('ij,jk->ik', a, b)`, or with lists of axis
    numbers.

    Operands are combined from left to right. Raises ValueError for subscripts that do not fit.
    """
    if not isinstance(optimize, (bool, str, list, tuple)):
        raise TypeError(message("einsum", "optimize", type(optimize).__name__, "a bool or a path"))
    order = as_order("einsum", order)
    inputs, output, arrays = _parse(operands)
    kind = as_dtype("einsum", dtype, numpy.result_type(*{a.dtype for a in arrays}))
    arrays = [a if a.dtype == kind else _cast(a, kind, casting) for a in arrays]
    terms = [_diagonals(a, labels) for a, labels in zip(arrays, inputs)]
    extents = _extents(terms)
    a, labels = terms[0]
    for position, (b, other) in enumerate(terms[1:], 2):
        needed = set(output).union(*[term[1] for term in terms[position:]])
        a, labels = _pair(a, labels, b, other, needed, extents)
    result = _arrange(a, labels, output)
    if out is not None:
        return store("einsum", result, out, casting)
    return in_order(result, order)


def _cast(a, kind, casting):
    if not numpy.can_cast(a.dtype, kind, casting):
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


def _extents(terms):
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
    return extents


def _sum_out(a, labels, keep):
    """`a` summed over the labels that are not kept."""
    axes = tuple([i for i, c in enumerate(labels) if c not in keep])
    if not axes:
        return a, labels
    name = "any" if a.dtype.kind == "b" else "sum"
    result = reduce(name, a, axes, None if name == "any" else a.dtype)
    return result, "".join([c for c in labels if c in keep])


def _arrange(a, labels, output):
    """`a` with its axes in the order of the output, the others summed out."""
    a, labels = _sum_out(a, labels, output)
    if labels == output or not labels:
        return a
    return a.transpose(tuple([labels.index(c) for c in output]))


def _pair(a, left, b, right, needed, extents):
    """The product of two terms, summed over what nobody needs later."""
    a, left = _sum_out(a, left, needed.union(right))
    b, right = _sum_out(b, right, needed.union(left))
    summed = [c for c in left if c in right and c not in needed]
    only_left = [c for c in left if c not in right]
    only_right = [c for c in right if c not in left]
    if summed and only_left and only_right and a.dtype.kind != "b":
        batch = [c for c in left if c in right and c in needed]
        return _contract(a, left, b, right, batch, only_left, summed, only_right, extents)
    labels = "".join([c for c in left if c in right] + only_left + only_right)
    labels = "".join(sorted(labels, key=lambda c: (c in summed, labels.index(c))))
    product = UFUNCS["multiply"](_spread(a, left, labels), _spread(b, right, labels))
    return _sum_out(product, labels, needed)


def _spread(a, labels, target):
    """`a` transposed to the order of `target`, with axes of extent 1 for labels it lacks."""
    if not labels:
        return a
    a = a.transpose(tuple([labels.index(c) for c in target if c in labels]))
    if len(labels) == len(target):
        return a
    return a[tuple([slice(None) if c in labels else None for c in target])]


def _contract(a, left, b, right, batch, rows, summed, columns, extents):
    """A true contraction as one stacked matmul."""

    def stage(x, labels, first, second):
        order = batch + first + second
        x = x.transpose(tuple([labels.index(c) for c in order]))
        shape = tuple([extents[c] for c in order])
        if x.shape != shape:
            x = _core.broadcast_to(x, shape)
        sizes = [_product([extents[c] for c in group]) for group in (first, second)]
        return x.reshape(tuple([extents[c] for c in batch]) + tuple(sizes))

    product = _matmul(stage(a, left, rows, summed), stage(b, right, summed, columns))
    shape = tuple([extents[c] for c in batch + rows + columns])
    return product.reshape(shape), "".join(batch + rows + columns)
