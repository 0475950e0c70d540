"""Operations of all ranks of a group on tensors.

On GPUs NCCL does them (nccl.py). Elsewhere they travel by TCP, and sums and other reductions are a
fixed tree over the ranks in their order: neighbours first, then pairs of neighbours. Each rank
folds its part of the elements, so that all get the same bits.
"""

import enum

import numpy

from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.operands import adopt
from ..tensors import Tensor, no_grad, stack
from ..tensors._tensor import wrap
from . import nccl
from .exchange import entered, exchange, sum_of


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
    """An operation that was begun. By TCP it is done when this is returned, but for irecv(); on
    GPUs it is queued, and what uses its tensors is queued after it: wait() does not wait for it.
    """

    def __init__(self, finish=None, joined=None):
        self._finish, self._joined = finish, joined

    def wait(self, timeout=None):
        """Returns True when it is done; `timeout` (a timedelta) is not waited for longer."""
        if self._finish is not None:
            finish, self._finish = self._finish, None
            finish(timeout)
        if self._joined is not None:
            self._joined.check()
        return True

    def is_completed(self):
        """Whether wait() would return at once, and a GPU has done it."""
        return self._finish is None and (self._joined is None or self._joined.is_idle())


def fold_tree(parts, fold):
    """One of several by a fixed tree: (0, 1), (2, 3), … are folded, then these, and so on."""
    parts = list(parts)
    while len(parts) > 1:
        made = [fold(parts[k], parts[k + 1]) for k in range(0, len(parts) - 1, 2)]
        parts = made + parts[2 * len(made) :]
    return parts[0]


def host(op, tensor):
    """The elements of a tensor in the host's memory, contiguous."""
    if not isinstance(tensor, Tensor):
        raise TypeError(message(op, "no tensor", type(tensor).__name__, "a Tensor"))
    return numpy.ascontiguousarray(tensor.detach()._array.to_numpy())


def put(op, tensor, a):
    """Writes elements into a tensor. ValueError for another size or dtype."""
    if tuple(tensor.shape) != a.shape or tensor._array.dtype != a.dtype:
        raise ValueError(
            message(op, "a tensor does not fit what comes", f"{tensor._array.dtype} of "
                    f"{tuple(tensor.shape)}", f"{a.dtype} of {a.shape}")
        )  # fmt: skip
    with no_grad():
        tensor.copy_(wrap(adopt(numpy.array(a))))


def store(op, tensor, a):
    """The same of an array on the tensor's device."""
    if a is tensor._array:
        return
    if tuple(tensor.shape) != tuple(a.shape) or tensor._array.dtype != a.dtype:
        raise ValueError(
            message(op, "a tensor does not fit what comes", f"{tensor._array.dtype} of "
                    f"{tuple(tensor.shape)}", f"{a.dtype} of {tuple(a.shape)}")
        )  # fmt: skip
    with no_grad():
        tensor.copy_(wrap(a))


def _done(async_op, joined=None):
    return Work(joined=joined) if async_op else None


