"""numbus.vectorize: compiled where that is possible, with NumPy's options and any callable."""

import types

import numpy

from ..core.fallback import Vectorize as OfNumPy
from ..core.operands import SUPPORTED
from ._dispatch import Dispatcher, callable_function
from ._errors import CompileError
from ._resolve import program
from ._vectorize import DUFunc, check_options
from ._vectorize import vectorize as compiled

_NUMPYS = frozenset("pyfunc otypes doc excluded".split())


class Vectorized(DUFunc):
    """A function of numbers as one of arrays, which NumPy calls by element if it does not compile;
    each such call is counted as a fallback.
    """

    _slow = None

    def __call__(self, *args, **kwargs):
        plain = kwargs.keys() <= {"out", "where", "dtype", "casting"}
        if len(args) < self.nin and getattr(self.py_func, "__defaults__", None):
            plain = False
        if plain and self._slow is None and not any(map(_is_numpys, args)):
            try:
                with program.refusing_arrays():  # as NumPy's, it sees their later changes
                    return super().__call__(*args, **kwargs)
            except CompileError:
                self._slow = OfNumPy(self.py_func)
        return (self._slow or OfNumPy(self.py_func))(*args, **kwargs)


def _is_numpys(value):
    """Whether only NumPy can hold this operand: texts, dates, objects."""
    if isinstance(value, (str, bytes, list, tuple)):
        value = numpy.asarray(value)
    return isinstance(value, numpy.ndarray) and value.dtype not in SUPPORTED


def vectorize(function=None, *more, **options):
    """Makes a function of numbers one of arrays, which broadcast: compiled, as Numba's vectorize
    (signatures, target, identity, fastmath), which see; or as numpy.vectorize does.

    otypes, doc, excluded, and a signature of lines such as '(n),(n)->()': the function is called in
    Python for each element, as NumPy does it. So is what is no function of Python's, and what does
    not compile without signatures. These calls are counted as fallbacks. Raises TypeError for
    options that neither has.
    """
    lines = options.get("signature")
    if more or options.keys() & _NUMPYS or (isinstance(lines, str) and "->" in lines):
        return OfNumPy(*(() if function is None else (function,)), *more, **options)
    if function is None or not callable_function(function):
        return compiled(function, **options)
    if not isinstance(function, (types.FunctionType, Dispatcher)):
        return OfNumPy(function, **options)
    identity, target = options.pop("identity", None), options.pop("target", "cpu")
    check_options("vectorize", options)
    return Vectorized(function, [], identity, target, options)
