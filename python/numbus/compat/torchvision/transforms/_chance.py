"""Transforms by chance: numbers are drawn by the generator of `manual_seed` (not PyTorch's bits).

Loaders' workers seed it each with a number of its own.
"""

import math
import numbers

from ....core.errors import message
from ....nn import Module
from ....tensors.random import rand, randint, randperm
from . import functional as F
from ._plain import _Shown, pair
from .functional import InterpolationMode


def _uniform(low, high):
    return low + (high - low) * float(rand(1).item())


def _whole(high):
    """An integer in [0, high]."""
    return int(randint(0, high + 1, (1,)).item()) if high > 0 else 0


class _Maybe(_Shown):
    """A transform that takes place with probability `p`."""

    _fields = ("p",)

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self._changed(img) if float(rand(1).item()) < self.p else img


class RandomHorizontalFlip(_Maybe):
    """functional.hflip() with probability `p`."""

    def __init__(self, p=0.5):
        super().__init__(p)

    def _changed(self, img):
        return F.hflip(img)


class RandomVerticalFlip(_Maybe):
    """functional.vflip() with probability `p`."""

    def __init__(self, p=0.5):
        super().__init__(p)

    def _changed(self, img):
        return F.vflip(img)


class RandomGrayscale(_Maybe):
    """Grey, with as many channels as before, with probability `p`."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def _changed(self, img):
        return F.rgb_to_grayscale(img, F.get_image_num_channels(img))


class RandomApply(Module):
    """All of some transforms with probability `p`."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < float(rand(1).item()):
            return img
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self):
        lines = [f"{type(self).__name__}(", f"    p={self.p}"]
        return "\n".join([*lines, *[f"    {t}" for t in self.transforms], ")"])


class RandomOrder:
    """All of some transforms in random order."""

    def __init__(self, transforms):
        self.transforms = list(transforms)

    def __call__(self, img):
        for k in randperm(len(self.transforms)).tolist():
            img = self.transforms[k](img)
        return img


class RandomChoice:
    """One of some transforms, with the weights `p`, or each as likely."""

    def __init__(self, transforms, p=None):
        self.transforms, self.p = list(transforms), p

    def __call__(self, img):
        weights = [1.0] * len(self.transforms) if self.p is None else list(self.p)
        left = float(rand(1).item()) * sum(weights)
        for t, weight in zip(self.transforms, weights, strict=True):
            left -= weight
            if left < 0:
                return t(img)
        return self.transforms[-1](img)


class RandomCrop(_Shown):
    """A part of a size at a random position, of a picture that is padded before if asked.

    pad_if_needed: smaller pictures are padded on both sides by what they lack. ValueError for a
    size larger than the picture.
    """

    _fields = ("size", "padding")

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = pair("RandomCrop", size)
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    @staticmethod
    def get_params(img, output_size):
        """(top, left, height, width) of a random part."""
        _, height, width = F.get_dimensions(img)
        rows, columns = output_size
        if height < rows or width < columns:
            raise ValueError(
                message("RandomCrop", "required crop size is larger than the input image size",
                        (rows, columns), f"up to {(height, width)}")
            )  # fmt: skip
        return _whole(height - rows), _whole(width - columns), rows, columns

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            _, height, width = F.get_dimensions(img)
            across, down = max(self.size[1] - width, 0), max(self.size[0] - height, 0)
            if across or down:
                img = F.pad(img, [across, down], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))


class RandomResizedCrop(_Shown):
    """A part of a random area (`scale`, of the picture's) and aspect (`ratio`), then resized."""

    _fields = ("size", "scale", "ratio", "interpolation", "antialias")

    def __init__(
        self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0),
        interpolation=InterpolationMode.BILINEAR, antialias=True,
    ):  # fmt: skip
        super().__init__()
        self.size = pair("RandomResizedCrop", size)
        self.scale, self.ratio = scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    @staticmethod
    def get_params(img, scale, ratio):
        """(top, left, height, width) of a random part; the middle one where none is found."""
        _, height, width = F.get_dimensions(img)
        for _ in range(10):
            area = height * width * _uniform(*scale)
            aspect = math.exp(_uniform(math.log(ratio[0]), math.log(ratio[1])))
            columns, rows = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < columns <= width and 0 < rows <= height:
                return _whole(height - rows), _whole(width - columns), rows, columns
        rows, columns = height, width
        if width / height < min(ratio):
            rows = round(width / min(ratio))
        elif width / height > max(ratio):
            columns = round(height * max(ratio))
        return (height - rows) // 2, (width - columns) // 2, rows, columns

    def forward(self, img):
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, antialias=self.antialias)


def _span(name, value, middle, lowest):
    """(least, largest) of a setting that is a number or a pair; None for no change."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(message("ColorJitter", f"{name} is negative", value, "0 and more"))
        found = (max(middle - value, lowest), middle + value)
    else:
        found = tuple(float(v) for v in value)
    if len(found) != 2 or not lowest <= found[0] <= found[1]:
        raise ValueError(message("ColorJitter", name, value, "a number or (least, largest)"))
    return None if found == (middle, middle) else found


class ColorJitter(_Shown):
    """Brightness, contrast and saturation times random factors, in random order.

    NotImplementedError for hue.
    """

    _fields = ("brightness", "contrast", "saturation")

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        if hue not in (0, None):
            raise NotImplementedError(message("ColorJitter", "hue is not there yet", hue, "0"))
        self.brightness = _span("brightness", brightness, 1.0, 0.0)
        self.contrast = _span("contrast", contrast, 1.0, 0.0)
        self.saturation = _span("saturation", saturation, 1.0, 0.0)

    def forward(self, img):
        for k in randperm(3).tolist():
            name = self._fields[k]
            if getattr(self, name) is not None:
                img = getattr(F, f"adjust_{name}")(img, _uniform(*getattr(self, name)))
        return img


class RandomRotation(_Shown):
    """functional.rotate() by degrees between two, or between -degrees and degrees."""

    _fields = ("degrees", "interpolation", "expand", "fill")

    def __init__(
        self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0
    ):
        super().__init__()
        if isinstance(degrees, numbers.Number):
            if degrees < 0:
                raise ValueError(
                    message("RandomRotation", "degrees is negative", degrees, "0 and more")
                )
            degrees = (-degrees, degrees)
        self.degrees = [float(d) for d in degrees]
        self.interpolation, self.expand, self.center = interpolation, expand, center
        self.fill = fill

    @staticmethod
    def get_params(degrees):
        """A random angle."""
        return _uniform(float(degrees[0]), float(degrees[1]))

    def forward(self, img):
        angle = self.get_params(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)
