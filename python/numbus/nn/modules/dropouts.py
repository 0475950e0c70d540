"""Dropout as modules: at random while training, nothing in evaluation."""

from ...core.errors import message
from .. import functional as F
from .module import Module


class _DropoutNd(Module):
    _function = None

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(message(type(self).__name__, "p is no probability", p, "0 to 1"))
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Elements are 0 with the probability `p` while training, the others scaled by 1 / (1 - p)."""

    _function = F.dropout


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, length)."""

    _function = F.dropout1d


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, height, width)."""

    _function = F.dropout2d


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of three spatial axes."""

    _function = F.dropout3d


class AlphaDropout(_DropoutNd):
    """Dropout that keeps the mean and variance of SELU's values."""

    _function = F.alpha_dropout


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels."""

    _function = F.feature_alpha_dropout


class RReLU(Module):
    """x where it is positive, else x times a drawn number of each element while training."""

    def __init__(self, lower=0.125, upper=1 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        inplace = ", inplace=True" if self.inplace else ""
        return f"lower={self.lower}, upper={self.upper}{inplace}"
