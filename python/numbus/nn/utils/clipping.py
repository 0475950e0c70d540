"""Gradients whose norm, or whose elements, are bounded."""

import math
import warnings

from ...core.errors import message
from ...functions import names as np
from ...tensors import Tensor, no_grad, tensor, tensor_function


def _gradients(parameters):
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


@tensor_function
def _total(arrays, p):
    if p == math.inf:
        return np.max(np.stack([np.max(np.abs(a)) for a in arrays]))
    if p == -math.inf:
        return np.min(np.stack([np.min(np.abs(a)) for a in arrays]))
    if p == 0:  # how many tensors have an element that is not 0
        return sum(np.any(a != 0).astype(a.dtype) for a in arrays)
    if p == 2:
        return np.sqrt(sum(np.sum(a * a) for a in arrays))
    return sum(np.sum(np.abs(a) ** p) for a in arrays) ** (1 / p)


def _only_flags(op, foreach):
    if foreach not in (None, True, False):
        raise TypeError(message(op, "foreach is no flag", foreach, "a bool or None"))


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The p-norm of all elements of several tensors, as a tensor.

    error_if_nonfinite: reads it, and raises RuntimeError where it is infinite or NaN. foreach: the
    work is fused whatever it is; TypeError for what is no flag.
    """
    _only_flags("get_total_norm", foreach)
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    with no_grad():
        total = _total(given, float(norm_type)) if given else tensor(0.0)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            message("clip_grad_norm_", f"the total norm of order {norm_type} for gradients is "
                    "non-finite", float(total), "a finite norm, or error_if_nonfinite=False")
        )  # fmt: skip
    return total


def clip_grad_norm_(
    parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None
):  # fmt: skip
    """Scales the gradients of all parameters, in place, so that the norm of all elements together
    is `max_norm` at most; returns the norm before. Errors as for `get_total_norm`.
    """
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    _scale(gradients, max_norm, total)
    return total


def _scale(gradients, max_norm, total):
    with no_grad():
        factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        for g in gradients:
            g.mul_(factor.to(g.dtype))


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scales the gradients of all parameters, in place, by max_norm / total_norm where that is less
    than 1: `clip_grad_norm_` with a norm that is known. foreach: as for `get_total_norm`.
    """
    _only_flags("clip_grads_with_norm_", foreach)
    known = total_norm if isinstance(total_norm, Tensor) else tensor(float(total_norm))
    _scale(_gradients(parameters), max_norm, known)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The deprecated name of `clip_grad_norm_`."""
    warnings.warn(
        message("clip_grad_norm", "the name is deprecated", "clip_grad_norm", "clip_grad_norm_"),
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits all elements of the gradients to [-clip_value, clip_value], in place. foreach: as for
    `get_total_norm`.
    """
    _only_flags("clip_grad_value_", foreach)
    bound = float(clip_value)
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-bound, bound)
