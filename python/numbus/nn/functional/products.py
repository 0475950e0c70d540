"""Products with weights."""

from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ...tensors.distances import pdist
from ._shared import array, floating

__all__ = ["bilinear", "linear", "pdist"]


@pure_function
def linear(input, weight, bias=None):
    """input @ weight.T + bias; input: (..., in), weight: (out, in) or (in), bias: (out).

    Raises ValueError for extents that do not fit.
    """
    x, w = floating("linear", input), floating("linear", weight, "weight")
    if x.ndim == 0 or w.ndim not in (1, 2) or x.shape[-1] != w.shape[-1]:
        raise ValueError(
            message("linear", f"input does not fit weight of shape {w.shape}",
                    f"input of shape {x.shape}", f"(..., {w.shape[-1] if w.ndim else 1})")
        )  # fmt: skip
    y = np.matmul(x, w.T if w.ndim == 2 else w)
    if bias is None:
        return y
    b = array("linear", bias, "bias")
    if b.shape not in ((), w.shape[:-1], (1,)):
        raise ValueError(
            message("linear", f"bias does not fit weight of shape {w.shape}", b.shape, w.shape[:-1])
        )
    return y + b


@pure_function
def bilinear(input1, input2, weight, bias=None):
    """input1 · weight[k] · input2 + bias[k]; weight: (out, in1, in2)."""
    a, b = floating("bilinear", input1), floating("bilinear", input2, "input2")
    w = floating("bilinear", weight, "weight")
    if w.ndim != 3 or a.shape[-1:] + b.shape[-1:] != w.shape[1:] or a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            message("bilinear", f"inputs do not fit weight of shape {w.shape}",
                    f"{a.shape} and {b.shape}", "(..., in1) and (..., in2)")
        )  # fmt: skip
    y = np.einsum("...i,kij,...j->...k", a, w, b)
    return y if bias is None else y + array("bilinear", bias, "bias")
