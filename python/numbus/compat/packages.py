"""PyTorch's names for installed packages that a program of the runner uses (einops, torchinfo and
the like): they import `torch` themselves, and their source is not rewritten.

Where PyTorch is not installed and the program has imported its names, they get those that the
program has. Where it is installed, packages have PyTorch, as without the runner.
"""

import importlib.machinery
import importlib.util
import sys

from .rewrite import REPLACED, replacement

_SERVED = ("torch", "torchvision")


def stand_in(name):
    """Gives installed packages the module of ours for `torch` or `torchvision`, if the runner is at
    work and no such package is installed.
    """
    if name in sys.modules or not any(type(f) is Finder for f in sys.meta_path):
        return
    if importlib.machinery.PathFinder.find_spec(name) is None:
        sys.modules[name] = sys.modules[REPLACED[name]]


class _Loader:
    """Hands out a module that exists, and leaves it what it was."""

    def __init__(self, ours):
        self._ours = ours

    def create_module(self, _spec):
        module = importlib.import_module(self._ours)
        self._own = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module):
        module.__spec__, module.__loader__ = self._own


class Finder:
    """Finds `torch.nn` and its kin for packages where `torch` is ours."""

    def find_spec(self, name, path=None, target=None):
        """The spec of a module of ours, else None."""
        package = name.partition(".")[0]
        if package not in _SERVED:
            return None
        if package == name:
            # torchvision, of a program that has imported torch only
            if name in sys.modules or "torch" not in sys.modules:
                return None
            if sys.modules["torch"] is not sys.modules.get(REPLACED["torch"]):
                return None
            if importlib.machinery.PathFinder.find_spec(name) is not None:
                return None
        elif sys.modules.get(package) is not sys.modules.get(REPLACED[package], self):
            return None
        ours = replacement(name)
        try:
            found = importlib.util.find_spec(ours) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(ours), is_package=True)
