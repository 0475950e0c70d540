"""Transforms without chance."""

from ....core.errors import message
from ....nn import Module
from ....tensors import _dtypes
from . import functional as F
from .functional import InterpolationMode


class Compose:
    """Transforms one after another."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self):
        return "\n".join([f"{type(self).__name__}(", *[f"    {t}" for t in self.transforms], ")"])


class Lambda:
    """A function as a transform; TypeError for what is none."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(message("Lambda", "not callable", type(lambd).__name__, "a function"))
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"


class _Simple:
    """A transform without settings."""

    def __repr__(self):
        return f"{type(self).__name__}()"


class ToTensor(_Simple):
    """functional.to_tensor()."""

    def __call__(self, pic):
        return F.to_tensor(pic)


class PILToTensor(_Simple):
    """functional.pil_to_tensor()."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)


class ToPILImage:
    """functional.to_pil_image()."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(Module):
    """functional.convert_image_dtype()."""

    def __init__(self, dtype=_dtypes.float32):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class _Shown(Module):
    """A transform that shows its settings in one line."""

    _fields = ()

    def __repr__(self):
        shown = []
        for name in self._fields:
            value = getattr(self, name)
            value = value.value if isinstance(value, InterpolationMode) else value
            shown.append(f"{name}={value}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Normalize(_Shown):
    """(tensor - mean) / std for each channel; see functional.normalize()."""

    _fields = ("mean", "std")

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)


class Resize(_Shown):
    """functional.resize()."""

    _fields = ("size", "interpolation", "max_size", "antialias")

    def __init__(
        self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True
    ):
        super().__init__()
        if not isinstance(size, (int, tuple, list)):
            raise TypeError(message("Resize", "size should be int or sequence", size, "one"))
        if not isinstance(size, int) and len(size) not in (1, 2):
            raise ValueError(message("Resize", "size", size, "1 or 2 ints"))
        self.size, self.interpolation, self.max_size = size, interpolation, max_size
        self.antialias = antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)


def pair(op, size):
    """(height, width) of an int, or of 1 or 2 of them; ValueError for others."""
    if isinstance(size, int):
        return size, size
    sizes = tuple(size)
    if len(sizes) == 1:
        return sizes * 2
    if len(sizes) != 2:
        raise ValueError(message(op, "size", size, "(height, width)"))
    return sizes


class CenterCrop(_Shown):
    """functional.center_crop()."""

    _fields = ("size",)

    def __init__(self, size):
        super().__init__()
        self.size = pair("CenterCrop", size)

    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(_Shown):
    """functional.pad()."""

    _fields = ("padding", "fill", "padding_mode")

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class Grayscale(_Shown):
    """functional.rgb_to_grayscale()."""

    _fields = ("num_output_channels",)

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)
