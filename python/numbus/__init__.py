"""Numbus: NumPy arrays recorded, fused and compiled, on a CPU or an NVIDIA GPU.

`import numbus as nb` gives NumPy's namespace. What Numbus has no implementation for is done by
NumPy and counted as a fallback (`nb.stats()`, `python -m numbus --report`).
"""

import sys as _sys

from . import _late

if _late.is_runner():
    _late.wait(_sys.modules[__name__])
else:
    from . import _namespace  # noqa: F401 - which puts its names here
