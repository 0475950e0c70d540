"""Collectives of objects: numbers, texts, arrays and what holds them, by TCP."""

from ..core.errors import message
from .collectives import listed
from .encoding import decode, encode
from .exchange import entered, exchange, objects, sum_of


def all_gather_object(object_list, obj, group=None):
    """Writes the objects of all ranks into the list of each.

    Objects are numbers, texts, bytes, arrays, tensors, and lists, tuples, sets and dicts of these:
    no pickles are sent or read. TypeError for others.
    """
    g = entered("all_gather_object", group)
    if g is not None:
        listed("all_gather_object", object_list, g, "object_list")
        object_list[:] = objects(g, "all_gather_object", encode(obj))


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    """The same into the list of rank `dst` only."""
    g = entered("gather_object", group)
    if g is not None:
        to = g.within("gather_object", dst)
        if (g.rank == to) != (object_gather_list is not None):
            raise ValueError(
                message("gather_object", "object_gather_list", f"rank {g.rank}", f"of rank {to} only")
            )
        found = objects(g, "gather_object", encode(obj), to)
        if found is not None:
            listed("gather_object", object_gather_list, g, "object_gather_list")[:] = found


def broadcast_object_list(object_list, src=0, group=None):
    """Writes the objects in the list of rank `src` into the lists of all, of the same length."""
    op = "broadcast_object_list"
    g = entered(op, group)
    if g is not None:
        source = g.within(op, src)
        checksum = sum_of(op, len(object_list), source)
        if g.rank == source:
            exchange(g, op, checksum, g.others(encode(list(object_list))), ())
        else:
            raw = exchange(g, op, checksum, {}, [source])[source]
            object_list[:] = decode(bytes(raw))


def scatter_object_list(output_list, input_list=None, src=0, group=None):
    """Writes the k-th object of the list of rank `src` into the first item of rank k's list."""
    op = "scatter_object_list"
    g = entered(op, group)
    if g is not None:
        source, out = g.within(op, src), {}
        if g.rank == source:
            out = {k: encode(x) for k, x in enumerate(listed(op, input_list, g, "input_list"))}
        raw = exchange(g, op, sum_of(op, source), out, [source])[source]
        output_list[0] = decode(bytes(raw))

