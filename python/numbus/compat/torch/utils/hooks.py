"""torch.utils.hooks."""

from ....nn.hooks import Handle as RemovableHandle

__all__ = ["RemovableHandle"]
