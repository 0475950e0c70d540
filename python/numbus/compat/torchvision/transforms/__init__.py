"""torchvision.transforms: what becomes of pictures before a net sees them."""

import importlib as _importlib

from ..._missing import missing as _missing
from . import functional
from ._chance import (
    ColorJitter,
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomOrder,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from ._plain import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    Resize,
    ToPILImage,
    ToTensor,
)
from .functional import InterpolationMode

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "Grayscale", "InterpolationMode",
    "Lambda", "Normalize", "PILToTensor", "Pad", "RandomApply", "RandomChoice", "RandomCrop",
    "RandomGrayscale", "RandomHorizontalFlip", "RandomOrder", "RandomResizedCrop", "RandomRotation",
    "RandomVerticalFlip", "Resize", "ToPILImage", "ToTensor", "functional",
]  # fmt: skip


def __getattr__(name):
    if name == "transforms":  # torchvision.transforms.transforms, as older programs write
        return _importlib.import_module(__name__)
    return _missing("torchvision.transforms", name)
