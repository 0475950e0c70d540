"""Which modules are the user's own, and the finder that compiles them with their
imports rewritten.
"""

import importlib.machinery
import os
import site
import sys
import types

from .. import loops
from . import kinds, packages
from .rewrite import compile_user, original, replacement

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _installed_folders():
    """Folders whose modules belong to Python or to installed packages."""
    # The folder of `os` is the standard library; sysconfig would cost 10 ms to say so.
    folders = {os.path.dirname(os.__file__), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        folders.add(site.getusersitepackages())
    folders.add(_PACKAGE)
    return tuple({os.path.realpath(folder) + os.sep for folder in folders})


_installed = _installed_folders()


def is_user_file(file):
    """Whether a source file is the user's own, rather than Python's or an installed package's."""
    if not file or file.startswith("<"):
        return bool(file) and file.startswith(("<string", "<stdin", "<ipython"))
    path = os.path.realpath(file)
    parts = path.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return False
    return not path.startswith(_installed)


class UserLoader(importlib.machinery.SourceFileLoader):
    """Compiles a user's module with rewritten imports; its bytecode is not cached with the plain
    one.
    """

    def get_code(self, fullname):
        """The rewritten code of the module."""
        path = self.get_filename(fullname)
        return compile_user(self.get_data(path), path)


class AdaptedLoader:
    """A module's own loader, with `adapt` of the module after it has run."""

    def __init__(self, loader, adapt):
        self._loader, self._adapt = loader, adapt

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        """What the module's own loader makes."""
        return self._loader.create_module(spec)

    def exec_module(self, module):
        """Runs the module, then adapts it."""
        self._loader.exec_module(module)
        module.__loader__ = module.__spec__.loader = self._loader
        self._adapt(module)


class UserFinder:
    """Finds modules as usual and gives the user's own ones the loader above."""

    def find_spec(self, name, path=None, target=None):
        """The spec of a user's source module, else None."""
        if name.partition(".")[0] in ("numbus", "numpy"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        if name == "pandas":
            from . import frames  # only for scripts that import pandas

            spec.loader = AdaptedLoader(spec.loader, lambda _: frames.adapt())
            return spec
        if name.startswith("scipy.") and loops.of_scipy().are_in(name):
            spec.loader = AdaptedLoader(spec.loader, loops.of_scipy().adapt)
            return spec
        if not is_user_file(spec.origin):
            return None
        spec.loader = UserLoader(spec.loader.name, spec.loader.path)
        spec.cached = None
        return spec


# What programs can do without some modules.
_INSTEAD = {
    "torch.utils.tensorboard": "tensorboardX's SummaryWriter, which needs no PyTorch (pip install"
    " tensorboardX), or print() and matplotlib",
    "torch.utils.benchmark": "timeit, with torch.cuda.synchronize() at the end of what is timed",
    "torch.utils.bottleneck": "`python -m cProfile`",
    "torch.utils.cpp_extension": "numba.njit or numba.cuda.jit functions, or cupy.RawKernel",
    "torch.onnx": "torch.save of the state_dict(), exported where PyTorch is installed",
    "torch.sparse": "dense tensors, or scipy.sparse",
}


class Unserved:
    """Asked last: says which module of CuPy or Numba it is that is not served."""

    def find_spec(self, name, path=None, target=None):
        """Raises ModuleNotFoundError for submodules of theirs that we have not."""
        package = name.partition(".")[0]
        stands_in = package in sys.modules and sys.modules[package] is sys.modules.get(
            replacement(package)
        )
        theirs = name if stands_in and "." in name else original(name)
        if theirs is not None:
            package = theirs.partition(".")[0]
            raise ModuleNotFoundError(
                f"[{package}] a module that Numbus does not serve yet; got {theirs}; expected "
                f"{_INSTEAD.get(theirs, 'one of those in docs/compat.md')}",
                name=theirs,
            )
        return None


def install():
    """Puts the finders in their places; harmless when repeated."""
    kinds.install()
    if not any(isinstance(finder, UserFinder) for finder in sys.meta_path):
        sys.meta_path[:0] = [UserFinder(), packages.Finder()]
        sys.meta_path.append(Unserved())


def new_main(file, name="__main__"):
    """A fresh module for the script, in place of the runner's own `__main__`."""
    module = types.ModuleType(name)
    module.__builtins__ = sys.modules["builtins"]
    module.__spec__ = None
    if not file.startswith("<"):
        module.__file__ = file
        module.__cached__ = None
    return module
