"""Single messages between two ranks: send, receive, and several of them at once."""

import numpy

from ..core.errors import message
from . import nccl
from .collectives import Work, host, put, store
from .exchange import entered, sum_of
from .mesh import SINGLE


def _tag(op, tag):
    if not 0 <= tag < 1 << 31:
        raise ValueError(message(op, "tag", tag, "0 to 2³¹ - 1"))
    return tag


def _peer(op, g, rank):
    if g.within(op, rank) == g.rank:
        raise ValueError(message(op, "a message to oneself", f"rank {rank}", "another rank"))
    return g.ranks[g.within(op, rank)]


def _joined(op, g, tensor):
    """What joins the GPUs, where that is there: from the first collective of the group on, so that
    two ranks do not wait for all. Until then messages of GPUs go by TCP.
    """
    place = nccl.place_of(op, g, tensor)
    return place and nccl.opened(g, place)


def isend(tensor, dst, group=None, tag=0):
    """Begins to send a tensor to rank `dst`; it may be changed at once. Returns a Work.

    On GPUs the message goes with the next call of the group, wait() among them; `tag` is not looked
    at there: messages come in their order.
    """
    g = entered("isend", group)
    if g is None:
        return Work()
    joined = _joined("isend", g, tensor)
    if joined:
        _tag("isend", tag)
        joined.post(tensor._array, g.ranks.index(_peer("isend", g, dst)))
        return Work(lambda timeout: joined.flush(), joined)
    a, peer = host("isend", tensor), _peer("isend", g, dst)
    g.mesh.post(peer, SINGLE, _tag("isend", tag), sum_of(a.dtype.str, a.size), a.tobytes())
    return Work(lambda timeout: g.mesh.loop("send", [], [peer]))


def send(tensor, dst, group=None, tag=0):
    """Sends a tensor to rank `dst`, whose recv() has one of the same dtype and size."""
    isend(tensor, dst, group, tag).wait()


def recv(tensor, src=None, group=None, tag=0):
    """Writes what rank `src` (None: any) sends into a tensor; returns the number of the rank.

    Raises RuntimeError for another dtype or size, and for a rank that has left.
    """
    g = entered("recv", group)
    if g is None:
        return -1
    joined = _joined("recv", g, tensor)
    if joined:
        if src is None:
            raise ValueError(
                message("recv", "NCCL receives of a given rank only", "src=None",
                        "a rank, or the backend 'gloo'")
            )  # fmt: skip
        _tag("recv", tag)
        peer = g.ranks.index(_peer("recv", g, src))
        store("recv", tensor, joined.receive("recv", tensor._array, peer))
        return src
    a, tag = host("recv", tensor), _tag("recv", tag)
    if src is None:
        peers = [r for r in g.ranks if r != g.mesh.rank]
    else:
        peers = [_peer("recv", g, src)]
    boxes = {r: g.mesh.links[r].boxes[SINGLE, tag] for r in peers}

    def need():
        if any(boxes.values()):
            return None
        alive = [r for r in peers if not g.mesh.links[r].closed]
        return alive or peers

    g.mesh.loop("recv", [need])
    r = next(r for r in peers if boxes[r])
    checksum, raw = boxes[r].popleft()
    if checksum != sum_of(a.dtype.str, a.size):
        raise RuntimeError(
            message("recv", f"rank {r} sent another dtype or size", f"{len(raw)} bytes",
                    f"{a.dtype} of {a.shape}")
        )  # fmt: skip
    put("recv", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return r


def irecv(tensor, src=None, group=None, tag=0):
    """A Work whose wait() is recv()."""
    return Work(lambda timeout: recv(tensor, src, group, tag))


class P2POp:
    """A message for batch_isend_irecv(): `op` is isend or irecv."""

    def __init__(self, op, tensor, peer, group=None, tag=0):
        if op not in (isend, irecv):
            raise ValueError(message("P2POp", "op", op, "isend or irecv"))
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list):
    """Begins several messages, none of which waits for another; a Work for each."""
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError(message("batch_isend_irecv", "not a list of P2POp", p2p_op_list, "P2POp"))
    sends = [p for p in p2p_op_list if p.op is isend]
    works = {id(p): isend(p.tensor, p.peer, p.group, p.tag) for p in sends}
    for p in p2p_op_list:
        if p.op is irecv:
            works[id(p)] = irecv(p.tensor, p.peer, p.group, p.tag)
    return [works[id(p)] for p in p2p_op_list]
