"""`torch.utils.data.distributed`: the sampler for programs of several processes."""

from .samplers import DistributedSampler

__all__ = ["DistributedSampler"]
