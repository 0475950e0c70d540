"""Workers that fetch batches: processes, or threads of this one."""

import copy
import multiprocessing
import os
import queue
import random
import signal
import threading
import traceback
import warnings
from multiprocessing import connection

import numpy

from .. import _core
from ..core.devices import device
from ..core.errors import message
from ..tensors import manual_seed
from .transport import receive, send


class WorkerInfo:
    """Which worker of a loader this is: `id`, `num_workers`, `seed` and `dataset`, its copy."""

    def __init__(self, id, num_workers, seed, dataset):
        self.id, self.num_workers, self.seed, self.dataset = id, num_workers, seed, dataset

    def __repr__(self):
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


_here = threading.local()


def get_worker_info():
    """The WorkerInfo of the worker that calls it; None outside of workers."""
    return getattr(_here, "info", None)


class Failure:
    """An error of a worker: its kind, and its text with the traceback."""

    def __init__(self, error, where):
        self.kind = type(error)
        self.text = "".join(traceback.format_exception(error))
        self.where = where

    def reraise(self):
        """Raises an error of the same kind with the worker's traceback in its text."""
        text = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.kind(_Text(text) if issubclass(self.kind, KeyError) else text)
        except Exception:  # a kind that takes other arguments
            error = RuntimeError(text)
        raise error

    def __reduce__(self):
        return _failure, (self.kind, self.text, self.where)


def _failure(kind, text, where):
    made = object.__new__(Failure)
    made.kind, made.text, made.where = kind, text, where
    return made


class _Text(str):
    """A text that is shown as it is, of a KeyError too, which shows its representation."""

    def __repr__(self):
        return str(self)


class Job:
    """What a worker is given at its beginning."""

    def __init__(self, dataset, fetcher, number, count, init):
        self.dataset, self.fetcher, self.number, self.count = dataset, fetcher, number, count
        self.init = init


def serve(take, give, job, kind):
    """Answers requests until there is None.

    ("epoch", seed) begins one, without an answer; ("fetch", what) is answered by ("batch", batch),
    ("end",) or a Failure.
    """
    where = f"in DataLoader worker {kind} {job.number}"
    failed, fetcher, begun = None, None, False
    while True:
        asked = take()
        if asked is None:
            return
        order, given = asked
        if order == "epoch":
            seed = given + job.number
            _here.info = WorkerInfo(job.number, job.count, seed, job.dataset)
            try:
                if kind == "process":
                    _seed(seed)
                if job.init is not None and not begun:
                    job.init(job.number)
                begun = True
                fetcher = job.fetcher(job.dataset)
            except Exception as error:
                failed = Failure(error, where)
            continue
        if failed is not None:
            give(failed)
            failed = None
            continue
        try:
            found = ("end",) if fetcher is None else ("batch", fetcher(given))
            if kind == "thread":  # the work is the worker's, and a batch at rest can be copied on
                _core.flush("a batch of a DataLoader")
        except StopIteration:
            found = ("end",)
        except Exception as error:
            found = Failure(error, where)
        give(found)


def _seed(seed):
    device("cpu")  # a GPU's context does not survive a fork, and a worker's arrays are sent anyway
    random.seed(seed)
    manual_seed(seed)
    numpy.random.seed(numpy.random.SeedSequence(seed).generate_state(4))


class Threaded:
    """A worker that is a thread, with a shallow copy of the dataset."""

    def __init__(self, job):
        job.dataset = copy.copy(job.dataset)
        self._asked, self._found = queue.SimpleQueue(), queue.SimpleQueue()
        self._thread = threading.Thread(
            target=serve, args=(self._asked.get, self._found.put, job, "thread"), daemon=True
        )
        self._thread.start()

    def ask(self, x):
        self._asked.put(x)

    def wait(self, timeout):
        """The answer to the request that was made first. TimeoutError after `timeout` seconds."""
        try:
            return self._found.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError from None

    def is_ready(self):
        """Whether an answer has come."""
        return not self._found.empty()

    def stop(self):
        self._asked.put(None)


class Forked:
    """A worker that is a process."""

    def __init__(self, job, context):
        self._connection, other = context.Pipe(duplex=True)
        self._number = job.number
        self._process = context.Process(
            target=_main, args=(other, self._connection, job, os.getpid()), daemon=True
        )
        with warnings.catch_warnings():
            # The core's own threads are prepared for it.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded")
            self._process.start()
        other.close()

    def ask(self, x):
        try:
            send(self._connection, self._process.pid, x)
        except OSError:
            return  # it has ended, which wait() says

    def wait(self, timeout):
        """The answer to the request that was made first. TimeoutError after `timeout` seconds;
        RuntimeError where the process has ended.
        """
        ready = connection.wait([self._connection, self._process.sentinel], timeout)
        if not ready:
            raise TimeoutError
        try:
            if self._connection in ready or self._connection.poll(0):
                return receive(self._connection)
        except (EOFError, ConnectionError):
            pass
        self._process.join(1)
        raise RuntimeError(
            message("DataLoader", f"worker process {self._number} exited unexpectedly",
                    f"exit code {self._process.exitcode}", "a dataset that does not end it")
        )  # fmt: skip

    def is_ready(self):
        """Whether an answer has come."""
        return self._connection.poll(0)

    def stop(self):
        if self._connection.closed:
            return
        try:
            send(self._connection, self._process.pid, None)
        except OSError:
            pass
        self._connection.close()
        if self._process._parent_pid == os.getpid():
            self._process.join(2)
            if self._process.is_alive():
                self._process.terminate()
                self._process.join()


def _main(own, parents, job, parent):
    parents.close()  # else its end would never be seen to close
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    above = multiprocessing.parent_process()
    watched = [own] if above is None else [own, above.sentinel]

    def take():
        ready = connection.wait(watched)
        return receive(own) if own in ready else None

    try:
        serve(take, lambda x: send(own, parent, x), job, "process")
    except (EOFError, ConnectionError):
        return  # the parent is no longer interested
    finally:
        own.close()


def start(job, context):
    """A worker: a thread if `context` is "thread", else a process of that context."""
    return Threaded(job) if context == "thread" else Forked(job, context)
