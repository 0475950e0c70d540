"""Batches of what `fit` and its kin are given: arrays, data sets, generators; and their weights."""

import math
import warnings

import numpy

import numbus as nb

from ....core import trees
from ....core.errors import message
from .. import _ops
from .._tensor import Tensor, as_array, convert
from ..data import Dataset


class PyDataset:
    """Batches by their numbers: subclasses define `__getitem__` and `__len__`."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        if workers != 1 or use_multiprocessing or not isinstance(max_queue_size, int):
            raise NotImplementedError(
                message("PyDataset", "other workers are not yet available",
                        (workers, use_multiprocessing), "workers=1")
            )  # fmt: skip

    def __getitem__(self, index):
        raise NotImplementedError(message("PyDataset", "no __getitem__", type(self), "a method"))

    def __len__(self):
        raise NotImplementedError(message("PyDataset", "no __len__", type(self), "a method"))

    @property
    def num_batches(self):
        """The number of batches."""
        return len(self)

    def on_epoch_begin(self):
        """Before an epoch."""

    def on_epoch_end(self):
        """After an epoch."""


def is_due(number, every):
    """Whether an epoch of this number, from 1 on, is one of every so many, or of a list."""
    return number % every == 0 if isinstance(every, int) else number in every


def weights_of(op, x, y, of_examples, of_classes):
    """The weights of the examples, a list for several outputs; None: none are given."""
    if of_examples is None and of_classes is None:
        return None
    if of_examples is not None and of_classes is not None:
        raise ValueError(
            "You cannot `class_weight` and `sample_weight` at the same time. Received both."
        )
    if not _is_arrays(x):
        if of_examples is not None:
            raise ValueError(
                message(op, "sample_weight beside a data set", type(x).__name__,
                        "a data set of (x, y, weights)")
            )  # fmt: skip
        return None
    if of_examples is not None:
        return trees.transform(lambda a: nb.asarray(a).astype("f4"), arrays(of_examples))
    if isinstance(y, (list, tuple, dict)) and not _is_plain(y):
        raise ValueError("`class_weight` is only supported for Models with a single output.")
    return of_labels(y, of_classes)


def of_labels(y, of_classes):
    """The weight of the class of each label, 1 for those that have none."""
    labels = numpy.asarray(convert(y).numpy())
    if labels.ndim > 1:
        labels = labels.argmax(-1) if labels.shape[-1] > 1 else labels[..., 0]
    labels = numpy.rint(labels).astype("i8")
    found = numpy.ones(labels.shape, "f4")
    for number, weight in of_classes.items():
        found[labels == int(number)] = weight
    return nb.asarray(found)


def _is_plain(y):
    return isinstance(y, (list, tuple)) and not hasattr(y[0], "shape")


def _is_arrays(x):
    return not (isinstance(x, (Dataset, PyDataset)) or hasattr(x, "__next__"))


def split(parts, share):
    """Two of each array: the first examples, and the last ones, a share of all."""
    parts = [arrays(a) for a in parts]
    cut = math.floor(len(trees.flatten(parts[0])[0][0]) * (1 - share))
    return [trees.transform(lambda a: a[:cut], a) for a in parts], [
        trees.transform(lambda a: a[cut:], a) for a in parts
    ]


def tensors(x):
    """Arrays as tensors."""
    return trees.transform(lambda a: Tensor(as_array(a)), arrays(x))


def shapes(symbols):
    """The shapes of symbolic tensors, in their structure."""
    return trees.transform(lambda x: x.shape, symbols)


class Batches:
    """(x, y) or (x, y, weights): of a data set, or of arrays that are cut, shuffled or not."""

    def __init__(self, x, y, size, shuffle, weights=None, of_classes=None):
        self._weights, self._of_classes, self._shuffle = weights, of_classes, shuffle
        self._data = None if _is_arrays(x) else x
        if self._data is not None:
            if y is not None:
                raise ValueError("`y` should not be passed when `x` is a data set.")
            n = None
            if isinstance(x, PyDataset):
                n = len(x)
            elif isinstance(x, Dataset):
                n = x._count
            self.count = None if n in (None, float("inf")) else n
            return
        self._x, self._y, self._size = arrays(x), arrays(y), size
        n = len(trees.flatten(self._x)[0][0])
        sizes = [len(a) for a in trees.flatten(self._y)[0]]
        sizes += [len(a) for a in trees.flatten(weights)[0] if a is not None]
        if any([m != n for m in sizes]):
            raise ValueError(
                f"Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                f"samples. 'x' sizes: {n}, 'y' sizes: {', '.join(map(str, sizes))}"
            )
        self._n, self.count = n, -(-n // size)

    def __iter__(self):
        return self._of_data() if self._data is not None else self._of_arrays()

    def _items(self):
        if not isinstance(self._data, PyDataset):
            yield from self._data
            return
        self._data.on_epoch_begin()
        order = range(len(self._data))
        if self._shuffle:
            order = _drawn_order(len(self._data))
        for k in order:
            yield self._data[int(k)]
        self._data.on_epoch_end()

    def _of_data(self):
        made = isinstance(self._data, Dataset)
        for item in self._items():
            item = item if isinstance(item, tuple) else (item, None)
            if not 1 <= len(item) <= 3:
                raise ValueError(
                    message("fit", "batches are no pairs", len(item), "(x, y), or with weights")
                )
            item = item if len(item) > 1 else (*item, None)
            if not made:  # arrays of a program's own
                item = tuple([None if a is None else tensors(a) for a in item])
            if self._of_classes is not None:
                if len(item) == 3:
                    raise ValueError(
                        "You cannot `class_weight` and `sample_weight` at the same time. Received"
                        " both."
                    )
                item = (*item, Tensor(as_array(of_labels(item[1], self._of_classes))))
            yield item

    def _of_arrays(self):
        order = None
        if self._shuffle:
            order = nb.argsort(as_array(_ops.drawn("random", (self._n,), None)))
        for k in range(0, self._n, self._size):
            part = slice(k, k + self._size)
            part = part if order is None else order[part]
            given = (self._x, self._y)
            given += () if self._weights is None else (self._weights,)
            yield trees.transform(lambda a: Tensor(as_array(a[part])), given)  # noqa: B023


def _drawn_order(n):
    return nb.argsort(as_array(_ops.drawn("random", (n,), None))).tolist()


class Epochs:
    """Batches of one epoch each time: all, or so many, which go on where the last epoch ended.

    Where data end within an epoch, so does it, and the next one begins anew.
    """

    def __init__(self, batches, steps):
        self.batches, self.steps = batches, steps
        self._going, self._seen = None, 0

    def begin(self):
        """Has the next epoch begin anew."""
        self._going = None

    def __iter__(self):
        if self.steps is None:
            yield from self.batches
            return
        count = self.batches.count
        if self._going is None or (count and self._seen >= count):
            self._going, self._seen = iter(self.batches), 0
        for k in range(self.steps):
            batch = None
            if not count or self._seen < count:
                batch = next(self._going, None)
                if batch is None and not k:
                    self._going, self._seen = iter(self.batches), 0
                    batch = next(self._going, None)
            if batch is None:
                warnings.warn(
                    "Your input ran out of data; interrupting training. Make sure that your "
                    "dataset or generator can generate at least `steps_per_epoch * epochs` "
                    "batches. You may need to use the `.repeat()` function when building your "
                    "dataset.",
                    stacklevel=3,
                )
                self._going = None
                return
            self._seen += 1
            yield batch


def arrays(x):
    """Arrays of Numbus's, float64 as float32, which is the type of layers; also in dicts and lists
    of arrays.
    """
    if x is None:
        return None
    if isinstance(x, dict):
        return {key: arrays(a) for key, a in x.items()}
    if isinstance(x, (list, tuple)) and x and hasattr(x[0], "shape") and len(x[0].shape):
        return [arrays(a) for a in x]
    a = convert(x)._value()
    return a.astype("f4") if a.dtype == numpy.float64 else a
