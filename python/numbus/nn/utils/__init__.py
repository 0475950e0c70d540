"""`numbus.nn.utils`: gradients of bounded size, parameters as one vector, packed sequences."""

from . import parametrizations, parametrize, prune, rnn
from .clipping import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from .parametrizations import hooked_spectral_norm as spectral_norm
from .parametrizations import hooked_weight_norm as weight_norm
from .parametrizations import remove_spectral_norm, remove_weight_norm
from .vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "get_total_norm",
    "parameters_to_vector", "parametrizations", "parametrize", "prune", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip
