"""numbus.types: the types of compiled functions, for `from numbus.types import float64, int32`."""

import sys

from .kernels import types

sys.modules[__name__] = types
