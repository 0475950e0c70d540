"""torch.hub: nothing is downloaded."""

from ...core.errors import message
from .._missing import missing as _missing
from .utils.model_zoo import load_url as load_state_dict_from_url

__all__ = ["load", "load_state_dict_from_url"]


def load(repo_or_dir, model, *args, **keywords):
    """Raises: what it would download can be imported where it lies in a folder."""
    raise RuntimeError(
        message("hub.load", "nothing is downloaded", f"{repo_or_dir}, {model}", "an import")
    )


def __getattr__(name):
    return _missing("torch.hub", name)
