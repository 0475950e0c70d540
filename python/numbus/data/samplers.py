"""Samplers: the order in which examples are asked for, and how they make batches."""

import itertools
import math
import os
import types

from ..core.errors import message
from ..dist import group
from ..tensors import Tensor, multinomial, randint, randperm, tensor
from ..tensors.random import Generator

__all__ = [
    "BatchSampler", "DistributedSampler", "RandomSampler", "Sampler", "SequentialSampler",
    "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip


class Sampler:
    """The base of samplers: a subclass defines `__iter__`, and `__len__`."""

    # Programs say what it holds: `Sampler[Tensor]`.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, _data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError(
            message(type(self).__name__, "a sampler without an order", "no __iter__", "one")
        )


class SequentialSampler(Sampler):
    """All examples in their order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """All examples in random order, or `num_samples` of them; drawn independently if `replacement`.

    generator: where random numbers come from; that of `manual_seed` unless given.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if not isinstance(replacement, bool):
            raise TypeError(
                message("RandomSampler", "replacement is no bool", replacement, "True or False")
            )
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                message("RandomSampler", "num_samples", self.num_samples, "a positive int")
            )

    @property
    def num_samples(self):
        """How many examples are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, left = len(self.data_source), self.num_samples
        if self.replacement:
            yield from randint(0, n, (left,), generator=self.generator).tolist()
            return
        while left > 0:
            order = randperm(n, generator=self.generator).tolist()
            yield from order[:left]
            left -= n

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The examples of these numbers in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for k in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """`num_samples` numbers drawn with the weights of a sequence."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                message("WeightedRandomSampler", "num_samples", num_samples, "a positive int")
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                message("WeightedRandomSampler", "replacement is no bool", replacement,
                        "True or False")
            )  # fmt: skip
        self.weights = weights if isinstance(weights, Tensor) else tensor(list(weights))
        if self.weights.ndim != 1:
            raise ValueError(
                message("WeightedRandomSampler", "weights are no line",
                        tuple(self.weights.shape), "one dimension")
            )  # fmt: skip
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self):
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers of another sampler; the last one may be shorter, unless
    `drop_last`. ValueError for a size that is no positive int.
    """

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                message("BatchSampler", "batch_size should be a positive integer value",
                        batch_size, "1 and more")
            )  # fmt: skip
        if not isinstance(drop_last, bool):
            raise ValueError(
                message("BatchSampler", "drop_last is no bool", drop_last, "True or False")
            )
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        numbers = iter(self.sampler)
        while len(batch := list(itertools.islice(numbers, self.batch_size))) == self.batch_size:
            yield batch
        if batch and not self.drop_last:
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _of_ranks(ask, variable, default):
    """What a joined group says, else a variable of the environment."""
    return ask() if group.is_initialized() else int(os.environ.get(variable, default))


class DistributedSampler(Sampler):
    """Every `num_replicas`-th example from `rank` on, in an order that `set_epoch` changes.

    All ranks get equally many: some examples twice, or none of the last ones with `drop_last`.
    Ranks are those of `dist.init_process_group()`, or of the variables WORLD_SIZE and RANK, unless
    given. ValueError for a rank that is none of the replicas.
    """

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        if num_replicas is None:
            num_replicas = _of_ranks(group.get_world_size, "WORLD_SIZE", "1")
        if rank is None:
            rank = _of_ranks(group.get_rank, "RANK", "0")
        if not 0 <= rank < num_replicas:
            raise ValueError(
                message("DistributedSampler", "invalid rank", rank, f"0 to {num_replicas - 1}")
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def set_epoch(self, epoch):
        """Has the next order be the one of that epoch."""
        self.epoch = epoch

    def __iter__(self):
        order = list(range(len(self.dataset)))
        if self.shuffle:
            mixed = Generator().manual_seed(self.seed + self.epoch)
            order = randperm(len(order), generator=mixed).tolist()
        while order and len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples
