"""NumPy's and Numbus's numbers, arrays and functions, which hot loops know once they are loaded."""

import sys

import numpy

from .. import _core
from ..core.compiling import explained
from . import background, functions, held, numbers


def note():
    """Has hot loops compute with them: the core, NumPy, and who is to be told of entries."""
    package = sys.modules[__package__.partition(".")[0]]
    numbers.use(numpy)
    held.use(_core, package, numpy)
    background.use(_core, numpy)
    functions.note_known(numpy=numpy, numbus=package)
    return _core, numpy, explained
