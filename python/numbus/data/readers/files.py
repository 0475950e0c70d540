"""What the readers share: where files are looked for, pictures, what is said where none are."""

import os

import numpy

from ...core.errors import message
from ..datasets import Dataset


def pillow(op):
    """The module PIL.Image. ImportError with the line that brings it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            message(op, "pictures need Pillow", "no module PIL", "pip install pillow")
        ) from None
    return Image


def found(folders, names):
    """The first of the paths that there is; None where there is none."""
    for folder in folders:
        for name in names:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
    return None


def missing(op, root, needed, where):
    """What is raised where files are not there, whether they were to be downloaded or not."""
    return RuntimeError(
        message(op, "Dataset not found: nothing is downloaded, files have to be put there",
                f"root {os.fspath(root)!r} without {needed}", f"{where}")
    )  # fmt: skip


class Pictures(Dataset):
    """Pictures with a class each: (transform(picture), target_transform(class)).

    `data` holds all pictures, `targets` the classes.
    """

    def __init__(self, root, transform=None, target_transform=None, transforms=None):
        if transforms is not None and (transform is not None or target_transform is not None):
            raise ValueError(
                message(type(self).__name__, "transforms with transform or target_transform",
                        "both", "one of them")
            )  # fmt: skip
        self.root = os.path.expanduser(root)
        self.transform, self.target_transform = transform, target_transform
        self.transforms = transforms

    def changed(self, picture, target):
        """An example after the functions that were given for it."""
        if self.transforms is not None:
            return self.transforms(picture, target)
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return picture, target

    def extra_repr(self):
        """Lines of the text that shows the dataset."""
        return ""

    def __repr__(self):
        lines = [f"Number of datapoints: {len(self)}", f"Root location: {self.root}"]
        lines += self.extra_repr().splitlines()
        for name in ("transform", "target_transform"):
            if getattr(self, name) is not None:
                lines.append(f"{name}: {getattr(self, name)!r}")
        return "\n    ".join([f"Dataset {type(self).__name__}", *lines])


def picture_of(op, a):
    """A picture of Pillow of an array of bytes, grey or with three colours last."""
    return pillow(op).fromarray(numpy.asarray(a))
