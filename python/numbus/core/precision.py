"""How precisely products and convolutions of float32 are computed on a GPU."""

from .. import _core
from .errors import message

__all__ = ["get_float32_matmul_precision", "set_float32_matmul_precision"]

_LEVELS = ("highest", "high", "medium")
_level = "highest"


def set_float32_matmul_precision(precision):
    """Sets how precisely products and convolutions of float32 are computed on a GPU.

    Parameters
    ----------
    precision : {"highest", "high", "medium"}
        "highest", which holds at first, is float32. The others allow TF32: the tensor cores take
        operands rounded to 10 bits of mantissa (relative error 2**-11) and sum in float32. What is
        recorded from now on follows; a CPU computes in float32 whatever is set.

    Raises
    ------
    ValueError
        Another word.

    Notes
    -----
    The name and the levels are PyTorch's, whose convolutions use TF32 unless it is switched off.
    """
    global _level
    if precision not in _LEVELS:
        raise ValueError(
            message(
                "set_float32_matmul_precision", "unknown precision", precision,
                "'highest', 'high' or 'medium'",
            )
        )  # fmt: skip
    _level = precision
    _core.set_tf32(precision != "highest", precision != "highest")


def get_float32_matmul_precision():
    """What products of float32 are allowed: 'highest', 'high' or 'medium'."""
    products, _ = _core.tf32()
    return "highest" if not products else "high" if _level == "highest" else _level
