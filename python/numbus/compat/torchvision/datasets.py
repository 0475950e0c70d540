"""torchvision.datasets: the readers of numbus.data, and pictures of random numbers."""

import numpy

from ...data.readers import (
    CIFAR10,
    CIFAR100,
    KMNIST,
    MNIST,
    DatasetFolder,
    FashionMNIST,
    ImageFolder,
)
from ...data.readers.files import Pictures, picture_of
from ...data.readers.folders import IMG_EXTENSIONS, default_loader
from .._missing import missing as _missing

VisionDataset = Pictures
__all__ = [
    "CIFAR10", "CIFAR100", "IMG_EXTENSIONS", "KMNIST", "MNIST", "DatasetFolder", "FakeData",
    "FashionMNIST", "ImageFolder", "VisionDataset", "default_loader",
]  # fmt: skip


class FakeData(Pictures):
    """Pictures of random numbers with random classes; the same ones for the same number.

    Parameters
    ----------
    size : int, default 1000
        How many there are.
    image_size : tuple of int, default (3, 224, 224)
        Channels, height and width; 1 or 3 channels.
    num_classes : int, default 10
    transform, target_transform : callable, optional
    random_offset : int, default 0
        Added to the number of a picture, which seeds it. The numbers are not PyTorch's.

    Raises
    ------
    IndexError
        For a number that is no picture's.
    """

    def __init__(
        self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None,
        target_transform=None, random_offset=0,
    ):  # fmt: skip
        super().__init__("", transform, target_transform)
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.random_offset = random_offset

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(f"[FakeData] out of range; got {index}; expected 0 to {self.size - 1}")
        random = numpy.random.default_rng([self.random_offset, index])
        channels, height, width = self.image_size
        a = random.integers(0, 256, (height, width, channels), numpy.uint8)
        picture = picture_of("FakeData", a[..., 0] if channels == 1 else a)
        return self.changed(picture, int(random.integers(self.num_classes)))

    def __len__(self):
        return self.size


def __getattr__(name):
    return _missing("torchvision.datasets", name)
