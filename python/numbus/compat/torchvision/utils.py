"""torchvision.utils: many pictures as one, and files of pictures."""

import math

import numpy

from ...core.errors import message
from ...data.readers.files import pillow
from ...tensors import Tensor, cat, full, no_grad, stack
from .._missing import missing as _missing

__all__ = ["make_grid", "save_image"]


@no_grad()
def make_grid(
    tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0
):
    """Pictures side by side: (3, height, width) of a tensor (N, C, H, W) or a list of (C, H, W).

    nrow: pictures a row; padding: points between them, of pad_value; normalize: to 0 … 1 from
    value_range, or from the least and largest value of all pictures, or of each with scale_each.
    Pictures of one channel become grey. Raises TypeError for what is no tensor, ValueError for
    another number of axes.
    """
    op = "make_grid"
    given = tensor
    if isinstance(given, (list, tuple)) and all(isinstance(t, Tensor) for t in given):
        given = stack(list(given))
    if not isinstance(given, Tensor):
        raise TypeError(
            message(op, "no tensor, nor a list of them", type(tensor).__name__, "a tensor")
        )
    if not 2 <= given.ndim <= 4:
        raise ValueError(message(op, "axes", tuple(given.shape), "(N, C, H, W)"))
    if given.ndim < 4:
        given = given.reshape((1,) * (4 - given.ndim) + tuple(given.shape))
    if given.shape[1] == 1:
        given = cat([given] * 3, dim=1)
    if normalize:
        given = given.clone()
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError(message(op, "value_range", value_range, "a tuple (least, largest)"))
        parts = [given[k] for k in range(given.shape[0])] if scale_each else [given]
        for t in parts:
            low, high = value_range or (float(t.min()), float(t.max()))
            t.clamp_(low, high).sub_(low).div_(max(high - low, 1e-5))
    count, channels, height, width = given.shape
    if count == 1:
        return given[0]
    across = min(nrow, count)
    down = math.ceil(count / across)
    height, width = height + padding, width + padding
    shape = (channels, height * down + padding, width * across + padding)
    grid = full(shape, pad_value, dtype=given.dtype, device=given.device)
    for k in range(count):
        y, x = k // across * height + padding, k % across * width + padding
        grid[:, y : y + height - padding, x : x + width - padding] = given[k]
    return grid


@no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    """Writes the grid of pictures, of 0 to 1, to a file; keywords are those of make_grid()."""
    grid = make_grid(tensor, **kwargs)
    a = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0)._array.to_numpy()
    image = pillow("save_image").fromarray(numpy.ascontiguousarray(a.astype(numpy.uint8)))
    image.save(fp, format=format)


def __getattr__(name):
    return _missing("torchvision.utils", name)
