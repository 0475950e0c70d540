"""numba.core.errors: what programs catch and filter. Compiling raises Numbus's CompileError and
UnsupportedError, under Numba's names for them."""

from numbus.kernels import CompileError, UnsupportedError

__name__ = "numba.core.errors"

NumbaError = TypingError = LoweringError = CompilerError = CompileError
NumbaTypeError = NumbaValueError = NumbaAttributeError = LiteralTypingError = CompileError
IRError = NotDefinedError = RedefinedError = ForbiddenConstruct = RequireLiteralValue = CompileError
NumbaNotImplementedError = UnsupportedBytecodeError = UnsupportedError
NumbaRuntimeError = RuntimeError


class NumbaWarning(Warning):
    """Numba's warnings: none of them is given here."""


def _warning(name, *bases):
    return type(
        name, (NumbaWarning, *bases), {"__doc__": "Not given here.", "__module__": __name__}
    )


NumbaPerformanceWarning = _warning("NumbaPerformanceWarning")
NumbaDeprecationWarning = _warning("NumbaDeprecationWarning", DeprecationWarning)
NumbaPendingDeprecationWarning = _warning(
    "NumbaPendingDeprecationWarning", PendingDeprecationWarning
)
NumbaParallelSafetyWarning = _warning("NumbaParallelSafetyWarning")
NumbaTypeSafetyWarning = _warning("NumbaTypeSafetyWarning")
NumbaExperimentalFeatureWarning = _warning("NumbaExperimentalFeatureWarning")
NumbaInvalidConfigWarning = _warning("NumbaInvalidConfigWarning")
NumbaPedanticWarning = _warning("NumbaPedanticWarning")
NumbaDebugInfoWarning = _warning("NumbaDebugInfoWarning")
NumbaSystemWarning = _warning("NumbaSystemWarning")

__all__ = [n for n in dict(globals()) if n[0] in "CFILNRTU" and n != "CompileError"]
