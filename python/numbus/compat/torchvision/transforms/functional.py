"""torchvision.transforms.functional: pictures of Pillow and tensors (…, C, H, W), changed."""

import enum
import numbers

import numpy

from ....core.array_type import ndarray as _any_array
from ....core.dtypes import kind_of
from ....core.errors import message
from ....core.operands import adopt
from ....data.readers.files import pillow
from ....nn.functional import interpolate
from ....nn.functional import pad as _padded
from ....tensors import Tensor, _dtypes, cat
from ....tensors import tensor as _tensor
from ....tensors._tensor import wrap
from ..._missing import missing as _missing

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_saturation", "center_crop",
    "convert_image_dtype", "crop", "get_dimensions", "get_image_num_channels", "get_image_size",
    "hflip", "normalize", "pad", "pil_to_tensor", "resize", "resized_crop", "rgb_to_grayscale",
    "rotate", "to_grayscale", "to_pil_image", "to_tensor", "vflip",
]  # fmt: skip


class InterpolationMode(enum.Enum):
    """How values between points are found."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PILLOW = {
    "nearest": 0, "nearest-exact": 0, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5,
    "lanczos": 1,
}  # fmt: skip
_BY_NUMBER = {0: "nearest", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming", 1: "lanczos"}


def _mode(op, given):
    """The word for a mode, which may be an InterpolationMode or Pillow's number."""
    word = given.value if isinstance(given, InterpolationMode) else _BY_NUMBER.get(given)
    if word is None:
        raise TypeError(message(op, "interpolation", given, "an InterpolationMode"))
    return word


def _is_picture(x):
    return isinstance(x, pillow("transforms").Image)


def _checked(op, x):
    """Whether it is a tensor, and not a picture of Pillow. TypeError for neither."""
    if isinstance(x, Tensor):
        if x.ndim < 2:
            raise TypeError(
                message(op, "tensor is not a torch image", tuple(x.shape), "(…, C, H, W)")
            )
        return True
    if not _is_picture(x):
        raise TypeError(
            message(op, "no picture", type(x).__name__, "a picture of Pillow or a tensor")
        )
    return False


def get_dimensions(img):
    """[channels, height, width] of a picture."""
    if _checked("get_dimensions", img):
        return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]
    return [len(img.getbands()), img.height, img.width]


def get_image_size(img):
    """[width, height] of a picture."""
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img):
    """How many channels a picture has."""
    return get_dimensions(img)[0]


def _elements(op, pic):
    """A picture, or an array (H, W) or (H, W, C), as an array of NumPy (C, H, W)."""
    if isinstance(pic, Tensor) or not (_is_picture(pic) or isinstance(pic, _any_array)):
        raise TypeError(
            message(op, "pic should be PIL Image or ndarray", type(pic).__name__, "one of these")
        )
    if _is_picture(pic) and pic.mode == "1":
        a = numpy.asarray(pic.convert("L"))
    else:
        a = numpy.asarray(pic)
    if a.ndim not in (2, 3):
        raise ValueError(message(op, "pic should be 2/3 dimensional", f"{a.ndim} axes", "2 or 3"))
    if a.ndim == 2:
        return a[None]
    return a.transpose(2, 0, 1)


def to_tensor(pic):
    """A picture of Pillow, or an array (H, W, C), as a tensor (C, H, W): bytes become 0 to 1.

    Pictures of 32-bit integers, 16-bit integers or floats, and arrays of other dtypes, keep their
    numbers. Raises TypeError for anything else.
    """
    a = _elements("to_tensor", pic)
    if a.dtype != numpy.uint8:
        return wrap(adopt(numpy.array(a, order="C")))
    kind = _dtypes.default_float()
    return wrap(adopt(numpy.array(a, dtype=kind, order="C") / kind.type(255)))


def pil_to_tensor(pic):
    """A picture of Pillow as a tensor (C, H, W) of its own numbers."""
    if not _is_picture(pic):
        raise TypeError(
            message("pil_to_tensor", "pic should be PIL Image", type(pic).__name__, "a picture")
        )
    return wrap(adopt(numpy.array(_elements("pil_to_tensor", pic), order="C")))


