"""Collectives that have derivatives: each rank's backward pass calls the collective that takes the
derivatives back, in the same order on all ranks.
"""

from ..tensors.autograd import Function
from . import collectives
from .collectives import ReduceOp
from .group import get_rank, get_world_size

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip


def _like(tensors):
    return [t.detach().clone() for t in tensors]


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        made = tensor.detach().clone()
        collectives.all_reduce(made, op, group)
        return made

    @staticmethod
    def backward(ctx, g):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, g)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        made = tensor.detach().clone()
        collectives.broadcast(made, src, group)
        return made

    @staticmethod
    def backward(ctx, g):
        total = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, g)
        return None, None, total if get_rank() == ctx.src else total * 0


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = tensor.detach().clone()
        collectives.reduce(made, dst, op, group)
        return made

    @staticmethod
    def backward(ctx, g):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, g)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        made = [tensor.detach().clone() for _ in range(get_world_size(group))]
        collectives.all_gather(made, tensor.detach().contiguous(), group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, grads[0], *grads)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *inputs):
        ctx.group = group
        made = output.detach().clone()
        collectives.reduce_scatter(made, [x.detach().contiguous() for x in inputs], op, group)
        return made

    @staticmethod
    def backward(ctx, g):
        return None, None, None, *_AllGather.apply(ctx.group, g)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        made = [tensor.detach() * 0 for _ in range(get_world_size(group))]
        to = made if get_rank() == dst else None
        collectives.gather(tensor.detach().contiguous(), to, dst, group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group = src, group
        made = tensors[0].detach() * 0
        given = [t.detach().contiguous() for t in tensors] if get_rank() == src else None
        collectives.scatter(made, given, src, group)
        return made

    @staticmethod
    def backward(ctx, g):
        return None, None, *_Gather.apply(ctx.src, ctx.group, g)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, count, *tensors):
        ctx.group = group
        ctx.shapes = [t.detach() for t in tensors[count:]]
        made = _like(tensors[:count])
        collectives.all_to_all(made, [t.detach().contiguous() for t in tensors[count:]], group)
        return tuple(made)

    @staticmethod
    def backward(ctx, *grads):
        back = _AllToAll.apply(ctx.group, len(ctx.shapes), *ctx.shapes, *grads)
        return None, None, *[None] * len(grads), *back


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """What `collectives.all_reduce` gives; the derivative is reduced in the same way."""
    return _AllReduce.apply(op, group, tensor)


def broadcast(tensor, src, group=None):
    """The tensor of rank `src`, which gets the sum of all derivatives."""
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """The reduction on rank `dst`, whose derivative all ranks get."""
    return _Reduce.apply(dst, op, group, tensor)


def all_gather(tensor, group=None):
    """A tuple of all ranks' tensors; each rank gets the sum of the derivatives by its own."""
    return _AllGather.apply(group, tensor)


def gather(tensor, dst=0, group=None):
    """A tuple of all ranks' tensors on rank `dst`, of zeros elsewhere."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors, src=0, group=None):
    """This rank's one of the tensors of rank `src`."""
    return _Scatter.apply(src, group, *tensors)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """The reduction of what all ranks have for this one; `output` says its shape."""
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """A tuple of what each rank has for this one; the outputs given say their shapes."""
    return _AllToAll.apply(group, len(output_tensor_list), *output_tensor_list, *input_tensor_list)
