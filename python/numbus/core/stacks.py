"""Stacks of small matrices, decomposed by several threads: NumPy goes through them on one, without
Python's lock.
"""

import concurrent.futures
import contextvars
import functools
import itertools
import os

import numpy

from .. import _core

# LAPACK has threads of its own for matrices of so many rows.
_SMALL = 64
# Multiplications from which the parts pay for handing them over: some milliseconds.
_MANY = 4_000_000
# Of systems, inverses and determinants: some ns a matrix beside a quarter for each multiplication,
# and how many ns pay.
_CALL, _LONG = 200, 10_000_000


@functools.cache
def _pool():
    return concurrent.futures.ThreadPoolExecutor(_core.num_threads() - 1, "numbus-stacks")


os.register_at_fork(after_in_child=_pool.cache_clear)


def _parts(a, quick):
    """The slices of a stack's first axis that threads take; fewer than two: one thread does."""
    if not isinstance(a, numpy.ndarray) or a.ndim < 3 or a.size == 0:
        return []
    rows, columns = a.shape[-2:]
    if max(rows, columns) >= _SMALL or a.size * min(rows, columns) < _MANY:
        return []
    if quick and a.size // (rows * columns) * (_CALL + rows**3 / 4) < _LONG:
        return []
    count = min(_core.num_threads(), len(a))
    ends = [len(a) * k // count for k in range(count + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _shared(args, part):
    """The further operands as a part of the stack sees them; None: they are no stack as long."""
    a, given = args[0], []
    for x in args[1:]:
        if isinstance(x, numpy.ndarray) and x.ndim >= a.ndim:
            if x.ndim > a.ndim or len(x) not in (1, len(a)):
                return None
            x = x[part] if len(x) > 1 else x
        given.append(x)
    return given


def _joined(results):
    if isinstance(results[0], numpy.ndarray):
        return numpy.concatenate(results)
    fields = [numpy.concatenate(of) for of in zip(*results)]
    kind = type(results[0])
    return kind(*fields) if hasattr(kind, "_fields") else kind(fields)


def by_stacks(function, quick):
    """`function(a, …)`, a decomposition of each matrix of a stack: NumPy's results, bit for bit.

    quick: it takes a matrix a few multiplications for each element of a row.

    Raises what the first of the parts that failed raises, after all have ended.
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        parts = _parts(args[0], quick) if args else []
        rest = [_shared(args, p) for p in parts]
        if len(parts) < 2 or rest[0] is None:
            return function(*args, **kwargs)
        a = args[0]
        # np.errstate is part of the context.
        others = [
            _pool().submit(contextvars.copy_context().run, function, a[p], *more, **kwargs)
            for p, more in zip(parts[1:], rest[1:])
        ]
        try:
            first = function(a[parts[0]], *rest[0], **kwargs)
        finally:
            concurrent.futures.wait(others)
        return _joined([first, *[o.result() for o in others]])

    return call
