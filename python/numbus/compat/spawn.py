"""Processes that multiprocessing spawns: they run the script again, and must see
Numbus there too.
"""

import sys

from .. import loops
from . import loader
from .rewrite import compile_user


class _Install:
    """Travels to the child and unpickles as a call that prepares it."""

    def __reduce__(self):
        return prepare_child, (loops.is_enabled(),)


def prepare_child(compiles_loops):
    """In the child, before it loads the script: user modules get Numbus."""
    import multiprocessing.spawn as spawn

    loader.install()
    if compiles_loops:
        loops.install()

    def run_main(path):
        if spawn.__dict__.get("_numbus_main") == path:
            return
        spawn._numbus_main = path
        module = loader.new_main(path, "__mp_main__")
        with open(path, "rb") as stream:
            code = compile_user(stream.read(), path)
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
        exec(code, module.__dict__)

    spawn._fixup_main_from_path = run_main


def install():
    """Makes the parent send the preparation along, once multiprocessing is in use."""
    if "multiprocessing.spawn" in sys.modules:
        _patch(sys.modules["multiprocessing.spawn"])
    else:
        sys.meta_path.insert(0, _Watcher())


def _patch(spawn):
    original = spawn.get_preparation_data

    def get_preparation_data(name):
        # First in the dictionary, hence unpickled before anything that refers to the script.
        return {"numbus": _Install(), **original(name)}

    spawn.get_preparation_data = get_preparation_data


class _Watcher:
    """Patches multiprocessing.spawn right after its first import, so that nobody else
    pays for it.
    """

    def find_spec(self, name, path=None, target=None):
        if name != "multiprocessing.spawn":
            return None
        sys.meta_path.remove(self)
        import importlib.util

        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            _patch(module)

        spec.loader.exec_module = exec_module
        return spec
