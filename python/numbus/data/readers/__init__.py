"""Readers of files in the formats that data sets are published in; nothing is downloaded."""

from .cifar import CIFAR10, CIFAR100
from .folders import DatasetFolder, ImageFolder
from .idx import KMNIST, MNIST, FashionMNIST, read_idx

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "KMNIST",
    "MNIST",
    "DatasetFolder",
    "FashionMNIST",
    "ImageFolder",
    "read_idx",
]  # fmt: skip
