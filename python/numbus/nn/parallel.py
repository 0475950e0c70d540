"""Nets of several processes, whose gradients are means over all ranks; DataParallel."""

import contextlib
import weakref

from .. import _core, dist
from ..core.errors import message
from ..dist import group as groups
from ..dist.encoding import encode
from ..dist.exchange import objects
from ..tensors import autograd, is_grad_enabled, no_grad
from ..tensors._tensor import RemovableHandle, tell_after, wrap
from ._buckets import Gradients, hand_out
from .modules.module import Module
from .modules.parallel import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients `backward()` makes the means over all ranks.

    Parameters
    ----------
    module : Module
        With the same parameters in all ranks, which take over the values of rank 0.
    device_ids, output_device : optional
        One device at most.
    broadcast_buffers : bool, default True
        Whether each forward pass in training begins with the buffers of rank 0.
    process_group : ProcessGroup, optional
    bucket_cap_mb : float, default 25
        How many 10⁶ bytes of gradients travel at once. On GPUs with NCCL each part's sum begins as
        soon as its gradients are there, beside the rest of the backward pass.
    find_unused_parameters : bool, default False
        Whether parameters may have no gradient; else that is an error, which names them. Ranks then
        ask each other which, after the backward pass, and gradients travel after that.
    static_graph : bool, default False
        The same parameters have no gradient in each pass: they ask in the first one only.
    gradient_as_bucket_view : bool
        Nothing depends on it: with NCCL gradients are views of what travelled, elsewhere copies.

    Raises
    ------
    RuntimeError
        For a module without parameters that require gradients, for other parameters in another
        rank, and by `backward()` for parameters without a gradient.

    Notes
    -----
    By TCP sums over ranks are a fixed tree (see `dist.all_reduce`), so that runs repeat bit for
    bit; the same bits for another number of ranks are promised by `backward_parts()`. NCCL's sums
    are in an order of its own.

    With NCCL gradients travel before it is known whether an index of the forward pass was wrong
    (a class beyond the classes, say). The rank raises IndexError with the line soon after; the
    gradients that all ranks got from it are NaN.
    """

    def __init__(
        self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True,
        init_sync=True, process_group=None, bucket_cap_mb=None, find_unused_parameters=False,
        check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
    ):  # fmt: skip
        super().__init__()
        op = "DistributedDataParallel"
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError(message(op, "several devices a rank", device_ids, "one"))
        if dim != 0:
            raise NotImplementedError(message(op, "another dimension than 0", dim, "0"))
        self.process_group = groups.of(process_group)
        if self.process_group is groups.OUTSIDE:
            raise ValueError(message(op, "this rank is none of the group", "none", "a rank of it"))
        self.module, self.device_ids, self.output_device = module, device_ids, output_device
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters or check_reduction
        self.gradient_as_bucket_view, self.static_graph = gradient_as_bucket_view, static_graph
        self.require_backward_grad_sync = True
        self._cap = int(1e6 * (25 if bucket_cap_mb is None else bucket_cap_mb))
        self._reduced_pass, self._syncs, self._parts = None, True, False
        named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(message(op, "no parameter requires a gradient", "none", "some"))
        self.__dict__["_asked"] = named
        self.__dict__["_gradients"] = None  # of all that are used, once these are known
        self._used = None if self.find_unused_parameters or static_graph else [True] * len(named)
        if init_sync:
            self._agree(op)
        for _, p in named:
            tell_after(p, RemovableHandle(self._told))
        if self.process_group.size > 1 and self.process_group.by_nccl:
            autograd.early.append(weakref.ref(self))

    def _agree(self, op):
        """Takes over what rank 0 has; RuntimeError for other parameters."""
        g = self.process_group
        mine = [
            [n, list(t.shape), str(t._array.dtype)] for n, t in self.module.state_dict().items()
        ]
        every = [None] * g.size
        dist.all_gather_object(every, mine, g)
        for k, theirs in enumerate(every):
            if theirs != every[0]:
                other = next((a for a, b in zip(theirs, every[0]) if a != b), "more or fewer")
                raise RuntimeError(
                    message(op, f"rank {g.ranks[k]} has other parameters than rank {g.ranks[0]}",
                            other, "the same module in all ranks")
                )  # fmt: skip
        self._take([*self.module.parameters(), *self.module.buffers()])

    def _take(self, tensors):
        """Takes over the tensors of the group's first rank."""
        hand_out("DistributedDataParallel", self.process_group, tensors, self._cap)

    def forward(self, *inputs, **keywords):
        if is_grad_enabled():
            self._syncs = self.require_backward_grad_sync
            if self.broadcast_buffers and self._syncs and self.training:
                if _has_buffers(self.module):
                    self._take(list(self.module.buffers()))
        y = self.module(*inputs, **keywords)
        return y if self.output_device is None else y.to(self.output_device)

    @contextlib.contextmanager
    def no_sync(self):
        """Within it, forward and backward passes add to the gradients of this rank only."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def early(self):
        """Of a backward pass that begins: who is to be told of which parameters' gradients."""
        if self._parts or not self._syncs or self._used is None:
            return []
        return self._known_gradients().early()

    def _known_gradients(self):
        if self._gradients is None:
            used = [p for (_, p), one in zip(self._asked, self._used) if one]
            self.__dict__["_gradients"] = self._of(used)
        return self._gradients

    def _of(self, parameters):
        return Gradients("DistributedDataParallel", self.process_group, parameters, self._cap)

    def _told(self, _p):
        """After a backward pass: the first parameter that has its gradient stands for all."""
        if self._parts or not self._syncs or autograd.passes[0] == self._reduced_pass:
            return
        self._reduced_pass = autograd.passes[0]
        self._reduce(self.process_group.size)

    def _reduce(self, count):
        """Makes the gradients the sums over all ranks, divided by `count`."""
        if self._used is not None:
            asked = [pair for pair, used in zip(self._asked, self._used) if used]
            missing = [name for name, p in asked if p.grad is None]
            if missing:
                raise RuntimeError(
                    message("DistributedDataParallel", "parameters have no gradient",
                            ", ".join(missing[:5]), "a gradient for each, or "
                            "find_unused_parameters=True")
                )  # fmt: skip
            self._known_gradients().finish(count)
            return
        flags = [p.grad is not None for _, p in self._asked]
        every = objects(self.process_group, "DistributedDataParallel", encode(flags))
        used = [any(one) for one in zip(*every)]
        if self.static_graph and not self.find_unused_parameters:
            self._used = used
        given = [p for (_, p), one in zip(self._asked, used) if one]
        with no_grad():
            for p in given:
                if p.grad is None:
                    p.grad = wrap(_core.filled_like(p._array, 0))
            if given:
                self._of(given).finish(count)

    def backward_parts(self, losses):
        """The gradient of the mean of losses over equal parts of the batch, on all ranks.

        losses: an iterable of as many losses as all ranks give, a power of two; each is the mean
        over a part of the batch, and is made when it is asked for. Their gradients are folded by
        one fixed tree over the parts of all ranks in order, and added to `grad`: the same parts
        give the same bits on 1, 2, 4, … ranks, if rank k has the k-th section of them.

        Raises ValueError for another number of parts.
        """
        before = {id(p): p.grad for _, p in self._asked}
        found, count = [], 0
        self._parts = True
        try:
            for loss in losses:
                for _, p in self._asked:
                    p.grad = None
                loss.backward()
                self._level(found, [p.grad for _, p in self._asked])
                count += 1
        finally:
            self._parts = False
            for _, p in self._asked:
                p.grad = before[id(p)]
        every = [None] * self.process_group.size
        dist.all_gather_object(every, count, self.process_group)
        if count < 1 or count & (count - 1) or set(every) != {count}:
            raise ValueError(
                message("backward_parts", "parts of the ranks", every,
                        "the same power of two from all ranks")
            )  # fmt: skip
        for (_, p), g in zip(self._asked, found[0][1], strict=True):
            p.grad = g
        self._reduce(count * self.process_group.size)
        with no_grad():
            for _, p in self._asked:
                if before[id(p)] is not None and p.grad is not None:
                    p.grad = before[id(p)] + p.grad

    @staticmethod
    def _level(found, gradients):
        """Adds gradients to sums of 1, 2, 4, … parts, of which equal ones are folded."""
        found.append((1, gradients))
        with no_grad():
            while len(found) > 1 and found[-1][0] == found[-2][0]:
                size, right = found.pop()
                _, left = found.pop()
                folded = zip(left, right, strict=True)
                found.append((2 * size, [_added(a, b) for a, b in folded]))


def _has_buffers(module):
    within = module._modules.values()
    return bool(module._buffers) or any([m is not None and _has_buffers(m) for m in within])


def _added(a, b):
    """The sum of two gradients, of which there may be none."""
    return a + b if a is not None and b is not None else a if b is None else b
