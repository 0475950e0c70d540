"""torchvision.io: pictures of files as tensors of bytes, by Pillow."""

import enum
import io as _io
import os

import numpy

from ...core.errors import message
from ...core.operands import adopt
from ...data.readers.files import pillow
from ...tensors import Tensor
from ...tensors._tensor import wrap
from .._missing import missing as _missing

__all__ = ["ImageReadMode", "decode_image", "read_image", "write_jpeg", "write_png"]


class ImageReadMode(enum.Enum):
    """Which channels a picture is read with."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_MODES = {"GRAY": "L", "GRAY_ALPHA": "LA", "RGB": "RGB", "RGB_ALPHA": "RGBA"}


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """A picture as uint8 of (channels, height, width).

    input: a path, or the bytes of a file as a tensor of uint8; mode: an ImageReadMode or its name.
    Raises ValueError for another mode.
    """
    op = "decode_image"
    if isinstance(input, Tensor):
        source = _io.BytesIO(input._array.to_numpy().tobytes())
    else:
        source = os.fspath(input)
    name = mode.name if isinstance(mode, ImageReadMode) else str(mode).upper()
    if name != "UNCHANGED" and name not in _MODES:
        raise ValueError(message(op, "mode", mode, "a name of ImageReadMode"))
    image = pillow(op)
    with image.open(source) as picture:
        if apply_exif_orientation:
            from PIL import ImageOps

            picture = ImageOps.exif_transpose(picture)
        if name != "UNCHANGED":
            picture = picture.convert(_MODES[name])
        elif picture.mode not in ("L", "LA", "RGB", "RGBA"):
            picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
        a = numpy.array(picture)
    a = a[None] if a.ndim == 2 else numpy.ascontiguousarray(a.transpose(2, 0, 1))
    return wrap(adopt(a))


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """decode_image() of a path."""
    return decode_image(path, mode, apply_exif_orientation)


def _written(op, input, filename, **words):
    a = input._array.to_numpy()
    if a.dtype != numpy.uint8 or a.ndim != 3 or a.shape[0] not in (1, 3):
        raise ValueError(
            message(op, "no picture", f"{a.dtype} of shape {a.shape}",
                    "uint8 of (1 or 3, height, width)")
        )  # fmt: skip
    a = a[0] if a.shape[0] == 1 else numpy.ascontiguousarray(a.transpose(1, 2, 0))
    pillow(op).fromarray(a).save(filename, **words)


def write_png(input, filename, compression_level=6):
    """Writes uint8 of (1 or 3, height, width); ValueError for other tensors."""
    _written("write_png", input, filename, format="PNG", compress_level=compression_level)


def write_jpeg(input, filename, quality=75):
    """Writes uint8 of (1 or 3, height, width); ValueError for other tensors."""
    _written("write_jpeg", input, filename, format="JPEG", quality=quality)


def __getattr__(name):
    return _missing("torchvision.io", name)
