"""torch.utils.model_zoo: nothing is downloaded."""

from ....core.errors import message

__all__ = ["load_url"]


def load_url(url, *args, **keywords):
    """Raises: what it would download can be read by torch.load where it lies in a file."""
    raise RuntimeError(message("load_url", "nothing is downloaded", url, "torch.load of a file"))
