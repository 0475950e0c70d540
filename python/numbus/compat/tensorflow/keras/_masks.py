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


def weighed(values, mask, weights, mean):
    """Losses or measures times weights, and 0 where a mask is False; mean: so that their mean is
    that of the others.
    """
    if mask is not None:
        on = as_array(convert(mask)._value()).astype(values.dtype)
        if mean:
            valid = nb.sum(on)
            on = on * nb.where(valid == 0, 0, on.size / nb.where(valid == 0, 1, valid))
            on = as_array(on).astype(values.dtype)
        values = values * _like(on, values)
    if weights is not None:
        values = values * _like(convert(weights, values.dtype)._value(), values)
    return values


def _like(w, values):
    if w.ndim == values.ndim + 1 and w.shape[-1] == 1:
        w = w[..., 0]
    elif w.ndim + 1 == values.ndim:
        w = w[..., None]
    if w.ndim and w.shape != values.shape[: w.ndim] and w.shape != (*values.shape[:-1], 1):
        raise ValueError(
            message("mask", "does not fit what it is for", w.shape, tuple(values.shape))
        )
    return w
