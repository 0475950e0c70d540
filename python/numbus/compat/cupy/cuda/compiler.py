"""cupy.cuda.compiler: the error of CUDA C++ that does not compile."""

from ..._missing import getter

__name__ = "cupy.cuda.compiler"


class CompileException(RuntimeError):
    """CUDA C++ that does not compile; the text is the compiler's log."""


__getattr__ = getter(__name__)