def to_pil_image(pic, mode=None):
    """A tensor (C, H, W) or an array (H, W, C) as a picture of Pillow; floats of 0 to 1 as bytes.

    Raises ValueError for other axes or channels, TypeError for other types.
    """
    op = "to_pil_image"
    if isinstance(pic, Tensor):
        a = pic.detach()._array.to_numpy()
        if a.ndim not in (2, 3):
            raise ValueError(message(op, "pic should be 2/3 dimensional", f"{a.ndim} axes", "2, 3"))
        if kind_of(a.dtype) == "f" and mode != "F":
            a = (a * a.dtype.type(255)).astype(numpy.uint8)
        a = a if a.ndim == 2 else a.transpose(1, 2, 0)
    elif isinstance(pic, _any_array):
        a = numpy.asarray(pic)
    else:
        raise TypeError(
            message(op, "pic should be Tensor or ndarray", type(pic).__name__, "one of these")
        )
    if a.ndim == 3 and a.shape[2] == 1:
        a = a[:, :, 0]
    if a.ndim not in (2, 3) or (a.ndim == 3 and a.shape[2] > 4):
        raise ValueError(message(op, "channels", a.shape, "1 to 4 channels"))
    image = pillow(op).fromarray(numpy.ascontiguousarray(a))
    return image if mode is None or mode == image.mode else image.convert(mode)


