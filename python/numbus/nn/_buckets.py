"""Tensors of ranks in parts that travel at once: gradients, which may begin to travel while others
are still being found, and states that one rank hands to all.
"""

import numpy

from .. import _core, dist
from ..core.operands import adopt
from ..dist import nccl
from ..functions.joining import concatenate
from ..tensors import no_grad
from ..tensors._tensor import wrap


def parts_of(tensors, cap):
    """Lists of tensors of one dtype, of `cap` bytes unless one alone has more."""
    made, kind, size = [], None, 0
    for t in tensors:
        n = t._array.nbytes
        if not made or t._array.dtype != kind or size + n > cap:
            made.append([])
            kind, size = t._array.dtype, 0
        made[-1].append(t)
        size += n
    return made


def hand_out(op, group, tensors, cap):
    """Has all ranks take over the tensors of the group's first one."""
    if group.size == 1 or not tensors:
        return
    joined = nccl.link(op, group, *tensors, mixed=True)
    for some in parts_of(tensors, cap):
        if joined is not None:
            _spread(joined.broadcast(op, _line([t._array for t in some]), 0), some)
            continue
        flat = wrap(adopt(_host_line(some)))
        dist.broadcast(flat, group.ranks[0], group)
        _spread(flat._array.to_numpy(), some)


class Gradients:
    """The gradients of parameters, which become sums over all ranks, divided by a number.

    They travel in the opposite order of the parameters, as a backward pass finds them, in parts of
    `cap` bytes. On GPUs several parts travel beside the pass (`early`); one part alone does not, so
    that a step of a small net stays one window of work.
    """

    def __init__(self, op, group, parameters, cap):
        self._op, self._group = op, group
        self._joined = nccl.link(op, group, *parameters, mixed=True)
        self._parts = parts_of(list(reversed(parameters)), cap)
        self._begun, self._arrived = [], set()

    def early(self):
        """Of a backward pass that begins: (parameters, function to be called when they have their
        gradients) of each part.
        """
        self._begun, self._arrived = [], set()
        if self._joined is None or len(self._parts) < 2:
            return []
        return [(part, lambda k=k: self._arrive(k)) for k, part in enumerate(self._parts)]

    def _arrive(self, k):
        self._arrived.add(k)
        while len(self._begun) in self._arrived:  # in the same order in all ranks
            if any([p.grad is None for p in self._parts[len(self._begun)]]):
                return
            self._begin("AVG")

    def _begin(self, fold):
        part = self._parts[len(self._begun)]
        # Cost may have had a gradient of known numbers computed on the host.
        line = _line([p.grad._array for p in part]).to_device(self._joined.device)
        aside = len(self._parts) > 1
        # A wrong index in the forward pass is told by this rank when it is known: waiting for that
        # would keep the host from the next step until this one has ended on the GPU.
        reduced = self._joined.all_reduce(self._op, line, fold, aside, checked=False)
        self._begun.append(reduced)

    def finish(self, count):
        """After the pass: all parameters have gradients, and get the sums divided by `count`."""
        if self._group.size == 1:
            self._divide(count)
            return
        if self._joined is None:
            self._finish_by_tcp(count)
            return
        mean = count == self._group.size
        while len(self._begun) < len(self._parts):
            self._begin("AVG" if mean else "SUM")
        for part, line in zip(self._parts, self._begun):
            if not mean and count > 1:
                line = line / line.dtype.type(count)
            at = 0
            for p in part:
                n = p._array.size
                p.grad._array = line[at : at + n].reshape(p._array.shape)
                at += n
        self._begun = []

    def _divide(self, count):
        if count > 1:
            for part in self._parts:
                for p in part:
                    a = p.grad._array
                    p.grad._array = a / a.dtype.type(count)

    def _finish_by_tcp(self, count):
        for part in self._parts:
            some = [p.grad for p in part]
            flat = wrap(adopt(_host_line(some)))
            dist.all_reduce(flat, dist.ReduceOp.SUM, self._group)
            a = flat._array.to_numpy()
            _spread(a / a.dtype.type(count) if count > 1 else a, some)


def _line(arrays):
    """The elements of arrays of one device, one after the other."""
    if len(arrays) == 1:
        return arrays[0].reshape(-1).copy()
    return concatenate([a.reshape(-1) for a in arrays])


def _host_line(tensors):
    return numpy.concatenate([t.detach()._array.to_numpy().reshape(-1) for t in tensors])


def _spread(line, tensors):
    """Writes the elements of a line, of the host or of the tensors' device, into tensors."""
    at = 0
    with no_grad():
        for t in tensors:
            n = t._array.size
            part = line[at : at + n].reshape(tuple(t.shape))
            t.copy_(wrap(part if type(part) is _core.ndarray else adopt(numpy.array(part))))
            at += n
