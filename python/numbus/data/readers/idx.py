"""The idx format of MNIST (yann.lecun.com/exdb/mnist), and data sets in it."""

import gzip
import math
import os

import numpy

from ...core.errors import message
from ...core.operands import adopt
from ...tensors._tensor import wrap
from .files import Pictures, found, missing, picture_of

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


def read_idx(path):
    """An array of NumPy from a file in the idx format, also a compressed one (.gz).

    Raises ValueError for another format, and for a file that is shorter or longer than it says.
    """
    opened = gzip.open if os.fspath(path).endswith(".gz") else open
    with opened(path, "rb") as file:
        raw = file.read()
    name = os.fspath(path)
    if len(raw) < 4 or raw[0] or raw[1] or raw[2] not in _TYPES:
        got = raw[:4].hex(" ")
        raise ValueError(
            message("read_idx", f"{name} is not in the idx format", got, "00 00 08 01")
        )
    kind, ndim = numpy.dtype(_TYPES[raw[2]]), raw[3]
    start = 4 + 4 * ndim
    shape = tuple(int.from_bytes(raw[k : k + 4], "big") for k in range(4, start, 4))
    expected = start + math.prod(shape) * kind.itemsize
    if len(raw) != expected:
        raise ValueError(
            message("read_idx", f"{name} has another length than its shape {shape}", len(raw),
                    f"{expected} bytes")
        )  # fmt: skip
    return numpy.frombuffer(raw, kind, offset=start).reshape(shape).astype(kind.newbyteorder("="))


class MNIST(Pictures):
    """Handwritten digits, 28 by 28 pixels, from the four files of the data set.

    Parameters
    ----------
    root : path
        The files are in root/MNIST/raw or in root itself, compressed (.gz) or not.
    train : bool, default True
        The 60,000 examples for training or the 10,000 for tests.
    transform, target_transform : callable, optional
        What becomes of a picture (of Pillow) and of its class.
    download : bool, default False
        Uses the files that are there; nothing is downloaded.

    Raises
    ------
    RuntimeError
        Where files are not there; it says which, and where to put them.
    ValueError
        For files in another format.
    """

    classes = tuple(
        f"{k} - {name}"
        for k, name in enumerate("zero one two three four five six seven eight nine".split())
    )

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        self.train = train
        part = "train" if train else "t10k"
        pictures = self._read(f"{part}-images-idx3-ubyte", download)
        classes = self._read(f"{part}-labels-idx1-ubyte", download)
        if pictures.ndim != 3 or classes.shape != pictures.shape[:1]:
            raise ValueError(
                message(type(self).__name__, "files do not belong together",
                        f"shapes {pictures.shape} and {classes.shape}", "(N, 28, 28) and (N,)")
            )  # fmt: skip
        self.data = wrap(adopt(pictures))
        self.targets = wrap(adopt(classes.astype(numpy.int64)))
        self._pictures, self._classes = pictures, classes

    def _read(self, name, download):
        op = type(self).__name__
        home = os.path.join(self.root, op, "raw")
        path = found([home, self.root], [name, name + ".gz", name.replace("-idx", ".idx")])
        if path is None:
            asked = " (download=True)" if download else ""
            raise missing(op, self.root, name + asked, f"{name} or {name}.gz in {home}")
        return read_idx(path)

    def __getitem__(self, index):
        picture = picture_of(type(self).__name__, self._pictures[index])
        return self.changed(picture, int(self._classes[index]))

    def __len__(self):
        return len(self._pictures)

    @property
    def class_to_idx(self):
        """{name of a class: its number}."""
        return {name: k for k, name in enumerate(self.classes)}

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    """Clothes, in the format of MNIST; files in root/FashionMNIST/raw or in root."""

    classes = (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot",
    )  # fmt: skip


class KMNIST(MNIST):
    """Japanese characters, in the format of MNIST; files in root/KMNIST/raw or in root."""

    classes = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
