"""A normalisation that no longer changes, as part of the layer before it."""

import copy

from ...core.errors import message
from ...tensors import Parameter, ones_like, zeros_like

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip


def _fused(weight, bias, mean, var, eps, scale, shift, shape):
    bias = zeros_like(mean) if bias is None else bias
    scale = ones_like(mean) if scale is None else scale
    shift = zeros_like(mean) if shift is None else shift
    factor = scale * (var + eps).rsqrt()
    made = (weight * factor.reshape(shape)).to(weight.dtype)
    moved = ((bias - mean) * factor + shift).to(bias.dtype)
    return Parameter(made.detach(), weight.requires_grad), Parameter(
        moved.detach(), bias.requires_grad
    )


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Weight and bias of a convolution that does what follows it, too."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Weight and bias of a linear layer that does what follows it, too."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))


def _module(op, layer, bn, fuse, *more):
    if layer.training or bn.training:
        raise RuntimeError(message(op, "a module that is trained", "train()", "eval() of both"))
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *more
    )
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of a convolution that normalises, too. RuntimeError while one is trained."""
    return _module("fuse_conv_bn_eval", conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear, bn):
    """A copy of a linear layer that normalises, too. RuntimeError while one is trained, and where
    the numbers of features differ.
    """
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise RuntimeError(
            message("fuse_linear_bn_eval", "numbers of features", bn.num_features,
                    linear.out_features)
        )  # fmt: skip
    return _module("fuse_linear_bn_eval", linear, bn, fuse_linear_bn_weights)
