"""Functions of nets whose parameters have another order, or other names, in torch than in
torch.nn.functional.
"""

from ...core.errors import message
from ...nn import functional as F
from ...tensors.autograd import Function

_REDUCTIONS = ("none", "mean", "sum")


def _reduction(op, reduction):
    """The name of a reduction, which is a number in torch's own functions."""
    if isinstance(reduction, int) and 0 <= reduction < 3:
        return _REDUCTIONS[reduction]
    raise TypeError(message(op, "unknown reduction", reduction, "0 (none), 1 (mean) or 2 (sum)"))


def dropout(input, p, train):
    """`torch.nn.functional.dropout`."""
    return F.dropout(input, p, bool(train))


def dropout_(input, p, train):
    """`dropout`, in place."""
    return F.dropout(input, p, bool(train), True)


def alpha_dropout(input, p, train):
    """`torch.nn.functional.alpha_dropout`."""
    return F.alpha_dropout(input, p, bool(train))


def alpha_dropout_(input, p, train):
    """`alpha_dropout`, in place."""
    return F.alpha_dropout(input, p, bool(train), True)


def feature_dropout(input, p, train):
    """`torch.nn.functional.dropout2d` for any number of axes after the channels."""
    dropped = {2: F.dropout, 3: F.dropout1d, 4: F.dropout2d, 5: F.dropout3d}.get(input.ndim)
    if dropped is None:
        raise RuntimeError(
            message("feature_dropout", "another number of axes", input.ndim, "2 to 5")
        )
    return dropped(input, p, bool(train))


def feature_alpha_dropout(input, p, train):
    """`torch.nn.functional.feature_alpha_dropout`."""
    return F.feature_alpha_dropout(input, p, bool(train))


# The switch cudnn_enabled changes no result.


def batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """`torch.nn.functional.batch_norm`."""
    return F.batch_norm(
        input, running_mean, running_var, weight, bias, bool(training), momentum, eps
    )


def instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """`torch.nn.functional.instance_norm`."""
    return F.instance_norm(
        input, running_mean, running_var, weight, bias, bool(use_input_stats), momentum, eps
    )


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """`torch.nn.functional.layer_norm`."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """`torch.nn.functional.group_norm`."""
    return F.group_norm(input, num_groups, weight, bias, eps)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """`torch.nn.functional.embedding`; a `padding_idx` of -1 is none."""
    row = None if padding_idx == -1 else padding_idx
    return F.embedding(indices, weight, row, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=1):
    """`torch.nn.functional.binary_cross_entropy_with_logits`; `reduction` is a number."""
    named = _reduction("binary_cross_entropy_with_logits", reduction)
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=named, pos_weight=pos_weight
    )


def kl_div(input, target, reduction=1, *, log_target=False):
    """`torch.nn.functional.kl_div`; `reduction` is a number."""
    named = _reduction("kl_div", reduction)
    return F.kl_div(input, target, reduction=named, log_target=log_target)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """`torch.nn.functional.poisson_nll_loss`; `reduction` is a number."""
    named = _reduction("poisson_nll_loss", reduction)
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=named)


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False
):
    """`torch.nn.functional.ctc_loss`; `reduction` is a number."""
    named = _reduction("ctc_loss", reduction)
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, named, zero_infinity
    )


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    """`torch.nn.functional.cosine_embedding_loss`; `reduction` is a number."""
    named = _reduction("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=named)


def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    """`torch.nn.functional.hinge_embedding_loss`; `reduction` is a number."""
    named = _reduction("hinge_embedding_loss", reduction)
    return F.hinge_embedding_loss(input, target, margin, reduction=named)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    """`torch.nn.functional.margin_ranking_loss`; `reduction` is a number."""
    named = _reduction("margin_ranking_loss", reduction)
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=named)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1
):
    """`torch.nn.functional.triplet_margin_loss`; `reduction` is a number."""
    named = _reduction("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=named)


def constant_pad_nd(input, pad, value=0):
    """`torch.nn.functional.pad` by a number."""
    return F.pad(input, pad, value=value)


class _Rounded(Function):
    """Steps of a scale; the derivative is 1 between the limits and 0 beyond."""

    @staticmethod
    def forward(ctx, input, scale, zero_point, low, high):
        steps = (input / scale + zero_point).round()
        ctx.save_for_backward((steps >= low) & (steps <= high))
        return (steps.clamp(low, high) - zero_point) * scale

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None, None, None, None


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """Numbers as integers from `quant_min` to `quant_max` of steps of `scale` would hold them."""
    if quant_min > quant_max:
        raise RuntimeError(
            message("fake_quantize_per_tensor_affine", "quant_min is above quant_max",
                    (quant_min, quant_max), "quant_min <= quant_max")
        )  # fmt: skip
    return _Rounded.apply(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """`fake_quantize_per_tensor_affine` with a scale and an offset for each slice of `axis`."""
    shape = [-1 if k == axis % input.ndim else 1 for k in range(input.ndim)]
    return _Rounded.apply(
        input, scale.reshape(shape), zero_point.reshape(shape), quant_min, quant_max
    )
