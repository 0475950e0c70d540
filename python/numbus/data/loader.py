"""DataLoader: batches of examples, fetched here or by workers."""

import collections.abc
import multiprocessing
import types
import warnings
import weakref
from collections import deque

from .. import _core
from ..core.errors import message
from ..core.trees import flatten
from ..tensors import Tensor
from ..tensors.random import rng
from .collate import default_collate, default_convert
from .datasets import IterableDataset, TensorDataset
from .samplers import BatchSampler, RandomSampler, SequentialSampler
from .workers import Failure, Job, start


class _Always:
    """The sampler of iterable datasets: it asks for the next one without an end."""

    def __iter__(self):
        while True:
            yield None


class _ByNumber:
    """Fetches the examples that have been asked for."""

    def __init__(self, dataset, batched, collate):
        self.dataset, self.batched, self.collate = dataset, batched, collate

    def __call__(self, asked):
        if not self.batched:
            return self.collate(self.dataset[asked])
        if type(self.dataset) is TensorDataset and self.collate is default_collate:
            return self.dataset.batch(list(asked))
        several = getattr(self.dataset, "__getitems__", None)
        if callable(several):
            return self.collate(several(asked))
        return self.collate([self.dataset[k] for k in asked])


class _InTurn:
    """Fetches the next examples of an iterable dataset; StopIteration at its end."""

    def __init__(self, dataset, batched, collate, drop_last):
        self.examples = iter(dataset)
        self.batched, self.collate, self.drop_last = batched, collate, drop_last

    def __call__(self, asked):
        if not self.batched:
            return self.collate(next(self.examples))
        found = []
        for _ in asked:
            try:
                found.append(next(self.examples))
            except StopIteration:
                break
        if not found or (self.drop_last and len(found) < len(asked)):
            raise StopIteration
        return self.collate(found)


class _Fetcher:
    """Makes what fetches from a dataset; it travels to workers."""

    def __init__(self, loader):
        self.batched = loader._batched
        self.collate, self.drop_last = loader.collate_fn, loader.drop_last
        self.by_number = not loader._iterable

    def __call__(self, dataset):
        if self.by_number:
            return _ByNumber(dataset, self.batched, self.collate)
        return _InTurn(dataset, self.batched, self.collate, self.drop_last)


