"""Normalisation as modules, with their parameters and running statistics."""

from ...core.errors import message
from ...tensors import Parameter, empty, int64, ones, tensor, zeros
from .. import functional as F
from .. import init
from .module import Module


class _NormBase(Module):
    """What batch and instance norm have: weight, bias, running mean and variance, a count."""

    _axes = ()
    _version = 2

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        where = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(empty((num_features,), **where))
            self.bias = Parameter(empty((num_features,), **where))
        else:
            self.register_parameter("weight", None)
            self.register_parameter("bias", None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros((num_features,), **where) if tracked else None)
        self.register_buffer("running_var", ones((num_features,), **where) if tracked else None)
        count = tensor(0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def _complete(self, state, prefix, version):
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state:
            state[key] = self.num_batches_tracked

    def reset_running_stats(self):
        """Sets the running mean to 0, the variance to 1, and the count of batches to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Sets weights to 1, biases to 0, and the statistics to their beginning."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def _check(self, input):
        if input.ndim not in self._axes:
            expected = " or ".join([f"{n}D" for n in self._axes])
            raise ValueError(
                message(type(self).__name__, f"input is no {expected} tensor",
                        f"shape {tuple(input.shape)}", expected)
            )  # fmt: skip

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check(input)
        if input.shape[1] != self.num_features:
            raise ValueError(
                message(type(self).__name__, "input has another number of channels than "
                        "num_features", f"shape {tuple(input.shape)}",
                        f"(N, {self.num_features}, ...)")
            )  # fmt: skip
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        own = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if kept else None,
            self.running_var if kept else None,
            self.weight,
            self.bias,
            own,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 of each channel over the batch: (N, C) or (N, C, length).

    While training by the batch's own statistics, of which running ones are kept for evaluation
    (momentum None: their plain mean); see `functional.batch_norm`. ValueError for other shapes.
    """

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """BatchNorm1d of (N, C, height, width)."""

    _axes = (4,)


class BatchNorm3d(_BatchNorm):
    """BatchNorm1d of three spatial axes."""

    _axes = (5,)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm1d of any number of axes, over the examples of all ranks; of one rank yet.

    Raises NotImplementedError where a process group has more than one.
    """

    _axes = tuple(range(2, 16))

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
        process_group=None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    def forward(self, input):
        from ... import dist

        if self.training and dist.is_initialized() and dist.get_world_size() > 1:
            raise NotImplementedError(
                message("SyncBatchNorm", "several ranks are not yet available",
                        dist.get_world_size(), "BatchNorm, or one rank")
            )  # fmt: skip
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module, with those of this class in place of its batch norms."""
        made = module
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group,
            )  # fmt: skip
            made._parameters.update(module._parameters)
            made._buffers.update(module._buffers)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check(input)
        alone = input.ndim == self._axes[0]
        x = input.unsqueeze(0) if alone else input
        own = self.training or not self.track_running_stats
        y = F.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, own,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 of each channel of each example over its length."""

    _axes = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """InstanceNorm1d over height and width."""

    _axes = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """InstanceNorm1d over three spatial axes."""

    _axes = (4, 5)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, of extents `normalized_shape`."""

    def __init__(
        self,
        normalized_shape,
        eps=1e-5,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = None
            if elementwise_affine and wanted:
                made = Parameter(empty(self.normalized_shape, device=device, dtype=dtype))
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self):
        """Sets weights to 1 and biases to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


def _shape(given):
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


class RMSNorm(Module):
    """x / sqrt(mean(x²) + eps) * weight over the last axes."""

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = None
        if elementwise_affine:
            made = Parameter(ones(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", made)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Mean 0 and variance 1 of groups of channels of each example; ValueError for groups that do
    not divide the channels.
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                message("GroupNorm", "num_channels must be divisible by num_groups", num_channels,
                        f"a multiple of {num_groups}")
            )  # fmt: skip
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        for name in ("weight", "bias"):
            made = Parameter(empty((num_channels,), device=device, dtype=dtype)) if affine else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self):
        """Sets weights to 1 and biases to 0."""
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class LocalResponseNorm(Module):
    """x over a power of the mean of squares of channels around."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
