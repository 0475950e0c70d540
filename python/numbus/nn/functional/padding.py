"""Borders of constants, of the nearest elements, mirrored, or from the other end."""

from ...core.errors import message
from ...functions import names as np
from ...tensors import pure_function
from ._shared import along, array

__all__ = ["pad"]

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pure_function
def pad(input, pad, mode="constant", value=None):
    """`input` with borders; pad: (before, after) of the last axis, then of the one before it, ….

    mode: 'constant' (of `value`, 0 unless given), 'reflect' (without the edge), 'replicate' or
    'circular'. Negative numbers cut off. Raises ValueError for borders that are longer than what
    they are made of, and for other modes; value with another mode than 'constant' is an error.
    """
    x = array("pad", input)
    numbers = tuple(int(n) for n in pad)
    if len(numbers) % 2 or len(numbers) // 2 > x.ndim:
        raise ValueError(
            message("pad", f"not pairs for the axes of input of shape {x.shape}", numbers,
                    f"an even number of ints, at most {2 * x.ndim}")
        )  # fmt: skip
    pairs = [(numbers[k], numbers[k + 1]) for k in range(len(numbers) - 2, -2, -2)]
    widths = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    for axis, (before, after) in enumerate(widths):
        if before < 0 or after < 0:
            n = x.shape[axis]
            if n + min(before, 0) + min(after, 0) < 0:
                raise ValueError(message("pad", "more is cut off than there is", numbers, "less"))
            x = x[along(x.ndim, axis, slice(max(-before, 0), n - max(-after, 0)))]
    widths = [(max(before, 0), max(after, 0)) for before, after in widths]
    if mode == "constant":
        return np.pad(x, widths, "constant", constant_values=0 if value is None else value)
    if mode not in _MODES:
        expected = "'constant', 'reflect', 'replicate' or 'circular'"
        raise ValueError(message("pad", "mode not known", repr(mode), expected))
    if value not in (None, 0):
        raise ValueError(message("pad", f"mode {mode!r} takes no value", value, "None"))
    for n, (before, after) in zip(x.shape, widths):
        most = {"reflect": n - 1, "circular": n, "replicate": before + after if n else 0}[mode]
        if before > most or after > most:
            raise ValueError(
                message("pad", f"borders too long for mode {mode!r} and input of shape {x.shape}",
                        numbers, f"at most {most}")
            )  # fmt: skip
    return np.pad(x, widths, _MODES[mode])
