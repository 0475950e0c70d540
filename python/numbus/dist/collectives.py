"""Operations of all ranks of a group, on tensors and on objects.

Sums and other reductions are a fixed tree over the ranks in their order: neighbours first, then
pairs of neighbours. Each rank folds its part of the elements, so that all get the same bits.
"""

import enum
import zlib

import numpy

from ..core.errors import message
from ..core.operands import adopt
from ..tensors import Tensor, no_grad
from ..tensors._tensor import wrap
from . import group as _group
from .encoding import decode, encode
from .mesh import SINGLE
from ..core.dtypes import kind_of


class ReduceOp(enum.Enum):
    """What is made of the elements of all ranks."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


_FOLDS = {
    ReduceOp.SUM: numpy.add, ReduceOp.AVG: numpy.add, ReduceOp.PRODUCT: numpy.multiply,
    ReduceOp.MIN: numpy.minimum, ReduceOp.MAX: numpy.maximum, ReduceOp.BAND: numpy.bitwise_and,
    ReduceOp.BOR: numpy.bitwise_or, ReduceOp.BXOR: numpy.bitwise_xor,
}  # fmt: skip


class Work:
    """An operation that was begun; those here are done when they return, but for irecv()."""

    def __init__(self, finish=None):
        self._finish = finish

    def wait(self, timeout=None):
        """Returns True when it is done; `timeout` (a timedelta) is not waited for longer."""
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish(timeout)
        return True

    def is_completed(self):
        """Whether wait() would return at once."""
        return self._finish is None


def fold_tree(parts, fold):
    """One of several by a fixed tree: (0, 1), (2, 3), … are folded, then these, and so on."""
    parts = list(parts)
    while len(parts) > 1:
        made = [fold(parts[k], parts[k + 1]) for k in range(0, len(parts) - 1, 2)]
        parts = made + parts[2 * len(made) :]
    return parts[0]


def _host(op, tensor):
    """The elements of a tensor in the host's memory, contiguous."""
    if not isinstance(tensor, Tensor):
        raise TypeError(message(op, "no tensor", type(tensor).__name__, "a Tensor"))
    return numpy.ascontiguousarray(tensor.detach()._array.to_numpy())


def _put(op, tensor, a):
    """Writes elements into a tensor. ValueError for another size or dtype."""
    if tuple(tensor.shape) != a.shape or tensor._array.dtype != a.dtype:
        raise ValueError(
            message(op, "a tensor does not fit what comes", f"{tensor._array.dtype} of "
                    f"{tuple(tensor.shape)}", f"{a.dtype} of {a.shape}")
        )  # fmt: skip
    with no_grad():
        tensor.copy_(wrap(adopt(numpy.array(a))))


def _sum_of(op, *about):
    return zlib.crc32(repr((op, *about)).encode())


def _done(async_op):
    return Work() if async_op else None


def _entered(op, group):
    """The group; None where this rank is none of it."""
    g = _group.of(group, op)
    return g if g is not _group.OUTSIDE else None


def _exchange(g, op, checksum, out, sources):
    """Mesh.exchange() by numbers within the group; what a rank sends to itself comes back."""
    here = g.rank
    own = out.get(here)
    sent = {g.ranks[k]: raw for k, raw in out.items() if k != here}
    asked = [g.ranks[k] for k in sources if k != here]
    found = g.mesh.exchange(op, g.number, checksum, sent, asked) if sent or asked else {}
    found = {g.ranks.index(r): raw for r, raw in found.items()}
    if own is not None and here in sources:
        found[here] = own
    return found


