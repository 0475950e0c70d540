"""Masks that layers make and hand on: which steps of sequences count."""

import warnings

import numbus as nb

from ....core import trees
from ....core.errors import message
from .. import _ops
from .._tensor import Tensor, as_array, convert


def mask_of(x):
    """The mask that a tensor carries, or None."""
    return getattr(x, "_keras_mask", None)


def masks_of(inputs):
    """The masks that the tensors of a first argument carry, in its structure."""
    if isinstance(inputs, Tensor):
        return mask_of(inputs)
    return trees.transform(mask_of, inputs)


def any_mask(masks):
    """Whether there is one."""
    if masks is None or isinstance(masks, Tensor):
        return masks is not None
    return any([isinstance(m, Tensor) for m in trees.flatten(masks)[0]])


def hand_on(layer, inputs, made, masks):
    """Has what a layer gave carry a mask, where it says which."""
    outputs = [x for x in trees.flatten(made)[0] if isinstance(x, Tensor)]
    if all([mask_of(x) is not None for x in outputs]):
        return
    if not layer.supports_masking:
        if any_mask(masks):
            warnings.warn(
                f"The layer {layer.name} ({type(layer).__name__}) takes no masks: that of its "
                "input ends here.",
                stacklevel=4,
            )
        return
    found = layer.compute_mask(inputs, masks)
    if found is None:
        return
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    for x, mask in zip(outputs, found, strict=False):
        if mask is not None and mask_of(x) is None:
            x._keras_mask = mask


def either(masks):
    """Where one of several masks is True; None if one is missing."""
    if masks is None or any([m is None for m in masks]):
        return None
    found = masks[0]._value()
    for m in masks[1:]:
        found = nb.logical_or(found, m._value())
    return _ops.tensor(found)


def joined(inputs, masks, axis):
    """The mask of tensors that stand one after another along an axis."""
    if masks is None or all([m is None for m in masks]):
        return None
    parts = []
    for x, m in zip(inputs, masks, strict=True):
        if m is None:
            parts.append(nb.ones(x.shape, dtype=bool))
        else:
            a = m._value()
            parts.append(nb.broadcast_to(a[..., None], x.shape) if a.ndim < x.ndim else a)
    return _ops.tensor(nb.any(nb.concatenate(parts, axis=axis), axis=-1))


def same_rank(x, y, expand=True):
    """Two arrays; where one has one axis more, a last one of one element goes or is added."""
    if x.ndim == y.ndim + 1 and x.shape[-1] == 1:
        return (x, y[..., None]) if y.ndim == 1 and expand else (x[..., 0], y)
    if y.ndim == x.ndim + 1 and y.shape[-1] == 1:
        return (x[..., None], y) if x.ndim == 1 and expand else (x, y[..., 0])
    return x, y


def weights_of(mask, weights, dtype, mean):
    """Weights times a mask, as an array, or None; mean: so that the mean of what is weighed is that
    of what the mask leaves.
    """
    if weights is not None:
        weights = as_array(convert(weights)._value()).astype(dtype)
    if mask is None:
        return weights
    on = as_array(convert(mask)._value()).astype(dtype)
    if mean:
        valid = nb.sum(on)
        on = on * nb.where(valid == 0, 0, on.size / nb.where(valid == 0, 1, valid))
        on = as_array(on).astype(dtype)
    if weights is None:
        return on
    on, weights = same_rank(on, weights)
    return times(weights, on)


def weighed(values, mask, weights, mean):
    """Losses times weights, and 0 where a mask is False, with the weights in their number of axes;
    mean: so that their mean is that of the others.
    """
    w = weights_of(mask, weights, values.dtype, mean)
    if w is None:
        return values, None
    values, w = same_rank(values, w)
    return times(values, w), w


def times(values, w):
    """The product. Raises ValueError where the shapes do not go together."""
    pairs = zip(values.shape[::-1], w.shape[::-1], strict=False)
    if any([m != n and 1 not in (m, n) for m, n in pairs]):
        raise ValueError(
            message("sample_weight", "weights or a mask do not fit what they are for",
                    tuple(w.shape), tuple(values.shape))
        )  # fmt: skip
    return values * w