class DataLoader:
    """Iterates over batches of a dataset.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
    batch_size : int or None, default 1
        None: examples one by one, without a batch.
    shuffle : bool, optional
        A random order, anew for each epoch.
    sampler, batch_sampler : iterable, optional
        The numbers of examples, or lists of them for each batch.
    num_workers : int, default 0
        How many workers fetch batches ahead; 0: they are fetched when they are asked for.
    collate_fn : callable, optional
        What makes a batch of a list of examples; `default_collate` unless given.
    pin_memory : bool, default False
        Tensors are put where a GPU copies from fastest.
    drop_last : bool, default False
        Leaves a last batch out that is not complete.
    timeout : float, default 0
        Seconds after which a batch that has not come raises RuntimeError; 0: never.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    multiprocessing_context : str or context, optional
        "fork" (on Linux, unless given), "spawn" or "forkserver"; "thread": workers are threads of
        this process, which need no copies and share the random numbers of the process.
    generator : Generator, optional
        Where the order and the workers' seeds come from.
    prefetch_factor : int, optional
        How many batches each worker fetches ahead, 2 unless given.
    persistent_workers : bool, default False
        Whether workers go on to the next epoch.
    pin_memory_device : str
        Deprecated; only "" and "cuda".
    in_order : bool, default True
        False: batches may come in any order; they come in theirs, which that allows.

    Raises
    ------
    ValueError
        For arguments that exclude each other.
    Exception
        What a worker's dataset raises, with the worker's traceback in its text; RuntimeError where
        a worker process has ended.

    Notes
    -----
    Batches come in the order of the sampler, whichever worker is first. Worker processes put
    elements in shared memory, of which batches are made without a copy; each has the seed of the
    loader's base seed and its number for `random`, `numpy.random` and `manual_seed`.
    """

    # Programs say what it holds: `DataLoader[Tensor]`.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        _check(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        if pin_memory_device not in ("", "cuda"):
            raise ValueError(
                message("DataLoader", "pin_memory_device", pin_memory_device, "'' or 'cuda'")
            )
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                message("DataLoader", "an IterableDataset has an order of its own",
                        "shuffle, sampler or batch_sampler", "none of them")
            )  # fmt: skip
        if sampler is not None and shuffle:
            raise ValueError(
                message("DataLoader", "sampler option is mutually exclusive with shuffle", "both",
                        "one of them")
            )  # fmt: skip
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    message("DataLoader", "batch_sampler is mutually exclusive with batch_size, "
                            "shuffle, sampler and drop_last", "both", "one of them")
                )  # fmt: skip
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                message("DataLoader", "drop_last without batches", "batch_size=None", "False")
            )
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers = persistent_workers
        if sampler is None:
            if self._iterable:
                sampler = _Always()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None:
            drop = drop_last and not self._iterable  # which only the dataset's end tells
            batch_sampler = BatchSampler(sampler, batch_size, drop)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self._batched = batch_sampler is not None
        if collate_fn is None:
            collate_fn = default_collate if self._batched else default_convert
        self.collate_fn = collate_fn
        self._kept = None
        self._fixed = True

    def __setattr__(self, name, value):
        if name in _FIXED and "_fixed" in self.__dict__:
            raise ValueError(
                message("DataLoader", f"{name} is set after the loader was made", value,
                        "another DataLoader")
            )  # fmt: skip
        super().__setattr__(name, value)

    def _tasks(self):
        return iter(self.batch_sampler if self._batched else self.sampler)

    def _base_seed(self):
        return int(rng(self.generator).integers(2**62))

    def __iter__(self):
        if self.num_workers == 0:
            return _Here(self)
        if not self.persistent_workers:
            return _ByWorkers(self)
        if self._kept is None:
            self._kept = _ByWorkers(self)
        else:
            self._kept.begin()
        return self._kept

    def __len__(self):
        """The number of batches. TypeError for a dataset without a length."""
        if not self._iterable:
            return len(self.batch_sampler if self._batched else self.sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def _finished(self, batch):
        return pinned(batch) if self.pin_memory else batch


_FIXED = frozenset("batch_size batch_sampler sampler drop_last dataset persistent_workers".split())


def _check(num_workers, timeout, prefetch_factor, persistent_workers, context):
    if num_workers < 0:
        raise ValueError(message("DataLoader", "num_workers is negative", num_workers, ">= 0"))
    if timeout < 0:
        raise ValueError(message("DataLoader", "timeout is negative", timeout, ">= 0"))
    if num_workers == 0:
        for name, value in (
            ("prefetch_factor", prefetch_factor), ("persistent_workers", persistent_workers),
            ("multiprocessing_context", context),
        ):  # fmt: skip
            if value:
                raise ValueError(
                    message("DataLoader", f"{name} needs workers", value, "num_workers > 0")
                )
    elif prefetch_factor is not None and prefetch_factor < 1:
        raise ValueError(message("DataLoader", "prefetch_factor", prefetch_factor, ">= 1"))


def _context(given):
    if given == "thread":
        return given
    known = multiprocessing.get_all_start_methods()
    if given is None:
        return multiprocessing.get_context("fork" if "fork" in known else "spawn")
    if isinstance(given, str):
        if given not in known:
            expected = ", ".join([*known, "thread"])
            raise ValueError(message("DataLoader", "multiprocessing_context", given, expected))
        return multiprocessing.get_context(given)
    return given


def pinned(x):
    """The tensors of a batch in memory that a GPU copies from fastest."""
    if isinstance(x, Tensor) or (hasattr(x, "pin_memory") and not isinstance(x, (str, bytes))):
        return x.pin_memory()
    if isinstance(x, collections.abc.Mapping):
        return {key: pinned(value) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[pinned(value) for value in x])
    if isinstance(x, (tuple, list)):
        return type(x)([pinned(value) for value in x])
    return x


class _Moves:
    """Where the program copies its batches to, and copies there that are begun before it asks."""

    def __init__(self, own):
        self._own, self.target = own, None
        self._out, self._begun = [], []

    def _of(self, batch, target):
        tensors = [x for x in flatten(batch)[0] if isinstance(x, Tensor) and not x.requires_grad]
        return [_core.Ahead(t._array, target, self._own) for t in tensors]

    def begin(self, batch):
        self._begun = self._of(batch, self.target)

    def hand_out(self, batch):
        self._out, self._begun = self._begun or self._of(batch, None), []

    def look(self):
        """Sees what has become of the batch that was handed out last."""
        found = {a.moved_to for a in self._out}
        self.target = found.pop() if len(found) == 1 else None

    def forget(self):
        self._out, self._begun = [], []


def _draws_at_once(sampler):
    """Whether it asks for all random numbers of an epoch before its first example."""
    if type(sampler) is not RandomSampler:
        return type(sampler) is SequentialSampler
    return not sampler.replacement and sampler.num_samples <= len(sampler.data_source)


class _Here:
    """Fetches batches when they are asked for, or while the program waits for a GPU.

    The latter only where nobody can tell: of tensors in memory that nobody outside can change,
    whose elements are the same when the batch is handed out, by code of ours alone.
    """

    def __init__(self, loader):
        self._loader, self._tasks = loader, loader._tasks()
        self._fetch = _Fetcher(loader)(loader.dataset)
        self._may_prepare = (
            type(loader.dataset) is TensorDataset
            and loader.collate_fn is default_collate
            and type(loader.batch_sampler) is BatchSampler
            and _draws_at_once(loader.sampler)
            and loader.batch_sampler.sampler is loader.sampler
        )
        self._moves = None  # once a value was read early
        self._asked = self._ready = None

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        if self._moves is None:
            if not (self._may_prepare and _core.reads_early()):
                return self._loader._finished(self._fetch(next(self._tasks)))
            self._moves = _Moves(own=False)
        self._moves.look()
        ready, self._ready = self._ready, None
        if self._asked is None:
            self._asked = next(self._tasks)
        if ready is not None and ready[0] == self._values():
            batch = ready[1]
        else:
            self._moves.forget()
            batch = self._loader._finished(self._fetch(self._asked))
        self._asked = None
        self._moves.hand_out(batch)
        _core.while_waiting(weakref.ref(self))
        return batch

    def _values(self):
        """What stays as long as the elements do; None where other code can change them."""
        tensors = self._loader.dataset.tensors
        if not all(type(t) is Tensor and not t.requires_grad for t in tensors):
            return None
        values = [_core.own_value(t._array) for t in tensors]
        return values if all(values) else None

    def prepare(self):
        """Fetches the next batch, and begins to copy it to where the program copied the last."""
        self._moves.look()
        values = self._values()
        if self._asked is not None or values is None:
            return
        self._asked = next(self._tasks, None)
        if self._asked is None:
            return
        try:
            batch = self._loader._finished(self._fetch(self._asked))
            self._moves.begin(batch)
        except Exception:  # it comes again where the batch is asked for
            return
        self._ready = values, batch


class _ByWorkers:
    """Has workers fetch batches ahead; each gets every n-th, so that their order is known."""

    def __init__(self, loader):
        self._loader, count = loader, loader.num_workers
        context, fetcher = _context(loader.multiprocessing_context), _Fetcher(loader)
        # What processes send is in memory of its own.
        self._moves = _Moves(own=context != "thread")
        self._early = None
        self._pending = deque()
        self._workers = []
        for k in range(count):
            job = Job(loader.dataset, fetcher, k, count, loader.worker_init_fn)
            self._workers.append(start(job, context))
        self.begin()

    def begin(self):
        """Begins an epoch; what is left of the last one is thrown away."""
        if self._early is not None:
            self._pending.popleft()
            self._early = None
        while self._pending:
            self._pending.popleft().wait(None)
        self._moves.forget()
        self._tasks, self._turn, self._sent = self._loader._tasks(), 0, 0
        self._active = list(self._workers)
        self._came = 0
        seed = self._loader._base_seed()
        for worker in self._workers:
            worker.ask(("epoch", seed))
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._ask()

    def _ask(self):
        """Asks the next worker that has not come to its end for the next batch, if there is one."""
        if not self._active or self._tasks is None:
            return
        try:
            asked = next(self._tasks)
        except StopIteration:
            self._tasks = None
            return
        while True:
            worker = self._workers[self._turn % len(self._workers)]
            self._turn += 1
            if worker in self._active:
                break
        worker.ask(("fetch", asked))
        self._pending.append(worker)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        self._moves.look()
        while self._pending:
            worker = self._pending.popleft()
            try:
                found = self._take(worker)
            except TimeoutError:
                self._stop()
                raise RuntimeError(
                    message("DataLoader", "a batch has not come in time", "none",
                            f"one within {self._loader.timeout} seconds")
                ) from None  # fmt: skip
            except BaseException:
                self._stop()
                raise
            if not isinstance(found, Failure) and found[0] == "end":
                if worker in self._active:
                    self._active.remove(worker)
                self._ask()
                continue
            self._ask()
            if isinstance(found, Failure):
                found.reraise()
            self._came += 1
            self._count()
            batch = found[1]
            self._moves.hand_out(batch)
            self._prepare()
            return batch
        if not self._loader.persistent_workers:
            self._stop()
        raise StopIteration

    def _take(self, worker):
        """The answer of a worker, whose batches are as the program gets them."""
        if self._early is not None:
            found, self._early = self._early, None
            if isinstance(found, Exception):
                raise found
            return found
        return self._finish(worker.wait(self._loader.timeout or None))

    def _finish(self, found):
        if isinstance(found, Failure) or found[0] == "end":
            return found
        return (found[0], self._loader._finished(found[1]))

    def _prepare(self):
        """Begins to copy the next batch, where it has come, to the device of the last one."""
        if self._moves.target is None or not self._pending or not self._pending[0].is_ready():
            return
        try:
            self._early = found = self._finish(self._pending[0].wait(None))
            if not isinstance(found, Failure) and found[0] != "end":
                self._moves.begin(found[1])
        except Exception as error:  # which belongs to the next batch
            self._early = error

    def _count(self):
        """Warns where an iterable dataset gives more than its length says."""
        if not self._loader._iterable or self._came < 2:
            return
        try:
            expected = len(self._loader)
        except (TypeError, NotImplementedError):
            return
        if self._came == expected + 1:
            warnings.warn(
                message("DataLoader", "more batches than the dataset's length says; each worker "
                        "gives all of its copy, unless it asks get_worker_info()", self._came,
                        expected),
                stacklevel=3,
            )  # fmt: skip

    def _stop(self):
        """Ends the workers."""
        for worker in self._workers:
            worker.stop()
        self._workers, self._active = [], []
        self._pending.clear()
        self._early = None
        self._moves.forget()
        if self._loader._kept is self:
            self._loader._kept = None

    def __del__(self):
        if getattr(self, "_workers", None):
            self._stop()
