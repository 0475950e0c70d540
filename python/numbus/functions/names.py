"""NumPy's names as composed functions use them: the ufuncs, the registered functions and those in
the `__all__` of the subjects.

`from . import names as np` in a module of functions; what is asked for is looked up once.
"""

import importlib

import numpy

from .. import _core
from ..core import dtypes
from ..core.ufuncs import UFUNCS
from .registry import ROWS

# Whether the body that asks is being compiled; compiled functions have True here.
compiled = False


def is_known(value):
    """Whether a compiled function knows a number, or None, while it is compiled."""
    return value is value


is_known._kernel_name = "numbus is known"


def not_yet(what, instead=""):
    """Where a function is compiled for what it does not know: UnsupportedError, which names the
    line and what to write instead.
    """
    raise NotImplementedError(what)


not_yet._kernel_name = "numbus not yet"

subjects = ()  # the modules of functions, once all are imported

_CONSTANTS = frozenset("e euler_gamma inf nan newaxis pi".split())
# Questions about types and shapes, which look at no elements.
_QUESTIONS = frozenset("can_cast result_type promote_types broadcast_shapes finfo iinfo".split())


def __getattr__(name):
    value = UFUNCS.get(name)
    if value is None and f"np.{name}" in ROWS:
        value = ROWS[f"np.{name}"].function
    if value is None:
        for module in subjects:
            if name in module.__all__:
                value = getattr(module, name)
                if hasattr(value, "quick"):
                    value = _core.composed(value)  # which answers plain calls without Python
                break
    if value is None and name == "linalg":
        value = importlib.import_module("numbus.linalg")
    if value is None:
        given = getattr(numpy, name, None)
        of_types = isinstance(given, type) and issubclass(given, numpy.generic)
        if name in _QUESTIONS:
            value = getattr(dtypes, name, given)
        elif of_types or name in _CONSTANTS:
            value = given
    if value is None:
        raise AttributeError(f"numbus.functions.names has no {name!r}")
    globals()[name] = value
    return value
