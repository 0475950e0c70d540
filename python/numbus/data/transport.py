"""How processes hand batches over: pickled, with the elements of arrays in shared memory, of which
the receiver's arrays are made without a copy.
"""

import io
import mmap
import os
import pickle
from multiprocessing import reduction

import numpy

from .._core import ndarray
from ..core.operands import adopt
from ..tensors import Tensor
from ..tensors._tensor import wrap

_SMALL = 1 << 16  # bytes up to which a pipe carries the elements, too
_ALIGNED = 64


def _tensor_of(a, requires_grad):
    t = wrap(adopt(a))
    return t.requires_grad_() if requires_grad else t


class _Pickler(pickle.Pickler):
    """Tensors and arrays of ours as arrays of NumPy, whose elements go apart."""

    def reducer_override(self, x):
        if type(x) is Tensor:
            a = numpy.ascontiguousarray(numpy.asarray(x.detach()._array))
            return _tensor_of, (a, x.requires_grad)
        if type(x) is ndarray:
            return adopt, (numpy.ascontiguousarray(numpy.asarray(x)),)
        return NotImplemented


def send(connection, pid, x):
    """Sends an object to the process `pid` at the other end of a socket of multiprocessing."""
    apart, text = [], io.BytesIO()
    _Pickler(text, protocol=5, buffer_callback=apart.append).dump(x)
    parts = [buffer.raw() for buffer in apart]
    total, at = 0, []
    for part in parts:
        at.append((total, part.nbytes))
        total += -(-part.nbytes // _ALIGNED) * _ALIGNED
    shared = total > _SMALL and hasattr(os, "memfd_create")
    if not shared:
        given = [bytes(part) for part in parts]
        connection.send_bytes(pickle.dumps((text.getvalue(), given, None)))
        return
    file = os.memfd_create("numbus_batch")
    try:
        os.ftruncate(file, total)
        for part, (offset, _) in zip(parts, at, strict=True):
            _write(file, part, offset)
        connection.send_bytes(pickle.dumps((text.getvalue(), at, total)))
        reduction.send_handle(connection, file, pid)
    finally:
        os.close(file)


def _write(file, part, offset):
    done = 0
    while done < part.nbytes:
        done += os.pwrite(file, part[done:], offset + done)


def receive(connection):
    """What send() sent. Raises EOFError where the other end is closed."""
    text, given, total = pickle.loads(connection.recv_bytes())
    if total is None:
        return pickle.loads(text, buffers=[bytearray(part) for part in given])
    file = reduction.recv_handle(connection)
    try:
        memory = memoryview(mmap.mmap(file, total))
    finally:
        os.close(file)
    return pickle.loads(text, buffers=[memory[offset : offset + n] for offset, n in given])
