"""tf.image: pictures with the axes (height, width, channels), or several of these."""

import math as _math

import numpy as _numpy

import numbus as _nb

from ...core.dtypes import kind_of as _kind_of
from ...core.errors import message as _message
from ...nn import functional as _f
from .._missing import missing as _missing
from ._ops import drawn as _drawn
from ._ops import named as _named
from ._ops import sizes as _sizes
from ._ops import tensor as _tensor
from ._ops import value as _value
from ._tensor import as_array as _as_array
from ._tensor import as_numpy_dtype as _as_numpy_dtype
from ._tensor import convert as _convert

__name__ = "tensorflow.image"


class ResizeMethod:
    """Names of ways to resize."""

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"


def _pictures(op, image):
    """An array with the axes of pictures."""
    a = _value(image)
    if a.ndim not in (3, 4):
        raise ValueError(
            _message(op, "no picture", tuple(a.shape), "(height, width, channels), or several")
        )
    return a


def _like(a, found):
    return _tensor(found if a.ndim == found.ndim else found[0])


def resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False,
           name=None):  # fmt: skip
    """Pictures of another size; pixels are squares whose centres stand for them.

    method: 'bilinear', which gives float32, or 'nearest', which keeps the type.
    """
    _named(name)
    if method not in ("bilinear", "nearest") or antialias:
        raise NotImplementedError(
            _message("resize", "not yet available", (method, antialias),
                     "'bilinear' or 'nearest' without antialias")
        )  # fmt: skip
    a = _pictures("resize", images)
    sizes = tuple(_sizes(size))
    if len(sizes) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    old = a.shape[-3:-1]
    if preserve_aspect_ratio:
        factor = min(n / m for n, m in zip(sizes, old, strict=True))
        sizes = tuple([round(m * factor) for m in old])
    if sizes == tuple(old):
        return _tensor(a)
    if method == "nearest":
        for axis, (n, m) in zip((-3, -2), zip(sizes, old, strict=True), strict=True):
            at = _numpy.floor((_numpy.arange(n, dtype="f4") + 0.5) * _numpy.float32(m / n))
            a = _nb.take(a, _nb.array(_numpy.minimum(at, m - 1).astype("i8")), axis=axis)
        return _tensor(a)
    planes = _nb.moveaxis(a[None] if a.ndim == 3 else a, -1, 1).astype("f4")
    found = _f.interpolate(planes, size=sizes, mode="bilinear", align_corners=False)
    return _like(a, _nb.moveaxis(found, 1, -1))


def flip_left_right(image):
    """The columns in the other order."""
    return _tensor(_nb.flip(_pictures("flip_left_right", image), -2))


def flip_up_down(image):
    """The rows in the other order."""
    return _tensor(_nb.flip(_pictures("flip_up_down", image), -3))


def transpose(image, name=None):
    """Rows as columns."""
    _named(name)
    return _tensor(_nb.swapaxes(_pictures("transpose", image), -3, -2))


def rot90(image, k=1, name=None):
    """Turned by 90 degrees against the clock, k times."""
    _named(name)
    return _tensor(_nb.rot90(_pictures("rot90", image), int(_convert(k)), axes=(-3, -2)))


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of pictures that begins at offsets. Raises ValueError where it ends outside."""
    a = _pictures("crop_to_bounding_box", image)
    top, left, h, w = [int(n) for n in (offset_height, offset_width, target_height, target_width)]
    if min(top, left) < 0 or min(h, w) < 1 or top + h > a.shape[-3] or left + w > a.shape[-2]:
        raise ValueError(
            _message("crop_to_bounding_box", "a box that is not inside", (top, left, h, w),
                     f"a part of {tuple(a.shape[-3:-1])}")
        )  # fmt: skip
    return _tensor(a[..., top : top + h, left : left + w, :])


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Pictures that begin at offsets in larger ones of zeros."""
    a = _pictures("pad_to_bounding_box", image)
    top, left, h, w = [int(n) for n in (offset_height, offset_width, target_height, target_width)]
    below, right = h - top - a.shape[-3], w - left - a.shape[-2]
    if min(top, left, below, right) < 0:
        raise ValueError(
            _message("pad_to_bounding_box", "a box that does not hold the picture",
                     (top, left, h, w), f"one around {tuple(a.shape[-3:-1])}")
        )  # fmt: skip
    around = ((0, 0),) * (a.ndim - 3) + ((top, below), (left, right), (0, 0))
    return _tensor(_nb.pad(a, around))


