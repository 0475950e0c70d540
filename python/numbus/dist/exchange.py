"""Messages of all ranks of a group by TCP, which every collective is made of where no library of the
GPU's does it.
"""

import zlib

from . import group as _group
from .encoding import decode


def entered(op, group):
    """The group; None where this rank is none of it."""
    g = _group.of(group, op)
    return g if g is not _group.OUTSIDE else None


def sum_of(op, *about):
    """What ranks compare to see that they are in the same call."""
    return zlib.crc32(repr((op, *about)).encode())


def exchange(g, op, checksum, out, sources):
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


def objects(g, op, raw, to=None):
    """The objects of all ranks, of which this one's is given encoded; `to`: only that rank gets
    them, others None.
    """
    sources = range(g.size) if to is None or g.rank == to else ()
    out = dict.fromkeys(range(g.size), raw) if to is None else {to: raw}
    parts = exchange(g, op, sum_of(op, to), out, sources)
    return [decode(bytes(parts[k])) for k in range(g.size)] if sources else None
