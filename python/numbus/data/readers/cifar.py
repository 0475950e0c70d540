"""CIFAR-10 and CIFAR-100 (Krizhevsky, 2009), from the binary files or those for Python, whose
pickles are read by a table of names: nothing in them is executed.
"""

import io
import os
import pickle
import tarfile

import numpy

from ...core.errors import message
from ...core.pickles import Unpickler, encoded
from .files import Pictures, found, missing, picture_of

_PIXELS = 3 * 32 * 32


class _Type:
    """A dtype in a pickle: its name, and the order of bytes in its state."""

    def __init__(self, name, *_flags):
        self.name, self.order = name, "="

    def __setstate__(self, state):
        self.order = state[1]

    def dtype(self):
        kind = numpy.dtype(self.name)
        if kind.kind not in "biuf" or self.order not in tuple("<>|="):
            raise pickle.UnpicklingError(message("CIFAR", "a dtype", self.name, "numbers"))
        return kind.newbyteorder(self.order)


class _Array:
    """An array in a pickle; its elements come as its state."""

    def __init__(self, *_kind):
        self.elements = None

    def __setstate__(self, state):
        _, shape, kind, fortran, raw = state
        raw = raw.encode("latin1") if isinstance(raw, str) else raw
        a = numpy.frombuffer(raw, kind.dtype())
        self.elements = a.reshape(shape, order="F" if fortran else "C")


# All that the files name, and what is taken for it.
_NAMES = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): encoded,
}


def _unpickled(raw):
    """The dict that a file holds. UnpicklingError for anything else."""
    expected = "a dict of arrays of numpy, texts and numbers"
    reader = Unpickler(io.BytesIO(raw), _NAMES, (_Type, _Array), expected, encoding="latin1")
    made = reader.load()
    if not isinstance(made, dict):
        reader.refuse("a file of another kind", type(made).__name__)
    made = {k.decode() if isinstance(k, bytes) else k: v for k, v in made.items()}
    return {k: v.elements if isinstance(v, _Array) else v for k, v in made.items()}


class CIFAR10(Pictures):
    """Pictures of 32 by 32 pixels in ten classes.

    Parameters
    ----------
    root : path
        Holds the folder cifar-10-batches-py or cifar-10-batches-bin, or one of the archives
        cifar-10-python.tar.gz and cifar-10-binary.tar.gz.
    train : bool, default True
        The 50,000 examples for training or the 10,000 for tests.
    transform, target_transform : callable, optional
        What becomes of a picture (of Pillow) and of its class.
    download : bool, default False
        Uses the files that are there; nothing is downloaded.

    Raises
    ------
    RuntimeError
        Where files are not there; it says which, and where to put them.
    ValueError
        For files of another length than they have to have.
    pickle.UnpicklingError
        For files that name anything but arrays.
    """

    _python, _binary = "cifar-10-batches-py", "cifar-10-batches-bin"
    _archives = ("cifar-10-python.tar.gz", "cifar-10-binary.tar.gz")
    _train, _test = tuple(f"data_batch_{k}" for k in range(1, 6)), ("test_batch",)
    _labels, _label_bytes = "labels", 1
    _names_file, _names_key, _names_text = "batches.meta", "label_names", "batches.meta.txt"

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        self.train = train
        parts = [self._part(name, download) for name in (self._train if train else self._test)]
        rows = numpy.concatenate([pictures for pictures, _ in parts])
        pictures = rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.data = numpy.ascontiguousarray(pictures)
        self.targets = [int(label) for _, labels in parts for label in labels]
        if len(self.targets) != len(self.data):
            raise ValueError(
                message(type(self).__name__, "as many classes as pictures", len(self.targets),
                        len(self.data))
            )  # fmt: skip
        self.classes = self._class_names()
        self.class_to_idx = {name: k for k, name in enumerate(self.classes)}

    def _bytes(self, folder, name):
        """A file of one of the folders, also in an archive; None where it is not there."""
        path = found([os.path.join(self.root, folder)], [name])
        if path is not None:
            with open(path, "rb") as file:
                return file.read()
        for archive in self._archives:
            path = os.path.join(self.root, archive)
            if os.path.exists(path):
                with tarfile.open(path) as packed:
                    try:
                        file = packed.extractfile(f"{folder}/{name}")
                    except KeyError:
                        continue
                    if file is not None:
                        return file.read()
        return None

    def _part(self, name, download):
        """(pictures as rows of bytes, classes) of one file."""
        op = type(self).__name__
        raw = self._bytes(self._python, name)
        if raw is not None:
            made = _unpickled(raw)
            data, labels = numpy.asarray(made["data"]), made[self._labels]
            if data.ndim != 2 or data.shape[1] != _PIXELS or data.dtype != numpy.uint8:
                raise ValueError(
                    message(op, f"{name} holds other arrays", f"{data.shape} of {data.dtype}",
                            f"(N, {_PIXELS}) of uint8")
                )  # fmt: skip
            return data, labels
        raw = self._bytes(self._binary, name + ".bin")
        if raw is None:
            asked = " (download=True)" if download else ""
            where = f"{self._python}/{name}, {self._binary}/{name}.bin, or one of "
            where += f"{', '.join(self._archives)} in it"
            raise missing(op, self.root, name + asked, where)
        line = self._label_bytes + _PIXELS
        if not raw or len(raw) % line:
            raise ValueError(
                message(op, f"{name}.bin has another length than pictures make", len(raw),
                        f"a multiple of {line} bytes")
            )  # fmt: skip
        rows = numpy.frombuffer(raw, numpy.uint8).reshape(-1, line)
        return rows[:, self._label_bytes :], rows[:, self._label_bytes - 1]

    def _class_names(self):
        raw = self._bytes(self._python, self._names_file)
        if raw is not None:
            return list(_unpickled(raw)[self._names_key])
        raw = self._bytes(self._binary, self._names_text)
        if raw is not None:
            return raw.decode().split()
        return [str(k) for k in range(max(self.targets, default=-1) + 1)]

    def __getitem__(self, index):
        picture = picture_of(type(self).__name__, self.data[index])
        return self.changed(picture, self.targets[index])

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """Pictures of 32 by 32 pixels in a hundred classes; folders cifar-100-python, -binary."""

    _python, _binary = "cifar-100-python", "cifar-100-binary"
    _archives = ("cifar-100-python.tar.gz", "cifar-100-binary.tar.gz")
    _train, _test = ("train",), ("test",)
    _labels, _label_bytes = "fine_labels", 2
    _names_file, _names_key = "meta", "fine_label_names"
    _names_text = "fine_label_names.txt"
