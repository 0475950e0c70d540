"""cupy.lib: stride_tricks."""

from ..._missing import getter
from . import stride_tricks  # noqa: F401 – a name for users

__name__ = "cupy.lib"
__getattr__ = getter(__name__)


def __dir__():
    return ["stride_tricks"]