def _reduced(g, op, a, reduce, extra=None):
    """The elements of all ranks folded, the same bits in all; `a` is flat and contiguous."""
    n, size = a.size, g.size
    fold = _FOLDS[reduce]
    if size > 1:
        checksum = sum_of(op, a.dtype.str, n, reduce.name, extra)
        cuts = [n * k // size for k in range(size + 1)]
        out = {k: a[cuts[k] : cuts[k + 1]].tobytes() for k in range(size)}
        parts = exchange(g, op, checksum, out, range(size))
        mine = fold_tree([numpy.frombuffer(parts[k], a.dtype) for k in range(size)], fold)
        mine = numpy.asarray(mine, a.dtype).tobytes()
        parts = exchange(g, op, checksum, dict.fromkeys(range(size), mine), range(size))
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
        Returns a Work. On a GPU the operation then runs beside others of the device that do not
        use the tensor.

    Raises
    ------
    RuntimeError
        Where a rank has left, or calls another operation; it names the rank.
    TimeoutError
        Where a rank does not come within the timeout; it names the rank.

    Notes
    -----
    By TCP the order of additions is a fixed tree over the ranks, whatever comes first; on GPUs it
    is NCCL's.
    """
    g = entered("all_reduce", group)
    joined = g and nccl.link("all_reduce", g, tensor)
    if joined is not None:
        a = tensor._array
        _foldable("all_reduce", a, _op("all_reduce", op))
        store("all_reduce", tensor, joined.all_reduce("all_reduce", a, op.name, async_op))
    elif g is not None:
        a = host("all_reduce", tensor)
        _foldable("all_reduce", a, _op("all_reduce", op))
        put("all_reduce", tensor, _reduced(g, "all_reduce", a.reshape(-1), op).reshape(a.shape))
    return _done(async_op, joined)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce() whose result only rank `dst` is given; the tensors of others stay."""
    g = entered("reduce", group)
    joined = g and nccl.link("reduce", g, tensor)
    if joined is not None:
        a = tensor._array
        _foldable("reduce", a, _op("reduce", op))
        made = joined.reduce("reduce", a, op.name, g.within("reduce", dst))
        if made is not None:
            store("reduce", tensor, made)
    elif g is not None:
        a = host("reduce", tensor)
        _foldable("reduce", a, _op("reduce", op))
        made = _reduced(g, "reduce", a.reshape(-1), op, g.within("reduce", dst))
        if g.rank == g.within("reduce", dst):
            put("reduce", tensor, made.reshape(a.shape))
    return _done(async_op, joined)


def broadcast(tensor, src, group=None, async_op=False):
    """Writes the tensor of rank `src` into those of all others, of the same dtype and size."""
    g = entered("broadcast", group)
    joined = g and nccl.link("broadcast", g, tensor)
    if joined is not None:
        source = g.within("broadcast", src)
        store("broadcast", tensor, joined.broadcast("broadcast", tensor._array, source))
    elif g is not None:
        source, a = g.within("broadcast", src), host("broadcast", tensor)
        checksum = sum_of("broadcast", a.dtype.str, a.size, source)
        if g.rank == source:
            exchange(g, "broadcast", checksum, g.others(a.tobytes()), ())
        else:
            raw = exchange(g, "broadcast", checksum, {}, [source])[source]
            put("broadcast", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return _done(async_op, joined)


def _gathered(g, op, a, extra=None, to=None):
    """The arrays of all ranks, in their order; `to`: only that rank gets them."""
    checksum = sum_of(op, a.dtype.str, a.size, extra)
    raw = a.tobytes()
    if to is None:
        parts = exchange(g, op, checksum, dict.fromkeys(range(g.size), raw), range(g.size))
    else:
        sources = range(g.size) if g.rank == to else ()
        parts = exchange(g, op, checksum, {to: raw}, sources)
        if g.rank != to:
            return None
    return [numpy.frombuffer(parts[k], a.dtype).reshape(a.shape) for k in range(g.size)]


def listed(op, tensors, g, name):
    if not isinstance(tensors, (list, tuple)) or len(tensors) != g.size:
        got = len(tensors) if isinstance(tensors, (list, tuple)) else type(tensors).__name__
        raise ValueError(message(op, f"{name} is not a tensor for each rank", got, g.size))
    return tensors


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Writes the tensors of all ranks into the list of each: tensors of the same dtype and size."""
    g = entered("all_gather", group)
    if g is not None:
        listed("all_gather", tensor_list, g, "tensor_list")
    joined = g and nccl.link("all_gather", g, tensor, *tensor_list)
    if joined is not None:
        for t, a in zip(tensor_list, joined.all_gather("all_gather", tensor._array)):
            store("all_gather", t, a)
    elif g is not None:
        for t, a in zip(tensor_list, _gathered(g, "all_gather", host("all_gather", tensor))):
            put("all_gather", t, a)
    return _done(async_op, joined)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """all_gather() into one tensor: joined along the first axis, or stacked, by its shape."""
    op = "all_gather_into_tensor"
    g = entered(op, group)
    joined = g and nccl.link(op, g, output_tensor, input_tensor)
    if joined is not None:
        shape = _joined(op, tuple(output_tensor.shape), tuple(input_tensor.shape), g.size)
        store(op, output_tensor, joined.all_gather(op, input_tensor._array).reshape(shape))
    elif g is not None:
        parts = _gathered(g, op, host(op, input_tensor))
        put(op, output_tensor, numpy.concatenate([p.reshape(-1) for p in parts]).reshape(
            _joined(op, tuple(output_tensor.shape), tuple(input_tensor.shape), g.size)))  # fmt: skip
    return _done(async_op, joined)


def _joined(op, whole, part, size):
    """The shape of a tensor that holds `size` parts."""
    if whole != (size, *part) and (not part or whole != (size * part[0], *part[1:])):
        raise ValueError(message(op, "shapes do not fit", f"{whole} and {part}",
                                 f"{size} times the first extent, or a first axis of {size}"))  # fmt: skip
    return whole


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """Writes the tensors of all ranks into the list of rank `dst`."""
    g = entered("gather", group)
    if g is not None:
        to = g.within("gather", dst)
        if (g.rank == to) != (gather_list is not None):
            raise ValueError(message("gather", "gather_list", f"rank {g.rank}", f"of rank {to} only"))
        if g.rank == to:
            listed("gather", gather_list, g, "gather_list")
        joined = nccl.link("gather", g, tensor, *(gather_list or ()))
        if joined is not None:
            parts, write = joined.gather("gather", tensor._array, to), store
        else:
            parts, write = _gathered(g, "gather", host("gather", tensor), to, to), put
        for t, a in zip(gather_list or (), parts or ()):
            write("gather", t, a)
    return _done(async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """Writes one tensor of the list of rank `src` into the tensor of each rank."""
    g = entered("scatter", group)
    if g is not None:
        source = g.within("scatter", src)
        if g.rank == source:
            for k, t in enumerate(listed("scatter", scatter_list, g, "scatter_list")):
                if t.dtype != tensor.dtype or t.shape != tensor.shape:
                    raise ValueError(
                        message("scatter", f"tensor {k} does not fit", tuple(t.shape), tuple(tensor.shape))
                    )
        elif scatter_list is not None:
            raise ValueError(message("scatter", "scatter_list", f"rank {g.rank}", f"of rank {source} only"))
        joined = nccl.link("scatter", g, tensor, *(scatter_list or ()))
        if joined is not None:
            parts = [t._array for t in scatter_list or ()]
            store("scatter", tensor, joined.scatter("scatter", parts, tensor._array, source))
            return _done(async_op, joined)
        a = host("scatter", tensor)
        checksum = sum_of("scatter", a.dtype.str, a.size, source)
        out = {k: host("scatter", t).tobytes() for k, t in enumerate(scatter_list or ())}
        raw = exchange(g, "scatter", checksum, out, [source])[source]
        put("scatter", tensor, numpy.frombuffer(raw, a.dtype).reshape(a.shape))
    return _done(async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Writes the sum (or `op`) of the k-th tensors of all lists into the tensor of rank k."""
    name = "reduce_scatter"
    g = entered(name, group)
    if g is not None:
        listed(name, input_list, g, "input_list")
        joined = nccl.link(name, g, output, *input_list)
        if joined is not None:
            with no_grad():
                whole = stack([t.detach() for t in input_list])
            _foldable(name, whole._array, _op(name, op))
            store(name, output, joined.reduce_scatter(name, whole._array, op.name))
            return _done(async_op, joined)
        _scattered(g, name, output, [host(name, t) for t in input_list], _op(name, op))
    return _done(async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """reduce_scatter() of one tensor, whose first axis holds what is for each rank."""
    name = "reduce_scatter_tensor"
    g = entered(name, group)
    if g is not None:
        _joined(name, tuple(input.shape), tuple(output.shape), g.size)
        joined = nccl.link(name, g, output, input)
        if joined is not None:
            whole = input._array.reshape(g.size, *output.shape)
            _foldable(name, whole, _op(name, op))
            store(name, output, joined.reduce_scatter(name, whole, op.name))
            return _done(async_op, joined)
        a = host(name, input).reshape(g.size, *output.shape)
        _scattered(g, name, output, list(a), _op(name, op))
    return _done(async_op)


def _scattered(g, name, output, parts, op):
    kind, shape = parts[0].dtype, parts[0].shape
    if any(p.dtype != kind or p.shape != shape for p in parts):
        raise ValueError(message(name, "tensors of several shapes", [p.shape for p in parts], "one"))
    _foldable(name, parts[0], op)
    checksum = sum_of(name, kind.str, parts[0].size, op.name)
    out = {k: p.tobytes() for k, p in enumerate(parts)}
    found = exchange(g, name, checksum, out, range(g.size))
    arrays = [numpy.frombuffer(found[k], kind).reshape(shape) for k in range(g.size)]
    made = numpy.asarray(fold_tree(arrays, _FOLDS[op]), kind)
    if op is ReduceOp.AVG:
        made = made / kind.type(g.size)
    put(name, output, made)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Sends the k-th tensor of the list to rank k; writes what rank k sends into the k-th output.

    RuntimeError where what comes has another size or dtype than the output for it.
    """
    name = "all_to_all"
    g = entered(name, group)
    joined = None
    if g is not None:
        listed(name, output_tensor_list, g, "output_tensor_list")
        listed(name, input_tensor_list, g, "input_tensor_list")
        joined = _all_to_all(g, name, list(output_tensor_list), list(input_tensor_list))
    return _done(async_op, joined)


def _all_to_all(g, name, outputs, inputs):
    """The link where NCCL does it."""
    joined = nccl.link(name, g, *outputs, *inputs)
    # What comes has to fit: the sizes are told by TCP, which ends where ranks differ.
    sizes = {k: sized(t) for k, t in enumerate(inputs)}
    told = exchange(g, name, sum_of(name), sizes, range(g.size))
    for k, t in enumerate(outputs):
        if bytes(told[k]) != sized(t):
            raise RuntimeError(
                message(name, f"rank {g.ranks[k]} sends another dtype or size",
                        bytes(told[k]).decode(), sized(t).decode())
            )  # fmt: skip
    if joined is not None:
        found = joined.all_to_all(name, [t._array for t in inputs], [t._array for t in outputs])
        for t, a in zip(outputs, found):
            store(name, t, a.reshape(tuple(t.shape)))
        return joined
    sent = {k: host(name, t).tobytes() for k, t in enumerate(inputs)}
    found = exchange(g, name, sum_of(name, "elements"), sent, range(g.size))
    for k, t in enumerate(outputs):
        put(name, t, numpy.frombuffer(found[k], t._array.dtype).reshape(tuple(t.shape)))
    return None


def sized(t):
    """What tells whether a tensor fits another."""
    return f"{t._array.dtype} of {t._array.size} elements".encode()


def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False
):
    """all_to_all() of parts of two tensors along their first axis, equal ones or of given sizes."""
    name = "all_to_all_single"
    g = entered(name, group)
    joined = None
    if g is not None:
        parts = [
            _parts(name, t, sizes, g.size)
            for t, sizes in ((output, output_split_sizes), (input, input_split_sizes))
        ]
        joined = _all_to_all(g, name, *parts)
    return _done(async_op, joined)


def _parts(name, t, sizes, count):
    extent = t.shape[0] if t.ndim else 0
    sizes = [extent / count] * count if not sizes else list(sizes)
    if len(sizes) != count or sum(sizes) != extent or any(n != int(n) for n in sizes):
        raise ValueError(
            message(name, "parts do not fit the first axis", f"{sizes} of {extent}",
                    f"{count} sizes that add up to it")
        )  # fmt: skip
    ends = [0]
    for n in sizes:
        ends.append(ends[-1] + int(n))
    with no_grad():
        return [t.detach()[a:b] for a, b in zip(ends, ends[1:])]


def barrier(group=None, async_op=False, device_ids=None):
    """Returns when all ranks of the group have called it, and their GPUs have done what was queued."""
    g = entered("barrier", group)
    if g is not None:
        nccl.settle(g)
        if device_ids is not None and not isinstance(device_ids, (list, tuple)):
            raise TypeError(message("barrier", "device_ids", device_ids, "a list"))
        checksum = sum_of("barrier")
        exchange(g, "barrier", checksum, dict.fromkeys(range(g.size), b""), range(g.size))
    return _done(async_op)