def convert_image_dtype(image, dtype=_dtypes.float32):
    """A tensor in another dtype, with its values scaled: 0 to 1 of floats, 0 to the largest value
    of integers. Raises RuntimeError where floats do not hold the integers.
    """
    op = "convert_image_dtype"
    old, new = image.dtype, dtype
    if old is new:
        return image
    if old.is_floating_point:
        if new.is_floating_point:
            return image.to(new)
        if (old is _dtypes.float32 and new in (_dtypes.int32, _dtypes.int64)) or (
            old is _dtypes.float64 and new is _dtypes.int64
        ):
            raise RuntimeError(
                message(op, "the cast cannot be performed safely", f"{old} to {new}", "fewer bits")
            )
        return image.mul(_dtypes.iinfo(new).max + 1.0 - 1e-3).to(new)
    most = _dtypes.iinfo(old).max
    if new.is_floating_point:
        return image.to(new) / most
    most_new = _dtypes.iinfo(new).max
    if most > most_new:
        factor = (most + 1) // (most_new + 1)
        return image.div(factor, rounding_mode="floor").to(new)
    return image.to(new) * ((most_new + 1) // (most + 1))


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std for each channel of (…, C, H, W), in place if asked.

    Raises TypeError for what is no tensor of floats, ValueError for a deviation of 0 and for fewer
    than three axes.
    """
    op = "normalize"
    if not isinstance(tensor, Tensor):
        raise TypeError(
            message(op, "img should be Tensor Image", type(tensor).__name__, "a tensor")
        )
    if not tensor.is_floating_point():
        raise TypeError(message(op, "should be a float tensor", tensor.dtype, "floats"))
    if tensor.ndim < 3:
        raise ValueError(message(op, "axes", tuple(tensor.shape), "(…, C, H, W)"))
    kind = tensor.dtype

    def line(numbers):
        t = numbers if isinstance(numbers, Tensor) else _tensor(numbers, dtype=kind)
        t = t.to(dtype=kind, device=tensor.device)
        return t.reshape(-1, 1, 1) if t.ndim == 1 else t

    low, scale = line(mean), line(std)
    if (scale == 0).any():
        raise ValueError(message(op, "std evaluated to zero, leading to division by zero", std,
                                 "deviations above 0"))  # fmt: skip
    if inplace:
        return tensor.sub_(low).div_(scale)
    return (tensor - low) / scale


def _wanted(op, height, width, size, max_size):
    """(height, width) that a picture is resized to."""
    sizes = [size] if isinstance(size, int) else list(size)
    if len(sizes) not in (1, 2):
        raise ValueError(message(op, "size", size, "an int or a sequence of 1 or 2"))
    if len(sizes) == 2:
        if max_size is not None:
            raise ValueError(message(op, "max_size with two sizes", max_size, "None"))
        return tuple(sizes)
    (short,) = sizes
    low, high = min(height, width), max(height, width)
    longer = int(short * high / low)
    if max_size is not None:
        if max_size <= short:
            raise ValueError(message(op, "max_size", max_size, f"more than size {short}"))
        if longer > max_size:
            short, longer = int(max_size * short / longer), max_size
    return (longer, short) if width <= height else (short, longer)


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """A picture of another size: (height, width), or an int for the shorter edge.

    Tensors by 'nearest', 'nearest-exact', 'bilinear' or 'bicubic', where `antialias` has each point
    be a mean over all that it stands for; pictures of Pillow always are. Raises ValueError for
    other modes of tensors.
    """
    op = "resize"
    mode = _mode(op, interpolation)
    if not _checked(op, img):
        height, width = _wanted(op, img.height, img.width, size, max_size)
        if (height, width) == (img.height, img.width):
            return img
        return img.resize((width, height), _PILLOW[mode])
    if mode in ("box", "hamming", "lanczos"):
        raise ValueError(
            message(op, "interpolation of tensors", mode, "nearest, bilinear, bicubic")
        )
    extents = _wanted(op, *img.shape[-2:], size, max_size)
    if tuple(img.shape[-2:]) == extents:
        return img
    smooth = mode in ("bilinear", "bicubic")
    words = {"antialias": bool(antialias), "align_corners": False} if smooth else {}
    lead, kind = tuple(img.shape[:-2]), img.dtype
    x = img.reshape(1, -1, *img.shape[-2:])
    x = x if kind.is_floating_point else x.to(_dtypes.float32)
    x = interpolate(x, size=extents, mode=mode, **words)
    if not kind.is_floating_point:
        if smooth:
            x = x.clamp(0, 255) if kind is _dtypes.uint8 else x
            x = x.round()
        x = x.to(kind)
    return x.reshape(*lead, *extents)


def crop(img, top, left, height, width):
    """The crop whose upper left corner is (top, left); pixels outside of the picture are 0."""
    if not _checked("crop", img):
        return img.crop((left, top, left + width, top + height))
    rows, columns = img.shape[-2:]
    part = img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    sides = (
        max(min(-left, width), 0), max(left + width - max(columns, left), 0),
        max(min(-top, height), 0), max(top + height - max(rows, top), 0),
    )  # fmt: skip
    return _padded(part, sides) if any(sides) else part


def center_crop(img, output_size):
    """The middle part of a size (an int, or height and width), with zeros where it is larger."""
    if isinstance(output_size, numbers.Number):
        output_size = (int(output_size),) * 2
    elif len(output_size) == 1:
        output_size = (output_size[0],) * 2
    _, height, width = get_dimensions(img)
    rows, columns = output_size
    if columns > width or rows > height:
        across, down = max(columns - width, 0), max(rows - height, 0)
        img = pad(img, [across // 2, down // 2, (across + 1) // 2, (down + 1) // 2], fill=0)
        _, height, width = get_dimensions(img)
        if (rows, columns) == (height, width):
            return img
    top, left = round((height - rows) / 2.0), round((width - columns) / 2.0)
    return crop(img, top, left, rows, columns)


def resized_crop(
    img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True
):
    """crop(), then resize()."""
    part = crop(img, top, left, height, width)
    return resize(part, size, interpolation, antialias=antialias)


def hflip(img):
    """The picture with left and right exchanged."""
    return img.flip(-1) if _checked("hflip", img) else img.transpose(0)


def vflip(img):
    """The picture with top and bottom exchanged."""
    return img.flip(-2) if _checked("vflip", img) else img.transpose(1)


def pad(img, padding, fill=0, padding_mode="constant"):
    """The picture with more points at its edges.

    padding: an int, (left and right, top and bottom) or (left, top, right, bottom); padding_mode:
    'constant' (of fill), 'edge', 'reflect' or 'symmetric' (pictures of Pillow only). Raises
    ValueError for others.
    """
    op = "pad"
    sides = [padding] if isinstance(padding, numbers.Number) else list(padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(message(op, "padding", padding, "an int, or 1, 2 or 4 of them"))
    left, top, right, bottom = (int(n) for n in (sides * 4 if len(sides) == 1 else sides * 2)[:4])
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(
            message(op, "padding_mode", padding_mode, "constant, edge, reflect, symmetric")
        )
    if _checked(op, img):
        mode = {"edge": "replicate"}.get(padding_mode, padding_mode)
        if mode == "symmetric":
            raise NotImplementedError(
                message(op, "padding_mode symmetric of tensors is not there yet", mode, "reflect")
            )
        if mode == "constant":
            if min(left, top, right, bottom) < 0:
                raise NotImplementedError(
                    message(op, "negative padding is not there yet", padding, "crop()")
                )
            return _padded(img, (left, right, top, bottom), value=float(fill or 0))
        x = img.reshape(1, -1, *img.shape[-2:])
        x = _padded(x, (left, right, top, bottom), mode=mode)
        return x.reshape(*img.shape[:-2], *x.shape[-2:])
    if padding_mode == "constant":
        from PIL import ImageOps

        filling = tuple(fill) if isinstance(fill, (list, tuple)) else fill
        if isinstance(filling, int) and len(img.getbands()) > 1:
            filling = (filling,) * len(img.getbands())
        return ImageOps.expand(img, border=(left, top, right, bottom), fill=filling)
    if img.mode == "P":
        img = img.convert("RGB")
    a = numpy.asarray(img)
    extents = ((top, bottom), (left, right)) + ((0, 0),) * (a.ndim - 2)
    return pillow(op).fromarray(numpy.pad(a, extents, mode=padding_mode))


def rotate(
    img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None
):
    """A picture of Pillow turned by degrees against the clock, about its middle or `center`.

    Raises NotImplementedError for tensors.
    """
    if _checked("rotate", img):
        raise NotImplementedError(
            message("rotate", "tensors are not rotated yet", tuple(img.shape), "a Pillow picture")
        )
    filling = tuple(fill) if isinstance(fill, (list, tuple)) else fill
    if isinstance(filling, numbers.Number) and len(img.getbands()) > 1:
        filling = (int(filling),) * len(img.getbands())
    mode = _PILLOW[_mode("rotate", interpolation)]
    return img.rotate(angle, mode, expand, center, fillcolor=filling)


def _grey(img):
    """The brightness of red, green and blue (ITU-R 601-2), (…, 1, H, W), in floats."""
    r, g, b = (img.select(-3, k) for k in range(3))
    return (0.2989 * r + 0.587 * g + 0.114 * b).to(img.dtype).unsqueeze(-3)


def to_grayscale(img, num_output_channels=1):
    """A picture in grey, with 1 or 3 equal channels; of tensors it is rgb_to_grayscale()."""
    return rgb_to_grayscale(img, num_output_channels)


def rgb_to_grayscale(img, num_output_channels=1):
    """A picture in grey, with 1 or 3 equal channels. ValueError for other numbers."""
    op = "rgb_to_grayscale"
    if num_output_channels not in (1, 3):
        raise ValueError(message(op, "num_output_channels", num_output_channels, "1 or 3"))
    if not _checked(op, img):
        grey = img.convert("L")
        if num_output_channels == 1:
            return grey
        return pillow(op).merge("RGB", (grey,) * 3)
    if img.ndim < 3 or img.shape[-3] not in (1, 3):
        raise TypeError(message(op, "channels", tuple(img.shape), "(…, 1 or 3, H, W)"))
    grey = img if img.shape[-3] == 1 else _grey(img)
    return cat([grey] * 3, dim=-3) if num_output_channels == 3 else grey


def _mixed(img, other, factor):
    """factor * img + (1 - factor) * other within the range of the dtype."""
    floats = img.dtype.is_floating_point
    most = 1.0 if floats else _dtypes.iinfo(img.dtype).max
    mixed = (factor * img + (1.0 - factor) * other).clamp(0, most)
    return mixed if floats else mixed.to(img.dtype)


def _factor(op, factor):
    if factor < 0:
        raise ValueError(message(op, "the factor is negative", factor, "0 and more"))


def _enhanced(name, img, factor):
    from PIL import ImageEnhance

    return getattr(ImageEnhance, name)(img).enhance(factor)


def adjust_brightness(img, brightness_factor):
    """The picture times a factor: 0 is black, 1 as it is."""
    _factor("adjust_brightness", brightness_factor)
    if not _checked("adjust_brightness", img):
        return _enhanced("Brightness", img, brightness_factor)
    return _mixed(img, img * 0, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """Distances from the mean brightness times a factor: 0 is grey, 1 as it is."""
    _factor("adjust_contrast", contrast_factor)
    if not _checked("adjust_contrast", img):
        return _enhanced("Contrast", img, contrast_factor)
    kind = img.dtype if img.dtype.is_floating_point else _dtypes.float32
    grey = _grey(img) if img.shape[-3] == 3 else img
    return _mixed(img, grey.to(kind).mean((-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img, saturation_factor):
    """Distances from grey times a factor: 0 is grey, 1 as it is."""
    _factor("adjust_saturation", saturation_factor)
    if not _checked("adjust_saturation", img):
        return _enhanced("Color", img, saturation_factor)
    return img if img.shape[-3] == 1 else _mixed(img, _grey(img), saturation_factor)


def __getattr__(name):
    return _missing("torchvision.transforms.functional", name)