def _reduced(g, op, a, reduce, extra=None):
    """The elements of all ranks folded, the same bits in all; `a` is flat and contiguous."""
    n, size = a.size, g.size
    fold = _FOLDS[reduce]
    if size > 1:
        checksum = _sum_of(op, a.dtype.str, n, reduce.name, extra)
        cuts = [n * k // size for k in range(size + 1)]
        out = {k: a[cuts[k] : cuts[k + 1]].tobytes() for k in range(size)}
        parts = _exchange(g, op, checksum, out, range(size))
        mine = fold_tree([numpy.frombuffer(parts[k], a.dtype) for k in range(size)], fold)
        mine = numpy.asarray(mine, a.dtype).tobytes()
        parts = _exchange(g, op, checksum, dict.fromkeys(range(size), mine), range(size))
        a = numpy.concatenate([numpy.frombuffer(parts[k], a.dtype) for k in range(size)])
    if reduce is ReduceOp.AVG:
        if kind_of(a.dtype) not in "fc":
            raise ValueError(message(op, "the mean of integers", a.dtype, "floats, or ReduceOp.SUM"))
        a = a / a.dtype.type(size)
    return a


def _op(op, reduce):
    if not isinstance(reduce, ReduceOp):
        raise ValueError(message(op, "op", reduce, "a ReduceOp"))
    return reduce


def _foldable(op, a, reduce):
    if a.dtype == bool and reduce in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT):
        raise TypeError(message(op, "truth values are not added", a.dtype, "ReduceOp.BOR or BAND"))
    if a.dtype.kind == "c" and reduce in (ReduceOp.MIN, ReduceOp.MAX):
        raise TypeError(message(op, "complex numbers have no order", a.dtype, "real numbers"))
    if kind_of(a.dtype) in "fc" and reduce in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
        raise TypeError(message(op, "floats have no bits to combine", a.dtype, "integers"))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Writes the sum (or `op`) of a tensor over all ranks into the tensor of each.

    Parameters
    ----------
    tensor : Tensor
        Of the same dtype and size in all ranks.
    op : ReduceOp
        SUM, AVG (floats), PRODUCT, MIN, MAX, BAND, BOR or BXOR.
    group : ProcessGroup, optional
    async_op : bool, default False
        Returns a Work whose wait() has nothing to wait for.

    Raises
    ------
    RuntimeError
        Where a rank has left, or calls another operation; it names the rank.
    TimeoutError
        Where a rank does not come within the timeout; it names the rank.

    Notes
    -----
    The order of additions is a fixed tree over the ranks, whatever comes first.
    """
    g = _entered("all_reduce", group)
    if g is not None:
        a = _host("all_reduce", tensor)
        _foldable("all_reduce", a, _op("all_reduce", op))
        _put("all_reduce", tensor, _reduced(g, "all_reduce", a.reshape(-1), op).reshape(a.shape))
    return _done(async_op)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce() whose result only rank `dst` is given; the tensors of others stay."""
    g = _entered("reduce", group)
    if g is not None:
        a = _host("reduce", tensor)
        _foldable("reduce", a, _op("reduce", op))
        made = _reduced(g, "reduce", a.reshape(-1), op, g.within("reduce", dst))
        if g.rank == g.within("reduce", dst):
            _put("reduce", tensor, made.reshape(a.shape))
    return _done(async_op)


