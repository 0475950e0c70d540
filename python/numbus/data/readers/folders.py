"""Folders of files, one folder a class."""

import os

from ...core.errors import message
from .files import Pictures, pillow

IMG_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
)  # fmt: skip


def default_loader(path):
    """A picture of a file, in red, green and blue."""
    with open(path, "rb") as file:
        return pillow("ImageFolder").open(file).convert("RGB")


class DatasetFolder(Pictures):
    """Files of root/CLASS/…, in the order of their names: (loader(path), number of the class).

    Parameters
    ----------
    root : path
    loader : callable
        What reads a file.
    extensions : tuple of str, optional
        The ends of the names that count, or `is_valid_file`, a function of a path; not both.
    transform, target_transform : callable, optional
    is_valid_file : callable, optional
    allow_empty : bool, default False
        Whether a class may have no files; else FileNotFoundError.
    """

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform, target_transform)
        op = type(self).__name__
        if (extensions is None) == (is_valid_file is None):
            raise ValueError(
                message(op, "extensions and is_valid_file", "both, or none", "one of them")
            )
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples, empty = [], []
        for name in self.classes:
            known = len(self.samples)
            for folder, _, files in sorted(
                os.walk(os.path.join(self.root, name), followlinks=True)
            ):
                for file in sorted(files):
                    path = os.path.join(folder, file)
                    valid = is_valid_file(path) if is_valid_file else self._ends(path)
                    if valid:
                        self.samples.append((path, self.class_to_idx[name]))
            if len(self.samples) == known:
                empty.append(name)
        if empty and not allow_empty:
            ends = ", ".join(extensions) if extensions else "is_valid_file"
            raise FileNotFoundError(
                message(op, f"Found no valid file for the classes {', '.join(empty)}",
                        self.root, f"files by {ends}")
            )  # fmt: skip
        self.targets = [k for _, k in self.samples]

    def _ends(self, path):
        return path.lower().endswith(tuple(self.extensions))

    def find_classes(self, directory):
        """(names of the folders, {name: number}). FileNotFoundError where there is none."""
        names = []
        if os.path.isdir(directory):
            names = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        if not names:
            raise FileNotFoundError(
                message(type(self).__name__, "Couldn't find any class folder", directory,
                        "a folder with one folder for each class")
            )  # fmt: skip
        return names, {name: k for k, name in enumerate(names)}

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self.changed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Pictures of root/CLASS/…, read by Pillow as red, green and blue; see `DatasetFolder`."""

    def __init__(
        self,
        root,
        transform=None,
        target_transform=None,
        loader=default_loader,
        is_valid_file=None,
        allow_empty=False,
    ):
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(
            root, loader, extensions, transform, target_transform, is_valid_file, allow_empty
        )
        self.imgs = self.samples
