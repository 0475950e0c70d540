"""numbus.fft: NumPy's transforms (pocketfft) on zero-copy views, as library calls."""

import numpy.fft as _numpy_fft

from ._fallback import make as _make

__all__ = list(_numpy_fft.__all__)

for _name in __all__:
    _value = getattr(_numpy_fft, _name)
    globals()[_name] = _value if isinstance(_value, type) else _make(_name, _value, counted=False)
del _name, _value
