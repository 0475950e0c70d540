"""torchvision's names: data sets from local files, transforms of pictures, grids of pictures.

What `import torchvision` gives in a script that Numbus runs; what is not served names the line.
"""

import importlib as _importlib

from .._missing import missing as _missing

__name__ = "torchvision"
__version__ = "0.26.0+numbus"
_HERE = ("datasets", "io", "transforms", "utils")


def __getattr__(name):
    if name in _HERE:
        return _importlib.import_module(f"{__package__}.{name}")
    return _missing("torchvision", name)
