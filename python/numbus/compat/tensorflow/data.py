"""tf.data: data sets as chains of iterators."""

import itertools as _itertools

import numpy as _numpy

import numbus as _nb

from ...core import trees as _trees
from ...core.errors import message as _message
from .._missing import missing as _missing
from ._function import TensorSpec
from ._ops import drawn
from ._tensor import Tensor, as_array, convert

__name__ = "tensorflow.data"
AUTOTUNE = -1


class _Structure:
    """Tuples and dicts of tensors; a list is an array, as in TensorFlow."""

    @staticmethod
    def tensors(tree):
        if isinstance(tree, dict):
            return {k: _Structure.tensors(v) for k, v in tree.items()}
        if isinstance(tree, tuple):
            return tuple([_Structure.tensors(v) for v in tree])
        return convert(tree)


class Dataset:
    """A sequence of tensors, or of tuples and dicts of them, gone through repeatedly."""

    def __init__(self, start, count=None):
        self._start, self._count = start, count

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The parts along the first axis, which has to be equally long in all."""
        tree = _Structure.tensors(tensors)
        leaves, shape = _trees.flatten(tree)
        sizes = {len(x) for x in leaves}
        if len(sizes) != 1:
            raise ValueError(
                _message("from_tensor_slices", "first axes of different lengths", sorted(sizes),
                         "one length")
            )  # fmt: skip
        (n,) = sizes
        arrays = [x._value() for x in leaves]

        def start():
            for k in range(n):
                yield _trees.unflatten(shape, [Tensor(as_array(a[k])) for a in arrays])

        made = Dataset(start, n)
        made._sliced = arrays, shape  # batches are slices
        _name(name)
        return made

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element."""
        _name(name)
        tree = _Structure.tensors(tensors)
        return Dataset(lambda: iter([tree]), 1)

    @staticmethod
    def range(*args, output_type="int64", name=None):
        """Numbers as of Python's range."""
        _name(name)
        numbers = _numpy.arange(*args).astype(_numpy.dtype(str(output_type).removeprefix("tf.")))
        return Dataset.from_tensor_slices(numbers)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None,
                       output_signature=None, name=None):  # fmt: skip
        """What a function's iterators give, as tensors of the types that are told."""
        _name(name)
        if output_shapes is not None or args is not None:
            raise NotImplementedError(
                _message("from_generator", "output_shapes= and args= are not yet available",
                         (output_shapes, args), "output_signature")
            )  # fmt: skip
        kinds = output_types if output_signature is None else _trees.transform(
            lambda s: s.dtype, output_signature
        )  # fmt: skip

        def start():
            for item in generator():
                if kinds is None:
                    yield _Structure.tensors(item)
                elif isinstance(kinds, tuple):
                    yield tuple([convert(x, k._numpy) for x, k in zip(item, kinds, strict=True)])
                else:
                    yield convert(item, kinds._numpy)

        return Dataset(start)

    @staticmethod
    def zip(*datasets, name=None):
        """Tuples of the elements of several data sets, as long as the shortest."""
        _name(name)
        if len(datasets) == 1 and isinstance(datasets[0], tuple):
            (datasets,) = datasets
        counts = [d._count for d in datasets]
        return Dataset(
            lambda: zip(*datasets, strict=False), None if None in counts else min(counts)
        )

    _sliced = None

    def __iter__(self):
        return iter(self._start())

    def __len__(self):
        if self._count is None:
            raise TypeError("The dataset length is unknown.")
        if self._count == float("inf"):
            raise TypeError("The dataset is infinite.")
        return self._count

    def cardinality(self):
        """The number of elements; -1 if there is no end, -2 if it is not known."""
        n = {None: -2, float("inf"): -1}.get(self._count, self._count)
        return convert(_numpy.int64(n))

    def as_numpy_iterator(self):
        """The elements as arrays of NumPy's, which in a script are Numbus's."""
        for item in self:
            yield _trees.transform(lambda x: x.numpy(), item)

    @property
    def element_spec(self):
        """The shapes and types of an element."""
        return _trees.transform(lambda x: TensorSpec(x.shape, x.dtype), next(iter(self)))

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None):
        """`map_func` of each element; of tuples, of their items. One after another."""
        _name(name)
        _hints("map", num_parallel_calls, deterministic)

        def start():
            for item in self:
                found = map_func(*item) if isinstance(item, tuple) else map_func(item)
                found = tuple(found) if isinstance(found, list) else found
                yield _Structure.tensors(found)

        return Dataset(start, self._count)

    def filter(self, predicate, name=None):
        """The elements for which `predicate` is true."""
        _name(name)

        def start():
            for item in self:
                if bool(predicate(*item) if isinstance(item, tuple) else predicate(item)):
                    yield item

        return Dataset(start)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None,
              deterministic=None, name=None):  # fmt: skip
        """Elements stacked, `batch_size` at a time."""
        _name(name)
        _hints("batch", num_parallel_calls, deterministic)
        size = int(batch_size)
        count = self._count
        if count not in (None, float("inf")):
            count = count // size if drop_remainder else -(-count // size)

        def start():
            if self._sliced is not None:
                arrays, shape = self._sliced
                for k in range(count):
                    parts = [Tensor(a[k * size : (k + 1) * size]) for a in arrays]
                    yield _trees.unflatten(shape, parts)
                return
            items = iter(self)
            while chosen := list(_itertools.islice(items, size)):
                if len(chosen) == size or not drop_remainder:
                    yield _stacked(chosen)

        return Dataset(start, count)

    def unbatch(self, name=None):
        """The parts of the elements along the first axis."""
        _name(name)

        def start():
            for item in self:
                leaves, shape = _trees.flatten(item)
                for parts in zip(*leaves, strict=True):
                    yield _trees.unflatten(shape, list(parts))

        return Dataset(start)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """The elements in random order, drawn from the next `buffer_size` ones."""
        _name(name)
        size = int(buffer_size)
        if size < 1:
            raise ValueError(_message("shuffle", "an empty buffer", size, "one or more"))
        fixed = seed if seed is not None else (
            None if reshuffle_each_iteration else int(drawn("random", (), None) * 2**31)
        )  # fmt: skip
        turns = _itertools.count()

        def start():
            first = int(drawn("random", (), None) * 2**31) if fixed is None else fixed
            again = next(turns) if reshuffle_each_iteration else 0
            rng = _numpy.random.default_rng([first, again])
            whole = self._sliced is not None and size >= self._count
            if whole:
                arrays, shape = self._sliced
                for k in rng.permutation(self._count).tolist():
                    yield _trees.unflatten(shape, [Tensor(as_array(a[k])) for a in arrays])
                return
            buffer = []
            for item in self:
                if len(buffer) < size:
                    buffer.append(item)
                    continue
                k = int(rng.integers(size))
                yield buffer[k]
                buffer[k] = item
            for k in rng.permutation(len(buffer)).tolist():
                yield buffer[k]

        return Dataset(start, self._count)

    def repeat(self, count=None, name=None):
        """The elements `count` times, or for ever."""
        _name(name)
        endless = count is None or count == -1
        total = None if self._count is None else (
            float("inf") if endless else self._count * int(count)
        )  # fmt: skip

        def start():
            for _ in _itertools.count() if endless else range(int(count)):
                yield from self

        return Dataset(start, total)

    def take(self, count, name=None):
        """The first elements."""
        _name(name)
        n = count if self._count in (None, float("inf")) else min(count, self._count)
        return Dataset(lambda: _itertools.islice(iter(self), count),
                       None if self._count is None else n)  # fmt: skip

    def skip(self, count, name=None):
        """The elements after the first ones."""
        _name(name)
        left = self._count if self._count in (None, float("inf")) else max(self._count - count, 0)
        return Dataset(lambda: _itertools.islice(iter(self), count, None), left)

    def concatenate(self, dataset, name=None):
        """The elements of both."""
        _name(name)
        total = None if None in (self._count, dataset._count) else self._count + dataset._count
        return Dataset(lambda: _itertools.chain(iter(self), iter(dataset)), total)

    def enumerate(self, start=0, name=None):
        """Pairs of a number and an element."""
        _name(name)

        def begin():
            for k, item in enumerate(self):
                yield convert(_numpy.int64(start + k)), item

        return Dataset(begin, self._count)

    def cache(self, filename="", name=None):
        """The elements, kept in memory when they have been gone through once."""
        _name(name)
        if filename:
            raise NotImplementedError(
                _message("cache", "files are not yet available", filename, "memory")
            )
        kept = []

        def start():
            if not kept:
                kept.append(list(self))
            return iter(kept[0])

        return Dataset(start, self._count)

    def prefetch(self, buffer_size, name=None):
        """The data set itself: work is queued anyway."""
        _name(name)
        _hints("prefetch", buffer_size, None)
        return self

    def with_options(self, options, name=None):
        """Not served."""
        return _missing("tf.data.Dataset", f"with_options({options}, {name})")

    def __repr__(self):
        return f"<Dataset element_spec={self.element_spec}>"


def _name(name):
    if name is not None and not isinstance(name, str):
        raise TypeError(_message("tf.data", "a name that is no text", name, "a str"))


def _hints(op, number, deterministic):
    """How much is done ahead changes no result."""
    if number is not None and not isinstance(number, (int, Tensor)):
        raise TypeError(_message(op, "not a number", number, "an int, or tf.data.AUTOTUNE"))
    if deterministic not in (None, True, False):
        raise TypeError(_message(op, "not a bool", deterministic, "True or False"))


def _stacked(items):
    flat = [_trees.flatten(item)[0] for item in items]
    columns = [_nb.stack([x._value() for x in same]) for same in zip(*flat, strict=True)]
    return _trees.unflatten(_trees.flatten(items[0])[1], [Tensor(a) for a in columns])


class experimental:
    """`tf.data.experimental`."""

    AUTOTUNE = AUTOTUNE


def __getattr__(name):
    return _missing("tf.data", name)
