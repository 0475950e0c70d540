"""torch.hub: nothing is downloaded."""

import os
import re
from urllib.parse import urlparse

from ...core.errors import message
from .._missing import missing as _missing
from .utils.model_zoo import load_url as load_state_dict_from_url

__all__ = [
    "HASH_REGEX", "download_url_to_file", "get_dir", "load", "load_state_dict_from_url", "set_dir",
    "urlparse",
]  # fmt: skip

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the part of a file's name that tells its contents
_folder = None


def get_dir():
    """The folder in which files of models lie."""
    if _folder is not None:
        return _folder
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", f"{cache}/torch")), "hub")


def set_dir(d):
    """Has that folder be another one."""
    global _folder
    _folder = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Raises: nothing is downloaded."""
    raise RuntimeError(
        message("hub.download_url_to_file", "nothing is downloaded",
                f"{url}, hash_prefix={hash_prefix}, progress={progress}", f"the file {dst}")
    )  # fmt: skip


def load(repo_or_dir, model, *args, **keywords):
    """Raises: what it would download can be imported where it lies in a folder."""
    raise RuntimeError(
        message("hub.load", "nothing is downloaded", f"{repo_or_dir}, {model}", "an import")
    )


def __getattr__(name):
    return _missing("torch.hub", name)
