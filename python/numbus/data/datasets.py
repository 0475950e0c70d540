"""Datasets: examples by their number, or one after the other."""

import bisect
import itertools
import math
import types
import warnings

import numpy

import numbus as nb

from .. import _core
from ..core.errors import message
from ..tensors import randperm, wrap

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset",
    "TensorDataset", "random_split",
]  # fmt: skip


class Dataset:
    """Examples by their number: a subclass defines `__getitem__`, and `__len__`.

    Where it defines `__getitems__(numbers)`, a list of examples, loaders ask for batches by it.
    """

    # Programs say what it holds: `Dataset[Tensor]`.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __getitem__(self, index):
        raise NotImplementedError(
            message(type(self).__name__, "a dataset without examples", "no __getitem__", "one")
        )

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Examples one after the other: a subclass defines `__iter__`.

    Each worker of a loader iterates over a copy; `get_worker_info()` tells which it is.
    """

    def __iter__(self):
        raise NotImplementedError(
            message(type(self).__name__, "a dataset without examples", "no __iter__", "one")
        )

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Examples that are the k-th elements of several tensors, a tuple of those.

    Raises AssertionError for tensors of different first extents.
    """

    def __init__(self, *tensors):
        lengths = [t.shape[0] for t in tensors]
        if len(set(lengths)) != 1:
            raise AssertionError(
                message("TensorDataset", "size mismatch between tensors", lengths,
                        "tensors of one first extent")
            )  # fmt: skip
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]

    def batch(self, numbers):
        """What collating the examples of these numbers gives."""
        numbers = list(numbers)
        if not any([t.requires_grad for t in self.tensors]):
            found = _core.rows([t._array for t in self.tensors], numbers)
            if found is not None:
                return [wrap(a) for a in found]
        if numbers and type(numbers[0]) is int:
            index = numpy.array(numbers)
            if index.dtype == numpy.int64 and index.ndim == 1:
                devices = {t._array.device for t in self.tensors}
                beside = {device: nb.asarray(index, device=device) for device in devices}
                return [t[beside[t._array.device]] for t in self.tensors]
        return [t[numbers] for t in self.tensors]


class StackDataset(Dataset):
    """Examples that are tuples, or dicts, of those of several datasets of one length."""

    def __init__(self, *args, **keywords):
        if bool(args) == bool(keywords):
            raise ValueError(
                message("StackDataset", "datasets by position and by name",
                        f"{len(args)} and {len(keywords)}", "one way, at least one")
            )  # fmt: skip
        self.datasets = args or keywords
        every = list(args or keywords.values())
        lengths = [len(d) for d in every]
        if len(set(lengths)) != 1:
            raise ValueError(
                message("StackDataset", "size mismatch between datasets", lengths, "one length")
            )
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {key: d[index] for key, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """The examples of several datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets or any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError(
                message("ConcatDataset", "datasets", "none, or one without numbers",
                        "datasets with a length")
            )  # fmt: skip
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        n = len(self)
        if not -n <= index < n:
            kind = IndexError if index >= 0 else ValueError  # as PyTorch tells them apart
            raise kind(
                message("ConcatDataset", "no example of that number", index, f"{-n} to {n - 1}")
            )
        index = index % n
        k = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[k][index - (self.cumulative_sizes[k - 1] if k else 0)]


class ChainDataset(IterableDataset):
    """The examples of several iterable datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)

    def __iter__(self):
        for d in self.datasets:
            yield from d

    def __len__(self):
        return sum(len(d) for d in self.datasets)


class Subset(Dataset):
    """The examples of a dataset that a sequence of numbers names."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[k] for k in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices):
        chosen = [self.indices[k] for k in indices]
        several = getattr(self.dataset, "__getitems__", None)
        return several(chosen) if callable(several) else [self.dataset[k] for k in chosen]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Subsets of these lengths, or of these parts of 1, of different examples drawn at random.

    What parts leave over goes to the subsets one by one. Raises ValueError for lengths whose sum is
    not that of the dataset.
    """
    lengths, n = list(lengths), len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + 1e-9:
        for k, part in enumerate(lengths):
            if not 0 <= part <= 1:
                raise ValueError(message("random_split", f"part {k}", part, "0 to 1"))
        lengths = [math.floor(n * part) for part in lengths]
        for k in range(n - sum(lengths)):
            lengths[k % len(lengths)] += 1
        for k, length in enumerate(lengths):
            if length == 0:
                warnings.warn(
                    message("random_split", f"subset {k} is empty", 0, "larger parts"), stacklevel=2
                )
    if sum(lengths) != n:
        raise ValueError(
            message("random_split", "sum of input lengths does not equal the length of the input "
                    "dataset", sum(lengths), n)
        )  # fmt: skip
    order = randperm(n, generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [
        Subset(dataset, order[end - length : end])
        for end, length in zip(ends, lengths, strict=True)
    ]
