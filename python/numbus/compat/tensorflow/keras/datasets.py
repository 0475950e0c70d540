"""keras.datasets: MNIST and CIFAR-10 from local files; nothing is downloaded."""

import os as _os

import numpy as _numpy

import numbus as _nb

from ....core.errors import message as _message
from ..._missing import missing as _missing

__name__ = "keras.datasets"


def _folder():
    return _os.path.expanduser(_os.environ.get("KERAS_HOME", "~/.keras")) + "/datasets"


def _from_npz(name, path):
    for file in (path, _os.path.join(_folder(), path)):
        if _os.path.isfile(file):
            with _numpy.load(file, allow_pickle=False) as found:
                pairs = [(found[f"x_{k}"], found[f"y_{k}"]) for k in ("train", "test")]
            return tuple([tuple([_nb.array(a) for a in pair]) for pair in pairs])
    raise FileNotFoundError(
        _message(f"keras.datasets.{name}", "no such file, and nothing is downloaded",
                 _os.path.join(_folder(), path),
                 f"the file {path} there, or its path; it has x_train, y_train, x_test, y_test")
    )  # fmt: skip


class mnist:
    """`keras.datasets.mnist`."""

    @staticmethod
    def load_data(path="mnist.npz"):
        """((x, y) for training, (x, y) for tests): uint8 pictures of 28 by 28, and labels."""
        return _from_npz("mnist", path)


class fashion_mnist:
    """`keras.datasets.fashion_mnist`."""

    @staticmethod
    def load_data():
        """As of MNIST, from fashion-mnist.npz."""
        return _from_npz("fashion_mnist", "fashion-mnist.npz")


class cifar10:
    """`keras.datasets.cifar10`."""

    @staticmethod
    def load_data():
        """((x, y) for training, (x, y) for tests): uint8 pictures of 32 by 32 by 3, labels (n, 1).

        From the folder cifar-10-batches-py, or cifar-10-batches-bin, in ~/.keras/datasets.
        """
        from ....data import CIFAR10

        try:
            sets = [CIFAR10(_folder(), train=train) for train in (True, False)]
        except (FileNotFoundError, RuntimeError) as error:
            raise FileNotFoundError(
                _message("keras.datasets.cifar10", "no such files, and nothing is downloaded",
                         str(error), f"the unpacked archive of CIFAR-10 in {_folder()}")
            ) from None  # fmt: skip
        return tuple([
            (_nb.array(s.data), _nb.array(s.targets, dtype="u1").reshape(-1, 1)) for s in sets
        ])  # fmt: skip


def __getattr__(name):
    return _missing("keras.datasets", name)