def broadcast(tensor, src, group=None, async_op=False):
    """Writes the tensor of rank `src` into those of all others, of the same dtype and size."""
    g = _entered("broadcast", group)
    if g is not None:
        source, a = g.within("broadcast", src), _host("broadcast", tensor)
        checksum = _sum_of("broadcast", a.dtype.str, a.size, source)
        if g.rank == source:
            _exchange(g, "broadcast", checksum, g.others(a.tobytes()), ())
        else:
            raw = _exchange(g, "broadcast", checksum, {}, [source])[source]
            _put("broadcast", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return _done(async_op)


def _gathered(g, op, a, extra=None, to=None):
    """The arrays of all ranks, in their order; `to`: only that rank gets them."""
    checksum = _sum_of(op, a.dtype.str, a.size, extra)
    raw = a.tobytes()
    if to is None:
        parts = _exchange(g, op, checksum, dict.fromkeys(range(g.size), raw), range(g.size))
    else:
        sources = range(g.size) if g.rank == to else ()
        parts = _exchange(g, op, checksum, {to: raw}, sources)
        if g.rank != to:
            return None
    return [numpy.frombuffer(parts[k], a.dtype).reshape(a.shape) for k in range(g.size)]


def _listed(op, tensors, g, name):
    if not isinstance(tensors, (list, tuple)) or len(tensors) != g.size:
        got = len(tensors) if isinstance(tensors, (list, tuple)) else type(tensors).__name__
        raise ValueError(message(op, f"{name} is not a tensor for each rank", got, g.size))
    return tensors


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Writes the tensors of all ranks into the list of each: tensors of the same dtype and size."""
    g = _entered("all_gather", group)
    if g is not None:
        _listed("all_gather", tensor_list, g, "tensor_list")
        for t, a in zip(tensor_list, _gathered(g, "all_gather", _host("all_gather", tensor))):
            _put("all_gather", t, a)
    return _done(async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """all_gather() into one tensor: joined along the first axis, or stacked, by its shape."""
    op = "all_gather_into_tensor"
    g = _entered(op, group)
    if g is not None:
        parts = _gathered(g, op, _host(op, input_tensor))
        _put(op, output_tensor, numpy.concatenate([p.reshape(-1) for p in parts]).reshape(
            _joined(op, tuple(output_tensor.shape), tuple(input_tensor.shape), g.size)))  # fmt: skip
    return _done(async_op)


def _joined(op, whole, part, size):
    """The shape of a tensor that holds `size` parts."""
    if whole != (size, *part) and (not part or whole != (size * part[0], *part[1:])):
        raise ValueError(message(op, "shapes do not fit", f"{whole} and {part}",
                                 f"{size} times the first extent, or a first axis of {size}"))  # fmt: skip
    return whole


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """Writes the tensors of all ranks into the list of rank `dst`."""
    g = _entered("gather", group)
    if g is not None:
        to = g.within("gather", dst)
        if (g.rank == to) != (gather_list is not None):
            raise ValueError(message("gather", "gather_list", f"rank {g.rank}", f"of rank {to} only"))
        if g.rank == to:
            _listed("gather", gather_list, g, "gather_list")
        parts = _gathered(g, "gather", _host("gather", tensor), to, to)
        for t, a in zip(gather_list or (), parts or ()):
            _put("gather", t, a)
    return _done(async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """Writes one tensor of the list of rank `src` into the tensor of each rank."""
    g = _entered("scatter", group)
    if g is not None:
        source, a = g.within("scatter", src), _host("scatter", tensor)
        checksum = _sum_of("scatter", a.dtype.str, a.size, source)
        out = {}
        if g.rank == source:
            for k, t in enumerate(_listed("scatter", scatter_list, g, "scatter_list")):
                part = _host("scatter", t)
                if part.dtype != a.dtype or part.shape != a.shape:
                    raise ValueError(message("scatter", f"tensor {k} does not fit", part.shape, a.shape))
                out[k] = part.tobytes()
        elif scatter_list is not None:
            raise ValueError(message("scatter", "scatter_list", f"rank {g.rank}", f"of rank {source} only"))
        raw = _exchange(g, "scatter", checksum, out, [source])[source]
        _put("scatter", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return _done(async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Writes the sum (or `op`) of the k-th tensors of all lists into the tensor of rank k."""
    name = "reduce_scatter"
    g = _entered(name, group)
    if g is not None:
        parts = [_host(name, t) for t in _listed(name, input_list, g, "input_list")]
        _scattered(g, name, output, parts, _op(name, op))
    return _done(async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """reduce_scatter() of one tensor, whose first axis holds what is for each rank."""
    name = "reduce_scatter_tensor"
    g = _entered(name, group)
    if g is not None:
        _joined(name, tuple(input.shape), tuple(output.shape), g.size)
        a = _host(name, input).reshape(g.size, *output.shape)
        _scattered(g, name, output, list(a), _op(name, op))
    return _done(async_op)


def _scattered(g, name, output, parts, op):
    kind, shape = parts[0].dtype, parts[0].shape
    if any(p.dtype != kind or p.shape != shape for p in parts):
        raise ValueError(message(name, "tensors of several shapes", [p.shape for p in parts], "one"))
    _foldable(name, parts[0], op)
    checksum = _sum_of(name, kind.str, parts[0].size, op.name)
    out = {k: p.tobytes() for k, p in enumerate(parts)}
    found = _exchange(g, name, checksum, out, range(g.size))
    arrays = [numpy.frombuffer(found[k], kind).reshape(shape) for k in range(g.size)]
    made = numpy.asarray(fold_tree(arrays, _FOLDS[op]), kind)
    if op is ReduceOp.AVG:
        made = made / kind.type(g.size)
    _put(name, output, made)


def barrier(group=None, async_op=False, device_ids=None):
    """Returns when all ranks of the group have called it; there is one queue a device."""
    g = _entered("barrier", group)
    if g is not None:
        if device_ids is not None and not isinstance(device_ids, (list, tuple)):
            raise TypeError(message("barrier", "device_ids", device_ids, "a list"))
        checksum = _sum_of("barrier")
        _exchange(g, "barrier", checksum, dict.fromkeys(range(g.size), b""), range(g.size))
    return _done(async_op)


# ---- single messages ----
def _tag(op, tag):
    if not 0 <= tag < 1 << 31:
        raise ValueError(message(op, "tag", tag, "0 to 2³¹ - 1"))
    return tag


def _peer(op, g, rank):
    if g.within(op, rank) == g.rank:
        raise ValueError(message(op, "a message to oneself", f"rank {rank}", "another rank"))
    return g.ranks[g.within(op, rank)]


def isend(tensor, dst, group=None, tag=0):
    """Begins to send a tensor to rank `dst`; it may be changed at once. Returns a Work."""
    g = _entered("isend", group)
    if g is None:
        return Work()
    a, peer = _host("isend", tensor), _peer("isend", g, dst)
    g.mesh.post(peer, SINGLE, _tag("isend", tag), _sum_of(a.dtype.str, a.size), a.tobytes())
    return Work(lambda timeout: g.mesh.loop("send", [], [peer]))


def send(tensor, dst, group=None, tag=0):
    """Sends a tensor to rank `dst`, whose recv() has one of the same dtype and size."""
    isend(tensor, dst, group, tag).wait()


def recv(tensor, src=None, group=None, tag=0):
    """Writes what rank `src` (None: any) sends into a tensor; returns the number of the rank.

    Raises RuntimeError for another dtype or size, and for a rank that has left.
    """
    g = _entered("recv", group)
    if g is None:
        return -1
    a, tag = _host("recv", tensor), _tag("recv", tag)
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
    if checksum != _sum_of(a.dtype.str, a.size):
        raise RuntimeError(
            message("recv", f"rank {r} sent another dtype or size", f"{len(raw)} bytes",
                    f"{a.dtype} of {a.shape}")
        )  # fmt: skip
    _put("recv", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return r


def irecv(tensor, src=None, group=None, tag=0):
    """A Work whose wait() is recv()."""
    return Work(lambda timeout: recv(tensor, src, group, tag))


# ---- objects ----
def _objects(g, op, raw, to=None):
    """The bytes of all ranks, of different lengths."""
    sources = range(g.size) if to is None or g.rank == to else ()
    out = dict.fromkeys(range(g.size), raw) if to is None else {to: raw}
    parts = _exchange(g, op, _sum_of(op, to), out, sources)
    return [decode(bytes(parts[k])) for k in range(g.size)] if sources else None


def all_gather_object(object_list, obj, group=None):
    """Writes the objects of all ranks into the list of each.

    Objects are numbers, texts, bytes, arrays, tensors, and lists, tuples, sets and dicts of these:
    no pickles are sent or read. TypeError for others.
    """
    g = _entered("all_gather_object", group)
    if g is not None:
        _listed("all_gather_object", object_list, g, "object_list")
        object_list[:] = _objects(g, "all_gather_object", encode(obj))


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    """The same into the list of rank `dst` only."""
    g = _entered("gather_object", group)
    if g is not None:
        to = g.within("gather_object", dst)
        if (g.rank == to) != (object_gather_list is not None):
            raise ValueError(
                message("gather_object", "object_gather_list", f"rank {g.rank}", f"of rank {to} only")
            )
        found = _objects(g, "gather_object", encode(obj), to)
        if found is not None:
            _listed("gather_object", object_gather_list, g, "object_gather_list")[:] = found


def broadcast_object_list(object_list, src=0, group=None):
    """Writes the objects in the list of rank `src` into the lists of all, of the same length."""
    op = "broadcast_object_list"
    g = _entered(op, group)
    if g is not None:
        source = g.within(op, src)
        checksum = _sum_of(op, len(object_list), source)
        if g.rank == source:
            _exchange(g, op, checksum, g.others(encode(list(object_list))), ())
        else:
            raw = _exchange(g, op, checksum, {}, [source])[source]
            object_list[:] = decode(bytes(raw))


def scatter_object_list(output_list, input_list=None, src=0, group=None):
    """Writes the k-th object of the list of rank `src` into the first item of rank k's list."""
    op = "scatter_object_list"
    g = _entered(op, group)
    if g is not None:
        source, out = g.within(op, src), {}
        if g.rank == source:
            out = {k: encode(x) for k, x in enumerate(_listed(op, input_list, g, "input_list"))}
        raw = _exchange(g, op, _sum_of(op, source), out, [source])[source]
        output_list[0] = decode(bytes(raw))

