"""DataParallel of one device: it calls the module."""

from ...core.errors import message
from .module import Module


class DataParallel(Module):
    """Calls `module`: batches are not split among several devices.

    Raises NotImplementedError for more than one of `device_ids`.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(
                message("DataParallel", "several devices are not there yet", device_ids, "one")
            )
        self.module, self.dim = module, dim
        self.device_ids = [] if device_ids is None else list(device_ids)
        self.output_device = output_device

    def forward(self, *inputs, **keywords):
        y = self.module(*inputs, **keywords)
        return y if self.output_device is None else y.to(self.output_device)