def resize_with_crop_or_pad(image, target_height, target_width):
    """The middle of pictures, with zeros around where they are smaller."""
    a = _pictures("resize_with_crop_or_pad", image)
    sizes = int(target_height), int(target_width)
    more = [n - m for n, m in zip(sizes, a.shape[-3:-1], strict=True)]
    kept = [min(n, m) for n, m in zip(sizes, a.shape[-3:-1], strict=True)]
    cut = crop_to_bounding_box(a, *[max(-d // 2, 0) for d in more], *kept)
    return pad_to_bounding_box(cut, *[max(d // 2, 0) for d in more], *sizes)


def central_crop(image, central_fraction):
    """The middle of pictures, a part of their height and width."""
    a, part = _pictures("central_crop", image), float(central_fraction)
    if not 0.0 < part <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    starts = [int((n - n * part) / 2) for n in a.shape[-3:-1]]
    kept = [n - 2 * s for n, s in zip(a.shape[-3:-1], starts, strict=True)]
    return crop_to_bounding_box(a, *starts, *kept)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Pictures as another type: floats from 0 to 1, integers from 0 to their largest number."""
    _named(name)
    a, t = _value(image), _as_numpy_dtype(dtype)
    if a.dtype == t:
        return _tensor(a)
    kinds = _kind_of(a.dtype), _kind_of(t)
    if kinds == ("f", "f"):
        return _tensor(a.astype(t))
    if kinds[0] in "iu" and kinds[1] == "f":
        return _tensor(a.astype(t) * t.type(1.0 / _numpy.iinfo(a.dtype).max))
    if kinds[0] == "f" and kinds[1] in "iu":
        info = _numpy.iinfo(t)
        a = a * a.dtype.type(info.max + 0.5)
        if saturate:
            a = _nb.clip(a, info.min, info.max)
        return _tensor(a.astype(t))
    raise NotImplementedError(
        _message("convert_image_dtype", "between integers is not yet available", a.dtype.name,
                 "floats on one side")
    )  # fmt: skip


def _in_floats(image, change):
    """Pictures that a function of floats changes, in the type that they have."""
    a = _value(image)
    floats = a if _kind_of(a.dtype) == "f" else _value(convert_image_dtype(image, "float32"))
    return convert_image_dtype(_tensor(change(floats)), a.dtype, saturate=True)


def adjust_brightness(image, delta):
    """Pictures with a number added."""
    return _in_floats(image, lambda a: a + _value(delta, a.dtype))


def adjust_contrast(images, contrast_factor):
    """Differences from each channel's mean, times a factor."""

    def change(a):
        mean = _nb.mean(a, axis=(-3, -2), keepdims=True)
        return (a - mean) * _value(contrast_factor, a.dtype) + mean

    return _in_floats(images, change)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma."""
    if float(gamma) < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return _in_floats(image, lambda a: a ** a.dtype.type(gamma) * a.dtype.type(gain))


def rgb_to_grayscale(images, name=None):
    """What the eye sees of red, green and blue, as one channel."""
    _named(name)
    a = _pictures("rgb_to_grayscale", images)
    floats = a if _kind_of(a.dtype) == "f" else _value(convert_image_dtype(a, "float32"))
    parts = [floats[..., k : k + 1] * floats.dtype.type(w)
             for k, w in enumerate((0.2989, 0.587, 0.114))]  # fmt: skip
    return convert_image_dtype(_tensor(parts[0] + parts[1] + parts[2]), a.dtype)


def grayscale_to_rgb(images, name=None):
    """Three channels of one."""
    _named(name)
    a = _value(images)
    if a.shape[-1] != 1:
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return _tensor(_nb.repeat(a, 3, axis=-1))


def rgb_to_hsv(images, name=None):
    """Hue, saturation and value of red, green and blue."""
    _named(name)
    a = _value(images)
    r, g, b = a[..., 0], a[..., 1], a[..., 2]
    most, least = _nb.max(a, axis=-1), _nb.min(a, axis=-1)
    wide = most - least
    one = a.dtype.type(1)
    part = one / (6 * _nb.where(wide > 0, wide, one))
    hue = _nb.where(r == most, part * (g - b),
                    _nb.where(g == most, part * (b - r) + a.dtype.type(2 / 6),
                              part * (r - g) + a.dtype.type(4 / 6)))  # fmt: skip
    hue = _nb.where(wide > 0, hue, a.dtype.type(0))
    hue = _nb.where(hue < 0, hue + one, hue)
    much = _nb.where(most > 0, wide / _nb.where(most > 0, most, one), a.dtype.type(0))
    return _tensor(_nb.stack([hue, much, most], axis=-1))


def hsv_to_rgb(images, name=None):
    """Red, green and blue of hue, saturation and value."""
    _named(name)
    a = _value(images)
    hue, much, v = a[..., 0] * 6, a[..., 1], a[..., 2]
    parts = (_nb.abs(hue - 3) - 1, 2 - _nb.abs(hue - 2), 2 - _nb.abs(hue - 4))
    found = [((1 - much) + much * _nb.clip(p, 0, 1)) * v for p in parts]
    return _tensor(_nb.stack(found, axis=-1))


def _in_hsv(image, change):
    def through(a):
        b = _value(rgb_to_hsv(_tensor(a)))
        parts = change(b[..., 0], b[..., 1], b[..., 2])
        return _value(hsv_to_rgb(_tensor(_nb.stack(parts, axis=-1))))

    return _in_floats(image, through)


def adjust_saturation(image, saturation_factor, name=None):
    """The saturation times a factor."""
    _named(name)
    factor = float(saturation_factor)
    return _in_hsv(image, lambda h, s, v: (h, _nb.clip(s * factor, 0, 1), v))


def adjust_hue(image, delta, name=None):
    """The hue turned by a part of the circle, from -1 to 1."""
    _named(name)
    delta = float(delta)
    if not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _in_hsv(image, lambda h, s, v: (_nb.mod(h + (delta + 1), 1.0), s, v))


def per_image_standardization(image):
    """(x - mean) / deviation of each picture, whose deviation counts as 1 / sqrt(size) at least."""
    a = _pictures("per_image_standardization", image)
    a = a if _kind_of(a.dtype) == "f" else a.astype("f4")
    axes = (-3, -2, -1)
    least = a.dtype.type(1 / _math.sqrt(_math.prod(a.shape[-3:])))
    mean = _nb.mean(a, axis=axes, keepdims=True)
    return _tensor((a - mean) / _nb.maximum(_nb.std(a, axis=axes, keepdims=True), least))


def psnr(a, b, max_val, name=None):
    """20 log10(max_val) - 10 log10(mean squared difference) of each pair of pictures."""
    _named(name)
    x = _value(convert_image_dtype(a, "float32"))
    y = _value(convert_image_dtype(b, "float32"))
    t = _as_array(_value(a)).dtype
    most = float(max_val) if _kind_of(t) == "f" else float(max_val) / _numpy.iinfo(t).max
    error = _nb.mean(_nb.square(x - y), axis=(-3, -2, -1))
    return _tensor(20 * _math.log10(most) - 10 * _nb.log10(error))


def total_variation(images, name=None):
    """The sum of the differences of neighbours."""
    _named(name)
    a = _pictures("total_variation", images)
    axes = (-3, -2, -1)
    return _tensor(
        _nb.sum(_nb.abs(a[..., 1:, :, :] - a[..., :-1, :, :]), axis=axes)
        + _nb.sum(_nb.abs(a[..., 1:, :] - a[..., :-1, :]), axis=axes)
    )


def image_gradients(image):
    """The differences of rows and of columns, zeros at the end. Takes (batch, h, w, channels)."""
    a = _value(image)
    if a.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch, h, w, d], not {a.shape}")
    down = _nb.pad(a[:, 1:] - a[:, :-1], ((0, 0), (0, 1), (0, 0), (0, 0)))
    right = _nb.pad(a[:, :, 1:] - a[:, :, :-1], ((0, 0), (0, 0), (0, 1), (0, 0)))
    return _tensor(down), _tensor(right)


def _chosen(a, flipped, seed):
    """Each picture, or with probability one half that of `flipped`."""
    count = a.shape[:1] if a.ndim == 4 else ()
    turned = _as_array(_drawn("random", (*count, *(1,) * 3), seed)) < 0.5
    return _tensor(_nb.where(turned, flipped, a))


def random_flip_left_right(image, seed=None):
    """Pictures, each flipped or not."""
    a = _pictures("random_flip_left_right", image)
    return _chosen(a, _nb.flip(a, -2), seed)


def random_flip_up_down(image, seed=None):
    """Pictures, each flipped or not."""
    a = _pictures("random_flip_up_down", image)
    return _chosen(a, _nb.flip(a, -3), seed)


def _between(low, high, seed):
    return float(_drawn("random", (), seed)) * (high - low) + low


def random_brightness(image, max_delta, seed=None):
    """`adjust_brightness` by a number from -max_delta to max_delta."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, _between(-max_delta, max_delta, seed))


def random_contrast(image, lower, upper, seed=None):
    """`adjust_contrast` by a factor between two."""
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower non-negative.")
    return adjust_contrast(image, _between(lower, upper, seed))


def random_saturation(image, lower, upper, seed=None):
    """`adjust_saturation` by a factor between two."""
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower non-negative.")
    return adjust_saturation(image, _between(lower, upper, seed))


def random_hue(image, max_delta, seed=None):
    """`adjust_hue` by a number from -max_delta to max_delta."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be in [0, 0.5].")
    return adjust_hue(image, _between(-max_delta, max_delta, seed))


def random_crop(value, size, seed=None, name=None):
    """A part of a tensor, of a size, from anywhere."""
    _named(name)
    a, lengths = _value(value), tuple(_sizes(size))
    if len(lengths) != a.ndim or any([n > m for n, m in zip(lengths, a.shape, strict=True)]):
        raise ValueError(
            _message("random_crop", "a size that does not fit", lengths, tuple(a.shape))
        )
    rooms = [m - n + 1 for n, m in zip(lengths, a.shape, strict=True)]
    drawn = _as_array(_drawn("random", (len(rooms),), seed)).tolist()
    starts = [min(int(u * room), room - 1) for u, room in zip(drawn, rooms, strict=True)]
    return _tensor(a[tuple([slice(s, s + n) for s, n in zip(starts, lengths, strict=True)])])


def __getattr__(name):
    return _missing("tf.image", name)
