"""The part of the core that needs neither NumPy nor the core's arrays (bindings/kept.cpp)."""

import _frozen_importlib
import _imp
import math
import os
import sys

from .. import _loops


def _loaded():
    """The module `_kept`, which lies in the same library as `_core`."""
    name = f"{_loops.__name__.rpartition('.')[0]}._kept"
    if name in sys.modules:
        return sys.modules[name]
    folder = os.path.dirname(_loops.__file__)
    for suffix in _imp.extension_suffixes():
        path = os.path.join(folder, f"_core{suffix}")
        if os.path.exists(path):
            spec = _frozen_importlib.ModuleSpec(name, None, origin=path)
            module = _imp.create_dynamic(spec)
            _imp.exec_dynamic(module)
            sys.modules[name] = module
            return module
    raise ImportError(f"no library of the core; got nothing in {folder}; expected _core")


_kept = _loaded()
_CODES = {"i": "l", "f": "d", "b": "?"}  # of memoryviews


def memory(kind, *extents):
    """Memory of these extents, not set, for numbers of one kind: int64, float64 or bool."""
    size = 1 if kind == "b" else 8
    return memoryview(_kept.room(math.prod(extents) * size)).cast(_CODES[kind], extents)
