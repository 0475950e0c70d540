"""torch.utils.dlpack: memory that libraries share."""

from ....tensors import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor):
    """The capsule that another library takes."""
    return tensor.__dlpack__()
